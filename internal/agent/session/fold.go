// This file implements folding: events in any order and with any number of repetitions result in
// the same turns.
//
// Two reports are of the same event if their keys are equal. If a client reports no identifiers,
// the following rules join reports. Each report is joined at most once.
//
//   - A prompt without Turn begins a turn. It is joined with a prompt of equal text that is at
//     most promptNear away, unless both have a Turn or both have an ID. Therefore a hook's
//     prompt is joined with the transcript's, and "continue" entered twice makes two turns.
//   - A call without ID is joined with a call with ID. Both must have the same turn, agent, tool
//     and input, and the call with ID must have begun before the report and must not contradict
//     its outcome. See joinInOrder.
//   - Two prompts or two calls without identifiers that are otherwise equal and at most
//     doubleNear apart are joined, because a hook may be installed twice.
//   - A text without ID is dropped if it consists of texts with ID from the same turn, because
//     hooks report the last message or all messages at a turn's end. Events of other kinds
//     without ID are joined if their texts are equal.
//
// An event without Turn belongs to the turn that contains an event of the same kind and ID.
// Otherwise it belongs to the last turn that began earlier, or to the first turn if all began
// later. The start of a session and the text that the model was shown at the start belong to the
// next turn, because a resumed session begins with them.

package session

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Fold returns the turns that consist of the events, sorted by client, session and time.
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

// fold returns the turns of a session, numbered from first on. It reports whether an event is
// earlier than the first turn.
func (t talk) fold(events []Event, first int) (turns []Turn, early bool) {
	gs := groups{named: map[string]*group{}}
	var rest []Event // events without a known turn
	for _, e := range union(events) {
		if g := gs.groupOf(&e); g != nil {
			g.add(e)
		} else {
			rest = append(rest, e)
		}
	}
	all := joinGroups(append(gs.all, gs.anonymous...))
	sortGroups(all)
	if len(all) == 0 && len(rest) > 0 {
		all = []*group{{start: rest[0].Time}}
	}
	early = place(all, rest)
	for i, g := range all {
		turn := Turn{Client: t.client, Session: t.session, N: first + i, ID: cmp.Or(g.turn, g.id), Start: g.start}
		turn.reports = g.limitReports()
		turn.derive()
		turns = append(turns, turn)
	}
	return turns, early
}

// union merges reports with equal keys and returns the events sorted.
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

// group collects the reports that become one turn.
type group struct {
	turn, id string // Turn and ID of the prompt ("" if not known)
	text     string // text of the first prompt
	start    time.Time
	prompts  int
	reports  []Event
}

func (g *group) add(e Event) {
	if e.isPersonsPrompt() {
		g.prompts++
		if g.prompts == 1 {
			g.text, g.start = e.Text, e.Time
		}
		g.id = cmp.Or(g.id, e.ID)
	}
	g.turn = cmp.Or(g.turn, e.Turn)
	g.reports = append(g.reports, e)
}

// absorb adds the reports of another group that belongs to the same prompt.
func (g *group) absorb(o *group) {
	g.turn = cmp.Or(g.turn, o.turn)
	g.id = cmp.Or(g.id, o.id)
	g.prompts = g.prompts + o.prompts
	if o.start.Before(g.start) {
		g.start = o.start
	}
	g.reports = append(g.reports, o.reports...)
}

// groups contains the turns of a session while it is folded.
type groups struct {
	all       []*group
	named     map[string]*group // by Turn, or by "\x00" + ID for events without Turn
	anonymous []*group
}

// namedGroup returns the named group, and creates the group if necessary.
func (gs *groups) namedGroup(name string) *group {
	if gs.named[name] == nil {
		gs.named[name] = &group{}
		gs.all = append(gs.all, gs.named[name])
	}
	return gs.named[name]
}

// anonymousGroup returns the group of a prompt that has neither Turn nor ID, and creates the group if necessary.
func (gs *groups) anonymousGroup(e *Event) *group {
	i := slices.IndexFunc(gs.anonymous, func(g *group) bool {
		return g.text == e.Text && e.Time.Sub(g.start) <= doubleNear
	})
	if i >= 0 {
		return gs.anonymous[i]
	}
	g := &group{}
	gs.anonymous = append(gs.anonymous, g)
	return g
}

// groupOf returns the group to which an event belongs by its Turn or, for a prompt, by its ID or text. It returns nil
// if the turn of the event is not known.
func (gs *groups) groupOf(e *Event) *group {
	switch {
	case e.Turn != "":
		return gs.namedGroup(e.Turn)
	case !e.isPersonsPrompt():
		return nil
	case e.ID != "":
		return gs.namedGroup("\x00" + e.ID)
	}
	return gs.anonymousGroup(e)
}

// isPersonsPrompt reports whether the event is a prompt for the main agent, not the task of a sub-agent.
func (e *Event) isPersonsPrompt() bool { return e.Kind == Prompt && e.Agent == "" }

// canAbsorb reports whether group a can absorb group b, which belongs to the same prompt.
func canAbsorb(a, b *group) bool {
	if a.turn != "" {
		return b.turn == "" && (a.id == "" || b.id == "" || a.id == b.id)
	}
	return a.id != "" && b.turn == "" && b.id == ""
}

// sortGroups sorts the groups by time. Groups without a prompt start with their first report.
func sortGroups(all []*group) {
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
}

// joinGroups joins groups whose first prompts have equal text and are near each other in time.
func joinGroups(all []*group) []*group {
	byText := map[string][]*group{}
	for _, g := range all {
		if g.prompts > 0 {
			byText[g.text] = append(byText[g.text], g)
		}
	}
	gone := map[*group]bool{}
	for _, same := range byText {
		// Groups with a prompt ID absorb first, then groups with a Turn.
		for _, named := range []bool{false, true} {
			nearest(same, promptNear, func(g *group) time.Time { return g.start }, func(a, b *group) bool {
				return (a.turn != "") == named && !gone[a] && !gone[b] && canAbsorb(a, b)
			}, func(a, b *group) {
				a.absorb(b)
				gone[b] = true
			})
		}
	}
	return slices.DeleteFunc(all, func(g *group) bool { return gone[g] })
}

// groupsByEvent returns the group of each event that has an ID. The group is nil if several groups
// contain the event.
func groupsByEvent(groups []*group) map[key]*group {
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

// place adds the events without a turn to their groups, and reports whether an event is earlier
// than all groups. The groups must be sorted.
func place(groups []*group, rest []Event) (early bool) {
	owner := groupsByEvent(groups)
	var started *group // next group after the last session start
	for _, e := range rest {
		g := owner[key{kind: e.Kind, id: e.ID}]
		next := nextGroup(groups, e.Time)
		if e.Kind == Start {
			started = next
		}
		// A turn after the first one begins with the last session start.
		isOfResumption := e.isOfStart() && next == started && next != groups[0]
		if g == nil && isOfResumption {
			g = next
		}
		if g == nil {
			i := lastGroup(groups, e.Time)
			early = early || i < 0
			g = groups[max(i, 0)]
		}
		g.reports = append(g.reports, e)
	}
	return early
}

// lastGroup returns the index of the last group that begins at or before t, or -1 if all begin
// later. The groups must be sorted.
func lastGroup(groups []*group, t time.Time) int {
	i, found := slices.BinarySearchFunc(groups, t, func(g *group, t time.Time) int { return g.start.Compare(t) })
	for ; found && i+1 < len(groups) && groups[i+1].start.Equal(t); i++ {
	}
	if !found {
		i--
	}
	return i
}

// nextGroup returns the first group that begins at or after t, or nil if all begin earlier. The
// groups must be sorted.
func nextGroup(groups []*group, t time.Time) *group {
	i, _ := slices.BinarySearchFunc(groups, t, func(g *group, t time.Time) int { return g.start.Compare(t) })
	if i == len(groups) {
		return nil
	}
	return groups[i]
}

// isOfStart reports whether the event is a session start or the injection made at a session start.
func (e *Event) isOfStart() bool {
	return e.Kind == Start || (e.Kind == Injected && e.Injection != nil && e.Injection.Place == placeStart)
}

// placeStart is the place of injections that are made when a session starts.
const placeStart = "start"

// limitReports returns the reports that fit into a turn: all prompts and injections come first, then the
// earliest other reports. If reports are left out, it adds a report of kind cutKind.
func (g *group) limitReports() (kept []Event) {
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
	slices.SortFunc(g.reports, compare)
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
