// This file tests both backends as stores. It runs the tests that every store must pass. It also tests which changes
// the backends refuse, edits of the files by people, and several agents.

package duragent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestStore(t *testing.T) {
	for _, backend := range []string{backendFiles, backendOxbow} {
		t.Run(backend, func(t *testing.T) {
			var fsys *vfs.Mem
			again := func(t *testing.T) oxbow.Store {
				return openHome(t, options(fsys, "rei")).Memory().Store()
			}
			can := storetest.Can{Kinds: []oxbow.Kind{oxbow.World}, Reopen: again}
			if backend == backendFiles {
				can.Created = 24 * time.Hour // files have no time of creation
			}
			storetest.Run(t, func(t *testing.T) oxbow.Store {
				fsys = vfs.NewMem()
				put(t, fsys, ".duragent/agents/rei/agent.yaml", "spec:\n  memory:\n    backend: "+backend+"\n")
				return again(t)
			}, can)
		})
	}
}

// The places of the files of agent rei.
const (
	worldDir = ".duragent/memory/world/"
	reiDir   = ".duragent/agents/rei/memory/"
	dayFile  = reiDir + "daily/2026-02-18.md"
)

func add(t *testing.T, s oxbow.Store, ops ...oxbow.Op) {
	t.Helper()
	if err := s.Apply(t.Context(), ops...); err != nil {
		t.Fatalf("Apply(%v) = %v", ops, err)
	}
}

func names(t *testing.T, s oxbow.Store) string {
	t.Helper()
	var all []string
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Name+"/"+e.Kind.String())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestWhereEntriesGo(t *testing.T) {
	for _, backend := range []string{backendFiles, backendOxbow} {
		t.Run(backend, func(t *testing.T) {
			fsys := vfs.NewMem()
			agents(t, fsys, backend, "rei", "bob")
			rei, bob := openHome(t, options(fsys, "rei")).Memory(), openHome(t, options(fsys, "bob")).Memory()
			add(t, rei,
				oxbow.Add{Name: "Luna the dog", Content: "a note becomes a fact"},
				oxbow.Add{Name: curatedNoteName, Content: "rei's"},
				oxbow.Add{Name: "2026-02-17 (opening)", Kind: oxbow.Journal, Content: "a quiet day"},
				oxbow.Add{Name: "2026-02-17 09:00", Kind: oxbow.Journal, Content: "tea"},
				oxbow.Add{Name: "2026-02-17 09:00 (2)", Kind: oxbow.Journal, Content: "more tea"})
			if got, want := names(
				t,
				rei,
			), "2026-02-17 (opening)/journal, 2026-02-17 09:00 (2)/journal, 2026-02-17 09:00/journal, Luna the "+
				"dog/world, MEMORY/note"; got != want {
				t.Errorf("rei has %s, want %s", got, want)
			}
			add(
				t,
				bob,
				oxbow.Add{Name: curatedNoteName, Content: "bob's"},
				oxbow.Update{Name: "Luna the dog", Content: "bob's, too"},
			)
			if got, want := names(t, bob), "Luna the dog/world, MEMORY/note"; got != want {
				t.Errorf("bob has %s, want %s", got, want)
			}
			for name, want := range map[string]string{curatedNoteName: "rei's", "Luna the dog": "bob's, too"} {
				if e, err := rei.Get(t.Context(), name); err != nil || e.Content != want {
					t.Errorf("rei's %s is %q, %v, want %q", name, e.Content, err, want)
				}
			}
			err := bob.Apply(t.Context(), oxbow.Add{Name: curatedNoteName, Content: "again"})
			if !errors.Is(err, oxbow.ErrExists) || strings.Contains(err.Error(), "agents/") {
				t.Errorf("adding MEMORY twice = %v", err)
			}
			hits, err := bob.Recall(t.Context(), oxbow.Query{Text: "tea"})
			if err != nil || len(hits) != 0 {
				t.Errorf("bob recalls %+v of rei, %v", hits, err)
			}
			hits, err = rei.Recall(t.Context(), oxbow.Query{Text: "tea"})
			if err != nil || len(hits) != 2 {
				t.Errorf("rei recalls %+v, %v", hits, err)
			}
			for _, m := range []*oxbow.Memory{rei, bob} {
				if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
					t.Errorf("Check = %+v, %v", rep, err)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, backend := range []string{backendFiles, backendOxbow} {
		t.Run(backend, func(t *testing.T) {
			fsys := vfs.NewMem()
			agents(t, fsys, backend, "rei")
			m := openHome(t, options(fsys, "rei")).Memory()
			const day = "2026-02-18 15:46"
			add(t, m, oxbow.Add{Name: day, Kind: oxbow.Journal, Content: "x"}, oxbow.Add{Name: "people", Content: "x"})
			label := []oxbow.Label{{Key: "tag", Value: "x"}}
			for _, tt := range []struct {
				op  oxbow.Op
				err error
				why string
			}{
				{oxbow.Remove{Name: day}, oxbow.ErrUnsupported, "only added to"},
				{oxbow.Update{Name: day, Content: "y"}, oxbow.ErrUnsupported, "only added to"},
				{oxbow.Relabel{Name: "people", Labels: label}, oxbow.ErrUnsupported, "labels"},
				{oxbow.Update{Name: "people", Content: "y", Labels: label}, oxbow.ErrUnsupported, "labels"},
				{oxbow.Add{Name: "x", Content: "y", Aliases: []string{"z"}}, oxbow.ErrUnsupported, "aliases"},
				{oxbow.Alias{Name: "people", Aliases: []string{"z"}}, oxbow.ErrUnsupported, "aliases"},
				{oxbow.Add{Name: "x", Content: "y", Kind: oxbow.Handoff}, oxbow.ErrUnsupported, "kind handoff"},
				{oxbow.Add{Name: "x", Content: "y", Kind: oxbow.Journal}, oxbow.ErrInvalid, "give the moment"},
				{oxbow.Add{Name: "2026-02-18 15:47", Content: "y"}, oxbow.ErrUnsupported, "kind note"},
				{oxbow.Add{Name: "2026-02-18 15:47", Content: "y", Kind: oxbow.World}, oxbow.ErrInvalid, "journal"},
				{oxbow.Add{Name: curatedNoteName, Content: "y", Kind: oxbow.World}, oxbow.ErrInvalid, "own note"},
				{oxbow.Add{Name: "agents/bob/MEMORY", Content: "y"}, oxbow.ErrInvalid, "agents' own"},
				{oxbow.Add{Name: strings.Repeat("n", 201), Content: "y"}, oxbow.ErrInvalid, "201 bytes"},
				{oxbow.Update{Name: "people"}, oxbow.ErrInvalid, "empty"},
			} {
				if err := m.Apply(t.Context(), tt.op); !errors.Is(err, tt.err) ||
					!strings.Contains(err.Error(), tt.why) {
					t.Errorf("Apply(%+v) = %v, want %v that says %q", tt.op, err, tt.err, tt.why)
				}
			}
			if got := names(t, m); got != day+"/journal, people/world" {
				t.Errorf("refused changes left %s", got)
			}
		})
	}
	m := openHome(t, options(vfs.NewMem(), "rei")).Memory()
	for _, name := range []string{
		"2026-02-18 15:46 (2)",
		"2026-02-18 15:46 (02)",
		"2026-02-18 25:00",
		"2026-02-30 10:00",
	} {
		if err := m.Apply(
			t.Context(),
			oxbow.Add{Name: name, Kind: oxbow.Journal, Content: "x"},
		); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Add(%s) = %v", name, err)
		}
	}
}

// TestEdits tests that a text that a person writes to a file shows in the next call, and that no byte of it is lost.
func TestEdits(t *testing.T) {
	fsys := vfs.NewMem()
	agents(t, fsys, backendFiles, "rei")
	h := openHome(t, options(fsys, "rei"))
	want(t, h, "recall", m{}, "No memories found")
	put(t, fsys, worldDir+"systems.md", "\ufeffDB: PostgreSQL\r\n")
	put(t, fsys, worldDir+"MEMORY.md", "not the agent's")
	put(t, fsys, worldDir+"sub/x.md", "below")
	put(t, fsys, reiDir+"MEMORY.md", "likes tea\n")
	put(t, fsys, dayFile, "# 2026-02-18\r\n\r\nnice day\r\n\r\n## 09:00\r\nwoke up")
	if got, want := names(
		t,
		h.Memory(),
	), "2026-02-18 (opening)/journal, 2026-02-18 09:00/journal, MEMORY/note, systems/world, "+
		"world/MEMORY/world"; got != want {
		t.Errorf("entries are %s, want %s", got, want)
	}
	want(
		t,
		h,
		"recall",
		m{},
		"# World Knowledge\n\n## MEMORY\n\nnot the agent's\n\n## systems\n\nDB: PostgreSQL\r\n\n\n---\n\n# Your "+
			"Memory\n\nlikes tea\n\n\n---\n\n"+
			"# Recent Experiences\n\n# 2026-02-18\n\nnice day\n\n## 09:00\n\nwoke up\n",
	)
	if _, err := call(t, h, "remember", m{"content": "learned"}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(
		t,
		fsys,
		dayFile,
	), "# 2026-02-18\r\n\r\nnice day\r\n\r\n## 09:00\r\nwoke up\r\n\r\n## 15:46\r\n\r\nlearned\r\n"; got != want {
		t.Errorf("the day is %q, want %q", got, want)
	}
	if _, err := call(t, h, "update_world", m{"topic": "systems", "content": "DB: SQLite\r\n"}); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, fsys, worldDir+"systems.md"), "\ufeffDB: SQLite\r\n"; got != want {
		t.Errorf("the fact is %q, want %q", got, want)
	}

	// The agent rewrites its notes while a person edits them: both stay.
	if _, err := call(t, h, "reflect", m{"content": "likes tea\n\nlikes cats\n"}); err != nil {
		t.Fatal(err)
	}
	put(t, fsys, reiDir+"MEMORY.md", "likes GREEN tea\n\nlikes cats\n")
	add(t, h.Memory().Store(), oxbow.Update{Name: curatedNoteName, Content: "likes tea\n\nlikes cats\nand dogs\n"})
	if got, want := read(t, fsys, reiDir+"MEMORY.md"), "likes GREEN tea\n\nlikes cats\nand dogs\n"; got != want {
		t.Errorf("MEMORY.md is %q, want %q", got, want)
	}
	// A damaged file does not delete its entry: recall still returns the last readable text.
	put(t, fsys, worldDir+"systems.md", "")
	put(t, fsys, reiDir+"MEMORY.md", "\xff")
	if got, err := call(t, h, "recall", m{"days": 0}); err != nil || !strings.Contains(got, "SQLite") ||
		!strings.Contains(got, "GREEN") {
		t.Errorf("recall beside damaged files = %q, %v", got, err)
	}
	if rep, err := h.Memory().Check(t.Context()); err != nil || len(rep.Problems) != 2 {
		t.Errorf("Check = %+v, %v, want two problems", rep, err)
	}
}

// TestAgentsSideBySide lets two agents write to their own memories and to the shared world at the same time. Each write
// that returned no error must be found afterwards. With the backend that stores files, the file for the day must
// contain its heading exactly once.
func TestAgentsSideBySide(t *testing.T) {
	for _, backend := range []string{backendFiles, backendOxbow} {
		t.Run(backend, func(t *testing.T) {
			fsys := vfs.NewMem()
			agents(t, fsys, backend, "bob", "rei")
			const each = 6
			done := make(chan error, 4)
			for i := range 4 { // open the home of each agent twice
				agent := []string{"bob", "rei"}[i%2]
				o := options(fsys, agent)
				o.Memory.LockWait = time.Minute
				h := openHome(t, o)
				go func() {
					for n := range each {
						if _, err := call(
							t,
							h,
							"remember",
							m{"content": fmt.Sprint("door ", i, " entry ", n)},
						); err != nil {
							done <- err
							return
						}
						if _, err := call(
							t,
							h,
							"update_world",
							m{"topic": fmt.Sprint("topic ", i, " ", n), "content": agent},
						); err != nil {
							done <- err
							return
						}
					}
					done <- nil
				}()
			}
			for range 4 {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			for _, agent := range []string{"bob", "rei"} {
				got := names(t, openHome(t, options(fsys, agent)).Memory())
				if j, w := strings.Count(got, "/journal"), strings.Count(got, "/world"); j != 2*each || w != 4*each {
					t.Errorf("%s has %d entries of the day and %d facts, want %d and %d", agent, j, w, 2*each, 4*each)
				}
				if backend == backendFiles {
					if day := read(t, fsys, ".duragent/agents/"+agent+
						"/memory/daily/2026-02-18.md"); strings.Count(day, "# 2026-02-18\n") != 1 {
						t.Errorf("%s's day has more than one first line: %q", agent, day)
					}
				}
			}
		})
	}
}
