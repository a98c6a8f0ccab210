// This file checks the index file's checksums, its entry list, and a sample of the indexed
// words.

package oxbow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/oxbow-memory/oxbow/internal/base/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// maxCheckedEntries is the maximum number of entries whose words a check compares with the index
// file. In larger stores, it compares evenly spaced entries.
const maxCheckedEntries = 2000

// checkIndexFile returns the problems of the index file. An index file that is missing, or
// that has a different history, format or ranking, is not a problem, because queries
// ignore it.
func checkIndexFile(ctx context.Context, file logstore.CheckedFile) ([]Problem, error) {
	bad := func(format string, args ...any) []Problem {
		return []Problem{{Offset: -1, What: "the index file " + file.Path() + fmt.Sprintf(format, args...),
			Mend: "nothing is lost, and the next recall makes it again: rm " + text.ShellQuote(file.Path())}}
	}
	f, err := file.Open()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	defer f.Close()
	head, size, err := readIndexHead(f)
	if errors.Is(err, errIndexDamage) {
		return bad(": %v", err), nil
	}
	if err != nil || checkRanking(head.rankingName) != nil {
		return nil, nil
	}
	head.position, err = file.RefreshPosition(head.position)
	if err != nil {
		return nil, nil
	}
	rows, err := head.openRows(f)
	if err == nil {
		_, err = rows.forEach(func(_, _ uint64) bool { return true })
	}
	if err != nil {
		return bad(": %v", err), nil
	}
	x, err := index.OpenSnapshot(
		io.NewSectionReader(ctxfile.File{Context: ctx, Inner: f}, head.imageOffset(), size),
		size,
		ranking.FormulaParams(head.rankingName),
	)
	if err == nil {
		err = x.Searcher().CheckSnapshot()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return bad(": %v", err), nil
	}
	entries, nextID, err := file.EntriesAt(head.position)
	if err != nil {
		return nil, err
	}
	if len(entries) != rows.Len() || nextID != head.nextID {
		return bad(" lists %d entries of change %d, which left %d", rows.Len(), head.position.Seq, len(entries)), nil
	}
	r := ranking.New(head.rankingName, nil)
	step := max(1, (len(entries)+maxCheckedEntries-1)/maxCheckedEntries)
	var doc index.Document
	var buf ranking.Buffer
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if rows.id(i) != e.ID || rows.version(i) != e.Version {
			return bad(" has another version of entry %q than change %d left", e.Name, head.position.Seq), nil
		}
		if i%step != 0 {
			continue
		}
		r.AnalyzeItem(ctx, newIndexItem(e), &doc, &buf)
		if !indexHasDocument(x.Searcher(), e.ID, &doc) {
			return bad(" has other words for entry %q than it holds", e.Name), nil
		}
	}
	return nil, nil
}

// indexHasDocument reports whether the index has exactly this document under the ID.
func indexHasDocument(x *index.Searcher, id uint64, doc *index.Document) bool {
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
		return !ok // ignore a document that has no words: it is not indexed
	}
	if !ok || len(x1.Terms) != len(sums) {
		return false
	}
	if x1.Len != float64(doc.Len)/index.OneTF {
		return false
	}
	for _, t := range x1.Terms {
		if int(t.Occurrences*index.OneTF) != min(sums[t.Term], 1<<16-1) {
			return false
		}
	}
	return true
}
