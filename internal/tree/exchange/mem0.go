// This file reads the memories of mem0. There are two sources. The first is the answer of get_all, which is
// {"results":[{"id","memory","user_id","metadata","created_at","updated_at"}]} or only the array. The second is the
// OpenMemory backup, a ZIP archive. The archive contains memories.jsonl.gz, whose lines are
// {"id","content","metadata","state","app","categories"}. It also contains memories.json, which holds the same memories
// as database tables.

package exchange

import (
	"bufio"
	"encoding/json"
	"iter"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

var mem0Form = recordForm{
	format:     mem0,
	idFields:   []string{"id"},
	textFields: []string{"memory", "content", "data", "text"},
	frontMatterKeyByField: map[string]string{
		"created_at": "created", "categories": "tags", "hash": "", "score": "", "updated_at": "updated",
		"archived_at": "", "deleted_at": "", "category_ids": "", "embedding": "", "vector": "",
		"structured_attributes": "", "event": "",
	},
}

// mem0Lists says which lists in mem0's documents are read. The lists in recordListNames contain memories. The lists in
// tableListNames contain the names of the categories and apps to which the memories refer. The lists in
// ignoredListNames are ignored. All other tables of OpenMemory contain users, settings and history.
var mem0Lists = documentListNames{
	recordListNames:  []string{"results", "memories"},
	tableListNames:   []string{"categories", "apps"},
	ignoredListNames: []string{"memory_categories", "status_history", "access_controls", "relations"},
}

// readMem0 yields an item for each memory.
func readMem0(r *bufio.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	names := map[string]string{} // map from the ID to the name, for each category and app that was read so far
	p := programExportFormat{format: mem0, convert: func(rec locatedJSONObject, o *ReadOptions) (Item, error) {
		return mem0Item(rec, names, o)
	}}
	objects := func(yield func(locatedJSONObject, error) bool) {
		for rec, err := range documentObjects(r, inputName, mem0Lists) {
			isName := rec.listName == "categories" || rec.listName == "apps"
			if err == nil && isName {
				id, _ := rec.fields.textValue("id") // A name without an ID is stored under "", and is never used.
				names[id], _ = rec.fields.textValue("name")
				continue
			}
			if !yield(rec, err) {
				return
			}
		}
	}
	return p.readRecords(objects, o)
}

// mem0Item converts a memory to an item. In a vector database's dump, the memory is in the payload of a point. The map
// names contains the names of the categories and apps to which memories refer, by their IDs.
func mem0Item(rec locatedJSONObject, names map[string]string, o *ReadOptions) (Item, error) {
	if raw, ok := rec.fields.rawValue("payload"); ok && raw[0] == '{' {
		inner, err := parseObject(raw)
		if err != nil {
			return Item{}, err
		}
		rec.fields = slices.DeleteFunc(
			append(rec.fields, inner...),
			func(f jsonField) bool { return f.key == "payload" },
		)
	}
	if raw, ok := rec.fields.rawValue("deleted_at"); ok && raw[0] == '"' {
		return Item{}, errDeleted
	}
	if state, _ := rec.fields.textValue("state"); state == "deleted" {
		return Item{}, errDeleted
	}
	if !hasTextField(rec.fields, mem0Form.textFields...) {
		return Item{}, missingTextFieldError("memory")
	}
	rec.fields = slices.DeleteFunc(slices.Clone(rec.fields), func(f jsonField) bool {
		return f.key == "state" && string(f.rawValue) == `"active"`
	})
	it, err := mem0Form.toItem(rec, o)
	for _, id := range stringListValue(rec.fields, "category_ids") {
		it.addLabel(oxbow.LabelTag, names[id])
	}
	if id, _ := rec.fields.textValue("app_id"); names[id] != "" {
		it.addLabel("app", names[id])
	}
	return it, err
}

// stringListValue returns the strings in a field that is a list, or nil for any other field.
func stringListValue(o jsonObject, key string) (values []string) {
	raw, ok := o.rawValue(key)
	if !ok || raw[0] != '[' {
		return nil
	}
	for part := range rawjson.EachElement(json.RawMessage(raw)) {
		if part[0] == '"' {
			values = append(values, rawjson.UnquoteString(part))
		}
	}
	return values
}

// isMem0 reports whether a JSON document has the keys of mem0's documents.
func isMem0(h jsonHead) bool {
	memory := func(keys []string) bool {
		return containsAll(keys, "memory") && containsAny(keys, "id", "user_id", "hash", "created_at")
	}
	switch {
	case memory(h.keys) || memory(h.elementKeysByListName["results"]) || memory(h.elementKeysByListName["memories"]):
		return true
	case containsAll(h.keys, "id", "payload") || containsAll(h.keys, "user", "apps"):
		return true
	}
	line := []string{"content", "state", "categories"}
	return containsAll(h.keys, line...) || containsAll(h.elementKeysByListName["memories"], "content", "state")
}
