// This file reads the memories of claude-mem in two forms. The first form is the file that claude-mem's script
// export-memories writes: {"exportedAt","observations":[…],"summaries":[…],"sessions":[…],"prompts":[…]}. The second
// form is JSON with rows of the tables observations and session_summaries, as sqlite3 -json prints them. In the rows,
// a list is a string that contains JSON.

package exchange

import (
	"bufio"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

// errOnlyPrompt is returned for the record of a prompt, because the prompt alone is not a memory.
var errOnlyPrompt = errors.New("is a prompt without its answer, and no memory; oxbow session import brings the " +
	"conversations that the client has kept")

var claudeMemKeys = map[string]string{
	"title": "title", "subtitle": "description", "concepts": "tags", "files_read": "related_files",
	"files_modified": "related_files", "files_edited": "related_files", "created_at": "created",
	"memory_session_id": "session", "sdk_session_id": "session", "text": "", "facts": "", "narrative": "",
	"created_at_epoch": "", "content_hash": "", "discovery_tokens": "", "rank": "", "score": "", "prompt_number": "",
	"generated_by_model": "model", "relevance_count": "", "content_session_id": "", "merged_into_project": "",
	"agent_type": "", "agent_id": "", "platform_source": "", "metadata": "metadata",
}

var (
	claudeMemIDFields        = []string{"memory_session_id", "sdk_session_id", "id"}
	claudeMemObservationForm = recordForm{
		format:                claudeMem,
		idFields:              claudeMemIDFields,
		frontMatterKeyByField: claudeMemKeys,
	}
	claudeMemSummaryForm = recordForm{
		format:                claudeMem,
		idFields:              claudeMemIDFields,
		frontMatterKeyByField: claudeMemKeys,
	}
)

// claudeMemSections lists the fields of a session summary that become sections, each with its title.
var claudeMemSections = [][2]string{
	{"request", "Request"}, {"investigated", "Investigated"}, {"learned", "Learned"}, {"completed", "Completed"},
	{"next_steps", "Next steps"}, {"notes", "Notes"},
}

var claudeMemProgram = programExportFormat{
	format: claudeMem,
	jsonListNames: documentListNames{
		recordListNames:  []string{"observations", "summaries", "prompts"},
		ignoredListNames: []string{"sessions"},
	},
	convert: func(rec locatedJSONObject, o *ReadOptions) (Item, error) {
		switch {
		case rec.listName == "prompts" || rec.fields.hasKey("prompt_text"):
			return Item{}, errOnlyPrompt
		case rec.listName == "summaries" || rec.fields.hasKey("request"):
			return claudeMemSummaryItem(rec, o)
		}
		return claudeMemItem(rec, o)
	},
}

// readClaudeMem yields an item for each observation and for each session summary.
func readClaudeMem(r *bufio.Reader, sourceName string, o *ReadOptions) iter.Seq2[Item, error] {
	return claudeMemProgram.readRecords(documentObjects(r, sourceName, claudeMemProgram.jsonListNames), o)
}

// claudeMemItem converts an observation to an item. The content is the narrative and a list of the facts.
func claudeMemItem(rec locatedJSONObject, o *ReadOptions) (Item, error) {
	rec.fields = decodeListStrings(rec.fields)
	var facts []string
	if raw, ok := rec.fields.rawValue("facts"); ok {
		var err error
		facts, err = rec.fields.listValue("facts")
		if err != nil {
			// If the observation's list of facts has an unknown form, import its JSON text unchanged.
			facts = []string{string(raw)}
		}
	}
	if !hasTextField(rec.fields, "narrative", "text", "title", "subtitle") && len(facts) == 0 {
		return Item{}, missingTextFieldError("narrative")
	}
	form := claudeMemObservationForm
	form.textFields = []string{"narrative", "text"}
	if narrative, _ := rec.fields.textValue("narrative"); narrative != "" {
		form.textFields = []string{"narrative"}
	}
	if len(facts) > 0 {
		rec.fields = append(rec.fields, jsonField{factListFieldName, quoteJSONText(formatBulletList(facts))})
		form.textFields = append(form.textFields, factListFieldName)
	}
	if !hasTextField(rec.fields, append(form.textFields, "subtitle")...) {
		form.textFields = []string{"title"} // Use the title as the text, because the observation lacks other text.
	}
	return form.toItem(rec, o)
}

// factListFieldName is the name of a field that the import adds to an observation of claude-mem. It contains the facts
// of the observation as a Markdown list. No real field can have this name.
const factListFieldName = "\x00facts"

// claudeMemSummaryItem converts a session summary to an item. Each field in claudeMemSections that is not empty
// becomes a section with a heading.
func claudeMemSummaryItem(rec locatedJSONObject, o *ReadOptions) (Item, error) {
	rec.fields = decodeListStrings(rec.fields)
	form := claudeMemSummaryForm
	var sections []string
	for _, s := range claudeMemSections {
		form.textFields = append(form.textFields, s[0])
		text, err := rec.fields.textValue(s[0])
		if err != nil {
			return Item{}, err
		}
		text = strings.TrimSpace(text)
		if text != "" {
			sections = append(sections, "## "+s[1]+"\n\n"+text)
		}
	}
	if len(sections) == 0 {
		return Item{}, errFileWithoutText
	}
	it, err := form.toItem(rec, o)
	if err != nil {
		return it, err
	}
	request, _ := rec.fields.textValue("request")
	it.Entry.Name = makeValidName("Session: "+deriveMissingName("", request), 100)
	if request == "" {
		it.Entry.Name = makeValidName("Session: "+deriveMissingName("", it.Entry.Content), 100)
	}
	it.Entry.Content = strings.Join(sections, "\n\n")
	if it.ID != "" {
		// Add a prefix, because an observation in the same file may have the same number as this summary.
		it.ID = makeValidName("summary/"+it.ID, oxbow.MaxName)
	}
	it.addLabel("type", "summary")
	return it, nil
}

// decodeListStrings returns a copy of the object's fields. If the value of a field is a string that contains a JSON
// array, the copy contains the array instead of the string.
func decodeListStrings(o jsonObject) jsonObject {
	o = slices.Clone(o)
	for i, f := range o {
		if f.rawValue[0] != '"' {
			continue
		}
		s := []byte(strings.TrimSpace(rawjson.UnquoteString(f.rawValue)))
		isList := len(s) > 1 && s[0] == '[' && rawjson.Valid(s) && rawjson.FindLoneSurrogate(s) < 0
		if isList {
			o[i].rawValue = s
		}
	}
	return o
}

// isClaudeMem reports whether a JSON document has the keys of an export from claude-mem or from its tables.
func isClaudeMem(h jsonHead) bool {
	row := containsAny(h.keys, "memory_session_id", "sdk_session_id")
	return containsAll(h.keys, "exportedAt", "totalObservations") || row ||
		containsAny(h.elementKeysByListName["observations"], "memory_session_id", "sdk_session_id")
}
