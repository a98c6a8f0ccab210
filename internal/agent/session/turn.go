// This file defines the turn: a person's prompt and all events up to the next prompt.

package session

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Turn is a person's prompt and all events up to the next prompt. [BuildTurns] creates turns from events.
type Turn struct {
	Client    string    `json:"client"`
	Session   string    `json:"session"`
	Number    int       `json:"turn"`         // number of the turn in the session, from 1
	PromptID  string    `json:"id,omitempty"` // prompt ID that the client uses ("" if not known)
	StartTime time.Time `json:"start,omitzero"`
	EndTime   time.Time `json:"end,omitzero"` // time of the turn's last event

	// Events contains each event once, sorted by time. The TurnID of each event is the turn's PromptID.
	Events []Event `json:"events"`

	// HasOmittedEvents is set if events were left out because the turn was too large.
	HasOmittedEvents bool `json:"cut,omitempty"`

	unmergedReports []Event // the hooks' and the transcript's reports, from which Events was computed
}

// sessionKey identifies a session of a client.
type sessionKey struct{ client, session string }

// joinTexts returns the main agent's texts of one kind. Blank lines separate the texts.
func (t *Turn) joinTexts(k EventKind) string {
	var all []string
	for _, e := range t.Events {
		isMain := e.Kind == k && e.SubAgent == ""
		if isMain && e.Text != "" {
			all = append(all, e.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// Prompt returns the person's prompt, or "" if only the agent's part is known.
func (t *Turn) Prompt() string { return t.joinTexts(KindPrompt) }

// AgentText returns the agent's visible text, without the texts of sub-agents.
func (t *Turn) AgentText() string { return t.joinTexts(KindText) }

// title returns the session's title, if an event of the turn reports it. If there are several titles, it returns the
// last in the order of the events.
func (t *Turn) title() (title string) {
	for i := range t.Events {
		if t.Events[i].Kind == KindTitle {
			title = t.Events[i].Text
		}
	}
	return title
}

// CallEvents returns the events of all calls, including the calls by sub-agents.
func (t *Turn) CallEvents() []Event {
	return slices.DeleteFunc(
		slices.Clone(t.Events),
		func(e Event) bool { return e.Kind != KindToolCall || e.Call == nil },
	)
}

// Dir returns the working directory at the start of the turn, or "" if it is not known.
func (t *Turn) Dir() string { return t.findMainAgentValue(func(e *Event) string { return e.Dir }) }

// Branch returns the Git branch at the start of the turn, or "" if it is not known.
func (t *Turn) Branch() string {
	return t.findMainAgentValue(func(e *Event) string { return e.Branch })
}

func (t *Turn) findMainAgentValue(valueOf func(*Event) string) string {
	for i := range t.Events {
		if s := valueOf(&t.Events[i]); s != "" && t.Events[i].SubAgent == "" {
			return s
		}
	}
	return ""
}

// kindOmittedReports is the kind of a report that says that other reports in the turn were left out.
const kindOmittedReports EventKind = "cut"

// kindOrder contains the kinds in the order in which simultaneous events are sorted.
var kindOrder = []EventKind{
	KindSessionStart,
	KindTitle,
	KindPrompt,
	KindInjection,
	KindPlan,
	KindText,
	KindToolCall,
	KindCompact,
	KindTurnEnd,
	KindSessionEnd,
	kindOmittedReports,
}

// compareEvents orders events by time, then by kind, then by their other fields except Injection.
func compareEvents(a, b Event) int {
	return cmp.Or(
		a.Time.Compare(b.Time),
		cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.TurnID, b.TurnID),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.SubAgent, b.SubAgent),
		cmp.Compare(a.Text, b.Text),
		cmp.Compare(a.Dir, b.Dir),
		cmp.Compare(a.Branch, b.Branch),
		cmp.Compare(a.Model, b.Model),
		cmp.Compare(a.TranscriptPath, b.TranscriptPath),
		compareCalls(a.Call, b.Call),
		cmp.Compare(a.RepeatedCallResults.sortKey(), b.RepeatedCallResults.sortKey()),
		cmp.Compare(
			boolSortKey(a.HasNoTime),
			boolSortKey(b.HasNoTime),
		),
		cmp.Compare(boolSortKey(a.HasHookID), boolSortKey(b.HasHookID)),
		cmp.Compare(boolSortKey(a.IsFromPromptList), boolSortKey(b.IsFromPromptList)),
	)
}

// compareCalls orders two calls by their tools and arguments, and then by their outcomes. A missing call (nil) comes
// first.
func compareCalls(a, b *ToolCall) int {
	if a == nil || b == nil {
		return cmp.Compare(callPresenceRank(a), callPresenceRank(b))
	}
	return cmp.Or(
		cmp.Compare(a.toolArgsKey(), b.toolArgsKey()),
		cmp.Compare(exitStatusSortKey(a), exitStatusSortKey(b)),
		cmp.Compare(a.Output, b.Output),
		cmp.Compare(a.OldTextHash+a.NewTextHash, b.OldTextHash+b.NewTextHash),
		cmp.Compare(a.FileHashBefore+a.FileHashAfter, b.FileHashBefore+b.FileHashAfter),
		cmp.Compare(boolSortKey(a.Failed), boolSortKey(b.Failed)),
		cmp.Compare(a.ResultTextSource.trustSortKey(), b.ResultTextSource.trustSortKey()),
	)
}

// toolArgsKey returns the tool and the arguments of a call as a text. The text identifies the call if the client
// reports no ID.
func (c *ToolCall) toolArgsKey() string {
	return strings.Join(
		slices.Concat([]string{c.Tool, c.Command, c.WebQuery, "w"}, c.WrittenFiles, []string{"r"}, c.ReadFiles),
		"\x00",
	)
}

func callPresenceRank(c *ToolCall) int { return len(boolSortKey(c != nil)) }

// boolSortKey returns a text for sorting. The text for true sorts after the text for false.
func boolSortKey(b bool) string {
	if b {
		return "x"
	}
	return ""
}

// exitStatusSortKey returns a call's exit status for sorting. If the status is not known, the result is lower than any
// status.
func exitStatusSortKey(c *ToolCall) int {
	if c.ExitStatus == nil {
		return -1 << 31
	}
	return *c.ExitStatus
}

// UnmergedReports returns the reports from which the turn was built. To add events to the turn, call BuildTurns with
// these reports and the new events. The result does not depend on the order in which the reports became known.
func (t *Turn) UnmergedReports() []Event { return slices.Clone(t.unmergedReports) }

// sortKey returns the list of calls as a string by which such lists can be sorted.
func (r *RepeatedCallResults) sortKey() string {
	if r == nil {
		return ""
	}
	return strings.Join(r.ForeignTextCalls, "\x00") + "\x01" + strings.Join(r.UnvouchedTextCalls, "\x00")
}

// trustSortKey returns a key by which text sources are sorted. Sources with a higher trust come first. The order is:
// own text, text for which nobody vouches, text by others, and last a source without a trust level. The key is "" if r
// is nil. If two sources have the same trust level, a source without a TraceID comes last. The TraceID is the ID of the
// fingerprints that were stored for the text.
func (r *TextSource) trustSortKey() string {
	if r == nil {
		return ""
	}
	level := map[string]string{TrustLevelOwnText: "1", TrustLevelUnvouchedText: "2",
		TrustLevelForeignText: "3"}[r.TrustLevel]
	if level == "" {
		level = "4"
	}
	return level + boolSortKey(r.TraceID == "") + "\x00" + r.CallDescription + "\x00" + r.TraceID
}
