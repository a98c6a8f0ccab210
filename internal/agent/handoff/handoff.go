// This file converts handoffs to entries and back.

// Package handoff passes a task from a session to the next. A handoff lists the finished work,
// the next steps, the files to read first, and the memory profile and skills to load. A handoff
// is an entry of kind handoff. A handoff is open until a session takes it, which only one
// session can do.
package handoff

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

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

// Task is the task that a handoff passes on.
type Task struct {
	Summary string   // work done and current state, in Markdown
	Plan    string   // what to do next, in Markdown
	Profile string   // name of the memory profile to load, or ""
	Skills  []string // names of skills to load, in order
	Files   []string // files to read first, in order, preferably relative to the working directory
	Project string   // project of the task, or ""
}

// Handoff is a task that is stored in a memory.
type Handoff struct {
	Task
	Name    string
	Version uint64
	Created time.Time
	Taken   bool
	Offered bool         // may be shown to a model that did not ask for it (see [oxbow.Unasked])
	Updated time.Time    // time of the last change (for a taken handoff, usually the time when it was taken)
	Source  oxbow.Source // author of this version (for a taken handoff, usually the session that took it)
	Trust   oxbow.Trust  // trust in the text
}

// content returns the entry content for a task. It has a head between lines of three dashes, the
// summary, and the plan under the heading "## Plan". Each line of the head is a key and a JSON
// value, which is also valid YAML. If the summary itself contains such headings, the key plan has
// the number of the heading that begins the plan, or 0 for a task without a plan.
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
func (t Task) content() string {
	var b strings.Builder
	b.WriteString("---\n")
	line := func(key string, value any) { fmt.Fprintf(&b, "%s: %s\n", key, asJSON(value)) }
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
	switch heads := planHeads(summary); {
	case heads > 0 && p == "":
		line("plan", 0)
	case heads > 0:
		line("plan", heads+1)
	}
	b.WriteString("---\n" + summary + "\n")
	if p != "" {
		b.WriteString("\n" + planHead + "\n\n" + p + "\n")
	}
	return b.String()
}

const planHead = "## Plan"

func isPlanHead(line string) bool { return strings.TrimSpace(line) == planHead }

func planHeads(text string) (n int) {
	for line := range strings.Lines(text) {
		if isPlanHead(line) {
			n++
		}
	}
	return n
}

// asJSON returns v in JSON, without escapes for HTML.
func asJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parse parses the content of a handoff. If the head is invalid, for example after an edit by hand,
// it becomes part of the summary, so that nothing is lost. The first plan heading ends the summary,
// unless the head gives another heading's number.
func parse(content string) Task {
	var t Task
	head, body, _ := frontmatter.Cut(content)
	nth := 1
	if !t.readHead(head, &nth) {
		t = Task{}
		nth = 1
		body = content
	}
	at := 0
	for line := range strings.Lines(body) {
		if isPlanHead(line) {
			nth--
		}
		if isPlanHead(line) && nth == 0 {
			t.Summary, t.Plan = strings.TrimSpace(body[:at]), strings.TrimSpace(body[at+len(line):])
			return t
		}
		at += len(line)
	}
	t.Summary = strings.TrimSpace(body)
	return t
}

// readHead parses the head, which has a key and a JSON value in each line, and reports whether the
// whole head is valid. It does not use YAML, because YAML cannot represent every string.
func (t *Task) readHead(head string, plan *int) bool {
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
		default:
			return false
		}
		if json.Unmarshal([]byte(value), into) != nil {
			return false
		}
	}
	return true
}

// check returns an error that matches [oxbow.ErrInvalid] if the task cannot be handed off.
func (t Task) check() error {
	if strings.TrimSpace(t.Summary) == "" {
		return &oxbow.InvalidError{Field: "summary", Reason: "is empty; say what was done and where it stands"}
	}
	for _, l := range []struct {
		field string
		words []string
		most  int
	}{
		{"memory_profile", nonEmpty(t.Profile), 1},
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

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// of returns an entry's handoff. If the entry is withheld from the caller of ctx, the task is
// empty.
func of(ctx context.Context, e oxbow.Entry) Handoff {
	if !e.MayShow(oxbow.OnRequest(ctx)) {
		e.Content = ""
	}
	h := Handoff{Task: parse(e.Content), Name: e.Name, Version: e.Version, Created: e.Created, Updated: e.Updated,
		Source: e.Source, Offered: e.MayShow(oxbow.Unasked), Trust: e.Trust()}
	h.Project, _ = e.Label(oxbow.LabelProject)
	h.Taken = slices.Contains(e.Labels, oxbow.Label{Key: labelState, Value: StateTaken})
	return h
}
