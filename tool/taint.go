// Trust stamps: what an agent writes in a turn that read what others wrote says so, and
// so does what is shaped like instructions.

package tool

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/instruction"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/session"
)

type callerKey struct{}

// WithCaller returns a context that carries which client's call it is of. A server
// calls it.
func WithCaller(ctx context.Context, c session.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// protected are the keys of labels that put an entry before a model for good. What is
// written after foreign text was read may not have them, nor change what has them.
var protected = []string{profile.LabelPinned, profile.LabelProcess}

// Stamp returns changes as they are applied. Those of a person are as given. Others have
// the labels of what tainted the call, which of returns for its caller, and of what makes
// the text look like instructions. The taints that an entry has stay. It is part of an
// [oxbow.Options.Screen]. Of may be nil.
//
// A tainted change of what is pinned, or is of every process, is refused: the error
// matches [oxbow.ErrInvalid].
func Stamp(ctx context.Context, store oxbow.Store, ops []oxbow.Op, of func(context.Context, session.Caller) []string) ([]oxbow.Op, error) {
	if src, _ := oxbow.SourceFrom(ctx); src.Actor == oxbow.Person {
		return ops, nil
	}
	s := stamper{}
	if caller, ok := ctx.Value(callerKey{}).(session.Caller); ok && of != nil {
		s.taints = of(ctx, caller)
	}
	ops = slices.Clone(ops)
	for i, op := range ops {
		var err error
		switch o := op.(type) {
		case oxbow.Add:
			o.Labels, err = s.labels(o.Name+"\n"+o.Content, o.Aliases, o.Labels, oxbow.Entry{})
			ops[i] = o
		case oxbow.Update:
			old, gerr := store.Get(ctx, o.Name)
			if gerr != nil {
				continue // the store says why
			}
			o.Labels, err = s.labels(o.Name+"\n"+o.Content, o.Aliases, o.Labels, old)
			ops[i] = o
		case oxbow.Relabel:
			old, gerr := store.Get(ctx, o.Name)
			if gerr != nil {
				continue
			}
			o.Labels, err = s.labels(old.Name+"\n"+old.Content, old.Aliases, o.Labels, old)
			ops[i] = o
		default:
			if old, gerr := store.Get(ctx, oxbow.OpName(op)); gerr == nil {
				err = s.mayChange(old.Labels)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return ops, nil
}

// stamper gives labels to what is no person's.
type stamper struct {
	taints []string
}

// labels returns the labels of an entry: those that are given, the taints that its old
// version has and those of the call, and the rules that its texts meet.
func (s *stamper) labels(text string, aliases []string, given []oxbow.Label, old oxbow.Entry) ([]oxbow.Label, error) {
	out := slices.DeleteFunc(slices.Clone(given), func(l oxbow.Label) bool { return l.Key == oxbow.LabelSuspect || l.Key == oxbow.LabelQuarantine })
	if err := s.mayChange(slices.Concat(out, old.Labels)); err != nil {
		return nil, err
	}
	for _, l := range old.Labels {
		if l.Key == oxbow.LabelTaint {
			out = append(out, l)
		}
	}
	add := func(key string, values []string) {
		for _, v := range values {
			if l := (oxbow.Label{Key: key, Value: v}); oxbow.CheckLabel(l) == nil {
				out = append(out, l)
			}
		}
	}
	for _, l := range out {
		aliases = append(slices.Clip(aliases), l.Value)
	}
	add(oxbow.LabelTaint, s.taints)
	shaped := oxbow.LabelSuspect
	if slices.ContainsFunc(out, func(l oxbow.Label) bool { return l.Key == oxbow.LabelTaint }) {
		shaped = oxbow.LabelQuarantine
	}
	add(shaped, instruction.Find(text+"\n"+strings.Join(aliases, "\n")))
	return oxbow.SortLabels(out), nil
}

// mayChange refuses a tainted change of what has one of the labels.
func (s *stamper) mayChange(labels []oxbow.Label) error {
	for _, l := range labels {
		if len(s.taints) > 0 && slices.Contains(protected, l.Key) && l.Value == "true" {
			return Advise(bad("labels", l.String(), "is for what no foreign text had a part in, and this turn has read "+s.taints[0]),
				"write a new note without it, and ask the person, whose next prompt ends this")
		}
	}
	return nil
}
