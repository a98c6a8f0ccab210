// What a profile is, and what it comes to with all that it
// extends.

package profile

import (
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/scope"
)

// The labels that profiles give a meaning to.
const (
	LabelProcess = "process" // process:true, an entry that belongs to every profile
	LabelPinned  = "pinned"  // pinned:true, an entry that ranks first
	LabelCovered = "covered" // covered:true, an entry that a shorter one tells again; it ranks last
	LabelDigest  = "digest"  // digest:true, an entry that tells others again, in fewer words
	LabelProfile = "profile" // profile:NAME, the profile through which an entry was written
)

// DefaultMaxTokens is the budget of a profile that names none.
const DefaultMaxTokens = 30000

// maxMaxTokens is the largest budget that can be written.
const maxMaxTokens = 10_000_000

// identity is what is always included unless a profile says otherwise.
var identity = []string{"SOUL.md", "MEMORY.md"}

// Identity returns the names of the documents that a profile includes if it names none.
func Identity() []string { return slices.Clone(identity) }

// Profile is one file, as written.
type Profile struct {
	Name        string
	Description string
	Extends     []string
	Include     *Choice  // nil when there is none
	Exclude     *Choice  // nil when there is none
	Always      []string // documents, slash-separated paths; nil when not written
	MaxTokens   int      // 0 when not written
	Process     *bool    // nil when not written
	Redact      []string // kinds of personal data that are not shown

	File    string // where it is from, as people know it
	Project bool   // it is the project's, not the user's own

	place int            // of the set it is from
	lines map[string]int // where a value stands, by "include.tags.decision"
}

// Choice selects entries by what they carry. Each list holds alternatives; nil
// means any.
type Choice struct {
	Projects     []string
	Tags         []string
	Kinds        []string
	RelatedFiles []string
	Entries      []string  // names
	From, To     time.Time // created at From or later, and before To; zero for an open side
}

// filter returns the conditions but Entries as one filter, and whether there
// are any.
func (c *Choice) filter() (oxbow.Filter, bool) {
	fs := c.filters()
	var f oxbow.Filter
	for _, g := range fs {
		f = f.And(g)
	}
	return f, len(fs) > 0
}

// filters returns the conditions but Entries, each as a filter.
func (c *Choice) filters() []oxbow.Filter {
	var fs []oxbow.Filter
	for _, t := range []oxbow.Term{
		{Key: oxbow.LabelProject, Values: c.Projects}, {Key: oxbow.LabelTag, Values: c.Tags},
		{Key: "kind", Values: c.Kinds}, {Key: oxbow.LabelFile, Values: c.RelatedFiles},
	} {
		if len(t.Values) > 0 {
			fs = append(fs, oxbow.Filter{Terms: []oxbow.Term{t}})
		}
	}
	if !c.From.IsZero() || !c.To.IsZero() {
		fs = append(fs, oxbow.Filter{After: c.From, Before: c.To})
	}
	return fs
}

// Document is a file that is always included.
type Document struct {
	Path     string // slash-separated, relative to its place
	Wanted   bool   // the profile names it: that it is missing is worth a word
	place    int    // of the set
	identity bool   // it may be the home's where the project has none
}

// Resolved is a profile and all that it extends.
type Resolved struct {
	Name        string
	Description string
	File        string
	Project     bool     // of the profile itself
	Chain       []string // the profiles it extends, directly or not, in the order they count
	Includes    []Choice // an entry is included by any of them; none means all entries are
	Excludes    []Choice // an entry is left out by any line of any of them
	Documents   []Document
	MaxTokens   int
	Process     bool     // entries labelled process:true belong to it
	Redact      []string // kinds of personal data that are not shown, of any of the chain

	parts []*Profile // Chain and the profile itself, last
}

// Everything returns the profile that chooses all there is: what stands before
// a model when no profile is named.
func Everything() Resolved {
	r := Resolved{MaxTokens: DefaultMaxTokens, Process: true}
	r.always(identity, false, 0)
	return r
}

// always adds documents, each once.
func (r *Resolved) always(paths []string, wanted bool, place int) {
	for _, p := range paths {
		if !slices.ContainsFunc(r.Documents, func(d Document) bool { return d.Path == p && d.place == place }) {
			r.Documents = append(r.Documents, Document{p, wanted, place, slices.Contains(identity, p)})
		}
	}
}

// combine returns what the profiles come to: all that one of them includes, and
// none of what one of them excludes; of single values, the last that is written.
func combine(parts []*Profile) Resolved {
	p := parts[len(parts)-1]
	r := Resolved{Name: p.Name, File: p.File, Project: p.Project, MaxTokens: DefaultMaxTokens, Process: true, parts: parts}
	said := false
	for i, q := range parts {
		if i < len(parts)-1 {
			r.Chain = append(r.Chain, q.Name)
		}
		if q.Description != "" {
			r.Description = q.Description
		}
		if q.Include != nil {
			r.Includes = append(r.Includes, *q.Include)
		}
		if q.Exclude != nil {
			r.Excludes = append(r.Excludes, *q.Exclude)
		}
		if q.MaxTokens > 0 {
			r.MaxTokens = q.MaxTokens
		}
		if q.Process != nil {
			r.Process = *q.Process
		}
		r.Redact = append(r.Redact, q.Redact...)
		if q.Always != nil {
			said = true
			r.always(q.Always, true, q.place)
		}
	}
	if !said {
		r.always(identity, false, p.place)
	}
	slices.Sort(r.Redact)
	r.Redact = slices.Compact(r.Redact)
	return r
}

// Scope returns what a memory bound to the profile sees, and may change: what
// the profile includes, and what was written through it before, whatever the
// dates. New entries get its name and its first project as labels, and no
// project that it does not include. Entries of the label process:true are seen
// and not changed, and none can be made: they would be in every profile.
func (r *Resolved) Scope() scope.Scope {
	s := scope.Scope{Title: "profile \"" + r.Name + "\"", Profile: r.Name,
		Only: []oxbow.Term{{Key: LabelProcess}}, Redact: r.Redact}
	if r.Name == "" {
		s.Title = "the default selection"
	}
	var projects []string
	for i := range r.Includes {
		c := &r.Includes[i]
		if f, ok := c.filter(); ok {
			s.Any = append(s.Any, f)
		}
		s.Names = append(s.Names, c.Entries...)
		// The profile's own projects first, then those of what it extends.
		projects = slices.Concat(c.Projects, projects)
	}
	if len(r.Includes) == 0 {
		s.Any = []oxbow.Filter{{}}
	}
	if r.Name != "" {
		s.Any = append(s.Any, oxbow.Filter{Terms: []oxbow.Term{{Key: LabelProfile, Values: append([]string{r.Name}, r.Chain...)}}})
		s.Own = append(s.Own, oxbow.Label{Key: LabelProfile, Value: r.Name})
		s.Only = append(s.Only, oxbow.Term{Key: LabelProfile, Values: []string{r.Name}})
	}
	if len(projects) > 0 {
		s.Own = append(s.Own, oxbow.Label{Key: oxbow.LabelProject, Value: projects[0]})
		s.Only = append(s.Only, oxbow.Term{Key: oxbow.LabelProject, Values: projects})
	}
	if r.Process {
		s.Shared = []oxbow.Filter{{Terms: []oxbow.Term{{Key: LabelProcess, Values: []string{"true"}}}}}
	}
	for i := range r.Excludes {
		c := &r.Excludes[i]
		s.Except = append(s.Except, c.filters()...)
		if len(c.Entries) > 0 {
			s.Except = append(s.Except, oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: c.Entries}}})
		}
	}
	return s
}

// CheckName reports, as an error matching [oxbow.ErrInvalid], why a profile
// cannot have that name: it is a file's name, a label and a part of a URL, so it
// is made of at most 64 ASCII letters, digits, dots, dashes and underscores, and
// begins with a letter or a digit.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 64 && !strings.ContainsRune("._-", rune(name[0]))
	for i := range len(name) {
		c := name[i]
		ok = ok && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strings.IndexByte("._-", c) >= 0)
	}
	if ok && !strings.HasSuffix(name, ".") {
		return nil
	}
	if len(name) > 64 {
		name = text.Clip(name, 40)
	}
	return &oxbow.InvalidError{Field: "profile name", Value: name,
		Reason: "is not made of letters, digits, dots, dashes and underscores (at most 64, a letter or digit first)"}
}
