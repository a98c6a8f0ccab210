// A row describes an entry. This file tests that tables that are merged from an older file and newer rows have the same
// bytes as tables that are written from all rows. It also tests that inconsistent tables are refused.

package keydir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// memory contains the bytes of a file that the test writes to memory instead of a disk.
type memory []byte

func (m *memory) WriteAt(b []byte, at int64) (int, error) {
	if grow := int(at) + len(b) - len(*m); grow > 0 {
		*m = append(*m, make([]byte, grow)...)
	}
	return copy((*m)[at:], b), nil
}

// model contains the data that the tables of a file must contain. The maps ids and versions contain the ID and the
// version of each existing entry, by the entry's name. The map removed contains the numbers of the changes that removed
// entries, also by name. The list changes contains the log offset of each change.
type model struct {
	ids, versions, removed map[string]uint64
	changes                []int64
}

func (m *model) row(r *Rows, name string) EntryRow {
	id, version := m.ids[name], m.versions[name]
	return EntryRow{
		ID:              id,
		Version:         version,
		Offset:          int64(version) * 100,
		CreatedUnixNano: int64(id),
		UpdatedUnixNano: int64(version / 3),
		LabelSetNumber:  r.LabelSetNumber(fmt.Sprint("form ", (id+version)%7)),
		Size:            uint32(version),
		Text:            strings.Repeat(name, int(version%5)*int(version%200)),
	}
}

func hash(name string) uint64 { return binary.LittleEndian.Uint64([]byte(name + "        ")) }

// rows returns the rows of those names for which the function pass returns true. This includes the names in m.removed.
// The field Base of the result is not set.
func (m *model) rows(pass func(name string, version uint64) bool) *Rows {
	r := &Rows{ChangeOffsets: m.changes, OpIDs: []byte("ids"), EncodedEntryTotals: []byte(fmt.Sprint(len(m.ids)))}
	for name, version := range m.versions {
		if !pass(name, version) {
			continue
		}
		r.Entries = append(r.Entries, m.row(r, name))
		r.Names = append(r.Names, TableKey{hash(name), m.ids[name]})
		if version%2 == 0 {
			r.Aliases = append(r.Aliases, TableKey{^hash(name), m.ids[name]})
		}
	}
	for name, version := range m.removed {
		if pass(name, version) {
			r.RemovedNames = append(r.RemovedNames, TableKey{hash(name), version})
		}
	}
	return r
}

// write writes the rows to a file, and returns the file and a reader of it.
func write(t *testing.T, r *Rows) ([]byte, *pagefile.Reader) {
	t.Helper()
	var m memory
	head := []byte("head")
	var tables []pagefile.TableSize
	err := r.WriteFile(&m, func(counts [TableCount]int) []byte {
		for i, n := range counts {
			tables = append(tables, pagefile.TableSize{RowSize: RowSize[i], RowCount: n})
		}
		return head
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := pagefile.CountPages(tables) * pagefile.PageSize; len(m) != want {
		t.Fatalf("the file has %d bytes, its tables %d", len(m), want)
	}
	f, err := pagefile.Open(bytes.NewReader(m), func([]byte) ([]pagefile.TableSize, error) { return tables, nil })
	if err != nil {
		t.Fatal(err)
	}
	return m, f
}

// over prepares r to be merged with the older tables in base. The rows in r must be those that are newer than base. The
// argument was describes the entries in base, and the argument is describes all entries. over marks the rows of base
// that are outdated.
func over(t *testing.T, r *Rows, base *pagefile.Reader, was, is *model) {
	t.Helper()
	r.PreviousTables = base
	r.HiddenIDs = map[uint64]bool{}
	r.ReusedRemovedNames = map[TableKey]bool{}
	r.labelSetTexts = nil
	r.labelSetNumbers = nil
	hidden := map[int]bool{}
	for b := base.TableBytes(TableLabelSets); len(b) > 0; {
		n, size := binary.Uvarint(b)
		r.LabelSetNumber(string(b[size:][:n]))
		b = b[size+int(n):]
	}
	for name, version := range was.versions {
		if is.versions[name] != version || is.ids[name] != was.ids[name] {
			hidden[base.SearchKey(TableEntries, was.ids[name])] = true
			r.HiddenIDs[was.ids[name]] = true
		}
	}
	for name, version := range was.removed {
		if is.removed[name] != version {
			r.ReusedRemovedNames[TableKey{hash(name), version}] = true
		}
	}
	for i := range r.Entries {
		for name, id := range is.ids {
			if id == r.Entries[i].ID {
				r.Entries[i] = is.row(r, name)
			}
		}
	}
	r.IsHiddenRow = func(row int) bool { return hidden[row] }
	r.ChangeOffsets = is.changes[len(was.changes):]
}

func copyOf(m map[string]uint64) map[string]uint64 {
	n := map[string]uint64{}
	for k, v := range m {
		n[k] = v
	}
	return n
}

func TestMerged(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := &model{map[string]uint64{}, map[string]uint64{}, map[string]uint64{}, nil}
		var base *pagefile.Reader
		var was *model
		for range 5 {
			for range r.IntN(400) {
				seq := uint64(len(m.changes) + 1)
				m.changes = append(m.changes, int64(seq)*100)
				name := fmt.Sprintf("%d", r.IntN(600))
				if _, ok := m.ids[name]; ok && r.IntN(3) == 0 {
					delete(m.ids, name)
					delete(m.versions, name)
					m.removed[name] = seq
					continue
				}
				if _, ok := m.ids[name]; !ok {
					m.ids[name] = seq
					if r.IntN(4) == 0 {
						m.ids[name] = 1<<20 - seq // An ID may also be larger than those of all later entries.
					}
					delete(m.removed, name)
				}
				m.versions[name] = seq
			}
			want, whole := write(t, m.rows(func(string, uint64) bool { return true }))
			if base != nil {
				rows := m.rows(func(name string, version uint64) bool { return version > uint64(len(was.changes)) })
				over(t, rows, base, was, m)
				if got, _ := write(t, rows); !bytes.Equal(got, want) {
					t.Fatalf(
						"seed %d: %d entries over %d are not the same file",
						seed,
						len(rows.Entries),
						len(was.ids),
					)
				}
			}
			base, was = whole, &model{copyOf(m.ids), copyOf(m.versions), copyOf(m.removed), m.changes}
		}
	}
}

// TestUnfitBase tests that inconsistent tables of a Base and unreadable pages are errors.
func TestUnfitBase(t *testing.T) {
	m := &model{map[string]uint64{}, map[string]uint64{}, map[string]uint64{}, nil}
	for i := range uint64(500) {
		name := fmt.Sprint(i)
		m.ids[name], m.versions[name] = i+1, i+1
		m.changes = append(m.changes, int64(i))
	}
	all := func(string, uint64) bool { return true }
	sound, base := write(t, m.rows(all))
	none := func(string, uint64) bool { return false }
	for table, wrong := range map[int]byte{TableEntrySummaries: 0x77, TableRowsNewestFirst: 0x77, TableEntryNames: 0,
		TableEntries: 0} {
		b := bytes.Clone(sound)
		n := base.FirstPage(table)
		page := b[n*pagefile.PageSize:][:pagefile.PageSize]
		page[1] ^= 0x77 // Damage the first number of a row.
		if wrong != 0 {
			head := binary.LittleEndian.Uint32(b[pagefile.PageDataBytes:])
			binary.LittleEndian.PutUint32(
				page[pagefile.PageDataBytes:],
				pagefile.PageChecksum(page[:pagefile.PageDataBytes], n, head),
			)
		}
		f, err := pagefile.Open(bytes.NewReader(b), func([]byte) ([]pagefile.TableSize, error) {
			var ts []pagefile.TableSize
			for i := range TableCount {
				ts = append(ts, pagefile.TableSize{RowSize: RowSize[i], RowCount: base.RowCount(i)})
			}
			return ts, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		rows := m.rows(none)
		over(t, rows, f, m, m)
		var to memory
		err = rows.WriteFile(&to, func([TableCount]int) []byte { return nil })
		if err == nil || (wrong != 0 && !errors.Is(err, errInconsistentTables)) {
			t.Errorf("table %d: %v", table, err)
		}
	}
}
