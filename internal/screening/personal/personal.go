// This file finds and redacts personal data in texts.

// Package personal finds mail addresses, bank account numbers (IBAN) and card numbers. It does not
// find names of persons, postal addresses, telephone numbers and national identification numbers. A
// telephone number looks like many other numbers, and the checksums of identification numbers are
// too short to distinguish them from other numbers.
package personal

import (
	"slices"
	"strings"
)

// Kind is a kind of personal data.
type Kind string

// These are all kinds of personal data.
const (
	kindMail Kind = "mail"
	kindIBAN Kind = "iban"
	kindCard Kind = "card"
)

// AllKinds returns all kinds.
func AllKinds() []Kind { return []Kind{kindMail, kindIBAN, kindCard} }

// A Finding is a piece of personal data at text[Start:End].
type Finding struct {
	Kind       Kind
	Start, End int
}

// Find returns the personal data in a text in order of position. The findings do not overlap. Find's running time is
// proportional to the length of the text, for texts with any content.
func Find(text string) []Finding {
	found := findMailAddresses(text)
	n := len(found)
	found = findNumbers(text, found)
	if n > 0 && n < len(found) {
		found = dropOverlaps(found)
	}
	return found
}

// dropOverlaps sorts the findings and removes each finding that begins inside an earlier finding.
func dropOverlaps(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Start - b.Start })
	end := 0
	return slices.DeleteFunc(found, func(f Finding) bool {
		isInside := f.Start < end
		end = max(end, f.End)
		return isInside
	})
}

// FindKinds returns the kinds of the personal data in a text, sorted and without duplicates.
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

// ReplacementText returns the text that replaces personal data of the kind.
func (k Kind) ReplacementText() string { return "[" + string(k) + "]" }

// Redact replaces all personal data of the given kinds in a text by marks.
func Redact(text string, kinds []Kind) string {
	if len(kinds) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, f := range Find(text) {
		if slices.Contains(kinds, f.Kind) {
			b.WriteString(text[end:f.Start])
			b.WriteString(f.Kind.ReplacementText())
			end = f.End
		}
	}
	if end == 0 {
		return text
	}
	b.WriteString(text[end:])
	return b.String()
}
