// This file tests the tools with both backends. It also compares the files and the answers of the tools with those of
// the program duragent.

package duragent

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestTools(t *testing.T) {
	for _, backend := range []string{backendFiles, backendOxbow} {
		t.Run(backend, func(t *testing.T) {
			fsys := vfs.NewMem()
			put(t, fsys, ".duragent/agents/rei/agent.yaml", "spec:\n  memory:\n    backend: "+backend+"\n")
			h := openHome(t, options(fsys, ""))
			want(t, h, "recall", m{}, "No memories found")
			for _, a := range []struct{ tool, topic, content string }{
				{"update_world", "people", "Alice\n"}, {"update_world", "Systems", "## Production\n- DB: PostgreSQL"},
				{"reflect", "", "User prefers concise responses\n"}, {"remember", "", "Helped debug issue"},
			} {
				args := m{"content": a.content}
				if a.topic != "" {
					args["topic"] = a.topic
				}
				if _, err := call(t, h, a.tool, args); err != nil {
					t.Fatal(err)
				}
			}
			const world = "# World Knowledge\n\n## people\n\nAlice\n\n\n## systems\n\n## Production\n- DB: " +
				"PostgreSQL\n\n---\n\n# Your Memory\n\nUser prefers concise responses\n"
			const day = "\n\n---\n\n# Recent Experiences\n\n# 2026-02-18\n\n## 15:46\n\nHelped debug issue\n"
			want(t, h, "recall", m{}, world+day)
			want(t, h, "recall", m{"days": 0}, world)
			want(t, h, "recall", m{"days": 1 << 40}, world+day)
			want(t, h, "recall", m{"to": "2026-02-17"}, world)
			want(t, h, "recall", m{"from": "2026-02-18", "to": "2026-02-18"}, world+day)
			for _, bad := range []m{
				{"days": -1},
				{"from": "yesterday"},
				{"from": "2026-02-18", "to": "2026-02-01"},
				{"days": 3, "from": "2026-02-18"},
			} {
				if got, err := call(t, h, "recall", bad); !errors.Is(err, oxbow.ErrInvalid) {
					t.Errorf("recall(%v) = %q, %v, want %v", bad, got, err, oxbow.ErrInvalid)
				}
			}
			got, err := call(t, h, "search_memory", m{"query": "postgresql"})
			if err != nil || !strings.Contains(got, "1. systems (world knowledge") || strings.Contains(got, "Alice") {
				t.Errorf("search_memory = %q, %v", got, err)
			}
			if got, err := call(t, h, "search_memory", m{"query": "debug", "to": "2026-02-17"}); err != nil ||
				!strings.HasPrefix(got, "No memories found") {
				t.Errorf("search_memory before the day = %q, %v", got, err)
			}
			for _, tl := range []string{"remember", "reflect"} {
				if _, err := call(t, h, tl, m{"content": " "}); !errors.Is(err, oxbow.ErrInvalid) {
					t.Errorf("%s of nothing = %v, want %v", tl, err, oxbow.ErrInvalid)
				}
			}
			// Another agent sees the world knowledge, but nothing of the first agent's own memory.
			put(t, fsys, ".duragent/agents/bob/agent.yaml", "spec:\n  memory:\n    backend: "+backend+"\n")
			bob := openHome(t, options(fsys, "bob"))
			if got, err := call(t, bob, "recall", m{}); err != nil || !strings.Contains(got, "PostgreSQL") ||
				strings.Contains(got, "concise") || strings.Contains(got, "debug") {
				t.Errorf("another agent recalls %q, %v", got, err)
			}
			if _, err := Dialect().Open(t.Context(), options(fsys, "")); !errors.Is(err, oxbow.ErrInvalid) {
				t.Errorf("opening one of two agents = %v, want %v", err, oxbow.ErrInvalid)
			}
			ops := []oxbow.Op{
				oxbow.Remove{Name: "2026-02-18 15:46"},
				oxbow.Relabel{Name: "people"},
				oxbow.Add{Name: "x", Content: "y", Kind: oxbow.Handoff},
			}
			for _, op := range ops {
				if err := h.Memory().Apply(t.Context(), op); !errors.Is(err, oxbow.ErrUnsupported) {
					t.Errorf("Apply(%v) = %v, want %v", op, err, oxbow.ErrUnsupported)
				}
			}
		})
	}
}

func TestRememberWritesTheHeaderOnce(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, options(fsys, "rei"))
	want(
		t,
		h,
		"remember",
		m{"content": "First entry"},
		"Remembered. Written to home/.duragent/agents/rei/memory/daily/2026-02-18.md",
	)
	if _, err := call(t, h, "remember", m{"content": "Second\n\n## 10:00\n\nno entry"}); err != nil {
		t.Fatal(err)
	}
	const file = ".duragent/agents/rei/memory/daily/2026-02-18.md"
	if got, want := read(
		t,
		fsys,
		file,
	), "# 2026-02-18\n\n## 15:46\n\nFirst entry\n\n## 15:46\n\nSecond\n\n\\## 10:00\n\nno entry\n"; got != want {
		t.Errorf("the day is %q, want %q", got, want)
	}
	e, err := h.Memory().Get(t.Context(), "2026-02-18 15:46 (2)")
	if err != nil || e.Content != "Second\n\n## 10:00\n\nno entry" || e.Kind != oxbow.Journal ||
		!e.Created.Equal(clock) {
		t.Errorf("Get = %+v, %v", e, err)
	}
}

func TestTopics(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, options(fsys, "rei"))
	for _, tt := range []struct{ topic, file string }{
		{"people", "people"}, {"People", "people"}, {"My Topic!", "my-topic-"}, {"a_b-c", "a-b-c"},
		{"../../etc/passwd", "------etc-passwd"}, {"x y  z", "x-y--z"}, {"日本", "日本"}, {"Ünïcode Ä", "ünïcode-ä"},
		{"a.b", "a-b"},
	} {
		if _, err := call(t, h, "update_world", m{"topic": tt.topic, "content": tt.topic}); err != nil {
			t.Errorf("update_world(%q) = %v", tt.topic, err)
			continue
		}
		if got := read(t, fsys, ".duragent/memory/world/"+tt.file+".md"); got != tt.topic {
			t.Errorf("topic %q is kept as %q", tt.topic, got)
		}
	}
	for _, bad := range []string{"", "..", "!!!", "🦀", strings.Repeat("n", 300), "a/b" /* a-b is a.b's */} {
		if _, err := call(t, h, "update_world", m{"topic": bad, "content": "x"}); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("update_world(%q) = %v, want %v", bad, err, oxbow.ErrInvalid)
		}
	}
	if got := read(t, fsys, ".duragent/memory/world/a-b.md"); got != "a.b" {
		t.Errorf("another topic replaced a.b: %q", got)
	}
	// A file that duragent made keeps its name.
	put(t, fsys, ".duragent/memory/world/old_name.md", "x")
	if _, err := call(t, h, "recall", m{}); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, h, "update_world", m{"topic": "old_name", "content": "new"}); err != nil ||
		read(t, fsys, ".duragent/memory/world/old_name.md") != "new" {
		t.Errorf("update_world(old_name) = %v", err)
	}
}

// vector returns the decoded rest of the line in vectors.txt that begins with the argument start and a space. The file
// contains strings that the program duragent itself printed in Python's notation.
func vector(t *testing.T, start string) string {
	t.Helper()
	for l := range strings.SplitSeq(vectors(t), "\n") {
		if rest, ok := strings.CutPrefix(l, start+" "); ok {
			return python(t, rest)
		}
	}
	t.Fatalf("vectors.txt has no line %q", start)
	return ""
}

func vectors(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// python returns the string that is written as the Python string literal s, which is in single quotes.
func python(t *testing.T, s string) string {
	t.Helper()
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.Trim(s, "'"), `"`, `\"`) + `"`)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return s
}

// TestRecallVectors tests that the tool recall returns the same bytes as duragent.
func TestRecallVectors(t *testing.T) {
	day := func(d, moment, text string) [2]string {
		return [2]string{reiDir + "daily/2026-02-" + d + ".md", "# 2026-02-" + d + "\n\n## " + moment + "\n\n" + text +
			"\n"}
	}
	days := [][2]string{day("18", "00:00", "day18"), day("17", "23:59", "day17"), day("16", "09:05", "day16")}
	for _, tt := range []struct {
		line  string
		args  m
		files [][2]string
	}{
		{"4 full recall", m{}, [][2]string{day("18", "15:46", "Helped debug issue"), {worldDir +
			"people.md", "Alice\n"},
			{worldDir + "systems.md", "## Production\n- DB: PostgreSQL"}, {reiDir +
				"MEMORY.md", "User prefers concise responses\n"}}},
		{"7 days 2", m{"days": 2}, days},
		{"7 days 400", m{"days": 400}, days},
		{"10 ws-only memory", m{}, [][2]string{{reiDir + "MEMORY.md", "  \n"}}},
	} {
		fsys := vfs.NewMem()
		for _, f := range tt.files {
			put(t, fsys, f[0], f[1])
		}
		want(t, openHome(t, options(fsys, "rei")), "recall", tt.args, vector(t, tt.line))
	}
}

// TestRepeatedFirstLine tests a file in which duragent repeated the line with the date before each entry. The tool
// recall must return both entries, with the date only once. The tool remember must append an entry without changing the
// rest of the file.
func TestRepeatedFirstLine(t *testing.T) {
	fsys := vfs.NewMem()
	legacy := ""
	for l := range strings.SplitSeq(vectors(t), "\n") {
		if strings.HasPrefix(l, `'# 2026`) {
			legacy = python(t, l)
		}
	}
	put(t, fsys, dayFile, legacy)
	h := openHome(t, options(fsys, "rei"))
	want(
		t,
		h,
		"recall",
		m{},
		"# Recent Experiences\n\n# 2026-02-18\n\n## 15:46\n\nFirst entry\n\n## 15:46\n\nSecond entry\n",
	)
	if _, err := call(t, h, "remember", m{"content": "third"}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, fsys, dayFile); got != legacy+"\n## 15:46\n\nthird\n" {
		t.Errorf("the day is %q", got)
	}
}

// TestTopicVectors tests that a topic is stored in the same file as in duragent. The exceptions are topics for which
// duragent's file name would lose something.
func TestTopicVectors(t *testing.T) {
	differs := map[string]string{
		"": "refused", "..": "refused", // oxbow refuses topics without letters and digits
		"ẞ": "ß.md", // oxbow's file names are in lower case in all scripts
	}
	seen := 0
	for l := range strings.SplitSeq(vectors(t), "\n") {
		rest, ok := strings.CutPrefix(l, "8 topic '")
		if !ok || strings.Contains(l, "'error'") {
			continue
		}
		seen++
		quoted, rest, _ := strings.Cut(rest, "' ")
		topic := python(t, quoted)
		file, _, _ := strings.Cut(rest, " ")
		if other, ok := differs[topic]; ok {
			file = other
		}
		got := "refused"
		name, err := chooseTopicName(topic, func(string) (bool, error) { return false, nil })
		if err == nil {
			got = name + ".md"
		}
		if got != file {
			t.Errorf("topic %q is kept in %s, %v; want %s", topic, got, err, file)
		}
	}
	if seen != 10 {
		t.Errorf("%d topics, want 10", seen)
	}
}

// TestZone tests that an entry is stored and found under the date of its time in the zone o.Zone.
func TestZone(t *testing.T) {
	fsys := vfs.NewMem()
	o := options(fsys, "rei")
	o.Zone = time.FixedZone("east", 9*3600)
	h := openHome(t, o)
	want(
		t,
		h,
		"remember",
		m{"content": "late"},
		"Remembered. Written to home/.duragent/agents/rei/memory/daily/2026-02-19.md",
	)
	e, err := h.Memory().Get(t.Context(), "2026-02-19 00:46")
	if err != nil || !e.Created.Equal(clock) {
		t.Errorf("Get = %+v, %v, want it to be of %v", e, err, clock)
	}
	if got, err := call(
		t,
		h,
		"search_memory",
		m{"query": "late", "from": "2026-02-19", "to": "2026-02-19"},
	); err != nil || !strings.Contains(got, "1. 2026-02-19 00:46 (daily log, 2026-02-19)\n\n> late") {
		t.Errorf("search_memory = %q, %v", got, err)
	}
	if got, err := call(t, h, "search_memory", m{"query": "late", "to": "2026-02-18"}); err != nil ||
		got != "No memories found for: late" {
		t.Errorf("search_memory of the day before = %q, %v", got, err)
	}
}
