// This file reads the facts for the record of a session from its turns.

package handoff

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
)

// record contains the facts about the turns of a session. Lists begin with the latest
// turn, except for todos, which are in plan order.
type record struct {
	goal           string
	asked          string
	concluded      []string
	todos          []string
	failing        []string
	files          []string  // relative to dir for files inside dir
	passed         []command // commands that did not fail, each once
	hasUnknownExit bool      // the client did not report an exit status for some commands
	names          []replacedWord
	dir            string
}

// command is a command line that was run.
type command struct {
	line       string // as typed, joined to a single line
	onlyPrints bool   // it only printed something, and changed and tested nothing
}

func (r *record) isEmpty() bool {
	return r.goal == "" && r.asked == "" &&
		len(r.concluded)+len(r.todos)+len(r.failing)+len(r.files)+len(r.passed) == 0
}

// readTurns reads the turns of a session.
func readTurns(turns []session.Turn) *record {
	r := &record{}
	turns = slices.Clone(sinceClear(turns))
	for i := range turns {
		turns[i] = turns[i].WithoutTainted()
	}
	for i := range turns {
		if d := turns[i].Dir(); d != "" && r.dir == "" {
			r.dir = strings.TrimSuffix(strings.ReplaceAll(d, `\`, "/"), "/")
		}
	}
	segment := sinceBoundary(turns)
	for i := range segment {
		if p := segment[i].Prompt(); p != "" {
			if r.goal == "" {
				r.goal = p
			}
			r.asked = p
		}
	}
	recent := turns[max(0, len(turns)-window):]
	for i := len(recent) - 1; i >= 0; i-- {
		r.addConclusions(&recent[i])
	}
	r.plan(turns)
	r.addCalls(recent)
	return r
}

// sinceClear returns the turns after the person last cleared the conversation. The event is in the
// turn before these, unless it came before the first prompt.
func sinceClear(turns []session.Turn) []session.Turn {
	for i := len(turns) - 1; i >= 0; i-- {
		events := turns[i].Events
		at := slices.IndexFunc(events, func(e session.Event) bool {
			return e.Kind == session.Start && e.Text == "clear"
		})
		switch {
		case at < 0:
		case slices.ContainsFunc(events[at:], func(e session.Event) bool { return e.Kind == session.Prompt }):
			return turns[i:]
		default:
			return turns[i+1:]
		}
	}
	return turns
}

// sinceBoundary returns the turns since the last compaction that was followed by another turn. If
// the agent continued the compacted turn, that turn is included.
func sinceBoundary(turns []session.Turn) []session.Turn {
	for i := len(turns) - 2; i >= 0; i-- {
		at := -1
		for j, e := range turns[i].Events {
			if e.Kind == session.Compact {
				at = j
			}
		}
		if at < 0 {
			continue
		}
		if slices.ContainsFunc(turns[i].Events[at:], func(e session.Event) bool {
			return e.Kind == session.Called || e.Kind == session.Text
		}) {
			return turns[i:]
		}
		return turns[i+1:]
	}
	return turns
}

// addConclusions adds the agent's conclusions in a turn, and its sentences with measured numbers.
func (r *record) addConclusions(t *session.Turn) {
	said := t.AgentText()
	all := extract.FindConclusions(said)
	all = append(all, extract.FigureSentences(said)...)
	for _, s := range all {
		if !slices.Contains(r.concluded, s) && screen.Doubt(nil, s) == "" {
			r.concluded = append(r.concluded, s)
		}
	}
}

// plan adds the open items of the main agent's last plan.
func (r *record) plan(turns []session.Turn) {
	for i := len(turns) - 1; i >= 0; i-- {
		for _, e := range slices.Backward(turns[i].Events) {
			if e.Kind != session.Plan || e.Agent != "" {
				continue
			}
			for line := range strings.Lines(e.Text) {
				item, isTask := strings.CutPrefix(strings.TrimSpace(line), "- [ ] ")
				if isTask && screen.Doubt(nil, item) == "" {
					r.todos = append(r.todos, item)
				}
			}
			return
		}
	}
}

// Limits of the collected lists. Older files and commands would not fit anyway.
const (
	maxRecordFiles = 200
	maxCommands    = 120
)

// hasFailed reports whether the client says that a call failed, or its exit status is not 0.
func hasFailed(c *session.Call) bool {
	return c.Failed || (c.Exit != nil && *c.Exit != 0)
}

// addCalls sets the files and commands of the turns.
func (r *record) addCalls(turns []session.Turn) {
	seen := map[string]bool{}
	for i := len(turns) - 1; i >= 0; i-- {
		for _, e := range slices.Backward(turns[i].CallEvents()) {
			for _, p := range e.Call.Wrote {
				p = r.relative(p)
				if !slices.Contains(r.files, p) && len(r.files) < maxRecordFiles {
					r.files = append(r.files, p)
				}
			}
			line := oneLine(e.Call.Command)
			if line == "" || seen[line] {
				continue
			}
			if len(seen) >= maxCommands || screen.Doubt(nil, line) != "" {
				continue
			}
			seen[line] = true
			if hasFailed(e.Call) {
				r.failing = append(r.failing, failure(line, e.Call))
				continue
			}
			r.hasUnknownExit = r.hasUnknownExit || e.Call.Exit == nil
			r.passed = append(r.passed, command{line, extract.OnlyPrints(line)})
		}
	}
}

// relative returns a path with slashes. Paths inside the session's directory become relative
// to that directory.
func (r *record) relative(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if rest, ok := strings.CutPrefix(p, r.dir+"/"); ok && r.dir != "" {
		return path.Clean(rest)
	}
	return path.Clean(p)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// failedTest matches the names of failed tests in test runners' output.
var failedTest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?m)^\s*(?:--- FAIL: (\S+)|FAILED (\S+)|✕ (.{1,80})|✗ (.{1,80})|● (.{1,80})|test (\S+) \.\.\. FAILED|not ok \d+ - (.{1,80}))`,
	)
})

// failure returns a line about a command that failed when it was last run.
func failure(line string, c *session.Call) string {
	out := "- " + cutText(line, 160)
	if c.Exit != nil {
		out += " → exit " + strconv.Itoa(*c.Exit)
	} else {
		out += " → failed"
	}
	var names []string
	for _, m := range failedTest().FindAllStringSubmatch(c.Output, 6) {
		name := strings.TrimSpace(strings.Join(m[1:], ""))
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	why := session.ErrorLine(c.Output)
	all := strings.Join(names, ", ")
	switch { // a package may print instructions for an agent
	case all != "":
		if screen.Doubt(nil, all) == "" {
			out += ": " + all
		}
	case why != "" && screen.Doubt(nil, why) == "":
		out += ": " + cutText(why, 120)
	}
	return out
}

// replacedWord is a word, such as a directory, and the name that replaces it, such as $A.
type replacedWord struct{ word, name string }

// window is the number of last turns whose files, commands and conclusions are collected.
const window = 30

// cutText cuts a text to at most n bytes and marks the cut.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimSpace(text.CutPrefix(s, n)) + " […]"
}

// stat is the number of lines that were added to a file and deleted from it since the last commit.
type stat struct{ Added, Deleted int }
