// Selections: what a profile gives an agent to begin with.

package verb

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/profile"
)

// SelectIn is what Select takes. Without a profile, it is the one that the
// caller is bound to, or everything.
type SelectIn struct {
	Profile string `json:"profile,omitempty" flag:"-" usage:"Name of the profile."`
	Query   string `json:"query,omitempty" value:"TEXT" usage:"the TEXT that it is for: what fits it ranks higher"`
	Budget  int    `json:"max_tokens,omitempty" also:"token_budget,budget" usage:"at most N tokens, instead of the profile's own"`
	AsOf    string `json:"as_of,omitempty" value:"DATE" usage:"the memory as it stood at this DATE, or after this change"`
}

// SelectionOut is a selection and its text.
type SelectionOut struct {
	*profile.Selection
	Text string `json:"text"`
}

func selectionOut(s *profile.Selection) SelectionOut { return SelectionOut{s, s.Text()} }

// Select makes the selection of a profile.
func Select(ctx context.Context, w *Workspace, in SelectIn) (SelectionOut, error) {
	l, r, err := w.profile(in.Profile)
	if err != nil {
		return SelectionOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Read)
	if err != nil {
		return SelectionOut{}, err
	}
	return w.selected(ctx, l.Profiles, m, r, in)
}

func (w *Workspace) selected(
	ctx context.Context,
	set *profile.Set,
	m *oxbow.Memory,
	r *profile.Resolved,
	in SelectIn,
) (SelectionOut, error) {
	req, err := w.selection(ctx, m, in)
	if err != nil {
		return SelectionOut{}, err
	}
	got, err := set.Select(ctx, m, r, req)
	if err != nil {
		return SelectionOut{}, err
	}
	return selectionOut(&got), nil
}

// selection is the request of a selection, its date resolved.
func (w *Workspace) selection(ctx context.Context, m *oxbow.Memory, in SelectIn) (profile.Request, error) {
	req := profile.Request{Query: in.Query, Budget: in.Budget}
	if in.AsOf == "" {
		return req, nil
	}
	seq, err := asOf(ctx, m, in.AsOf, w.Time())
	if err == nil && seq == 0 {
		err = &BeforeFirstError{in.AsOf}
	}
	req.AsOf = seq
	return req, err
}

// BeforeFirstError is a date before the first change. It matches
// [oxbow.ErrInvalid].
type BeforeFirstError struct{ Date string }

func (e *BeforeFirstError) Error() string { return "the memory held nothing yet at " + e.Date }

// Is makes it match [oxbow.ErrInvalid].
func (*BeforeFirstError) Is(target error) bool { return target == oxbow.ErrInvalid }

// profile returns the profile of that name; for "", the one that binds the
// caller, or all of the memory.
func (w *Workspace) profile(name string) (*handoff.Loader, *profile.Resolved, error) {
	l, err := w.Loader()
	if err != nil {
		return nil, nil, err
	}
	if name == "" {
		if l.Bound != nil {
			return l, l.Bound, nil
		}
		all := profile.Everything()
		return l, &all, nil
	}
	r, err := l.Profiles.Resolve(name)
	return l, &r, err
}

// ProfileIn names one profile; "" is the one that binds the caller.
type ProfileIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"Name of the profile."`
}

// ProfileBudgetOut is what a profile costs.
type ProfileBudgetOut struct {
	profile.Budget
	Room int `json:"room"` // tokens, by the same estimate, that the budget surely leaves
}

// ProfileBudget counts the tokens of all that a profile includes.
func ProfileBudget(ctx context.Context, w *Workspace, in ProfileIn) (ProfileBudgetOut, error) {
	l, r, err := w.profile(in.Name)
	if err != nil {
		return ProfileBudgetOut{}, err
	}
	ctx, m, err := w.Memory(ctx, Read)
	if err != nil {
		return ProfileBudgetOut{}, err
	}
	b, err := l.Profiles.Count(ctx, m, r)
	if err != nil {
		return ProfileBudgetOut{}, fmt.Errorf("counting tokens: %w", err)
	}
	return ProfileBudgetOut{b, room(b)}, nil
}

// room is what a budget of tokens surely leaves, by the estimate of the rest.
func room(b profile.Budget) int { return prompt.Room(b.MaxTokens) }
