// This file joins the reports of a turn, so that each event occurs only once.

package session

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	maxPromptGap = 2 * time.Minute
	maxDoubleGap = 2 * time.Second
	clockSlack   = 2 * time.Second // maximum difference between the clocks of a client's hooks and its transcript
	writeDelay   = time.Minute     // maximum time after a report at which a transcript without start times has the call
)

// eventKey identifies an event. Two reports with equal keys are of the same event.
type eventKey struct {
	turn string
	kind EventKind
	id   string
	text string    // agent, text and input of the call, for calls without ID
	time time.Time // without ID: for prompts, calls, cut reports and events without a turn
}

func (e *Event) identityKey() eventKey {
	k := eventKey{turn: e.Turn, kind: e.Kind, id: e.ID}
	if e.ID != "" {
		return k
	}
	k.text = e.SubAgent + "\x00" + e.Text
	if e.Call != nil {
		k.text += "\x00" + e.Call.toolAndArgs()
	}
	if e.Turn == "" || slices.Contains([]EventKind{KindPrompt, KindCall, kindOmitted}, e.Kind) {
		k.time = e.Time
	}
	return k
}

// joinNearest calls join for pairs of elements for which fit returns true and whose times differ by at
// most maxGap. The nearest pair comes first. Each element is in at most one pair.
func joinNearest[E comparable](
	es []E,
	maxGap time.Duration,
	timeOf func(E) time.Time,
	fit func(a, b E) bool,
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
			if isNear && fit(a, b) {
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

// deriveEvents sets the fields that are computed from the reports. It joins the reports by the rules in fold.go.
// The reports must be sorted.
func (t *Turn) deriveEvents() {
	t.HasOmittedEvents = false
	var all, texts, calls []Event
	same := map[eventKey]int{} // index in all
	for _, e := range t.sourceReports {
		e.Turn = t.PromptID
		switch {
		case e.Kind == kindOmitted:
			t.HasOmittedEvents = true
			continue
		case e.ID == "" && e.Kind == KindText:
			texts = append(texts, e)
			continue
		case e.ID == "" && e.Kind == KindCall:
			calls = append(calls, e)
			continue
		}
		k := eventKey{kind: e.Kind, id: e.ID}
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
	all = append(all, unmatchedTexts(all, texts)...)
	all = append(all, mergeMatchingCalls(all, calls)...)
	slices.SortFunc(all, compareEvents)
	t.Events = all
	for _, e := range all {
		if e.Time.After(t.EndTime) {
			t.EndTime = e.Time
		}
	}
}

// joinEventsWithoutID joins events without ID with events of equal kind, agent and text that have an ID.
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

// unmatchedTexts returns the texts without ID, each once, except texts that consist of texts with ID in all.
func unmatchedTexts(all, texts []Event) (rest []Event) {
	for _, e := range texts {
		var named []string
		for _, o := range all {
			if o.isTextOf(e.SubAgent) {
				named = append(named, removeSpace(o.Text))
			}
		}
		same := slices.IndexFunc(rest, func(o Event) bool { return o.SubAgent == e.SubAgent && o.Text == e.Text })
		switch {
		case same >= 0:
			rest[same] = rest[same].merge(e)
		case !isConcatenation(removeSpace(e.Text), named):
			rest = append(rest, e)
		}
	}
	return rest
}

// isTextOf reports whether the event is a text with ID by the agent.
func (e *Event) isTextOf(agent string) bool {
	return e.Kind == KindText && e.ID != "" && e.SubAgent == agent
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

// isConcatenation reports whether s is a concatenation of parts in their order (not
// necessarily all).
func isConcatenation(s string, parts []string) bool {
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

// mergeMatchingCalls merges calls without ID into matching calls with ID in all, and returns the remaining
// calls.
func mergeMatchingCalls(all, calls []Event) (rest []Event) {
	input := func(e *Event) string { return e.SubAgent + "\x00" + (&ToolCall{}).overrideWith(e.Call).toolAndArgs() }
	named, reports := map[string][]*Event{}, map[string][]*Event{} // by input
	for i := range all {
		if all[i].Kind == KindCall {
			named[input(&all[i])] = append(named[input(&all[i])], &all[i])
		}
	}
	var order []*Event
	for i := range calls {
		e := &calls[i]
		same := reports[input(e)]
		if j := slices.IndexFunc(same, func(o *Event) bool { return isDoubleReport(o, e) }); j >= 0 {
			*same[j] = same[j].merge(*e)
			continue
		}
		reports[input(e)] = append(same, e)
		order = append(order, e)
	}
	joined := map[*Event]bool{}
	for what, some := range reports {
		for _, e := range mergeInOrder(named[what], some) {
			joined[e] = true
		}
	}
	for _, e := range order {
		if !joined[e] {
			rest = append(rest, *e)
		}
	}
	return rest
}

// isDoubleReport reports whether two reports without ID are of the same call, because a hook is installed
// twice. A command may also have run twice within maxDoubleGap, but then its outcomes can differ.
func isDoubleReport(a, b *Event) bool {
	return b.Time.Sub(a.Time).Abs() <= maxDoubleGap && compareCalls(a.Call, b.Call) == 0
}

// mergeInOrder merges hooks' reports into the transcript's calls. A report is made when a call ends, and the transcript
// has the time at which the call starts. It returns the merged reports. Each report is merged into the earliest call
// that began before the report, has no report yet and does not contradict the report's outcome. Gemini CLI gives a
// call the time at which it writes the call, which is after the report. Therefore the remaining reports and calls are
// merged in their order as well.
func mergeInOrder(calls, reports []*Event) (joined []*Event) {
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
			*calls[i] = calls[i].merge(*r)
			calls = slices.Delete(calls, i, i+1)
			joined = append(joined, r)
		}
		reports = rest
	}
	return joined
}

// contradictsOutcome reports whether two outcomes cannot belong to the same run of a command.
func (c *ToolCall) contradictsOutcome(o *ToolCall) bool {
	if c == nil || o == nil {
		return false
	}
	passed := func(c *ToolCall) bool { return !c.Failed && c.ExitStatus != nil && *c.ExitStatus == 0 }
	failed := func(c *ToolCall) bool { return c.Failed || (c.ExitStatus != nil && *c.ExitStatus != 0) }
	return (passed(c) && failed(o)) || (failed(c) && passed(o)) ||
		(c.ExitStatus != nil && o.ExitStatus != nil && *c.ExitStatus != *o.ExitStatus)
}

// overrideWith returns o, or c if o is nil.
func (c *ToolCall) overrideWith(o *ToolCall) *ToolCall {
	if o != nil {
		return o
	}
	return c
}
