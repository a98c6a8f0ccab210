// This file converts the events of a transcript to the events of the archive.

package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// newEventReader returns a reader for the transcripts of a file's client, or nil if the client is unknown.
func newEventReader(f *file) *eventReader {
	c, ok := clientfile.FindEventClient(f.client)
	if !ok {
		return nil
	}
	return &eventReader{file: f, client: c, in: c.NewReader(f.path), calls: map[string]startedCall{},
		known: map[string]bool{}}
}

// eventReader reports the events that a [clientfile.EventReader] finds.
type eventReader struct {
	*file
	client   clientfile.EventClient
	in       clientfile.EventReader
	calls    map[string]startedCall // calls without a result
	known    map[string]bool        // IDs of all calls
	position string                 // position of the turn, as the client counts

	author  string // client that wrote the file, according to its first recognized line ("" if unknown)
	sniffed int    // number of lines from which the author was not recognized
}

// startedCall is a call without a result.
type startedCall struct {
	event session.Event
	name  string
	args  json.RawMessage
}

// maxSniff is the number of lines from which the client is recognized.
const maxSniff = 20

// readLine reads the line that begins at an offset. It returns false if the line cannot be read. It ignores
// the lines of other clients.
func (r *eventReader) readLine(b []byte, offset int64) bool {
	if r.author == "" && r.sniffed < maxSniff {
		r.author = clientfile.Recognize(b, r.client)
		r.sniffed++
	}
	return r.isOther() || r.in.ReadLine(b, offset, r.take)
}

// end reports the events that the client's reader keeps back at the end of the file.
func (r *eventReader) end() {
	if in, ok := r.in.(clientfile.Ender); ok && !r.isOther() {
		in.End(r.take)
	}
}

// isOther reports whether another client wrote the file.
func (r *eventReader) isOther() bool { return r.author != "" && r.author != r.client.Name }

// take reports an event of the transcript. Reasoning that the agent did not say is not archived.
func (r *eventReader) take(e *clientfile.Event) {
	if e.Offset < r.from {
		return // this is the first line, which is read again only to identify the session
	}
	if e.IsCopy && r.from == 0 { // copies are at the beginning of a file
		return
	}
	switch e.Kind {
	case clientfile.EventLeftOut:
		r.at = e.Offset
		r.leaveOut(e.Text, 1)
		return
	case clientfile.EventUnknown:
		r.addUnknown(e.Offset, e.Text)
		return
	}
	r.session = e.Session
	r.dir, r.branch = e.Dir, e.Branch
	r.agent = cmp.Or(e.AgentType, e.AgentID)
	// Ignore the models of sub-agents, because a turn records the main agent's model.
	if r.agent == "" || r.model == "" {
		r.model = e.Model
	}
	switch e.Kind {
	case clientfile.EventPrompt:
		r.personAsked(e)
	case clientfile.EventThought:
	case clientfile.EventText:
		r.turn = cmp.Or(e.Turn, r.turn)
		r.say(r.event(session.Text, e.ID, e.Time), e.Text)
	case clientfile.EventCall:
		r.turn = cmp.Or(e.Turn, r.turn)
		r.calls[e.ID] = startedCall{r.event(session.Called, e.ID, e.Time), e.Tool, bytes.Clone(e.Args)}
		r.known[e.ID] = true
	case clientfile.EventEdit:
		r.reportChange(e)
	case clientfile.EventResult:
		r.reportEnded(e)
	case clientfile.EventCompacted:
		r.turn = cmp.Or(e.Turn, r.turn)
		report := r.event(session.Compact, r.turn, e.Time)
		report.Text = SummaryText(e.Text, r.clean)
		r.report(report)
	}
}

// personAsked reports a prompt. If the preceding prompt and the events since then turn out to be a copy, they are
// dropped.
func (r *eventReader) personAsked(e *clientfile.Event) {
	if r.agent != "" || PromptText(e.Text, r.clean) == "" {
		return
	}
	isUnnamed := e.Turn == "" && e.ID != ""
	if e.IsListed || isUnnamed {
		r.addWithoutTurn(e)
		return
	}
	isSameTurn := e.Turn != "" && e.Turn == r.turn
	if isSameTurn && e.Position != r.position {
		r.turn, r.held = "", nil
	}
	r.release()
	r.position, r.hold = e.Position, true
	r.prompt(e.Turn, e.Text, e.Time, e.Offset)
}

// addWithoutTurn reports a prompt of a list, or a prompt whose turn will be named by a line that the client has not
// written yet. The archive joins it with the same prompt of a turn.
func (r *eventReader) addWithoutTurn(e *clientfile.Event) {
	r.release()
	r.turn = ""
	r.next = e.Offset
	r.full = r.most > 0 && e.Offset-r.from >= r.most
	prompt := r.event(session.Prompt, e.ID, e.Time)
	prompt.Model, prompt.Text = "", PromptText(e.Text, r.clean)
	prompt.IsListed = e.IsListed
	r.report(prompt)
}

// reportEnded reports a call that has a result, and what a sub-agent of Gemini CLI said in it.
func (r *eventReader) reportEnded(e *clientfile.Event) {
	call, ok := r.calls[e.ID]
	if !ok {
		return
	}
	delete(r.calls, e.ID)
	hasResponse := r.client.ShowsResponses && len(e.Shown) > 0
	if hasResponse && !e.Failed {
		r.call(call.event, call.name, call.args, DecodeOutcome(e.Shown))
		return
	}
	output := e.ResultText()
	o := Outcome{Failed: e.Failed, Exit: e.Exit, Silent: e.Silent, Output: output}
	r.call(call.event, call.name, call.args, o)
	if agent, text := SubagentSaid(call.name, call.args, output); agent != "" {
		said := r.event(session.Text, e.ID, e.Time)
		said.Agent = agent
		r.say(said, text)
	}
}

// reportChange reports a call of which the transcript contains only the changes of files.
func (r *eventReader) reportChange(e *clientfile.Event) {
	if e.ID == "" || r.known[e.ID] {
		return
	}
	r.known[e.ID] = true
	var changes map[string]json.RawMessage
	_ = json.Unmarshal(e.Shown, &changes) // unreadable changes name no files
	report := r.event(session.Called, e.ID, e.Time)
	report.Call = &session.Call{Tool: "apply_patch", Failed: e.Failed}
	if !e.Failed {
		report.Call.Wrote = slices.Sorted(maps.Keys(changes))
	}
	r.report(report)
}
