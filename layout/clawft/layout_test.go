// This file tests the layout, which is the form of the memory files. It runs the tests that every store must pass. It
// also tests which parts of a text are entries, and that a change of an entry leaves the rest of the text unchanged.

package clawft

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestContract(t *testing.T) {
	var fsys *vfs.Mem
	open := func(t *testing.T) oxbow.Store { return openHome(t, fsys).Tree }
	storetest.Run(t, func(t *testing.T) oxbow.Store { fsys = vfs.NewMem(); return open(t) },
		storetest.Can{Labels: true, Aliases: true, Kinds: []oxbow.Kind{oxbow.Note, oxbow.History}, Reopen: open})
}

// TestContractOfWindows runs the tests of the store contract with a MEMORY.md that begins with a byte order mark and
// has Windows line ends. The file must keep both.
func TestContractOfWindows(t *testing.T) {
	const text = "\ufeff\r\n\r\n"
	var fsys *vfs.Mem
	open := func(t *testing.T) oxbow.Store { return openHome(t, fsys).Tree }
	storetest.Run(t, func(t *testing.T) oxbow.Store {
		fsys = vfs.NewMem()
		put(t, fsys, clawftMemoryDir+"/MEMORY.md", text)
		t.Cleanup(func() {
			got := read(t, fsys, clawftMemoryDir+"/MEMORY.md")
			if !strings.HasPrefix(got, text) || strings.Count(got, "\n") != strings.Count(got, "\r\n") {
				t.Errorf("MEMORY.md was %q and is %.300q", text, got)
			}
		})
		return open(t)
	}, storetest.Can{Labels: true, Aliases: true, Kinds: []oxbow.Kind{oxbow.Note, oxbow.History}, Reopen: open})
}

func names(items []parsedItem) []string {
	var ns []string
	for _, it := range items {
		ns = append(ns, it.name)
	}
	return ns
}

func TestParse(t *testing.T) {
	l := treeLayout{time.UTC}
	for _, tt := range []struct {
		name, path, text string
		want             []string // name = content
	}{
		{"nothing", memoryFile, "", nil},
		{"blank", memoryFile, "\n \t\n\n", nil},
		{
			"paragraphs",
			memoryFile,
			"one\ntwo\n\n\n  three \n \nfour",
			[]string{"one = one\ntwo", "three =   three ", "four = four"},
		},
		{"lines of Windows", memoryFile, "one\r\ntwo\r\n\r\nthree\r\n", []string{"one = one\ntwo", "three = three"}},
		{"a byte order mark", memoryFile, "\ufeffone\n", []string{"one = one"}},
		{"the same again", memoryFile, "x\n\nx\n\nx y\n\nx", []string{"x = x", "x (2) = x", "x y = x y", "x (3) = x"}},
		{"a name in use", memoryFile, "x\n\n<!-- oxbow {\"name\":\"x\"} -->\ny\n", []string{"x (2) = x", "x = y"}},
		{
			"headings",
			memoryFile,
			"# A\n\n## B\n## C\n\n\none\n\ntwo\n\n# D\nthree\n\n#no\n\n# E\n",
			[]string{"C = # A\n\n## B\n## C\n\n\none", "two = two", "D = # D\nthree", "no = #no", "E = # E"},
		},
		{
			"a heading above a named one",
			memoryFile,
			"# A\n\n<!-- oxbow {\"name\":\"n\"} -->\nx\n\ny",
			[]string{"A = # A", "n = x", "y = y"},
		},
		{
			"code",
			memoryFile,
			"so:\n```go\na\n\n# b\n\n<!-- oxbow {\"name\":\"n\"} " +
				"-->\n```\nend\n\n~~~~\n\n~~~\n\n~~~~\nx\n\n```\nnever\n\nclosed",
			[]string{
				"so: = so:\n```go\na\n\n# b\n\n<!-- oxbow {\"name\":\"n\"} -->\n```\nend",
				"~~~~ = ~~~~\n\n~~~\n\n~~~~\nx",
				"never = ```\nnever",
				"closed = closed",
			},
		},
		{
			"a comment",
			memoryFile,
			"a\n<!-- oxbow {\"name\":\"n\"} -->\nb\nc\n\nd",
			[]string{"a = a", "n = b\nc", "d = d"},
		},
		{
			"two comments",
			memoryFile,
			"<!-- oxbow {\"name\":\"n\"} -->\n<!-- oxbow {\"name\":\"o\"} -->\nb",
			[]string{"n = ", "o = b"},
		},
		{
			"from one to another",
			memoryFile,
			"<!-- oxbow {\"name\":\"n\",\"end\":2} -->\na\n\n<!-- /oxbow 1 -->\nb\n<!-- /oxbow 2 -->\nc",
			[]string{"n = a\n\n<!-- /oxbow 1 -->\nb", "c = c"},
		},
		{"never closed", memoryFile, "<!-- oxbow {\"name\":\"n\",\"end\":1} -->\na\n\nb", []string{"n = a", "b = b"}},
		{
			"closed at once",
			memoryFile,
			"<!-- oxbow {\"name\":\"n\",\"end\":1} -->\n<!-- /oxbow 1 -->\nb",
			[]string{"n = ", "b = b"},
		},
		{
			"no such comment",
			memoryFile,
			"<!-- oxbow {\"name\":\"\"} -->\na\n\n<!-- oxbow {name} -->\n\n<!-- oxbow " +
				"{\"name\":\"n\",\"created\":\"today\"} -->",
			[]string{
				"<!-- oxbow {\"name\":\"\"} --> = <!-- oxbow {\"name\":\"\"} -->\na",
				"<!-- oxbow {name} --> = <!-- oxbow {name} -->",
				"<!-- oxbow {\"name\":\"n\",\"created\":\"today\"} --> = <!-- oxbow " +
					"{\"name\":\"n\",\"created\":\"today\"} -->",
			},
		},
		{
			"history",
			historyFile,
			"before\n\n[2026-04-14 10:23] We talked.\n\nmore\n",
			[]string{"history: before = before",
				"[2026-04-14 10:23] We talked. = [2026-04-14 10:23] We talked.", "history: more = more"},
		},
		{
			"from below a heading",
			historyFile,
			"(User / Pets)\n- Luna\n\n(aside)",
			[]string{"history: Luna = (User / Pets)\n- Luna", "history: (aside) = (aside)"},
		},
		{
			"memory like history",
			memoryFile,
			"[2026-04-14] x\n\nhistory: y",
			[]string{"memory: [2026-04-14] x = [2026-04-14] x", "memory: history: y = history: y"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, it := range l.parseItems(tt.path, tt.text) {
				got = append(got, it.name+" = "+it.content)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("parse(%q) =\n%q, want\n%q", tt.text, got, tt.want)
			}
		})
	}
}

func TestDates(t *testing.T) {
	l := treeLayout{time.FixedZone("", 2*3600)}
	text := "old\n\n[2026-04-14 10:23] a\n\nb\n\n## 2026-04-15\nc\n\n2026-04-16T07:08:09 d\n\n2026-04-123 e\n\n<!-- " +
		"oxbow {\"name\":\"f\",\"created\":\"2020-01-02T03:04:05Z\"} -->\nf"
	var got []string
	for _, it := range l.parseItems(historyFile, text) {
		if it.created.IsZero() {
			got = append(got, "none")
			continue
		}
		got = append(got, it.created.Format(time.RFC3339))
	}
	want := []string{"none", "2026-04-14T08:23:00Z", "2026-04-14T08:23:00Z", "2026-04-14T22:00:00Z",
		"2026-04-16T05:08:09Z", "2026-04-16T05:08:09Z", "2020-01-02T03:04:05Z"}
	if !slices.Equal(got, want) {
		t.Errorf("times %q, want %q", got, want)
	}
}

// TestEditsSplice tests that a change of an entry changes only the part of MEMORY.md that belongs to the entry. The
// rest of the file must keep its bytes.
func TestEditsSplice(t *testing.T) {
	const file = "intro\r\n\r\nlikes tea  \r\n\t\r\nlikes tea\r\n\r\n<!-- oxbow " +
		"{\"name\":\"n\",\"mine\":{\"b\":1},\"created\":\"2026-01-02T03:04:05Z\"} -->\r\none\r\ntwo\r\n\r\nend"
	for _, tt := range []struct {
		name string
		op   oxbow.Op
		want string // not used (edit returns the expected file)
		edit func(string) string
	}{
		{"update a paragraph", oxbow.Update{Name: "end", Content: "end\nof it"}, "", func(s string) string {
			return s + "\r\nof it"
		}},
		{"another name", oxbow.Update{Name: "end", Content: "other"}, "", func(s string) string {
			return strings.TrimSuffix(s, "end") +
				"<!-- oxbow {\"name\":\"end\",\"created\":\"2026-04-14T00:00:00Z\"} -->\r\nother"
		}},
		{
			"unknown keys stay",
			oxbow.Update{Name: "n", Content: "three", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}},
			"",
			func(s string) string {
				return strings.Replace(
					s,
					"<!-- oxbow {\"name\":\"n\",\"mine\":{\"b\":1},\"created\":\"2026-01-02T03:04:05Z\"} "+
						"-->\r\none\r\ntwo",
					"<!-- oxbow {\"name\":\"n\",\"labels\":[\"tag:x\"],\"created\":\"2026-01-02T03:04:05Z\",\"mine\":{\"b\":1}} -->\r\nthree", 1,
				)
			},
		},
		{"remove", oxbow.Remove{Name: "n"}, "", func(s string) string {
			i := strings.Index(s, "<!--")
			return s[:i] + "end"
		}},
		{"remove the last", oxbow.Remove{Name: "end"}, "", func(s string) string {
			return strings.TrimSuffix(s, "end")
		}},
		{"a number stays", oxbow.Remove{Name: "likes tea"}, "", func(s string) string {
			return strings.Replace(
				s,
				"likes tea  \r\n\t\r\nlikes tea",
				"<!-- oxbow {\"name\":\"likes tea (2)\"} -->\r\nlikes tea",
				1,
			)
		}},
		{"add", oxbow.Add{Name: "new", Content: "new"}, "", func(s string) string { return s + "\r\n\r\nnew\r\n\r\n" }},
		{
			"add with blank lines",
			oxbow.Add{Name: "new", Content: "a\n\nb", Created: clock()},
			"",
			func(s string) string {
				return s + "\r\n\r\n<!-- oxbow {\"name\":\"new\",\"created\":\"2026-04-14T10:23:45Z\",\"end\":1} " +
					"-->\r\na\r\n\r\nb\r\n<!-- /oxbow 1 -->\r\n\r\n"
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfs.NewMem()
			fsys.SetClock(func() time.Time { return clock().Truncate(24 * time.Hour) })
			put(t, fsys, clawftMemoryDir+"/MEMORY.md", file)
			h := openHome(t, fsys)
			if err := h.Memory().Apply(t.Context(), tt.op); err != nil {
				t.Fatal(err)
			}
			if got, want := read(t, fsys, clawftMemoryDir+"/MEMORY.md"), tt.edit(file); got != want {
				t.Errorf("MEMORY.md is\n%q, want\n%q", got, want)
			}
		})
	}
}

// TestRemoveBelowHeading tests that the entries before and after a removed entry are not changed. The removed entry is
// between a heading and a paragraph.
func TestRemoveBelowHeading(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "# A\n\n<!-- oxbow {\"name\":\"n\"} -->\nx\n\ny\n")
	h := openHome(t, fsys)
	if err := h.Memory().Forget(t.Context(), "n"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"A": "# A", "y": "y"} {
		if e, err := h.Memory().Get(t.Context(), name); err != nil || e.Content != want {
			t.Errorf("Get(%q) = %q, %v; want %q", name, e.Content, err, want)
		}
	}
	if _, err := h.Memory().Remember(t.Context(), oxbow.Entry{Name: "B", Content: "# B\n\nof b"}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); !strings.HasSuffix(got, "\ny\n\n# B\n\nof b\n\n") {
		t.Errorf("MEMORY.md is %q", got)
	}
}

// TestNumbersStay tests paragraphs with the same name, which are numbered to be distinct. If the entry "x" is
// forgotten, the other entries must keep their names "x (2)", "x (3)" and "x (4)".
func TestNumbersStay(t *testing.T) {
	for _, first := range []bool{true, false} {
		fsys := vfs.NewMem()
		text := "x\n\nx\n\n<!-- oxbow {\"name\":\"x\"} -->\nthe one\n\nx\n"
		if first {
			text = "<!-- oxbow {\"name\":\"x\"} -->\nthe one\n\nx\n\nx\n\nx\n"
		}
		put(t, fsys, clawftMemoryDir+"/MEMORY.md", text)
		h := openHome(t, fsys)
		if err := h.Memory().Forget(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		l := treeLayout{time.UTC}
		if got, want := names(l.parseItems(memoryFile, read(t, fsys, clawftMemoryDir+
			"/MEMORY.md"))), []string{"x (2)", "x (3)", "x (4)"}; !slices.Equal(got, want) {
			t.Errorf("names %q, want %q", got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	h := openHome(t, vfs.NewMem())
	for _, k := range []oxbow.Kind{oxbow.Archive, oxbow.Journal, oxbow.World, oxbow.Handoff} {
		err := h.Memory().Apply(t.Context(), oxbow.Add{Name: "a", Kind: k, Content: "x"})
		if !errors.Is(err, oxbow.ErrUnsupported) || !strings.Contains(err.Error(), k.String()) {
			t.Errorf("Add of kind %s = %v", k, err)
		}
	}
}

// FuzzLayout tests that any text can be parsed into items with valid names. It must also be possible to append an entry
// to the text, and to remove an item from it without a change of the other items.
func FuzzLayout(f *testing.F) {
	for _, s := range []string{"", "one\n\ntwo", "\ufeffa\r\n\r\nb", "x\n\nx\n\nx",
		"<!-- oxbow {\"name\":\"n\",\"end\":1} -->\na\n\nb\n<!-- /oxbow 1 -->\nc",
		"<!-- oxbow {\"name\":\"a\\u003c\",\"labels\":[\"tag:x\"],\"k\":[1]} -->",
		"# H\n- a\n- b\n  - c\n\nd\n<!-- /oxbow 2 -->", "[2026-04-14 10:23] x\n\ny",
		"\n<!-- oxbow {\"name\":\"n\",\"end\":1} -->\n<!-- /oxbow 1 -->",
		"# A\n\n## B\n\nx\n\n- ```\n\n  a\n  ```\n~~~\n"} {
		f.Add(s, "new\n\ncontent", 0)
	}
	f.Fuzz(func(t *testing.T, text, content string, pick int) {
		l := treeLayout{time.UTC}
		if len(text)+len(content) > 4000 || oxbow.CheckContent(text) != nil || oxbow.CheckContent(content) != nil {
			t.Skip("too long, or no content that a store takes")
		}
		items := l.parseItems(memoryFile, text)
		end := 0
		seen := map[string]bool{}
		for _, it := range items {
			if it.start < end || it.end < it.start || it.end > len(text) || it.contentStart < it.start ||
				(it.contentEnd > it.end && it.contentEnd != it.contentStart) {
				t.Fatalf("parse(%q): item %+v after %d", text, it, end)
			}
			end = it.end
			if it.comment == nil && seen[it.name] {
				t.Fatalf("parse(%q): %q twice", text, it.name)
			}
			seen[it.name] = true
			if err := oxbow.CheckName(it.name); err != nil {
				t.Fatalf("parse(%q): %v", text, err)
			}
		}
		name := "fresh"
		for seen[name] {
			name += "!"
		}
		added := l.addEntry(memoryFile, text, oxbow.Entry{Name: name, Content: content}, clock())
		if !strings.HasPrefix(added, text) {
			t.Fatalf("adding to %q gives %q", text, added)
		}
		more := l.parseItems(memoryFile, added)
		// Do not check a text that contains a closing comment without an opening one, or carriage returns. The parser
		// may then find other items, and the store refuses the change.
		if !strings.Contains(text+content, "\r") && !strings.Contains(text+content, closingCommentPrefix) &&
			(len(more) != len(items)+1 || more[len(items)].name != name || more[len(items)].content != content) {
			t.Fatalf("adding %q to %q gives %q: %q", content, text, added, names(more))
		}
		units := splitMarkdownUnits(text)
		if got := joinMarkdownUnits(text, units); got != text {
			t.Fatalf("cut and joined, %q is %q", text, got)
		}
		if len(items) == 0 {
			return
		}
		i := int(uint(pick) % uint(len(items)))
		left := l.parseItems(memoryFile, l.removeItem(memoryFile, text, items, i))
		if want := slices.Delete(slices.Clone(items), i, i+1); !strings.Contains(text, "\r") &&
			!strings.Contains(text, "oxbow") && !hasSameItemsExcept(want, left, -1, -1) {
			t.Fatalf("without %q, %q has %q, want %q", items[i].name, text, names(left), names(want))
		}
	})
}
