// This file fuzzes the readers. No input may make a reader panic or yield an item that no store can store, and no text
// may be lost when a text is split.

package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

// checkItems reads all items and checks what must be true for any input: each item is valid, and a fatal error is the
// last result.
func checkItems(t *testing.T, format Format, in []byte) {
	t.Helper()
	fatal := false
	for it, err := range ReadStream(bytes.NewReader(in), "f", &ReadOptions{Format: format,
		MaxDecompressedBytes: 1 << 20}) {
		if fatal {
			t.Fatalf("%s: something follows a fatal error: %+v, %v", format, it, err)
		}
		if err != nil {
			fatal = !isItemError(err)
			continue
		}
		e := it.Entry
		if err := (oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases,
			Labels: e.Labels}).Check(); err != nil {
			t.Fatalf("%s: item %+v: %v", format, it, err)
		}
		if !strings.HasPrefix(it.Position, "f:") {
			t.Fatalf("%s: item at %q, want f:line", format, it.Position)
		}
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add([]byte(entryLine + chatLine))
	f.Add([]byte(
		`{"id":1,"name":"a","kind":"note","content":"b\ud83d\ude00","aliases":["c"],"labels":[{"key":"tag","value":"x"}],"created":"2026-04-18T09:30:00Z","confidence":0.5}`,
	))
	f.Add([]byte(`{"type":"entity","name":"a","entityType":"b","observations":["c"]}` + "\n" +
		`{"type":"relation","from":"a","to":"b","relationType":"c"}`))
	f.Add([]byte(
		`{"id":"s","date":"2023","messages":[{"role":"user","content":[{"type":"text","text":"x"}]},["a","b"]]}`,
	))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, in []byte) {
		checkItems(t, JSONL, in)
		checkItems(t, Chat, in)
		checkItems(t, "", in)

		// The items must be the same after an export and an import.
		s := newStore()
		if _, err := Import(t.Context(), s, readJSONL(bytes.NewReader(in), "f"), &ImportOptions{}); err != nil {
			return
		}
		out := export(t, s)
		again := newStore()
		rep := load(t, again, readJSONL(strings.NewReader(out), "f"), nil)
		if rep.AddedCount != len(s.entries) || rep.SkippedCount != 0 {
			t.Fatalf("%d entries came back as %+v\n%s", len(s.entries), rep, out)
		}
		if rep := load(t, s, readJSONL(bytes.NewReader(in), "f"), nil); rep.AddedCount+rep.UpdatedCount != 0 {
			t.Fatalf("a second import changed something: %+v", rep)
		}
	})
}

// FuzzFields tests that parseLine finds the same fields as encoding/json.
func FuzzFields(f *testing.F) {
	f.Add(`{"a":"b\"\\\/\n\u00e9\ud83d\ude00","c":[1, {"d" : [] },"]}"] , "\u0065":-1.5e3}`)
	f.Add(` {"a":true,"b":null,"c":{"d":"}"}} `)
	f.Fuzz(func(t *testing.T, in string) {
		line := []byte(strings.TrimSpace(in))
		o, err := parseLine(line)
		if !utf8.ValidString(in) || err != nil {
			return
		}
		var want map[string]any
		if err := json.Unmarshal(line, &want); err != nil || len(want) != len(o) {
			t.Fatalf("parseLine(%q) = %q; encoding/json says %v, %v", in, o, want, err)
		}
		for _, f := range o {
			var got any
			if err := json.Unmarshal(f.rawValue, &got); err != nil || !reflect.DeepEqual(got, want[f.key]) {
				t.Errorf("parseLine(%q) has %q for %q, %v; want %v", in, f.rawValue, f.key, err, want[f.key])
			}
			switch v := want[f.key].(type) {
			case string:
				if s, err := decodeText(f.key, f.rawValue); s != v || err != nil {
					t.Errorf("decodeText(%q) = %q, %v; want %q", f.rawValue, s, err, v)
				}
			case []any:
				if n := len(slices.Collect(rawjson.EachElement(f.rawValue))); n != len(v) {
					t.Errorf("Elements(%q) has %d, want %d", f.rawValue, n, len(v))
				}
			}
		}
	})
}

func FuzzFrontMatter(f *testing.F) {
	f.Add("---\na: [x, \"y\"]\nb:\n  - c\n---\nbody")
	f.Add("---\na: |\n  x\n\n y\nb: 'it''s' # c\n...\n")
	f.Add("---\nname: x\ntags: a, b\nconfidence: 1\ncreated: 2026-04-18\nkind: world\n---\n# T\n")
	f.Fuzz(func(t *testing.T, in string) {
		keys, size, count := parseYAMLFrontMatter(in)
		if size < 0 || size > len(in) || (size > 0 && strings.Count(in[:size], "\n") > count) {
			t.Fatalf("front matter takes %d of %d bytes, %d lines", size, len(in), count)
		}
		if size == 0 && len(keys) > 0 {
			t.Fatalf("keys %+v from no front matter", keys)
		}
		for _, k := range keys {
			if k.line < 2 || k.line > count {
				t.Fatalf("key %+v of %d lines", k, count)
			}
		}
		checkItems(t, Markdown, []byte(in))
		checkWordsKept(t, in, keys, size)
	})
}

// checkWordsKept checks that each word of the front matter, which is the first size bytes of the text in, is found in
// an entry. It ignores keys without values, words that the format defines, such as the keys of fields, and numbers. It
// checks nothing if the text has errors or the front matter contains a backslash.
func checkWordsKept(t *testing.T, in string, keys []frontMatterKey, size int) {
	items, errs := collect(markdown("f.md", in))
	if len(errs) > 0 || strings.Contains(in[:size], `\`) {
		return
	}
	var kept strings.Builder
	for _, it := range items {
		e := it.Entry
		fmt.Fprintln(&kept, e.Name, e.Kind, e.Aliases, e.Labels, e.Created, e.Content)
	}
	for _, k := range keys {
		if len(k.values) == 0 {
			fmt.Fprintln(&kept, k.name)
		}
	}
	for _, f := range headerFields {
		fmt.Fprintln(&kept, f.key)
	}
	fmt.Fprintln(&kept, "metadata null world tag alias created_at createdat date_created")
	all := strings.ToLower(kept.String())
	all += strings.NewReplacer("_", " ").Replace(all)
	for _, w := range splitNameIntoWords(in[:size]) {
		if strings.Trim(w, "0123456789") != "" && !strings.Contains(all, strings.ToLower(w)) {
			t.Fatalf("%q: the word %q is lost; kept are %+v", in, w, items)
		}
	}
}

func FuzzJSONFront(f *testing.F) {
	f.Add("{\n\"title\": \"x\",\n\"a\": [1, {\"b\": null}]\n}\nbody")
	f.Add("{\n}\n\n{")
	f.Fuzz(func(t *testing.T, in string) {
		keys, size, count := parseJSONFrontMatter(in)
		if size < 0 || size > len(in) || strings.Count(in[:size], "\n") != count {
			t.Fatalf("front matter takes %d of %d bytes and %d lines, with keys %+v", size, len(in), count, keys)
		}
		checkItems(t, Markdown, []byte(in))
	})
}

func FuzzTOMLFront(f *testing.F) {
	f.Add("+++\ntitle = \"x\"\ntags = [\"a\"]\ndate = 2024-01-02\n[p]\nq = [[1], {r = 2}]\n+++\nbody")
	f.Add("+++\n= x\n+++\n")
	f.Fuzz(func(t *testing.T, in string) {
		keys, size, count := parseTOMLFrontMatter(in)
		if size < 0 || size > len(in) || (size == 0 && len(keys) > 1) || strings.Count(in[:size], "\n") > count {
			t.Fatalf("front matter takes %d of %d bytes and %d lines, with keys %+v", size, len(in), count, keys)
		}
		checkItems(t, Markdown, []byte(in))
	})
}

func FuzzHeadingText(f *testing.F) {
	f.Add("[a](b) ![c](d \"e\") <img alt='f'> `g` {#h} [[i|j]] \\* &amp;")
	f.Fuzz(func(t *testing.T, in string) {
		if got := visibleHeadingText(in); (strings.TrimSpace(got) == "") != (strings.TrimSpace(in) == "") {
			t.Errorf("headingText(%q) = %q", in, got)
		}
		isDecoration(in)
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("# A\n\n## B\ntext\n```\n# no\n```\n### C\n", uint16(1))
	f.Add("A\n===\n<!--\n# x\n-->\n\nB\n---\n\n", uint16(900))
	f.Add("~~~~\r\n# x\r\n~~~\r\n~~~~\r\n- a\r\n---\r\n", uint16(300))
	f.Fuzz(func(t *testing.T, in string, times uint16) {
		// Repeat the text, so that it is long enough to be split.
		text := strings.Repeat(in, 1+int(times)%1000)
		if len(text) > 1<<20 {
			text = text[:1<<20]
		}
		checkPieces(t, text)
		used := make(map[string]bool)
		for _, it := range markdownItems(text, "f.md", nil) {
			if used[it.Entry.Name] || len(it.Entry.Name) > oxbow.MaxName {
				t.Fatalf("name %q is used twice or too long", it.Entry.Name)
			}
			used[it.Entry.Name] = true
		}
	})
}
