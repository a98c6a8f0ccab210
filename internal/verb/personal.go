// Labels of personal data: what an entry holds, whoever wrote it.

package verb

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/personal"
)

// StampPersonal returns changes as they are applied: with labels of the kinds of
// personal data that an entry then holds, and without those of others. No caller gives
// or takes these labels. It is part of an [oxbow.Options.Screen].
func StampPersonal(ctx context.Context, store oxbow.Store, ops []oxbow.Op) []oxbow.Op {
	out := make([]oxbow.Op, 0, len(ops))
	staged := map[string]oxbow.Entry{} // as the changes before leave them
	for _, op := range ops {
		name := op.Target()
		old, found := staged[name]
		if !found && needsOld(op) {
			var err error
			old, err = store.Get(ctx, name)
			if err != nil {
				out = append(out, op) // the store says why
				continue
			}
		}
		e := afterOp(op, old)
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

// withLabels returns a change that gives labels with those labels.
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

// afterOp returns what a change makes of an entry, as far as labels depend on it.
func afterOp(op oxbow.Op, old oxbow.Entry) oxbow.Entry {
	e := old
	switch o := op.(type) {
	case oxbow.Add:
		e = oxbow.Entry{Name: o.Name, Content: o.Content, Aliases: o.Aliases, Labels: o.Labels}
	case oxbow.Update:
		e = oxbow.Entry{Name: o.Name, Content: o.Content, Aliases: o.Aliases, Labels: o.Labels}
	case oxbow.Relabel:
		e.Labels = o.Labels
	case oxbow.Alias:
		e.Aliases = o.Aliases
	}
	return e
}

// personalLabels returns the labels of an entry with those of the personal data that it
// holds, as far as there is room.
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
