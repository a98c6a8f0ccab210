// This file reads what "engram export" writes: {"version","exported_at","sessions":[…],"observations":[…],
// "prompts":[…]}. An observation is {"id","sync_id","session_id","type","title","content","project","scope",
// "topic_key","created_at","updated_at","deleted_at"}. Its dates lack a time zone and are in UTC.

package exchange

import (
	"bufio"
	"iter"
)

var engramKeyByField = map[string]string{
	"created_at": "created", "updated_at": "updated", "started_at": "created", "session_id": "session",
	"topic_key": "aliases", "tool_name": "tool", "revision_count": "", "duplicate_count": "", "last_seen_at": "",
	"deleted_at": "", "normalized_hash": "", "ended_at": "", "sync_id": "", "id": "", "embedding": "",
}

var (
	engramObservationForm = recordForm{
		format:                engram,
		idFields:              []string{"sync_id"},
		textFields:            []string{"content"},
		frontMatterKeyByField: engramKeyByField,
	}
	engramSessionForm = recordForm{
		format:                engram,
		idFields:              []string{"id"},
		textFields:            []string{"summary"},
		frontMatterKeyByField: engramKeyByField,
	}
)

var engramProgram = programExportFormat{
	format:        engram,
	jsonListNames: documentListNames{recordListNames: []string{"sessions", "observations", "prompts"}},
	convert: func(rec locatedJSONObject, o *ReadOptions) (Item, error) {
		if raw, ok := rec.fields.rawValue("deleted_at"); ok && raw[0] == '"' {
			return Item{}, errDeleted
		}
		switch {
		case rec.listName == "prompts":
			return Item{}, errOnlyPrompt
		case rec.listName == "sessions":
			return engramSessionItem(rec, o)
		case !hasTextField(rec.fields, "content"):
			return Item{}, missingTextFieldError("content")
		}
		form := engramObservationForm
		if id, _ := rec.fields.textValue("sync_id"); id == "" {
			// Use these fields as the ID, because older versions of the program engram did not write the field
			// sync_id.
			form.idFields = []string{"session_id", "id"}
		}
		return form.toItem(rec, o)
	},
}

// readEngram yields an item for each observation and for each session that has a summary.
func readEngram(r *bufio.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	return engramProgram.readRecords(documentObjects(r, inputName, engramProgram.jsonListNames), o)
}

// engramSessionItem converts a session to an item that contains the session's summary. If the session has no summary,
// the error is errRecordWithoutMemory.
func engramSessionItem(rec locatedJSONObject, o *ReadOptions) (Item, error) {
	if summary, _ := rec.fields.textValue("summary"); summary == "" {
		return Item{}, errRecordWithoutMemory
	}
	it, err := engramSessionForm.toItem(rec, o)
	if err == nil {
		it.Entry.Name = makeValidName("Session: "+it.Entry.Name, 100)
		it.addLabel("type", "summary")
	}
	return it, err
}

// isEngram reports whether a JSON document has the keys of an engram export.
func isEngram(h jsonHead) bool {
	isExport := containsAll(h.keys, "version", "exported_at") && containsAny(h.keys, "sessions", "observations")
	return isExport || containsAny(h.elementKeysByListName["observations"], "sync_id", "topic_key")
}
