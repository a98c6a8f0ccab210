// This file implements a stemmer for English.

package analysis

import "strings"

// Stem returns the stem of an English word in lower-case ASCII letters and apostrophes. It
// implements Snowball's English algorithm, also called Porter2
// (snowballstem.org/algorithms/english/stemmer.html, version of 2020). It returns words
// with other characters, and words of fewer than three letters, unchanged.
func Stem(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if c := word[i]; !isLower(c) && c != '\'' {
			return word
		}
	}
	if s, ok := stemExceptions[word]; ok {
		return s
	}
	word = strings.TrimPrefix(word, "'")
	if len(word) < 3 {
		return word // without the apostrophe, the word is too short to have an ending
	}
	var buf [64]byte
	w := stemmer{b: append(buf[:0], word...)}
	w.markY()
	w.setRegions()
	w.step0()
	w.step1a()
	switch string(w.b) { // the later steps must not change these words
	case "inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed":
		return string(w.b)
	}
	w.step1b()
	w.step1c()
	w.step2()
	w.step3()
	w.step4()
	w.step5()
	for i, c := range w.b {
		if c == 'Y' {
			w.b[i] = 'y'
		}
	}
	if string(w.b) == word {
		return word
	}
	return string(w.b)
}

// stemExceptions are the words whose stems the algorithm lists explicitly.
var stemExceptions = map[string]string{
	"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
	"idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
	"sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos",
	"bias": "bias", "andes": "andes",
}

// stemmer has the state of a word while it is being stemmed. A y that is a consonant is
// written Y.
type stemmer struct {
	b      []byte
	r1, r2 int // start offsets of the regions R1 and R2
}

func isVowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

// markY replaces each y at the start or after a vowel by Y.
func (w *stemmer) markY() {
	for i, c := range w.b {
		if c != 'y' {
			continue
		}
		if i == 0 || isVowel(w.b[i-1]) {
			w.b[i] = 'Y'
		}
	}
}

// setRegions sets R1, the part after the first consonant that follows a vowel, and R2, which
// is defined in the same way within R1.
func (w *stemmer) setRegions() {
	next := func(i int) int {
		for ; i < len(w.b) && !isVowel(w.b[i]); i++ {
		}
		for ; i < len(w.b) && isVowel(w.b[i]); i++ {
		}
		return min(i+1, len(w.b))
	}
	w.r1 = -1
	for _, p := range [...]string{"gener", "commun", "arsen"} {
		if len(w.b) >= len(p) && string(w.b[:len(p)]) == p {
			w.r1 = len(p)
		}
	}
	if w.r1 < 0 {
		w.r1 = next(0)
	}
	w.r2 = next(w.r1)
}

func (w *stemmer) hasSuffix(s string) bool {
	n := len(w.b) - len(s)
	return n >= 0 && string(w.b[n:]) == s
}

// replaceEnd replaces the last n bytes.
func (w *stemmer) replaceEnd(n int, suffix string) { w.b = append(w.b[:len(w.b)-n], suffix...) }

func (w *stemmer) inR1(n int) bool { return len(w.b)-n >= w.r1 }
func (w *stemmer) inR2(n int) bool { return len(w.b)-n >= w.r2 }

// vowelBefore reports whether there is a vowel before the last n bytes.
func (w *stemmer) vowelBefore(n int) bool {
	for _, c := range w.b[:max(0, len(w.b)-n)] {
		if isVowel(c) {
			return true
		}
	}
	return false
}

// shortAt reports whether a short syllable ends at i. A short syllable is a consonant, a
// vowel, and a consonant other than w, x and Y, or a vowel at the start of the word and a
// consonant.
func (w *stemmer) shortAt(i int) bool {
	switch {
	case i == 2:
		return isVowel(w.b[0]) && !isVowel(w.b[1])
	case i >= 3:
		c := w.b[i-1]
		return !isVowel(w.b[i-3]) && isVowel(w.b[i-2]) && !isVowel(c) && c != 'w' && c != 'x' && c != 'Y'
	}
	return false
}

func (w *stemmer) step0() {
	for _, s := range [...]string{"'s'", "'s", "'"} {
		if w.hasSuffix(s) {
			w.replaceEnd(len(s), "")
			return
		}
	}
}

func (w *stemmer) step1a() {
	switch {
	case w.hasSuffix("sses"):
		w.replaceEnd(2, "")
	case w.hasSuffix("ied"), w.hasSuffix("ies"):
		if len(w.b) > 4 {
			w.replaceEnd(2, "")
		} else {
			w.replaceEnd(1, "")
		}
	case w.hasSuffix("us"), w.hasSuffix("ss"):
	case w.hasSuffix("s"):
		if w.vowelBefore(2) {
			w.replaceEnd(1, "")
		}
	}
}

func (w *stemmer) step1b() {
	for _, s := range [...]string{"eedly", "eed"} {
		if w.hasSuffix(s) {
			if w.inR1(len(s)) {
				w.replaceEnd(len(s), "ee")
			}
			return
		}
	}
	for _, s := range [...]string{"ingly", "edly", "ing", "ed"} {
		if !w.hasSuffix(s) {
			continue
		}
		if !w.vowelBefore(len(s)) {
			return
		}
		w.replaceEnd(len(s), "")
		n := len(w.b)
		switch {
		case w.hasSuffix("at"), w.hasSuffix("bl"), w.hasSuffix("iz"):
			w.b = append(w.b, 'e')
		case n >= 2 && w.b[n-1] == w.b[n-2] && strings.IndexByte("bdfgmnprt", w.b[n-1]) >= 0:
			w.b = w.b[:n-1]
		case w.r1 >= n && w.shortAt(n):
			w.b = append(w.b, 'e')
		}
		return
	}
}

func (w *stemmer) step1c() {
	n := len(w.b)
	if n <= 2 || isVowel(w.b[n-2]) {
		return
	}
	if last := w.b[n-1]; last == 'y' || last == 'Y' {
		w.b[n-1] = 'i'
	}
}

// rule is a suffix of a word and the text that replaces it.
type rule struct{ suffix, with string }

// longestRule returns the rule with the longest suffix that the word has.
func (w *stemmer) longestRule(rules []rule) (best rule, ok bool) {
	last := w.b[len(w.b)-1]
	for i := range rules {
		r := &rules[i]
		n := len(r.suffix)
		if r.suffix[n-1] != last || n <= len(best.suffix) {
			continue
		}
		if w.hasSuffix(r.suffix) {
			best, ok = *r, true
		}
	}
	return best, ok
}

var step2Rules = []rule{
	{"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"abli", "able"}, {"entli", "ent"},
	{"izer", "ize"}, {"ization", "ize"}, {"ational", "ate"}, {"ation", "ate"}, {"ator", "ate"},
	{"alism", "al"}, {"aliti", "al"}, {"alli", "al"}, {"fulness", "ful"}, {"ousli", "ous"}, {"ousness", "ous"},
	{"iveness", "ive"}, {"iviti", "ive"}, {"biliti", "ble"}, {"bli", "ble"}, {"fulli", "ful"},
	{"lessli", "less"}, {"ogi", "og"}, {"li", ""},
}

func (w *stemmer) step2() {
	r, ok := w.longestRule(step2Rules)
	n := len(r.suffix)
	if !ok || !w.inR1(n) {
		return
	}
	before := byte(0)
	if len(w.b) > n {
		before = w.b[len(w.b)-n-1]
	}
	switch r.suffix {
	case "ogi":
		if before != 'l' {
			return
		}
	case "li":
		if strings.IndexByte("cdeghkmnrt", before) < 0 {
			return
		}
	}
	w.replaceEnd(n, r.with)
}

var step3Rules = []rule{
	{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"}, {"ical", "ic"},
	{"ful", ""}, {"ness", ""}, {"ative", ""},
}

func (w *stemmer) step3() {
	r, ok := w.longestRule(step3Rules)
	n := len(r.suffix)
	if !ok || !w.inR1(n) {
		return
	}
	if r.suffix != "ative" || w.inR2(n) {
		w.replaceEnd(n, r.with)
	}
}

var step4Rules = []rule{
	{"al", ""}, {"ance", ""}, {"ence", ""}, {"er", ""}, {"ic", ""}, {"able", ""}, {"ible", ""}, {"ant", ""},
	{"ement", ""}, {"ment", ""}, {"ent", ""}, {"ism", ""}, {"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""},
	{"ize", ""}, {"ion", ""},
}

func (w *stemmer) step4() {
	r, ok := w.longestRule(step4Rules)
	n := len(r.suffix)
	if !ok || !w.inR2(n) {
		return
	}
	if r.suffix == "ion" {
		if at := len(w.b) - n - 1; at < 0 || strings.IndexByte("st", w.b[at]) < 0 {
			return
		}
	}
	w.replaceEnd(n, "")
}

// dropsFinalE reports whether step 5 removes the e at the end of the word.
func (w *stemmer) dropsFinalE() bool {
	return w.inR2(1) || (w.inR1(1) && !w.shortAt(len(w.b)-1))
}

func (w *stemmer) step5() {
	switch {
	case w.hasSuffix("e"):
		if w.dropsFinalE() {
			w.replaceEnd(1, "")
		}
	case w.hasSuffix("ll"):
		if w.inR2(1) {
			w.replaceEnd(1, "")
		}
	}
}
