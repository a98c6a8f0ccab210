// Loads what a handoff names: the selection of its memory profile, and
// its skills.

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

// Loader loads what handoffs name.
type Loader struct {
	Profiles *profile.Set
	Skills   *skill.Set
	Bound    *profile.Resolved // that the session is bound to; nil for none
	// selects when the handoff names no profile, or one that cannot be loaded; nil for nothing
	Default *profile.Resolved
}

// Opening is what stands before a session that takes a handoff.
type Opening struct {
	Handoff   Handoff
	Files     []File             // as [Look] found them
	Selection *profile.Selection // nil when there is none
	Skills    []LoadedSkill      // of the handoff, in its order
	Wrong     string             // why the handoff's profile was not loaded, "" when it was or there is none
}

// LoadedSkill is a skill that a handoff names.
type LoadedSkill struct {
	Name  string
	Skill *skill.Skill // nil when it cannot be loaded
	Wrong string       // why
}

// Load loads what the handoff names. The handoff may be taken by now, so that
// nothing is an error: what cannot be loaded says why. A session that is bound
// to a profile loads no other. What the profile redacts stands in none of the texts. The budget, the request's or else
// the profile's, is
// for the handoff and its skills too: the selection gets what they leave.
func (l *Loader) Load(ctx context.Context, m *oxbow.Memory, h Handoff, files []File, req profile.Request) Opening {
	o := Opening{Handoff: h, Files: files}
	for _, name := range h.Skills {
		s := LoadedSkill{Name: name}
		if k, err := l.Skills.Find(name); err != nil {
			s.Wrong = oneLine(err)
		} else {
			s.Wrong = k.Withheld()
			if s.Wrong == "" {
				s.Skill = &k
			}
		}
		o.Skills = append(o.Skills, s)
	}
	r, err := l.profile(h.Profile)
	if err != nil {
		o.Wrong = oneLine(err)
	}
	if r == nil {
		return o
	}
	bounds := r.Scope()
	o.Handoff.Name = bounds.Text(h.Name)
	o.Handoff.Summary = bounds.Text(h.Summary)
	o.Handoff.Plan = bounds.Text(h.Plan)
	used := (prompt.Tokens(o.Text())*prompt.Margin + 99) / 100
	req.Budget = cmp.Or(req.Budget, r.MaxTokens) - used
	if req.Budget < 1 {
		o.Wrong = cmp.Or(
			o.Wrong,
			fmt.Sprintf("the handoff and its skills alone take about %d tokens, and no budget is left", used),
		)
		return o
	}
	sel, err := l.Profiles.Select(ctx, m, r, req)
	if err != nil {
		o.Wrong = cmp.Or(o.Wrong, oneLine(err))
		return o
	}
	o.Selection = &sel
	return o
}

// profile returns what selects, nil for nothing, and why it is not the profile
// of that name.
func (l *Loader) profile(name string) (*profile.Resolved, error) {
	switch {
	case name == "":
		return l.Default, nil
	case l.Bound != nil && l.Bound.Name == name:
		return l.Bound, nil
	case l.Bound != nil:
		return l.Default, fmt.Errorf(
			"this session is bound to the profile %q and sees nothing else; a session with OXBOW_PROFILE=%s loads it",
			l.Bound.Name,
			name,
		)
	}
	r, err := l.Profiles.Resolve(name)
	if err != nil {
		return l.Default, err
	}
	return &r, nil
}

// oneLine returns the first line of an error; of the mistakes of a file, the
// first.
func oneLine(err error) string {
	var wrong profile.Diagnostics
	if errors.As(err, &wrong) && len(wrong) > 0 {
		return wrong[0].String()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// Text returns the opening: the handoff with what became of all that it names,
// the skills, and the selection.
func (o *Opening) Text() string {
	var b strings.Builder
	profileSays := ""
	switch {
	case o.Wrong != "":
		profileSays = " (not loaded: " + o.Wrong + ")"
	case o.Selection != nil:
		profileSays = " (loaded below)"
	}
	b.WriteString(o.Handoff.text(o.Files, profileSays, func(i int) string {
		if o.Skills[i].Wrong != "" {
			return " (not loaded: " + o.Skills[i].Wrong + ")"
		}
		return " (loaded below)"
	}))
	for _, s := range o.Skills {
		if s.Skill != nil {
			b.WriteString("\n" + strings.TrimRight(s.Skill.Show(), "\n") + "\n")
		}
	}
	if o.Selection != nil {
		b.WriteString("\n" + o.Selection.Text())
	}
	return b.String()
}
