// The check of the index file: its bytes, its list of entries against the log,
// and its words against theirs.

package oxbow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/oxbow-memory/oxbow/internal/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/ranking"
	"github.com/oxbow-memory/oxbow/internal/wal"
)

// mostChecked is how many entries' words a check compares with the index file.
// Of more entries, so many are taken that lie evenly among them.
const mostChecked = 2000

// checkIndexFile says what is wrong with the index file. A file that is not
// there, or is of another history, format or ranking, is in order: it is
// not used.
func (d *db) checkIndexFile(ctx context.Context, whole *placing) ([]Problem, error) {
	bad := func(format string, args ...any) []Problem {
		return []Problem{{-1, "the index file " + d.path + indexSuffix + fmt.Sprintf(format, args...),
			"remove it: nothing is lost, and the next recall makes it anew"}}
	}
	f, err := d.fs.OpenFile(d.indexName(), os.O_RDONLY, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	defer f.Close()
	log, err := d.another(false)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	head, size, err := readIndexHead(f)
	d.logmu.RLock()
	head.at = d.placeOf(head.seq, head.at)
	d.logmu.RUnlock()
	switch {
	case errors.Is(err, errIndexDamage):
		return bad(": %v", err), nil
	case err != nil || !log.Exists() || !head.fits(log) || checkRanking(head.ranking) != nil:
		return nil, nil
	}
	rows, err := head.openRows(f)
	if err == nil {
		_, err = rows.all(func(_, _ uint64) bool { return true })
	}
	if err != nil {
		return bad(": %v", err), nil
	}
	x, err := index.OpenSnapshot(io.NewSectionReader(ctxfile.File{Context: ctx, Inner: f}, head.imageAt(), size), size, ranking.Params(head.ranking))
	if err == nil {
		err = x.Searcher().Check()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return bad(": %v", err), nil
	}
	p, err := d.placedAt(whole, head.seq, head.chain)
	if err != nil {
		return nil, err
	}
	st := p.st
	if len(st.order) != rows.len() || st.nextID != head.nextID {
		return bad(" lists %d entries of change %d, which left %d", rows.len(), head.seq, len(st.order)), nil
	}
	r := ranking.New(head.ranking, nil)
	step := max(1, (len(st.order)+mostChecked-1)/mostChecked)
	var doc index.Document
	var buf ranking.Buffer
	for i, e := range st.order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if rows.id(i) != e.ID || rows.version(i) != e.Version {
			return bad(" has another version of entry %q than change %d left", e.Name, head.seq), nil
		}
		if i%step != 0 {
			continue
		}
		r.Analyze(ctx, newIndexed(e), &doc, &buf)
		if !indexHolds(x.Searcher(), e.ID, &doc) {
			return bad(" has other words for entry %q than it holds", e.Name), nil
		}
	}
	return nil, nil
}

// placing is a state that was read from the log's start, with the places of what
// it is made of.
type placing struct {
	st      *state
	places  map[uint64]int64 // of the record that each entry is in
	changes []int64          // of the records of changes
	chain   [32]byte         // after the last of them
}

func newPlacing() *placing { return &placing{st: newState(), places: map[uint64]int64{}} }

// applyRecord implements applier.
func (p *placing) applyRecord(r *wal.Record, v *body) ([]Delta, error) {
	deltas, err := p.st.applyRecord(r, v)
	for _, d := range deltas {
		if d.Entry != nil {
			p.places[d.ID] = r.Offset
		}
	}
	if r.Type == typeChange {
		p.changes, p.chain = append(p.changes, r.Offset), r.Chain
	}
	return deltas, err
}

// placedAt returns the state after a change with that chain: whole, if it is that,
// else it is read from the log.
func (d *db) placedAt(whole *placing, seq uint64, chain [32]byte) (*placing, error) {
	if whole.chain == chain {
		return whole, nil
	}
	p := newPlacing()
	_, err := d.replayTo(seq, p)
	return p, err
}

// indexHolds reports whether the index has that document under the ID.
func indexHolds(x *index.Searcher, id uint64, doc *index.Document) bool {
	sums := map[string]int{}
	var ask []index.QueryTerm
	for _, t := range doc.Terms {
		if t.TF > 0 {
			sums[t.Text] += int(t.TF)
			ask = append(ask, index.QueryTerm{Text: t.Text, Weight: 1})
		}
	}
	x1, ok := x.Explain(id, ask)
	if len(sums) == 0 {
		return !ok // what has no words is not indexed
	}
	if !ok || x1.Len != float64(doc.Len)/index.One || len(x1.Terms) != len(sums) {
		return false
	}
	for _, t := range x1.Terms {
		if int(t.TF*index.One) != min(sums[t.Term], 1<<16-1) {
			return false
		}
	}
	return true
}
