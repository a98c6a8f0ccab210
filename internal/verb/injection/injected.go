// This file implements the verb injected. It lists the texts that hooks showed to models, and which entries in these
// texts the agents used.

package injection

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
)

// InjectedIn is the argument of ListInjections.
type InjectedIn struct {
	Session    string `json:"session,omitempty" usage:"only texts of this session: its identifier, or the first characters of it"`
	HookEvent  string `json:"place,omitempty"   usage:"only texts that were shown at this place"                                     enum:"start,prompt,action"`
	Entry      string `json:"entry,omitempty"   usage:"only texts that contained this note or turn"                                                             value:"NAME"`
	Since      string `json:"since,omitempty"   usage:"only texts that were shown on or after this date (2026-04-18, 7d, yesterday)"                            value:"DATE"`
	Limit      *int   `json:"limit,omitempty"   usage:"maximum number of injections, 20 by default"`
	ShowText   bool   `json:"text,omitempty"    usage:"show the whole text that the agent was shown"`
	ListUnused bool   `json:"unused,omitempty"  usage:"list entries that were shown in at least ten turns and never used"`

	// IsInjectionOff tells that a person has switched off injection in this home or project. The answer for an
	// empty list then says so.
	IsInjectionOff bool `json:"-"`
}

// InjectedOut is the result of ListInjections. The newest injection comes first.
type InjectedOut struct {
	Injections []InjectedItem `json:"injections"`
	HasMore    bool           `json:"more,omitempty"` // whether the list was cut at the limit
	// Total counts all injections that match the argument of ListInjections, including injections beyond the limit.
	Total              InjectionTotals    `json:"total"`
	Unused             []session.UseCount `json:"unused,omitempty"`
	EmptyResultReasons []verb.Note        `json:"why,omitempty"` // reasons why the list Injections is empty
	Notes              []verb.Note        `json:"notes,omitempty"`
}

// InjectedItem is one injection: a text that a hook showed to a model in a turn.
type InjectedItem struct {
	Time    time.Time `json:"time"`
	Client  string    `json:"client"`
	Session string    `json:"session"`
	Turn    string    `json:"turn"` // name of the archive's entry that records this turn of the session
	Project string    `json:"project,omitempty"`
	session.Injection
	EntriesUsedInTurn []session.ShownEntry `json:"used,omitempty"`
	// injected text ("" unless the caller asks for texts, or this is the only injection in the result)
	Text string `json:"text,omitempty"`

	Prompt string `json:"-"` // beginning of the prompt that the person wrote in the turn
}

// maxPromptBytes is the maximum number of bytes for a prompt in [InjectedItem.Prompt].
const maxPromptBytes = 120

// InjectionTotals counts the injections that match the argument of ListInjections. An injection is a text that a hook
// showed to a model.
type InjectionTotals struct {
	Injections     int `json:"injections"`
	UsedInjections int `json:"used"` // number of injections in which at least one entry was used
	InjectedTokens int `json:"tokens"`
	// number of injections by the hook that showed the text: "start", "prompt" or "action"
	CountByHookEvent map[string]int `json:"places"`
}

// maxTurnDuration is the assumed maximum time from the beginning of a turn to its last injection. A search for
// injections since a date includes turns that began this much earlier.
const maxTurnDuration = 24 * time.Hour

// ListInjections lists the texts that hooks showed to models. It examines only the newest [oxbow.MaxLimit] turns, and a
// note in the result says if there are more. If in.ListUnused is set, it instead lists the entries that were shown
// often and never used.
func ListInjections(ctx context.Context, w *verb.Workspace, in InjectedIn) (InjectedOut, error) {
	out := InjectedOut{Injections: []InjectedItem{}, Total: InjectionTotals{CountByHookEvent: map[string]int{}}}
	since, err := sessions.ParseSince(w, in.Since)
	if err != nil {
		return out, err
	}
	limit, notes, err := verb.ResolveLimit(in.Limit, sessions.DefaultSessionLimit)
	if err != nil {
		return out, err
	}
	ctx, a, err := w.OpenArchive(ctx)
	if err != nil {
		return out, err
	}
	out.Notes = notes
	if in.ListUnused {
		out.Unused, err = a.UnusedEntryCounts(ctx)
		if err == nil && len(out.Unused) == 0 {
			out.EmptyResultReasons = []verb.Note{
				verb.Notef("no entry was shown in %d turns or more and used in none", session.MinShownTurnsForUnused),
			}
		}
		return out, err
	}
	f, err := in.candidateTurnFilter(ctx, a, since)
	if err != nil {
		return out, err
	}
	hits, err := a.Memory.Recall(ctx, oxbow.Query{Filter: f, Limit: oxbow.MaxLimit})
	if err != nil {
		return out, err
	}
	if len(hits) == oxbow.MaxLimit {
		out.Notes = append(out.Notes, verb.Notef("of the %d turns that were written last", oxbow.MaxLimit))
	}
	var all []InjectedItem
	for _, h := range hits {
		all = append(all, in.FindTurnInjections(h.Entry, since)...)
	}
	out.addItems(all, limit, in.ShowText)
	if len(all) == 0 {
		out.EmptyResultReasons, err = in.explainEmptyResult(ctx, a)
	}
	return out, err
}

// candidateTurnFilter returns a filter for the turns in the archive a that may contain an injection which the arguments
// select. The filter may also match other turns, so the caller must check the turns again. The argument since is the
// earliest time of an injection, and is ignored if it is zero.
func (in InjectedIn) candidateTurnFilter(
	ctx context.Context,
	a *session.Archive,
	since time.Time,
) (f oxbow.Filter, err error) {
	add := func(key, value string) {
		if value != "" {
			f.Terms = append(f.Terms, oxbow.Term{Key: key, Values: []string{value}})
		}
	}
	add("has", session.LabelInjected)
	add(session.LabelInjected, in.HookEvent)
	add(session.LabelShownEntry, in.Entry)
	if !since.IsZero() {
		f.After = since.Add(-maxTurnDuration)
	}
	if in.Session != "" {
		s, err := verb.FindSession(ctx, a, in.Session)
		if err != nil {
			return f, err
		}
		add("client", s.Client)
		add("session", s.Session)
	}
	return f, nil
}

// FindTurnInjections returns the injections (texts that hooks showed to the agent) in the turn that the entry e
// contains. It returns only injections that match in.HookEvent and in.Entry and did not happen before the time since.
// It returns nil if the turn cannot be parsed.
func (in InjectedIn) FindTurnInjections(e oxbow.Entry, since time.Time) (items []InjectedItem) {
	t, err := session.ParseTurn(e.Content)
	if err != nil {
		return nil // Someone has edited the turn, so its record of the injected texts cannot be read.
	}
	project, _ := e.Label(oxbow.LabelProject)
	used := t.ShownEntriesUsed()
	prompt := text.TruncateWithEllipsis(strings.Join(strings.Fields(t.Prompt()), " "), maxPromptBytes)
	for _, x := range t.InjectionEvents() {
		if x.Time.Before(since) || !in.matchesInjection(x.Injection) {
			continue
		}
		it := InjectedItem{Time: x.Time, Client: t.Client, Session: t.Session, Turn: e.Name, Project: project,
			Injection: *x.Injection, Text: x.Text, Prompt: prompt}
		for _, s := range it.ShownEntries {
			if slices.Contains(used, s) {
				it.EntriesUsedInTurn = append(it.EntriesUsedInTurn, s)
			}
		}
		items = append(items, it)
	}
	return items
}

// matchesInjection reports whether the hook event of the injection x is in.HookEvent, such as "prompt", and x showed
// the entry in.Entry. If in.HookEvent or in.Entry is empty, the corresponding condition is always met.
func (in InjectedIn) matchesInjection(x *session.Injection) bool {
	if in.HookEvent != "" && x.HookEvent != in.HookEvent {
		return false
	}
	if in.Entry == "" {
		return true
	}
	return slices.ContainsFunc(x.ShownEntries, func(s session.ShownEntry) bool { return s.Name == in.Entry })
}

// addItems adds all injections to the totals. It appends the newest injections to the list, at most limit. Their texts
// are kept if withTexts is true or if there is only one injection.
func (out *InjectedOut) addItems(all []InjectedItem, limit int, withTexts bool) {
	for i := range all {
		out.Total.Injections++
		out.Total.InjectedTokens += all[i].TokenCount
		out.Total.CountByHookEvent[all[i].HookEvent]++
		out.Total.UsedInjections += min(1, len(all[i].EntriesUsedInTurn))
	}
	slices.SortStableFunc(all, func(a, b InjectedItem) int {
		return cmp.Or(b.Time.Compare(a.Time), strings.Compare(b.Turn, a.Turn))
	})
	out.HasMore = len(all) > limit
	withTexts = withTexts || len(all) == 1
	for _, it := range all[:min(limit, len(all))] {
		if !withTexts {
			it.Text = ""
		}
		out.Injections = append(out.Injections, it)
	}
}

// explainEmptyResult explains why the list of injections (texts that hooks put before a model) is empty. Possible
// reasons are that the filter selects none, that no session is recorded, and that hooks did not inject anything. If
// in.IsInjectionOff is set, the last two explanations also say that injection is switched off.
func (in InjectedIn) explainEmptyResult(ctx context.Context, a *session.Archive) (why []verb.Note, err error) {
	turns, err := a.Memory.Recall(
		ctx,
		oxbow.Query{
			Limit:  1,
			Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{session.LabelInjected}}}},
		},
	)
	if err != nil {
		return nil, err
	}
	if len(turns) > 0 {
		return []verb.Note{verb.Notef("nothing that was put before a model fits; without a filter there is some")}, nil
	}
	kept, err := a.ListSessions(ctx, oxbow.Filter{}, time.Time{}, 1)
	switch {
	case err != nil:
		return nil, err
	case len(kept) == 0:
		why = []verb.Note{
			verb.Notef(
				"no session is recorded yet; to connect your agents, %s",
				verb.PersonOnlyCommandRef("oxbow setup"),
			),
		}
	default:
		why = []verb.Note{
			verb.Notef(
				"nothing was put before a model in the sessions that are kept; hooks do it when the memory has "+
					"something to say to a prompt; %s to see whether they are registered",
				verb.PersonOnlyCommandRef("oxbow doctor"),
			),
		}
	}
	if in.IsInjectionOff {
		why = append(
			why,
			verb.PlainNote(
				"it is switched off here: by OXBOW_INJECT=off or OXBOW_HOOKS=off, or by a file inject.off or "+
					"hooks.off in the home or in the project's directory .oxbow",
			),
		)
	}
	return why, nil
}
