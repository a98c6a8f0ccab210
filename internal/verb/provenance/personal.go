// This file labels entries with the kinds of personal data in their texts, regardless of author.

package provenance

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/personal"
)

// StampPersonal returns the changes with labels for the kinds of personal data that each entry will
// contain. Labels for other kinds are removed. Callers cannot set or remove these labels.
// StampPersonal is part of an [oxbow.Options.Screen].
func StampPersonal(ctx context.Context, store oxbow.Store, ops []oxbow.Op) []oxbow.Op {
	out := make([]oxbow.Op, 0, len(ops))
	staged := map[string]oxbow.Entry{} // entries after the changes so far
	for _, op := range ops {
		name := op.Target()
		old, found := staged[name]
		if !found && needsOld(op) {
			var err error
			old, err = store.Get(ctx, name)
			if err != nil {
				out = append(out, op) // the store reports the error
				continue
			}
		}
		e := op.ApplyTo(old)
		had := e.Labels
		e.Labels = personalLabels(&e)
		staged[name] = e
		out = append(out, withLabels(op, e.Labels))
		if a, ok := op.(oxbow.Alias); ok && !slices.Equal(had, e.Labels) {
			out = append(out, oxbow.Relabel{Name: a.Name, Labels: e.Labels})
		}
	}
	return out
}

// needsOld reports whether the labels after a change depend on the entry before it.
func needsOld(op oxbow.Op) bool {
	switch op.(type) {
	case oxbow.Alias, oxbow.Relabel:
		return true
	}
	return false
}

// withLabels returns the change with other labels, if it is a kind of change that has labels.
func withLabels(op oxbow.Op, labels []oxbow.Label) oxbow.Op {
	switch o := op.(type) {
	case oxbow.Add:
		o.Labels = labels
		return o
	case oxbow.Update:
		o.Labels = labels
		return o
	case oxbow.Relabel:
		o.Labels = labels
		return o
	}
	return op
}

// personalLabels returns the labels of an entry, with labels for its personal data as far as there
// is room.
func personalLabels(e *oxbow.Entry) []oxbow.Label {
	out := slices.DeleteFunc(slices.Clone(e.Labels), oxbow.Label.IsPersonal)
	texts := append([]string{e.Name, e.Content}, e.Aliases...)
	for _, l := range out {
		texts = append(texts, l.Value)
	}
	for _, k := range personal.FindKinds(strings.Join(texts, "\n")) {
		if len(out) < oxbow.MaxLabels {
			out = append(out, oxbow.Label{Key: oxbow.LabelPersonal, Value: string(k)})
		}
	}
	return oxbow.SortLabels(out)
}
