// This file implements a stemmer for English.

package analysis

import "strings"

// Stem returns the stem of an English word in lower-case ASCII letters and apostrophes. It implements Snowball's
// English algorithm, which is also called Porter2 (snowballstem.org/algorithms/english/stemmer.html, version of 2020).
// Stem does not change words that contain other characters, and words of fewer than three letters.
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
		return word // Without the apostrophe, the word is too short to have an ending.
	}
	var buf [64]byte
	w := stemmer{letters: append(buf[:0], word...)}
	w.markConsonantY()
	w.setRegions()
	w.removePossessive()
	w.step1a()
	// These words are exceptions, which the remaining steps of the stemming algorithm would change wrongly.
	switch string(w.letters) {
	case "inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed":
		return string(w.letters)
	}
	w.step1b()
	w.step1c()
	w.step2()
	w.step3()
	w.step4()
	w.step5()
	for i, c := range w.letters {
		if c == 'Y' {
			w.letters[i] = 'y'
		}
	}
	if string(w.letters) == word {
		return word
	}
	return string(w.letters)
}

// stemExceptions contains the stems of the words that the algorithm lists explicitly.
var stemExceptions = map[string]string{
	"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
	"idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
	"sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos",
	"bias": "bias", "andes": "andes",
}

// stemmer is the state of a word while it is being stemmed. A y that is a consonant is written as Y.
type stemmer struct {
	letters []byte
	r1, r2  int // start offsets of the regions R1 and R2, in which the Porter2 stemming algorithm may remove suffixes
}

func isVowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

// markConsonantY replaces each y at the start of the word or after a vowel by Y.
func (w *stemmer) markConsonantY() {
	for i, c := range w.letters {
		if c != 'y' {
			continue
		}
		if i == 0 || isVowel(w.letters[i-1]) {
			w.letters[i] = 'Y'
		}
	}
}

// setRegions determines the regions R1 and R2. R1 is the part of the word after the first consonant that follows a
// vowel. If the word begins with gener, commun or arsen, R1 is the part after this beginning. R2 is the part of R1
// after the first consonant in R1 that follows a vowel.
func (w *stemmer) setRegions() {
	next := func(i int) int {
		for ; i < len(w.letters) && !isVowel(w.letters[i]); i++ {
		}
		for ; i < len(w.letters) && isVowel(w.letters[i]); i++ {
		}
		return min(i+1, len(w.letters))
	}
	w.r1 = -1
	for _, p := range [...]string{"gener", "commun", "arsen"} {
		if len(w.letters) >= len(p) && string(w.letters[:len(p)]) == p {
			w.r1 = len(p)
		}
	}
	if w.r1 < 0 {
		w.r1 = next(0)
	}
	w.r2 = next(w.r1)
}

func (w *stemmer) hasSuffix(s string) bool {
	n := len(w.letters) - len(s)
	return n >= 0 && string(w.letters[n:]) == s
}

// replaceSuffix replaces the last oldSuffixLength bytes of the word.
func (w *stemmer) replaceSuffix(oldSuffixLength int, suffix string) {
	w.letters = append(w.letters[:len(w.letters)-oldSuffixLength], suffix...)
}

func (w *stemmer) isSuffixInR1(suffixLength int) bool { return len(w.letters)-suffixLength >= w.r1 }
func (w *stemmer) isSuffixInR2(suffixLength int) bool { return len(w.letters)-suffixLength >= w.r2 }

// hasVowelBefore reports whether there is a vowel before the last suffixLength bytes of the word.
func (w *stemmer) hasVowelBefore(suffixLength int) bool {
	for _, c := range w.letters[:max(0, len(w.letters)-suffixLength)] {
		if isVowel(c) {
			return true
		}
	}
	return false
}

// isShortSyllableAt reports whether a short syllable ends before index i. There are two forms of short syllables:
//
//   - A consonant, a vowel, and a consonant other than w, x and Y.
//   - A vowel at the start of the word, and a consonant.
func (w *stemmer) isShortSyllableAt(i int) bool {
	switch {
	case i == 2:
		return isVowel(w.letters[0]) && !isVowel(w.letters[1])
	case i >= 3:
		c := w.letters[i-1]
		return !isVowel(w.letters[i-3]) && isVowel(w.letters[i-2]) && !isVowel(c) && c != 'w' && c != 'x' && c != 'Y'
	}
	return false
}

func (w *stemmer) removePossessive() {
	for _, s := range [...]string{"'s'", "'s", "'"} {
		if w.hasSuffix(s) {
			w.replaceSuffix(len(s), "")
			return
		}
	}
}

func (w *stemmer) step1a() {
	switch {
	case w.hasSuffix("sses"):
		w.replaceSuffix(2, "")
	case w.hasSuffix("ied"), w.hasSuffix("ies"):
		if len(w.letters) > 4 {
			w.replaceSuffix(2, "")
		} else {
			w.replaceSuffix(1, "")
		}
	case w.hasSuffix("us"), w.hasSuffix("ss"):
	case w.hasSuffix("s"):
		if w.hasVowelBefore(2) {
			w.replaceSuffix(1, "")
		}
	}
}

func (w *stemmer) step1b() {
	for _, s := range [...]string{"eedly", "eed"} {
		if w.hasSuffix(s) {
			if w.isSuffixInR1(len(s)) {
				w.replaceSuffix(len(s), "ee")
			}
			return
		}
	}
	for _, s := range [...]string{"ingly", "edly", "ing", "ed"} {
		if !w.hasSuffix(s) {
			continue
		}
		if !w.hasVowelBefore(len(s)) {
			return
		}
		w.replaceSuffix(len(s), "")
		n := len(w.letters)
		switch {
		case w.hasSuffix("at"), w.hasSuffix("bl"), w.hasSuffix("iz"):
			w.letters = append(w.letters, 'e')
		case n >= 2 && w.letters[n-1] == w.letters[n-2] && strings.IndexByte("bdfgmnprt", w.letters[n-1]) >= 0:
			w.letters = w.letters[:n-1]
		case w.r1 >= n && w.isShortSyllableAt(n):
			w.letters = append(w.letters, 'e')
		}
		return
	}
}

func (w *stemmer) step1c() {
	n := len(w.letters)
	if n <= 2 || isVowel(w.letters[n-2]) {
		return
	}
	if last := w.letters[n-1]; last == 'y' || last == 'Y' {
		w.letters[n-1] = 'i'
	}
}

// suffixRule is a suffix of a word and the text that replaces it.
type suffixRule struct{ suffix, replacement string }

// longestRule returns the rule with the longest suffix that the word has.
func (w *stemmer) longestRule(rules []suffixRule) (best suffixRule, ok bool) {
	last := w.letters[len(w.letters)-1]
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

var step2Rules = []suffixRule{
	{"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"abli", "able"}, {"entli", "ent"},
	{"izer", "ize"}, {"ization", "ize"}, {"ational", "ate"}, {"ation", "ate"}, {"ator", "ate"},
	{"alism", "al"}, {"aliti", "al"}, {"alli", "al"}, {"fulness", "ful"}, {"ousli", "ous"}, {"ousness", "ous"},
	{"iveness", "ive"}, {"iviti", "ive"}, {"biliti", "ble"}, {"bli", "ble"}, {"fulli", "ful"},
	{"lessli", "less"}, {"ogi", "og"}, {"li", ""},
}

func (w *stemmer) step2() {
	r, ok := w.longestRule(step2Rules)
	n := len(r.suffix)
	if !ok || !w.isSuffixInR1(n) {
		return
	}
	before := byte(0)
	if len(w.letters) > n {
		before = w.letters[len(w.letters)-n-1]
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
	w.replaceSuffix(n, r.replacement)
}

var step3Rules = []suffixRule{
	{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"}, {"ical", "ic"},
	{"ful", ""}, {"ness", ""}, {"ative", ""},
}

func (w *stemmer) step3() {
	r, ok := w.longestRule(step3Rules)
	n := len(r.suffix)
	if !ok || !w.isSuffixInR1(n) {
		return
	}
	if r.suffix != "ative" || w.isSuffixInR2(n) {
		w.replaceSuffix(n, r.replacement)
	}
}

var step4Rules = []suffixRule{
	{"al", ""}, {"ance", ""}, {"ence", ""}, {"er", ""}, {"ic", ""}, {"able", ""}, {"ible", ""}, {"ant", ""},
	{"ement", ""}, {"ment", ""}, {"ent", ""}, {"ism", ""}, {"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""},
	{"ize", ""}, {"ion", ""},
}

func (w *stemmer) step4() {
	r, ok := w.longestRule(step4Rules)
	n := len(r.suffix)
	if !ok || !w.isSuffixInR2(n) {
		return
	}
	if r.suffix == "ion" {
		if at := len(w.letters) - n - 1; at < 0 || strings.IndexByte("st", w.letters[at]) < 0 {
			return
		}
	}
	w.replaceSuffix(n, "")
}

// dropsFinalE reports whether step 5 of the Snowball stemmer for English removes the e at the end of the word.
func (w *stemmer) dropsFinalE() bool {
	return w.isSuffixInR2(1) || (w.isSuffixInR1(1) && !w.isShortSyllableAt(len(w.letters)-1))
}

func (w *stemmer) step5() {
	switch {
	case w.hasSuffix("e"):
		if w.dropsFinalE() {
			w.replaceSuffix(1, "")
		}
	case w.hasSuffix("ll"):
		if w.isSuffixInR2(1) {
			w.replaceSuffix(1, "")
		}
	}
}
