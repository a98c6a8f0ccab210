// This file implements selections. A selection is the text that a profile gives an agent at the start of a session.

package profiles

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/profile"
)

// SelectEntriesIn is the argument of SelectEntries. If it names no profile, SelectEntries uses the profile to which the
// caller is bound. A bound caller can see only the entries that belong to this profile. If the caller is not bound to a
// profile, SelectEntries uses the whole memory.
type SelectEntriesIn struct {
	Profile       string `json:"profile,omitempty"    flag:"-" usage:"Name of the profile."`
	Query         string `json:"query,omitempty"               usage:"rank entries higher if they match this TEXT"      value:"TEXT"`
	MaxTokens     int    `json:"max_tokens,omitempty"          usage:"at most N tokens, instead of the profile's limit"              also:"token_budget,budget"`
	AsOfDateOrSeq string `json:"as_of,omitempty"               usage:"the memory at this DATE, or after this change"    value:"DATE"`
}

// SelectEntries returns the entries that a memory profile selects. The profile has the name in.Profile.
func SelectEntries(ctx context.Context, w *verb.Workspace, in SelectEntriesIn) (verb.SelectionOut, error) {
	l, r, err := ResolveProfile(w, in.Profile)
	if err != nil {
		return verb.SelectionOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Read)
	if err != nil {
		return verb.SelectionOut{}, err
	}
	return selectFromProfile(ctx, w, l.Profiles, m, r, in)
}

func selectFromProfile(
	ctx context.Context, w *verb.Workspace,
	profiles *profile.Set,
	m *oxbow.Memory,
	r *profile.Resolved,
	in SelectEntriesIn,
) (verb.SelectionOut, error) {
	req, err := newSelectionRequest(ctx, w, m, in)
	if err != nil {
		return verb.SelectionOut{}, err
	}
	got, err := profiles.Select(ctx, m, r, req)
	if err != nil {
		return verb.SelectionOut{}, err
	}
	return verb.NewSelectionOut(&got), nil
}

// newSelectionRequest returns the request for the selection of entries that the arguments describe. If in.AsOfDateOrSeq
// is the number of a change, the request selects from the memory as it was after this change. If it is a date, this is
// the last change up to this date. If the date is before the memory's first change, the error is a
// [*BeforeFirstChangeError].
func newSelectionRequest(
	ctx context.Context,
	w *verb.Workspace,
	m *oxbow.Memory,
	in SelectEntriesIn,
) (profile.Request, error) {
	req := profile.Request{Query: in.Query, Budget: in.MaxTokens}
	if in.AsOfDateOrSeq == "" {
		return req, nil
	}
	seq, err := verb.ResolveChangeSeq(ctx, m, in.AsOfDateOrSeq, w.CurrentTime())
	if err == nil && seq == 0 {
		err = &BeforeFirstChangeError{in.AsOfDateOrSeq}
	}
	req.AsOf = seq
	return req, err
}

// BeforeFirstChangeError is returned for a date before the first change of the memory. It matches [oxbow.ErrInvalid].
type BeforeFirstChangeError struct{ Date string }

func (e *BeforeFirstChangeError) Error() string { return "the memory held nothing yet at " + e.Date }

// Is reports whether target is [oxbow.ErrInvalid].
func (*BeforeFirstChangeError) Is(target error) bool { return target == oxbow.ErrInvalid }

// ResolveProfile returns the profile with this name. If the name is "", it returns the profile to which the caller is
// bound. If the caller is unbound, it returns a profile of the whole memory.
func ResolveProfile(w *verb.Workspace, name string) (*handoff.Loader, *profile.Resolved, error) {
	l, err := w.Loader()
	if err != nil {
		return nil, nil, err
	}
	if name == "" {
		if l.RestrictingProfile != nil {
			return l, l.RestrictingProfile, nil
		}
		all := profile.Everything()
		return l, &all, nil
	}
	r, err := l.Profiles.Resolve(name)
	return l, &r, err
}

// ProfileIn names a profile. The name "" means the profile to which the caller is bound.
type ProfileIn struct {
	Name string `json:"name,omitempty" flag:"-" usage:"Name of the profile."`
}

// ProfileBudgetOut is the size of a profile in tokens.
type ProfileBudgetOut struct {
	profile.Budget
	// largest token estimate that fits into the profile's limit even if the estimate is too low
	RemainingTokens int `json:"room"`
}

// CountProfileTokens counts the tokens of everything that a profile includes.
func CountProfileTokens(ctx context.Context, w *verb.Workspace, in ProfileIn) (ProfileBudgetOut, error) {
	l, r, err := ResolveProfile(w, in.Name)
	if err != nil {
		return ProfileBudgetOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Read)
	if err != nil {
		return ProfileBudgetOut{}, err
	}
	b, err := l.Profiles.Count(ctx, m, r)
	if err != nil {
		return ProfileBudgetOut{}, fmt.Errorf("counting tokens: %w", err)
	}
	return ProfileBudgetOut{b, estimatedTokensThatFit(b)}, nil
}

// estimatedTokensThatFit returns the largest token estimate with which a text certainly fits into the budget b. The
// result is smaller than b.MaxTokens, because an estimate may be too low.
func estimatedTokensThatFit(b profile.Budget) int { return prompt.MaxEstimateWithinBudget(b.MaxTokens) }
