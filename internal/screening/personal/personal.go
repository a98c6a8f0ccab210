// What personal data is found in a text, and texts without it.

// Package personal finds personal data that its shape gives away: mail addresses,
// telephone numbers, and, by their checksums, account numbers (IBAN) and numbers of
// cards. Names of persons, postal addresses and numbers of national registers, whose
// checksums are too short to tell them from other numbers, are not found.
package personal

import (
	"slices"
	"strings"
)

// Kind is a kind of personal data.
type Kind string

// The kinds.
const (
	mail  Kind = "mail"
	phone Kind = "phone"
	iban  Kind = "iban"
	card  Kind = "card"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{mail, phone, iban, card} }

// Finding is personal data: text[Start:End].
type Finding struct {
	Kind       Kind
	Start, End int
}

// Find returns the personal data of a text, in order; no two overlap. The time it takes
// grows with the length of the text, whatever stands there.
func Find(text string) []Finding {
	found := mails(text)
	n := len(found)
	found = numbers(text, found)
	if n > 0 && n < len(found) {
		found = apart(found)
	}
	return found
}

// apart sorts findings, and leaves out those that begin within another.
func apart(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Start - b.Start })
	end := 0
	return slices.DeleteFunc(found, func(f Finding) bool {
		within := f.Start < end
		end = max(end, f.End)
		return within
	})
}

// FindKinds returns the kinds that a text has data of, sorted.
func FindKinds(text string) []Kind {
	var ks []Kind
	for _, f := range Find(text) {
		if !slices.Contains(ks, f.Kind) {
			ks = append(ks, f.Kind)
		}
	}
	slices.Sort(ks)
	return ks
}

// Mark is what stands for data of a kind in a text without it.
func (k Kind) Mark() string { return "[" + string(k) + "]" }

// Redact returns a text with the mark of its kind for all data of the kinds.
func Redact(text string, kinds []Kind) string {
	if len(kinds) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, f := range Find(text) {
		if slices.Contains(kinds, f.Kind) {
			b.WriteString(text[end:f.Start])
			b.WriteString(f.Kind.Mark())
			end = f.End
		}
	}
	if end == 0 {
		return text
	}
	b.WriteString(text[end:])
	return b.String()
}
