// This file converts handoffs to entry contents and back.

package handoff

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// stateLabelKey is the key of the label that contains a handoff's state. A handoff without this label is open. Imported
// handoffs lack the label.
const stateLabelKey = "handoff"

// These are the values of the label that contains a handoff's state.
const (
	HandoffStateOpen  = "open"
	HandoffStateTaken = "taken"
)

// Maximum numbers of skills and files in a handoff.
const (
	maxSkillsPerHandoff = 32
	maxFilesPerHandoff  = 256
)

// encodeTask returns the entry content for a task. The content has a head between lines of three dashes, the summary,
// the plan under the heading "## Plan", and the record under the heading "## Record". Each line of the head is a key
// and a JSON value, which is also valid YAML.
//
// The summary itself may contain a heading "## Plan". The key "plan" then says which of these headings begins the plan:
// 2 means the second heading. The value is 0 if the task has no plan. If the task has a record, the key "record" says
// in the same way which heading "## Record" begins the record.
//
//	---
//	profile: "vtt-developer"
//	skills: ["vtt-core","senior-developer"]
//	files: ["pkg/vtt/spatial.go"]
//	plan: 2
//	---
//	## Plan
//
//	The grid is done.
//
//	## Plan
//
//	Walls next.
func (t Task) encodeTask() string {
	var b strings.Builder
	b.WriteString("---\n")
	line := func(key string, value any) { fmt.Fprintf(&b, "%s: %s\n", key, encodeJSON(value)) }
	if t.Profile != "" {
		line("profile", t.Profile)
	}
	if len(t.Skills) > 0 {
		line("skills", t.Skills)
	}
	if len(t.Files) > 0 {
		line("files", t.Files)
	}
	summary, p := strings.TrimSpace(t.Summary), strings.TrimSpace(t.Plan)
	switch heads := countHeadings(summary, planHeading); {
	case heads > 0 && p == "":
		line("plan", 0)
	case heads > 0:
		line("plan", heads+1)
	}
	r := strings.TrimSpace(t.SessionRecordText)
	if r != "" {
		line("record", countHeadings(summary+"\n"+p, recordHeading)+1)
	}
	b.WriteString("---\n" + summary + "\n")
	if p != "" {
		b.WriteString("\n" + planHeading + "\n\n" + p + "\n")
	}
	if r != "" {
		b.WriteString("\n" + recordHeading + "\n\n" + r + "\n")
	}
	return b.String()
}

// Headings for the parts of a handoff's content.
const (
	planHeading   = "## Plan"
	recordHeading = "## Record"
)

// countHeadings returns the number of lines in the text that equal the heading.
func countHeadings(text, heading string) (n int) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == heading {
			n++
		}
	}
	return n
}

// splitAtHeading splits a text at a line that equals heading, ignoring the white space around the line. headingNumber
// selects this line: 1 is the first such line. splitAtHeading returns the text before and after the line, both without
// the white space around them. If there is no such line, before is the whole text.
func splitAtHeading(text, heading string, headingNumber int) (before, after string) {
	at := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == heading {
			headingNumber--
			if headingNumber == 0 {
				return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(line):])
			}
		}
		at += len(line)
	}
	return strings.TrimSpace(text), ""
}

// encodeJSON returns v as JSON. Characters such as < are not escaped.
func encodeJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // Strings and numbers can always be encoded.
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parseTask parses the content of a handoff, which encodeTask has composed: a summary, a plan and a session record. The
// summary ends at the heading of the plan, and the plan ends at the heading of the record. If a part contains such a
// heading as ordinary text, the front matter contains the number of the heading that counts (1 is the first, and 0
// means none). Without a number in the front matter, the first plan heading counts, and there is no session record.
//
// If the front matter is invalid, for example after an edit by hand, the whole content is parsed as the body, so that
// no text is lost.
func parseTask(content string) Task {
	var t Task
	head, body, _ := frontmatter.SplitFrontMatter(content)
	plan, record := 1, 0
	if !t.parseHead(head, &plan, &record) {
		t = Task{}
		plan, record = 1, 0
		body = content
	}
	body, t.SessionRecordText = splitAtHeading(body, recordHeading, record)
	t.Summary, t.Plan = splitAtHeading(body, planHeading, plan)
	return t
}

// parseHead parses the head and reports whether all of it is valid. Each line of the head contains a key and a JSON
// value. The values are stored in the fields of t. The numbers of the headings for the plan and the record are stored
// in planHeadingNumber and recordHeadingNumber. The head is read as plain text, because YAML cannot represent every
// string.
func (t *Task) parseHead(head string, planHeadingNumber, recordHeadingNumber *int) bool {
	for line := range strings.Lines(head) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		var into any
		switch key {
		case "profile":
			into = &t.Profile
		case "skills":
			into = &t.Skills
		case "files":
			into = &t.Files
		case "plan":
			into = planHeadingNumber
		case "record":
			into = recordHeadingNumber
		default:
			return false
		}
		if json.Unmarshal([]byte(value), into) != nil {
			return false
		}
	}
	return true
}

// validate returns an error that matches [oxbow.ErrInvalid] if the task cannot be stored as a handoff.
func (t Task) validate() error {
	if strings.TrimSpace(t.Summary) == "" && strings.TrimSpace(t.SessionRecordText) == "" {
		return &oxbow.InvalidError{Field: "summary", Reason: "is empty; say what was done and where it stands"}
	}
	for _, l := range []struct {
		field string
		words []string
		most  int
	}{
		{"memory_profile", oneElementOrNil(t.Profile), 1},
		{"skills", t.Skills, maxSkillsPerHandoff},
		{"files_to_read", t.Files, maxFilesPerHandoff},
	} {
		if len(l.words) > l.most {
			return &oxbow.InvalidError{
				Field:  l.field,
				Value:  fmt.Sprint(len(l.words)),
				Reason: fmt.Sprintf("are more than the %d that one handoff may name", l.most),
			}
		}
		for i, w := range l.words {
			if err := oxbow.CheckName(w); err != nil { // Each of these words must follow the rules for entry names.
				return fmt.Errorf("%s: %w", l.field, err)
			}
			if slices.Contains(l.words[:i], w) {
				return &oxbow.InvalidError{Field: l.field, Value: w, Reason: "is given twice"}
			}
		}
	}
	if t.Project != "" {
		return oxbow.Label{Key: oxbow.LabelProject, Value: t.Project}.Check()
	}
	return nil
}

func oneElementOrNil(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// decodeHandoff converts the entry e to a handoff. ctx says who asks, a person or a model. If e must not be shown to
// this reader, the task of the handoff is empty.
func decodeHandoff(ctx context.Context, e oxbow.Entry) Handoff {
	if !e.MayShow(oxbow.OnRequest(ctx)) {
		e.Content = ""
	}
	h := Handoff{
		Task:                   parseTask(e.Content),
		Name:                   e.Name,
		Version:                e.Version,
		Created:                e.Created,
		Updated:                e.Updated,
		Source:                 e.Source,
		IsTakeable:             e.MayShow(oxbow.WithoutLabels),
		IsOfferedAutomatically: e.MayShow(oxbow.Unasked),
		Trust:                  e.Trust(),
	}
	h.Project, _ = e.Label(oxbow.LabelProject)
	h.IsTakenBySession = slices.Contains(e.Labels, oxbow.Label{Key: stateLabelKey, Value: HandoffStateTaken})
	return h
}
