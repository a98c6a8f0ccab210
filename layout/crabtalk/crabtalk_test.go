// This file tests homes and tools: how a home is found and created, whether the ranking is equal to crabtalk's ranking,
// and what the tools answer. A home is a directory with a memory.

package crabtalk

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/layouttest"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

var day = time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC)

func options(fsys vfs.FS) layout.Options {
	return layout.Options{FS: fsys, Path: "crab", Memory: oxbow.Options{Clock: func() time.Time { return day }}}
}

func openHome(t *testing.T, o layout.Options) layout.Home {
	t.Helper()
	h, err := Dialect().Open(t.Context(), o)
	if err != nil {
		t.Fatalf("Open() = %v", err)
	}
	t.Cleanup(func() {
		if !o.Memory.ReadOnly {
			rep, err := h.Memory().Check(context.Background())
			if err != nil || len(rep.Problems) > 0 {
				t.Errorf("Check() = %v, %v, want no problems", rep.Problems, err)
			}
		}
		if err := h.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return h
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) oxbow.Store {
		o := options(vfs.NewMem())
		o.Memory.Clock = nil
		h, err := Dialect().Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return h.Memory()
	}, storetest.Can{Aliases: true, Kinds: []oxbow.Kind{oxbow.Note, oxbow.Archive}, Created: time.Second})
}

func TestDetectAndInit(t *testing.T) {
	fsys := vfs.NewMem()
	d := Dialect()
	markers := func(want int) {
		t.Helper()
		if got, err := d.Detect(fsys); err != nil || got != want {
			t.Errorf("Detect() = %d, %v, want %d", got, err, want)
		}
	}
	markers(0)
	write(t, fsys, crabFile, "Be brief.")
	markers(0) // other layouts have one too
	made, err := d.Init(t.Context(), options(fsys))
	if err != nil || !slices.Equal(made, []string{storeFile}) {
		t.Fatalf("Init() = %v, %v, want memory.db", made, err)
	}
	markers(3)
	if made, err := d.Init(t.Context(), options(fsys)); err != nil || len(made) > 0 {
		t.Errorf("Init() again = %v, %v, want nothing made", made, err)
	}
	b, err := vfs.ReadFile(fsys, storeFile, 100)
	if want := "CRMEM\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + strings.Repeat("\x00", 11); err != nil ||
		string(b) != want {
		t.Errorf("a new memory.db holds %q, %v, want %q", b, err, want)
	}
	write(t, fsys, storeFile, "SQLite format 3")
	markers(0)
	if _, err := d.Open(t.Context(), options(fsys)); !errors.Is(err, oxbow.ErrNotStore) {
		t.Errorf("Open() of a memory.db of somebody else = %v, want ErrNotStore", err)
	}
}

// TestDamagedStoreIsFound tests that Detect recognizes a home by its store file even if the file is damaged. Open must
// then return an error that contains the name of the file, and must not change the file.
func TestDamagedStoreIsFound(t *testing.T) {
	for _, file := range []string{storeFile, crmemStoreFile} {
		for name, text := range map[string]string{
			"empty": "", "short": "CRM", "zeroed": strings.Repeat("\x00", 64), "one bit": "BRMEM\x00\x01" +
				strings.Repeat("\x00", 40),
		} {
			fsys := vfs.NewMem()
			write(t, fsys, file, text)
			if markers, err := Dialect().Detect(fsys); err != nil || markers != 2 {
				t.Errorf("Detect() of a home whose %s is %s = %d, %v, want 2", file, name, markers, err)
			}
			for _, ro := range []bool{false, true} {
				o := options(fsys)
				o.Memory.ReadOnly = ro
				if _, err := Dialect().Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), file) {
					t.Errorf(
						"Open() of a home whose %s is %s = %v, want an error that names it (read-only: %v)",
						file,
						name,
						err,
						ro,
					)
				}
			}
			if b, err := vfs.ReadFile(fsys, file, 1000); err != nil || string(b) != text {
				t.Errorf("%s, which was %s, was changed to %q, %v", file, name, b, err)
			}
		}
	}
}

// TestLater tests the store file of a later version of crabtalk. Its entries can be read if the home is opened
// read-only. Opening the home for writing must fail, and the file must never change. The same content is tested under
// the names of the current and the later store file.
func TestLater(t *testing.T) {
	head := "CRMEM\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 22)
	value := `{"kind":"note","content":"Luna"}`
	db := head + "\x00\x02\x12\x00\x00\x00default/memory/dog" + string(rune(len(value))) + "\x00\x00\x00" + value
	for _, file := range []string{storeFile, crmemStoreFile} {
		fsys := vfs.NewMem()
		write(t, fsys, file, db)
		d := Dialect()
		if markers, err := d.Detect(fsys); err != nil || markers == 0 {
			t.Errorf("%s: Detect() = %d, %v, want markers", file, markers, err)
		}
		if _, err := d.Open(t.Context(), options(fsys)); err == nil {
			t.Errorf("%s: Open() for writing works, want an error", file)
		}
		if _, err := d.Init(t.Context(), options(fsys)); file == crmemStoreFile &&
			!errors.Is(err, oxbow.ErrUnsupported) {
			t.Errorf("%s: Init() = %v, want ErrUnsupported", file, err)
		}
		o := options(fsys)
		o.Memory.ReadOnly = true
		h := openHome(t, o)
		var contents []string
		for e, err := range h.Memory().Entries(t.Context(), oxbow.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			contents = append(contents, e.Content)
		}
		if !slices.Equal(contents, []string{"Luna"}) {
			t.Errorf("%s: entries are %q, want Luna", file, contents)
		}
		if r, err := h.Memory().Check(t.Context()); err != nil || r.Entries != 1 || len(r.Problems) > 0 {
			t.Errorf("%s: Check() = %+v, %v, want one sound entry", file, r, err)
		}
		if err := h.Memory().Apply(
			t.Context(),
			oxbow.Add{Name: "x", Content: "y"},
		); !errors.Is(err, oxbow.ErrReadOnly) {
			t.Errorf("%s: Apply() = %v, want ErrReadOnly", file, err)
		}
		if b, err := vfs.ReadFile(fsys, file, 1000); err != nil || string(b) != db {
			t.Errorf("%s was changed to %q, %v", file, b, err)
		}
	}
}

// TestSearchVectors adds the entries of a recorded session of crabtalk to a home. Recall must return the same hits as
// crabtalk did, with the same scores.
func TestSearchVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/crabtalk-search.json")
	if err != nil {
		t.Fatal(err)
	}
	var steps []struct {
		Op struct {
			Op, Name, Content, Query, Kind string
			Aliases                        []string
			Limit                          int
		}
		Result struct {
			Hits []struct {
				Name  string
				Score float64
			}
		}
	}
	if err := json.Unmarshal(b, &steps); err != nil {
		t.Fatal(err)
	}
	m := openHome(t, options(vfs.NewMem())).Memory()
	searched := 0
	for _, s := range steps {
		switch op := s.Op; op.Op {
		case "add":
			kind, err := oxbow.ParseKind(op.Kind)
			if err != nil {
				kind = oxbow.Note // topics are none of oxbow's kinds
			}
			if err := m.Apply(
				t.Context(),
				oxbow.Add{Name: op.Name, Content: op.Content, Aliases: op.Aliases, Kind: kind},
			); err != nil {
				t.Fatalf("adding %q: %v", op.Name, err)
			}
		case "search":
			if op.Kind != "" || op.Limit < 1 || strings.TrimSpace(op.Query) == "" {
				continue // Skip searches for one kind of entry, and searches without words or limit.
			}
			searched++
			got, err := m.Recall(t.Context(), oxbow.Query{Text: op.Query, Limit: op.Limit})
			if err != nil || len(got) != len(s.Result.Hits) {
				t.Errorf("Recall(%q) = %d hits, %v, want %d", op.Query, len(got), err, len(s.Result.Hits))
				continue
			}
			score := map[string]float64{}
			for _, w := range s.Result.Hits {
				score[w.Name] = w.Score
			}
			for i, w := range s.Result.Hits {
				if math.Abs(got[i].Score-w.Score) > 1e-12*w.Score ||
					(score[got[i].Entry.Name] != w.Score && op.Limit > len(got)) {
					t.Errorf(
						"Recall(%q): hit %d is %s with %v, want %s with %v",
						op.Query,
						i,
						got[i].Entry.Name,
						got[i].Score,
						w.Name,
						w.Score,
					)
				}
			}
		case "update", "alias", "remove":
			t.Fatalf("the vectors have op %s, which this test does not play", op.Op)
		}
	}
	if searched < 10 {
		t.Errorf("only %d searches in the vectors", searched)
	}
}

func TestTools(t *testing.T) {
	h := openHome(t, options(vfs.NewMem()))
	if err := h.Memory().Apply(
		t.Context(),
		oxbow.Add{Name: "talk-1", Kind: oxbow.Archive, Content: "We chose rust lifetimes."},
	); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct{ tool, args, want string }{
		{"recall", `{"query":"deploy"}`, "no memories found"},
		{
			"remember",
			`{"name":"rollout","content":"Ship on Tuesdays.","aliases":["deploy","release"]}`,
			"remembered: rollout",
		},
		{"recall", `{"query":"deploy"}`, "## rollout\nShip on Tuesdays."},
		{"recall", `{"query":"rollout"}`, "no memories found"}, // names are not searched
		{"recall", `{"query":"the"}`, "no memories found"},
		{"recall", `{"query":"deploy","limit":0}`, "no memories found"},
		{"recall", `{"query":"deploy","limit":-1}`, `! limit "-1" is less than 0`},
		{"recall", `{"query":" "}`, "no memories found"},
		{"remember", `{"name":"steps","content":"First Tuesdays, Tuesdays again."}`, "remembered: steps"},
		{
			"recall",
			`{"query":"tuesdays"}`,
			"## steps\nFirst Tuesdays, Tuesdays again.\n---\n## rollout\nShip on Tuesdays.",
		},
		{"recall", `{"query":"tuesdays","limit":1}`, "## steps\nFirst Tuesdays, Tuesdays again."},
		{"remember", `{"name":"rollout","content":"Ship on Mondays."}`, "remembered: rollout"},
		{"recall", `{"query":"deploy"}`, "no memories found"}, // the aliases were replaced
		{"recall", `{"query":"mondays"}`, "## rollout\nShip on Mondays."},
		{"recall", `{"query":"lifetimes"}`, "## talk-1\nWe chose rust lifetimes."},
		{
			"remember",
			`{"name":"talk-1","content":"x"}`,
			`! failed to save entry: name "talk-1" is that of an archive, which remember does not overwrite; choose another name`,
		},
		{
			"forget",
			`{"name":"talk-1"}`,
			`! name "talk-1" is that of an archive, which forget does not delete; a person can`,
		},
		{"forget", `{"name":"rollout"}`, "forgot: rollout"},
		{"forget", `{"name":"rollout"}`, "! no entry named: rollout"},
		{
			"remember",
			`{"name":"a\nb","content":"x"}`,
			`! failed to save entry: name "a\nb" holds a control character at byte 1`,
		},
	} {
		if got := call(t, h, step.tool, step.args); got != step.want {
			t.Errorf("step %d: %s %s says\n%s\nwant\n%s", i, step.tool, step.args, got, step.want)
		}
	}
	var names []string
	for _, u := range h.Tools() {
		names = append(names, u.Name)
		if len(u.Description) > 1024 || !strings.Contains(u.Description, "- "+u.Params[0].Name+":") {
			t.Errorf("%s is described as %q", u.Name, u.Description)
		}
	}
	if !slices.Equal(names, []string{"recall", "remember", "forget"}) {
		t.Errorf("tools are %v", names)
	}
}

// TestRememberAtOnce tests that the store contains a single entry, with one of the contents, after several goroutines
// have called the tool remember at the same time with the same name.
func TestRememberAtOnce(t *testing.T) {
	h := openHome(t, options(vfs.NewMem()))
	said := make(chan string)
	for i := range 8 {
		go func() { said <- call(t, h, "remember", `{"name":"one","content":"`+strconv.Itoa(i)+`"}`) }()
	}
	for range 8 {
		if got := <-said; got != "remembered: one" {
			t.Errorf("remember says %q", got)
		}
	}
	if e, err := h.Memory().Get(t.Context(), "one"); err != nil || len(e.Content) != 1 || e.ID != 1 {
		t.Errorf("Get(one) = %+v, %v, want one entry with id 1", e, err)
	}
}

var write = layouttest.WriteFile

// call calls a tool of the home. It returns the text of the tool's answer, or "! " followed by the text of the error.
func call(t *testing.T, h layout.Home, name, args string) string {
	t.Helper()
	s, err := layouttest.CallHomeTool(t, h, name, json.RawMessage(args))
	if err != nil {
		return "! " + err.Error()
	}
	return s
}

// TestWriters tests that the tools lose nothing that a person typed.
func TestWriters(t *testing.T) {
	layouttest.CheckWriteTools(t, Dialect(), [][]layouttest.WriteCall{
		{
			{Tool: "remember", Args: layouttest.Args{"name": "n", "content": "TEXT"}},
			{Tool: "forget", Args: layouttest.Args{"name": "n"}},
		},
	})
}
