// This file contains helpers for the tests: a store in memory, and functions that read and compare trees.

package mdtree

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

var noon = time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC)

// mapStore is a store in memory that accepts any entry. The stores of package oxbow would refuse some entries of the
// tests, but files from older versions may contain such entries.
type mapStore struct {
	entries []oxbow.Entry
	nextID  uint64
	seq     uint64
}

func (s *mapStore) find(name string) int {
	return slices.IndexFunc(s.entries, func(e oxbow.Entry) bool { return e.Name == name })
}

func (s *mapStore) Get(_ context.Context, name string) (oxbow.Entry, error) {
	if i := s.find(name); i >= 0 {
		return s.entries[i], nil
	}
	return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
}

func (s *mapStore) Entries(_ context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	all := slices.Clone(s.entries)
	return func(yield func(oxbow.Entry, error) bool) {
		for _, e := range all {
			if f.Match(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *mapStore) Apply(_ context.Context, ops ...oxbow.Op) error {
	old, next := slices.Clone(s.entries), s.nextID
	s.seq++
	for _, op := range ops {
		if err := s.apply(op); err != nil {
			s.entries, s.nextID = old, next
			return err
		}
	}
	return nil
}

func (s *mapStore) apply(op oxbow.Op) error {
	i := s.find(op.Target())
	if add, ok := op.(oxbow.Add); ok {
		if i >= 0 {
			return &oxbow.NameError{Name: add.Name, Err: oxbow.ErrExists}
		}
		s.nextID++
		e := oxbow.Entry{ID: s.nextID, Name: add.Name, Kind: add.Kind, Content: add.Content, Version: s.seq,
			Aliases: add.Aliases, Labels: oxbow.SortLabels(add.Labels), Created: add.Created}
		if e.Created.IsZero() {
			e.Created = noon
		}
		s.entries = append(s.entries, e)
		return nil
	}
	if i < 0 {
		return &oxbow.NameError{Name: op.Target(), Err: oxbow.ErrNotFound}
	}
	e := s.entries[i].Clone()
	var want uint64
	switch op := op.(type) {
	case oxbow.Update:
		want = op.If
		e.Content = op.Content
		e.Aliases = op.Aliases
		e.Labels = oxbow.SortLabels(op.Labels)
	case oxbow.Alias:
		want, e.Aliases = op.If, op.Aliases
	case oxbow.Relabel:
		want, e.Labels = op.If, oxbow.SortLabels(op.Labels)
	case oxbow.Remove:
		want = op.If
	}
	if want != 0 && want != e.Version {
		return &oxbow.ConflictError{Name: e.Name, Want: want, Have: e.Version}
	}
	if _, ok := op.(oxbow.Remove); ok {
		s.entries = slices.Delete(s.entries, i, i+1)
		return nil
	}
	e.Version = s.seq
	s.entries[i] = e
	return nil
}

func (s *mapStore) Close() error { return nil }

func storeOf(t testing.TB, ops ...oxbow.Op) *mapStore {
	t.Helper()
	s := &mapStore{}
	if err := s.Apply(t.Context(), ops...); err != nil {
		t.Fatalf("filling the store: %v", err)
	}
	return s
}

func note(name, content string) oxbow.Add {
	return oxbow.Add{Name: name, Content: content, Created: noon}
}

func mustDump(t testing.TB, s oxbow.Store, fsys vfs.FS, dir string) DumpReport {
	t.Helper()
	r, err := Dump(t.Context(), s, fsys, dir, nil)
	if err != nil {
		t.Fatalf("Dump(%s): %v", dir, err)
	}
	return r
}

func mustRead(t testing.TB, fsys vfs.FS, dir string) *Tree {
	t.Helper()
	tree, err := ReadTree(fsys, dir, nil)
	if err != nil {
		t.Fatalf("Read(%s): %v", dir, err)
	}
	return tree
}

// load makes the store equal to the tree.
func load(t testing.TB, tree *Tree, s oxbow.Store, o *PlanOptions) LoadPlan {
	t.Helper()
	p, err := tree.PlanLoadIntoStore(t.Context(), s, o)
	if err != nil {
		t.Fatalf("Plan: %v", err)
	}
	if err := s.Apply(t.Context(), p.StoreOps...); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return p
}

// files returns the texts of all files below dir, by their paths relative to dir. It leaves out the lock and the list
// of known files.
func files(t testing.TB, fsys vfs.FS, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	var walk func(p string)
	walk = func(p string) {
		items, err := fsys.ReadDir(path.Join(dir, p))
		if err != nil {
			t.Fatalf("ReadDir(%s): %v", p, err)
		}
		for _, it := range items {
			sub := path.Join(p, it.Name())
			switch {
			case it.IsDir():
				walk(sub)
			case sub != dumpLockFile && sub != knownHashListFile:
				data, err := vfs.ReadFile(fsys, path.Join(dir, sub), -1)
				if err != nil {
					t.Fatalf("ReadFile(%s): %v", sub, err)
				}
				all[sub] = string(data)
			}
		}
	}
	walk(".")
	return all
}

func put(t testing.TB, fsys vfs.FS, name, text string) {
	t.Helper()
	if err := fsys.MkdirAll(path.Dir(name), 0o755); err != nil {
		t.Fatalf("MkdirAll(%s): %v", path.Dir(name), err)
	}
	if err := vfs.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
		t.Fatalf("WriteFile(%s): %v", name, err)
	}
}

func get(t testing.TB, fsys vfs.FS, name string) string {
	t.Helper()
	data, err := vfs.ReadFile(fsys, name, -1)
	if err != nil {
		t.Fatalf("ReadFile: %v", err)
	}
	return string(data)
}

// diffFiles returns the differences between two trees, or "" if there are none.
func diffFiles(got, want map[string]string) string {
	var b strings.Builder
	for p, w := range want {
		if g, ok := got[p]; !ok {
			fmt.Fprintf(&b, "%s is missing\n", p)
		} else if g != w {
			fmt.Fprintf(&b, "%s = %q, want %q\n", p, g, w)
		}
	}
	for p := range got {
		if _, ok := want[p]; !ok {
			fmt.Fprintf(&b, "%s is too much\n", p)
		}
	}
	return b.String()
}

// describeEntry returns a description of everything in an entry that a tree must preserve.
func describeEntry(e *oxbow.Entry) string {
	return fmt.Sprintf("%q %v %q aliases %q labels %v created %v",
		e.Name, e.Kind, e.Content, e.Aliases, e.Labels, e.Created.UTC().Format(time.RFC3339Nano))
}

func describeAll(es []oxbow.Entry) []string {
	var all []string
	for i := range es {
		all = append(all, describeEntry(&es[i]))
	}
	slices.Sort(all)
	return all
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// parseManifest returns the manifest with the given text.
func parseManifest(t *testing.T, text string) (*manifest, error) {
	t.Helper()
	fsys := vfs.NewMem()
	put(t, fsys, "manifest", text)
	f, err := fsys.OpenFile("manifest", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return readManifest(f)
}
