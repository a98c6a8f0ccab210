// This file joins the reports of a turn. A report is an event from a hook or a transcript, and both may report the same
// event. The joined turn contains each event once.

package session

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

const (
	maxJoinedPromptGap    = 2 * time.Minute
	maxDuplicateReportGap = 2 * time.Second
	// maximum difference between the clocks of a client's hooks and its transcript
	clockSlack = 2 * time.Second
	// Maximum difference between the time of a hook's report about a call and the call's time in a transcript without
	// start times.
	writeDelay = time.Minute
)

// eventIdentity identifies an event. Reports with equal eventIdentity values are reports of the same event.
type eventIdentity struct {
	turnID  string
	kind    EventKind
	eventID string
	// for an event without ID: the agent's name and the event's text, and for a call also the tool's arguments
	text string
	// time is the event's time. It is zero for an event with an ID. For an event without ID, it is set if the event has
	// no turn, or if it is a prompt, a call or a note about omitted reports.
	time time.Time
}

// identityKey returns the identity of the event that e reports. Reports with equal identities are reports of the same
// event.
func (e *Event) identityKey() eventIdentity {
	k := eventIdentity{turnID: e.TurnID, kind: e.Kind, eventID: e.ID}
	if e.ID != "" {
		return k
	}
	k.text = e.SubAgent + "\x00" + e.Text
	if e.Call != nil {
		k.text += "\x00" + e.Call.toolArgsKey()
	}
	if e.TurnID == "" || slices.Contains([]EventKind{KindPrompt, KindToolCall, kindOmittedReports}, e.Kind) {
		k.time = e.Time
	}
	return k
}

// joinNearestPairs calls join for pairs of elements of es. It calls join(a, b) only if canJoin(a, b) is true and the
// times of a and b differ by at most maxGap. The nearest pairs are joined first, and each element is joined at most
// once.
func joinNearestPairs[E comparable](
	es []E,
	maxGap time.Duration,
	timeOf func(E) time.Time,
	canJoin func(a, b E) bool,
	join func(a, b E),
) {
	type pair struct {
		a, b  int
		apart time.Duration
	}
	var pairs []pair
	for i, a := range es {
		for j, b := range es {
			d := timeOf(a).Sub(timeOf(b)).Abs()
			isNear := i != j && d <= maxGap
			if isNear && canJoin(a, b) {
				pairs = append(pairs, pair{i, j, d})
			}
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(p.apart, q.apart) })
	used := make([]bool, len(es))
	for _, p := range pairs {
		if !used[p.a] && !used[p.b] {
			used[p.a], used[p.b] = true, true
			join(es[p.a], es[p.b])
		}
	}
}

// deriveEventsFromReports computes t.Events from t.unmergedReports, which are reports of hooks and transcripts. Reports
// about the same event become one event. The reports must be in the order of compareEvents, that is, by time.
// deriveEventsFromReports also sets HasOmittedEvents. It moves EndTime forward to the time of the last event.
func (t *Turn) deriveEventsFromReports() {
	t.HasOmittedEvents = false
	var all, texts, calls []Event
	same := map[eventIdentity]int{} // maps the identity of an event to its index in the slice all
	for _, e := range assignMissingTimes(t.unmergedReports, t.StartTime) {
		e.TurnID, e.IsFromPromptList = t.PromptID, false
		switch {
		case e.Kind == kindOmittedReports:
			t.HasOmittedEvents = true
			continue
		case e.ID == "" && e.Kind == KindText:
			texts = append(texts, e)
			continue
		case e.Kind == KindToolCall && (e.ID == "" || e.HasHookID):
			calls = append(calls, e)
			continue
		}
		k := eventIdentity{kind: e.Kind, eventID: e.ID}
		if e.ID == "" {
			k.text = e.SubAgent + "\x00" + e.Text
		}
		if i, ok := same[k]; ok {
			all[i] = all[i].merge(e)
			continue
		}
		same[k] = len(all)
		all = append(all, e)
	}
	all = joinEventsWithoutID(all)
	all = append(all, textsNotInOtherEvents(all, texts)...)
	all = append(all, mergeMatchingCalls(all, calls)...)
	for i := range all {
		all[i].HasHookID = false
	}
	slices.SortFunc(all, compareEvents)
	t.Events = all
	for _, e := range all {
		if e.Time.After(t.EndTime) {
			t.EndTime = e.Time
		}
	}
}

// hasUntimedEvent reports whether one of the events has HasNoTime.
func hasUntimedEvent(events []Event) bool {
	return slices.ContainsFunc(events, func(e Event) bool { return e.HasNoTime })
}

// assignMissingTimes returns the reports of a turn with a time for each report that has HasNoTime. These reports get
// times right after the start of the turn, in their order.
func assignMissingTimes(reports []Event, start time.Time) []Event {
	if !hasUntimedEvent(reports) {
		return reports
	}
	all := slices.Clone(reports)
	for i := range all {
		if all[i].HasNoTime {
			all[i].Time, all[i].HasNoTime = start, false
			start = start.Add(time.Millisecond)
		}
	}
	slices.SortFunc(all, compareEvents)
	return all
}

// joinEventsWithoutID merges each event without an ID into an event with an ID that has the same kind, agent and text.
func joinEventsWithoutID(all []Event) []Event {
	for i := 0; i < len(all); {
		e := all[i]
		if e.ID == "" {
			if j := slices.IndexFunc(all, func(o Event) bool {
				return o.ID != "" && o.Kind == e.Kind && o.SubAgent == e.SubAgent && o.Text == e.Text
			}); j >= 0 {
				all[j] = all[j].merge(e)
				all = slices.Delete(all, i, i+1)
				continue
			}
		}
		i++
	}
	return all
}

// textsNotInOtherEvents returns the events in texts whose texts are not already in otherEvents. Each event in texts is
// a text by an agent and has no ID. Events of the same agent with equal texts are merged into one event.
//
// An event is left out if its text is a concatenation of texts by the same agent in otherEvents. The reason is that
// some hooks report all messages of a turn again when the turn ends. White space is ignored in this comparison.
func textsNotInOtherEvents(otherEvents, texts []Event) (rest []Event) {
	for _, e := range texts {
		var named []string
		for _, o := range otherEvents {
			if o.isTextOfAgent(e.SubAgent) {
				named = append(named, removeSpace(o.Text))
			}
		}
		same := slices.IndexFunc(rest, func(o Event) bool { return o.SubAgent == e.SubAgent && o.Text == e.Text })
		switch {
		case same >= 0:
			rest[same] = rest[same].merge(e)
		case !isConcatenationOf(removeSpace(e.Text), named):
			rest = append(rest, e)
		}
	}
	return rest
}

// isTextOfAgent reports whether the event has an ID and is a text by the agent with this name ("" for the main agent).
// If a client does not report the name of a sub-agent, the name is [clientfile.UnnamedAgent], which matches every
// sub-agent.
func (e *Event) isTextOfAgent(agent string) bool {
	isAgent := e.SubAgent == agent
	if e.SubAgent != "" && agent != "" {
		isAgent = isAgent || e.SubAgent == clientfile.UnnamedAgent || agent == clientfile.UnnamedAgent
	}
	return isAgent && e.Kind == KindText && e.ID != ""
}

// removeSpace returns a text without white space.
func removeSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// isConcatenationOf reports whether s consists of parts from the list, in their order. Parts may be left out: "ac" is a
// concatenation of parts from the list "a", "b", "c".
func isConcatenationOf(s string, parts []string) bool {
	ends := []int{0}
	for _, p := range parts {
		for _, at := range slices.Clone(ends) {
			if p == "" || !strings.HasPrefix(s[at:], p) {
				continue
			}
			if slices.Contains(ends, at+len(p)) {
				continue
			}
			if at+len(p) == len(s) {
				return true
			}
			ends = append(ends, at+len(p))
		}
	}
	return s == ""
}

// mergeMatchingCalls merges tool calls that hooks reported (reportedCalls) into the events of the transcript that
// describe the same calls. Each tool call in transcriptEvents has an ID. mergeMatchingCalls changes the elements of
// transcriptEvents, and returns the reported calls for which there is no such event.
func mergeMatchingCalls(transcriptEvents, reportedCalls []Event) (unmatchedCalls []Event) {
	if len(reportedCalls) == 0 {
		return nil
	}
	var named, reports []*Event
	for i := range transcriptEvents {
		if transcriptEvents[i].Kind == KindToolCall {
			named = append(named, &transcriptEvents[i])
		}
	}
	reports, named = joinCallsByID(reportedCalls, named)
	input := func(e *Event) string {
		return e.SubAgent + "\x00" + (&ToolCall{}).overrideUnlessNil(e.Call).toolArgsKey()
	}
	reports, named = joinReportedCallsByInput(mergeDuplicateReports(reports, input), named, input)
	var loose []*Event
	for _, e := range reports {
		if e.HasHookID {
			loose = append(loose, e)
		} else {
			unmatchedCalls = append(unmatchedCalls, *e)
		}
	}
	for _, e := range joinCallsByArguments(loose, named, firstWorkingDir(transcriptEvents, reportedCalls)) {
		unmatchedCalls = append(unmatchedCalls, *e)
	}
	return unmatchedCalls
}

// joinCallsByArguments merges calls that hooks reported (calls) into calls from the transcript (transcriptCalls) with
// the same arguments, even if the tools have different names. It returns the reported calls that remain. Paths in the
// arguments may be relative to dir.
func joinCallsByArguments(calls, transcriptCalls []*Event, dir string) (rest []*Event) {
	if len(calls) == 0 {
		return nil
	}
	rest, _ = joinReportedCallsByInput(
		calls,
		slices.Clone(transcriptCalls),
		func(e *Event) string { return e.encodeCallArguments(dir) },
	)
	for _, e := range transcriptCalls {
		e.Call = e.Call.removeRepeatedPaths(dir)
	}
	return rest
}

// joinCallsByID merges calls that hooks reported (calls) into the calls from the transcript (transcriptCalls) with the
// same ID. Reported calls with the same ID are also merged into each other. The results contain the reported calls that
// remain, and the calls from the transcript into which no call was merged.
func joinCallsByID(calls []Event, transcriptCalls []*Event) (unmatchedCalls, unmatchedTranscriptCalls []*Event) {
	byID, isMerged := map[string]*Event{}, map[*Event]bool{}
	for _, e := range transcriptCalls {
		byID[e.ID] = e
	}
	for i := range calls {
		e := &calls[i]
		same := byID[e.ID]
		if e.ID == "" || same == nil {
			unmatchedCalls = append(unmatchedCalls, e)
			byID[e.ID] = e
			continue
		}
		*same = same.merge(*e)
		isMerged[same] = true
	}
	return unmatchedCalls, slices.DeleteFunc(transcriptCalls, func(e *Event) bool { return isMerged[e] })
}

// mergeDuplicateReports merges repeated reports of the same call, and returns each call once. callInput returns a text
// that is equal for two reports of the same call, such as the tool with its arguments.
func mergeDuplicateReports(calls []*Event, callInput func(*Event) string) (rest []*Event) {
	byInput := map[string][]*Event{}
	for _, e := range calls {
		what := callInput(e)
		same := byInput[what]
		if j := slices.IndexFunc(same, func(o *Event) bool { return isDuplicateCallReport(o, e) }); j >= 0 {
			*same[j] = same[j].merge(*e)
			continue
		}
		byInput[what] = append(same, e)
		rest = append(rest, e)
	}
	return rest
}

// joinReportedCallsByInput merges the calls that hooks reported (calls) into the calls from the transcript
// (transcriptCalls). A reported call is merged into a call for which the function callInput returns the same text, if
// the times and the outcomes also fit (see [mergeReportsByTime]). A call for which callInput returns "" is not merged.
// joinReportedCallsByInput returns the reported calls that remain, and the calls from the transcript into which no call
// was merged.
func joinReportedCallsByInput(
	calls, transcriptCalls []*Event,
	callInput func(*Event) string,
) (unmatchedCalls, unmatchedTranscriptCalls []*Event) {
	byInput, isJoined := map[string][2][]*Event{}, map[*Event]bool{}
	for i, list := range [][]*Event{calls, transcriptCalls} {
		for _, e := range list {
			what := callInput(e)
			if what == "" {
				continue
			}
			both := byInput[what]
			both[i] = append(both[i], e)
			byInput[what] = both
		}
	}
	for _, both := range byInput {
		for _, e := range mergeReportsByTime(both[1], both[0]) {
			isJoined[e] = true
		}
	}
	remain := func(list []*Event) []*Event {
		return slices.DeleteFunc(list, func(e *Event) bool { return isJoined[e] })
	}
	return remain(calls), remain(transcriptCalls)
}

// firstWorkingDir returns the first working directory that an event names, or "" if none names one.
func firstWorkingDir(lists ...[]Event) string {
	for _, e := range slices.Concat(lists...) {
		if e.Dir != "" {
			return e.Dir
		}
	}
	return ""
}

// removeRepeatedPaths returns the call without paths that name the same file twice. If a call names a file by its
// path relative to dir and also by the whole path, the relative path is removed.
func (c *ToolCall) removeRepeatedPaths(dir string) *ToolCall {
	if c == nil || dir == "" {
		return c
	}
	d := *c
	for _, list := range []*[]string{&d.WrittenFiles, &d.ReadFiles} {
		*list = slices.DeleteFunc(slices.Clone(*list), func(p string) bool {
			return slices.Contains(*list, strings.TrimSuffix(dir, "/")+"/"+p)
		})
	}
	return &d
}

// encodeCallArguments returns a text that contains the arguments of a call: the command, the web query, and the paths
// of the written and read files. Paths below dir are relative to dir. The text does not contain the name of the tool or
// the sub-agent, but it begins with a mark if the agent is a sub-agent. The result is "" if the call has no such
// arguments.
func (e *Event) encodeCallArguments(dir string) string {
	c := (&ToolCall{}).overrideUnlessNil(e.Call)
	relative := func(paths []string) (all []string) {
		for _, p := range paths {
			all = append(all, strings.TrimPrefix(p, strings.TrimSuffix(dir, "/")+"/"))
		}
		return all
	}
	if c.Command+c.WebQuery == "" && len(c.WrittenFiles)+len(c.ReadFiles) == 0 {
		return ""
	}
	d := ToolCall{
		Command: c.Command, WebQuery: c.WebQuery,
		WrittenFiles: relative(c.WrittenFiles), ReadFiles: relative(c.ReadFiles),
	}
	return boolSortKey(e.SubAgent != "") + d.toolArgsKey()
}

// isDuplicateCallReport reports whether a and b seem to be two reports of the same call. If a hook is installed twice,
// it reports each call twice. Such reports have equal IDs, which are usually empty, and equal outcomes, and their times
// differ by at most maxDuplicateReportGap. If a command ran twice within this time with the same outcome, its two runs
// are treated as one call by mistake.
func isDuplicateCallReport(a, b *Event) bool {
	return a.ID == b.ID && b.Time.Sub(a.Time).Abs() <= maxDuplicateReportGap && compareCalls(a.Call, b.Call) == 0
}

// mergeReportsByTime merges reports by hooks into the calls of the transcript. It returns the reports and the calls
// that were merged.
//
// A hook reports a call when the call ends, but the transcript contains the time at which the call starts. Therefore
// each report is merged into the earliest call that began before the report, with a tolerance of clockSlack. The call
// must not have a report yet, and its outcome must be compatible with the report's outcome.
//
// The transcript of Gemini CLI contains the time at which the call was written, which is after the report. Therefore
// the remaining reports are tried again with the longer tolerance writeDelay.
func mergeReportsByTime(calls, reports []*Event) (joined []*Event) {
	byTime := func(a, b *Event) int { return compareEvents(*a, *b) }
	calls, reports = slices.SortedFunc(slices.Values(calls), byTime), slices.SortedFunc(slices.Values(reports), byTime)
	for _, delay := range []time.Duration{clockSlack, writeDelay} {
		var rest []*Event
		for _, r := range reports {
			i := slices.IndexFunc(calls, func(c *Event) bool {
				return !c.Time.After(r.Time.Add(delay)) && !c.Call.contradictsOutcome(r.Call)
			})
			if i < 0 {
				rest = append(rest, r)
				continue
			}
			merged := calls[i]
			*merged = merged.merge(*r)
			calls = slices.Delete(calls, i, i+1)
			joined = append(joined, r, merged)
		}
		reports = rest
	}
	return joined
}

// contradictsOutcome reports whether c and o, two reports of a command, cannot be about the same run. This is the case
// if one report contains a failure and one report contains a success, or if the exit statuses differ. An unknown
// outcome contradicts nothing.
func (c *ToolCall) contradictsOutcome(o *ToolCall) bool {
	if c == nil || o == nil {
		return false
	}
	passed := func(c *ToolCall) bool { return !c.Failed && c.ExitStatus != nil && *c.ExitStatus == 0 }
	failed := func(c *ToolCall) bool { return c.Failed || (c.ExitStatus != nil && *c.ExitStatus != 0) }
	return (passed(c) && failed(o)) || (failed(c) && passed(o)) ||
		(c.ExitStatus != nil && o.ExitStatus != nil && *c.ExitStatus != *o.ExitStatus)
}

// overrideUnlessNil returns override if it is not nil, and otherwise c.
func (c *ToolCall) overrideUnlessNil(override *ToolCall) *ToolCall {
	if override != nil {
		return override
	}
	return c
}
