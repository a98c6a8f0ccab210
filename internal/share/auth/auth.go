// What a client may see and change.

// Package auth says what a client of a server may see of a memory and change
// in it, and who is such a client: [Permissions], and the [Tokens] that carry them.
// Permissions only ever narrow: what several of them come to is what all of them
// allow.
package auth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
)

// Permissions bound a client. The zero Rights bound nothing.
type Permissions struct {
	ReadOnly bool     // nothing can be changed
	Profile  string   // bound to this memory profile; "" for none
	Projects []string // only entries of one of these projects; nil for all
	Kinds    []string // only entries of one of these kinds; nil for all
}

// Narrow reports whether the rights leave entries out, the profile aside.
func (r Permissions) Narrow() bool { return len(r.Projects) > 0 || len(r.Kinds) > 0 }

// And returns what both allow. The error, which matches [oxbow.ErrInvalid], says
// why that is nothing: two profiles, or lists that have nothing in common.
func (r Permissions) And(o Permissions) (Permissions, error) {
	both := Permissions{ReadOnly: r.ReadOnly || o.ReadOnly, Profile: r.Profile}
	switch {
	case r.Profile == "":
		both.Profile = o.Profile
	case o.Profile != "" && o.Profile != r.Profile:
		return both, &oxbow.InvalidError{Field: "profile", Value: o.Profile, Reason: fmt.Sprintf("is not %q, to which all is bound already", r.Profile)}
	}
	var err error
	both.Projects, err = common("project", r.Projects, o.Projects)
	if err != nil {
		return both, err
	}
	both.Kinds, err = common("kind", r.Kinds, o.Kinds)
	return both, err
}

// common returns what both lists allow, where an empty list allows all.
func common(what string, a, b []string) ([]string, error) {
	if len(a) == 0 || len(b) == 0 {
		return slices.Concat(a, b), nil
	}
	// In the order of the later list: its first is what new entries get.
	both := slices.DeleteFunc(slices.Clone(b), func(s string) bool { return !slices.Contains(a, s) })
	if len(both) == 0 {
		return nil, &oxbow.InvalidError{Field: what, Value: strings.Join(b, ", "), Reason: "is none of those that are allowed already: " + strings.Join(a, ", ")}
	}
	return both, nil
}

// Scope returns the rights, the profile aside, as a scope of that title, to be
// put on top of those below. New entries that name no project get the first of
// the rights' projects that all below allow. With rights that bound nothing, ok
// is false.
func (r Permissions) Scope(title string, below ...scope.Scope) (s scope.Scope, ok bool) {
	if !r.Narrow() && !r.ReadOnly {
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
	return Fit(s, below...), true
}

// Fit returns the scope with such labels of its own, for new entries, as the
// scopes below it allow: where the label itself is not allowed, another of those
// that the scope has a choice of, and none where there is none.
func Fit(s scope.Scope, below ...scope.Scope) scope.Scope {
	var own []oxbow.Label
	for _, l := range s.Own {
		choice := []string{l.Value}
		for _, t := range s.Only {
			if t.Key == l.Key {
				choice = append(choice, t.Values...)
			}
		}
		i := slices.IndexFunc(choice, func(value string) bool {
			return !slices.ContainsFunc(below, func(b scope.Scope) bool { return forbids(b, oxbow.Label{Key: l.Key, Value: value}) })
		})
		if i >= 0 {
			own = append(own, oxbow.Label{Key: l.Key, Value: choice[i]})
		}
	}
	s.Own = own
	return s
}

// forbids reports whether a scope does not let that label be given.
func forbids(s scope.Scope, l oxbow.Label) bool {
	return slices.ContainsFunc(s.Only, func(t oxbow.Term) bool { return t.Key == l.Key && !slices.Contains(t.Values, l.Value) })
}

// String says the rights in words, for people.
func (r Permissions) String() string {
	s := "reads and writes"
	if r.ReadOnly {
		s = "reads"
	}
	var of []string
	if r.Profile != "" {
		of = append(of, fmt.Sprintf("profile %q", r.Profile))
	}
	for _, l := range []struct {
		what   string
		values []string
	}{{"project", r.Projects}, {"kind", r.Kinds}} {
		if len(l.values) > 0 {
			of = append(of, l.what+" "+strings.Join(l.values, " or "))
		}
	}
	if len(of) == 0 {
		return s + " all of the memory"
	}
	return s + " what is of " + strings.Join(of, " and ")
}

// Check reports, as an error matching [oxbow.ErrInvalid], what is wrong with a
// right that names a project or a kind.
func (r Permissions) Check() error {
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
