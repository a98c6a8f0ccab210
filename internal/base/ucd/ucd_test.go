// This file compares the tables with the Unicode data from which they were generated.

package ucd

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTables compares the properties of every code point with the Unicode data.
func TestTables(t *testing.T) {
	f, err := os.Open("testdata/unicode17.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	alnum, lowered := map[rune]bool{}, map[rune]string{}
	class := map[byte]map[rune]bool{'S': {}, 'I': {}}
	hex := func(s string) rune {
		n, err := strconv.ParseUint(s, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return rune(n)
	}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		w := strings.Fields(sc.Text())
		switch w[0] {
		case "A", "S", "I":
			set := alnum
			if w[0] != "A" {
				set = class[w[0][0]]
			}
			for r := hex(w[1]); r <= hex(w[2]); r++ {
				set[r] = true
			}
		case "L":
			var s string
			for _, x := range strings.Split(w[2], ",") {
				s += string(hex(x))
			}
			lowered[hex(w[1])] = s
		}
	}
	if len(alnum) < 100_000 || len(lowered) < 1400 || len(class['S']) < 2000 || len(class['I']) < 300 {
		t.Fatalf("data: %d alphanumeric, %d with a lower case, %d cased, %d ignorable",
			len(alnum), len(lowered), len(class['S']), len(class['I']))
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		if got := IsAlphanumeric(r); got != alnum[r] {
			t.Errorf("IsAlphanumeric(%U) = %v, want %v", r, got, alnum[r])
		}
		want, ok := lowered[r]
		if !ok {
			want = string(r)
		}
		if got := LowerWord(string(r)); got != want {
			t.Errorf("Lower(%U) = %q, want %q", r, got, want)
		}
		if got := inRanges(casedRanges, r); got != class['S'][r] {
			t.Errorf("within(cased, %U) = %v, want %v", r, got, class['S'][r])
		}
		if got := inRanges(caseIgnorableRanges, r); got != class['I'][r] {
			t.Errorf("within(ignorable, %U) = %v, want %v", r, got, class['I'][r])
		}
		if r < utf8.RuneSelf && (asciiByteKind[r] != byteKindSeparator) != alnum[r] {
			t.Errorf("asciiKind[%U] = %v, alphanumeric: %v", r, asciiByteKind[r], alnum[r])
		}
	}
}
