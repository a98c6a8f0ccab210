// This file tests the reading of journals. The packages that use journals test what a crash leaves of them.

package journal

import (
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestStage(t *testing.T) {
	m := vfs.NewMem()
	s := StagingDir{FS: m, Home: "brain", Name: ".stage"}
	all := func(string) bool { return false }
	if j, err := s.LoadJournal(all, all); j != nil || err != nil {
		t.Errorf("Load() of nothing = %v, %v", j, err)
	}
	if err := m.MkdirAll("brain/.stage", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateFileSync(s.StagedFile(0), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := m.Stat("brain/.stage/0"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the staged file is %v, %v", info, err)
	}
	want := &Journal{
		Version:  FormatVersion,
		Writes:   []StagedWrite{{"a.md", "", HexSum([]byte("new"))}},
		Removals: []StagedRemoval{{"b.md", "x"}},
	}
	if err := s.Commit(want); err != nil {
		t.Fatal(err)
	}
	j, err := s.LoadJournal(all, all)
	if err != nil || len(j.Writes) != 1 || j.Writes[0] != want.Writes[0] || len(j.Removals) != 1 ||
		j.Removals[0] != want.Removals[0] {
		t.Errorf("Load() = %+v, %v; want %+v", j, err, want)
	}
	for _, bad := range []string{"a.md", "b.md"} {
		badWrite := func(p string) bool { return p == bad && bad == "a.md" }
		badRemoval := func(p string) bool { return p == bad && bad == "b.md" }
		if _, err := s.LoadJournal(badWrite, badRemoval); !errors.Is(err, ErrUnreadable) {
			t.Errorf("Load() of a journal with %s = %v", bad, err)
		}
	}
	for range 2 {
		if err := s.RemoveCompletedJournal(); err != nil {
			t.Fatal(err)
		}
	}
	if names := m.Names(); len(names) != 1 {
		t.Errorf("Drop() left %q", names)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"version":1,"write":[{"path":"a","was":"","sha256":"x"}],"remove":[{"path":"b","was":"y"}]}`)
	f.Add(`{"version":2,"write":[],"remove":[],"dirs":["notes"]}`)
	f.Add(`{"version":2,"dirs":["../x"]}`)
	f.Add(`{"version":3}`)
	f.Fuzz(func(t *testing.T, text string) {
		bad := func(p string) bool { return p == "bad" }
		j, err := StagingDir{Dirs: []string{"notes"}}.parseJournal([]byte(text), bad, bad)
		switch {
		case err != nil && !errors.Is(err, ErrUnreadable) && !errors.Is(err, ErrUnknownVersion):
			t.Errorf("Parse(%q) = %v", text, err)
		case err == nil && (j.Version < 1 || j.Version > FormatVersion):
			t.Errorf("Parse(%q) = %+v", text, j)
		case err == nil:
			for _, c := range j.Writes {
				if c.Path == "bad" {
					t.Errorf("Parse(%q) let a bad path through", text)
				}
			}
			for _, d := range j.NewDirs {
				if d != "notes" {
					t.Errorf("Parse(%q) let the directory %q through", text, d)
				}
			}
		}
	})
}
