// This file splits chunks into words, and converts words to terms.

// Package analysis converts texts to terms for the default ranking. Terms are the words of the index. The package
// analyzes documents, field by field. It also analyzes queries. It does not depend on entries or scores.
//
// A text is split into chunks. A chunk is a sequence of letters, digits and marks that is as long as possible. Single
// connectors can join the parts of a chunk, as in snake_case or internal/search/analysis/words.go. These are examples
// of chunks and their terms:
//
//	Rachel's              rachel
//	bought                buy                      irregular forms, then stems
//	getUserName           get, user, name; getusername
//	user-name, user_name  user, name; username     whole without its hyphens
//	internal/near.go      intern, near, go; near.go; internal/near.go
//	v1.2.3-rc1            1.2.3-rc1; 1.2, 1.2.3    a version can be found by its beginnings
//	1,000                 1000
//	Café, ＡＢＣ          cafe, abc
//	C++                   c++
//	東京都                東京, 京都               pairs of characters, as in Thai and others
//	❤️, 🇩🇪                 ❤, 🇩🇪                    an emoji is a word
//	👨‍👩‍👧                    👨, 👩, 👧; 👨‍👩‍👧
//
// The terms after a semicolon are called wholes, because they combine several words. Wholes can be found like other
// terms, but they do not count as words of the text.
package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// chunkTerm is a term of a chunk. A chunk, such as getUserName, has a term for each word and a combined term.
type chunkTerm struct {
	termNumber    uint32 // number of the term in the chunkTermCache
	combinesWords bool   // the term combines several words, each of which also has a term of its own
	isStopWord    bool   // word is a stop word
	text          string // text of the term
	word          string // the word from which the term was made, in lower case and folded (see FoldText)
}

// Limits in bytes. If a compound such as getUserName is longer than maxCombinedTermBytes, the whole is not a term, and
// only its parts can be found. If a word is longer than maxWordBytes, it is truncated, so that a line of base64 needs
// little memory.
const (
	maxCombinedTermBytes = 64 // in bytes
	maxWordBytes         = 64 // in bytes
)

// chunkTermSet collects the terms of a chunk, such as getUserName.
type chunkTermSet struct {
	terms          []chunkTerm
	firstTermIndex int // index in terms of the first term that belongs to the current chunk
	// the texts of the current chunk's terms among the first indexedTermCount elements in the slice terms (nil for a
	// chunk with few terms)
	chunkTermTexts   map[string]bool
	indexedTermCount int
}

// maxLinearSearchTerms is the maximum number of terms in a chunk that are searched in sequence. A chunk with more terms
// is searched with a map.
const maxLinearSearchTerms = 32

// addSingleWordTerm adds a term that is one word of the analyzed chunk. termText is the term, and word is the word from
// which the term was made.
func (s *chunkTermSet) addSingleWordTerm(termText, word string) {
	s.terms = append(s.terms, chunkTerm{text: termText, word: word})
}

// addCombinedTerm adds a term that combines several words of a chunk, such as getusername for getUserName. It adds
// nothing if the chunk already has the same term.
func (s *chunkTermSet) addCombinedTerm(text, word string) {
	if !s.contains(text) {
		s.terms = append(s.terms, chunkTerm{text: text, word: word, combinesWords: true})
	}
}

func (s *chunkTermSet) contains(text string) bool {
	if len(s.terms)-s.firstTermIndex <= maxLinearSearchTerms {
		return slices.ContainsFunc(s.terms[s.firstTermIndex:], func(u chunkTerm) bool { return u.text == text })
	}
	if s.chunkTermTexts == nil {
		s.chunkTermTexts, s.indexedTermCount = map[string]bool{}, s.firstTermIndex
	}
	for ; s.indexedTermCount < len(s.terms); s.indexedTermCount++ {
		s.chunkTermTexts[s.terms[s.indexedTermCount].text] = true
	}
	return s.chunkTermTexts[text]
}

// addEmojiTerms adds the terms for a piece of text that is an emoji.
func (s *chunkTermSet) addEmojiTerms(c string) {
	parts, whole := splitEmoji(c)
	for _, p := range parts {
		s.addSingleWordTerm(p, p)
	}
	if len(parts) > 1 && len(whole) <= maxCombinedTermBytes {
		s.addCombinedTerm(whole, whole)
	}
}

// splitEmoji splits an emoji that consists of several joined emoji, such as a family. It returns the parts and the
// combined emoji. Variants and skin tones are removed.
func splitEmoji(emoji string) (parts []string, combinedEmoji string) {
	combinedEmoji = strings.Map(func(r rune) rune {
		if isEmojiSuffix(r) || isSkinTone(r) {
			return -1
		}
		return r
	}, emoji)
	return strings.Split(combinedEmoji, string(zeroWidthJoiner)), combinedEmoji
}

// addIdentifierTerms adds the terms of the identifier chunk, such as getUserName: a term for each part (get, User,
// Name). If there are several parts, it also adds a combined term for the joined parts, unless the joined parts are
// longer than maxCombinedTermBytes bytes.
func (s *chunkTermSet) addIdentifierTerms(chunk string, wordToTerm func(word string) string) {
	parts := splitIdentifier(chunk)
	joined := ""
	for _, p := range parts {
		if w := addWordTerms(p, wordToTerm, s.addSingleWordTerm); len(parts) > 1 &&
			len(joined) <= maxCombinedTermBytes {
			joined += w
		}
	}
	if len(parts) > 1 && len(joined) <= maxCombinedTermBytes {
		s.addCombinedTerm(wordToTerm(joined), joined)
	}
}

// appendChunkTerms appends the terms of the parameter chunk (a chunk such as getUserName) to the slice terms, and
// returns the slice. The terms of single words are in order. A combined term follows the terms of its words. The
// function wordToTerm must return the term of a folded word.
func appendChunkTerms(terms []chunkTerm, chunk string, wordToTerm func(word string) string) []chunkTerm {
	if isPlainWord(chunk) {
		w := FoldText(chunk)
		return append(terms, chunkTerm{text: wordToTerm(w), word: w})
	}
	return appendCompoundTerms(terms, chunk, wordToTerm)
}

// appendCompoundTerms appends the terms of the parameter chunk to the slice terms, and returns the slice. The chunk may
// consist of several words, such as getUserName. The function wordToTerm must return the term of a folded word.
func appendCompoundTerms(terms []chunkTerm, chunk string, wordToTerm func(word string) string) []chunkTerm {
	set := chunkTermSet{terms: terms, firstTermIndex: len(terms)}
	if class, _ := classifyFirstChar(chunk); class == emojiChar {
		set.addEmojiTerms(chunk)
		return set.terms
	}
	elements := 0
	for element := range strings.SplitSeq(chunk, "/") {
		elements++
		dotted := strings.FieldsFunc(element, func(r rune) bool { return r == '.' || r == '@' })
		if isNumberChunk(element) { // the element is a version, a date or a decimal number
			w := text.TruncateBytes(
				strings.TrimPrefix(strings.ReplaceAll(FoldText(element), ",", ""), "v"),
				maxWordBytes,
			)
			set.addSingleWordTerm(w, w)
			addVersionPrefixes(&set, w)
			continue
		}
		for _, d := range dotted {
			set.addIdentifierTerms(d, wordToTerm)
		}
		if w := FoldText(element); len(dotted) > 1 && len(w) <= maxCombinedTermBytes {
			set.addCombinedTerm(w, w)
		}
	}
	if w := FoldText(chunk); elements > 1 && len(w) <= maxCombinedTermBytes {
		set.addCombinedTerm(w, w)
	}
	return set.terms
}

// isPlainWord reports whether the chunk is a single word of ASCII letters and digits. In such a chunk, no capital
// follows a lower-case letter, and no lower-case letter follows a capital other than the first character. Most chunks
// are plain.
func isPlainWord(chunk string) bool {
	hasLower, hasUpper := false, false // in the characters after the first
	for i := 1; i < len(chunk); i++ {
		switch {
		case isLower(chunk[i]):
			hasLower = true
		case isUpper(chunk[i]):
			hasUpper = true
		case !isDigit(chunk[i]):
			return false
		}
	}
	isMixed := hasUpper && (hasLower || isLower(chunk[0]))
	return len(chunk) <= maxWordBytes && !isMixed && (isLower(chunk[0]) || isUpper(chunk[0]) || isDigit(chunk[0]))
}

// isPlainLetterWord reports whether the chunk consists of a lower-case or capital ASCII letter followed by lower-case
// ASCII letters.
func isPlainLetterWord(chunk string) bool {
	for i := 1; i < len(chunk); i++ {
		if !isLower(chunk[i]) {
			return false
		}
	}
	return len(chunk) <= maxWordBytes && (isLower(chunk[0]) || isUpper(chunk[0]))
}

// isNumberChunk reports whether the chunk s begins with digits, a connector (".", "," or "-"), and another digit. A v
// may precede the first digits. Any characters may follow, as in 1.2.0-rc1.
func isNumberChunk(s string) bool {
	if s[0]|0x20 == 'v' && len(s) > 1 {
		s = s[1:]
	}
	if !isDigit(s[0]) {
		return false
	}
	for i := range len(s) {
		switch {
		case s[i] == '.' || s[i] == ',':
			return i+1 < len(s) && isDigit(s[i+1])
		case s[i] == '-':
			return i+1 < len(s) && isDigit(s[i+1])
		case !isDigit(s[i]):
			return false
		}
	}
	return false
}

// addVersionPrefixes adds the shorter versions with which a version begins, if they have at least two parts. For
// 1.2.3-rc1, these are 1.2 and 1.2.3.
func addVersionPrefixes(set *chunkTermSet, version string) {
	dots := 0
	for i := range len(version) {
		switch c := version[i]; {
		case c == '.':
			dots++
			if dots > 1 {
				set.addCombinedTerm(version[:i], version[:i])
			}
		case c == '-' && dots > 0:
			set.addCombinedTerm(version[:i], version[:i])
			return
		}
	}
}

// contractionEndings contains the endings that may follow an apostrophe in an English word.
var contractionEndings = []string{"s", "t", "d", "m", "ve", "ll", "re"}

// splitIdentifier splits an identifier at its hyphens, underscores, commas and apostrophes, and before each capital
// that begins a word. If the identifier ends with an apostrophe and an English ending, such as 's, this ending is
// removed.
func splitIdentifier(s string) []string {
	var parts []string
	from := 0
	end := func(to int) {
		if to > from {
			parts = append(parts, s[from:to])
		}
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '_' || r == '-' || r == '‐' || r == '‑' || r == ',':
			end(i)
			from = i + n
		case r == '\'' || r == '’':
			end(i)
			from = i + n
			if tail := strings.ToLower(s[from:min(len(s), from+len("ll'"))]); slices.Contains(
				contractionEndings,
				tail,
			) {
				return parts
			}
		case i > from && isUpper(s[i]) &&
			(isLower(s[i-1]) || (isUpper(s[i-1]) && i+1 < len(s) && isLower(s[i+1]) && i-from > 1 &&
				!(i+2 == len(s) && s[i+1] == 's'))):
			end(i)
			from = i
		}
		i += n
	}
	end(len(s))
	return parts
}

// addWordTerms adds the terms of a word and returns the folded word. Chinese, Japanese and Korean characters are
// added in pairs.
func addWordTerms(w string, wordToTerm func(word string) string, addPart func(text, word string)) string {
	f := FoldText(w)
	if !hasWideRune(f) {
		if len(f) > maxWordBytes {
			f = text.TruncateBytes(f, maxWordBytes)
		}
		if f != "" {
			addPart(wordToTerm(f), f)
		}
		return f
	}
	// f[from:i] is the text for which no term was added yet. If wide is true, this text begins with a wide character,
	// such as a Chinese character. The variable alone is then true if this character is not part of a pair yet. If wide
	// is false, the text contains no wide characters.
	from := 0
	wide := false
	alone := false
	end := func(to int) {
		switch run := f[from:to]; {
		case run == "" || (wide && !alone):
		case wide:
			addPart(run, run)
		default:
			addPart(wordToTerm(text.TruncateBytes(run, maxWordBytes)), run)
		}
	}
	for i, r := range f {
		switch is := isWide(r); {
		case is && wide:
			pair := f[from : i+utf8.RuneLen(r)]
			addPart(pair, pair)
			from, alone = i, false
		case is || wide:
			end(i)
			from = i
			wide = is
			alone = is
		}
	}
	end(len(f))
	return f
}

func hasWideRune(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.ContainsFunc(s, isWide)
		}
	}
	return false
}

// isWide reports whether the character r belongs to a script whose characters are indexed in pairs. These are the
// scripts of Chinese, Japanese and Korean, and the South-East Asian scripts that do not use spaces between words:
// Thai, Lao, Burmese, Khmer and Javanese.
func isWide(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r < 0x3000:
		return r <= 0x0eff || (r >= 0x1000 && r <= 0x109f) || (r >= 0x1100 && r <= 0x11ff) ||
			(r >= 0x1780 && r <= 0x17ff)
	}
	return (r >= 0x3005 && r <= 0x3007) || (r >= 0x3041 && r <= 0x30ff) || (r >= 0x3130 && r <= 0x318f) ||
		(r >= 0x3400 && r <= 0x9fff) || (r >= 0xa980 && r <= 0xa9ff) || (r >= 0xaa60 && r <= 0xaa7f) ||
		(r >= 0xac00 && r <= 0xd7af) || (r >= 0xf900 && r <= 0xfaff) || (r >= 0x20000 && r <= 0x3ffff)
}

// TermOfWord returns the term of a folded word. The term is the stem of the word. For an irregular form, it is the
// stem of the base form.
func TermOfWord(word string) string {
	if root, ok := irregularBaseForms()[word]; ok {
		word = root
	}
	return Stem(word)
}
