// This file tests the functions that read real texts to fill a store with, and the functions that choose phrases to
// search for.

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"short", "abc", nil},
		{"half", "abcde", []string{"abcde"}},
		{"at a space", "abcdef ghijkl mnop", []string{"abcdef", "ghijkl"}},
		{"exact", "abcdefghij", []string{"abcdefghij"}},
		{"no space", "abcdefghijklmnopqrst", []string{"abcdefghij", "klmnopqrst"}},
		{"space too early", "a bcdefghijklm", []string{"a bcdefghi"}},
		{"in a rune", "abcdefghiéjklmno", []string{"abcdefghi", "éjklmno"}},
	} {
		got := splitText(tt.in, 10)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: cut(%q, 10) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
		for _, p := range got {
			if !utf8.ValidString(p) {
				t.Errorf("%s: piece %q is not UTF-8", tt.name, p)
			}
		}
	}
}

func TestComments(t *testing.T) {
	const src = `// Copyright 2026 Somebody.
// Use of this source code is governed by a license.

// Package p holds things.
package p

//go:noinline
func f() { /* inner */ _ = "// no comment" } // trailing
`
	if got, want := joinCommentWords([]byte(src)), "Package p holds things.\ninner\ntrailing\n"; got != want {
		t.Errorf("comments = %q, want %q", got, want)
	}
}

func TestWalks(t *testing.T) {
	fsys := fstest.MapFS{
		"a/a.txt":            {Data: []byte("text a")},
		"b.md":               {Data: []byte("text b")},
		".git/config":        {Data: []byte("hidden")},
		"binary":             {Data: []byte("a\x00b")},
		"latin1":             {Data: []byte("caf\xe9")},
		"big":                {Data: make([]byte, oxbow.MaxContent+1)},
		"c/c.go":             {Data: []byte("// Comment c.\npackage c\n")},
		"c/c_test.go":        {Data: []byte("// A test.\npackage c\n")},
		"c/testdata/t.go":    {Data: []byte("// Data.\npackage t\n")},
		"vendor/v/vendor.go": {Data: []byte("// Vendored.\npackage v\n")},
	}
	collect := func(walk func(take func(name, text string) error) error) (got []string) {
		t.Helper()
		if err := walk(func(name, text string) error { got = append(got, name+"="+text); return nil }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := collect(func(take func(name, text string) error) error { return eachCommentFile(fsys, take) })
	if want := []string{"c/c.go=Comment c.\n"}; !slices.Equal(got, want) {
		t.Errorf("eachCommentFile = %q, want %q", got, want)
	}
	got = collect(func(take func(name, text string) error) error { return eachTextFile(fsys, take) })
	if len(got) != 6 || got[0] != "a/a.txt=text a" || got[1] != "b.md=text b" {
		t.Errorf("eachTextFile = %q, want the six text files by name", got)
	}
}

func TestPhrases(t *testing.T) {
	var es []oxbow.Add
	for i := range 20 {
		es = append(
			es,
			oxbow.Add{Name: fmt.Sprint(i), Content: strings.Repeat(fmt.Sprintf("river%d\n lake%d the ", i, i), 10)},
		)
	}
	ps, err := samplePhrases(es, 50, 7)
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 50 {
		t.Fatalf("phrases = %d, want 50", len(ps))
	}
	for _, p := range ps {
		if n := len(strings.Fields(p)); n < 2 || n > 8 {
			t.Errorf("phrase %q has %d words, want 2 to 8", p, n)
		}
		if !slices.ContainsFunc(es, func(e oxbow.Add) bool { return containsPhrase(e.Content, p) }) {
			t.Errorf("phrase %q stands in no entry", p)
		}
	}
	again, err := samplePhrases(es, 50, 7)
	if err != nil || !slices.Equal(ps, again) {
		t.Errorf("the same seed gave other phrases (%v)", err)
	}
	other, err := samplePhrases(es, 50, 8)
	if err != nil || slices.Equal(ps, other) {
		t.Errorf("another seed gave the same phrases (%v)", err)
	}
	if got, err := samplePhrases([]oxbow.Add{{Content: "the of and to"}}, 1, 1); err == nil {
		t.Errorf("phrases of stop words = %q, want an error", got)
	}
}

func TestHolds(t *testing.T) {
	for _, tt := range []struct {
		content, phrase string
		want            bool
	}{
		{"one\n  two three", "two three", true},
		{"one\n  two three", "one two", true},
		{"one two three", "wo three", false},
		{"one two", "two one", false},
	} {
		if got := containsPhrase(tt.content, tt.phrase); got != tt.want {
			t.Errorf("holds(%q, %q) = %v, want %v", tt.content, tt.phrase, got, tt.want)
		}
	}
}

func TestStretch(t *testing.T) {
	es := repeatEntries([]oxbow.Add{{Name: "a", Content: "A"}, {Name: "b", Content: "B"}}, 5)
	var names []string
	for _, e := range es {
		names = append(names, e.Name+e.Content)
	}
	if want := []string{"aA", "bB", "a (2)A", "b (2)B", "a (3)A"}; !slices.Equal(names, want) {
		t.Errorf("stretch = %q, want %q", names, want)
	}
}

func TestPlainScan(t *testing.T) {
	texts := []string{"red fish", "one fish two fish", "blue", "red blue fish"}
	if got, want := scanWithoutIndex(texts, "Red FISH red", 3), []int{0, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("scanWithoutIndex = %v, want %v", got, want)
	}
	if got := scanWithoutIndex(texts, "whale", 3); len(got) != 0 {
		t.Errorf("scanWithoutIndex of nothing = %v, want none", got)
	}
}
