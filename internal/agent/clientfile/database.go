// This file reads sessions from the SQLite databases of clients. A session in a database has a path that consists of
// the database's path, a slash, and the session's ID. [Open] returns the session as a JSON document, which the client's
// [EventReader] reads. The file with a client's EventReader describes the format of the client's documents.

package clientfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/oxbow-memory/oxbow/internal/base/sqlitefile"
)

// databaseFormat describes how one client stores sessions in a database.
type databaseFormat struct {
	clientName     string
	requiredTables []string // A database has this format if it contains these tables.

	listSessionIDs func(db *sqlitefile.DB) (ids []string, err error)
	readSession    func(db *sqlitefile.DB, path, id string) (any, error)
}

// databaseFormats lists the known formats. A database is read in the first format whose tables it contains.
var databaseFormats = []databaseFormat{
	{"cursor", []string{"cursorDiskKV", "ItemTable"}, listCursorSessionIDs, readCursorDocument},
	{"opencode", []string{"session_v2", "session_message"}, listOpencodeSessionIDs, readOpencodeDocument},
	{"opencode", []string{"session", "message", "part"}, listOpencodeSessionIDs, readOpencodeDocument},
	{"crush", []string{"sessions", "messages", "files"}, sessionIDLister("sessions"), readCrushDocument},
	{"goose", []string{"sessions", "messages", "schema_version"}, listGooseSessionIDs, readGooseDocument},
	{"hermes", []string{"sessions", "messages"}, sessionIDLister("sessions"), readHermesDocument},
	{"zed", []string{"threads"}, sessionIDLister("threads"), readZedDocument},
}

// databaseSuffixes contains the suffixes of database file names.
var databaseSuffixes = []string{".db", ".vscdb"}

// IsDatabase reports whether a file has a database's name and begins like an SQLite database.
func IsDatabase(path string) bool {
	return slices.ContainsFunc(databaseSuffixes, func(s string) bool { return strings.HasSuffix(path, s) }) &&
		sqlitefile.IsDatabase(path)
}

// splitDatabasePath divides a session's path into the database's path and the session's ID. If the path does not lead
// into a database, sessionID is "".
func splitDatabasePath(path string) (database, sessionID string) {
	slashed := filepath.ToSlash(path)
	for _, s := range databaseSuffixes {
		i := strings.LastIndex(slashed, s+"/")
		if i < 0 {
			continue
		}
		database = filepath.FromSlash(slashed[:i+len(s)])
		if info, err := os.Stat(database); err == nil && !info.IsDir() {
			return database, slashed[i+len(s)+1:]
		}
	}
	return path, ""
}

// findDatabaseFormat returns the format in which a database contains sessions. It returns false if no known format
// fits.
func findDatabaseFormat(db *sqlitefile.DB) (databaseFormat, bool) {
	i := slices.IndexFunc(databaseFormats, func(f databaseFormat) bool { return db.HasTables(f.requiredTables...) })
	if i < 0 {
		return databaseFormat{}, false
	}
	return databaseFormats[i], true
}

// ListDatabaseSessions returns the client that wrote a database, and the paths of its sessions, which [Open]
// accepts. The client is "" if the database belongs to no known client.
func ListDatabaseSessions(path string) (client string, paths []string, err error) {
	db, err := sqlitefile.Open(path)
	if err != nil {
		return "", nil, fmt.Errorf("reading %s: %w", path, err)
	}
	defer db.Close()
	form, ok := findDatabaseFormat(db)
	if !ok {
		return "", nil, nil
	}
	ids, err := form.listSessionIDs(db)
	if err == nil {
		err = db.CheckForChanges()
	}
	if err != nil {
		return form.clientName, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	for _, id := range ids {
		paths = append(paths, path+"/"+id)
	}
	return form.clientName, paths, nil
}

// databaseError returns the error that explains why a whole database cannot be opened as a transcript.
func databaseError(path string) error {
	client, paths, err := ListDatabaseSessions(path)
	switch {
	case err != nil:
		return err
	case client == "":
		return fmt.Errorf("%s is not the database of a supported client", path)
	}
	return fmt.Errorf("%s is a database with %d sessions of %s, and not a single one", path, len(paths), client)
}

// readDatabaseSession returns one session of a database as a JSON document.
func readDatabaseSession(path, id string) ([]byte, error) {
	db, err := sqlitefile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	defer db.Close()
	form, ok := findDatabaseFormat(db)
	if !ok {
		return nil, fmt.Errorf("%s is not the database of a supported client", path)
	}
	document, err := form.readSession(db, path, id)
	if err == nil {
		err = db.CheckForChanges()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the session %s in %s: %w", id, path, err)
	}
	return json.MarshalIndent(document, "", " ")
}

// sessionIDLister returns a function that lists the values in the column id of a table, which are session IDs.
func sessionIDLister(table string) func(*sqlitefile.DB) ([]string, error) {
	return func(db *sqlitefile.DB) (ids []string, err error) {
		t, err := db.Table(table)
		if err != nil {
			return nil, err
		}
		for row, err := range t.Rows() {
			if err != nil {
				return nil, err
			}
			ids = append(ids, row.Text("id"))
		}
		return ids, nil
	}
}

// findRowWithDetails returns the row of a table whose column "id" is rowID, such as a session. It also returns the rows
// of detailTable whose detailColumn contains the same ID, such as the session's messages. If detailTable is "", it
// returns only the row. If there is no such row, the error is fs.ErrNotExist.
func findRowWithDetails(
	db *sqlitefile.DB,
	table, rowID, detailTable, detailColumn string,
) (row sqlitefile.Row, details []sqlitefile.Row, err error) {
	t, err := db.Table(table)
	if err != nil {
		return row, nil, err
	}
	found, err := t.RowsWithText("id", rowID)
	if err != nil {
		return row, nil, err
	}
	if len(found) == 0 {
		return row, nil, fs.ErrNotExist
	}
	if detailTable == "" {
		return found[0], nil, nil
	}
	t, err = db.Table(detailTable)
	if err != nil {
		return row, nil, err
	}
	details, err = t.RowsWithText(detailColumn, rowID)
	return found[0], details, err
}

// columnsAsObject returns the named columns of a row as a JSON object. A column without a text is left out.
func columnsAsObject(row sqlitefile.Row, names ...string) map[string]any {
	object := map[string]any{}
	for _, name := range names {
		if text := row.Text(name); text != "" {
			object[name] = text
		}
	}
	return object
}

// columnAsJSON returns the value of a column that contains JSON. A value that is not JSON is returned as a JSON string.
func columnAsJSON(row sqlitefile.Row, name string) json.RawMessage {
	text := row.Text(name)
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, _ := json.Marshal(text) // Ignore the error: a string can always be encoded.
	return b
}

// listCursorSessionIDs returns the IDs of all sessions of Cursor's editor that were not deleted.
func listCursorSessionIDs(db *sqlitefile.DB) (ids []string, err error) {
	t, err := db.Table("cursorDiskKV")
	if err != nil {
		return nil, err
	}
	rows, err := t.RowsWithPrefix("key", "composerData:")
	for _, row := range rows {
		if row.Text("value") != "" { // Skip deleted sessions, whose value is NULL.
			ids = append(ids, strings.TrimPrefix(row.Text("key"), "composerData:"))
		}
	}
	return ids, err
}

// readCursorDocument returns a Cursor session as a document. The session lists message IDs, and the messages are
// rows of their own. Older sessions contain the messages themselves.
func readCursorDocument(db *sqlitefile.DB, _, id string) (any, error) {
	t, err := db.Table("cursorDiskKV")
	if err != nil {
		return nil, err
	}
	rows, err := t.RowsWithText("key", "composerData:"+id)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fs.ErrNotExist
	}
	composer := columnAsJSON(rows[0], "value")
	var content struct {
		Headers []struct {
			ID string `json:"bubbleId"`
		} `json:"fullConversationHeadersOnly"`
		Inline []json.RawMessage          `json:"conversation"`
		Map    map[string]json.RawMessage `json:"conversationMap"`
	}
	if !parseObject(composer, &content) {
		return nil, fmt.Errorf("its value is not a JSON object")
	}
	stored, err := t.RowsWithPrefix("key", "bubbleId:"+id+":")
	if err != nil {
		return nil, err
	}
	byID := map[string]json.RawMessage{}
	for _, row := range stored {
		byID[strings.TrimPrefix(row.Text("key"), "bubbleId:"+id+":")] = columnAsJSON(row, "value")
	}
	bubbles := append([]json.RawMessage{}, content.Inline...)
	for _, h := range content.Headers {
		switch b := byID[h.ID]; {
		case b != nil:
			bubbles = append(bubbles, b)
		case content.Map[h.ID] != nil:
			bubbles = append(bubbles, content.Map[h.ID])
		// The session names a message that the database does not contain. Append null, so that the reader counts an
		// unread message.
		default:
			bubbles = append(bubbles, json.RawMessage("null"))
		}
	}
	return map[string]any{"cursor": withoutLargeMembers(composer), "bubbles": bubbles}, nil
}

// withoutLargeMembers returns the members of a Cursor session that the reader uses. The unused members may be large.
func withoutLargeMembers(sessionJSON json.RawMessage) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(sessionJSON, &all) // Ignore the error, because the caller has parsed the same JSON before.
	small := map[string]json.RawMessage{}
	for _, name := range []string{"composerId", "createdAt", "lastUpdatedAt", "modelConfig", "workspaceIdentifier",
		"currentDir"} {
		if all[name] != nil {
			small[name] = all[name]
		}
	}
	return small
}

// readCrushDocument returns a session of Crush as a document (see [crushReader]). The document also names the project's
// directory, which contains the database.
func readCrushDocument(db *sqlitefile.DB, path, id string) (any, error) {
	session, rows, err := findRowWithDetails(db, "sessions", id, "messages", "session_id")
	if err != nil {
		return nil, err
	}
	messages := []map[string]any{}
	for _, row := range rows {
		m := columnsAsObject(row, "id", "role", "model", "created_at")
		m["parts"] = columnAsJSON(row, "parts")
		m["is_summary_message"] = int(row.Number("is_summary_message"))
		messages = append(messages, m)
	}
	dir := filepath.Dir(path)
	if filepath.Base(dir) == ".crush" {
		dir = filepath.Dir(dir)
	}
	return map[string]any{
		"crush":    columnsAsObject(session, "id", "parent_session_id"),
		"dir":      dir,
		"messages": messages,
	}, nil
}

// listGooseSessionIDs returns the session IDs of persons and sub-agents. It leaves out hidden sessions, which Goose
// uses for itself.
func listGooseSessionIDs(db *sqlitefile.DB) (ids []string, err error) {
	t, err := db.Table("sessions")
	if err != nil {
		return nil, err
	}
	for row, err := range t.Rows() {
		if err != nil {
			return nil, err
		}
		if row.Text("session_type") != "hidden" {
			ids = append(ids, row.Text("id"))
		}
	}
	return ids, nil
}

// readGooseDocument returns a session of Goose as a document, in the form that the comment at the top of goose.go
// describes. A message without an ID gets the ID of its row.
func readGooseDocument(db *sqlitefile.DB, _, id string) (any, error) {
	session, rows, err := findRowWithDetails(db, "sessions", id, "messages", "session_id")
	if err != nil {
		return nil, err
	}
	messages := []map[string]any{}
	for _, row := range rows {
		m := columnsAsObject(row, "role")
		m["id"] = row.Text("message_id")
		if row.Text("message_id") == "" {
			m["id"] = "row" + row.Text("id")
		}
		m["created"] = row.Number("created_timestamp")
		m["content"] = columnAsJSON(row, "content_json")
		if row.Text("metadata_json") != "" {
			m["metadata"] = columnAsJSON(row, "metadata_json")
		}
		messages = append(messages, m)
	}
	return map[string]any{
		"goose":    columnsAsObject(session, "id", "working_dir", "session_type"),
		"messages": messages,
	}, nil
}

// readHermesDocument returns a session of Hermes as a document (see [hermesReader]).
func readHermesDocument(db *sqlitefile.DB, _, id string) (any, error) {
	session, rows, err := findRowWithDetails(db, "sessions", id, "messages", "session_id")
	if err != nil {
		return nil, err
	}
	messages := []map[string]any{}
	for _, row := range rows {
		m := columnsAsObject(row, "role", "content", "reasoning", "tool_call_id", "timestamp")
		if row.Text("tool_calls") != "" {
			m["tool_calls"] = columnAsJSON(row, "tool_calls")
		}
		messages = append(messages, m)
	}
	return map[string]any{"hermes": columnsAsObject(session, "id", "model", "cwd"), "messages": messages}, nil
}

// readZedDocument returns a thread of Zed as a document, in the form that the comment at the top of zed.go describes.
// The database contains the thread as JSON, which may be compressed.
func readZedDocument(db *sqlitefile.DB, _, id string) (any, error) {
	row, _, err := findRowWithDetails(db, "threads", id, "", "")
	if err != nil {
		return nil, err
	}
	data := []byte(row.Text("data"))
	switch row.Text("data_type") {
	case "json":
	case "zstd":
		d, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(maxDocumentBytes))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		data, err = d.DecodeAll(data, nil)
		if err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("its data has the type %q, which is not known", row.Text("data_type"))
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("its data is not JSON")
	}
	return map[string]any{"zed": columnsAsObject(row, "id", "parent_id", "folder_paths", "created_at", "updated_at"),
		"thread": json.RawMessage(data)}, nil
}
