// This file finds the edits in a transcript's events.

package fileedits

import (
	"cmp"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// eventReader collects the edits in one transcript. A [clientfile.EventReader] converts the lines to events.
type eventReader struct {
	*chatState
	reader clientfile.EventReader

	// the agent's texts and thoughts before each point of the conversation, by the point's node ID
	reasoningByConversationNode map[string]*agentReasoning
	// ID of the last conversation node that was read, by sub-agent ("" for the main agent)
	conversationNodeByAgent map[string]string

	hasCallsWithoutIDs bool // The calls lack IDs and are identified by their arguments.
	// For each tool call without an ID of its own, a text made from the call's arguments, by the ID in the transcript.
	unnamedCallKeys map[string]string
}

// newEventReader returns a reader for a client's transcript. The reader adds the edits to t.
func newEventReader(c clientfile.EventClient, t *Transcript, path string) *eventReader {
	made := newChatState(t)
	made.hasUniqueCallIDs = c.HasUniqueCallIDs
	if c.Name == "claude" {
		made.parseCall = parseClaudeCall
	}
	return &eventReader{
		chatState:                   made,
		reader:                      c.NewReader(path),
		reasoningByConversationNode: map[string]*agentReasoning{},
		conversationNodeByAgent:     map[string]string{},
		hasCallsWithoutIDs:          c.HasNoHookCallIDs,
		unnamedCallKeys:             map[string]string{},
	}
}

func (r *eventReader) readLine(b []byte) error {
	if !r.reader.ParseLine(b, 0, r.processEvent) {
		return errNotJSONObject
	}
	return nil
}

// processEvent updates the state of the conversation with one event of the transcript, such as a prompt, a text or a
// tool call.
func (r *eventReader) processEvent(e *clientfile.Event) {
	r.sessionID, r.workingDir = e.Session, e.WorkingDir
	r.model = e.Model
	sub := cmp.Or(e.AgentName, e.AgentID)
	r.moveToConversationNode(e, sub)
	switch e.Kind {
	case clientfile.EventUnreadablePart:
		r.transcript.UnreadableLines++
	case clientfile.EventPrompt:
		r.recordPersonRequest(sub, e.Text)
	case clientfile.EventText:
		r.addText(sub, e.Text)
	case clientfile.EventAgentThought:
		r.addThought(sub, e.Text)
	case clientfile.EventToolCall:
		if r.hasCallsWithoutIDs {
			r.recordUnnamedCall(e, sub)
		} else if e.ID != "" {
			r.recordCall(e.ID, sub, e.ToolName, e.Args, e.Time)
		}
	case clientfile.EventFileEdit:
		if e.ID == "" {
			r.reasoningByAgent[sub] = r.reasoningOfAgent(sub).copyFollowedByEdit()
		}
		r.recordReportedChanges(e.ID, sub, e.HasFailed, e.ResultDisplayData, e.Time)
	case clientfile.EventToolResult:
		id := e.ID
		if r.hasCallsWithoutIDs {
			id = r.unnamedCallKeys[e.ID]
			if e.HasFailed {
				// A call with the same arguments is otherwise ignored as a repetition, but an agent may repeat a
				// failed call.
				delete(r.seenCallIDs, id)
			}
		}
		r.recordCallAnswer(id, e.HasFailed, e.ResultDisplayData, e.ResultText())
	}
}

// moveToConversationNode records that an agent is now at the node of the event e. A node is a point of the
// conversation. subAgent is the agent's name, or "" for the main agent.
//
// The texts and thoughts that the agent had at its previous node are saved. If the new node does not follow the
// previous node, the person went back to an earlier point. The agent then gets the texts and thoughts that were saved
// for the parent of the new node.
func (r *eventReader) moveToConversationNode(e *clientfile.Event, subAgent string) {
	last := r.conversationNodeByAgent[subAgent]
	if e.NodeID == "" || e.NodeID == last {
		return
	}
	if last != "" {
		r.reasoningByConversationNode[last] = r.reasoningOfAgent(subAgent)
	}
	if e.ParentNodeID != last {
		r.reasoningByAgent[subAgent] = cmp.Or(r.reasoningByConversationNode[e.ParentNodeID], &agentReasoning{})
	}
	r.conversationNodeByAgent[subAgent] = e.NodeID
}

// recordUnnamedCall records the tool call in the transcript event e. It is used for clients whose hook reports contain
// no call IDs, so that a call must be identified by a key made from its arguments. In the transcript, the call and its
// result have the same ID (e.ID). recordUnnamedCall therefore stores the key in unnamedCallKeys under e.ID, so that the
// call can be found when its result is read.
func (r *eventReader) recordUnnamedCall(e *clientfile.Event, subAgent string) {
	delete(r.unnamedCallKeys, e.ID)
	if call := r.recordCall("", subAgent, e.ToolName, e.Args, e.Time); call != nil {
		r.unnamedCallKeys[e.ID] = call.hashCallArguments()
	}
}
