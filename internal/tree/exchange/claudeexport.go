// This file reads the memories and projects in an export of claude.ai. The file memories.json is
// [{"conversations_memory":TEXT,"project_memories":{PROJECT:TEXT},"account_uuid"}]. The file projects.json, or each
// file below projects/, has {"uuid","name","description","prompt_template","created_at",
// "docs":[{"uuid","filename","content","created_at"}]}. The command oxbow session import reads the conversations.

package exchange

import (
	"bufio"
	"encoding/json"
	"errors"
	"iter"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

// readClaudeExport yields an item for each memory, for each project's instructions, and for each document of a
// project.
func readClaudeExport(r *bufio.Reader, sourceName string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for rec, err := range documentObjects(r, sourceName, documentListNames{}) {
			items, itemErr := []Item(nil), err
			if err == nil {
				items, itemErr = claudeExportItems(rec, o)
				if itemErr == errRecordWithoutMemory {
					continue
				}
				itemErr = rec.itemError(itemErr)
			}
			for _, it := range items {
				if !yieldItem(yield, it) {
					return
				}
			}
			if itemErr != nil && (!yield(Item{}, itemErr) || !isItemError(itemErr)) {
				return
			}
		}
	}
}

var (
	errIsConversation = errors.New("is a conversation, which belongs to the archive of sessions; oxbow import FILE " +
		"--from claude-export brings it there")
	errNoClaudeRecord = errors.New("is neither a memory nor a project of claude.ai")
)

// claudeExportItems returns the items in one object of the export.
func claudeExportItems(rec locatedJSONObject, o *ReadOptions) ([]Item, error) {
	switch f := rec.fields; {
	case f.hasKey("conversations_memory") || f.hasKey("project_memories"):
		return claudeMemories(rec)
	case f.hasKey("chat_messages"):
		return nil, errIsConversation
	case f.hasKey("docs") || f.hasKey("prompt_template"):
		return claudeProjectItems(rec, o)
	case f.hasKey("email_address") || f.hasKey("full_name"):
		return nil, errRecordWithoutMemory // Skip the objects of users.json, which describe the account.
	}
	return nil, errNoClaudeRecord
}

// claudeMemories returns the items in an object of memories.json: the memories from all conversations, and the
// memories from each project's conversations.
func claudeMemories(rec locatedJSONObject) (items []Item, err error) {
	add := func(name, id, content, project string) {
		if strings.TrimSpace(content) == "" {
			return
		}
		it := Item{Position: rec.position, Origin: string(ClaudeExport)}
		it.Entry.Name, it.Entry.Content = name, content
		it.ID = makeValidName(id, oxbow.MaxName)
		it.addLabel("type", "memory")
		it.addLabel("claude-project", project)
		items = append(items, it)
	}
	text, err := rec.fields.textValue("conversations_memory")
	if err != nil {
		return nil, err
	}
	account, err := claudeAccount(rec)
	if err != nil {
		return nil, err
	}
	add("What Claude remembers of me", "memory"+account, text, "")
	raw, ok := rec.fields.rawValue("project_memories")
	if !ok || raw[0] != '{' {
		return items, nil
	}
	memories, err := parseObject(raw)
	if err != nil {
		return items, err
	}
	for _, m := range memories {
		text, err := decodeText(m.key, m.rawValue)
		if err != nil {
			return items, err
		}
		add("What Claude remembers of project "+m.key, "memory"+account+"/"+m.key, text, m.key)
	}
	return items, nil
}

// claudeAccount returns "/" followed by the ID of the account to which the memories in rec belong. The ID comes from
// the field account_uuid or from a file name such as memories/ID.json. If neither contains an ID, claudeAccount returns
// "". The caller uses the result to distinguish the memories of several accounts.
func claudeAccount(rec locatedJSONObject) (string, error) {
	if raw, ok := rec.fields.rawValue("account_uuid"); ok && string(raw) != "null" {
		id, err := decodeText("account_uuid", raw)
		if err != nil || id != "" {
			return "/" + id, err
		}
	}
	file := fileOfRef(rec.position)
	if path.Base(path.Dir(file)) == "memories" {
		return "/" + strings.TrimSuffix(path.Base(file), path.Ext(file)), nil
	}
	return "", nil
}

var (
	claudeProjectForm = recordForm{
		format:     ClaudeExport,
		idFields:   []string{"uuid"},
		textFields: []string{"prompt_template"},
		frontMatterKeyByField: map[string]string{
			"created_at":         "created",
			"updated_at":         "updated",
			"docs":               "",
			"creator":            "",
			"is_private":         "",
			"is_starter_project": "",
			"docs_count":         "",
		},
	}
	claudeDocForm = recordForm{format: ClaudeExport, idFields: []string{"uuid"}, textFields: []string{"content"},
		frontMatterKeyByField: map[string]string{"created_at": "created", "filename": ""}}
)

// claudeProjectItems returns the items of a project: one for its description and instructions, and one for each
// document.
func claudeProjectItems(rec locatedJSONObject, o *ReadOptions) (items []Item, err error) {
	name, err := rec.fields.textValue("name")
	if err != nil {
		return nil, err
	}
	it, err := claudeProjectForm.toItem(rec, o)
	switch {
	case err == nil:
		it.Entry.Name = makeValidName("Project "+name, 200)
		it.addLabel("type", "project")
		items = append(items, it)
	case !errors.Is(err, errFileWithoutText):
		return nil, err
	}
	raw, ok := rec.fields.rawValue("docs")
	if !ok || raw[0] != '[' {
		return items, nil
	}
	for part := range rawjson.EachElement(raw) {
		doc, err := claudeDocumentItem(part, rec, name, o)
		if err != nil {
			return items, err
		}
		items = append(items, doc)
	}
	return items, nil
}

// claudeDocumentItem returns the item to import for a document that a Claude user added to a project.
func claudeDocumentItem(
	raw json.RawMessage,
	project locatedJSONObject,
	projectName string,
	o *ReadOptions,
) (Item, error) {
	doc := locatedJSONObject{position: project.position}
	var err error
	doc.fields, err = parseValidObject(raw)
	if err != nil {
		return Item{}, err
	}
	file, err := doc.fields.textValue("filename")
	if err != nil {
		return Item{}, err
	}
	it, err := claudeDocForm.toItem(doc, o)
	if err != nil {
		return it, err
	}
	if file != "" {
		it.Entry.Name = makeValidName(strings.TrimSuffix(file, path.Ext(file)), 200)
	}
	it.addLabel("claude-project", projectName)
	it.addLabel("filename", file)
	return it, nil
}

// isClaudeExport reports whether a JSON document has the keys of a file in a data export from Claude.
func isClaudeExport(h jsonHead) bool {
	return containsAny(h.keys, "conversations_memory", "project_memories") ||
		containsAll(h.keys, "uuid", "docs") || containsAll(h.keys, "uuid", "prompt_template")
}
