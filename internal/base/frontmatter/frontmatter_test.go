// This file tests reading and editing front matter.

package frontmatter

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		name, text, data, body string
		ok                     bool
	}{
		{"a head", "---\na: x\n---\nbody\n", "a: x\n", "body\n", true},
		{"ended by dots", "---\na: x\n...\nbody", "a: x\n", "body", true},
		{"carriage returns and blanks", "---\r\na: x\r\n--- \r\nbody", "a: x\r\n", "body", true},
		{"empty", "---\n---\nbody", "", "body", true},
		{"no text after it", "---\na: x\n---", "a: x\n", "", true},
		{"no end", "---\na: x\n", "", "---\na: x\n", false},
		{"no beginning", "a: x\n---\n", "", "a: x\n---\n", false},
		{"one line", "---", "", "---", false},
		{"nothing", "", "", "", false},
		{"an end that is far", "---\n" + strings.Repeat("x\n", maxFrontMatterLines) + "---\n", "", "---\n" +
			strings.Repeat("x\n", maxFrontMatterLines) + "---\n", false},
	} {
		data, body, ok := SplitFrontMatter(tt.text)
		if data != tt.data || body != tt.body || ok != tt.ok {
			t.Errorf("%s: Cut = %q, %q, %v, want %q, %q, %v", tt.name, data, body, ok, tt.data, tt.body, tt.ok)
		}
	}
}

func TestRead(t *testing.T) {
	for _, tt := range []struct{ text, wrong string }{
		{"project: vtt\ntags: [a]", ""},
		{"", ""},
		{"# nothing", ""},
		{"a: &x 1", "day.md:12:4: &x is an anchor"},
		{"\na: *x", "day.md:12: is not YAML: unknown anchor"},
		{"a: !!str 1", "day.md:12:4: !!str is a tag"},
		{"a: [[[[1]]]]", "day.md:12:7: is nested more than 4 deep"},
		{"a: [" + strings.Repeat("x, ", maxListValues) + "x]", "day.md:12:4: is a list of 1001; the most is 1000"},
		{"a: " + strings.Repeat("x", MaxFrontMatterBytes), "day.md:12: has 65539 bytes; the most is 65536"},
		{"a: x\nb: \"\xff\"", "day.md:13: is not UTF-8 text"},
		{"a: 1\n---\nb: 2", "day.md:13:1: begins a second document"},
		{"a: b: c", "day.md:12: is not YAML"},
	} {
		r := MappingReader{File: "day.md", FirstLine: 12}
		n := r.ReadMapping(tt.text)
		switch {
		case tt.wrong == "" && (len(r.Diagnostics) != 0 || n == nil):
			t.Errorf("Read(%.20q) = %v, %v", tt.text, n, r.Diagnostics)
		case tt.wrong != "" && (n != nil || len(r.Diagnostics) != 1 ||
			!strings.HasPrefix(r.Diagnostics[0].String(), tt.wrong)):
			t.Errorf("Read(%.20q) = %v, %v, want %q", tt.text, n, r.Diagnostics, tt.wrong)
		}
	}
}

// TestEdit checks that an edit keeps all other lines byte for byte.
func TestEdit(t *testing.T) {
	const text = "# first\nname: 'x' # remark\n\n# of b\nb: |\n  y\n\nother: &z\n"
	for _, tt := range []struct{ name, text, eol, changes, want string }{
		{"nothing", text, "\n", "", text},
		{"changed", text, "\n", "name=name: y\n", strings.Replace(text, "name: 'x' # remark\n", "name: y\n", 1)},
		{"removed", text, "\n", "b=", strings.Replace(text, "b: |\n  y\n\n", "", 1)},
		{"added after the ones before", text, "\n", "a=a: 1\n", strings.Replace(text, "remark\n", "remark\na: 1\n", 1)},
		{"added first", "b: x", "\n", "name=name: y\n", "name: y\nb: x\n"},
		{"carriage returns", "b: x\r\n", "\r\n", "c=c:\n  - 1\n", "b: x\r\nc:\r\n  - 1\r\n"},
		{"to nothing", "", "\n", "c=c: 1\n", "c: 1\n"},
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(tt.text), &doc); err != nil {
			t.Fatal(err)
		}
		top := &yaml.Node{}
		if len(doc.Content) > 0 {
			top = doc.Content[0]
		}
		key, lines, some := strings.Cut(tt.changes, "=")
		got := EditKeys(
			tt.text,
			tt.eol,
			top,
			[]string{"name", "a", "b", "c"},
			func(k string, _ *yaml.Node) (string, bool) {
				return lines, some && k == key
			},
		)
		if got != tt.want {
			t.Errorf("%s: Edit = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// FuzzReadPlain checks that the fast path returns the same mapping as the YAML decoder.
func FuzzReadPlain(f *testing.F) {
	f.Add(
		"time: 2026-04-18T12:00:00.5Z\nproject: homebrew-vtt\ntags: [architecture, decision]\nconfidence: " +
			"0.9\nprocess: true\n",
	)
	f.Add("name: a b/c@d+e-f\naliases: [é, x_y]\nupdated: 14:02\nkind: note")
	f.Add("tags: [a, b, ]\nname: a:\n")
	f.Add("time: 1:2:3\npinned: null\nname: a #b\né: [é, e]\n")
	f.Fuzz(func(t *testing.T, data string) {
		plain := readPlainMapping(data)
		if plain == nil {
			return
		}
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(data), &doc); err != nil {
			t.Fatalf("%q is plain, and cannot be read: %v", data, err)
		}
		if got, want := describe(plain), describe(doc.Content[0]); got != want {
			t.Errorf("%q is read as %s, want %s", data, got, want)
		}
	})
}

func describe(n *yaml.Node) string {
	s := fmt.Sprint(n.Kind, n.Style, n.ShortTag(), n.Value, n.Line, ":", n.Column)
	for _, c := range n.Content {
		s += "(" + describe(c) + ")"
	}
	return s
}
