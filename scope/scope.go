// Package scope shows a part of a store as a store of its own.
package scope

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// A Scope is a part of a store. A store bound to one, by [New] or [Within],
// answers as if there were nothing else: entries outside are neither found,
// counted nor named, and their past cannot be seen, undone or restored. A
// narrower scope may be put on top of another; both hold then.
//
// The zero Scope selects nothing.
type Scope struct {
	Title   string         // what errors call it, such as `profile "vtt"`
	Profile string         // stamped on what is written, as [oxbow.Source].Profile; "" stamps nothing
	Any     []oxbow.Filter // an entry is inside when one of these selects it; the zero filter selects all
	Names   []string       // or when it has one of these names; aliases do not count
	Shared  []oxbow.Filter // or when one of these selects it, and then it cannot be changed here
	Except  []oxbow.Filter // and none of these does

	// Own labels are given to what is added without a label of that key, and
	// are not taken off here: an update keeps them, a [oxbow.Relabel] without
	// them is refused.
	Own []oxbow.Label
	// Only bounds the labels that may be given here: under the key of a term,
	// one of its values, none when it has none. What an entry has, it keeps.
	Only []oxbow.Term

	// Redact are kinds of personal data that are not shown: their marks, such as
	// [mail], stand in all texts. The store keeps what they stand for, also when what
	// was shown is written back.
	Redact []string

	ReadOnly bool // nothing can be changed
}

// Sees reports whether the entry is inside.
func (s *Scope) Sees(e *oxbow.Entry) bool {
	if selects(s.Except, e) {
		return false
	}
	return selects(s.Any, e) || slices.Contains(s.Names, e.Name) || selects(s.Shared, e)
}

// IsAll reports whether all entries are inside, whatever they are.
func (s *Scope) IsAll() bool {
	return len(s.Except) == 0 && slices.ContainsFunc(s.Any, oxbow.Filter.IsZero)
}

// Asked returns what Sees reads of an entry.
func (s *Scope) Asked() (a heads.Asked) {
	for _, f := range slices.Concat(s.Any, s.Shared, s.Except) {
		a.Of(f)
	}
	a.Names = append(a.Names, s.Names...)
	return a
}

func selects(fs []oxbow.Filter, e *oxbow.Entry) bool {
	return slices.ContainsFunc(fs, func(f oxbow.Filter) bool { return f.Match(e) })
}

// mayChange reports, as an error, why an entry inside cannot be changed.
func (s *Scope) mayChange(e *oxbow.Entry) error {
	if selects(s.Shared, e) {
		return invalid("entry", e.Name, "is shared with others and cannot be changed within "+s.title())
	}
	return nil
}

// mayBecome reports why an entry cannot be written as it is: old is what it was
// before, nil when there was none.
func (s *Scope) mayBecome(e, old *oxbow.Entry) error {
	if err := s.mayLabel(e, old); err != nil {
		return err
	}
	for _, f := range s.Except {
		if f.Match(e) {
			return invalid("entry", e.Name, "would be outside of "+s.title()+", which leaves out "+f.Brief())
		}
	}
	if selects(s.Shared, e) {
		return invalid("entry", e.Name, "would be shared with others, which cannot be done within "+s.title())
	}
	if s.Sees(e) {
		return nil
	}
	reason := "would be outside of " + s.title()
	for i, f := range s.Any {
		reason += []string{", which holds ", " or "}[min(i, 1)] + f.Brief()
	}
	return invalid("entry", e.Name, reason)
}

// mayLabel reports why an entry cannot have its labels.
func (s *Scope) mayLabel(e, old *oxbow.Entry) error {
	for _, t := range s.Only {
		for _, l := range e.Labels {
			if l.Key != t.Key || slices.Contains(t.Values, l.Value) || (old != nil && slices.Contains(old.Labels, l)) {
				continue
			}
			reason := "cannot be given within " + s.title()
			if len(t.Values) > 0 {
				reason += ", only " + strings.Join(t.Values, ", ")
			}
			return invalid("label "+l.Key, text.Clip(l.Value, 40), reason)
		}
	}
	return nil
}

// labels returns what is written when ls are given to an entry that was old,
// nil for a new one.
func (s *Scope) labels(ls []oxbow.Label, old *oxbow.Entry) []oxbow.Label {
	ls = slices.Clone(ls)
	for _, own := range s.Own {
		if slices.ContainsFunc(ls, func(l oxbow.Label) bool { return l.Key == own.Key }) {
			continue
		}
		if old == nil {
			ls = append(ls, own)
			continue
		}
		for _, v := range old.Values(own.Key) {
			ls = append(ls, oxbow.Label{Key: own.Key, Value: v})
		}
	}
	return oxbow.SortLabels(ls)
}

// keepsOwn reports why an entry cannot have ls as its labels, where these lack one that
// the scope gives.
func (s *Scope) keepsOwn(ls []oxbow.Label, old *oxbow.Entry) error {
	for _, own := range s.Own {
		has := func(l oxbow.Label) bool { return l.Key == own.Key }
		if i := slices.IndexFunc(old.Labels, has); i >= 0 && !slices.ContainsFunc(ls, has) {
			return invalid("label "+own.Key, text.Clip(old.Labels[i].Value, 40), "cannot be removed within "+s.title()+", which gives it")
		}
	}
	return nil
}

func (s *Scope) title() string {
	if s.Title == "" {
		return "this scope"
	}
	return s.Title
}

func invalid(field, value, reason string) error {
	return &oxbow.InvalidError{Field: field, Value: value, Reason: reason}
}
