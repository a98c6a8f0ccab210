// This file tests how the lines of an old text are mapped to the lines of a new text.

package diff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestMap(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       []int
	}{
		{"equal", "a b c", "a b c", []int{0, 1, 2}},
		{"nothing common", "a b", "c d", []int{-1, -1}},
		{"empty", "", "a", []int{}},
		{"inserted", "a b", "a x b", []int{0, 2}},
		{"deleted", "a b c", "a c", []int{0, -1, 1}},
		{"a unique line anchors the braces around it", "{ } f { }", "{ } { } f { }", []int{0, 1, 4, 5, 6}},
		{"without anchors the shortest script", "x y x y z z", "y x y z z z x x", []int{-1, 0, 1, 2, 3, 4}},
		{"two that changed places keep the longer", "a b c d", "d a b c", []int{1, 2, 3, -1}},
	} {
		in := LineNumberer{}
		got := new(LineMapper).MapEqualLines(in.LineIDs(strings.Fields(c.a)), in.LineIDs(strings.Fields(c.b)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: Map = %v, want %v", c.name, got, c.want)
		}
	}
}

// lcs returns the length of the longest common subsequence of a and b. It uses the textbook algorithm (dynamic
// programming), but has only the current row of the table in memory.
func lcs(a, b []int32) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diag := 0
		for j, y := range b {
			old := row[j+1]
			if x == y {
				row[j+1] = diag + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diag = old
		}
	}
	return row[len(b)]
}

// TestMyersIsShortest checks that a map has as many equal lines as the textbook algorithm finds, and that it keeps the
// promises of MapEqualLines.
func TestMyersIsShortest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	text := func(letters int32) []int32 {
		out := make([]int32, rng.IntN(30))
		for i := range out {
			out[i] = rng.Int32N(letters)
		}
		return out
	}
	count := func(a, b []int32, m []int) int {
		n, last := 0, -1
		for i, j := range m {
			if j < 0 {
				continue
			}
			if j <= last || a[i] != b[j] {
				t.Fatalf("of %v and %v: %v is no match in order", a, b, m)
			}
			n, last = n+1, j
		}
		return n
	}
	for range 3000 {
		letters := rng.Int32N(12) + 1
		a, b := text(letters), text(letters)
		m := make([]int, len(a))
		for i := range m {
			m[i] = -1
		}
		mapLinesByMyers(a, b, 0, 0, m)
		if got, want := count(a, b, m), lcs(a, b); got != want {
			t.Fatalf("myers of %v and %v matches %d lines, want %d: %v", a, b, got, want, m)
		}
		count(a, b, new(LineMapper).MapEqualLines(a, b))
	}
}
