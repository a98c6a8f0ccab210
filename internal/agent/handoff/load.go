// This file loads the memory profile and the skills that a handoff names, for its opening.

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
	Profiles     *profile.Set
	Skills       *skill.Set
	BoundProfile *profile.Resolved // profile that the session is bound to, or nil
	// DefaultProfile is used if the handoff names no profile, or a profile that cannot be loaded. If DefaultProfile
	// is nil, nothing is selected.
	DefaultProfile *profile.Resolved
	// NoSkillsReason is the reason why no skills can be loaded if Skills is nil.
	NoSkillsReason string
}

// LoadHandoff loads the profile and the skills of a handoff. It does not return an error, because the
// handoff may have been taken already. Instead, the result contains the reason why a part could
// not be loaded. A session that is bound to a profile loads no other profile. Text that the profile
// redacts is redacted in the texts of the handoff and in the selection. The token budget of the request
// (by default the profile's) includes the handoff and its skills. The selection gets the remaining tokens.
func (l *Loader) LoadHandoff(
	ctx context.Context,
	m *oxbow.Memory,
	h Handoff,
	files []File,
	req profile.Request,
) LoadedHandoff {
	o := l.LoadOnlySkills(h, files)
	r, err := l.selectProfile(h.Profile)
	if err != nil {
		o.LoadProblem = FirstErrorLine(err)
	}
	if r == nil {
		return o
	}
	o.Redact(r)
	used := (prompt.EstimateTokens(o.Text())*prompt.EstimateMarginPercent + 99) / 100
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

// LoadOnlySkills loads only the skills of a handoff.
func (l *Loader) LoadOnlySkills(h Handoff, files []File) LoadedHandoff {
	o := LoadedHandoff{Handoff: h, Files: files}
	for _, name := range h.Skills {
		o.Skills = append(o.Skills, l.LoadSkill(name))
	}
	return o
}

// Redact redacts the texts of the handoff as the profile does.
func (o *LoadedHandoff) Redact(r *profile.Resolved) {
	bounds, h := r.Scope(), &o.Handoff
	for _, text := range []*string{&h.Name, &h.Summary, &h.Plan, &h.Record} {
		*text = bounds.Text(*text)
	}
}

// LoadSkill loads the skill with this name. The result says why it cannot be loaded.
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

// SkillText returns the text of a skill for a model. The error says why the skill cannot be loaded.
func (l *Loader) SkillText(name string) (string, error) {
	s := l.LoadSkill(name)
	if s.Skill == nil {
		return "", errors.New(s.LoadProblem)
	}
	return s.Text, nil
}

// selectProfile returns the profile that selects the entries for a handoff with a profile of this name. A
// nil profile selects nothing. If the result is not the named profile, the error is the reason.
func (l *Loader) selectProfile(name string) (*profile.Resolved, error) {
	switch {
	case name == "":
		return l.DefaultProfile, nil
	case l.BoundProfile != nil && l.BoundProfile.Name == name:
		return l.BoundProfile, nil
	case l.BoundProfile != nil:
		return l.DefaultProfile, fmt.Errorf(
			"this session is bound to the profile %q and sees nothing else; a session with OXBOW_PROFILE=%s loads it",
			l.BoundProfile.Name,
			name,
		)
	}
	r, err := l.Profiles.Resolve(name)
	if err != nil {
		return l.DefaultProfile, err
	}
	return &r, nil
}

// FirstErrorLine returns an error's first line, or the first of several mistakes in a profile file.
func FirstErrorLine(err error) string {
	var wrong profile.Diagnostics
	if errors.As(err, &wrong) && len(wrong) > 0 {
		return wrong[0].String()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}
