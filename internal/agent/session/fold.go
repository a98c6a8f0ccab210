// This file implements folding, which makes turns from events. Events in any order and with any number of repetitions
// result in the same turns.
//
// Hooks and transcripts may report the same event. Two reports are of the same event if their keys are equal. If a
// client reports no identifiers, the following rules decide which reports are of the same event. Such reports are
// joined into one. A report is joined with at most one other report.
//
//   - A prompt without TurnID begins a turn. It is joined with a prompt of equal text that is at most
//     maxJoinedPromptGap away, unless both have a TurnID or both have an ID. Therefore a hook's prompt is joined with
//     the transcript's, and "continue" entered twice makes two turns.
//   - A prompt from a client's list of prompts is dropped if it is not earlier than the first prompt with an
//     identifier. The transcript then also has the prompt, perhaps in other words.
//   - A prompt with HasNoTime is joined by text and order instead. See joinUntimedPrompts.
//   - A call without ID is joined with a call with ID. Both must have the same turn, agent, tool and input. The call
//     with ID must have begun before the report of the other call, and the outcomes must not contradict each other. See
//     mergeReportsByTime.
//   - A call with HasHookID is joined with a call that has the same ID. If no call has the same ID, the call with
//     HasHookID is treated like a call without ID.
//   - Hooks and transcripts of a client may name a tool differently. Therefore, if no call of the same tool is left to
//     join with, a call of another tool with the same command or the same files is joined.
//   - Two prompts or two calls without identifiers that are otherwise equal and at most maxDuplicateReportGap apart are
//     joined, because a hook may be installed twice.
//   - A text without ID is dropped if it consists of texts with ID from the same turn, because hooks report the last
//     message or all messages at a turn's end. Events of other kinds without ID are joined if their texts are equal.
//
// An event without TurnID belongs to the turn that contains an event of the same kind and ID. Otherwise it belongs to
// the last turn that began earlier, or to the first turn if all began later. The start of a session and the text that
// the model was shown at the start belong to the next turn, because a resumed session begins with them.

package session

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// BuildTurns returns the turns that consist of the events, sorted by client, session and time.
func BuildTurns(events []Event) []Turn {
	talks := map[sessionKey][]Event{}
	for _, e := range events {
		e = e.normalize()
		t := sessionKey{e.Client, e.Session}
		talks[t] = append(talks[t], e)
	}
	var turns []Turn
	for _, t := range slices.SortedFunc(maps.Keys(talks), func(a, b sessionKey) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.session, b.session))
	}) {
		some, _ := t.buildTurns(talks[t], 1)
		turns = append(turns, some...)
	}
	return turns
}

// buildTurns returns the turns of one session. The argument firstTurnNumber is the number for the first of these turns.
// The result hasEventBeforeTurns is true if an event is older than the first turn. The caller must then load earlier
// turns and call buildTurns again with their events.
func (t sessionKey) buildTurns(events []Event, firstTurnNumber int) (turns []Turn, hasEventBeforeTurns bool) {
	gs := turnGroups{groupsByName: map[string]*turnGroup{}}
	var rest []Event // events whose turn is not known yet
	for _, e := range dropDuplicateListPrompts(mergeEventReports(events)) {
		if g := gs.findGroup(&e); g != nil {
			g.addEventReport(e)
		} else {
			rest = append(rest, e)
		}
	}
	all := joinUntimedPrompts(joinEqualPrompts(append(gs.allGroups, gs.groupsWithoutIDs...)))
	sortGroupsByTime(all)
	if len(all) == 0 && len(rest) > 0 {
		all = []*turnGroup{{start: rest[0].Time}}
	}
	hasEventBeforeTurns = addEventsWithoutTurn(all, rest)
	for i, g := range all {
		turn := Turn{
			Client:    t.client,
			Session:   t.session,
			Number:    firstTurnNumber + i,
			PromptID:  cmp.Or(g.turnID, g.promptID),
			StartTime: g.start,
		}
		turn.unmergedReports = g.limitEventReports()
		turn.deriveEventsFromReports()
		turns = append(turns, turn)
	}
	return turns, hasEventBeforeTurns
}

// dropDuplicateListPrompts drops prompts that come from a client's list of prompts if a transcript or a hook reports
// the prompts too. The events must be sorted by time.
//
// The function compares times. A prompt from a transcript or a hook has a turn or an ID. A listed prompt is dropped if
// it is later than the first such prompt, or less than maxJoinedPromptGap earlier. If there is no such prompt, nothing
// is dropped.
func dropDuplicateListPrompts(events []Event) []Event {
	isNamed := func(e Event) bool { return e.isMainPrompt() && !e.IsFromPromptList && e.TurnID+e.ID != "" }
	first := slices.IndexFunc(events, isNamed)
	if first < 0 {
		return events
	}
	begin := events[first].Time.Add(-maxJoinedPromptGap)
	return slices.DeleteFunc(events, func(e Event) bool { return e.IsFromPromptList && e.Time.After(begin) })
}

// mergeEventReports returns the events in sorted order, without repeated events. Several elements of the slice events
// may be reports of the same event. Such reports have the same identityKey, and mergeEventReports merges them into one
// event.
func mergeEventReports(events []Event) []Event {
	at := map[eventIdentity]int{}
	all := make([]Event, 0, len(events))
	for _, e := range events {
		k := e.identityKey()
		if i, ok := at[k]; ok {
			all[i] = all[i].merge(e)
			continue
		}
		at[k] = len(all)
		all = append(all, e)
	}
	slices.SortFunc(all, compareEvents)
	return all
}

// turnGroup collects the reports that belong to one turn.
type turnGroup struct {
	turnID, promptID string // the turn's name and the ID of its prompt ("" if not known)
	promptText       string // text of the first prompt in the list eventReports
	start            time.Time
	hasNoTime        bool // The time of the first prompt is only an estimate (see Event.HasNoTime).
	promptCount      int
	eventReports     []Event
}

// addEventReport adds a report to the group. The first prompt to the main agent determines the start and the text of
// the group's prompt.
func (g *turnGroup) addEventReport(e Event) {
	if e.isMainPrompt() {
		g.promptCount++
		if g.promptCount == 1 {
			g.promptText = e.Text
			g.start, g.hasNoTime = e.Time, e.HasNoTime
		}
		g.promptID = cmp.Or(g.promptID, e.ID)
	}
	g.turnID = cmp.Or(g.turnID, e.TurnID)
	g.eventReports = append(g.eventReports, e)
}

// addReportsOfGroup adds the reports of another group, which belongs to the same prompt.
func (g *turnGroup) addReportsOfGroup(o *turnGroup) {
	g.turnID = cmp.Or(g.turnID, o.turnID)
	g.promptID = cmp.Or(g.promptID, o.promptID)
	g.promptCount = g.promptCount + o.promptCount
	switch {
	case g.hasNoTime && !o.hasNoTime:
		g.start, g.hasNoTime = o.start, false
	case o.start.Before(g.start):
		g.start = o.start
	}
	g.eventReports = append(g.eventReports, o.eventReports...)
}

// turnGroups contains a session's groups of reports while turns are made from the groups.
type turnGroups struct {
	allGroups []*turnGroup
	// Groups by name. The name is the TurnID of the group's events. For a prompt without a TurnID, the name is "\x00"
	// followed by the prompt's ID.
	groupsByName     map[string]*turnGroup
	groupsWithoutIDs []*turnGroup
}

// namedGroup returns the group with a name. It creates a missing group.
func (gs *turnGroups) namedGroup(name string) *turnGroup {
	if gs.groupsByName[name] == nil {
		gs.groupsByName[name] = &turnGroup{}
		gs.allGroups = append(gs.allGroups, gs.groupsByName[name])
	}
	return gs.groupsByName[name]
}

// findOrAddGroupWithoutID returns the group for the prompt e, which has neither a TurnID nor an ID. It returns an
// existing group if the prompt of the group has the same text and e is at most maxDuplicateReportGap later. Otherwise,
// it creates a group.
func (gs *turnGroups) findOrAddGroupWithoutID(e *Event) *turnGroup {
	i := slices.IndexFunc(gs.groupsWithoutIDs, func(g *turnGroup) bool {
		return g.promptText == e.Text && e.Time.Sub(g.start) <= maxDuplicateReportGap
	})
	if i >= 0 {
		return gs.groupsWithoutIDs[i]
	}
	g := &turnGroup{}
	gs.groupsWithoutIDs = append(gs.groupsWithoutIDs, g)
	return g
}

// findGroup returns the turn to which the event e belongs. If no such turn exists yet, it creates an empty turn. The
// turn is found by e.TurnID. A prompt to the main agent without a TurnID is found by its ID or, without an ID, by its
// text and time. For any other event without a TurnID, findGroup returns nil.
func (gs *turnGroups) findGroup(e *Event) *turnGroup {
	switch {
	case e.TurnID != "":
		return gs.namedGroup(e.TurnID)
	case !e.isMainPrompt():
		return nil
	case e.ID != "":
		return gs.namedGroup("\x00" + e.ID)
	}
	return gs.findOrAddGroupWithoutID(e)
}

// isMainPrompt reports whether the event is a prompt to the main agent. A sub-agent's task is not.
func (e *Event) isMainPrompt() bool { return e.Kind == KindPrompt && e.SubAgent == "" }

// canAbsorbGroup reports whether the reports of group b may be added to group a. This is allowed if the reports of both
// groups may belong to the same prompt. There are two cases:
//   - If group a has a turn ID, group b must not have a turn ID. If both groups have a prompt ID, the prompt IDs must
//     be equal.
//   - If group a has no turn ID, group a must have a prompt ID, and group b must have neither a turn ID nor a prompt
//     ID.
func canAbsorbGroup(a, b *turnGroup) bool {
	if a.turnID != "" {
		return b.turnID == "" && (a.promptID == "" || b.promptID == "" || a.promptID == b.promptID)
	}
	return a.promptID != "" && b.turnID == "" && b.promptID == ""
}

// sortGroupsByTime sorts groups of reports by the time of their first prompt. For a group without a prompt, the time
// of the first report is used.
func sortGroupsByTime(all []*turnGroup) {
	for _, g := range all {
		if g.promptCount == 0 {
			g.start = g.eventReports[0].Time
		}
	}
	slices.SortFunc(all, func(a, b *turnGroup) int {
		return cmp.Or(
			a.start.Compare(b.start),
			cmp.Compare(a.turnID, b.turnID),
			cmp.Compare(a.promptID, b.promptID),
			cmp.Compare(a.promptText, b.promptText),
		)
	})
}

// joinEqualPrompts joins two groups of reports into one if their first prompts have equal texts and nearly the same
// time.
func joinEqualPrompts(all []*turnGroup) []*turnGroup {
	byText := map[string][]*turnGroup{}
	for _, g := range all {
		if g.promptCount > 0 && !g.hasNoTime {
			byText[g.promptText] = append(byText[g.promptText], g)
		}
	}
	gone := map[*turnGroup]bool{}
	for _, same := range byText {
		// In each pair, the first group takes over the reports of the second group. The first pass joins pairs whose
		// first group has only a prompt ID. The second pass joins pairs whose first group has a turn ID.
		for _, named := range []bool{false, true} {
			joinNearestPairs(
				same,
				maxJoinedPromptGap,
				func(g *turnGroup) time.Time { return g.start },
				func(a, b *turnGroup) bool {
					return (a.turnID != "") == named && !gone[a] && !gone[b] && canAbsorbGroup(a, b)
				},
				func(a, b *turnGroup) {
					a.addReportsOfGroup(b)
					gone[b] = true
				},
			)
		}
	}
	return slices.DeleteFunc(all, func(g *turnGroup) bool { return gone[g] })
}

// joinUntimedPrompts joins each prompt from a transcript without times with a hook's report of the same prompt. Both
// the transcript and the hooks' reports are in the order of the conversation, but the hooks may have missed its
// beginning. Therefore joinUntimedPrompts goes through both from the end to the beginning, and joins prompts with equal
// texts. It does not join a prompt that a hook reported more than maxJoinedPromptGap after the time that was assumed
// for the transcript.
func joinUntimedPrompts(all []*turnGroup) []*turnGroup {
	var reported, untimed []*turnGroup
	for _, g := range all {
		switch {
		case g.promptCount == 0:
		case g.hasNoTime:
			untimed = append(untimed, g)
		case g.turnID == "" && g.promptID == "":
			reported = append(reported, g)
		}
	}
	sortGroupsByTime(reported)
	sortGroupsByTime(untimed)
	gone, left := map[*turnGroup]bool{}, untimed
	for _, r := range slices.Backward(reported) {
		for i, u := range slices.Backward(left) {
			wasWritten := !r.start.After(u.start.Add(maxJoinedPromptGap))
			if wasWritten && u.promptText == r.promptText {
				u.addReportsOfGroup(r)
				gone[r] = true
				left = left[:i]
				break
			}
		}
	}
	setUnknownStartTimes(untimed)
	return slices.DeleteFunc(all, func(g *turnGroup) bool { return gone[g] })
}

// setUnknownStartTimes changes the start of the groups whose time is only an estimate, so that they start before the
// next group in the list. The groups must be in the order of the conversation. If no group with a true time follows,
// the estimated time stays.
func setUnknownStartTimes(groups []*turnGroup) {
	var next *turnGroup
	for _, g := range slices.Backward(groups) {
		if g.hasNoTime && next == nil {
			continue
		}
		if g.hasNoTime {
			g.start = minTime(g.start, next.start.Add(-time.Millisecond))
		}
		next = g
	}
}

// minTime returns the earlier of two times.
func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// turnGroupsByEvent returns the group of each event that has an ID. The value is nil if several groups contain the
// event.
func turnGroupsByEvent(groups []*turnGroup) map[eventIdentity]*turnGroup {
	owner := map[eventIdentity]*turnGroup{}
	for _, g := range groups {
		for _, e := range g.eventReports {
			if e.ID == "" {
				continue
			}
			k := eventIdentity{kind: e.Kind, eventID: e.ID}
			if o, ok := owner[k]; ok && o != g {
				owner[k] = nil
				continue
			}
			owner[k] = g
		}
	}
	return owner
}

// addEventsWithoutTurn adds the events whose turns are not known to groups. A group contains the reports of one turn.
// The list groups must be sorted by time and must not be empty. For each event, the first of these rules that fits
// selects the group:
//   - A group already contains a report of the same event: that group.
//   - The event belongs to the start of a resumed session: the first group that began after this start.
//   - Otherwise: the last group that began before the event. If there is none, it is the first group, and the result is
//     true.
func addEventsWithoutTurn(groups []*turnGroup, eventsWithoutTurn []Event) (hasEventBeforeGroups bool) {
	owner := turnGroupsByEvent(groups)
	var started *turnGroup // first group that began after the last session start
	for _, e := range eventsWithoutTurn {
		g := owner[eventIdentity{kind: e.Kind, eventID: e.ID}]
		next := firstGroupAfter(groups, e.Time)
		if e.Kind == KindSessionStart {
			started = next
		}
		// If a session start comes between two turns, the person has resumed the session before the second turn.
		isOfResumption := e.isFromSessionStart() && next == started && next != groups[0]
		if g == nil && isOfResumption {
			g = next
		}
		if g == nil {
			i := findLastGroupIndexBefore(groups, e.Time)
			hasEventBeforeGroups = hasEventBeforeGroups || i < 0
			g = groups[max(i, 0)]
		}
		g.eventReports = append(g.eventReports, e)
	}
	return hasEventBeforeGroups
}

// findLastGroupIndexBefore returns the index of the last group that begins at or before t, or -1 if all groups begin
// later. The groups must be sorted by time.
func findLastGroupIndexBefore(groups []*turnGroup, t time.Time) int {
	i, found := slices.BinarySearchFunc(groups, t, func(g *turnGroup, t time.Time) int { return g.start.Compare(t) })
	for ; found && i+1 < len(groups) && groups[i+1].start.Equal(t); i++ {
	}
	if !found {
		i--
	}
	return i
}

// firstGroupAfter returns the first group that begins at or after t, or nil if all groups begin earlier. The groups
// must be sorted by time.
func firstGroupAfter(groups []*turnGroup, t time.Time) *turnGroup {
	i, _ := slices.BinarySearchFunc(groups, t, func(g *turnGroup, t time.Time) int { return g.start.Compare(t) })
	if i == len(groups) {
		return nil
	}
	return groups[i]
}

// isFromSessionStart reports whether the event is a session start, or an injection that was made at a session start.
func (e *Event) isFromSessionStart() bool {
	return e.Kind == KindSessionStart ||
		(e.Kind == KindInjection && e.Injection != nil && e.Injection.HookEvent == hookEventSessionStart)
}

// hookEventSessionStart is the value of the field HookEvent in an [Injection] that a hook makes when a session starts.
const hookEventSessionStart = "start"

// limitEventReports returns the reports that fit into a turn. Prompts and injections come first, then the
// earliest other reports. If reports are left out, it adds a report of kind kindOmittedReports.
func (g *turnGroup) limitEventReports() (kept []Event) {
	cut := false
	rank := func(e *Event) int {
		switch {
		case e.Kind == kindOmittedReports:
			cut = true
			return 2
		case e.Kind == KindPrompt && e.SubAgent == "", e.Kind == KindInjection:
			return 0
		}
		return 1
	}
	slices.SortFunc(g.eventReports, compareEvents)
	slices.SortStableFunc(g.eventReports, func(a, b Event) int { return cmp.Compare(rank(&a), rank(&b)) })
	left, texts := maxTurnBytes, map[string]bool{}
	for _, e := range g.eventReports {
		if e.Kind == kindOmittedReports {
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
		if left < 0 || len(kept) == maxClientReportsPerTurn {
			cut = true
			break
		}
		kept = append(kept, e)
	}
	if cut {
		last := g.eventReports[0]
		if len(kept) > 0 {
			last = slices.MaxFunc(kept, compareEvents)
		}
		kept = append(
			kept,
			Event{
				Client:  last.Client,
				Session: last.Session,
				TurnID:  g.turnID,
				Kind:    kindOmittedReports,
				Time:    last.Time,
			},
		)
	}
	slices.SortFunc(kept, compareEvents)
	return kept
}
