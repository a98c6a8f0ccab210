// This file converts handoffs to the content of entries and back.

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

// labelState is the key of the label with a handoff's state. A handoff without the label, such as
// an imported handoff, is open.
const labelState = "handoff"

// Values of labelState.
const (
	StateOpen  = "open"
	StateTaken = "taken"
)

// Limits for a handoff.
const (
	maxSkills = 32
	maxFiles  = 256
)

// encodeContent returns the entry content for a task. It has a head between lines of three dashes, the
// summary, the plan under the heading "## Plan", and the record under the heading "## Record". Each line
// of the head is a key and a JSON value, which is also valid YAML. If the summary itself contains such
// headings, the key plan has the number of the heading that begins the plan, or 0 for a task without a
// plan. If the task has a record, the key record has the number of the heading that begins the record.
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
func (t Task) encodeContent() string {
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
	r := strings.TrimSpace(t.Record)
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

// Headings of the parts of a handoff's content.
const (
	planHeading   = "## Plan"
	recordHeading = "## Record"
)

// countHeadings returns the number of lines that consist of the heading.
func countHeadings(text, heading string) (n int) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == heading {
			n++
		}
	}
	return n
}

// splitAtHeading returns the parts of a text before and after the nth line that consists of the heading. If there
// is no such line, it returns the whole text.
func splitAtHeading(text, heading string, nth int) (before, after string) {
	at := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == heading {
			nth--
			if nth == 0 {
				return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(line):])
			}
		}
		at += len(line)
	}
	return strings.TrimSpace(text), ""
}

// encodeJSON returns v in JSON, without escapes for HTML.
func encodeJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parseContent parses the content of a handoff. If the head is invalid, for example after an edit by hand,
// it becomes part of the summary, so that nothing is lost. The first plan heading ends the summary,
// unless the head gives another heading's number.
func parseContent(content string) Task {
	var t Task
	head, body, _ := frontmatter.SplitFrontMatter(content)
	plan, record := 1, 0
	if !t.parseHead(head, &plan, &record) {
		t = Task{}
		plan, record = 1, 0
		body = content
	}
	body, t.Record = splitAtHeading(body, recordHeading, record)
	t.Summary, t.Plan = splitAtHeading(body, planHeading, plan)
	return t
}

// parseHead parses the head, which has a key and a JSON value in each line, and reports whether the
// whole head is valid. It does not use YAML, because YAML cannot represent every string.
func (t *Task) parseHead(head string, plan, record *int) bool {
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
			into = plan
		case "record":
			into = record
		default:
			return false
		}
		if json.Unmarshal([]byte(value), into) != nil {
			return false
		}
	}
	return true
}

// validate returns an error that matches [oxbow.ErrInvalid] if the task cannot be handed off.
func (t Task) validate() error {
	if strings.TrimSpace(t.Summary) == "" && strings.TrimSpace(t.Record) == "" {
		return &oxbow.InvalidError{Field: "summary", Reason: "is empty; say what was done and where it stands"}
	}
	for _, l := range []struct {
		field string
		words []string
		most  int
	}{
		{"memory_profile", nonEmptyList(t.Profile), 1},
		{"skills", t.Skills, maxSkills},
		{"files_to_read", t.Files, maxFiles},
	} {
		if len(l.words) > l.most {
			return &oxbow.InvalidError{
				Field:  l.field,
				Value:  fmt.Sprint(len(l.words)),
				Reason: fmt.Sprintf("are more than the %d that one handoff may name", l.most),
			}
		}
		for i, w := range l.words {
			if err := oxbow.CheckName(w); err != nil { // the rules for names of entries
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

func nonEmptyList(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// decodeHandoff returns an entry's handoff. If the entry is withheld from the caller of ctx, the task is
// empty.
func decodeHandoff(ctx context.Context, e oxbow.Entry) Handoff {
	if !e.MayShow(oxbow.OnRequest(ctx)) {
		e.Content = ""
	}
	h := Handoff{
		Task:       parseContent(e.Content),
		Name:       e.Name,
		Version:    e.Version,
		Created:    e.Created,
		Updated:    e.Updated,
		Source:     e.Source,
		IsTakeable: e.MayShow(oxbow.WithoutLabels),
		IsOffered:  e.MayShow(oxbow.Unasked),
		Trust:      e.Trust(),
	}
	h.Project, _ = e.Label(oxbow.LabelProject)
	h.IsTaken = slices.Contains(e.Labels, oxbow.Label{Key: labelState, Value: StateTaken})
	return h
}
