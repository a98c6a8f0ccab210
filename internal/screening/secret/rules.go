// This file decides whether a match of a rule is a secret.

package secret

import (
	"math"
	"slices"
	"strings"
)

// genericRuleName names the rule for values that are assigned to names that are typical of secrets, such as password.
const genericRuleName = "generic-api-key"

// secretRule describes one kind of secret.
type secretRule struct {
	name           string
	ruleTableIndex int // index of the rule in the table
	// A match for the rule may start at most maxBytesBeforeKeyword bytes before the start of the rule's keyword, and at
	// most maxBytesAfterKeyword bytes after it.
	maxBytesBeforeKeyword, maxBytesAfterKeyword int
	// the rule finds values that are assigned to a name, and its keywords are parts of such names
	isForAssignments       bool
	hasSecretsWithoutWords bool // secrets that this rule finds do not contain words
	minEntropy             float64
	secretGroupIndex       int
	nonSecretPatterns      []nonSecretPattern
	*lazyRegexp
}

// nonSecretPattern is an expression that excludes some matches of a rule, because these matches are not secrets.
type nonSecretPattern struct {
	comparedTextKind int
	*lazyRegexp
}

// hasRule reports whether there is a rule with this name.
func (rs *secretRules) hasRule(name string) bool {
	return slices.ContainsFunc(rs.rulesInOrder, func(r secretRule) bool { return r.name == name })
}

// maxNameLength is the maximum distance, in bytes, between a rule's keyword in a name (such as "token") and the sign
// that assigns a value to the name.
const maxNameLength = 64

// minAssignedValueBytes is the minimum length, in bytes, of a value that is assigned to a name.
const minAssignedValueBytes = 8

// beginsWithAssignment reports whether separator begins with one of the ASCII characters = > : | , and ?, or is a
// full-width colon or equals sign. Such a sign can stand between a name and its value. The argument separator must not
// be empty. It has at most three bytes, because a full-width separator has three bytes.
func beginsWithAssignment(separator string) bool {
	return strings.IndexByte("=>:|,?", separator[0]) >= 0 || separator == "：" || separator == "＝"
}

// looksLikeAssignedValue reports whether a secret may be assigned to a name at the start of text. The text may begin
// with the rest of the name. It must then contain an assignment sign and the beginning of a value, which is at least
// minAssignedValueBytes bytes without white space.
func looksLikeAssignedValue(text string) bool {
	i := 0
	for i < len(text) && i < maxNameLength && (isWordByte(text[i]) || strings.IndexByte(" \t\r\n\f.-'\"\\*[]?()",
		text[i]) >= 0) {
		i++
	}
	sign := text[i:min(len(text), i+3)]
	if sign == "" || !beginsWithAssignment(sign) {
		return false
	}
	for i += 1; i < len(text) && (strings.IndexByte("=>:|", text[i]) >= 0 || text[i] >= 0x80); i++ {
	}
	for n := 0; i < len(text) && n < 10 && strings.IndexByte(" \t\r\n\f\\'\"`=*", text[i]) >= 0; i++ {
		n++
	}
	for i > 0 && text[i-1] == '=' {
		i-- // go back, because the value itself may begin with an equals sign
	}
	n := 0
	for n < minAssignedValueBytes && i+n < len(text) && isTokenByte(text[i+n]) {
		n++
	}
	return n == minAssignedValueBytes
}

func isWordByte(c byte) bool {
	return c == '_' || ('0' <= c && c <= '9') || ('a' <= c|0x20 && c|0x20 <= 'z')
}

// isTokenByte reports whether a byte can be a part of a token. All ASCII bytes can, except white space and quotes.
func isTokenByte(c byte) bool { return ' ' < c && c < 0x7f && c != '"' && c != '\'' && c != '`' }

// findSecretInMatch returns the secret in a match of the rule's expression. It returns false if the match does not
// contain a secret. The argument match contains the start and the end of the match, followed by the start and the end
// of each group.
func (r *secretRule) findSecretInMatch(text string, match []int) (Finding, bool) {
	start, end := r.locateSecretInMatch(match)
	for end > start && text[end-1] == '\n' {
		end--
	}
	f := Finding{r.name, start, end, r.ruleTableIndex}
	return f, end > start && !r.isNonSecret(text, match[0], match[1], f)
}

// locateSecretInMatch returns the position of the secret in a match. If the rule specifies a group, the secret is this
// group. Otherwise it is the first group that is not empty. If there is no such group, the secret is the whole match.
func (r *secretRule) locateSecretInMatch(matchOffsets []int) (start, end int) {
	if r.secretGroupIndex > 0 {
		return matchOffsets[2*r.secretGroupIndex], matchOffsets[2*r.secretGroupIndex+1]
	}
	for i := 2; i < len(matchOffsets); i += 2 {
		if matchOffsets[i] >= 0 && matchOffsets[i] < matchOffsets[i+1] {
			return matchOffsets[i], matchOffsets[i+1]
		}
	}
	return matchOffsets[0], matchOffsets[1]
}

// isNonSecret reports whether a finding is not a secret, although it matches the rule. The arguments start and end are
// the bounds of the match that contains the finding. A finding is not a secret if at least one of these conditions is
// met:
//
//   - It is too uniform, because its entropy is at most r.minEntropy.
//   - It is an example, a public key, or words that are joined to a name.
//   - It belongs to a table of hexadecimal values, and the rule's secrets do not contain words.
//   - It contains words that the rule does not expect, and does not look random.
//   - One of r.nonSecretPatterns matches, for example a pattern for a variable or a path.
func (r *secretRule) isNonSecret(text string, start, end int, f Finding) bool {
	secret := text[f.Start:f.End]
	isGuessable := r.minEntropy > 0 && shannonEntropy(secret) <= r.minEntropy
	if isGuessable || isExampleSecret(secret) {
		return true
	}
	if r.hasSecretsWithoutWords && isInHexValueTable(text, f) {
		return true
	}
	if isJoinedWords(secret) || isPublicKey(secret) {
		return true
	}
	isRandom := looksRandom(secret)
	if !isRandom && r.hasUnexpectedWords(secret) {
		return true
	}
	for _, a := range r.nonSecretPatterns {
		if isRandom && a.comparedTextKind == comparedTextNonRandom {
			continue
		}
		target := secret
		switch a.comparedTextKind {
		case comparedTextMatch:
			target = extendToNameStart(text, start, end)
		case comparedTextLine:
			target = expandToWholeLines(text, start, end)
		}
		if a.program().matchesIn(target) {
			return true
		}
	}
	return false
}

// minWordsInJoinedName is how many words a text must have to be considered a name of joined words, such as
// sk-learn-contrib, and not a secret.
const minWordsInJoinedName = 3

// isJoinedWords reports whether a text consists of lower-case words that are joined by hyphens or underscores, like
// sk-learn-contrib-imbalanced. Names of packages and classes have this form. A part of the name may also be a short
// number. Random keys usually have parts that cannot be pronounced.
func isJoinedWords(s string) bool {
	words, letterCount := 0, 0
	for part := range strings.FieldsFuncSeq(s, func(c rune) bool { return c == '-' || c == '_' }) {
		isNumber := len(part) <= 2 && strings.Trim(part, "0123456789") == ""
		if isNumber {
			continue
		}
		if strings.Trim(part, "abcdefghijklmnopqrstuvwxyz") != "" || len(part) > maxJoinedWordLetters {
			return false
		}
		if len(part) > maxAcronymBytes && !isPronounceable(part) {
			return false
		}
		words, letterCount = words+1, letterCount+len(part)
	}
	return words >= minWordsInJoinedName && float64(letterCount) >= minAverageWordBytes*float64(words)
}

// A text of joined words, such as sk-learn-contrib, is a name and not a secret. maxJoinedWordLetters is the maximum
// number of letters in each joined word. Longer parts can be random letters that are pronounceable by chance.
const maxJoinedWordLetters = 16

// publicKeyPrefixes contains the first characters of public keys. Public keys are not secret. The keys are keys of the
// encryption program age, SSH keys (RSA, Ed25519, ECDSA, security keys) and OpenPGP keys.
var publicKeyPrefixes = []string{"age1", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNrLXNz", "AAAAInNrLWVj",
	"mQEN", "mQIN", "mQGN", "mDME", "xsBN", "xsFN"}

// minPublicKeyBytes is the minimum length in bytes of a public key or its first line.
const minPublicKeyBytes = 60

// isPublicKey reports whether a text is a public key.
func isPublicKey(s string) bool {
	return len(s) >= minPublicKeyBytes && slices.ContainsFunc(publicKeyPrefixes, func(begin string) bool {
		return strings.HasPrefix(s, begin)
	})
}

// hasUnexpectedWords reports whether the text secret, which matches this rule, looks like words and is therefore not a
// secret. The caller then ignores the match.
//
// If the rule's secrets never contain words (hasSecretsWithoutWords), an identifier, a path, or a text with a stop word
// is not a secret. If the rule finds values that are assigned to names (isForAssignments), an identifier or path that
// is capitalized is not a secret.
func (r *secretRule) hasUnexpectedWords(secret string) bool {
	return (r.hasSecretsWithoutWords && (isIdentifierOrPath(secret) || hasStopword(secret))) ||
		(r.isForAssignments && isIdentifierOrPath(secret) && isCapitalized(secret))
}

// maxLineContextBytes limits the text around a match. When the lines that contain a match are examined, at most this
// many bytes before the match and this many bytes after it are included.
const maxLineContextBytes = 128

// expandToWholeLines returns text[start:end] together with the rest of its lines. It adds at most maxLineContextBytes
// bytes on each side.
func expandToWholeLines(text string, start, end int) string {
	from, to := max(0, start-maxLineContextBytes), min(len(text), end+maxLineContextBytes)
	if i := strings.LastIndexByte(text[from:start], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(text[end:to], '\n'); i >= 0 {
		to = end + i
	}
	return text[from:to]
}

// shannonEntropy returns the Shannon entropy of the text s in bits per byte.
func shannonEntropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// isExampleSecret reports whether the secret s looks like an example in documentation. The secret is an example if it
// consists of one repeated character, or if it contains the alphabet or a certain UUID that is used in documentation.
// It is also an example if it is a placeholder for a variable, such as ${NAME}.
func isExampleSecret(s string) bool {
	if strings.Count(s, s[:1]) == len(s) {
		return true
	}
	lowered := strings.ToLower(s)
	return strings.Contains(lowered, "abcdefghijklmnopqrstuvwxyz") ||
		strings.Contains(lowered, "014df517-39d1-4453-b7b3-9930c563627c") ||
		(strings.IndexByte("${%@<", s[0]) >= 0 && ruleSet().expressions[exprIndexVariable].program().matchesIn(s))
}

// extendToNameStart returns text[start:end] with the beginning of the name before it. For example, if start is the
// position of key in my_api_key, the result begins with my_api_key. At most 50 bytes are added. The patterns with which
// the result is compared come from the program gitleaks and need the whole name.
func extendToNameStart(text string, start, end int) string {
	for n := 0; n < 50 && start > 0 && (isWordByte(text[start-1]) || text[start-1] == '.' ||
		text[start-1] == '-'); n++ {
		start--
	}
	return text[start:end]
}

// To determine whether a value is a part of a table, the hexTableLinesToExamine lines before the value and the
// hexTableLinesToExamine lines after it are examined, but at most maxTableLineBytes bytes on each side. If
// minTableLines of these lines contain hexadecimal values, the value belongs to a table.
const (
	minTableLines          = 4
	hexTableLinesToExamine = 6
	maxTableLineBytes      = 4 << 10
)

// isInHexValueTable reports whether a finding is a hexadecimal value in a table of such values, for example test
// vectors. Such a value is not a secret.
func isInHexValueTable(text string, f Finding) bool {
	if !isHexadecimal(text[f.Start:f.End]) {
		return false
	}
	lines := strings.Split(text[max(0, f.Start-maxTableLineBytes):f.Start], "\n")
	n := countHexLines(lines[max(0, len(lines)-1-hexTableLinesToExamine) : len(lines)-1])
	lines = strings.Split(text[f.End:min(len(text), f.End+maxTableLineBytes)], "\n")
	return n+countHexLines(lines[1:min(len(lines), 1+hexTableLinesToExamine)]) >= minTableLines
}

func isHexadecimal(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

func countHexLines(lines []string) (n int) {
	names, value := ruleSet().expressions[exprIndexSecretName].program(),
		ruleSet().expressions[exprIndexHexValue].program()
	for _, l := range lines {
		if !names.matchesIn(l) && value.matchesIn(l) {
			n++
		}
	}
	return n
}

// minAverageWordBytes is the minimum average length, in bytes, of the words in an identifier or path. Random letters
// and digits also contain pieces that look like words, but these pieces are shorter on average. Therefore a text with a
// smaller average is not treated as an identifier or path.
const minAverageWordBytes = 3.3

// isIdentifierOrPath reports whether an assigned value looks like an identifier or a path. Such a value consists of
// pronounceable words in camel case or with separators.
func isIdentifierOrPath(s string) bool {
	words := 0
	letters := 0
	digits := 0
	for s != "" {
		n := firstWordLength(s)
		w, kind := s[:n], classifyByte(s[n-1])
		s = s[n:]
		if kind == otherByte {
			continue
		}
		if kind == digitByte {
			digits++
		}
		isLongWord := n > 3 && kind == lowerCaseByte
		if isLongWord && !isPronounceable(w) {
			return false
		}
		words, letters = words+1, letters+n
	}
	return words > 0 && 2*digits <= words && float64(letters) >= minAverageWordBytes*float64(words)
}

// These are limits for deciding whether a value looks random.
const (
	minRandomValueBytes = 14
	// letters that cannot be pronounced, such as TLS, count as one word if they have at most this length in bytes
	maxAcronymBytes = 4
	// Each word in a value normally counts as 1. A sequence of letters that cannot be pronounced and has more than
	// maxAcronymBytes bytes counts as 1 plus its length in bytes divided by bytesPerAcronymWord.
	bytesPerAcronymWord = 3.0
	// minimum average length of the words, in bytes, in a value that contains a stop word
	minAverageBytesWithStopword = 2.5
)

// looksRandom reports whether a value looks random. Separators such as hyphens divide the value into parts. In a part,
// a word ends where the kind of characters changes, for example from lower case to digits. The value looks random if a
// long part consists of words that are very short on average. A hexadecimal value does not look random. If a value
// looks random, common words in it occur by chance, so they do not prove that the value is harmless.
func looksRandom(s string) bool {
	if isHexadecimal(s) {
		return false
	}
	for part := range strings.FieldsFuncSeq(s, func(c rune) bool {
		return c >= 0x80 ||
			classifyByte(byte(c)) == otherByte
	}) {
		wordCount, minLength := 0.0, minAverageWordBytes
		for rest := part; rest != ""; wordCount++ {
			n := firstWordLength(rest)
			if startsWithStopword(rest[:n]) {
				minLength = minAverageBytesWithStopword
			}
			isLongWord := n > maxAcronymBytes && classifyByte(rest[n-1]) != digitByte
			if isLongWord && !isPronounceable(rest[:n]) {
				wordCount += float64(n) / bytesPerAcronymWord
			}
			rest = rest[n:]
		}
		if len(part) >= minRandomValueBytes && float64(len(part)) <= minLength*wordCount {
			return true
		}
	}
	return false
}

// firstWordLength returns the length of the first word in a camel-case identifier, which must not be empty. For
// example, the identifier RSAKey consists of the words RSA and Key. A sequence of digits counts as a word, and so does
// a sequence of other characters, such as hyphens.
func firstWordLength(s string) int {
	kind, n := classifyByte(s[0]), 1
	for n < len(s) && classifyByte(s[n]) == kind {
		n++
	}
	if kind != upperCaseByte || n == len(s) {
		return n
	}
	if classifyByte(s[n]) != lowerCaseByte {
		return n
	}
	if n > 1 {
		return n - 1
	}
	for n < len(s) && classifyByte(s[n]) == lowerCaseByte {
		n++
	}
	return n
}

// isPronounceable reports whether a word may belong to a language, because it has enough vowels. At least a quarter of
// its letters must be vowels, and at most four consonants may follow each other.
func isPronounceable(w string) bool {
	vowels, consonants := 0, 0
	for i := range len(w) {
		consonants++
		if strings.IndexByte("aeiouyAEIOUY", w[i]) >= 0 {
			vowels++
			consonants = 0
		}
		if consonants == 5 {
			return false
		}
	}
	return 4*vowels >= len(w)
}

// Kinds of bytes in an identifier.
const (
	otherByte = iota
	lowerCaseByte
	upperCaseByte
	digitByte
)

func classifyByte(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return lowerCaseByte
	case 'A' <= c && c <= 'Z':
		return upperCaseByte
	case '0' <= c && c <= '9':
		return digitByte
	}
	return otherByte
}

// isCapitalized reports whether a text consists of one upper-case letter, followed only by lower-case letters or by
// nothing. The text must not be empty.
func isCapitalized(s string) bool {
	return classifyByte(s[0]) == upperCaseByte && strings.Trim(s[1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// minIdentifierStopwordBytes is the minimum length, in bytes, of a stop word in an identifier. Shorter stop words
// often occur in random letters by chance.
const minIdentifierStopwordBytes = 4

// startsWithStopword reports whether a word in an identifier is a stop word, or begins with a stop word of at least
// half the word's length.
func startsWithStopword(w string) bool {
	if len(w) < minIdentifierStopwordBytes {
		return false
	}
	lowered, words := strings.ToLower(w), &ruleSet().stopwordsByFirstByte
	for list := ruleTableReader(words[lowered[0]]); list != ""; {
		if s := list.readText(); len(s) >= max(minIdentifierStopwordBytes, (len(w)+1)/2) &&
			strings.HasPrefix(lowered, s) {
			return true
		}
	}
	return false
}

// hasStopword reports whether a secret contains a stop word. Stop words do not occur in real secrets.
func hasStopword(s string) bool {
	lowered, words := strings.ToLower(s), &ruleSet().stopwordsByFirstByte
	for i := range lowered {
		for list := ruleTableReader(words[lowered[i]]); list != ""; {
			if strings.HasPrefix(lowered[i:], list.readText()) {
				return true
			}
		}
	}
	return false
}
