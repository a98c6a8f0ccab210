// Fold: events in any order, and any number of times, make the same turns.
//
// Two reports are of one event when their keys are the same. Where a client gives
// no identifiers, these rules join them; each report is joined once:
//
//   - A prompt without Turn begins a turn. It is the prompt of equal text that is
//     at most promptNear away and does not contradict it: not both have a Turn,
//     and not both an ID. So a hook's prompt joins that of the transcript, and
//     "continue" said twice is two turns.
//   - A call without ID is the call of the same turn and agent with the same tool
//     and input that has an ID and is at most callNear away.
//   - Two prompts or two calls without identifiers that are otherwise the same and
//     at most doubleNear apart are one: a hook that is installed twice.
//   - A text without ID is part of the turn's texts that have one when it can be
//     put together of them: the last message, or all of them, as hooks report at
//     the end of a turn. Other kinds without ID are one when their texts are.
//
// An event without Turn belongs to the turn in which the client has an event of
// its kind and ID; else to the last turn that began before it; else to the first.
// The start of a session, and what the model was shown at it, belong to the turn
// that begins next: a session that is resumed starts with it.

package session

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Fold returns the turns that events make, by client, session and time.
func Fold(events []Event) []Turn {
	talks := map[talk][]Event{}
	for _, e := range events {
		e = e.clean()
		t := talk{e.Client, e.Session}
		talks[t] = append(talks[t], e)
	}
	var turns []Turn
	for _, t := range slices.SortedFunc(maps.Keys(talks), func(a, b talk) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.session, b.session))
	}) {
		some, _ := t.fold(talks[t], 1)
		turns = append(turns, some...)
	}
	return turns
}

// fold returns the turns of one session, numbered from first on, and whether an
// event came before the first of them.
func (t talk) fold(events []Event, first int) (turns []Turn, early bool) {
	groups, early := groupsOf(union(events))
	for i, g := range groups {
		turns = append(turns, g.asTurn(t.client, t.session, first+i))
	}
	return turns, early
}

// union merges the reports of equal keys, and sorts them.
func union(events []Event) []Event {
	at := map[key]int{}
	all := make([]Event, 0, len(events))
	for _, e := range events {
		k := e.key()
		if i, ok := at[k]; ok {
			all[i] = all[i].merge(e)
			continue
		}
		at[k] = len(all)
		all = append(all, e)
	}
	slices.SortFunc(all, compare)
	return all
}

// group is the reports of one turn.
type group struct {
	turn, id string // of its prompt; "" for none
	text     string // of its first prompt
	start    time.Time
	prompts  int
	reports  []Event
}

func (g *group) add(e Event) {
	if e.Kind == Prompt && e.Agent == "" {
		g.prompts++
		if g.prompts == 1 {
			g.text, g.start = e.Text, e.Time
		}
		g.id = cmp.Or(g.id, e.ID)
	}
	g.turn = cmp.Or(g.turn, e.Turn)
	g.reports = append(g.reports, e)
}

// absorb adds the reports of a group that is of the same prompt.
func (g *group) absorb(o *group) {
	g.turn = cmp.Or(g.turn, o.turn)
	g.id = cmp.Or(g.id, o.id)
	g.prompts = g.prompts + o.prompts
	if o.start.Before(g.start) {
		g.start = o.start
	}
	g.reports = append(g.reports, o.reports...)
}

// groups are the turns of a session that is being folded.
type groups struct {
	all       []*group
	named     map[string]*group // by Turn; by ID, with a NUL in front, where there is none
	anonymous []*group
	rest      []Event // that no prompt owns yet
}

// in adds an event to the group of a name.
func (gs *groups) in(name string, e Event) {
	if gs.named[name] == nil {
		gs.named[name] = &group{}
		gs.all = append(gs.all, gs.named[name])
	}
	gs.named[name].add(e)
}

func (gs *groups) add(e Event) {
	switch {
	case e.Turn != "":
		gs.in(e.Turn, e)
	case e.Kind != Prompt || e.Agent != "":
		gs.rest = append(gs.rest, e)
	case e.ID != "":
		gs.in("\x00"+e.ID, e)
	default:
		if i := slices.IndexFunc(gs.anonymous, func(g *group) bool {
			return g.text == e.Text && e.Time.Sub(g.start) <= doubleNear
		}); i >= 0 {
			gs.anonymous[i].add(e)
			return
		}
		g := &group{}
		g.add(e)
		gs.anonymous = append(gs.anonymous, g)
	}
}

// takes reports whether a group can take in another of the same prompt.
func takes(a, b *group) bool {
	if a.turn != "" {
		return b.turn == "" && (a.id == "" || b.id == "" || a.id == b.id)
	}
	return a.id != "" && b.turn == "" && b.id == ""
}

// groupsOf returns the turns of a session, by time, and whether an event came before
// all of them. The reports are sorted.
func groupsOf(reports []Event) (all []*group, early bool) {
	gs := groups{named: map[string]*group{}}
	for _, e := range reports {
		gs.add(e)
	}
	all = joinGroups(append(gs.all, gs.anonymous...))
	for _, g := range all {
		if g.prompts == 0 {
			g.start = g.reports[0].Time
		}
	}
	slices.SortFunc(all, func(a, b *group) int {
		return cmp.Or(
			a.start.Compare(b.start),
			cmp.Compare(a.turn, b.turn),
			cmp.Compare(a.id, b.id),
			cmp.Compare(a.text, b.text),
		)
	})
	return place(all, gs.rest)
}

// joinGroups joins groups of one prompt: those of equal text of which the first can
// take in the second.
func joinGroups(all []*group) []*group {
	byText := map[string][]*group{}
	for _, g := range all {
		if g.prompts > 0 {
			byText[g.text] = append(byText[g.text], g)
		}
	}
	gone := map[*group]bool{}
	for _, same := range byText {
		// Those with an identifier of their own take in first, then those of a turn.
		for _, named := range []bool{false, true} {
			nearest(same, promptNear, func(g *group) time.Time { return g.start }, func(a, b *group) bool {
				return (a.turn != "") == named && !gone[a] && !gone[b] && takes(a, b)
			}, func(a, b *group) {
				a.absorb(b)
				gone[b] = true
			})
		}
	}
	return slices.DeleteFunc(all, func(g *group) bool { return gone[g] })
}

// ownersOf returns the groups of events with identifier; nil for one that several
// have.
func ownersOf(groups []*group) map[key]*group {
	owner := map[key]*group{}
	for _, g := range groups {
		for _, e := range g.reports {
			if e.ID == "" {
				continue
			}
			k := key{kind: e.Kind, id: e.ID}
			if o, ok := owner[k]; ok && o != g {
				owner[k] = nil
				continue
			}
			owner[k] = g
		}
	}
	return owner
}

// place puts the events without a turn where they belong, and reports whether one
// came before all groups. These are sorted.
func place(groups []*group, rest []Event) (all []*group, early bool) {
	if len(groups) == 0 && len(rest) > 0 {
		groups = []*group{{start: rest[0].Time}}
	}
	owner := ownersOf(groups)
	var started *group // by the last start of a session; nil if no turn began since
	for _, e := range rest {
		g := owner[key{kind: e.Kind, id: e.ID}]
		next := nextGroup(groups, e.Time)
		if e.Kind == Start {
			started = next
		}
		if g == nil && next != groups[0] && next == started && e.isOfStart() {
			g = next
		}
		if g == nil {
			i := lastGroup(groups, e.Time)
			early = early || i < 0
			g = groups[max(i, 0)]
		}
		g.reports = append(g.reports, e)
	}
	for _, g := range groups {
		slices.SortFunc(g.reports, compare)
	}
	return groups, early
}

// lastGroup returns the index of the last group that begins at a time or before, -1 if there is
// none. The groups are sorted.
func lastGroup(groups []*group, t time.Time) int {
	i, found := slices.BinarySearchFunc(groups, t, func(g *group, t time.Time) int { return g.start.Compare(t) })
	for ; found && i+1 < len(groups) && groups[i+1].start.Equal(t); i++ {
	}
	if !found {
		i--
	}
	return i
}

// nextGroup returns the first group that begins at a time or later, nil if there is none. The
// groups are sorted.
func nextGroup(groups []*group, t time.Time) *group {
	i, _ := slices.BinarySearchFunc(groups, t, func(g *group, t time.Time) int { return g.start.Compare(t) })
	if i == len(groups) {
		return nil
	}
	return groups[i]
}

// isOfStart reports whether the event is the start of a session, or what the model was shown at it.
func (e *Event) isOfStart() bool {
	return e.Kind == Start || (e.Kind == Injected && e.Injection != nil && e.Injection.Place == placeStart)
}

// placeStart is the place of what a model is shown when a session starts.
const placeStart = "start"

// asTurn returns the group as a turn.
func (g *group) asTurn(client, session string, n int) Turn {
	t := Turn{Client: client, Session: session, N: n, ID: cmp.Or(g.turn, g.id), Start: g.start}
	t.reports = g.bound()
	t.derive()
	return t
}

// derive sets what follows from the reports.
func (t *Turn) derive() {
	t.Events, t.Cut = view(t.reports, t.ID), slices.ContainsFunc(t.reports, func(e Event) bool {
		return e.Kind == cutKind
	})
	for _, e := range t.Events {
		if e.Time.After(t.End) {
			t.End = e.Time
		}
	}
}

// bound returns the reports that a turn may have: its prompts and injections and, of
// the others, the first. For what is left out, a report of kind cutKind stands.
func (g *group) bound() (kept []Event) {
	cut := false
	rank := func(e *Event) int {
		switch {
		case e.Kind == cutKind:
			cut = true
			return 2
		case e.Kind == Prompt && e.Agent == "", e.Kind == Injected:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(g.reports, func(a, b Event) int { return cmp.Compare(rank(&a), rank(&b)) })
	left, texts := maxTurn, map[string]bool{}
	for _, e := range g.reports {
		if e.Kind == cutKind {
			break
		}
		if !texts[e.Text] {
			texts[e.Text] = true
			left -= len(e.Text)
		}
		if e.Call != nil && !texts[e.Call.Output] {
			texts[e.Call.Output] = true
			left -= len(e.Call.Output)
		}
		if left < 0 || len(kept) == maxEvents {
			cut = true
			break
		}
		kept = append(kept, e)
	}
	if cut {
		last := g.reports[0]
		if len(kept) > 0 {
			last = slices.MaxFunc(kept, compare)
		}
		kept = append(
			kept,
			Event{Client: last.Client, Session: last.Session, Turn: g.turn, Kind: cutKind, Time: last.Time},
		)
	}
	slices.SortFunc(kept, compare)
	return kept
}
