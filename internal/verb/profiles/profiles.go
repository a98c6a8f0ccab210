// This file implements the verbs that list, show, compare, lint and write profiles.

package profiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
	"github.com/oxbow-memory/oxbow/profile"
)

// ProfilesIn is the argument of ListProfiles. It is empty.
type ProfilesIn struct{}

// ProfilesOut is the result of ListProfiles.
type ProfilesOut struct {
	Profiles []ListedProfile `json:"profiles"`
}

// ProfileDirs returns the names of the directories in a home that contain profiles.
func ProfileDirs() []string { return slices.Clone(profile.HomeDirs) }

// SkillDirs returns the names of the directories in a home that contain skills.
func SkillDirs() []string { return slices.Clone(skill.HomeSkillDirs) }

// DefaultDocuments returns the names of the default documents. A document is a file in the home. If a profile does not
// list any documents, the profile includes the default documents.
func DefaultDocuments() []string { return profile.Identity() }

// ListedProfile is a profile in a list.
type ListedProfile struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	File        string `json:"file"`
	Origin      string `json:"from"` // "home" or "project"
	IsHidden    bool   `json:"hidden,omitempty"`
	Problem     string `json:"wrong,omitempty"`
}

// profileOrigin returns the value of the field Origin for a project's or the home's profile.
func profileOrigin(isInProject bool) string {
	if isInProject {
		return "project"
	}
	return "home"
}

// ListProfiles lists all profiles. If the run is bound to a profile, ListProfiles lists only that profile.
func ListProfiles(_ context.Context, w *verb.Workspace, _ ProfilesIn) (ProfilesOut, error) {
	out := ProfilesOut{Profiles: []ListedProfile{}}
	l, err := w.Loader()
	if err != nil {
		return out, err
	}
	found, err := l.Profiles.List()
	for _, f := range found {
		if l.RestrictingProfile != nil && f.Name != l.RestrictingProfile.Name {
			continue // a run that is bound to a profile sees only this profile
		}
		r := ListedProfile{Name: f.Name, Description: f.Description, File: f.File, Origin: profileOrigin(f.Project),
			IsHidden: f.Hidden}
		if f.Wrong == nil && !f.Hidden {
			// Resolve fails if this profile extends a profile that does not exist, or that extends this profile in
			// turn.
			_, f.Wrong = l.Profiles.Resolve(f.Name)
		}
		if f.Wrong != nil {
			r.Problem = f.Wrong.Error()
		}
		out.Profiles = append(out.Profiles, r)
	}
	return out, err
}

// ProfileOut describes a profile, including everything that it inherits from other profiles.
type ProfileOut struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	File        string   `json:"file"`
	Origin      string   `json:"from"`
	Extends     []string `json:"extends"`
	// filters (an entry must match at least one filter; without filters, all entries are included)
	Include            []string `json:"include"`
	IncludedEntryNames []string `json:"entries"` // names of entries that are included even if no filter matches them
	Exclude            []string `json:"exclude"` // filters for entries that are excluded
	Documents          []string `json:"always_include"`
	WithProcess        bool     `json:"process"`
	MaxTokens          int      `json:"max_tokens"`
	Project            string   `json:"writes_project,omitempty"`
	RedactedKinds      []string `json:"redacts,omitempty"` // kinds of personal data that are replaced in texts
}

// ShowProfile returns a profile, including everything that it inherits.
func ShowProfile(_ context.Context, w *verb.Workspace, in ProfileIn) (ProfileOut, error) {
	_, r, err := ResolveProfile(w, in.Name)
	if err != nil {
		return ProfileOut{}, err
	}
	scope := r.Scope()
	out := ProfileOut{Name: r.Name, Description: r.Description, File: r.File, Origin: profileOrigin(r.Project),
		WithProcess: r.Process, MaxTokens: r.MaxTokens, RedactedKinds: r.Redact,
		Extends: append([]string{}, r.Chain...), Include: formatFilters(scope.Any),
		IncludedEntryNames: append([]string{}, scope.Names...),
		Exclude:            formatFilters(scope.Except), Documents: []string{}}
	for _, d := range r.Documents {
		out.Documents = append(out.Documents, d.Path)
	}
	for _, l := range scope.Own {
		if l.Key == oxbow.LabelProject {
			out.Project = l.Value
		}
	}
	return out, nil
}

// formatFilters returns the filters as text. For an empty filter, the text is "all entries".
func formatFilters(fs []oxbow.Filter) []string {
	texts := []string{}
	for _, f := range fs {
		if f.IsZero() {
			texts = append(texts, "all entries")
			continue
		}
		texts = append(texts, f.String())
	}
	return texts
}

// LintIn is the argument of LintProfiles. If it contains no names, all profiles are checked.
type LintIn struct {
	Names []string `json:"names,omitempty" flag:"-" usage:"Names of the profiles to examine; without any, all profiles."`
}

// LintOut is the result of LintProfiles.
type LintOut struct {
	Profiles []LintedProfile `json:"profiles"`
}

// LintedProfile lists the problems that a check found in a memory profile.
type LintedProfile struct {
	Profile  string   `json:"profile"`
	Problems []string `json:"found"`
}

// Failed reports whether any profile has a problem.
func (o LintOut) Failed() bool {
	for _, l := range o.Profiles {
		if len(l.Problems) > 0 {
			return true
		}
	}
	return false
}

// LintProfiles reports probable mistakes in profiles.
func LintProfiles(ctx context.Context, w *verb.Workspace, in LintIn) (LintOut, error) {
	out := LintOut{Profiles: []LintedProfile{}}
	l, err := w.Loader()
	if err != nil {
		return out, err
	}
	if len(in.Names) == 0 {
		in.Names, err = l.Profiles.Names()
		if err != nil {
			return out, err
		}
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Read)
	if err != nil {
		return out, err
	}
	for _, name := range in.Names {
		one, err := lintProfile(ctx, l.Profiles, m, name)
		if err != nil {
			return out, err
		}
		out.Profiles = append(out.Profiles, one)
	}
	return out, nil
}

func lintProfile(ctx context.Context, profiles *profile.Set, m *oxbow.Memory, name string) (LintedProfile, error) {
	l := LintedProfile{Profile: name, Problems: []string{}}
	r, err := profiles.Resolve(name)
	var wrong profile.Diagnostics
	var unknown *profile.UnknownError
	switch {
	case errors.As(err, &wrong):
	case errors.As(err, &unknown):
		return l, err
	case err != nil: // report an unreadable file like any other problem
		l.Problems = append(l.Problems, err.Error())
	default:
		wrong, err = profiles.Lint(ctx, m, &r)
		if err != nil {
			return l, fmt.Errorf("looking at profile %q: %w", name, err)
		}
	}
	for _, w := range wrong {
		l.Problems = append(l.Problems, w.String())
	}
	return l, nil
}

// DiffProfilesIn is the argument of DiffProfiles. It names two profiles, or a profile and
// a date.
type DiffProfilesIn struct {
	ProfileA      string `json:"a"               flag:"-" usage:"name of a profile"`
	ProfileB      string `json:"b,omitempty"     flag:"-"`
	AsOfDateOrSeq string `json:"as_of,omitempty"          usage:"use the memory of this DATE, or after this change; with one profile, compare it with the present memory" value:"DATE"`
}

// DiffProfilesOut is the result of DiffProfiles.
type DiffProfilesOut struct {
	SideA ComparedSelection `json:"a"`
	SideB ComparedSelection `json:"b"`
	profile.Diff
}

// ComparedSelection is one of the two selections in a comparison.
type ComparedSelection struct {
	Profile string `json:"profile"`
	AsOfSeq uint64 `json:"as_of,omitempty"` // number of a change (0 is the present state)
}

func (s ComparedSelection) String() string {
	if s.AsOfSeq == 0 {
		return s.Profile
	}
	return fmt.Sprintf("%s as of change %d", s.Profile, s.AsOfSeq)
}

// DiffProfiles compares the entries that two profiles select, or that a profile selects at two
// times.
func DiffProfiles(ctx context.Context, w *verb.Workspace, in DiffProfilesIn) (DiffProfilesOut, error) {
	l, a, err := ResolveProfile(w, in.ProfileA)
	if err != nil {
		return DiffProfilesOut{}, err
	}
	b := a
	if in.ProfileB != "" {
		_, b, err = ResolveProfile(w, in.ProfileB)
		if err != nil {
			return DiffProfilesOut{}, err
		}
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Read)
	if err != nil {
		return DiffProfilesOut{}, err
	}
	req, err := newSelectionRequest(ctx, w, m, SelectEntriesIn{AsOfDateOrSeq: in.AsOfDateOrSeq})
	if err != nil {
		return DiffProfilesOut{}, err
	}
	x, y := profile.Side{Profile: a, AsOf: req.AsOf}, profile.Side{Profile: b}
	if in.ProfileB != "" {
		y.AsOf = req.AsOf
	}
	d, err := l.Profiles.Diff(ctx, m, x, y)
	if err != nil {
		return DiffProfilesOut{}, fmt.Errorf("comparing: %w", err)
	}
	return DiffProfilesOut{ComparedSelection{a.Name, x.AsOf}, ComparedSelection{b.Name, y.AsOf}, d}, nil
}

// NewProfileIn is the argument of NewProfile.
type NewProfileIn struct {
	Name            string   `json:"name"                       flag:"-"               usage:"name of the profile"`
	Description     string   `json:"description,omitempty"                             usage:"a SENTENCE that describes the job of an agent with this profile"         value:"SENTENCE"`
	Extends         []string `json:"extends,omitempty"                                 usage:"also include what this PROFILE includes, and exclude what it excludes"   value:"PROFILE"`
	Projects        []string `json:"projects,omitempty"         flag:"project"         usage:"a PROJECT that is included"`
	Tags            []string `json:"tags,omitempty"             flag:"tag"             usage:"a TAG that is included"`
	WithoutProjects []string `json:"without_projects,omitempty" flag:"without-project" usage:"a PROJECT that is left out"                                              value:"PROJECT"`
	WithoutTags     []string `json:"without_tags,omitempty"     flag:"without-tag"     usage:"a TAG that is left out"                                                  value:"TAG"`
	AlwaysInclude   []string `json:"always_include,omitempty"   flag:"always"          usage:"a FILE of the home that is always included (default SOUL.md, MEMORY.md)" value:"FILE"`
	MaxTokens       *int     `json:"max_tokens,omitempty"                              usage:"at most N tokens of text for the agent"                                                   also:"token_budget,budget"`
}

// NewProfileOut is the result of NewProfile.
type NewProfileOut struct {
	Name  string      `json:"name"`
	File  string      `json:"file"`
	Notes []verb.Note `json:"notes,omitempty"`
}

// NewProfile writes a new profile file into the home. It never replaces an existing file.
func NewProfile(ctx context.Context, w *verb.Workspace, in NewProfileIn) (NewProfileOut, error) {
	l, err := w.Loader()
	if err != nil {
		return NewProfileOut{}, err
	}
	if err := provenance.CheckRepeatedForeignTexts(w.WithSource(ctx), w, "description", in.Name,
		in.Description); err != nil {
		return NewProfileOut{}, err
	}
	notes, err := in.redactSecrets(w.WithSource(ctx), &w.Secrets)
	if err != nil {
		return NewProfileOut{}, err
	}
	for _, up := range in.Extends {
		if up == in.Name {
			return NewProfileOut{}, &oxbow.InvalidError{
				Field:  "profile",
				Value:  in.Name,
				Reason: "cannot extend itself",
			}
		}
		if _, err := l.Profiles.Resolve(up); err != nil {
			return NewProfileOut{}, err
		}
	}
	file, err := l.Profiles.Create(in.Name, []byte(in.encodeYAML()))
	if err != nil {
		return NewProfileOut{}, fmt.Errorf("making profile %q: %w", in.Name, err)
	}
	return NewProfileOut{in.Name, file, notes}, nil
}

// redactSecrets replaces secrets in all texts of the profile. It returns notes about the replaced secrets.
func (in *NewProfileIn) redactSecrets(ctx context.Context, s *verb.SecretPolicy) (notes []verb.Note, err error) {
	texts := []*string{&in.Name, &in.Description}
	for _, list := range []*[]string{&in.Extends, &in.Projects, &in.Tags, &in.WithoutProjects, &in.WithoutTags,
		&in.AlwaysInclude} {
		*list = slices.Clone(*list)
		for i := range *list {
			texts = append(texts, &(*list)[i])
		}
	}
	found, err := s.ScreenTexts(ctx, "profile", texts...)
	if note := verb.DescribeReplacedSecrets(found); note != "" {
		notes = append(notes, verb.PlainNote(note))
	}
	return notes, err
}

// encodeYAML returns the profile as YAML. All texts are quoted, so that YAML does not read a text as a number, a date
// or syntax. Only max_tokens is a number.
func (in *NewProfileIn) encodeYAML() string {
	var b strings.Builder
	list := func(indent, key string, values []string) {
		if len(values) == 0 {
			return
		}
		qs := make([]string, len(values))
		for i, v := range values {
			qs[i] = strconv.Quote(v)
		}
		fmt.Fprintf(&b, "%s%s: [%s]\n", indent, key, strings.Join(qs, ", "))
	}
	fmt.Fprintf(&b, "name: %s\n", strconv.Quote(in.Name))
	if in.Description != "" {
		fmt.Fprintf(&b, "description: %s\n", strconv.Quote(in.Description))
	}
	list("", "extends", in.Extends)
	for _, c := range []struct {
		key            string
		projects, tags []string
	}{{"include", in.Projects, in.Tags}, {"exclude", in.WithoutProjects, in.WithoutTags}} {
		if len(c.projects)+len(c.tags) > 0 {
			b.WriteString(c.key + ":\n")
			list("  ", "projects", c.projects)
			list("  ", "tags", c.tags)
		}
	}
	list("", "always_include", in.AlwaysInclude)
	most := profile.DefaultMaxTokens
	if in.MaxTokens != nil {
		most = *in.MaxTokens
	}
	fmt.Fprintf(&b, "max_tokens: %d\n", most)
	return b.String()
}

// ReplaceProfileIn is the argument of ReplaceProfile.
type ReplaceProfileIn struct {
	Name    string `json:"name" flag:"-" usage:"Name of the profile."`
	OldText []byte `json:"-"` // text of the file when the caller read it
	NewText []byte `json:"-"` // text that the file gets
}

// ReplaceProfileOut is the result of ReplaceProfile.
type ReplaceProfileOut struct {
	Name        string   `json:"name"`
	File        string   `json:"file"`
	FileOutcome string   `json:"outcome"` // whether the file was changed: "updated" or "unchanged"
	Problems    []string `json:"found"`   // problems of this profile and the profiles that extend it
}

// ReplaceProfile replaces the text of a profile's file by in.NewText. The present text must be in.OldText. If both
// texts are equal, nothing is changed. Secrets in the new text are replaced. But if the caller is a person, a secret is
// an error (see [verb.SecretPolicy]). ReplaceProfile also returns an error if the new text repeats text by others, or
// is not a valid profile. out.Problems lists replaced secrets and the problems of the new profile.
func ReplaceProfile(ctx context.Context, w *verb.Workspace, in ReplaceProfileIn) (ReplaceProfileOut, error) {
	out := ReplaceProfileOut{Name: in.Name, FileOutcome: "unchanged", Problems: []string{}}
	l, err := w.Loader()
	if err != nil {
		return out, err
	}
	out.File, err = l.Profiles.File(in.Name)
	if err != nil || bytes.Equal(in.OldText, in.NewText) {
		return out, err
	}
	// Reject text by others, such as parts of web pages, because models follow a profile as instructions.
	newText := string(in.NewText)
	if err := provenance.CheckRepeatedForeignTexts(w.WithSource(ctx), w, "profile", newText); err != nil {
		return out, err
	}
	// Replace secrets in the new text.
	found, err := w.Secrets.ScreenTexts(w.WithSource(ctx), "profile", &newText)
	if err != nil {
		return out, err
	}
	in.NewText = []byte(newText)
	if found != nil {
		out.Problems = append(out.Problems, verb.DescribeReplacedSecrets(found))
	}
	// Validate the profile as it will be stored, after secrets were replaced.
	if err := checkNewProfile(ctx, w, l.Profiles, in, &out); err != nil {
		if len(bytes.TrimSpace(in.NewText)) == 0 {
			err = verb.Advise(err, "a profile that is not wanted any more is a file that you can remove")
		}
		return out, err
	}
	out.FileOutcome = "updated"
	return out, l.Profiles.Replace(in.Name, in.OldText, in.NewText)
}

// checkNewProfile checks the profile in.Name with the new text in.NewText. It adds the problems of this profile to
// out.Problems. It also adds a problem for each other profile that the new text would make unreadable. checkNewProfile
// returns an error if the text is not a valid profile.
func checkNewProfile(
	ctx context.Context, w *verb.Workspace,
	profiles *profile.Set,
	in ReplaceProfileIn,
	out *ReplaceProfileOut,
) error {
	after, err := profiles.Trial(in.Name, in.NewText)
	if err != nil {
		return err
	}
	r, err := after.Resolve(in.Name)
	if err != nil {
		return err
	}
	names, err := profiles.Names()
	if err != nil {
		return err
	}
	for _, n := range names {
		if _, err := profiles.Resolve(n); n == in.Name || err != nil {
			continue // Report only profiles that the new text breaks, and not profiles that could not be read before.
		}
		if _, err := after.Resolve(n); err != nil {
			out.Problems = append(out.Problems, fmt.Sprintf("profile %s cannot be read with this: %v", n, err))
		}
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Read)
	if err != nil {
		return err
	}
	found, err := after.Lint(ctx, m, &r)
	for _, f := range found {
		out.Problems = append(out.Problems, f.String())
	}
	return err
}
