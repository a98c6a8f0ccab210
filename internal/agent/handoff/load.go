// This file loads the memory profile and the skills that a handoff names.

package handoff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/profile"
)

// Loader loads the memory profiles and skills that handoffs name.
type Loader struct {
	Profiles           *profile.Set
	Skills             *skill.Set
	RestrictingProfile *profile.Resolved // profile to which the session is restricted, or nil
	// DefaultProfile is used if the handoff names no profile, or if loading its profile fails. If it is nil, no
	// entries are selected.
	DefaultProfile *profile.Resolved
	// NoSkillsReason tells why no skills can be loaded. It is used if Skills is nil.
	NoSkillsReason string
}

// LoadHandoff loads the profile and the skills that a handoff names, and selects entries by the profile. It never
// fails: if a part cannot be loaded, the result contains the reason. An error could lose the handoff, because the
// caller may have taken it already, and no other session gets a handoff that was taken.
//
// A session that is bound to a profile loads no other profile. The profile's redactions also apply to the handoff's
// texts. The token budget is req.Budget, or the profile's budget if req.Budget is 0. It includes the handoff and its
// skills. The entries get the remaining tokens.
func (l *Loader) LoadHandoff(
	ctx context.Context,
	m *oxbow.Memory,
	h Handoff,
	requiredFiles []File,
	req profile.Request,
) LoadedHandoff {
	o := l.LoadOnlySkills(h, requiredFiles)
	r, err := l.selectProfile(h.Profile)
	if err != nil {
		o.LoadProblem = FirstErrorLine(err)
	}
	if r == nil {
		return o
	}
	o.Redact(r)
	used := (prompt.EstimateTokens(o.Text())*prompt.EstimateFactorPercent + 99) / 100
	req.Budget = cmp.Or(req.Budget, r.MaxTokens) - used
	if req.Budget < 1 {
		o.LoadProblem = cmp.Or(
			o.LoadProblem,
			fmt.Sprintf("the handoff and its skills alone take about %d tokens, and no budget is left", used),
		)
		return o
	}
	sel, err := l.Profiles.Select(ctx, m, r, req)
	if err != nil {
		o.LoadProblem = cmp.Or(o.LoadProblem, FirstErrorLine(err))
		return o
	}
	o.Selection, o.EntriesText = &sel, sel.Text()
	return o
}

// LoadOnlySkills loads the skills of a handoff, but no profile and no entries.
func (l *Loader) LoadOnlySkills(h Handoff, files []File) LoadedHandoff {
	o := LoadedHandoff{Handoff: h, Files: files}
	for _, name := range h.Skills {
		o.Skills = append(o.Skills, l.LoadSkill(name))
	}
	return o
}

// Redact applies the profile's redactions to the texts of the handoff.
func (o *LoadedHandoff) Redact(r *profile.Resolved) {
	bounds, h := r.Scope(), &o.Handoff
	for _, text := range []*string{&h.Name, &h.Summary, &h.Plan, &h.SessionRecordText} {
		*text = bounds.Text(*text)
	}
}

// LoadSkill loads a skill. If this fails, the result contains the reason.
func (l *Loader) LoadSkill(name string) LoadedSkill {
	s := LoadedSkill{Name: name}
	if l.Skills == nil {
		s.LoadProblem = l.NoSkillsReason
		return s
	}
	k, err := l.Skills.Find(name)
	if err != nil {
		s.LoadProblem = FirstErrorLine(err)
		return s
	}
	s.LoadProblem = k.WithholdReason()
	if s.LoadProblem == "" {
		s.Skill, s.Text = &k, k.ModelText()
	}
	return s
}

// SkillText returns the text of a skill for a model. If the skill cannot be loaded, the error tells why.
func (l *Loader) SkillText(name string) (string, error) {
	s := l.LoadSkill(name)
	if s.Skill == nil {
		return "", errors.New(s.LoadProblem)
	}
	return s.Text, nil
}

// selectProfile returns the profile by which entries are selected for a handoff. The parameter name is the name of the
// profile in the handoff. If name is "", selectProfile returns the default profile. If the named profile cannot be
// used, it returns the default profile and an error with the reason. If the returned profile is nil, no entries are
// selected.
func (l *Loader) selectProfile(name string) (*profile.Resolved, error) {
	switch {
	case name == "":
		return l.DefaultProfile, nil
	case l.RestrictingProfile != nil && l.RestrictingProfile.Name == name:
		return l.RestrictingProfile, nil
	case l.RestrictingProfile != nil:
		return l.DefaultProfile, fmt.Errorf(
			"this session is bound to the profile %q and sees nothing else; a session with OXBOW_PROFILE=%s loads it",
			l.RestrictingProfile.Name,
			name,
		)
	}
	r, err := l.Profiles.Resolve(name)
	if err != nil {
		return l.DefaultProfile, err
	}
	return &r, nil
}

// FirstErrorLine returns the first line of an error. If the error lists several mistakes in a profile file, it returns
// the first mistake.
func FirstErrorLine(err error) string {
	var wrong profile.Diagnostics
	if errors.As(err, &wrong) && len(wrong) > 0 {
		return wrong[0].String()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}
