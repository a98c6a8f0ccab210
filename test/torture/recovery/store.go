// This file builds the stores that the campaign damages, and computes which entries their records contain.

package recovery

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/log/wire"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store"
)

const (
	storeFile           = "memory.oxbow"
	headerSize          = 96
	recordOverhead      = 72 // number of bytes that a record has in addition to its body
	rememberedEntryName = "new"
)

// contentByEntryName maps the names of entries to their contents.
type contentByEntryName map[string]string

func withEntry(contents contentByEntryName, name, text string) contentByEntryName {
	contents = maps.Clone(contents)
	contents[name] = text
	return contents
}

// StoreKinds lists the kinds of stores that the function BuildStore creates for the tests.
var StoreKinds = []string{"plain", "compacted", "compacted and written since", "redacted", "redacted and compacted"}

// Store is a sound store. Its file and the derived files are in memory.
type Store struct {
	file         []byte
	derivedFiles map[string][]byte // contents of the derived files, by their names
	fileRecords  []storeRecord
	// for each state of the store that the log contains, from the oldest to the newest: the entries in this state
	entriesAfterRecord []contentByEntryName
}

// UsedBytes returns the offset at which the last record of the file ends.
func (s *Store) UsedBytes() int { return s.fileRecords[len(s.fileRecords)-1].endOffset }

// currentEntries returns the entries in the newest state of the undamaged store.
func (s *Store) currentEntries() contentByEntryName {
	return s.entriesAfterRecord[len(s.entriesAfterRecord)-1]
}

// findStateIndex returns the index in entriesAfterRecord of the newest state with exactly these entries, or -1 if the
// store never had exactly these entries.
func (s *Store) findStateIndex(es contentByEntryName) int {
	for i := len(s.entriesAfterRecord) - 1; i >= 0; i-- {
		if maps.Equal(s.entriesAfterRecord[i], es) {
			return i
		}
	}
	return -1
}

// storeRecord is a record in the file, with the offsets and the changes of entries.
type storeRecord struct {
	startOffset, endOffset int
	ops                    []op
	isBaseRecord           bool
}

// op is an operation in a record: it sets one entry's name and content, or removes the entry.
type op struct {
	id            uint64
	name, content string
	isRemoved     bool
}

// isUndamagedIn reports whether the record has the same bytes in the damaged file as in the undamaged file.
func (r storeRecord) isUndamagedIn(damagedFile, undamagedFile []byte) bool {
	return r.endOffset <= len(damagedFile) &&
		bytes.Equal(damagedFile[r.startOffset:r.endOffset], undamagedFile[r.startOffset:r.endOffset])
}

// BuildStore builds a store of this kind in an empty directory. The store has about entryCount entries.
func BuildStore(ctx context.Context, dir, kind string, entryCount int) (*Store, error) {
	path := filepath.Join(dir, storeFile)
	var d *logstore.DB
	name := func(i int) string { return fmt.Sprint("entry ", i) }
	text := func(i int) string { return fmt.Sprintf("the text of %d, %s", i, strings.Repeat("harbor ", i*7%60)) }
	write := func(from, to int) (err error) {
		for i := from; i < to && err == nil; i++ {
			ops := []store.Op{store.Add{Name: name(i), Content: text(i), Aliases: []string{fmt.Sprint("alias ", i)}}}
			switch {
			case i%5 == 4:
				ops = append(ops, store.Update{Name: name(i - 3), Content: "changed: " +
					text(i-3)}, store.Remove{Name: name(i - 1)})
			case i%5 == 2:
				ops = append(ops, store.Add{Name: fmt.Sprint("second ", i), Content: text(i + 1)})
			}
			err = d.Apply(store.WithOpID(ctx, fmt.Sprint("op ", i)), ops...)
		}
		return err
	}
	compact := func() error { _, err := d.Compact(ctx, time.Now().Add(time.Hour), false); return err }
	redact := func(i int) error { _, err := d.Redact(ctx, name(i), false); return err }
	steps := []func() error{
		func() error { return write(0, entryCount/2) },
		func() error { return write(entryCount/2, entryCount) },
	}
	switch kind {
	case "plain":
	case "compacted":
		steps = append(steps, compact)
	case "compacted and written since":
		steps = append(steps, compact, func() error { return write(entryCount, entryCount+5) })
	case "redacted":
		steps = append(steps, func() error { return redact(1) })
	case "redacted and compacted":
		steps = append(
			steps,
			compact,
			func() error { return write(entryCount, entryCount+5) },
			func() error { return redact(2) },
		)
	default:
		return nil, fmt.Errorf("there is no kind %q", kind)
	}
	// Each step opens the store, changes it and closes it, as a process would. When the store is closed, it writes a
	// commit mark, which shows that the records before it are complete.
	for _, step := range steps {
		var err error
		d, err = logstore.Open(path, logstore.Options{Clock: time.Now, Rand: rand.Reader, LockWait: time.Second,
			CacheBudget: cache.NewSizeBudget(
				1 << 20,
			), WriteDerivedFiles: true, MinSnapshotOps: 1, FreeSpaceGrowthUnit: 4096, FreeSpaceReserve: 1024})
		if err != nil {
			return nil, err
		}
		if err := errors.Join(step(), d.Close()); err != nil {
			return nil, err
		}
	}
	m, err := oxbow.Open(path, nil)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(m.MakeIndex(ctx), m.Close()); err != nil {
		return nil, err
	}
	return readStore(dir)
}

// readStore reads the store in the directory, with its derived files.
func readStore(dir string) (*Store, error) {
	s := &Store{derivedFiles: map[string][]byte{}}
	var err error
	s.file, err = os.ReadFile(filepath.Join(dir, storeFile))
	if err != nil {
		return nil, err
	}
	for _, end := range []string{".snap", ".idx", ".lock"} {
		b, err := os.ReadFile(filepath.Join(dir, storeFile+end))
		// Ignore the error for the index file, because oxbow does not write an index for a small store.
		if err != nil && end != ".idx" {
			return nil, err
		}
		s.derivedFiles[storeFile+end] = b
	}
	if err := s.readRecords(); err != nil {
		return nil, err
	}
	all := lastOpByEntryID{}
	begun := false
	for _, r := range s.fileRecords {
		if !r.isBaseRecord && !begun {
			begun = true
			s.entriesAfterRecord = append(s.entriesAfterRecord, all.entryContents())
		}
		all.applyRecord(r)
		if !r.isBaseRecord {
			s.entriesAfterRecord = append(s.entriesAfterRecord, all.entryContents())
		}
	}
	return s, nil
}

// readRecords finds the records in the store file. It follows the description in docs/format.md, and does not use the
// code of the store.
func (s *Store) readRecords() error {
	le := binary.LittleEndian
	for at := headerSize; at+recordOverhead <= len(s.file) && string(s.file[at:at+4]) == "\noxr"; {
		size := int(le.Uint32(s.file[at+4:]))
		r := storeRecord{startOffset: at, endOffset: at + recordOverhead + size, isBaseRecord: s.file[at+32] == 128}
		body := s.file[at+40 : at+40+size]
		err := wire.EachField(string(body), func(f wire.Field) error {
			if f.FieldNumber != 2 {
				return nil
			}
			var o op
			err := wire.EachField(f.BytesValue, func(f wire.Field) error {
				switch f.FieldNumber {
				case 1:
					o.isRemoved = f.VarintValue == 5
				case 2:
					o.id = f.VarintValue
				case 3:
					o.name = f.BytesValue
				case 5:
					o.content = f.BytesValue
				}
				return nil
			})
			r.ops = append(r.ops, o)
			return err
		})
		if err != nil {
			return err
		}
		s.fileRecords, at = append(s.fileRecords, r), r.endOffset
	}
	if len(s.fileRecords) < 3 {
		return fmt.Errorf("the store has %d records", len(s.fileRecords))
	}
	return nil
}

// undamagedEntries returns the entries that result if only the undamaged records of the damaged file are applied.
func (s *Store) undamagedEntries(damagedFile []byte) contentByEntryName {
	all := lastOpByEntryID{}
	for _, r := range s.fileRecords {
		if r.isUndamagedIn(damagedFile, s.file) {
			all.applyRecord(r)
		}
	}
	return all.entryContents()
}

// lastOpByEntryID contains, for each entry's ID, the last operation in the log that wrote the entry.
type lastOpByEntryID map[uint64]op

func (p lastOpByEntryID) applyRecord(r storeRecord) {
	for _, o := range r.ops {
		if o.isRemoved {
			delete(p, o.id)
		} else {
			p[o.id] = o
		}
	}
}

func (p lastOpByEntryID) entryContents() contentByEntryName {
	es := contentByEntryName{}
	for _, o := range p {
		es[o.name] = o.content
	}
	return es
}

// useWorkspace opens the damaged store as a command of oxbow would, and calls fn with the workspace.
func (x *damageTrial) useWorkspace(fn func(w *verb.Workspace) error) error {
	return x.useWorkspaceOfFile(storeFile, fn)
}

// useWorkspaceOfFile is like useWorkspace, but opens the file with this name.
func (x *damageTrial) useWorkspaceOfFile(file string, fn func(w *verb.Workspace) error) (err error) {
	path := filepath.Join(x.dir, file)
	var open []*oxbow.Memory
	defer func() {
		for _, m := range open {
			if cerr := m.Close(); err == nil && !errors.Is(cerr, oxbow.ErrClosed) {
				err = cerr
			}
		}
	}()
	w := &verb.Workspace{
		Open: func(_ context.Context, how verb.MemoryAccess) (*oxbow.Memory, error) {
			m, err := oxbow.Open(path, &oxbow.Options{ReadOnly: how < verb.Write, LockWait: time.Second})
			if err == nil {
				open = append(open, m)
			}
			return m, err
		},
		Place: func() (verb.Place, error) {
			return verb.Place{Home: x.dir, HomeChoiceReason: "a campaign", StorePath: path}, nil
		},
		Host: &verb.Host{Getenv: func(string) string { return "" }, GOOS: "linux", Rand: rand.Reader,
			FileSystem: func(string) (sysinfo.FileSystem, error) { return sysinfo.FileSystem{Name: "tmpfs"}, nil }},
		Source:    oxbow.Source{Door: "cli", Actor: oxbow.Person},
		Unbounded: true,
	}
	return fn(w)
}
