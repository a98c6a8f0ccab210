// This file finds, opens and creates homes.

package crabtalk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/tree/crmem"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
	"github.com/oxbow-memory/oxbow/vfs"
)

// These are the files in a home of crabtalk.
const (
	storeFile      = "memory.db"
	lockFile       = storeFile + ".lock"
	crmemStoreFile = "store.crmem" // file with keys and values that crabtalk has used since August 2026
	crabFile       = "Crab.md"
)

// sqliteMagic is the beginning of an SQLite database. Other programs store such a database as memory.db.
const sqliteMagic = "SQLite format 3"

// Dialect returns the description of crabtalk's memory format, with the functions that detect, create and open such a
// memory. The memory is in crabtalk's configuration directory, usually ~/.crabtalk.
func Dialect() layout.Dialect {
	return layout.Dialect{
		Name:      "crabtalk",
		Title:     "crabtalk: notes and archives in one file, memory.db, and instructions in Crab.md",
		File:      storeFile,
		Summaries: layout.SummaryAtCompaction,
		Detect:    countMarkers,
		Init:      initHome,
		Open:      newHome,
	}
}

// countMarkers returns how strongly the files in a directory indicate the layout of Crabtalk. The file memory.db counts
// as 2. If memory.db exists, Crab.md counts as 1 more. Without memory.db, the result is 0, because other layouts also
// have Crab.md.
func countMarkers(fsys vfs.FS) (int, error) {
	name, err := findStore(fsys)
	if err != nil || name == "" {
		return 0, err
	}
	markers := 2
	if _, err := fsys.Stat(crabFile); err == nil {
		markers++
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	return markers, nil
}

// findStore returns the name of the file that contains a home's store, or "" for a home without a store.
func findStore(fsys vfs.FS) (string, error) {
	for _, name := range []string{storeFile, crmemStoreFile} {
		if is, err := isStore(fsys, name); err != nil || is {
			return name, err
		}
	}
	return "", nil
}

// isStore reports whether a regular file with this name exists that is not an SQLite database. The rest of the content
// is not checked, so that a damaged store is opened and reported.
func isStore(fsys vfs.FS, name string) (bool, error) {
	info, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return false, nil
	}
	if err != nil {
		return false, verb.Advise(err, "if "+name+
			" is a link out of the home, put the file itself there, or name the directory that holds it: --home DIR")
	}
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	n, _ := f.ReadAt(head, 0) // Ignore the error, because opening the store reports it.
	return string(head[:n]) != sqliteMagic, nil
}

// initHome creates an empty memory.db and returns the names of the created files. If memory.db exists, it creates
// nothing and returns nil. It does not create Crab.md, because only people write this file.
func initHome(ctx context.Context, o layout.Options) ([]string, error) {
	if _, err := o.FS.Stat(storeFile); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := rejectNewFormatStore(o); err != nil {
		return nil, err
	}
	mo := o.Memory
	mo.FS = o.FS
	s, err := crmem.Open(storeFile, &mo)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.Checkpoint(ctx), s.Close()); err != nil {
		return nil, err
	}
	// Remove the lock file, which opening the store has created. The first change creates it again.
	_ = o.FS.Remove(lockFile)
	return []string{storeFile}, nil
}

// rejectNewFormatStore returns an error that matches [oxbow.ErrUnsupported] if the home contains the store of a later
// crabtalk version. oxbow can read this store but not write it. It must not create a file memory.db in this home,
// because a program then would see only one of the two stores.
func rejectNewFormatStore(o layout.Options) error {
	is, err := isStore(o.FS, crmemStoreFile)
	if err != nil || !is {
		return err
	}
	return fmt.Errorf(
		"%s is the store of a later crabtalk, which is read and not written: %w",
		filepath.Join(o.Path, crmemStoreFile),
		oxbow.ErrUnsupported,
	)
}

// home is an opened home. Its fields do not change.
type home struct{ dialect.HomeBase }

var _ layout.Home = (*home)(nil)

func newHome(ctx context.Context, o layout.Options) (layout.Home, error) {
	h := &home{dialect.NewHomeBase(o)}
	mo := o.Memory
	mo.FS = o.FS
	if mo.Ranking == "" {
		mo.Ranking = oxbow.RankSeed
	}
	s, err := h.openStore(ctx, &mo)
	if errors.Is(err, oxbow.ErrNotStore) {
		return nil, verb.Advise(err, "it is damaged, or of another program: put a copy of "+storeFile+
			" back, or move it away to begin without entries")
	}
	if errors.Is(err, oxbow.ErrVersion) {
		return nil, verb.Advise(
			err,
			"oxbow convert DIR copies what oxbow can read of it; a copy under another name is read as "+storeFile+
				" in a directory of its own. If that fails, dump it with the crabtalk that wrote it",
		)
	}
	if err != nil {
		return nil, err
	}
	h.HomeMemory = oxbow.New(s, &mo)
	h.RecordWrittenTexts(h.FS, ".")
	return h, nil
}

// openStore opens memory.db. If the store is opened read-only, the file may also have the format of a later crabtalk
// version.
func (h *home) openStore(ctx context.Context, mo *oxbow.Options) (oxbow.Store, error) {
	_, err := h.FS.Stat(storeFile)
	if errors.Is(err, fs.ErrNotExist) {
		switch is, err := isStore(h.FS, crmemStoreFile); {
		case err != nil:
			return nil, err
		case is && mo.ReadOnly:
			return h.openCrmemStore(ctx, crmemStoreFile, mo)
		case is:
			return nil, rejectNewFormatStore(h.Options)
		}
	} else if err != nil {
		return nil, err
	}
	s, err := crmem.Open(storeFile, mo)
	if mo.ReadOnly && errors.Is(err, oxbow.ErrVersion) {
		return h.openCrmemStore(ctx, storeFile, mo)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// maxCrmemStoreBytes is the maximum size, in bytes, of a file store.crmem, which crabtalk has written since August
// 2026.
const maxCrmemStoreBytes = 1 << 30

// openCrmemStore reads the file name, which has the format of later versions of crabtalk. It returns a read-only store
// in RAM with the entries of the file. An entry with an invalid name is renamed, and an entry that is invalid in
// another way is left out. h.Warn receives a warning for each such entry.
func (h *home) openCrmemStore(ctx context.Context, name string, mo *oxbow.Options) (_ oxbow.Store, err error) {
	data, err := vfs.ReadFile(h.FS, name, maxCrmemStoreBytes)
	if err != nil {
		return nil, err
	}
	in, err := crmem.Import(data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(h.Path, name), err)
	}
	for _, w := range in.Warnings {
		h.Warn(name + ": " + w)
	}
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: mo.Clock, Rand: mo.Rand})
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, e := range in.Entries {
		taken[e.Name] = true
	}
	var ops []oxbow.Op
	for _, e := range in.Entries {
		if err := oxbow.CheckName(e.Name); err != nil {
			as := makeFreeName(e.Name, taken)
			h.Warn(fmt.Sprintf("%s: entry %q is read as %q: %v", name, e.Name, as, err))
			e.Name = as
		}
		op := oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: h.validAliases(name, e),
			Labels: e.Labels, Created: e.Created}
		if err := op.Check(); err != nil {
			h.Warn(fmt.Sprintf("%s: entry %q is not read: %v", name, e.Name, err))
			continue
		}
		ops = append(ops, op)
	}
	if len(ops) > 0 {
		if err := m.Apply(ctx, ops...); err != nil {
			return nil, errors.Join(fmt.Errorf("reading %s: %w", name, err), m.Close())
		}
	}
	return crmemStore{m}, nil
}

// validAliases returns the valid aliases of an entry. It warns about the invalid aliases.
func (h *home) validAliases(file string, e oxbow.Entry) []string {
	var as []string
	for _, a := range e.Aliases {
		if err := (oxbow.Alias{Name: e.Name, Aliases: append(slices.Clone(as), a)}).Check(); err != nil {
			h.Warn(fmt.Sprintf("%s: entry %q is read without an alias: %v", file, e.Name, err))
			continue
		}
		as = append(as, a)
	}
	return as
}

// makeFreeName returns a valid name made from s that is not in taken, and adds it to taken.
func makeFreeName(s string, taken map[string]bool) string {
	base := text.DeriveName(strings.ToValidUTF8(s, ""))
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		if !taken[name] {
			taken[name] = true
			return name
		}
	}
}

// crmemStore is a read-only store with the entries from a file that a later version of crabtalk wrote.
type crmemStore struct{ oxbow.Store }

// Capabilities returns the optional interfaces of the store, for [oxbow.CapabilitiesOf]. The store offers only a check.
// The check does not report entries that could not be read from the file, because they were already reported when the
// file was opened.
func (l crmemStore) Capabilities() oxbow.Capabilities {
	return oxbow.Capabilities{Checker: oxbow.CapabilitiesOf(l.Store).Checker}
}

// Apply implements [oxbow.Store]. It always fails, because the store is read-only.
func (crmemStore) Apply(context.Context, ...oxbow.Op) error {
	return fmt.Errorf("changing the store of a later crabtalk: %w", oxbow.ErrReadOnly)
}

// Documents implements [layout.Home].
func (h *home) Documents() []string { return []string{crabFile} }

// Document implements [layout.Home].
func (h *home) Document(_ context.Context, path string) (string, bool, error) {
	data, err := vfs.ReadFile(h.FS, path, maxCrabFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// maxCrabFileBytes is the maximum size of a Crab.md in bytes.
const maxCrabFileBytes = 1 << 20
