// This file tests which names, contents and kinds an entry can have.

package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/store"
)

func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"x", "rate limit", "a/b/../c", ".", "..", "-", "con.txt", `C:\x`, "日本", "🦀", "e\u0301", "a:b,c\"d\"",
		"#1", "\u200b", "\u202eabc", "inner\u00a0space", strings.Repeat("x", store.MaxName),
		strings.Repeat("é", store.MaxName/2),
	} {
		if err := store.CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v, want nil", name, err)
		}
	}
	for _, tc := range []struct{ name, want string }{
		{"", `name is empty`},
		{" ", `name " " begins or ends with white space`},
		{" x", `begins or ends with white space`},
		{"x\t", `begins or ends with white space`},
		{"x\u3000", `begins or ends with white space`},
		{"\u00a0x", `begins or ends with white space`},
		{"a\x00b", `name "a\x00b" holds a control character at byte 1`},
		{"a\nb", `control character at byte 1`},
		{"été\x1b[31m", `control character at byte 5`},
		{"x\x7f", `control character at byte 1`},
		{"x\u0085y", `control character at byte 1`},
		{"\xff", `name "\xff" is not UTF-8`},
		{"ab\xc3", `is not UTF-8`},
		{"\xed\xa0\x80", `is not UTF-8`}, // This is half of a surrogate pair.
		{strings.Repeat("x", store.MaxName+1), `has 257 bytes; the most is 256`},
		{strings.Repeat("x", 10<<10), `has 10240 bytes; the most is 256`},
		{strings.Repeat("é", store.MaxName/2) + "x", `has 257 bytes`},
		{strings.Repeat("\x80", store.MaxName+1), `has 257 bytes`},
	} {
		err := store.CheckName(tc.name)
		if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("CheckName(%.40q) = %v, want an error with %q", tc.name, err, tc.want)
			continue
		}
		if n := len(err.Error()); n > 400 {
			t.Errorf("CheckName(%.40q) has an error of %d bytes, want a short one", tc.name, n)
		}
		var inv *store.InvalidError
		if !errors.As(err, &inv) || inv.Field != "name" || inv.Reason == "" {
			t.Errorf("CheckName(%.40q) = %#v, want an InvalidError about the name", tc.name, err)
		}
		// The same rules apply to an alias, and the error names it as an alias.
		err = store.Alias{Name: "x", Aliases: []string{tc.name}}.Check()
		if !errors.As(err, &inv) || inv.Field != "alias" {
			t.Errorf("Check of alias %.40q = %v, want an InvalidError about the alias", tc.name, err)
		}
	}
}

func TestCheckContent(t *testing.T) {
	for _, c := range []string{"", "\n", "a\tb\r\n", "\x1b[31m", "日本🦀", "\ufeffx",
		strings.Repeat("x", store.MaxContent)} {
		if err := store.CheckContent(c); err != nil {
			t.Errorf("CheckContent(%.40q) = %v, want nil", c, err)
		}
	}
	for _, tc := range []struct{ content, want string }{
		{"PK\x03\x04\x00", `content holds a NUL: this looks like a binary file, not text (byte 4)`},
		{"caf\xe9", `content is not UTF-8 text (byte 3)`},
		{"é\xc3", `content is not UTF-8 text (byte 2)`},
		{"\xed\xa0\x80", `content is not UTF-8 text (byte 0)`},
		{strings.Repeat("x", store.MaxContent+1), `content is longer than the 4.0 MB that one entry may hold`},
	} {
		if err := store.CheckContent(tc.content); !errors.Is(err, store.ErrInvalid) ||
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("CheckContent(%.40q) = %v, want an error with %q", tc.content, err, tc.want)
		}
	}
}

func TestAliases(t *testing.T) {
	many := make([]string, store.MaxAliases+1)
	for i := range many {
		many[i] = fmt.Sprint("alias ", i)
	}
	if err := (store.Alias{Name: "x", Aliases: many[1:]}).Check(); err != nil {
		t.Errorf("Check of %d aliases = %v, want nil", store.MaxAliases, err)
	}
	for _, tc := range []struct {
		aliases []string
		want    string
	}{
		{many, `aliases "65" are more than the 64 that one entry may have`},
		{[]string{"a", "b", "a"}, `alias "a" is given twice`},
	} {
		for _, op := range []store.Op{
			store.Add{Name: "x", Aliases: tc.aliases},
			store.Update{Name: "x", Aliases: tc.aliases},
			store.Alias{Name: "x", Aliases: tc.aliases},
		} {
			if err := op.Check(); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Check of %T = %v, want an error with %q", op, err, tc.want)
			}
		}
	}
}

// TestKinds tests the numbers of the kinds, because they are part of the file format.
func TestKinds(t *testing.T) {
	words := []string{"note", "archive", "journal", "world", "history", "handoff"}
	if got := len(store.Kinds()); got != len(words) {
		t.Errorf("there are %d kinds, want %d", got, len(words))
	}
	for i, w := range words {
		k, err := store.ParseKind(w)
		if err != nil || k != store.Kind(i) || k.String() != w {
			t.Errorf("ParseKind(%q) = %v (%d), %v, want number %d", w, k, k, err, i)
		}
		b, err := json.Marshal(k)
		if err != nil || string(b) != `"`+w+`"` {
			t.Errorf("Marshal(%v) = %s, %v, want its word", k, b, err)
		}
		var back store.Kind
		if err := json.Unmarshal(b, &back); err != nil || back != k {
			t.Errorf("Unmarshal(%s) = %v, %v, want %v", b, back, err, k)
		}
	}
	for _, w := range []string{"", "Note", "notes", "kind(6)"} {
		if k, err := store.ParseKind(w); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("ParseKind(%q) = %v, %v, want ErrInvalid", w, k, err)
		}
	}
	unknown := store.Kind(len(words))
	if got := unknown.String(); got != "kind(6)" {
		t.Errorf("String of an unknown kind = %q, want kind(6)", got)
	}
	if b, err := unknown.MarshalText(); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("MarshalText of an unknown kind = %s, %v, want ErrInvalid", b, err)
	}
	if err := (store.Add{Name: "x", Kind: unknown}).Check(); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("Check of an unknown kind = %v, want ErrInvalid", err)
	}
}

func TestEntry(t *testing.T) {
	e := store.Entry{Name: "x", Aliases: []string{"y"},
		Labels: []store.Label{{Key: "project", Value: "vtt"}, {Key: "tag", Value: "a"}, {Key: "tag", Value: "b"}}}
	if v, ok := e.Label("tag"); v != "a" || !ok {
		t.Errorf(`Label("tag") = %q, %v, want the first, a`, v, ok)
	}
	if v, ok := e.Label("file"); v != "" || ok {
		t.Errorf(`Label("file") = %q, %v, want none`, v, ok)
	}
	if got := e.Values("tag"); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf(`Values("tag") = %q, want a, b`, got)
	}
	if got := e.Values("file"); got != nil {
		t.Errorf(`Values("file") = %q, want none`, got)
	}
	c := e.Clone()
	c.Aliases[0], c.Labels[0].Value = "changed", "changed"
	if e.Aliases[0] != "y" || e.Labels[0].Value != "vtt" {
		t.Errorf("changing a clone changed the entry: %+v", e)
	}
}
