// This file finds secrets. It finds the keywords of all rules in one pass over the text.

// Package secret finds passwords, keys and tokens in a text, and replaces them by marks. The rules come from gitleaks
// (rules.txt). Additional rules (own.txt) find the keys of memory products. Both files are compiled to rules.bin. The
// package does not depend on entries.
//
// Code that stores text from agents, hooks or transcripts must call [Redactor.Redact] on the text before storing the
// text, and before deriving a name from the text:
//
//	r := secret.NewRedactor(home)
//	text, found := r.Redact(text)
//
// A process needs only one redactor, which any number of goroutines can use. The redactor creates the key file of the
// home when it finds the first secret. In one home, equal secrets have equal marks. If a text already contains marks,
// Redact does not change the marks.
package secret

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// A Finding is a secret at text[Start:End].
type Finding struct {
	Rule       string
	Start, End int
	ruleIndex  int // index of the rule that found the secret (findings at the same position are sorted by this index)
}

// Find returns the secrets in a text in order of position. The findings do not overlap. Find also finds secrets that
// are percent-encoded, encoded in base64, or written in full-width letters, and secrets that are interrupted by
// invisible characters or a line break. The marks that [Redactor.Redact] writes are not findings.
func Find(text string) []Finding {
	found := append(findUnencodedSecrets(text), findSecretsAcrossLines(text)...)
	for _, r := range decodeTextForms(text) {
		for _, f := range findUnencodedSecrets(r.text) {
			f.Start, f.End = r.originalRange(f.Start, f.End)
			found = append(found, f)
		}
	}
	return mergeFindings(text, found)
}

// findUnencodedSecrets returns the secrets that are in a text as they are, without an encoding or a line break.
func findUnencodedSecrets(text string) []Finding {
	rules := ruleSet()
	pooled, ok := searchPool.Get().(*[]ruleSearch)
	if !ok {
		pooled = new([]ruleSearch)
	}
	s := textSearch{text: text, rules: rules, ruleSearches: (*pooled)[:0]}
	rules.keywords.eachKeyword(text, s.matchRuleAt)
	clear(s.ruleSearches) // remove the references to the text, because the pool would keep the text in memory
	*pooled = s.ruleSearches
	searchPool.Put(pooled)
	return s.findings
}

// searchPool contains slices that are reused when other texts are searched. Reuse is worthwhile because most texts are
// short and have only a few keywords, so that allocating a slice would take a large part of the time.
var searchPool = sync.Pool{New: func() any { return new([]ruleSearch) }}

// textSearch is a search for secrets in a text. At each position, it tries each rule for secrets at most once.
type textSearch struct {
	text         string
	rules        *secretRules
	ruleSearches []ruleSearch // searches of the rules whose keywords occurred (usually only a few rules)
	findings     []Finding
}

// ruleSearch is the state of a search for the secrets that one rule describes.
type ruleSearch struct {
	regexpMatcher
	ruleIndex         int
	nextMatchPosition int // first position at which the rule may match again, so that matches do not overlap
}

// findOrAddRuleSearch returns the state of the text's search with one rule. It creates the state if the rule was not
// tried yet. The result is valid until the next call of findOrAddRuleSearch.
func (s *textSearch) findOrAddRuleSearch(ruleIndex int) *ruleSearch {
	for i := range s.ruleSearches {
		if s.ruleSearches[i].ruleIndex == ruleIndex {
			return &s.ruleSearches[i]
		}
	}
	s.ruleSearches = append(s.ruleSearches, ruleSearch{ruleIndex: ruleIndex,
		regexpMatcher: regexpMatcher{regexpProgram: s.rules.rulesInOrder[ruleIndex].program(), text: s.text}})
	return &s.ruleSearches[len(s.ruleSearches)-1]
}

// matchRuleAt searches for secrets near an occurrence of a rule's keyword, and adds them to s.findings. The keyword
// word occurs at position start. Like package regexp, matchRuleAt finds matches from left to right that do not overlap.
func (s *textSearch) matchRuleAt(word ruleKeyword, start int) {
	r := &s.rules.rulesInOrder[word.ruleIndex]
	if r.isForAssignments && !looksLikeAssignedValue(s.text[start+len(word.word):]) {
		return
	}
	rs := s.findOrAddRuleSearch(word.ruleIndex)
	lastPos := min(start+r.maxBytesAfterKeyword, len(s.text))
	for pos := max(start-r.maxBytesBeforeKeyword, rs.nextMatchPosition); pos <= lastPos; pos = max(pos+1,
		rs.nextMatchPosition) {
		rs.nextMatchPosition = pos + 1
		if !rs.matchAt(pos) {
			continue
		}
		rs.nextMatchPosition = max(rs.nextMatchPosition, rs.groupSlots[1])
		if f, ok := r.findSecretInMatch(s.text, rs.groupSlots[:rs.groupSlotCount]); ok {
			s.findings = append(s.findings, f)
		}
	}
}

// mergeFindings sorts the found secrets by their position, and joins findings that overlap. It drops a finding that
// overlaps a redaction mark, which replaces a secret that was removed earlier. A joined finding has the rule name of
// its first finding. If this name is genericRuleName, the rule for any assigned value, it has the name of the next
// finding instead.
func mergeFindings(text string, found []Finding) []Finding {
	if found == nil {
		return nil
	}
	slices.SortFunc(
		found,
		func(a, b Finding) int { return cmp.Or(a.Start-b.Start, b.End-a.End, a.ruleIndex-b.ruleIndex) },
	)
	var out []Finding
	marks := findRedactionMarks(text)
	for _, f := range found {
		for len(marks) > 0 && marks[0].End <= f.Start {
			marks = marks[1:]
		}
		if len(marks) > 0 && marks[0].Start < f.End {
			continue
		}
		if last := len(out) - 1; last >= 0 && f.Start < out[last].End {
			out[last].End = max(out[last].End, f.End)
			if out[last].Rule == genericRuleName {
				out[last].Rule = f.Rule
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

// In a text, a secret is replaced by a mark. The mark has the form [redacted: RULE #tag], in which the tag is computed
// from the secret and a key. Without a key, the mark is [redacted: RULE].
const (
	redactionMarkStart    = "[redacted: "
	redactionMarkEnd      = "]"
	maxRedactionMarkBytes = 100 // maximum length in bytes of the text that replaces a secret
	secretTagDigits       = 8   // number of hexadecimal digits in the tag, by which equal secrets are recognized
)

// findRedactionMarks returns the positions of the redaction marks in a text. A redaction mark stands for a secret that
// oxbow has removed.
func findRedactionMarks(text string) (marks []Finding) {
	for from := 0; ; {
		i := strings.Index(text[from:], redactionMarkStart)
		if i < 0 {
			return marks
		}
		start := from + i
		from = start + len(redactionMarkStart)
		if size := redactionMarkLength(text[start:]); size > 0 {
			marks = append(marks, Finding{Start: start, End: start + size})
			from = start + size
		}
	}
}

// redactionMarkLength returns the length of the redaction mark at the start of a text. The text must begin with
// redactionMarkStart. If the mark is not valid, the result is 0. A valid mark contains the name of an existing rule,
// and either no tag or a valid tag. Other text between the signs of a mark may be a secret, so it does not count as a
// mark.
func redactionMarkLength(text string) int {
	body, _, ok := strings.Cut(text[len(redactionMarkStart):min(len(text), maxRedactionMarkBytes)], redactionMarkEnd)
	if !ok {
		return 0
	}
	name, tag, hasTag := strings.Cut(body, " #")
	if !ruleSet().hasRule(name) {
		return 0
	}
	if hasTag && !isSecretTag(tag) {
		return 0
	}
	return len(redactionMarkStart) + len(body) + len(redactionMarkEnd)
}

// isSecretTag reports whether a text has the form of the tag in a redaction mark. A tag consists of secretTagDigits
// lower-case hexadecimal digits.
func isSecretTag(s string) bool {
	return len(s) == secretTagDigits && strings.Trim(s, "0123456789abcdef") == ""
}

// maxSecretSearches is the maximum number of searches in a text. A repeated search may find a secret that overlapped a
// finding of an earlier search.
const maxSecretSearches = 4

// replaceSecrets replaces the secrets in a text by marks. It returns the new text, and the secrets that the first
// search found, with positions in the original text. The function makeTag must return a secret's tag, which consists of
// eight hexadecimal digits, or "" for a mark without a tag.
func replaceSecrets(text string, makeTag func(secret string) string) (string, []Finding) {
	var first []Finding
	for range maxSecretSearches {
		found := Find(text)
		if len(found) == 0 {
			break
		}
		if first == nil {
			first = found
		}
		var b strings.Builder
		end := 0
		for _, f := range found {
			b.WriteString(text[end:f.Start] + redactionMarkStart + f.Rule)
			if t := makeTag(text[f.Start:f.End]); t != "" {
				b.WriteString(" #" + t)
			}
			b.WriteString(redactionMarkEnd)
			end = f.End
		}
		text = b.String() + text[end:]
	}
	return text, first
}

// A secret may be divided between two texts. These are the limits, in bytes, for the length of its two pieces. If the
// first piece is shorter than the minimum, it does not contain the whole prefix of a key. A piece that is longer than
// the maximum is recognized without the other piece.
const (
	minSecretPieceBytes = 4
	maxSecretPieceBytes = 300
)

// FindAcrossTexts finds secrets that are divided between two of the texts. A divided secret begins at one text's end
// and continues at the start of another text. For example, a secret may be divided between the name and the content of
// an entry. The result has an element for each text, with the pieces of secrets in that text. FindAcrossTexts finds
// only keys with a distinctive prefix, such as ghp_, because the rules for other secrets would also match unrelated
// words.
func FindAcrossTexts(texts ...string) [][]Finding {
	found := make([][]Finding, len(texts))
	for i, first := range texts {
		start := findSecretPieceStart(first, len(first))
		if !hasKeyword(first[start:]) {
			continue
		}
		for k, second := range texts {
			if k == i {
				continue
			}
			end := findSecretPieceEnd(second, 0)
			if f, size := findKeyAcrossTexts(first[start:], second[:end]); size > 0 {
				found[i] = append(found[i], Finding{Rule: f.Rule, Start: start + f.Start, End: len(first)})
				found[k] = append(found[k], Finding{Rule: f.Rule, End: size})
			}
		}
	}
	for i := range found {
		found[i] = mergeFindings(texts[i], found[i])
	}
	return found
}

// findSecretsAcrossLines returns the secrets that are interrupted by a line break, for example because the text was
// copied from a terminal.
func findSecretsAcrossLines(text string) (found []Finding) {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '\n')
		if i < 0 {
			return found
		}
		end := from + i
		from = end + 1
		if end > 0 && text[end-1] == '\r' {
			end--
		}
		start := findSecretPieceStart(text, end)
		if !hasKeyword(text[start:end]) {
			continue
		}
		second := from
		for second < len(text) && (text[second] == ' ' || text[second] == '\t' || text[second] == '>') {
			second++
		}
		f, size := findKeyAcrossTexts(text[start:end], text[second:findSecretPieceEnd(text, second)])
		if size > 0 {
			found = append(
				found,
				Finding{Rule: f.Rule, Start: start + f.Start, End: second + size, ruleIndex: f.ruleIndex},
			)
		}
	}
}

// findSecretPieceStart returns the start of the longest character sequence that may belong to a key and that ends at
// the position end. The sequence has at most maxSecretPieceBytes bytes. If no such sequence ends there, the result is
// end.
func findSecretPieceStart(text string, end int) int {
	start := end
	for start > max(0, end-maxSecretPieceBytes) && isSecretKeyByte(text[start-1]) {
		start--
	}
	return start
}

// findSecretPieceEnd returns the end of the longest character sequence that may belong to a key and that begins at
// start. The sequence has at most maxSecretPieceBytes bytes. If no such sequence begins there, the result is start.
func findSecretPieceEnd(text string, start int) int {
	end := start
	for end < min(len(text), start+maxSecretPieceBytes) && isSecretKeyByte(text[end]) {
		end++
	}
	return end
}

func isSecretKeyByte(c byte) bool { return isBase64Byte[c] || c == '.' || c == '=' }

// hasKeyword reports whether a piece of text contains the keyword of a rule for secrets with a distinctive prefix.
// Rules for assignments, the generic rule and the rule for passwords do not count. hasKeyword returns false for a piece
// with fewer than minSecretPieceBytes bytes.
func hasKeyword(secretPiece string) (ok bool) {
	if len(secretPiece) < minSecretPieceBytes {
		return false
	}
	rules := ruleSet()
	rules.keywords.eachKeyword(secretPiece, func(h ruleKeyword, _ int) {
		r := &rules.rulesInOrder[h.ruleIndex]
		ok = ok || (!r.isForAssignments && r.name != genericRuleName && r.name != "password")
	})
	return ok
}

// findKeyAcrossTexts finds a secret that begins in one piece of text and ends in another. It returns the secret, with
// offsets in the joined pieces, and the number of the secret's bytes in the second piece. The number is 0 if the pieces
// do not form a secret together, or if the second piece may be an ordinary word. It is also 0 if the first piece alone
// contains a secret and the second piece has no digits.
func findKeyAcrossTexts(first, second string) (f Finding, size int) {
	isWord := strings.Trim(second, "abcdefghijklmnopqrstuvwxyz.-_") == ""
	isAfterWhole := !strings.ContainsAny(second, "0123456789") && findUnencodedSecrets(first) != nil
	if isWord || isAfterWhole {
		return Finding{}, 0
	}
	for _, f := range findUnencodedSecrets(first + second) {
		isInBoth := f.Start <= len(first)-minSecretPieceBytes && f.End > len(first)
		if isInBoth && f.Rule != genericRuleName {
			return f, f.End - len(first)
		}
	}
	return Finding{}, 0
}
