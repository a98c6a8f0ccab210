// This file finds secrets in texts that contain invisible characters or full-width letters, or are percent-encoded or
// encoded in base64.

package secret

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// decodedText is the decoded form of a text or a text's part.
type decodedText struct {
	text string
	// for each byte in the decoded text and for the text's end, the position in the original text (nil if not known)
	originalOffsets []int
	// position in the original text of the part that was decoded (used if originalOffsets is nil)
	originalPartStart, originalPartEnd int
}

// originalRange returns the range in the original text that was decoded to r.text[start:end].
func (r *decodedText) originalRange(start, end int) (originalStart, originalEnd int) {
	if r.originalOffsets == nil {
		return r.originalPartStart, r.originalPartEnd
	}
	return r.originalOffsets[start], r.originalOffsets[end]
}

// decodeTextForms returns the decoded forms of a text and its parts. A decoded form may contain secrets that are not
// visible in the text itself. Base64 is decoded in the whole text. Other encodings are decoded only in lines that
// contain encoded characters, such as percent signs. Consecutive lines of this kind are decoded together.
func decodeTextForms(text string) []decodedText {
	all := decodeBase64Texts(text)
	if !mayHideSecret(text) {
		return all
	}
	for start := 0; start < len(text); {
		end := start
		for end < len(text) {
			next := end + firstLineLength(text[end:])
			if !mayHideSecret(text[end:next]) {
				break
			}
			end = next
		}
		if end == start {
			start += firstLineLength(text[start:])
			continue
		}
		r := decodeTextPart(text[start:end], start)
		for _, inner := range decodeBase64Texts(r.text) {
			inner.originalPartStart, inner.originalPartEnd = r.originalRange(
				inner.originalPartStart,
				inner.originalPartEnd,
			)
			all = append(all, inner)
		}
		all = append(all, r)
		start = end
	}
	return all
}

// firstLineLength returns the length of a text's first line, including the line feed.
func firstLineLength(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// mayHideSecret reports whether a text contains characters that may hide a secret and that [decodeTextPart] replaces or
// removes. These are percent-encoded bytes, variants of base64 characters, and invisible characters after a base64
// character.
func mayHideSecret(text string) bool {
	for rest := text; ; rest = rest[1:] {
		percent := strings.IndexByte(rest, '%')
		if percent < 0 {
			break
		}
		rest = rest[percent:]
		if _, ok := decodePercentByte(rest); ok {
			return true
		}
	}
	nonASCII := 0 // number of ASCII bytes at the start of text
	for nonASCII < len(text) && text[nonASCII] < utf8.RuneSelf {
		nonASCII++
	}
	text = text[max(0, nonASCII-1):]
	afterToken := false // the last visible character may belong to a secret
	for _, c := range text {
		switch {
		case c < utf8.RuneSelf:
			afterToken = isBase64Byte[byte(c)]
		case isInvisible(c):
			if afterToken {
				return true
			}
		default:
			afterToken = false
			if plain := toPlainASCII(c); plain != c && isBase64Byte[byte(plain)] {
				return true
			}
		}
	}
	return false
}

// decodeTextPart returns the decoded form of text, which is a part of a longer text. offset is the position at which
// the part begins in the longer text. decodeTextPart replaces variants of ASCII letters by the letters, removes
// invisible characters, and decodes percent-encoding.
func decodeTextPart(text string, offset int) decodedText {
	decoded := make([]byte, 0, len(text))
	starts := make([]int, 0, len(text)+1)
	add := func(part string, start int) {
		decoded = append(decoded, part...)
		for range len(part) {
			starts = append(starts, offset+start)
		}
	}
	for i := 0; i < len(text); {
		if c, ok := decodePercentByte(text[i:]); ok {
			add(string(rune(c)), i)
			i += 3
			continue
		}
		c, size := utf8.DecodeRuneInString(text[i:])
		if !isInvisible(c) {
			visible := text[i : i+size] // do not use string(c), because c may stand for a byte that is not valid UTF-8
			if plain := toPlainASCII(c); plain != c {
				visible = string(plain)
			}
			add(visible, i)
		}
		i += size
	}
	return decodedText{text: string(decoded), originalOffsets: append(starts, offset+len(text))}
}

// asciiLetters contains the ASCII letters in the order of Unicode's mathematical alphabets.
const asciiLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// toPlainASCII returns the ASCII character of which c is a full-width, mathematical or circled variant, like Unicode's
// normalization form KC. It returns other characters unchanged. This function is used instead of a complete table,
// because this package belongs to the library, which imports no other modules.
func toPlainASCII(c rune) rune {
	switch {
	case '！' <= c && c <= '～':
		return c - '！' + '!'
	case 'Ⓐ' <= c && c <= 'ⓩ':
		return rune(asciiLetters[c-'Ⓐ'])
	case '𝐀' <= c && c <= '𝚣':
		return rune(asciiLetters[(c-'𝐀')%rune(len(asciiLetters))])
	case '𝟎' <= c && c <= '𝟿':
		return '0' + (c-'𝟎')%10
	}
	return c
}

// decodePercentByte returns the ASCII byte whose percent-encoding is at the start of a text. It returns false if the
// text does not start with such an encoding.
func decodePercentByte(text string) (c byte, ok bool) {
	if len(text) < 3 || text[0] != '%' {
		return 0, false
	}
	high, low := hexValue(text[1]), hexValue(text[2])
	return byte(high<<4 | low), 0 <= high && high < 8 && low >= 0
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// isInvisible reports whether a character's width is zero. An example is the soft hyphen.
func isInvisible(c rune) bool {
	return c >= 0xAD && (unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Variation_Selector, c) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c))
}

// These are limits for base64 texts, in bytes.
const (
	// minimum number of consecutive base64 characters (the rules would find no secret in fewer characters)
	minBase64Chars = 24
	// minimum length of a base64 line for which the next line is read as a continuation
	minWrappedLineChars = 60
	// number of bytes that are decoded first to determine whether base64 characters encode text
	encodingProbeBytes = 24
)

// decodeBase64Texts finds the sequences of base64 characters in a text. It returns the decoded form of each sequence
// that encodes text.
func decodeBase64Texts(text string) (all []decodedText) {
	for i := 0; i+minBase64Chars <= len(text); {
		last := i + minBase64Chars - 1
		for last >= i && isBase64Byte[text[last]] {
			last--
		}
		// A base64 text that begins at or after i would end before the byte at last, which is not a base64 character.
		// Such a text would be shorter than minBase64Chars, so continue after that byte.
		if last >= i {
			i = last + 1
			continue
		}
		end := findBase64End(text, i)
		if decoded := decodeBase64(text[i:end]); decoded != "" {
			all = append(all, decodedText{text: decoded, originalPartStart: i, originalPartEnd: end})
		}
		i = end
	}
	return all
}

// findBase64End returns the end of the sequence of base64 characters that begins at start. If a line of the sequence
// has at least minWrappedLineChars characters, the sequence continues in the next line. Empty lines between two lines
// are skipped.
func findBase64End(text string, start int) int {
	lineStart := start
	for i := start; ; {
		for i < len(text) && isBase64Byte[text[i]] {
			i++
		}
		if i-lineStart < minWrappedLineChars {
			return i
		}
		next := i
		for next < len(text) && (text[next] == '\r' || text[next] == '\n') {
			next++
		}
		if next == i || next == len(text) {
			return i
		}
		if !isBase64Byte[text[next]] {
			return i
		}
		i, lineStart = next, next
	}
}

// base64Values contains the six bits for each base64 byte, including bytes from the URL alphabet, and 0xff for all
// other bytes. isBase64Byte has the value true for each base64 byte.
var base64Values, isBase64Byte = func() (values [256]uint8, isValue [256]bool) {
	for c := range 256 {
		values[c] = 0xff
	}
	for i, c := range []byte(asciiLetters + "0123456789+/") {
		values[c], isValue[c] = uint8(i), true
	}
	values['-'], isValue['-'] = values['+'], true
	values['_'], isValue['_'] = values['/'], true
	return values, isValue
}()

// areTextBytes reports whether all three bytes, decoded from four base64 characters, can be part of a text.
func areTextBytes(a, b, c byte) bool { return isTextByte(a) && isTextByte(b) && isTextByte(c) }

// decodeBase64 decodes a sequence of base64 characters (base64Text), which may contain line breaks after the first
// encodingProbeBytes characters and must not be shorter. It returns "" if the result is not a text. Most sequences are
// not texts, so decodeBase64 examines the first characters before it decodes the whole sequence.
func decodeBase64(base64Text string) string {
	for i := 0; i < encodingProbeBytes; i += 4 {
		b := uint32(0)
		for _, c := range []byte(base64Text[i : i+4]) {
			b = b<<6 | uint32(base64Values[c]&63)
		}
		if !areTextBytes(byte(b>>16), byte(b>>8), byte(b)) {
			return ""
		}
	}
	base64Text = base64Normalizer.Replace(base64Text)
	if len(base64Text)%4 == 1 {
		base64Text = base64Text[:len(base64Text)-1] // a single base64 character at the end encodes no byte
	}
	return decodeText(base64Text)
}

// base64Normalizer removes line breaks, and replaces characters from the URL alphabet by characters from the standard
// alphabet.
var base64Normalizer = strings.NewReplacer("\r", "", "\n", "", "-", "+", "_", "/")

// isTextByte reports whether a byte can be a part of an encoded text. Zero bytes can, because they occur in UTF-16.
func isTextByte(c byte) bool {
	return c >= ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0
}

// decodeText decodes base64 without padding. If at least half of the decoded bytes are zero bytes, the text is in
// UTF-16, which PowerShell uses, and decodeText removes the zero bytes. It returns "" if base64Text is not valid
// base64, or if the result is not a text in UTF-8.
func decodeText(base64Text string) string {
	b, err := base64.RawStdEncoding.DecodeString(base64Text)
	if err != nil {
		return ""
	}
	s := string(b)
	if strings.Count(s, "\x00") >= len(s)/2 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	for i := range len(s) {
		if s[i] == 0 || !isTextByte(s[i]) {
			return ""
		}
	}
	if !utf8.ValidString(s) {
		return ""
	}
	return s
}
