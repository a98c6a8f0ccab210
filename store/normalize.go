// This file writes and finds entries by normalized names.

package store

import (
	"context"
	"errors"
	"slices"
)

// GetNamed returns the entry of a store that has the name in this spelling or, if there is none,
// in another one. It returns the error of Get if there is none.
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

// Normalize returns the ops as a store gets them: a name is the spelling that the store has or,
// if it has none, the normal form, and new aliases and values of labels are in normal form.
func Normalize(ctx context.Context, s Store, ops []Op) ([]Op, error) {
	normal := make([]Op, len(ops))
	for i, op := range ops {
		normal[i] = normalizeWords(op)
		name := op.Target()
		if isPlainName(name) || len(NameForms(name)) == 1 {
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
		normal[i] = rename(normal[i], name)
	}
	return normal, nil
}

// rename returns the op for the entry with this name.
func rename(op Op, name string) Op {
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

// normalizeWords returns the op with its aliases and the values of its labels in normal form,
// without aliases that are the same name. The op's own name is unchanged: which spelling it
// must have depends on the store.
func normalizeWords(op Op) Op {
	switch op := op.(type) {
	case Add:
		op.Aliases, op.Labels = normalAliases(op.Aliases), normalLabels(op.Labels)
		return op
	case Update:
		op.Aliases, op.Labels = normalAliases(op.Aliases), normalLabels(op.Labels)
		return op
	case Alias:
		op.Aliases = normalAliases(op.Aliases)
		return op
	case Relabel:
		op.Labels = normalLabels(op.Labels)
		return op
	}
	return op
}

// normalAliases returns the aliases in normal form. Repeats of the same spelling stay: the
// op's Check refuses them.
func normalAliases(aliases []string) []string {
	if !slices.ContainsFunc(aliases, func(a string) bool { return NormalName(a) != a }) {
		return aliases
	}
	var normal []string
	for i, a := range aliases {
		n := NormalName(a)
		if (n != a && slices.Contains(normal, n)) || (n == a && slices.ContainsFunc(aliases[:i], func(b string) bool { return b != a && NormalName(b) == a })) {
			continue
		}
		normal = append(normal, n)
	}
	return normal
}

// labelOrigin is the key of the label with the path of the file that an import read.
const labelOrigin = "import"

// normalLabels returns the labels with their values in normal form. Paths of files keep the
// spelling that they have on disk.
func normalLabels(labels []Label) []Label {
	normal := labels
	for i, l := range labels {
		if l.Key == LabelFile || l.Key == LabelFileBlob || l.Key == labelOrigin {
			continue
		}
		if v := NormalName(l.Value); v != l.Value {
			if &normal[0] == &labels[0] {
				normal = slices.Clone(labels)
			}
			normal[i].Value = v
		}
	}
	return normal
}

// NormalEntry returns the entry with its name, its aliases and the values of its labels in
// normal form.
func NormalEntry(e Entry) Entry {
	e.Name = NormalName(e.Name)
	e.Aliases = normalAliases(e.Aliases)
	e.Labels = normalLabels(e.Labels)
	return e
}
