// Taint stamps: what an agent writes in a turn that read what others wrote says so.

package tool

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/session"
)

type callerKey struct{}

// WithCaller returns a context that carries which client's call it is of. A server
// calls it.
func WithCaller(ctx context.Context, c session.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Stamp returns changes as they are applied: those of a call that has a caller, with
// the labels of what tainted it, which of returns. Labels of that key that the
// caller gives are left out, and those that an entry has stay. It is part of an
// [oxbow.Options.Screen].
func Stamp(ctx context.Context, store oxbow.Store, ops []oxbow.Op, of func(context.Context, session.Caller) []string) ([]oxbow.Op, error) {
	caller, ok := ctx.Value(callerKey{}).(session.Caller)
	if !ok {
		return ops, nil
	}
	taints := of(ctx, caller)
	ops = slices.Clone(ops)
	for i, op := range ops {
		switch o := op.(type) {
		case oxbow.Add:
			o.Labels = withTaints(o.Labels, nil, taints)
			ops[i] = o
		case oxbow.Update:
			old, err := store.Get(ctx, o.Name)
			if err != nil {
				continue // the store says why
			}
			o.Labels = withTaints(o.Labels, old.Labels, taints)
			ops[i] = o
		case oxbow.Relabel:
			old, err := store.Get(ctx, o.Name)
			if err != nil {
				continue
			}
			o.Labels = withTaints(o.Labels, old.Labels, taints)
			ops[i] = o
		}
	}
	return ops, nil
}

// withTaints returns the labels with the taints of the old version and the new ones.
func withTaints(labels, old []oxbow.Label, taints []string) []oxbow.Label {
	is := func(l oxbow.Label) bool { return l.Key == session.LabelTaint }
	out := slices.DeleteFunc(slices.Clone(labels), is)
	for _, l := range old {
		if is(l) {
			out = append(out, l)
		}
	}
	for _, t := range taints {
		if l := (oxbow.Label{Key: session.LabelTaint, Value: t}); oxbow.CheckLabel(l) == nil {
			out = append(out, l)
		}
	}
	return oxbow.SortLabels(out)
}
