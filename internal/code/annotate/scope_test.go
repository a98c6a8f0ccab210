// This file tests how the lines that begin the enclosing scopes of a code block are found, such as the line of its
// function.

package annotate

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestScope(t *testing.T) {
	lines := strings.Split(`func a() {
	if b {

		for {
			c()
		}
	}
	d()
}
func e() {
	d()
}`, "\n")
	for _, c := range []struct {
		at   int
		want []string
	}{
		{0, nil},
		{1, []string{"func a() {"}},
		{2, []string{"\tif b {", "func a() {"}}, // a blank line has the scope of the next line
		{4, []string{"\t\tfor {", "\tif b {", "func a() {"}},
		{5, []string{"\tif b {", "func a() {"}},
		{7, []string{"func a() {"}},
		{8, nil},
		{10, []string{"func e() {"}},
	} {
		if got := FindEnclosingLines(lines, c.at); !reflect.DeepEqual(got, c.want) {
			t.Errorf("Scope of line %d = %q, want %q", c.at, got, c.want)
		}
	}
	if got := FindEnclosingLines(nil, 0); got != nil {
		t.Errorf("Scope of nothing = %q", got)
	}
}

// The index of a text returns the same enclosing lines as FindEnclosingLines.
func TestParents(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var lines []string
		for range rnd.IntN(40) {
			lines = append(lines, strings.Repeat("\t", rnd.IntN(4))+[]string{"", "}", "x", "for x", " y"}[rnd.IntN(5)])
		}
		p := newIndexedText(newLineAndWordNumberer(), lines)
		for at := range lines {
			want := FindEnclosingLines(lines, at)
			var got []string
			for i := p.enclosingLineIndex(at); i >= 0 &&
				len(got) < maxReturnedEnclosingLines; i = p.enclosingLineIndex(i) {
				got = append(got, lines[i])
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("line %d of %q stands in %q, want %q", at, lines, got, want)
			}
		}
	}
}

// Two blocks and the lines around them are the same. The lookup must find the block in the annotated function, even if
// the other block is nearer.
func TestLookupByScope(t *testing.T) {
	body := "\n\tdb := open()\n\tdefer db.close()\n\tif err := db.update(); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n\n"
	m, b := tree(t, map[string]string{"a_test.go": "func TestOne() {" + body + "func TestTwo() {" + body})
	add(t, b, Record{File: "a_test.go", Span: LineSpan{12, 12}, Why: "of two"})
	put(
		t,
		m,
		"a_test.go",
		strings.Repeat("// a comment\n", 10)+"func TestOne() {"+body+strings.Repeat("// more\n", 20)+
			"func TestTwo() {"+body,
	)
	found, err := b.Lookup(t.Context(), "a_test.go", LineSpan{})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if want := (LineSpan{42, 42}); found[0].Placement != PlacedAfterMove || found[0].CurrentSpan != want {
		t.Errorf(
			"it is %s at %v, want moved to %v: %s",
			found[0].Placement,
			found[0].CurrentSpan,
			want,
			found[0].Explanation,
		)
	}
}
