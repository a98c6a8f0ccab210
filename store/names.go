// This file compares names that may differ in their Unicode composition.

package store

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// NormalName returns a name, an alias or a label value in Unicode normal form C, in which
// entries are stored. Programs differ in whether they write "é" as a single character or
// as a letter and a combining mark, and users cannot see the difference.
func NormalName(name string) string { return ucd.ToNFC(name) }

// NameForms returns the spellings under which a store may contain a name: the given spelling, normal form C and normal
// form D (Unicode), without duplicates. Old stores may contain any of these spellings, because names were not always
// normalized before they were stored.
func NameForms(name string) []string {
	forms := []string{name}
	if isASCIIName(name) {
		return forms
	}
	for _, form := range []string{ucd.ToNFC(name), ucd.ToNFD(name)} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

// SameName reports whether two names are equal except for their Unicode composition.
func SameName(a, b string) bool {
	if a == b {
		return true
	}
	if isASCIIName(a) || isASCIIName(b) {
		return false
	}
	return ucd.ToNFC(a) == ucd.ToNFC(b)
}

// isASCIIName reports whether a name is ASCII and therefore has a single
// spelling.
func isASCIIName(name string) bool {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return false
		}
	}
	return true
}

// containsName reports whether names contains the name, in any Unicode composition.
func containsName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return SameName(n, name) })
}

// AllNameForms returns the [NameForms] of each name in one list.
func AllNameForms(names []string) []string {
	var forms []string
	for _, n := range names {
		forms = append(forms, NameForms(n)...)
	}
	return forms
}
