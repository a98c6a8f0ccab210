// This file finds secrets. One pass over the text finds the keywords of all rules.

// Package secret finds passwords, keys and tokens in a text, and replaces them by marks. The rules
// come from gitleaks (rules.txt). Additional rules (own.txt) find the keys of memory products. Both
// files are compiled to rules.bin. The package does not depend on entries.
//
// Code that stores text from agents, hooks or transcripts must call [Redactor.Redact] before it
// writes anything, and before it derives a name from the text:
//
//	r := secret.NewRedactor(home)
//	text, found := r.Redact(text)
//
// A process needs only one redactor, which any number of goroutines can use. The redactor creates
// the key file of the home when it finds its first secret. In one home, equal secrets have equal
// marks. Redacting a text with marks does not change the marks.
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
	ruleIndex  int // index of the rule; findings at the same position are sorted by it
}

// Find returns the secrets in a text, in order and without overlaps. It also finds secrets that are
// percent-encoded, in base64, in full-width letters, or interrupted by invisible characters or a
// line break. Marks of [Redactor.Redact] are not findings.
func Find(text string) []Finding {
	found := append(findLiteral(text), findAcrossLines(text)...)
	for _, r := range decodedTexts(text) {
		for _, f := range findLiteral(r.text) {
			f.Start, f.End = r.originalRange(f.Start, f.End)
			found = append(found, f)
		}
	}
	return mergeFindings(text, found)
}

// findLiteral returns the secrets that are written literally, without encoding or a line break.
func findLiteral(text string) []Finding {
	rules := ruleSet()
	pooled, ok := searchPool.Get().(*[]ruleSearch)
	if !ok {
		pooled = new([]ruleSearch)
	}
	s := textSearch{text: text, rules: rules, searches: (*pooled)[:0]}
	rules.keywords.eachKeyword(text, s.tryRule)
	clear(s.searches) // so that the pool does not keep the text
	*pooled = s.searches
	searchPool.Put(pooled)
	return s.findings
}

// searchPool contains slices for the searches of a text, because most texts are short and have only a few keywords.
var searchPool = sync.Pool{New: func() any { return new([]ruleSearch) }}

// textSearch is the state of one pass over a text. It tries each rule at most once at a position.
type textSearch struct {
	text     string
	rules    *rules
	searches []ruleSearch // rules whose keywords occurred, usually few
	findings []Finding
}

// ruleSearch is the state of a search for one rule.
type ruleSearch struct {
	matcher
	rule    int
	nextPos int // position at which the next match may begin
}

// findRuleSearch returns the state of the search for a rule. It is valid until the next call.
func (s *textSearch) findRuleSearch(rule int) *ruleSearch {
	for i := range s.searches {
		if s.searches[i].rule == rule {
			return &s.searches[i]
		}
	}
	s.searches = append(s.searches, ruleSearch{rule: rule,
		matcher: matcher{program: s.rules.ruleList[rule].program(), text: s.text}})
	return &s.searches[len(s.searches)-1]
}

// tryRule tries to match a rule near an occurrence of its keyword. It finds non-overlapping matches
// from left to right, like package regexp.
func (s *textSearch) tryRule(word keyword, start int) {
	r := &s.rules.ruleList[word.rule]
	if r.isForAssignments && !looksLikeAssignment(s.text[start+len(word.word):]) {
		return
	}
	rs := s.findRuleSearch(word.rule)
	lastPos := min(start+r.bytesAfter, len(s.text))
	for pos := max(start-r.bytesBefore, rs.nextPos); pos <= lastPos; pos = max(pos+1, rs.nextPos) {
		rs.nextPos = pos + 1
		if !rs.matchAt(pos) {
			continue
		}
		rs.nextPos = max(rs.nextPos, rs.slots[1])
		if f, ok := r.secretInMatch(s.text, rs.slots[:rs.slotCount]); ok {
			s.findings = append(s.findings, f)
		}
	}
}

// mergeFindings sorts the findings and drops those that overlap a mark. It joins overlapping findings.
// The result has the rule of the first, unless this is the generic rule.
func mergeFindings(text string, found []Finding) []Finding {
	if found == nil {
		return nil
	}
	slices.SortFunc(
		found,
		func(a, b Finding) int { return cmp.Or(a.Start-b.Start, b.End-a.End, a.ruleIndex-b.ruleIndex) },
	)
	var out []Finding
	marks := findMarks(text)
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

// A mark is [redacted: RULE #tag], or [redacted: RULE] if there is no key.
const (
	markBegin = "[redacted: "
	markEnd   = "]"
	maxMark   = 100 // bytes
	tagSize   = 8   // hexadecimal digits
)

// findMarks returns the positions of the marks in a text.
func findMarks(text string) (marks []Finding) {
	for from := 0; ; {
		i := strings.Index(text[from:], markBegin)
		if i < 0 {
			return marks
		}
		start := from + i
		from = start + len(markBegin)
		if size := markSize(text[start:]); size > 0 {
			marks = append(marks, Finding{Start: start, End: start + size})
			from = start + size
		}
	}
}

// markSize returns the length of the mark that a text begins with, or 0 without a mark. A mark
// must have the name of an existing rule and a valid tag, so that no secret can be hidden in a
// false mark.
func markSize(text string) int {
	body, _, ok := strings.Cut(text[len(markBegin):min(len(text), maxMark)], markEnd)
	if !ok {
		return 0
	}
	name, tag, hasTag := strings.Cut(body, " #")
	if !ruleSet().hasRule(name) {
		return 0
	}
	if hasTag && !isTag(tag) {
		return 0
	}
	return len(markBegin) + len(body) + len(markEnd)
}

// isTag reports whether s has the form of a tag in a mark: lower-case hexadecimal digits.
func isTag(s string) bool {
	return len(s) == tagSize && strings.Trim(s, "0123456789abcdef") == ""
}

// maxSearches is the maximum number of searches in a text. A further search may find a secret that
// overlapped an earlier finding.
const maxSearches = 4

// replaceSecrets replaces the secrets in a text by marks. It returns the new text, and the secrets that the first
// search found with their positions in the original text. tag returns the tag of a secret, which is eight hexadecimal
// digits, or "" for no tag.
func replaceSecrets(text string, tag func(secret string) string) (string, []Finding) {
	var first []Finding
	for range maxSearches {
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
			b.WriteString(text[end:f.Start] + markBegin + f.Rule)
			if t := tag(text[f.Start:f.End]); t != "" {
				b.WriteString(" #" + t)
			}
			b.WriteString(markEnd)
			end = f.End
		}
		text = b.String() + text[end:]
	}
	return text, first
}

// Lengths, in bytes, of the pieces of a divided secret. A first piece that is shorter does not
// contain the whole prefix of a key, and a piece that is longer is found by itself.
const (
	minPieceLength = 4
	maxPieceLength = 300
)

// FindDivided finds secrets that are divided between two of the texts, such as the name and the content of an entry:
// the secret begins at the end of one text and continues at the start of another text. The result has an element for
// each text, with the pieces of secrets in this text. Only keys with a distinctive prefix, such as ghp_, are found,
// because other rules would also match unrelated words.
func FindDivided(texts ...string) [][]Finding {
	found := make([][]Finding, len(texts))
	for i, first := range texts {
		start := pieceStart(first, len(first))
		if !hasKeyword(first[start:]) {
			continue
		}
		for k, second := range texts {
			if k == i {
				continue
			}
			end := pieceEnd(second, 0)
			if f, size := findDividedKey(first[start:], second[:end]); size > 0 {
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

// findAcrossLines returns the secrets that a line break interrupts, for example in text copied from a
// terminal.
func findAcrossLines(text string) (found []Finding) {
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
		start := pieceStart(text, end)
		if !hasKeyword(text[start:end]) {
			continue
		}
		second := from
		for second < len(text) && (text[second] == ' ' || text[second] == '\t' || text[second] == '>') {
			second++
		}
		f, size := findDividedKey(text[start:end], text[second:pieceEnd(text, second)])
		if size > 0 {
			found = append(
				found,
				Finding{Rule: f.Rule, Start: start + f.Start, End: second + size, ruleIndex: f.ruleIndex},
			)
		}
	}
}

// pieceStart returns the start of the consecutive key characters that end at end.
func pieceStart(text string, end int) int {
	start := end
	for start > max(0, end-maxPieceLength) && isKeyByte(text[start-1]) {
		start--
	}
	return start
}

// pieceEnd returns the end of the consecutive key characters that begin at start.
func pieceEnd(text string, start int) int {
	end := start
	for end < min(len(text), start+maxPieceLength) && isKeyByte(text[end]) {
		end++
	}
	return end
}

func isKeyByte(c byte) bool { return isBase64[c] || c == '.' || c == '=' }

// hasKeyword reports whether a piece contains the keyword of a rule for keys with a distinctive
// prefix.
func hasKeyword(piece string) (ok bool) {
	if len(piece) < minPieceLength {
		return false
	}
	rules := ruleSet()
	rules.keywords.eachKeyword(piece, func(h keyword, _ int) {
		r := &rules.ruleList[h.rule]
		ok = ok || (!r.isForAssignments && r.name != genericRuleName && r.name != "password")
	})
	return ok
}

// findDividedKey returns the secret that two pieces form together, and the number of its bytes in the
// second piece. The size is 0 if they do not form a secret, or if the second piece may be an
// ordinary word.
func findDividedKey(first, second string) (f Finding, size int) {
	isWord := strings.Trim(second, "abcdefghijklmnopqrstuvwxyz.-_") == ""
	isAfterWhole := !strings.ContainsAny(second, "0123456789") && findLiteral(first) != nil
	if isWord || isAfterWhole {
		return Finding{}, 0
	}
	for _, f := range findLiteral(first + second) {
		isInBoth := f.Start <= len(first)-minPieceLength && f.End > len(first)
		if isInBoth && f.Rule != genericRuleName {
			return f, f.End - len(first)
		}
	}
	return Finding{}, 0
}
