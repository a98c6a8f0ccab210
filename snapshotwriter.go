// Writing the snapshot: from the entries of the log, or from those of the last
// snapshot and what changed since.

package oxbow

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/pagefile"
)

// entryRow is a row of the entries.
type entryRow struct {
	id, version      uint64
	offset           int64
	created, updated int64
	form             uint32 // its place in snapshotRows.forms
	size             uint32 // bytes of the content
}

// newRow returns the row of an entry whose version is in the record at an offset.
func (s *snapshotRows) newRow(e *Entry, offset int64) entryRow {
	return entryRow{e.ID, e.Version, offset, nanoseconds(e.Created), e.Updated.UnixNano(), s.form(encodeForm(e)), uint32(len(e.Content))}
}

// form returns the number of a form.
func (s *snapshotRows) form(text string) uint32 {
	n, ok := s.formNumbers[text]
	if !ok {
		if s.formNumbers == nil {
			s.formNumbers = map[string]uint32{}
		}
		n = uint32(len(s.forms))
		s.formNumbers[text], s.forms = n, append(s.forms, text)
	}
	return n
}

// hashRow is a row of the names, aliases or removed names.
type hashRow struct{ hash, number uint64 }

func (a hashRow) compare(b hashRow) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.number, b.number))
}

// snapshotRows is what a snapshot holds.
type snapshotRows struct {
	entries                 []entryRow
	names, aliases, removed []hashRow
	changes                 []int64
	opIDs                   []seenID
	sums                    *summary
	forms                   []string
	formNumbers             map[string]uint32
}

// collect returns what a snapshot of the state holds. offset returns the offset
// of the record of an entry's version.
func (st *state) collect(changes []int64, offset func(e *Entry) int64) *snapshotRows {
	s := &snapshotRows{changes: changes, sums: st.summary(), opIDs: st.seenIDs()}
	s.entries = make([]entryRow, 0, st.len())
	s.names = make([]hashRow, 0, st.len())
	s.addBase(st)
	for _, e := range st.order {
		s.entries = append(s.entries, s.newRow(e, offset(e)))
		s.names = append(s.names, hashRow{textHash(e.Name), e.ID})
		for _, a := range e.Aliases {
			s.aliases = append(s.aliases, hashRow{textHash(a), e.ID})
		}
	}
	for name, seq := range st.gone {
		s.removed = append(s.removed, hashRow{textHash(name), seq})
	}
	s.sort()
	return s
}

func (s *snapshotRows) sort() {
	slices.SortFunc(s.entries, func(a, b entryRow) int { return cmp.Compare(a.id, b.id) })
	for _, rows := range [][]hashRow{s.names, s.aliases, s.removed} {
		slices.SortFunc(rows, hashRow.compare)
	}
}

// usedForms returns the forms that rows have, rising, and the place of each form
// among them.
func (s *snapshotRows) usedForms() (used []string, places []uint32) {
	has := make([]bool, len(s.forms))
	for _, e := range s.entries {
		has[e.form] = true
	}
	for n, text := range s.forms {
		if has[n] {
			used = append(used, text)
		}
	}
	slices.Sort(used)
	places = make([]uint32, len(s.forms))
	for n, text := range s.forms {
		i, _ := slices.BinarySearch(used, text)
		places[n] = uint32(i)
	}
	return used, places
}

// newest returns the rows of the entries, the version that was written last first.
func (s *snapshotRows) newest() []uint32 {
	rows := make([]uint32, len(s.entries))
	for i := range rows {
		rows[i] = uint32(len(rows) - 1 - i)
	}
	slices.SortFunc(rows, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.entries[b].updated, s.entries[a].updated), cmp.Compare(b, a))
	})
	return rows
}

// addBase adds the rows of the state's base that still hold.
func (s *snapshotRows) addBase(st *state) {
	b := st.base
	if b == nil {
		return
	}
	for i := range sections {
		b.rows.Load(i)
	}
	for _, f := range b.forms() {
		s.form(f.text) // it keeps its number
	}
	hidden := map[uint64]bool{}
	for row := range b.len() {
		if id := b.id(row); st.hidden.has(row) {
			hidden[id] = true
		} else {
			form, size := b.form(row)
			s.entries = append(s.entries, entryRow{id, uint64(b.field(row, 1)), b.field(row, 2), b.field(row, 3), b.field(row, 4), form, size})
		}
	}
	add := func(to []hashRow, section int, drop func(hashRow) bool) []hashRow {
		for i := range b.head.counts[section] {
			r := b.rows.Row(section, i)
			if h := (hashRow{binary.LittleEndian.Uint64(r), binary.LittleEndian.Uint64(r[8:])}); !drop(h) {
				to = append(to, h)
			}
		}
		return to
	}
	isHidden := func(h hashRow) bool { return hidden[h.number] }
	s.names = add(s.names, sectionNames, isHidden)
	s.aliases = add(s.aliases, sectionAliases, isHidden)
	again := map[hashRow]bool{} // names that were used or removed again
	for _, e := range st.order {
		again[hashRow{textHash(e.Name), b.removed(e.Name)}] = true
	}
	for name := range st.gone {
		again[hashRow{textHash(name), b.removed(name)}] = true
	}
	s.removed = add(s.removed, sectionRemoved, func(h hashRow) bool { return again[h] })
}

// encode returns the bytes of a snapshot. It sets the counts of the head.
func (s *snapshotRows) encode(h snapshotHead) []byte {
	var opIDs []byte
	for _, o := range s.opIDs {
		opIDs = binary.LittleEndian.AppendUint64(opIDs, o.seq)
		opIDs = append(append(opIDs, byte(len(o.id))), o.id...)
	}
	var forms []byte
	used, places := s.usedForms()
	for _, text := range used {
		forms = appendText(forms, text)
	}
	sums := s.sums.encode()
	n := len(s.entries)
	h.counts = [sections]int{n, len(s.names), len(s.aliases), len(s.removed), len(s.changes), len(opIDs), len(sums), n, n, len(forms)}
	var b bytes.Buffer
	b.Grow(pagefile.Pages(h.tables()) * pagefile.Size)
	w := pagefile.NewWriter(&b)
	w.Write(h.encode())
	w.Close()
	for _, e := range s.entries {
		w.Row(e.id, e.version, uint64(e.offset), uint64(e.created), uint64(e.updated))
	}
	w.Close()
	for _, rows := range [][]hashRow{s.names, s.aliases, s.removed} {
		for _, r := range rows {
			w.Row(r.hash, r.number)
		}
		w.Close()
	}
	for _, off := range s.changes {
		w.Row(uint64(off))
	}
	w.Close()
	w.Write(opIDs)
	w.Close()
	w.Write(sums)
	w.Close()
	for _, e := range s.entries {
		w.Row(uint64(places[e.form]) | uint64(e.size)<<32)
	}
	w.Close()
	for _, row := range s.newest() {
		w.Row4(row)
	}
	w.Close()
	w.Write(forms)
	w.Close()
	return b.Bytes()
}

// checkSnapshot compares the snapshot with one that is made from the log. A file
// that is missing, damaged or of another history is in order: it is not used.
func (d *db) checkSnapshot(whole *placing) ([]Problem, error) {
	s, err := d.openSnapshot()
	if err != nil {
		return nil, nil
	}
	defer s.release()
	have, err := s.rows.Read(0, pagefile.Pages(s.head.tables()))
	if err != nil {
		return nil, nil
	}
	p, err := d.placedAt(whole, s.head.seq, s.head.chain)
	if err != nil {
		return nil, err
	}
	h := s.head
	h.nextID = p.st.nextID
	want := p.st.collect(p.changes, func(e *Entry) int64 { return p.places[e.ID] }).encode(h)
	if bytes.Equal(have, want) {
		return nil, nil
	}
	made, err := pagefile.Open(bytes.NewReader(want), func(page []byte) ([]pagefile.Table, error) {
		h, err := decodeSnapshotHead(page, int64(len(want)))
		return h.tables(), err
	})
	what := errors.Join(errSnapshot, err).Error()
	for i := 0; err == nil && i < sections; i++ {
		if !s.rows.Equal(made, i) {
			what = "its table of " + sectionNamesOf[i] + " is not that of the log"
			break
		}
	}
	return []Problem{{-1, fmt.Sprintf("the snapshot %s%s: %s at change %d", d.path, snapshotSuffix, what, s.head.seq),
		"remove it: nothing is lost, and it is made again"}}, nil
}

// sectionNamesOf are the sections in words.
var sectionNamesOf = [sections]string{"entries", "names", "aliases", "removed names", "changes", "op ids", "sums", "heads", "newest", "forms"}
