// This file finds the edits in the events of a transcript.

package fileedits

import (
	"cmp"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// eventReader reads a transcript with a [clientfile.EventReader].
type eventReader struct {
	*chat
	in clientfile.EventReader

	at    map[string]*reasoning // reasoning after each node of the conversation
	nodes map[string]string     // last node, by sub-agent ("" for the main agent)

	unnamed bool              // calls are identified by their arguments
	keys    map[string]string // names of unnamed calls by the IDs in the transcript
}

// newEventReader returns a reader for a client's transcript, which adds the edits to t.
func newEventReader(c clientfile.EventClient, t *Transcript, path string) *eventReader {
	made := newChat(t)
	made.areUnique = c.UniqueCalls
	if c.Name == "claude" {
		made.parse = parseClaudeCall
	}
	return &eventReader{chat: made, in: c.NewReader(path), at: map[string]*reasoning{},
		nodes: map[string]string{}, unnamed: c.UnnamedCalls, keys: map[string]string{}}
}

func (r *eventReader) readLine(b []byte) error {
	if !r.in.ReadLine(b, 0, r.take) {
		return errLine
	}
	return nil
}

func (r *eventReader) take(e *clientfile.Event) {
	r.session, r.dir = e.Session, e.Dir
	r.model = e.Model
	sub := cmp.Or(e.AgentName, e.AgentID)
	r.moveTo(e, sub)
	switch e.Kind {
	case clientfile.EventPrompt:
		r.recordRequest(sub, e.Text)
	case clientfile.EventText:
		r.addText(sub, e.Text)
	case clientfile.EventThought:
		r.addThought(sub, e.Text)
	case clientfile.EventCall:
		if r.unnamed {
			r.unnamedCall(e, sub)
		} else if e.ID != "" {
			r.call(e.ID, sub, e.Tool, e.Args, e.Time)
		}
	case clientfile.EventEdit:
		if e.ID == "" {
			r.said[sub] = r.reasoningFor(sub).afterEdits()
		}
		r.recordChanges(e.ID, sub, e.Failed, e.Shown, e.Time)
	case clientfile.EventResult:
		id := e.ID
		if r.unnamed {
			id = r.keys[e.ID]
			if e.Failed {
				delete(r.seen, id) // the same call may succeed later
			}
		}
		r.answer(id, e.Failed, e.Shown, e.ResultText())
	}
}

// moveTo continues at the position of an event. If the person went back in the conversation, that is
// not the position of the previous event.
func (r *eventReader) moveTo(e *clientfile.Event, sub string) {
	last := r.nodes[sub]
	if e.Node == "" || e.Node == last {
		return
	}
	if last != "" {
		r.at[last] = r.reasoningFor(sub)
	}
	if e.Parent != last {
		r.said[sub] = cmp.Or(r.at[e.Parent], &reasoning{})
	}
	r.nodes[sub] = e.Node
}

// unnamedCall records a call of a client whose hooks do not name calls.
func (r *eventReader) unnamedCall(e *clientfile.Event, sub string) {
	delete(r.keys, e.ID)
	if call := r.call("", sub, e.Tool, e.Args, e.Time); call != nil {
		r.keys[e.ID] = call.argumentKey()
	}
}
