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

// newReaders returns a reader for each client whose transcripts have a JSON object on each line.
func newReaders() map[string]func(*file) reader {
	all := map[string]func(*file) reader{"claude": newClaude}
	for _, c := range clientfile.EventClients {
		all[c.Name] = func(f *file) reader {
			return &eventReader{file: f, in: c.NewReader(f.path), calls: map[string]claudeCall{}, known: map[string]bool{}}
		}
	}
	return all
}

// eventReader reports the events that a [clientfile.EventReader] finds.
type eventReader struct {
	*file
	in    clientfile.EventReader
	calls map[string]claudeCall // calls without a result
	known map[string]bool       // IDs of all calls
}

func (r *eventReader) line(b []byte, offset int64) bool { return r.in.ReadLine(b, offset, r.take) }

// take reports an event of the transcript. Reasoning that the agent did not say is not archived, and
// neither is text that a program wrote in the person's name.
func (r *eventReader) take(e *clientfile.Event) {
	if e.Offset < r.from {
		return // the first line is read again only because it identifies the session
	}
	if e.IsCopy && r.from == 0 { // copies are at the beginning of a file
		return
	}
	r.session = e.Session
	r.dir, r.branch = e.Dir, e.Branch
	r.agent = cmp.Or(e.AgentType, e.AgentID)
	if r.agent == "" || r.model == "" { // a turn has the model of the main agent
		r.model = e.Model
	}
	switch e.Kind {
	case clientfile.EventPrompt:
		r.prompt(e.Turn, e.Text, e.Time, e.Offset)
	case clientfile.EventInserted, clientfile.EventThought:
	case clientfile.EventText:
		r.say(r.event(session.Text, e.ID, e.Time), e.Text)
	case clientfile.EventCall:
		r.calls[e.ID] = claudeCall{r.event(session.Called, e.ID, e.Time), e.Tool, bytes.Clone(e.Args)}
		r.known[e.ID] = true
	case clientfile.EventEdit:
		r.changed(e)
	case clientfile.EventResult:
		call, ok := r.calls[e.ID]
		if !ok {
			return
		}
		delete(r.calls, e.ID)
		o := Outcome{Failed: e.Failed, Exit: e.Exit, Silent: e.Silent, Output: e.Output}
		r.call(call.event, call.name, call.args, o)
		if agent, text := SubagentSaid(call.name, call.args, e.Output); agent != "" {
			said := r.event(session.Text, e.ID, e.Time)
			said.Agent = agent
			r.say(said, text)
		}
	case clientfile.EventCompacted:
		report := r.event(session.Compact, cmp.Or(e.Turn, r.turn), e.Time)
		report.Turn = report.ID
		report.Text = SummaryText(e.Text, r.clean)
		r.report(report)
	}
}

// changed reports a call of which the transcript contains only the changes of files.
func (r *eventReader) changed(e *clientfile.Event) {
	if r.known[e.ID] {
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
