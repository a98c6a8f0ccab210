// This file finds probable mistakes in a profile.

package profile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Lint returns warnings about a profile. It warns about the following problems:
//
//   - labels, kinds, files or names that do not occur in the memory
//   - values that are both included and excluded
//   - a list include that selects no entry
//   - a profile that selects no entry
//   - documents that are missing
//   - documents that exceed the budget
//
// If the entries cannot be read, Lint returns an error.
func (s *Set) Lint(ctx context.Context, m *oxbow.Memory, r *Resolved) (Diagnostics, error) {
	l := &linter{resolvedProfile: r, valuesByKey: map[string]map[string]bool{"kind": {}, "name": {}}}
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, err
		}
		l.entries = append(l.entries, e)
		l.valuesByKey["kind"][e.Kind.String()] = true
		l.valuesByKey["name"][e.Name] = true
		for _, lab := range e.Labels {
			if l.valuesByKey[lab.Key] == nil {
				l.valuesByKey[lab.Key] = map[string]bool{}
			}
			l.valuesByKey[lab.Key][lab.Value] = true
		}
	}
	for _, p := range r.parts {
		l.profile = p
		l.warnUnusedValues("include", p.Include)
		l.warnUnusedValues("exclude", p.Exclude)
		l.checkInclude(p.Include)
	}
	l.profile = r.parts[len(r.parts)-1]
	l.warnContradictions()
	scope := r.Scope()
	if n := len(l.entries); n > 0 && !slices.ContainsFunc(l.entries, func(e oxbow.Entry) bool {
		return scope.Sees(&e)
	}) {
		l.addWarning("include", "none of the %d entries is inside: the selection is empty", n)
	}
	b, err := s.Count(ctx, m, r)
	if err != nil {
		return nil, err
	}
	l.warnBudgetProblems(b)
	return l.diagnostics, nil
}

type linter struct {
	resolvedProfile *Resolved
	profile         *Profile // the profile in the file that is being examined
	entries         []oxbow.Entry
	// values in the entries, by label key (and kinds and names, by "kind" and "name")
	valuesByKey map[string]map[string]bool
	diagnostics Diagnostics
}

// addWarning adds a warning about a value. The parameter valuePath specifies the value, such as
// "include.tags.decision", and determines the line of the warning.
func (l *linter) addWarning(valuePath, format string, args ...any) {
	l.diagnostics = append(
		l.diagnostics,
		Diagnostic{File: l.profile.File, Line: l.profile.lineNumbers[valuePath], Text: fmt.Sprintf(format, args...)},
	)
}

// listsInChoice returns the lists of a choice. Each list has its name in the profile and the corresponding key in
// filters.
func listsInChoice(c *Choice) []struct {
	key, label string
	values     []string
} {
	return []struct {
		key, label string
		values     []string
	}{
		{"projects", oxbow.LabelProject, c.Projects}, {"tags", oxbow.LabelTag, c.Tags}, {"kinds", "kind", c.Kinds},
		{"related_files", oxbow.LabelFile, c.RelatedFiles}, {"entries", "name", c.Entries},
	}
}

func (l *linter) warnUnusedValues(location string, c *Choice) {
	if c == nil || len(l.entries) == 0 {
		return
	}
	for _, list := range listsInChoice(c) {
		for _, v := range list.values {
			if l.valuesByKey[list.label][v] {
				continue
			}
			what := "no entry has " + oxbow.Label{Key: list.label, Value: v}.String()
			if list.label == "name" {
				what = fmt.Sprintf("there is no entry %q", v)
			}
			if near := text.FindSimilar(v, iterateKeys(l.valuesByKey[list.label]), 1); len(near) > 0 {
				what += "; did you mean " + near[0] + "?"
			}
			l.addWarning(location+"."+list.key+"."+v, "%s", what)
		}
	}
}

func iterateKeys(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// checkInclude adds a warning if no entry meets all conditions in the include section of a profile. The warning says
// how many entries meet each condition.
func (l *linter) checkInclude(c *Choice) {
	if c == nil || len(l.entries) == 0 {
		return
	}
	f, any := c.asOneFilter()
	if !any {
		return
	}
	count := func(f oxbow.Filter) (n int) {
		for i := range l.entries {
			if f.Match(&l.entries[i]) {
				n++
			}
		}
		return n
	}
	if count(f) > 0 {
		return
	}
	var parts []string
	for _, g := range c.splitFilters() {
		parts = append(parts, fmt.Sprintf("%s fits %d", g, count(g)))
	}
	l.addWarning("include", "no entry fits all lines of include: %s", strings.Join(parts, ", "))
}

// warnContradictions adds a warning for each name or value that the profile both includes and excludes. The inclusion
// and the exclusion may be in the profile's own file or in the file of a profile that it extends. It also warns about
// an entry that is included by name but excluded by a filter.
func (l *linter) warnContradictions() {
	for _, p := range l.resolvedProfile.parts {
		if p.Include == nil {
			continue
		}
		for i, in := range listsInChoice(p.Include) {
			for _, v := range in.values {
				for _, q := range l.resolvedProfile.parts {
					if q.Exclude != nil && slices.Contains(listsInChoice(q.Exclude)[i].values, v) {
						l.profile = p
						l.addWarning(
							"include."+in.key+"."+v,
							"%s %q is included here and left out in %s:%d; leaving out wins",
							strings.TrimSuffix(in.key, "s"),
							v,
							q.File,
							q.lineNumbers["exclude."+in.key+"."+v],
						)
					}
				}
			}
		}
		for _, name := range p.Include.Entries {
			i := slices.IndexFunc(l.entries, func(e oxbow.Entry) bool { return e.Name == name })
			if i < 0 {
				continue
			}
			for _, q := range l.resolvedProfile.parts {
				if q.Exclude == nil {
					continue
				}
				for _, f := range q.Exclude.splitFilters() {
					if f.Match(&l.entries[i]) {
						l.profile = p
						l.addWarning(
							"include.entries."+name,
							"entry %q is named here, but %s leaves out %s",
							name,
							q.File,
							f,
						)
					}
				}
			}
		}
	}
	l.profile = l.resolvedProfile.parts[len(l.resolvedProfile.parts)-1]
}

func (l *linter) warnBudgetProblems(b Budget) {
	for _, d := range b.Documents {
		if d.Wrong == "" {
			continue
		}
		at := "always_include"
		for _, doc := range l.resolvedProfile.Documents {
			if strings.HasSuffix(d.Path, doc.Path) && l.profile.lineNumbers["always_include."+doc.Path] > 0 {
				at = "always_include." + doc.Path
			}
		}
		l.addWarning(at, "%s cannot be included: %s", d.Path, d.Wrong)
	}
	room := prompt.MaxEstimateWithinBudget(b.MaxTokens)
	switch {
	case b.Fixed > room:
		l.addWarning(
			"max_tokens",
			"what is always included takes about %d tokens, more than the %d that surely fit into max_tokens %d",
			b.Fixed,
			room,
			b.MaxTokens,
		)
	case 2*b.Fixed > room && b.Entries > 0:
		l.addWarning(
			"max_tokens",
			"what is always included takes about %d of the %d tokens that surely fit into max_tokens %d: less than "+
				"half is left for memory",
			b.Fixed,
			room,
			b.MaxTokens,
		)
	}
}
