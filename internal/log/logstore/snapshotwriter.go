// This file writes snapshots, from the entries of the log or from the previous snapshot and
// the changes since.

package logstore

import (
	"fmt"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// newRow returns the row of an entry whose version is in the record at this offset.
func newRow(to *keydir.Rows, e *store.Entry, offset int64) keydir.Row {
	return keydir.Row{ID: e.ID, Version: e.Version, Offset: offset, Created: clampedNanoseconds(e.Created),
		Updated: e.Updated.UnixNano(),
		Form:    to.Form(encodeForm(e)), Size: uint32(len(e.Content)), Text: encodeNames(e)}
}

// collect returns the rows for a snapshot of the state. changes are the offsets of the changes that
// its base lacks. offset must return the offset of the record that contains an entry's version.
func (st *state) collect(changes []int64, offset func(e *store.Entry) int64) *keydir.Rows {
	r := &keydir.Rows{Changes: changes, Sums: st.summary().encode(), OpIDs: encodeOpIDs(st.seenIDs()),
		Hidden: st.hidden.hasBit, Gone: map[uint64]bool{}, Again: map[keydir.Key]bool{}}
	if b := st.base; b != nil {
		r.Base = b.rows
		for _, f := range b.entryForms() {
			r.Form(f.text)
		}
		for row := range st.hidden.all {
			r.Gone[b.id(row)] = true
		}
	}
	use := func(name string) uint64 {
		hash := textHash(name)
		if seq := st.base.lastRemoval(name); seq > 0 {
			r.Again[keydir.Key{Hash: hash, Number: seq}] = true
		}
		return hash
	}
	r.Entries, r.Names = make([]keydir.Row, 0, len(st.order)), make([]keydir.Key, 0, len(st.order))
	for _, e := range st.order {
		r.Entries = append(r.Entries, newRow(r, e, offset(e)))
		r.Names = append(r.Names, keydir.Key{Hash: use(e.Name), Number: e.ID})
		for _, a := range e.Aliases {
			r.Aliases = append(r.Aliases, keydir.Key{Hash: textHash(a), Number: e.ID})
		}
	}
	for name, seq := range st.gone {
		r.Removed = append(r.Removed, keydir.Key{Hash: use(name), Number: seq})
	}
	return r
}

// page returns a function that encodes page 0 with the given counts.
func (h snapshotHead) page() func(counts [sections]int) []byte {
	return func(counts [sections]int) []byte {
		h.counts = counts
		return h.encode()
	}
}

// checkSnapshot compares the snapshot with a snapshot made from the log. A file that is
// missing, damaged or from another history is not a problem, because the store ignores
// it.
func (d *DB) checkSnapshot(whole *placing) ([]store.Problem, error) {
	s, err := d.openSnapshot()
	if err != nil {
		return nil, nil
	}
	defer s.release()
	for i := range sections {
		if s.rows.EachPage(i, func([]byte) {}) != nil {
			return nil, nil
		}
	}
	p, err := d.placedAt(whole, s.head.seq, s.head.chain)
	if err != nil {
		return nil, err
	}
	h := s.head
	h.nextID = p.st.nextID
	want := p.st.collect(p.changes, func(e *store.Entry) int64 { return p.places[e.ID] })
	c := pagefile.Comparison{File: s.file}
	err = want.WriteFile(&c, h.page())
	if err == nil && !c.HeadDiffers {
		return nil, nil
	}
	what := errSnapshot.Error()
	for i := sections - 1; i >= 0 && c.DifferentPage > 0; i-- {
		if s.rows.Start(i) <= c.DifferentPage {
			what = "its table of " + sectionNamesOf[i] + " is not that of the log"
			break
		}
	}
	return []store.Problem{
		{Offset: -1, What: fmt.Sprintf("the snapshot %s%s: %s at change %d", d.path, SnapshotSuffix, what, s.head.seq),
			Mend: "nothing is lost, and it is made again: rm " + text.ShellQuote(d.path+SnapshotSuffix)},
	}, nil
}

// sectionNamesOf are the names of the sections for messages.
var sectionNamesOf = [sections]string{"entries", "names", "aliases", "removed names", "changes", "op ids", "sums",
	"heads", "newest", "forms", "texts"}
