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
	kindMail        Kind = "mail"
	kindIBAN        Kind = "iban"
	kindPaymentCard Kind = "card"
)

// AllKinds returns all kinds.
func AllKinds() []Kind { return []Kind{kindMail, kindIBAN, kindPaymentCard} }

// A Finding is a piece of personal data at text[StartOffset:EndOffset].
type Finding struct {
	Kind                   Kind
	StartOffset, EndOffset int
}

// FindPersonalData returns the personal data in a text in order of position. The findings do not overlap.
// FindPersonalData's running time is proportional to the length of the text, for texts with any content.
func FindPersonalData(text string) []Finding {
	found := findMailAddresses(text)
	n := len(found)
	found = findAccountNumbers(text, found)
	if n > 0 && n < len(found) {
		found = removeOverlappingFindings(found)
	}
	return found
}

// removeOverlappingFindings sorts the findings and removes each finding that begins inside an earlier finding.
func removeOverlappingFindings(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int { return a.StartOffset - b.StartOffset })
	end := 0
	return slices.DeleteFunc(findings, func(f Finding) bool {
		isInside := f.StartOffset < end
		end = max(end, f.EndOffset)
		return isInside
	})
}

// FindKinds returns the kinds of the personal data in a text, sorted and without duplicates.
func FindKinds(text string) []Kind {
	var ks []Kind
	for _, f := range FindPersonalData(text) {
		if !slices.Contains(ks, f.Kind) {
			ks = append(ks, f.Kind)
		}
	}
	slices.Sort(ks)
	return ks
}

// ReplacementText returns the text that replaces personal data of the kind.
func (k Kind) ReplacementText() string { return "[" + string(k) + "]" }

// Redact replaces all personal data of the given kinds in a text by marks, such as [mail]. Other personal data stay in
// the text.
func Redact(text string, kinds []Kind) string {
	if len(kinds) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, f := range FindPersonalData(text) {
		if slices.Contains(kinds, f.Kind) {
			b.WriteString(text[end:f.StartOffset])
			b.WriteString(f.Kind.ReplacementText())
			end = f.EndOffset
		}
	}
	if end == 0 {
		return text
	}
	b.WriteString(text[end:])
	return b.String()
}
