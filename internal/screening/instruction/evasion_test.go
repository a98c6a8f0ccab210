// This file tests how many instructions are found in texts whose authors changed the spelling or wording, so that a
// simple search for words does not find the instructions.

package instruction

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// evasions contains ways to rewrite a text so that a search for words fails although a model reads the same text.
var evasions = []struct {
	name  string
	write func(text string) string
}{
	{"as it is", func(s string) string { return s }},
	{"zero-width space in each word", inWords("\u200B")},
	{"soft hyphens between all letters", betweenLetters("\u00AD")},
	{"word joiners between all letters", betweenLetters("\u2060")},
	{"full-width letters", eachLetter(func(c rune) rune { return c - '!' + '！' })},
	{"mathematical bold", math(0x1D400)},
	{"mathematical script", math(0x1D4D0)},
	{"circled letters", eachLetter(func(c rune) rune { return unicode.ToLower(c) - 'a' + 'ⓐ' })},
	{"Cyrillic look-alikes", lookLike},
	{"struck through", betweenLetters("\u0336")},
	{"accents", strings.NewReplacer("a", "ä", "e", "ë", "i", "ï", "o", "ö", "u", "ü").Replace},
	{"a letter a space", spelled(" ", "   ")},
	{"a letter a dot", spelled(".", " ")},
	{"letters without gaps of words", spelled(" ", " ")},
	{"underscores", between("_")},
	{"hyphens", between("-")},
	{"dots", between(".")},
	{"a word a line", between("\n")},
	{"a word a paragraph", between("\n\n")},
	{"a word an item", between("\n- ")},
	{"two spaces and tabs", between(" \t ")},
	{"no-break spaces", between("\u00A0")},
	{"emphasis", between("** **")},
	{"lines of three words", threeWords},
	{"words without anything between", between("")},
	{"terminal colours in words", inWords("\x1b[0m")},
}

func eachLetter(to func(c rune) rune) func(string) string {
	return func(s string) string {
		return strings.Map(func(c rune) rune {
			if c < 0x80 && unicode.IsLetter(c) {
				return to(c)
			}
			return c
		}, s)
	}
}

func math(capitalA rune) func(string) string {
	return eachLetter(func(c rune) rune {
		if unicode.IsUpper(c) {
			return capitalA + c - 'A'
		}
		return capitalA + 26 + c - 'a'
	})
}

var lookLike = strings.NewReplacer(
	"a",
	"а",
	"c",
	"с",
	"e",
	"е",
	"i",
	"і",
	"o",
	"о",
	"p",
	"р",
	"x",
	"х",
	"y",
	"у",
).Replace

// inWords returns a function that inserts a text after the first letter of each word.
func inWords(in string) func(string) string {
	return func(s string) string {
		words := strings.Fields(s)
		for i, w := range words {
			words[i] = w[:1] + in + w[1:]
		}
		return strings.Join(words, " ")
	}
}

func betweenLetters(in string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, c := range s {
			b.WriteRune(c)
			if unicode.IsLetter(c) {
				b.WriteString(in)
			}
		}
		return b.String()
	}
}

func spelled(letter, word string) func(string) string {
	return func(s string) string {
		words := strings.Fields(s)
		for i, w := range words {
			words[i] = strings.Join(strings.Split(w, ""), letter)
		}
		return strings.Join(words, word)
	}
}

func between(gap string) func(string) string {
	return func(s string) string { return strings.Join(strings.Fields(s), gap) }
}

func threeWords(s string) string {
	var b strings.Builder
	for i, w := range strings.Fields(s) {
		b.WriteString(w + []string{" ", " ", "\n"}[i%3])
	}
	return b.String()
}

// templates returns the lines of the file name in testdata, which contains instructions. The instructions in
// heldout.txt were written before the code examined a text in several readings (normalized forms of the text). Nobody
// looked at these instructions while the rules were improved.
func templates(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) < 20 {
		t.Fatalf("%s has %d lines", name, len(lines))
	}
	return lines
}

// TestEvasions rewrites instructions in each of the ways in the list evasions. It uses only instructions that match a
// rule in their original form. Nearly all rewritten instructions must match a rule, too.
//
//	go test ./internal/screening/instruction -run Evasions -v
func TestEvasions(t *testing.T) {
	for _, file := range []struct {
		name          string
		plain, evaded float64 // minimum shares of instructions that must be found
	}{{"tuning.txt", 1, .97}, {"heldout.txt", .8, .95}} {
		all := templates(t, file.name)
		var plain []string
		for _, s := range all {
			if FindMatchingRules(s) != nil {
				plain = append(plain, s)
			}
		}
		found, of := 0, 0
		for _, e := range evasions {
			var missed []string
			for _, s := range plain {
				of++
				if FindMatchingRules(e.write(s)) != nil {
					found++
				} else {
					missed = append(missed, s)
				}
			}
			if file.name == "tuning.txt" && len(missed) > 0 {
				t.Logf("%s: missed %q", e.name, missed)
			} else if len(missed) > 0 {
				t.Logf("%s: missed %d of %d", e.name, len(missed), len(plain))
			}
		}
		share, evaded := float64(len(plain))/float64(len(all)), float64(found)/float64(of)
		t.Logf(
			"%s: %d of %d templates are found as they are, and %d of their %d variants (%.1f %%)",
			file.name,
			len(plain),
			len(all),
			found,
			of,
			100*evaded,
		)
		if share < file.plain || evaded < file.evaded {
			t.Errorf("%s: too few are found: %.3f as they are, %.3f of the variants", file.name, share, evaded)
		}
	}
}

// TestHidden tests that FindMatchingRules returns the rule name "hidden" for a text with invisible characters that hide
// words. It must not return this name for characters that a script or an emoji needs.
func TestHidden(t *testing.T) {
	for text, want := range map[string]bool{
		"I\u200Bgnore":                  true,
		"c\u2060url":                    true,
		"a\uFE0Fb":                      true,
		"plain":                         false,
		"Daten\u00ADschutz":             false,
		"\uFEFFa file with a mark":      false,
		"src/\u200Binternal/\u200Bcode": false,
		"می\u200Cخواهم":                 false,
		"👁\uFE0F\u200D🗨\uFE0F":          false,
		"row \uFE01\uFE02\uFE03":        true,
	} {
		if got := slices.Contains(FindMatchingRules(text), "hidden"); got != want {
			t.Errorf("Find(%q) says hidden: %t", text, got)
		}
	}
}
