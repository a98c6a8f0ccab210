// This file reads opencode's sessions from its database, in the form that the command opencode export writes.
//
// Version 1 has the tables session, message and part. In the tables message and part, the column "data" contains the
// same objects as the export. Version 2 has the tables session_v2 and session_message, and keeps the tables of version
// 1. A row of session_message has the type user {"text","files"}, assistant {"model":{"id"},"content":[{"type":"text"|
// "reasoning"|"tool",…}]}, shell {"command","output","exit"} for a person's command, compaction {"summary"}, or a type
// in opencodeIgnoredMessageTypes. The schema comes from packages/opencode in anomalyco/opencode, v2.0.21.

package clientfile

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/sqlitefile"
)

// opencodeDocumentMessage is a message in the session document that this file builds.
type opencodeDocumentMessage struct {
	Info  map[string]json.RawMessage   `json:"info"`
	Parts []map[string]json.RawMessage `json:"parts"`
}

// listOpencodeSessionIDs returns the IDs of all sessions. A session that is in the tables of both versions is
// returned once.
func listOpencodeSessionIDs(db *sqlitefile.DB) (ids []string, err error) {
	for _, table := range []string{"session_v2", "session"} {
		if !db.HasTables(table) {
			continue
		}
		some, err := sessionIDLister(table)(db)
		if err != nil {
			return nil, err
		}
		ids = append(ids, some...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// readOpencodeDocument returns one session as a document. If the tables of both versions contain the session,
// version 2 is used.
func readOpencodeDocument(db *sqlitefile.DB, _, id string) (any, error) {
	if db.HasTables("session_v2") {
		t, err := db.Table("session_v2")
		if err != nil {
			return nil, err
		}
		rows, err := t.RowsWithText("id", id)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			return readOpencodeDocumentV2(db, rows[0])
		}
	}
	return readOpencodeDocumentV1(db, id)
}

// opencodeSessionInfo converts a row of the session table to the object that a session document contains under the key
// "info".
func opencodeSessionInfo(session sqlitefile.Row) map[string]any {
	info := map[string]any{"id": session.Text("id"), "directory": session.Text("directory")}
	if parent := session.Text("parent_id"); parent != "" {
		info["parentID"] = parent
	}
	return info
}

// readOpencodeDocumentV1 returns a session document from the tables of version 1.
func readOpencodeDocumentV1(db *sqlitefile.DB, id string) (any, error) {
	session, messages, err := findRowWithDetails(db, "session", id, "message", "session_id")
	if err != nil {
		return nil, err
	}
	_, parts, err := findRowWithDetails(db, "session", id, "part", "session_id")
	if err != nil {
		return nil, err
	}
	withID := func(row sqlitefile.Row) map[string]json.RawMessage {
		object := map[string]json.RawMessage{}
		// Ignore the error: without the column data, only the ID is known.
		_ = json.Unmarshal(columnAsJSON(row, "data"), &object)
		object["id"], _ = json.Marshal(row.Text("id"))
		return object
	}
	order := func(a, b sqlitefile.Row) int { return strings.Compare(a.Text("id"), b.Text("id")) }
	slices.SortFunc(messages, order) // The order of the IDs is the order in time.
	slices.SortFunc(parts, order)
	all := []*opencodeDocumentMessage{}
	byID := map[string]*opencodeDocumentMessage{}
	for _, row := range messages {
		m := &opencodeDocumentMessage{Info: withID(row)}
		byID[row.Text("id")] = m
		all = append(all, m)
	}
	for _, row := range parts {
		if m := byID[row.Text("message_id")]; m != nil {
			m.Parts = append(m.Parts, withID(row))
		}
	}
	return map[string]any{"info": opencodeSessionInfo(session), "messages": all}, nil
}

// opencodeIgnoredMessageTypes contains the message types that are not reported, because such messages are not part of
// the conversation.
var opencodeIgnoredMessageTypes = lazyWordSet("agent-switched idle model-switched skill synthetic system")

// opencodeRowData is the JSON object in the column "data" of a row in opencode's table session_message.
type opencodeRowData struct {
	Text  string            `json:"text"`
	Files []json.RawMessage `json:"files"`
	Model struct {
		ID string `json:"id"`
	} `json:"model"`
	Content []map[string]json.RawMessage `json:"content"`
	Command string                       `json:"command"`
	Output  string                       `json:"output"`
	Exit    *int                         `json:"exit"`
	Summary string                       `json:"summary"`
}

// readOpencodeDocumentV2 reads a session from the tables of version 2 of opencode's database. It returns the session as
// a document in the form of version 1, so that the same code can read the documents of both versions.
func readOpencodeDocumentV2(db *sqlitefile.DB, session sqlitefile.Row) (any, error) {
	t, err := db.Table("session_message")
	if err != nil {
		return nil, err
	}
	rows, err := t.RowsWithText("session_id", session.Text("id"))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b sqlitefile.Row) int { return int(a.Number("seq") - b.Number("seq")) })
	all := []*opencodeDocumentMessage{}
	for _, row := range rows {
		var data opencodeRowData
		if !parseObject(columnAsJSON(row, "data"), &data) {
			// The message cannot be read. Append null, so that the reader of the document counts it as unread.
			all = append(all, nil)
			continue
		}
		all = append(all, data.toMessagesV1(row)...)
	}
	return map[string]any{"info": opencodeSessionInfo(session), "messages": all}, nil
}

// toMessagesV1 converts the content of a row to messages in the form that version 1 of opencode's database has. It
// returns nil for a row type that is not part of the conversation.
func (d *opencodeRowData) toMessagesV1(row sqlitefile.Row) []*opencodeDocumentMessage {
	rowType := row.Text("type")
	id := row.Text("id")
	user, agent := newOpencodeMessage(row, id, "user"), newOpencodeMessage(row, id, "assistant")
	agent.Info["modelID"] = encodeJSON(d.Model.ID)
	switch rowType {
	case "user":
		user.addPart(id, map[string]any{"type": "text", "text": d.Text})
		for range d.Files {
			user.addPart(id, map[string]any{"type": "file"})
		}
		return []*opencodeDocumentMessage{user}
	case "assistant":
		for _, part := range d.Content {
			agent.addPart(id, convertMessagePartToV1(part))
		}
		return []*opencodeDocumentMessage{agent}
	case "shell":
		user.addPart(id, map[string]any{"type": "text", "text": personCommandNotice, "synthetic": true})
		agent.addPart(id, map[string]any{"type": "tool", "tool": "bash", "callID": id, "state": map[string]any{
			"status": "completed", "input": map[string]string{"command": d.Command}, "output": d.Output,
			"metadata": map[string]any{"exit": d.Exit}}})
		return []*opencodeDocumentMessage{user, agent}
	case "compaction":
		agent.addPart(id, map[string]any{"type": "compaction", "text": d.Summary})
		return []*opencodeDocumentMessage{agent}
	}
	if opencodeIgnoredMessageTypes()[rowType] {
		return nil
	}
	// Keep the row's unknown type, because the reader reports unknown types to the user.
	agent.addPart(id, map[string]any{"type": rowType})
	return []*opencodeDocumentMessage{agent}
}

func newOpencodeMessage(row sqlitefile.Row, id, role string) *opencodeDocumentMessage {
	return &opencodeDocumentMessage{Info: map[string]json.RawMessage{
		"id": encodeJSON(id), "role": encodeJSON(role),
		"time": encodeJSON(map[string]int64{"created": int64(row.Number("time_created"))}),
	}}
}

// addPart adds a part to the message. The part gets an ID that consists of the argument id, a dot, and the number of
// parts that the message already has.
func (r *opencodeDocumentMessage) addPart(id string, part map[string]any) {
	object := map[string]json.RawMessage{"id": encodeJSON(id + "." + strconv.Itoa(len(r.Parts)))}
	for name, value := range part {
		object[name] = encodeJSON(value)
	}
	r.Parts = append(r.Parts, object)
}

// convertMessagePartToV1 converts a message part from version 2 of opencode's database to its form in version 1. In
// version 1, a tool call has other member names, such as tool instead of name, and the tool's output is a text. Any
// other part stays the same, but loses its ID.
func convertMessagePartToV1(part map[string]json.RawMessage) map[string]any {
	object := map[string]any{}
	for name, value := range part {
		object[name] = value
	}
	if string(part["type"]) != `"tool"` {
		delete(object, "id")
		return object
	}
	var state struct {
		Status   string          `json:"status"`
		Input    json.RawMessage `json:"input"`
		Content  json.RawMessage `json:"content"`
		Metadata json.RawMessage `json:"metadata"`
		Error    struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	var times struct {
		Completed int64 `json:"completed"`
	}
	// If the tool call's state is invalid JSON, the call is stored without a result.
	parseObject(part["state"], &state)
	parseObject(part["time"], &times)
	return map[string]any{"type": "tool", "tool": part["name"], "callID": part["id"], "state": map[string]any{
		"status": state.Status, "input": jsonOrNull(state.Input), "output": ContentText(state.Content, "text"),
		"error": state.Error.Message, "metadata": jsonOrNull(state.Metadata),
		"time": map[string]int64{"end": times.Completed},
	}}
}

// encodeJSON returns the JSON encoding of a value. The value must consist of strings, numbers and raw JSON, which can
// always be encoded.
func encodeJSON(value any) json.RawMessage {
	b, _ := json.Marshal(value)
	return b
}
