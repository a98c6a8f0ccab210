// A handoff as an entry: how it is written and read.

// Package handoff passes a task from one session to the next: what was done,
// what is to be done, which files to read first, and who to be while doing it (a
// memory profile and skills). A handoff is an entry of kind handoff. It is open
// until one session takes it; no two can take the same.
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

// labelState is the key of the label that says whether a handoff is open. One
// that carries neither value, such as an imported one, is open.
const labelState = "handoff"

// The values of labelState.
const (
	StateOpen  = "open"
	StateTaken = "taken"
)

// Limits of what one handoff may name.
const (
	maxSkills = 32
	maxFiles  = 256
)

// Task is what is handed off.
type Task struct {
	Summary string   // what was done and where it stands, in Markdown
	Plan    string   // what is to be done next, in Markdown
	Profile string   // the memory profile to load, "" for none
	Skills  []string // names of skills to load, in this order
	Files   []string // files to read first, in this order, best relative to the working directory
	Project string   // the project it belongs to, "" for none
}

// Handoff is a task as a memory holds it.
type Handoff struct {
	Task
	Name    string
	Version uint64
	Created time.Time
	Taken   bool
	Offered bool         // it may be named to a model that has not asked: see [oxbow.Entry.Volunteered]
	Updated time.Time    // of a taken one, when it was taken, unless it was changed since
	Source  oxbow.Source // who wrote this version: who handed it off or, of a taken one, took it
	Trust   oxbow.Trust  // in its text
}

// content writes a task as the content of an entry: a head between lines of
// three dashes, each line a key and a JSON value, which is YAML too; the
// summary; and the plan below a heading of its own. Where the summary has such
// headings too, the line plan says which of them begins the plan; 0 for none.
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
	line := func(key string, value any, is bool) {
		if is {
			fmt.Fprintf(&b, "%s: %s\n", key, asJSON(value))
		}
	}
	line("profile", t.Profile, t.Profile != "")
	line("skills", t.Skills, len(t.Skills) > 0)
	line("files", t.Files, len(t.Files) > 0)
	summary, p := strings.TrimSpace(t.Summary), strings.TrimSpace(t.Plan)
	if heads := planHeads(summary); heads > 0 && p == "" {
		line("plan", 0, true)
	} else {
		line("plan", heads+1, heads > 0)
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

// asJSON writes a value of a head without the escapes that are for HTML only.
func asJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and numbers can always be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parse reads a content back. A head that cannot be read, after an edit by hand,
// is text, so that nothing of it is lost. The line that is the heading of the plan
// ends the summary: the first one, unless the head says which.
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

// readHead reads the lines of a head, each a key and a JSON value as content
// wrote them, and reports whether all could be read. JSON and not YAML: it gives
// every text back, also what YAML has no character for.
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

// check reports, as an error matching [oxbow.ErrInvalid], why a task cannot be
// handed off.
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
			if err := oxbow.CheckName(w); err != nil { // the same rules: a short line of text
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

// of returns the handoff that an entry is, without its task where that is kept from the
// caller of the context.
func of(ctx context.Context, e oxbow.Entry) Handoff {
	if e.Withheld(ctx) {
		e.Content = ""
	}
	h := Handoff{Task: parse(e.Content), Name: e.Name, Version: e.Version, Created: e.Created, Updated: e.Updated,
		Source: e.Source, Offered: e.Volunteered(), Trust: e.Trust()}
	h.Project, _ = e.Label(oxbow.LabelProject)
	h.Taken = slices.Contains(e.Labels, oxbow.Label{Key: labelState, Value: StateTaken})
	return h
}
