// This file declares the permissions of a client.

// Package auth identifies a server's client, and determines which entries of a memory the client may read and change.
// [Permissions] describe the operations and data that a client may use. A client gets its permissions with a token
// from [Tokens]. If several permissions are combined, only the operations that all permissions allow are allowed.
package auth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
)

// Permissions restrict the operations and data that a client may use. The zero Permissions allow everything.
type Permissions struct {
	ReadOnly bool     // the client cannot change anything
	Profile  string   // memory profile that restricts the client ("" without a profile)
	Projects []string // projects of the permitted entries (empty if all projects are permitted)
	Kinds    []string // kinds of the permitted entries (empty if all kinds are permitted)
}

// AreLimited reports whether the permissions exclude some projects or kinds.
func (r Permissions) AreLimited() bool { return len(r.Projects) > 0 || len(r.Kinds) > 0 }

// Intersect returns permissions that allow only the operations that both r and other allow. If r and other have
// different profiles, or if their lists of projects or kinds lack a common element, Intersect returns an error that
// matches [oxbow.ErrInvalid].
func (r Permissions) Intersect(other Permissions) (Permissions, error) {
	combined := Permissions{ReadOnly: r.ReadOnly || other.ReadOnly, Profile: r.Profile}
	switch {
	case r.Profile == "":
		combined.Profile = other.Profile
	case other.Profile != "" && other.Profile != r.Profile:
		return combined, &oxbow.InvalidError{
			Field:  "profile",
			Value:  other.Profile,
			Reason: fmt.Sprintf("is not %q, to which all is bound already", r.Profile),
		}
	}
	var err error
	combined.Projects, err = intersectLists("project", r.Projects, other.Projects)
	if err != nil {
		return combined, err
	}
	combined.Kinds, err = intersectLists("kind", r.Kinds, other.Kinds)
	return combined, err
}

// intersectLists returns the elements that both lists allow. An empty list allows everything. Therefore, if a is empty,
// the result is b, and if b is empty, the result is a. If the lists have no common element, the error is an
// [oxbow.InvalidError] with the field listName.
func intersectLists(listName string, a, b []string) ([]string, error) {
	if len(a) == 0 || len(b) == 0 {
		return slices.Concat(a, b), nil
	}
	// Keep the order of b, because a new entry gets the result's first element, for example as its project.
	common := slices.DeleteFunc(slices.Clone(b), func(s string) bool { return !slices.Contains(a, s) })
	if len(common) == 0 {
		return nil, &oxbow.InvalidError{
			Field:  listName,
			Value:  strings.Join(b, ", "),
			Reason: "is none of those that are allowed already: " + strings.Join(a, ", "),
		}
	}
	return common, nil
}

// Scope returns a scope with the given title that restricts a memory to what the permissions allow. ok is false if the
// permissions restrict nothing. Scope ignores the profile of the permissions.
//
// The argument otherScopes lists the scopes that restrict the memory in addition to the returned scope. A new entry
// without a project gets the first permitted project that all these scopes allow as well.
func (r Permissions) Scope(title string, otherScopes ...scope.Scope) (s scope.Scope, ok bool) {
	if !r.AreLimited() && !r.ReadOnly {
		return scope.Scope{}, false
	}
	s = scope.Scope{Title: title, ReadOnly: r.ReadOnly}
	var f oxbow.Filter
	if len(r.Projects) > 0 {
		t := oxbow.Term{Key: oxbow.LabelProject, Values: r.Projects}
		f.Terms = append(f.Terms, t)
		s.Only = []oxbow.Term{t}
		s.Own = []oxbow.Label{{Key: oxbow.LabelProject, Value: r.Projects[0]}}
	}
	if len(r.Kinds) > 0 {
		f.Terms = append(f.Terms, oxbow.Term{Key: "kind", Values: r.Kinds})
	}
	s.Any = []oxbow.Filter{f}
	return FitAddedLabelsToScopes(s, otherScopes...), true
}

// FitAddedLabelsToScopes returns a copy of the scope s whose labels for new entries (the field Own) are allowed by all
// scopes in otherScopes. If one of these scopes forbids a label, the label gets another value that s.Only and all the
// other scopes allow. If there is no such value, the label is removed.
func FitAddedLabelsToScopes(s scope.Scope, otherScopes ...scope.Scope) scope.Scope {
	var label []oxbow.Label
	for _, l := range s.Own {
		choice := []string{l.Value}
		for _, t := range s.Only {
			if t.Key == l.Key {
				choice = append(choice, t.Values...)
			}
		}
		i := slices.IndexFunc(choice, func(value string) bool {
			return !slices.ContainsFunc(otherScopes, func(b scope.Scope) bool {
				return forbidsLabel(b, oxbow.Label{Key: l.Key, Value: value})
			})
		})
		if i >= 0 {
			label = append(label, oxbow.Label{Key: l.Key, Value: choice[i]})
		}
	}
	s.Own = label
	return s
}

// forbidsLabel reports whether a scope does not allow entries to have the label.
func forbidsLabel(s scope.Scope, l oxbow.Label) bool {
	return slices.ContainsFunc(s.Only, func(t oxbow.Term) bool {
		return t.Key == l.Key && !slices.Contains(t.Values, l.Value)
	})
}

// String returns a description of the permissions in words.
func (r Permissions) String() string {
	s := "reads and writes"
	if r.ReadOnly {
		s = "reads"
	}
	var parts []string
	if r.Profile != "" {
		parts = append(parts, fmt.Sprintf("profile %q", r.Profile))
	}
	for _, l := range []struct {
		what   string
		values []string
	}{{"project", r.Projects}, {"kind", r.Kinds}} {
		if len(l.values) > 0 {
			parts = append(parts, l.what+" "+strings.Join(l.values, " or "))
		}
	}
	if len(parts) == 0 {
		return s + " all of the memory"
	}
	return s + " what is of " + strings.Join(parts, " and ")
}

// CheckProjectsAndKinds returns an error if a project or kind is not valid. The error matches [oxbow.ErrInvalid].
func (r Permissions) CheckProjectsAndKinds() error {
	for _, p := range r.Projects {
		if err := (oxbow.Label{Key: oxbow.LabelProject, Value: p}).Check(); err != nil {
			return err
		}
	}
	for _, k := range r.Kinds {
		if _, err := oxbow.ParseKind(k); err != nil {
			return err
		}
	}
	return nil
}
