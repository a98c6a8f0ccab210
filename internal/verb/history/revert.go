// This file implements the verb revert, which reverts all changes by a session, a client, an agent or an interface,
// such as the MCP server.

package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/history/revert"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
	"github.com/oxbow-memory/oxbow/query"
)

// RevertIn is the argument of RevertChanges. It selects the changes that match all fields that are set.
type RevertIn struct {
	Session                string `json:"session,omitempty"      value:"ID"   usage:"changes of this session: the session's ID or its first characters"`
	Client                 string `json:"client,omitempty"       value:"NAME" usage:"changes of this client: its name in the log or the beginning of the name"`
	AccessInterface        string `json:"door,omitempty"         value:"DOOR" usage:"changes that came through this interface, such as mcp"`
	Agent                  string `json:"agent,omitempty"        value:"NAME" usage:"changes of the agent with this name"`
	OnlyWithTrust          string `json:"trust,omitempty"                     usage:"changes by agents and programs whose text has the label taint"            enum:"tainted"`
	Since                  string `json:"since,omitempty"        value:"DATE" usage:"changes on or after this date (2026-04-18, 7d, yesterday)"`
	Until                  string `json:"until,omitempty"        value:"DATE" usage:"changes up to this date, including the whole day"`
	IncludesDerivedEntries bool   `json:"with_derived,omitempty"              usage:"also take back entries that were derived from the changes"`
	DryRun                 bool   `json:"dry_run,omitempty"                   usage:"show what would be taken back and change nothing"`
}

// RevertOut is the result of RevertChanges.
type RevertOut struct {
	DryRun bool `json:"dry_run,omitempty"`
	// number of the change that reverts the selected changes
	Seq           uint64   `json:"seq,omitempty"`
	ChangeNumbers []uint64 `json:"changes"` // numbers of the selected changes
	// for each changed entry, the action that reverted the selected changes to this entry
	Steps []revert.RevertedEntry `json:"entries"`
	// changes by others, made after the selected changes, that are kept
	Conflicts       []revert.Conflict      `json:"conflicts,omitempty"`
	DerivedVersions []revert.CopiedVersion `json:"derived,omitempty"`
	// Reverted texts that were shown to models, newest first.
	ShownItems         []ShownItem `json:"shown,omitempty"`
	EmptyResultReasons []verb.Note `json:"why,omitempty"` // reasons why the call found no change to revert
	Notes              []verb.Note `json:"notes,omitempty"`
}

// ShownItem says that an entry was put before a model.
type ShownItem struct {
	Time          time.Time `json:"time"`
	Client        string    `json:"client"`
	Session       string    `json:"session"`
	Turn          string    `json:"turn"`
	HookEvent     string    `json:"place"`
	Name          string    `json:"name"`
	Version       uint64    `json:"version"`
	IsUsedByAgent bool      `json:"used,omitempty"`
}

// If other writers change the memory in the meantime, the plan is made again, at most maxRevertAttempts times in all.
const maxRevertAttempts = 10

// RevertChanges reverts the effects of the selected changes. A single call of undo cancels the whole revert. Only a
// person may revert, because texts by others may be affected. Everybody may make a dry run.
func RevertChanges(ctx context.Context, w *verb.Workspace, in RevertIn) (RevertOut, error) {
	out := RevertOut{DryRun: in.DryRun, ChangeNumbers: []uint64{}, Steps: []revert.RevertedEntry{}}
	if in == (RevertIn{IncludesDerivedEntries: in.IncludesDerivedEntries, DryRun: in.DryRun}) {
		return out, verb.Advise(
			verb.Invalidf("nothing says which changes are taken back"),
			"give at least one of --session, --client, --door, --agent, --trust, --since and --until",
		)
	}
	if !in.DryRun {
		err := verb.RequirePerson(w.WithSource(ctx), "takes back all changes of a source", "oxbow revert")
		if err != nil {
			return out, err
		}
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	h, err := m.History()
	if err != nil {
		return out, err
	}
	sel, archive, err := selectChangesToRevert(ctx, w, h, in)
	if err != nil {
		return out, err
	}
	p, err := out.planAndApply(ctx, h, sel, w.MaxChangeBytes)
	if err != nil {
		return out, err
	}
	out.ChangeNumbers, out.Steps = append(out.ChangeNumbers, p.ChangesToRevert...), append(out.Steps, p.Steps...)
	out.Conflicts, out.DerivedVersions = p.Conflicts, p.CopiedVersions
	switch {
	case len(out.ChangeNumbers) == 0:
		out.EmptyResultReasons, err = in.explainEmptyResult(ctx, h)
		return out, err
	case archive != nil:
		out.ShownItems, err = shownInjections(ctx, archive, p.FirstVersions)
	}
	out.addNotes(p)
	return out, err
}

// planAndApply plans the revert and, unless out.DryRun is set, applies the plan. If another writer changes an entry in
// the meantime, planAndApply makes a new plan for the versions that are not reverted yet, at most maxRevertAttempts
// times. It returns the newest plan made before any change was applied, because later plans lack the versions that were
// already reverted. maxBytes is the maximum size of a change in bytes (0 means the default).
func (out *RevertOut) planAndApply(
	ctx context.Context,
	h oxbow.Historian,
	sel revert.VersionSelection,
	maxBytes int,
) (applied *revert.Plan, err error) {
	o := oxbow.PartOptions{MaxBytes: maxBytes}
	for try := 0; ; try++ {
		p, err := revert.MakePlan(ctx, h, sel)
		if o.EarlierParts == 0 {
			applied = p
		}
		if err != nil || out.DryRun {
			return applied, err
		}
		done, err := p.Apply(provenance.WithRestoreHistory(ctx, h), o)
		o.EarlierParts += done.ChangeCount
		out.Seq = max(out.Seq, done.LastSeq)
		if !errors.Is(err, oxbow.ErrConflict) || try == maxRevertAttempts {
			return applied, err
		}
	}
}

// addNotes adds notes about the result and about what to do next.
func (out *RevertOut) addNotes(p *revert.Plan) {
	left := slices.ContainsFunc(p.CopiedVersions, func(d revert.CopiedVersion) bool { return !d.IsReverted })
	switch {
	case p.IsEmpty():
		out.Notes = append(
			out.Notes,
			verb.PlainNote("none of the selected changes is in effect any more, so nothing was changed"),
		)
	case out.DryRun:
		out.Notes = append(
			out.Notes,
			verb.Notef("dry run: nothing was changed; call again without %s to do it", verb.ParamRef("dry_run")),
		)
	}
	for _, t := range p.TakenAliases {
		out.Notes = append(out.Notes, verb.PlainNote(t.String()))
	}
	if left {
		out.Notes = append(
			out.Notes,
			verb.Notef("what was derived stays; %s takes it back, too", verb.ParamRef("with_derived")),
		)
	}
	if out.Seq != 0 {
		out.Notes = append(out.Notes, verb.Notef("to take this back: %s", verb.NewUndoHint(out.Seq, "", "")))
	}
}

// selectChangesToRevert returns which changes are to be reverted according to the arguments, and the archive of
// sessions if it exists.
func selectChangesToRevert(
	ctx context.Context, w *verb.Workspace,
	h oxbow.Historian,
	in RevertIn,
) (sel revert.VersionSelection, a *session.Archive, err error) {
	since, err := sessions.ParseSince(w, in.Since)
	if err != nil {
		return sel, nil, err
	}
	until, err := verb.TimeFilter("until", "until", in.Until, w.CurrentTime())
	if err != nil {
		return sel, nil, err
	}
	if w.Sessions != nil {
		a, err = w.Sessions(ctx)
		if err != nil && in.Session != "" {
			return sel, nil, err
		}
	}
	made := func(oxbow.Source) bool { return true }
	sel.IncludesCopiedVersions = in.IncludesDerivedEntries
	if in.Session != "" {
		made, sel.SelectsSource, err = sessionMatchers(ctx, h, a, strings.TrimSpace(in.Session))
		if err != nil {
			return sel, a, err
		}
	}
	sel.SelectsVersion = func(c *oxbow.Change, v *oxbow.Version) bool {
		inTime := (since.IsZero() || !c.Time.Before(since)) && (until.Before.IsZero() || c.Time.Before(until.Before))
		return inTime && in.matchesVersion(c.Source, v) && made(c.Source)
	}
	return sel, a, nil
}

// matchesVersion reports whether the version v, whose source is s, matches the fields of in. The interface and the
// agent of the source must be in.AccessInterface and in.Agent, and the client's name must begin with in.Client. An
// empty field matches every version. If in.OnlyWithTrust is set, the author of the version must also have read text by
// others before writing the version (see isWrittenAfterForeignText).
func (in *RevertIn) matchesVersion(s oxbow.Source, v *oxbow.Version) bool {
	return (in.AccessInterface == "" || strings.EqualFold(s.Door, in.AccessInterface)) &&
		(in.Agent == "" || strings.EqualFold(s.Claimed.Agent, in.Agent)) &&
		hasPrefixFold(s.Claimed.Client, in.Client) && (in.OnlyWithTrust == "" || isWrittenAfterForeignText(s, v))
}

// isWrittenAfterForeignText reports whether an agent wrote the version after it had read text by others. The label
// taint records this. If s says that a person wrote the version, the result is false, even if the entry still has this
// label from an earlier version.
func isWrittenAfterForeignText(s oxbow.Source, v *oxbow.Version) bool {
	_, tainted := v.Entry.Label(oxbow.LabelTaint)
	return tainted && s.Actor != oxbow.Person
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// sessionMatchers finds the session that id identifies, and returns two functions. hasSource reports whether a change
// with the given source was made by the session. hasTurn reports whether the turn with the given name belongs to the
// session.
//
// id is the name of a run of the command line or of a server, or the name of a client's session. The names of runs are
// read from the log. The names of clients' sessions, which are SESSION or CLIENT/SESSION, are read from the log and
// from the archive a. id may also be the beginning of a name, but a name that equals id takes precedence. If several
// sessions match, sessionMatchers returns an error. If none matches, hasSource always returns false. hasTurn is nil if
// none matches, if a is nil, or if id names a run.
func sessionMatchers(
	ctx context.Context,
	h oxbow.Historian,
	a *session.Archive,
	id string,
) (hasSource func(oxbow.Source) bool, hasTurn func(string) bool, err error) {
	runs, named := map[string]bool{}, map[string]bool{}
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, nil, err
		}
		runs[c.Source.Session], named[session.SessionOfSource(c.Source)] = true, true
	}
	var found []session.Summary
	if a != nil {
		found, err = a.FindSessions(ctx, id)
		if err != nil {
			return nil, nil, err
		}
	}
	for _, s := range found {
		named[s.Client+"/"+s.Session] = true
	}
	delete(runs, "")
	delete(named, "")
	all := slices.Concat(findNamesByPrefix(runs, id), findNamesByPrefix(named, id))
	if whole := slices.DeleteFunc(slices.Clone(all), func(s string) bool {
		return s != id && !strings.HasSuffix(s, "/"+id)
	}); len(whole) > 0 {
		all = whole
	}
	switch {
	case len(all) == 0:
		return func(oxbow.Source) bool { return false }, nil, nil
	case len(all) > 1:
		return nil, nil, verb.Advise(
			verb.InvalidValue(
				"session",
				id,
				fmt.Sprintf(
					"means %s, such as %s and %s",
					text.FormatCount(len(all), "session", "sessions"),
					all[0],
					all[1],
				),
			),
			"write more of it, or CLIENT/SESSION",
		)
	}
	client, name, ok := strings.Cut(all[0], "/")
	if !ok {
		return func(s oxbow.Source) bool { return s.Session == all[0] }, nil, nil
	}
	if a == nil {
		return func(s oxbow.Source) bool { return session.SessionOfSource(s) == all[0] }, nil, nil
	}
	o, err := a.MatcherForSession(ctx, client, name)
	return o.MadeChange, o.HasTurn, err
}

// findNamesByPrefix returns in order the names that begin with prefix, or that begin with a client, a slash and prefix.
func findNamesByPrefix(names map[string]bool, prefix string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(n string) bool {
		_, rest, _ := strings.Cut(n, "/")
		return !strings.HasPrefix(n, prefix) && (rest == "" || !strings.HasPrefix(rest, prefix))
	})
}

// shownInjections lists which entries hooks showed to models that had not asked for them, the newest first. The keys of
// minVersionByName are the names of the wanted entries. An entry is listed only if the version that was shown is the
// value in this map or a later version.
func shownInjections(
	ctx context.Context,
	a *session.Archive,
	minVersionByName map[string]uint64,
) (shown []ShownItem, err error) {
	hits, err := a.Memory.Recall(
		ctx,
		oxbow.Query{
			Limit: oxbow.MaxLimit,
			Filter: oxbow.Filter{
				Terms: []oxbow.Term{{Key: session.LabelShownEntry, Values: slices.Sorted(maps.Keys(minVersionByName))}},
			},
		},
	)
	if err != nil {
		return nil, err
	}
	for _, hit := range hits {
		for _, it := range (injection.InjectedIn{}).FindTurnInjections(hit.Entry, time.Time{}) {
			for _, s := range it.ShownEntries {
				first, isAsked := minVersionByName[s.Name]
				if !isAsked || s.SourceKind != query.InNotes {
					continue
				}
				if s.Version >= first {
					shown = append(
						shown,
						ShownItem{
							Time:          it.Time,
							Client:        it.Client,
							Session:       it.Session,
							Turn:          it.Turn,
							HookEvent:     it.HookEvent,
							Name:          s.Name,
							Version:       s.Version,
							IsUsedByAgent: slices.Contains(it.EntriesUsedInTurn, s),
						},
					)
				}
			}
		}
	}
	slices.SortStableFunc(shown, func(a, b ShownItem) int {
		return cmp.Or(b.Time.Compare(a.Time), strings.Compare(a.Name, b.Name))
	})
	return shown, nil
}

// explainEmptyResult explains why no change was selected. For each of in.AccessInterface, in.Client and in.Agent that
// is set, it lists up to 10 values that occur in the history, so that the user can correct the value.
func (in RevertIn) explainEmptyResult(ctx context.Context, h oxbow.Historian) (why []verb.Note, err error) {
	of := map[string]map[string]bool{"door": {}, "client": {}, "agent": {}}
	n := 0
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, err
		}
		n++
		for k, v := range map[string]string{
			"door":   c.Source.Door,
			"client": c.Source.Claimed.Client,
			"agent":  c.Source.Claimed.Agent,
		} {
			if v != "" {
				of[k][v] = true
			}
		}
	}
	if n == 0 {
		return []verb.Note{verb.PlainNote("the memory has no changes yet")}, nil
	}
	why = []verb.Note{verb.Notef("none of the %s fits", text.FormatCount(n, "change", "changes"))}
	for _, g := range []struct{ key, given string }{{"door", in.AccessInterface}, {"client", in.Client},
		{"agent", in.Agent}} {
		switch known := slices.Sorted(maps.Keys(of[g.key])); {
		case g.given == "":
		case len(known) == 0:
			why = append(why, verb.Notef("no change names its %s", g.key))
		default:
			why = append(
				why,
				verb.Notef("each %s that the log has: %s", g.key, text.QuoteAll(known[:min(len(known), 10)])),
			)
		}
	}
	if in.Session != "" {
		why = append(
			why,
			verb.Notef(
				"what a session wrote is known where its client names its calls; %s to see the session of each change",
				verb.PersonOnlyCommandRef("oxbow log --json"),
			),
		)
	}
	if in.OnlyWithTrust != "" {
		why = append(why, verb.PlainNote("no version that an agent or a program left has the label taint"))
	}
	return why, nil
}
