// Finding: one pass for keywords, and the rule of each where it is.

// Package secret finds passwords, keys and tokens in text, and puts marks in their
// place. Its rules are data: those of gitleaks (rules.txt), and keys of memory
// products (own.txt); rules.bin has them compiled. It knows nothing of entries.
//
// What stores text that agents, hooks or transcripts gave calls [Redactor.Redact]
// before anything is written, and before a name is derived from the text:
//
//	r := secret.NewRedactor(home)
//	text, found := r.Redact(text)
//
// One redactor serves a process, and any number of goroutines. It makes the key of
// the home, a file, when it finds its first secret. The same secret has the same
// mark in one home. Text with marks can be redacted again: nothing changes.
package secret

import (
	"cmp"
	"slices"
	"strings"
)

// Finding is a secret in a text: the bytes from Start up to End.
type Finding struct {
	Rule       string
	Start, End int
	order      int // of the rule: of equal findings the first one's is kept
}

// Find returns the secrets in a text, in order; none overlaps another. A mark that
// [Redact] made holds none.
// A secret that is percent-encoded, in base64, in full-width letters, or interrupted by
// characters that nobody sees is found too.
func Find(text string) []Finding {
	found := findPlain(text)
	for _, r := range otherReadings(text) {
		for _, f := range findPlain(r.text) {
			f.Start, f.End = r.original(f.Start, f.End)
			found = append(found, f)
		}
	}
	return disjoint(text, found)
}

// findPlain returns the secrets that a text has in the form in which the rules describe them.
func findPlain(text string) []Finding {
	rules := ruleSet()
	s := search{text: text, rules: rules}
	rules.keywords.each(text, s.keyword)
	return s.found
}

// search is one pass through a text. A rule is tried once at a place at most.
type search struct {
	text  string
	rules *rules
	place []uint16     // of each rule in of, plus 1; 0 before its first keyword
	of    []ruleSearch // of the rules that had a keyword, which in most texts are few
	found []Finding
}

// ruleSearch is what a search knows of a rule.
type ruleSearch struct {
	*matcher
	next int // where the next match may begin
}

// keyword tries a rule around one of its keywords, as Go's regexp finds matches: the
// first one, then what is after it.
func (s *search) keyword(h keyword, start int) {
	r := &s.rules.all[h.rule]
	if r.assigns && !assigned(s.text[start+len(h.word):]) {
		return
	}
	if s.place == nil {
		s.place = make([]uint16, len(s.rules.all))
	}
	place := &s.place[h.rule]
	if *place == 0 {
		s.of = append(s.of, ruleSearch{matcher: &matcher{program: r.program(), text: s.text}})
		*place = uint16(len(s.of))
	}
	rs := &s.of[*place-1]
	last := min(start+r.after, len(s.text))
	for at := max(start-r.before, rs.next); at <= last; at = max(at+1, rs.next) {
		rs.next = at + 1
		if !rs.at(at) {
			continue
		}
		rs.next = max(rs.next, rs.slots[1])
		if f, ok := r.finding(s.text, rs.slots[:rs.groups]); ok {
			s.found = append(s.found, f)
		}
	}
}

// disjoint orders findings, joins those that overlap under the name of the most
// telling rule, and drops those that touch a mark.
func disjoint(text string, found []Finding) []Finding {
	if found == nil {
		return nil
	}
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Or(a.Start-b.Start, b.End-a.End, a.order-b.order) })
	var out []Finding
	marked := markedParts(text)
	for _, f := range found {
		for len(marked) > 0 && marked[0].End <= f.Start {
			marked = marked[1:]
		}
		if len(marked) > 0 && marked[0].Start < f.End {
			continue
		}
		if last := len(out) - 1; last >= 0 && f.Start < out[last].End {
			out[last].End = max(out[last].End, f.End)
			if out[last].Rule == generic {
				out[last].Rule = f.Rule
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

// Marks look like [redacted: RULE #tag], or without a tag where there is no key.
const (
	markBegin = "[redacted: "
	markEnd   = "]"
	maxMark   = 100 // bytes
	tagSize   = 8   // hexadecimal digits
)

// markedParts returns where the marks of a text are.
func markedParts(text string) (at []Finding) {
	for from := 0; ; {
		i := strings.Index(text[from:], markBegin)
		if i < 0 {
			return at
		}
		start := from + i
		from = start + len(markBegin)
		if size := markSize(text[start:]); size > 0 {
			at = append(at, Finding{Start: start, End: start + size})
			from = start + size
		}
	}
}

// markSize returns the bytes of the mark that a text begins with, or 0. A mark
// holds a rule there is, and a tag, so that nothing is hidden in one.
func markSize(text string) int {
	body, _, ok := strings.Cut(text[len(markBegin):min(len(text), maxMark)], markEnd)
	if !ok {
		return 0
	}
	name, tag, tagged := strings.Cut(body, " #")
	if !ruleSet().has(name) || (tagged && (len(tag) != tagSize || strings.Trim(tag, "0123456789abcdef") != "")) {
		return 0
	}
	return len(markBegin) + len(body) + len(markEnd)
}

// maxRounds is how often a text is looked through. A second time finds what a
// first match covered.
const maxRounds = 4

// redact returns the text with a mark in the place of each secret, and what it
// replaced, in places of the text given. Tag returns what equal secrets have in
// common: eight hexadecimal digits, or "" for none.
func redact(text string, tag func(secret string) string) (string, []Finding) {
	var all []Finding
	for range maxRounds {
		found := Find(text)
		if len(found) == 0 {
			break
		}
		if all == nil {
			all = found
		}
		var b strings.Builder
		at := 0
		for _, f := range found {
			b.WriteString(text[at:f.Start] + markBegin + f.Rule)
			if t := tag(text[f.Start:f.End]); t != "" {
				b.WriteString(" #" + t)
			}
			b.WriteString(markEnd)
			at = f.End
		}
		text = b.String() + text[at:]
	}
	return text, all
}
