// Package scope presents a part of a store as a separate store.
package scope

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// A Scope selects a part of a store. A store that [New] or [Within] restricts to a scope behaves as if it had no other
// entries. Only entries in the scope are found, counted or named, and only their history can be read, undone or
// restored. If a scope is applied to a store that already has a scope, both restrictions apply.
//
// The zero Scope selects no entries.
type Scope struct {
	Title   string // name of the scope in error messages, such as `profile "vtt"`
	Profile string // name of the profile that is recorded with changes (see [oxbow.Source].Profile), or ""
	// An entry is in the scope if it matches one of the filters in Any. The zero filter matches all entries.
	Any []oxbow.Filter
	// An entry is in the scope even without a matching filter if its name is listed here. Aliases are ignored.
	Names  []string
	Shared []oxbow.Filter // An entry that matches one of these filters is in the scope, but read-only.
	Except []oxbow.Filter // An entry is not in the scope if it matches one of these filters.

	// Own contains labels that new entries get, unless the entry has another label with the same key. Callers cannot
	// remove these labels. An update keeps these labels, and an [oxbow.Relabel] without them fails.
	Own []oxbow.Label
	// The list Only restricts which labels may be added. If a term in Only has a new label's key, the label's value
	// must be one of the term's values. A term without values forbids its key. An entry may keep the labels that it
	// already has.
	Only []oxbow.Term

	// Redact lists the kinds of personal data that are hidden. All texts are shown with a mark, such as [mail], in
	// place of the data. The store keeps the data, even if a text with marks is written back.
	Redact []string

	ReadOnly bool // no entry may be changed or added
}

// Sees reports whether the entry is in the scope.
func (s *Scope) Sees(e *oxbow.Entry) bool {
	if anyFilterMatches(s.Except, e) {
		return false
	}
	return anyFilterMatches(s.Any, e) || slices.Contains(s.Names, e.Name) || anyFilterMatches(s.Shared, e)
}

// IsAll reports whether every possible entry is in the scope.
func (s *Scope) IsAll() bool {
	return len(s.Except) == 0 && slices.ContainsFunc(s.Any, oxbow.Filter.IsZero)
}

// HeadNeeds specifies which data of an entry [Scope.Sees] examines: the label keys and names that the filters of s use,
// and the names in s.Names. A caller that lists entries without their contents must request these data.
func (s *Scope) HeadNeeds() (a heads.Needs) {
	for _, f := range slices.Concat(s.Any, s.Shared, s.Except) {
		a.AddFilter(f)
	}
	a.Names = append(a.Names, s.Names...)
	return a
}

func anyFilterMatches(filters []oxbow.Filter, e *oxbow.Entry) bool {
	return slices.ContainsFunc(filters, func(f oxbow.Filter) bool { return f.Match(e) })
}

// checkChangeAllowed returns an error if the entry e is shared with others, because the scope does not allow changes of
// shared entries.
func (s *Scope) checkChangeAllowed(e *oxbow.Entry) error {
	if anyFilterMatches(s.Shared, e) {
		return invalidError("entry", e.Name, "is shared with others and cannot be changed within "+s.displayTitle())
	}
	return nil
}

// checkNewState returns an error if the scope does not allow writing entry e. old is the present version, or nil if e
// is new.
func (s *Scope) checkNewState(e, old *oxbow.Entry) error {
	if err := s.checkLabels(e, old); err != nil {
		return err
	}
	for _, f := range s.Except {
		if f.Match(e) {
			return invalidError(
				"entry",
				e.Name,
				"would be outside of "+s.displayTitle()+", which leaves out "+f.Brief(),
			)
		}
	}
	if anyFilterMatches(s.Shared, e) {
		return invalidError(
			"entry",
			e.Name,
			"would be shared with others, which cannot be done within "+s.displayTitle(),
		)
	}
	if s.Sees(e) {
		return nil
	}
	reason := "would be outside of " + s.displayTitle()
	for i, f := range s.Any {
		reason += []string{", which holds ", " or "}[min(i, 1)] + f.Brief()
	}
	return invalidError("entry", e.Name, reason)
}

// checkLabels returns an error if the scope does not allow a label of the entry e. The argument old is the version of
// the entry before the change, or nil for a new entry. A label that old already has is always allowed.
func (s *Scope) checkLabels(e, old *oxbow.Entry) error {
	for _, t := range s.Only {
		for _, l := range e.Labels {
			if l.Key != t.Key || slices.Contains(t.Values, l.Value) {
				continue
			}
			if old != nil && slices.Contains(old.Labels, l) {
				continue // The entry already has this label, so it may keep it.
			}
			reason := "cannot be given within " + s.displayTitle()
			if len(t.Values) > 0 {
				reason += ", only " + strings.Join(t.Values, ", ")
			}
			return invalidError("label "+l.Key, text.TruncateWithEllipsis(l.Value, 40), reason)
		}
	}
	return nil
}

// addRequiredLabels returns a copy of ls with the labels that the scope requires (s.Own), and sorts the result. If ls
// already contains a label with the same key as a required label, addRequiredLabels adds nothing for this key.
// Otherwise it adds the required label if the entry is new, or the labels with this key that the existing entry has.
// The argument old is the present version of the entry, or nil for a new entry.
func (s *Scope) addRequiredLabels(ls []oxbow.Label, old *oxbow.Entry) []oxbow.Label {
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

// checkOwnLabelsKept returns an error if a change would remove a label key that the scope requires. The argument ls
// contains the labels that the entry will have, and old is the entry before the change. For each label in s.Own, the
// check fails if old has a label with the same key and ls has none. A different value is allowed.
func (s *Scope) checkOwnLabelsKept(ls []oxbow.Label, old *oxbow.Entry) error {
	for _, own := range s.Own {
		has := func(l oxbow.Label) bool { return l.Key == own.Key }
		if i := slices.IndexFunc(old.Labels, has); i >= 0 && !slices.ContainsFunc(ls, has) {
			return invalidError(
				"label "+own.Key,
				text.TruncateWithEllipsis(old.Labels[i].Value, 40),
				"cannot be removed within "+s.displayTitle()+
					", which gives it",
			)
		}
	}
	return nil
}

func (s *Scope) displayTitle() string {
	if s.Title == "" {
		return "this scope"
	}
	return s.Title
}

func invalidError(field, value, reason string) error {
	return &oxbow.InvalidError{Field: field, Value: value, Reason: reason}
}
