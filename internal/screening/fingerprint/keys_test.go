// A key is a hash that two texts have in common if one text repeats the other. This file tests that a search by keys
// finds every foreign text, from a source that is not trusted, that a text by the agent repeats.

package fingerprint

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// textMaker makes random texts of two sorts. A foreign text is a text from a source that is not trusted. A written text
// is a text by the agent, and repeats parts of foreign texts in a changed form, such as capital letters or quotations.
type textMaker struct{ rng *rand.Rand }

var keyTestWords = strings.Fields("run Read the LOG of oxbow7 configuration pagination Straße naïve 部署脚本 港口 ไทย é " +
	"don't crane harbor turns left at dawn and stops at night раура сlient co-operate x.go a/b.md:12: 3→ 測0n 0n")

func (m *textMaker) sentence() string {
	var b strings.Builder
	for range 1 + m.rng.IntN(14) {
		b.WriteString(keyTestWords[m.rng.IntN(len(keyTestWords))])
		b.WriteString([]string{" ", " ", " ", ", ", "\n", ". ", ": "}[m.rng.IntN(7)])
	}
	return b.String()
}

// unspaced returns a text in a script without spaces.
func (m *textMaker) unspaced() string {
	letters := []rune("春夏秋冬山川草木花鳥風月日星")
	b := make([]rune, 1+m.rng.IntN(30))
	for i := range b {
		b[i] = letters[m.rng.IntN(len(letters))]
	}
	return string(b)
}

func (m *textMaker) text() string {
	parts := make([]string, 1+m.rng.IntN(4))
	for i := range parts {
		parts[i] = m.sentence()
		if m.rng.IntN(4) == 0 {
			parts[i] = m.unspaced()
		}
	}
	return strings.Join(parts, "\n")
}

// disguises are functions that repeat a text in another form.
var disguises = []func(m *textMaker, s string) string{
	func(_ *textMaker, s string) string { return s },
	func(_ *textMaker, s string) string { return strings.ToUpper(s) },
	func(_ *textMaker, s string) string { return strings.Join(strings.Fields(s), " ") },
	func(_ *textMaker, s string) string { return strings.Join(strings.Fields(s), "\n") },
	func(_ *textMaker, s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") },
	func(_ *textMaker, s string) string { return fmt.Sprintf("%q", s) },
	func(_ *textMaker, s string) string { return "<p>" + strings.ReplaceAll(s, " ", "&nbsp;<b> ") + "</p>" },
	func(_ *textMaker, s string) string {
		return strings.NewReplacer("a", "а", "o", "о", "e", "е").Replace(s)
	},
	func(_ *textMaker, s string) string { return strings.ReplaceAll(s, "e", "e\u0301") },
	func(_ *textMaker, s string) string { return strings.ReplaceAll(s, "t", "t\u200b") },
	func(_ *textMaker, s string) string { return strings.ReplaceAll(s, "an", "a-\nn") },
	func(_ *textMaker, s string) string { return strings.ReplaceAll(s, " of", "[1] of [x](https://a.b/c)") },
	func(_ *textMaker, s string) string {
		var b strings.Builder
		for i, line := range strings.Split(s, "\n") {
			fmt.Fprintf(&b, "%6d→%s\n", i+1, line)
		}
		return b.String()
	},
	func(m *textMaker, s string) string { return m.sentence() + s + m.sentence() },
	func(m *textMaker, s string) string { // repeat only a part, which may begin and end inside a word
		r := []rune(s)
		from := m.rng.IntN(len(r) + 1)
		return string(r[from : from+m.rng.IntN(len(r)-from+1)])
	},
	func(m *textMaker, s string) string { // join halves of two texts
		r, other := []rune(s), []rune(m.text())
		return string(r[:len(r)/2]) + string(other[len(other)/2:])
	},
}

// TestKeysFindAllRepeats compares every written text with every foreign text, with and without keys. If a text repeats
// another text, both must have a key in common.
func TestKeysFindAllRepeats(t *testing.T) {
	repeats := map[bool]int{}
	for seed := range uint64(40) {
		m := &textMaker{rand.New(rand.NewPCG(seed, 7))}
		var foreign, written, ignored []string
		for range 12 {
			foreign = append(foreign, m.text())
		}
		for _, disguise := range disguises {
			s := foreign[m.rng.IntN(len(foreign))]
			written = append(written, disguise(m, s))
			ignored = append(ignored, []string{"", "", foreign[m.rng.IntN(len(foreign))]}[m.rng.IntN(3)])
		}
		// Foreign texts in another form are compared as well.
		for i := range foreign {
			foreign = append(foreign, disguises[m.rng.IntN(len(disguises))](m, foreign[i]))
		}
		c := NewRepeatFinder(written, ignored)
		keys := c.TextIndexesByKey()
		for _, f := range foreign {
			var common []int32
			for _, k := range AppendTextKeys(nil, f) {
				common = append(common, keys[k]...)
			}
			for i := range written {
				isRepeat := slices.Contains(c.FindRepeats(f), i)
				repeats[isRepeat]++
				if isRepeat && !slices.Contains(common, int32(i)) {
					t.Errorf("%q repeats %q, but they have no common key", written[i], f)
				}
			}
		}
	}
	if repeats[true] < 1000 || repeats[false] < 1000 {
		t.Errorf("%d texts repeat another, and %d do not; want at least 1000 of each", repeats[true], repeats[false])
	}
}

// eachKeyedHash is like eachReadTextHash, but also passes the key of each hash.
func eachKeyedHash(text string, fn func(hash uint64, k TextKey)) {
	keyLine := func(h uint64) { fn(h, textKeyFromHash(h)) }
	for _, form := range textVariants(text) {
		words := splitWords(form)
		eachWordRunWithKey(words, fn)
		eachShortLineHash(words, keyLine)
	}
	eachShortLineHash(splitWords(extractPrefixedLines(text)), keyLine)
}

// TestAppendKeys compares the keys of AppendTextKeys with those of the slower eachKeyedHash.
func TestAppendKeys(t *testing.T) {
	m := &textMaker{rand.New(rand.NewPCG(4, 2))}
	for range 2000 {
		s := disguises[m.rng.IntN(len(disguises))](m, m.text())
		want := []TextKey{1 << 63}
		eachKeyedHash(s, func(_ uint64, k TextKey) {
			if want[len(want)-1] != k {
				want = append(want, k)
			}
		})
		if got := AppendTextKeys([]TextKey{1 << 63}, s); !slices.Equal(got, want) {
			t.Fatalf("%q has the keys %x, want %x", s, got, want)
		}
	}
}

// TestKeyedHashes checks that the functions with keys pass the same hashes as the functions without keys.
func TestKeyedHashes(t *testing.T) {
	m := &textMaker{rand.New(rand.NewPCG(1, 2))}
	for range 300 {
		s := disguises[m.rng.IntN(len(disguises))](m, m.text())
		var want, got, wantWritten, gotWritten []uint64
		eachReadTextHash(s, func(h uint64) { want = append(want, h) })
		eachKeyedHash(s, func(h uint64, _ TextKey) { got = append(got, h) })
		eachWrittenTextHash(s, func(h uint64) { wantWritten = append(wantWritten, h) })
		eachWrittenTextHashWithKey(s, func(h uint64, _ TextKey) { gotWritten = append(gotWritten, h) })
		if !slices.Equal(got, want) || !slices.Equal(gotWritten, wantWritten) {
			t.Fatalf("%q has other hashes with keys", s)
		}
	}
}

// TestKeyRevision fails if the keys changed but TextKeyRevision did not.
func TestKeyRevision(t *testing.T) {
	m := &textMaker{rand.New(rand.NewPCG(3, 4))}
	sum := fnv.New64a()
	for range 200 {
		for _, k := range AppendTextKeys(nil, disguises[m.rng.IntN(len(disguises))](m, m.text())) {
			fmt.Fprintf(sum, "%x ", k)
		}
	}
	const want = "1: 6634c9abd1e53382"
	if got := fmt.Sprintf("%d: %x", TextKeyRevision, sum.Sum64()); got != want {
		t.Errorf("the keys are %s, want %s; if keys are meant to change, increment KeyRevision", got, want)
	}
}

// TestKeysAreFew checks that prose has about one distinct key for every two words: 10,000 words must have between 4,000
// and 6,000 keys.
func TestKeysAreFew(t *testing.T) {
	keys := AppendTextKeys(nil, words(1, 10_000))
	slices.Sort(keys)
	if n := len(slices.Compact(keys)); n < 4000 || n > 6000 {
		t.Errorf("10,000 words have %d keys, want about 5,000", n)
	}
}
