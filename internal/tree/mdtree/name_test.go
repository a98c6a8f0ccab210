// This file tests the conversion between names and file names.

package mdtree

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

func TestEncodeName(t *testing.T) {
	for _, c := range []struct{ name, stem string }{
		{"rust-style", "rust-style"},
		{"B upper", "B upper"},
		{" lead", " lead"},
		{"br[ack](et)", "br[ack](et)"},
		{"emoji 🦀", "emoji 🦀"},
		{"日本語", "日本語"},
		{"a..b", "a..b"},
		{"a/b", "a%2Fb"},
		{`c:\d`, "c%3A%5Cd"},
		{`*?"<>|`, "%2A%3F%22%3C%3E%7C"},
		{"100%", "100%25"},
		{"a%2Fb", "a%252Fb"},
		{".", "%2E"},
		{"..", "%2E%2E"},
		{"../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"},
		{".git", "%2Egit"},
		{"etc.", "etc%2E"},
		{"a\nb\x00\x7f", "a%0Ab%00%7F"},
		{"a\u0085b", "a%C2%85b"},
		{"a\u202eb", "a%E2%80%AEb"},
		{"CON", "%43ON"},
		{"con", "%63on"},
		{"nul.txt", "%6Eul.txt"},
		{"COM1", "%43OM1"},
		{"lpt²", "%6Cpt²"},
		{"COM", "COM"},
		{"COM10", "COM10"},
		{"CONsole", "CONsole"},
		{"\xff", "%FF"},
	} {
		stem, shown := encodeNameAsFileStem(c.name)
		if stem != c.stem || !shown {
			t.Errorf("encodeName(%q) = %q, %v, want %q, true", c.name, stem, shown, c.stem)
		}
		if got := decodeFileStem(stem); got != c.name {
			t.Errorf("decodeName(%q) = %q, want %q", stem, got, c.name)
		}
	}
	for _, c := range []struct{ name, prefix string }{
		{"", "empty"},
		{"ends in a space ", "ends in a space~"},
		{strings.Repeat("x", 201), strings.Repeat("x", 160) + "~"},
		{strings.Repeat("é", 128), strings.Repeat("é", 80) + "~"},
		{strings.Repeat("/", 256), strings.Repeat("%2F", 53) + "~"},
	} {
		stem, shown := encodeNameAsFileStem(c.name)
		if shown || !strings.HasPrefix(stem, c.prefix) || len(stem) > maxFileStemBytes {
			t.Errorf(
				"encodeName(%q) = %q, %v, want a stem that begins with %q and does not show the name",
				c.name,
				stem,
				shown,
				c.prefix,
			)
		}
	}
}

// TestDecodeName checks that the names of files that other programs wrote are used unchanged, unless they appear to be
// encoded.
func TestDecodeName(t *testing.T) {
	for _, c := range []struct{ stem, name string }{
		{"100%", "100%"},
		{"%zz", "%zz"},
		{"%2f", "%2f"},   // not decoded, because encodeNameAsFileStem writes capital letters
		{"A%41", "A%41"}, // not decoded, because encodeNameAsFileStem does not encode A
		{"a:b*", "a:b*"},
		{".hid", ".hid"},
		{"con", "con"},
		{"a%2Fb", "a/b"},
	} {
		if got := decodeFileStem(c.stem); got != c.name {
			t.Errorf("decodeName(%q) = %q, want %q", c.stem, got, c.name)
		}
	}
}

func TestAssignStems(t *testing.T) {
	for _, c := range []struct{ names, stems []string }{
		{[]string{"A", "a"}, []string{"A", "a~2"}},
		{[]string{"A", "a", "a~2"}, []string{"A", "a~3", "a~2"}},
		{[]string{"e\u0301", "é"}, []string{"e\u0301", "é~2"}},
		{[]string{"STRASSE", "straße"}, []string{"STRASSE", "straße~2"}},
		{[]string{"K", "k", "\u212a"}, []string{"K", "k~2", "\u212a~3"}},
		{[]string{"ﬁle", "FILE"}, []string{"ﬁle~2", "FILE"}},
		{[]string{"❤", "❤\ufe0f"}, []string{"❤", "❤\ufe0f~2"}},
		{[]string{"ΐ", "\u1fd3"}, []string{"ΐ", "\u1fd3~2"}},
		{[]string{"", "empty"}, []string{"empty~2", "empty"}},
		{[]string{"b", "c"}, []string{"b", "c"}},
	} {
		slices.Sort(c.names)
		got, shown := assignStems(c.names)
		want := slices.Clone(c.stems)
		for i := range got {
			if shown[i] != (decodeFileStem(got[i]) == c.names[i]) {
				t.Errorf("assignStems(%q): shown[%d] = %v for stem %q", c.names, i, shown[i], got[i])
			}
		}
		gs, ws := slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
		if !slices.Equal(gs, ws) {
			t.Errorf("assignStems(%q) = %q, want %q", c.names, got, want)
		}
	}
}

// safeStem returns the reason why a stem is not safe as a file name, or "" if it is safe.
func safeStem(stem string) string {
	switch {
	case stem == "" || len(stem) > maxFileStemBytes+8:
		return "its length"
	case !utf8.ValidString(stem):
		return "its bytes"
	case strings.ContainsFunc(stem, func(r rune) bool { return r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) }):
		return "its characters"
	case strings.HasPrefix(stem, "."), strings.HasSuffix(stem, "."), strings.HasSuffix(stem, " "):
		return "its ends"
	case text.IsDeviceName(stem):
		return "a device"
	case strings.Contains(stem, "%20"):
		return "what mdbook makes of it"
	}
	return ""
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"a\nA\na~2", "CON\ncon\ncon ", "\n.\n..", "é\ne\u0301", "%\n%25\n%2525",
		strings.Repeat("/", 300), "ß\nss\nSS\nẞ"} {
		f.Add(s, "\n")
	}
	f.Fuzz(func(t *testing.T, text, sep string) {
		names := strings.Split(text, sep)
		if len(names) > 100 {
			names = names[:100]
		}
		slices.Sort(names)
		names = slices.Compact(names)
		stems, shown := assignStems(names)
		keys := make(map[string]string)
		for i, stem := range stems {
			if why := safeStem(stem); why != "" {
				t.Errorf("stem %q of %q is not safe: %s", stem, names[i], why)
			}
			if shown[i] && decodeFileStem(stem) != names[i] {
				t.Errorf("decodeName(%q) = %q, want %q", stem, decodeFileStem(stem), names[i])
			}
			if other, ok := keys[foldFileName(stem)]; ok {
				t.Errorf("names %q and %q have stems that fold to one: %q", other, names[i], stem)
			}
			keys[foldFileName(stem)] = names[i]
			if strings.EqualFold(stem, strings.ToLower(stem)) &&
				foldFileName(stem) != foldFileName(strings.ToLower(stem)) {
				t.Errorf("foldKey(%q) differs from that of its lower case", stem)
			}
		}
		for _, stem := range names {
			decodeFileStem(stem)
		}
	})
}

// TestNamesInjective uses many names at once, to find names that a file system treats as equal but foldFileName
// does not.
func TestNamesInjective(t *testing.T) {
	parts := []string{"a", "A", "é", "e\u0301", "ß", "ss", "K", "\u212a", "ﬀ", "ff", "%", ".", " ", "/", "~2", "İ",
		"i\u0307", "\u200d", "σ", "ς", "Σ"}
	var names []string
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				names = append(names, a+b+c)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	stems, _ := assignStems(names)
	lower := make(map[[32]byte]string)
	for i, stem := range stems {
		if why := safeStem(stem); why != "" {
			t.Errorf("stem %q of %q is not safe: %s", stem, names[i], why)
		}
		// Two stems are equal without regard to case if their keys are equal. This key does not use foldFileName. It
		// ignores fewer differences between names than foldFileName does.
		key := sha256.Sum256([]byte(strings.ToLower(strings.ToUpper(normalizeNFC(stem)))))
		if other, ok := lower[key]; ok {
			t.Errorf("%q and %q get stems that are one without case", other, names[i])
		}
		lower[key] = names[i]
	}
}

// TestStemsLikeASet tests assignStems with random names. assignStems calls fileStemsLackingNames, which finds equal
// stems by comparing hashes. It must return the same stems as the algorithm in this test, which uses the map taken with
// all keys instead of hashes.
func TestStemsLikeASet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{
		"a",
		"A",
		"é",
		"e\u0301",
		"ß",
		"ss",
		"K",
		"\u212a",
		"~2",
		"~3",
		".",
		" ",
		"/",
		"%2F",
		"empty",
		"CON",
		"",
	}
	for range 2000 {
		var names []string
		for range 1 + r.IntN(12) {
			names = append(names, parts[r.IntN(len(parts))]+parts[r.IntN(len(parts))]+parts[r.IntN(len(parts))])
		}
		slices.Sort(names)
		names = slices.Compact(names)
		stems, shown := assignStems(names)
		taken := map[string]bool{}
		want := make([]string, len(names))
		for i, name := range names {
			stem, ok := encodeNameAsFileStem(name)
			if ok && !taken[foldFileName(stem)] {
				want[i] = stem
				taken[foldFileName(stem)] = true
			}
			if shown[i] != (want[i] != "") {
				t.Fatalf("assignStems(%q): shown[%d] = %v", names, i, shown[i])
			}
		}
		next := map[string]int{}
		for i, name := range names {
			if want[i] != "" {
				continue
			}
			first, _ := encodeNameAsFileStem(name)
			stem := first
			for taken[foldFileName(stem)] {
				next[foldFileName(first)] = max(next[foldFileName(first)], 1) + 1
				stem = fmt.Sprint(first, "~", next[foldFileName(first)])
			}
			want[i] = stem
			taken[foldFileName(stem)] = true
		}
		if !slices.Equal(stems, want) {
			t.Fatalf("assignStems(%q) = %q, want %q", names, stems, want)
		}
	}
}

// assignStems returns the stem of each name, and whether it represents the name.
func assignStems(names []string) (stems []string, shown []bool) {
	unshown := fileStemsLackingNames(len(names), func(i int) string { return names[i] })
	for i, name := range names {
		stem, isUnshown := unshown[i]
		if !isUnshown {
			stem, _ = encodeNameAsFileStem(name)
		}
		stems, shown = append(stems, stem), append(shown, !isUnshown)
	}
	return stems, shown
}
