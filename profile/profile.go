// This file defines profiles, and combines a profile with the profiles that it extends.

package profile

import (
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/scope"
)

// These are the keys of the labels that have a meaning for profiles.
const (
	LabelProcess = "process" // process:true marks an entry that belongs to all profiles
	LabelPinned  = "pinned"  // pinned:true marks an entry that ranks first
	LabelCovered = "covered" // covered:true marks an entry that a shorter entry summarizes (it ranks last)
	LabelDigest  = "digest"  // digest:true marks an entry that summarizes other entries
	LabelProfile = "profile" // profile:NAME specifies the profile with which an entry was written
)

// DefaultMaxTokens is the token budget of a profile that does not contain max_tokens.
const DefaultMaxTokens = 30000

// maxAllowedTokens is the maximum value of max_tokens.
const maxAllowedTokens = 10_000_000

// defaultDocuments contains the documents that a profile includes if it does not list documents itself.
var defaultDocuments = []string{"SOUL.md", "MEMORY.md"}

// Identity returns the names of the documents that a profile includes if it does not list documents itself.
func Identity() []string { return slices.Clone(defaultDocuments) }

// A Profile is the content of a profile file.
type Profile struct {
	Name        string
	Description string
	Extends     []string
	Include     *Choice  // nil if the file contains no include
	Exclude     *Choice  // nil if the file contains no exclude
	Always      []string // slash-separated paths of the documents (nil if the file contains no always_include)
	MaxTokens   int      // 0 if the profile's file contains no max_tokens
	Process     *bool    // nil if the profile's file does not set the key process
	Redact      []string // kinds of personal data to hide

	File    string // path of the file, for messages
	Project bool   // the profile belongs to a project, and not to the user's home

	filePlaceIndex int // index in Set.Places of the directory tree that contains the file
	// Line number of each key and value. The keys of the map are paths such as "include.tags.decision".
	lineNumbers map[string]int
}

// A Choice selects entries by their labels, kind, date or name. An entry matches the Choice if it matches a value in
// each of the lists Projects, Tags, Kinds and RelatedFiles, and if its creation time is in the range. A nil list
// matches all entries. In addition, the entries that the list Entries names are selected.
type Choice struct {
	Projects     []string
	Tags         []string
	Kinds        []string
	RelatedFiles []string
	Entries      []string // names of entries that are chosen even if they do not meet the other conditions
	// Range of creation times. The field From is its inclusive start, and the field To is its exclusive end. A zero
	// time does not set a bound.
	From, To time.Time
}

// asOneFilter returns a filter that selects the entries which meet all conditions of c, except the list of names in
// c.Entries. If c contains no other condition, asOneFilter returns false.
func (c *Choice) asOneFilter() (oxbow.Filter, bool) {
	fs := c.splitFilters()
	var f oxbow.Filter
	for _, g := range fs {
		f = f.And(g)
	}
	return f, len(fs) > 0
}

// splitFilters returns one filter for each condition of c, such as its projects or its tags. The list of names in
// c.Entries is left out.
func (c *Choice) splitFilters() []oxbow.Filter {
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

// A Document is a file that is always included.
type Document struct {
	Path string // slash-separated path, relative to the directory of the home or the project
	// A profile names the document explicitly. If the document's file does not exist, the person gets a warning.
	Wanted     bool
	placeIndex int // index of the place in Set.Places
	// The document is one of the documents that a profile includes by default, such as SOUL.md. If the project does not
	// have it, the document of the home is used.
	isDefaultDocument bool
}

// Resolved is a profile that is combined with all profiles that it extends.
type Resolved struct {
	Name        string
	Description string
	File        string
	Project     bool // the profile itself belongs to the project
	// names of the profiles that this profile extends directly or indirectly, in the order in which they are evaluated
	Chain []string
	// An entry is included if it matches a Choice in this list. If the list is empty, all entries are included.
	Includes  []Choice
	Excludes  []Choice // An entry is excluded if it meets one condition of a Choice, such as its tags.
	Documents []Document
	MaxTokens int
	Process   bool     // entries with the label process:true are included
	Redact    []string // kinds of personal data to hide, as listed by this profile or a profile that it extends

	parts []*Profile // the profiles that this profile extends, in the order of Chain, followed by the profile itself
}

// Everything returns the profile that includes all entries. It is used if the caller specifies no profile.
func Everything() Resolved {
	r := Resolved{MaxTokens: DefaultMaxTokens, Process: true}
	r.addDocuments(defaultDocuments, 0)
	return r
}

// addListedDocuments adds the documents that a profile lists and that r.Documents does not contain yet. It sets Wanted
// in each added document, because the profile names the document explicitly.
func (r *Resolved) addListedDocuments(paths []string, placeIndex int) {
	known := len(r.Documents)
	r.addDocuments(paths, placeIndex)
	for i := range r.Documents[known:] {
		r.Documents[known+i].Wanted = true
	}
}

// addDocuments adds the documents that r.Documents does not contain yet.
func (r *Resolved) addDocuments(paths []string, placeIndex int) {
	for _, p := range paths {
		if !slices.ContainsFunc(
			r.Documents,
			func(d Document) bool { return d.Path == p && d.placeIndex == placeIndex },
		) {
			r.Documents = append(
				r.Documents,
				Document{Path: p, placeIndex: placeIndex, isDefaultDocument: slices.Contains(defaultDocuments, p)},
			)
		}
	}
}

// combineProfiles combines profiles. The result includes each entry that at least one profile includes and none of the
// profiles excludes. For a key with a single value, the result has the value of the last profile that contains the
// key.
func combineProfiles(parts []*Profile) Resolved {
	p := parts[len(parts)-1]
	r := Resolved{Name: p.Name, File: p.File, Project: p.Project, MaxTokens: DefaultMaxTokens, Process: true,
		parts: parts}
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
			r.addListedDocuments(q.Always, q.filePlaceIndex)
		}
	}
	if !said {
		r.addDocuments(defaultDocuments, p.filePlaceIndex)
	}
	slices.Sort(r.Redact)
	r.Redact = slices.Compact(r.Redact)
	return r
}

// Scope returns the scope of a memory that is restricted to the profile. The scope contains the entries that the
// profile includes, and all entries with a label for this profile or a profile that it extends, regardless of their
// dates. It does not contain the entries that the profile excludes. New entries get the name and the first project of
// the profile as labels. If a new entry has further projects, the profile must include them. Entries with the label
// process:true belong to all profiles, so they cannot be created in the scope. If the profile includes them
// (r.Process), they can be read but not changed.
func (r *Resolved) Scope() scope.Scope {
	s := scope.Scope{Title: "profile \"" + r.Name + "\"", Profile: r.Name,
		Only: []oxbow.Term{{Key: LabelProcess}}, Redact: r.Redact}
	if r.Name == "" {
		s.Title = "the default selection"
	}
	var projects []string
	for i := range r.Includes {
		c := &r.Includes[i]
		if f, ok := c.asOneFilter(); ok {
			s.Any = append(s.Any, f)
		}
		s.Names = append(s.Names, c.Entries...)
		// The last element of Includes comes from the profile itself, and earlier elements come from profiles that it
		// extends. Put the projects of later elements first.
		projects = slices.Concat(c.Projects, projects)
	}
	if len(r.Includes) == 0 {
		s.Any = []oxbow.Filter{{}}
	}
	if r.Name != "" {
		s.Any = append(
			s.Any,
			oxbow.Filter{Terms: []oxbow.Term{{Key: LabelProfile, Values: append([]string{r.Name}, r.Chain...)}}},
		)
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
		s.Except = append(s.Except, c.splitFilters()...)
		if len(c.Entries) > 0 {
			s.Except = append(s.Except, oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: c.Entries}}})
		}
	}
	return s
}

// CheckName returns an error if a profile cannot have this name. The error matches [oxbow.ErrInvalid]. The name is
// also a file name, a label value and a part of URLs. Therefore it must consist of at most 64 ASCII letters, digits,
// dots, dashes and underscores, must begin with a letter or a digit, and must not end with a dot.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 64 && !strings.ContainsRune("._-", rune(name[0]))
	for i := range len(name) {
		c := name[i]
		ok = ok && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			strings.IndexByte("._-", c) >= 0)
	}
	if ok && !strings.HasSuffix(name, ".") {
		return nil
	}
	if len(name) > 64 {
		name = text.TruncateWithEllipsis(name, 40)
	}
	return &oxbow.InvalidError{Field: "profile name", Value: name,
		Reason: "is not made of letters, digits, dots, dashes and underscores (at most 64, a letter or digit first)"}
}
