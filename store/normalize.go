// This file normalizes the names in operations (ops), and finds entries by any spelling of their names.

package store

import (
	"context"
	"errors"
	"slices"
)

// GetNamed returns the entry with exactly this name. Without such an entry, it returns an entry whose name differs
// only in Unicode composition. If that entry does not exist either, it returns the error of Get for the given name.
func GetNamed(ctx context.Context, s Store, name string) (Entry, error) {
	e, err := s.Get(ctx, name)
	if err == nil || !errors.Is(err, ErrNotFound) {
		return e, err
	}
	for _, form := range NameForms(name)[1:] {
		if e, other := s.Get(ctx, form); other == nil || !errors.Is(other, ErrNotFound) {
			return e, other
		}
	}
	return e, err
}

// GetByNameOrAlias returns the entry with this name. If no entry has the name, it searches for entries that have the
// name as an alias. If aliases with exactly this spelling exist, it ignores aliases with another Unicode form of the
// name. If several entries remain, the error is an [AliasError]. If no entry has the name or the alias, the error
// matches [ErrNotFound].
func GetByNameOrAlias(ctx context.Context, s Store, name string) (Entry, error) {
	e, err := GetNamed(ctx, s, name)
	if !errors.Is(err, ErrNotFound) {
		return e, err
	}
	var found, exact []Entry
	for e, err := range s.Entries(ctx, Filter{Terms: []Term{{Key: "name", Values: []string{name}}}}) {
		if err != nil {
			return Entry{}, err
		}
		found = append(found, e)
		if slices.Contains(e.Aliases, name) {
			exact = append(exact, e)
		}
	}
	if len(exact) > 0 {
		found = exact
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		err = &AliasError{Alias: name, Names: []string{found[0].Name, found[1].Name}}
	}
	return Entry{}, err
}

// Normalize returns the ops with names, aliases and label values in normal form. If the store has an entry under
// another spelling of a name, the op gets this spelling.
func Normalize(ctx context.Context, s Store, ops []Op) ([]Op, error) {
	normal := make([]Op, len(ops))
	for i, op := range ops {
		normal[i] = normalizeAliasesAndLabels(op)
		name := op.Target()
		if isASCIIName(name) || len(NameForms(name)) == 1 {
			continue
		}
		switch e, err := GetNamed(ctx, s, name); {
		case err == nil:
			name = e.Name
		case errors.Is(err, ErrNotFound):
			name = NormalName(name)
		default:
			return nil, err
		}
		normal[i] = withEntryName(normal[i], name)
	}
	return normal, nil
}

// withEntryName returns a copy of the op with this entry name.
func withEntryName(op Op, name string) Op {
	switch op := op.(type) {
	case Add:
		op.Name = name
		return op
	case Update:
		op.Name = name
		return op
	case Alias:
		op.Name = name
		return op
	case Relabel:
		op.Name = name
		return op
	case Remove:
		op.Name = name
		return op
	}
	return op
}

// normalizeAliasesAndLabels returns the op with aliases and label values in normal form. If two aliases become equal,
// one is removed. The name of the entry is not changed, because its spelling depends on the store.
func normalizeAliasesAndLabels(op Op) Op {
	switch op := op.(type) {
	case Add:
		if areInNormalForm(op.Aliases, op.Labels) {
			// All words of this op are in normal form. Return the op without copying its aliases and labels, so that a
			// large change needs little memory.
			break
		}
		op.Aliases, op.Labels = normalizeAliases(op.Aliases), normalizeLabels(op.Labels)
		return op
	case Update:
		op.Aliases, op.Labels = normalizeAliases(op.Aliases), normalizeLabels(op.Labels)
		return op
	case Alias:
		op.Aliases = normalizeAliases(op.Aliases)
		return op
	case Relabel:
		op.Labels = normalizeLabels(op.Labels)
		return op
	}
	return op
}

// areInNormalForm reports whether all aliases and label values are in normal form.
func areInNormalForm(aliases []string, labels []Label) bool {
	return !slices.ContainsFunc(aliases, func(a string) bool { return NormalName(a) != a }) &&
		!slices.ContainsFunc(labels, func(l Label) bool { return normalizeLabelValue(l) != l.Value })
}

// normalizeAliases returns the aliases in normal form C. If two different spellings have the same normal form, only the
// first is kept. If an alias that is already in normal form is listed twice, both are kept, because the check of the op
// must find and refuse this mistake.
func normalizeAliases(aliases []string) []string {
	if !slices.ContainsFunc(aliases, func(a string) bool { return NormalName(a) != a }) {
		return aliases
	}
	var normal []string
	for i, a := range aliases {
		if n := NormalName(a); !repeatsAlias(a, n, aliases[:i], normal) {
			normal = append(normal, n)
		}
	}
	return normal
}

// repeatsAlias reports whether the alias is equal to an earlier alias in another spelling. normalForm is the normal
// form of the alias. The argument earlierAliases contains the earlier aliases, and normalAliases contains their normal
// forms.
func repeatsAlias(alias, normalForm string, earlierAliases, normalAliases []string) bool {
	if normalForm != alias {
		return slices.Contains(normalAliases, normalForm)
	}
	return slices.ContainsFunc(earlierAliases, func(b string) bool { return b != alias && NormalName(b) == alias })
}

// labelImportPath is the key of the label that contains an imported file's path.
const labelImportPath = "import"

// normalizeLabels returns the labels with values in normal form.
func normalizeLabels(labels []Label) []Label {
	normal := labels
	for i, l := range labels {
		if v := normalizeLabelValue(l); v != l.Value {
			if &normal[0] == &labels[0] {
				normal = slices.Clone(labels)
			}
			normal[i].Value = v
		}
	}
	return normal
}

// normalizeLabelValue returns the value of the label l in Unicode normal form. The values of the keys LabelFile,
// LabelFileBlob and labelImportPath are returned unchanged, because they name files or origins with their exact
// spelling.
func normalizeLabelValue(l Label) string {
	switch l.Key {
	case LabelFile, LabelFileBlob, labelImportPath:
		return l.Value
	}
	return NormalName(l.Value)
}

// NormalEntry returns the entry with its name, aliases and label values in normal form.
func NormalEntry(e Entry) Entry {
	e.Name = NormalName(e.Name)
	e.Aliases = normalizeAliases(e.Aliases)
	e.Labels = normalizeLabels(e.Labels)
	return e
}
