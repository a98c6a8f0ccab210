// This file says which spellings of a word are one name.

package store

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// NormalName returns a name, an alias or a value of a label in Unicode normal form C, which is
// the form that entries are written with. Keyboards and programs differ in whether "é" is one
// character or a letter and a mark, and people cannot see which.
func NormalName(name string) string { return ucd.Compose(name) }

// NameForms returns the spellings under which a store may have a name, without repeats: as it
// is, in normal form C, and in normal form D. Stores that were written before names were
// normalized may have any of them.
func NameForms(name string) []string {
	forms := []string{name}
	if isPlainName(name) {
		return forms
	}
	for _, form := range []string{ucd.Compose(name), ucd.Decompose(name)} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

// SameName reports whether two names differ at most in their Unicode composition.
func SameName(a, b string) bool {
	if a == b || isPlainName(a) || isPlainName(b) {
		return a == b
	}
	return ucd.Compose(a) == ucd.Compose(b)
}

// isPlainName reports whether a name is ASCII, so that it has one spelling.
func isPlainName(name string) bool {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return false
		}
	}
	return true
}

// containsName reports whether one of the names is the same name; see [SameName].
func containsName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return SameName(n, name) })
}

// AllNameForms returns the [NameForms] of all the names.
func AllNameForms(names []string) []string {
	var forms []string
	for _, n := range names {
		forms = append(forms, NameForms(n)...)
	}
	return forms
}
