// This file finds the edits in the events of a transcript.

package fileedits

import (
	"cmp"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// eventReader reads a transcript with a [clientfile.EventReader].
type eventReader struct {
	*chatState
	reader clientfile.EventReader

	reasoningAtNode map[string]*reasoning // reasoning after each node of the conversation
	lastNodes       map[string]string     // last node, by sub-agent ("" for the main agent)

	hasUnnamedCalls bool              // calls are identified by their arguments
	unnamedCallKeys map[string]string // names of unnamed calls by the IDs in the transcript
}

// newEventReader returns a reader for a client's transcript, which adds the edits to t.
func newEventReader(c clientfile.EventClient, t *Transcript, path string) *eventReader {
	made := newChat(t)
	made.hasUniqueCallIDs = c.HasUniqueCallIDs
	if c.Name == "claude" {
		made.parse = parseClaudeCall
	}
	return &eventReader{chatState: made, reader: c.NewReader(path), reasoningAtNode: map[string]*reasoning{},
		lastNodes: map[string]string{}, hasUnnamedCalls: c.HasUnnamedCalls, unnamedCallKeys: map[string]string{}}
}

func (r *eventReader) readLine(b []byte) error {
	if !r.reader.ReadLine(b, 0, r.processEvent) {
		return errNotJSONObject
	}
	return nil
}

func (r *eventReader) processEvent(e *clientfile.Event) {
	r.session, r.dir = e.Session, e.Dir
	r.model = e.Model
	sub := cmp.Or(e.AgentName, e.AgentID)
	r.moveToNode(e, sub)
	switch e.Kind {
	case clientfile.EventPrompt:
		r.recordRequest(sub, e.Text)
	case clientfile.EventText:
		r.addText(sub, e.Text)
	case clientfile.EventThought:
		r.addThought(sub, e.Text)
	case clientfile.EventCall:
		if r.hasUnnamedCalls {
			r.recordUnnamedCall(e, sub)
		} else if e.ID != "" {
			r.recordCall(e.ID, sub, e.ToolName, e.Args, e.Time)
		}
	case clientfile.EventEdit:
		if e.ID == "" {
			r.reasoningByAgent[sub] = r.reasoningFor(sub).withEdit()
		}
		r.recordChanges(e.ID, sub, e.HasFailed, e.DisplayData, e.Time)
	case clientfile.EventResult:
		id := e.ID
		if r.hasUnnamedCalls {
			id = r.unnamedCallKeys[e.ID]
			if e.HasFailed {
				delete(r.seenCallIDs, id) // the same call may succeed later
			}
		}
		r.recordAnswer(id, e.HasFailed, e.DisplayData, e.ResultText())
	}
}

// moveToNode makes the node of an event the agent's position in the conversation. If the person went back in the
// conversation, the reasoning at the event's parent node becomes the agent's current reasoning again.
func (r *eventReader) moveToNode(e *clientfile.Event, sub string) {
	last := r.lastNodes[sub]
	if e.NodeID == "" || e.NodeID == last {
		return
	}
	if last != "" {
		r.reasoningAtNode[last] = r.reasoningFor(sub)
	}
	if e.ParentNodeID != last {
		r.reasoningByAgent[sub] = cmp.Or(r.reasoningAtNode[e.ParentNodeID], &reasoning{})
	}
	r.lastNodes[sub] = e.NodeID
}

// recordUnnamedCall records a call of a client whose hooks do not name calls.
func (r *eventReader) recordUnnamedCall(e *clientfile.Event, sub string) {
	delete(r.unnamedCallKeys, e.ID)
	if call := r.recordCall("", sub, e.ToolName, e.Args, e.Time); call != nil {
		r.unnamedCallKeys[e.ID] = call.argumentKey()
	}
}
