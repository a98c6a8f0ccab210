// This file extracts the facts for a record from the turns of a session.

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

// sessionRecord contains facts about the turns of a session. All lists begin with the latest turn, except todos, which
// has the order of the plan.
type sessionRecord struct {
	goal                 string
	lastRequest          string
	conclusions          []string
	todos                []string
	failures             []string
	changedFiles         []string  // paths of changed files, relative if the file is inside dir
	passedCommands       []command // commands that did not fail, without repetitions
	hasUnknownExitStatus bool      // for some commands, the client did not report an exit status
	shortenedWords       []shortenedName
	sessionDir           string
}

// command is a command line that an agent ran.
type command struct {
	line        string // command as typed, joined to one line
	isPrintOnly bool   // the command only printed something, without a change or a test
}

func (r *sessionRecord) isEmpty() bool {
	return r.goal == "" && r.lastRequest == "" &&
		len(r.conclusions)+len(r.todos)+len(r.failures)+len(r.changedFiles)+len(r.passedCommands) == 0
}

// newSessionRecord extracts the record of a session from its turns. It ignores turns before the person last cleared the
// conversation. The goal and the last request come from the turns since the last compaction. Conclusions, files and
// commands come from the last maxRecentTurns turns.
func newSessionRecord(turns []session.Turn) *sessionRecord {
	r := &sessionRecord{}
	turns = slices.Clone(turnsSinceConversationCleared(turns))
	for i := range turns {
		turns[i] = turns[i].WithoutRepeatedForeignText()
	}
	for i := range turns {
		if d := turns[i].Dir(); d != "" && r.sessionDir == "" {
			r.sessionDir = strings.TrimSuffix(strings.ReplaceAll(d, `\`, "/"), "/")
		}
	}
	segment := turnsSinceCompaction(turns)
	for i := range segment {
		if p := segment[i].Prompt(); p != "" {
			if r.goal == "" {
				r.goal = p
			}
			r.lastRequest = p
		}
	}
	recent := turns[max(0, len(turns)-maxRecentTurns):]
	for i := len(recent) - 1; i >= 0; i-- {
		r.addAgentConclusions(&recent[i])
	}
	r.addOpenTodos(turns)
	r.setFilesAndCommands(recent)
	return r
}

// turnsSinceConversationCleared returns the turns after the point at which the person last cleared the conversation.
// This point is an event in a turn. If the turn contains a prompt after the event, the result begins with this turn.
// Otherwise, the result begins with the next turn. If the conversation was never cleared, turnsSinceConversationCleared
// returns all turns.
func turnsSinceConversationCleared(turns []session.Turn) []session.Turn {
	for i := len(turns) - 1; i >= 0; i-- {
		events := turns[i].Events
		at := slices.IndexFunc(events, func(e session.Event) bool {
			return e.Kind == session.KindSessionStart && e.Text == "clear"
		})
		switch {
		case at < 0:
		case slices.ContainsFunc(events[at:], func(e session.Event) bool { return e.Kind == session.KindPrompt }):
			return turns[i:]
		default:
			return turns[i+1:]
		}
	}
	return turns
}

// turnsSinceCompaction returns the turns that followed the last compaction of the agent's context. If the agent wrote
// text or called a tool after the compaction, but still in the same turn, the result begins with this turn. Otherwise
// it begins with the next turn. Compactions in the last turn are ignored. Without an earlier compaction, the result
// contains all turns.
func turnsSinceCompaction(turns []session.Turn) []session.Turn {
	for i := len(turns) - 2; i >= 0; i-- {
		at := -1
		for j, e := range turns[i].Events {
			if e.Kind == session.KindCompact {
				at = j
			}
		}
		if at < 0 {
			continue
		}
		if slices.ContainsFunc(turns[i].Events[at:], func(e session.Event) bool {
			return e.Kind == session.KindToolCall || e.Kind == session.KindText
		}) {
			return turns[i:]
		}
		return turns[i+1:]
	}
	return turns
}

// addAgentConclusions adds the sentences of a turn in which the agent states a conclusion or a measured number. It
// leaves out sentences that look like instructions.
func (r *sessionRecord) addAgentConclusions(t *session.Turn) {
	said := t.AgentText()
	all := extract.FindConclusions(said)
	all = append(all, extract.FindMeasurementSentences(said)...)
	for _, s := range all {
		if !slices.Contains(r.conclusions, s) && screen.FindWarningReason(nil, s) == "" {
			r.conclusions = append(r.conclusions, s)
		}
	}
}

// addOpenTodos adds the open items of the main agent's last plan to r.todos. It leaves out items that look like
// instructions to an agent (see [screen.FindWarningReason]).
func (r *sessionRecord) addOpenTodos(turns []session.Turn) {
	for i := len(turns) - 1; i >= 0; i-- {
		for _, e := range slices.Backward(turns[i].Events) {
			if e.Kind != session.KindPlan || e.SubAgent != "" {
				continue
			}
			for line := range strings.Lines(e.Text) {
				item, isTask := strings.CutPrefix(strings.TrimSpace(line), "- [ ] ")
				if isTask && screen.FindWarningReason(nil, item) == "" {
					r.todos = append(r.todos, item)
				}
			}
			return
		}
	}
}

// These constants are the maximum numbers of files and commands in a handoff that is composed from a session's record.
// Older files and commands are left out, because they would not fit into the text.
const (
	maxRecordFiles = 200
	maxCommands    = 120
)

// hasFailed reports whether a call failed, according to the client or to the exit status.
func hasFailed(c *session.ToolCall) bool {
	return c.Failed || (c.ExitStatus != nil && *c.ExitStatus != 0)
}

// setFilesAndCommands sets the changed files, the passed commands and the failures of the turns, from the newest call
// to the oldest. A command without a known exit status is listed as passed, and hasUnknownExitStatus is then set.
// Repeated commands are skipped, and also commands that look like instructions to an agent. At most maxRecordFiles
// files and maxCommands commands are recorded.
func (r *sessionRecord) setFilesAndCommands(turns []session.Turn) {
	seen := map[string]bool{}
	for i := len(turns) - 1; i >= 0; i-- {
		for _, e := range slices.Backward(turns[i].CallEvents()) {
			for _, p := range e.Call.WrittenFiles {
				p = r.relativePath(p)
				if !slices.Contains(r.changedFiles, p) && len(r.changedFiles) < maxRecordFiles {
					r.changedFiles = append(r.changedFiles, p)
				}
			}
			line := joinLines(e.Call.Command)
			if line == "" || seen[line] {
				continue
			}
			if len(seen) >= maxCommands || screen.FindWarningReason(nil, line) != "" {
				continue
			}
			seen[line] = true
			if hasFailed(e.Call) {
				r.failures = append(r.failures, failureLine(line, e.Call))
				continue
			}
			r.hasUnknownExitStatus = r.hasUnknownExitStatus || e.Call.ExitStatus == nil
			r.passedCommands = append(r.passedCommands, command{line, extract.IsPrintOnlyCommand(line)})
		}
	}
}

// relativePath returns a path with slashes. A path inside the session's directory is returned relative to that
// directory.
func (r *sessionRecord) relativePath(filePath string) string {
	filePath = strings.ReplaceAll(filePath, `\`, "/")
	if rest, ok := strings.CutPrefix(filePath, r.sessionDir+"/"); ok && r.sessionDir != "" {
		return path.Clean(rest)
	}
	return path.Clean(filePath)
}

func joinLines(s string) string { return strings.Join(strings.Fields(s), " ") }

// failedTestPattern matches lines in which test runners name a failed test.
var failedTestPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?m)^\s*(?:--- FAIL: (\S+)|FAILED (\S+)|✕ (.{1,80})|✗ (.{1,80})|● (.{1,80})|test (\S+) \.\.\. FAILED|not ok \d+ - (.{1,80}))`,
	)
})

// failureLine returns a line about a command whose last run failed: the command, its exit status, and the failed tests
// or the error message.
func failureLine(line string, c *session.ToolCall) string {
	out := "- " + cutText(line, 160)
	if c.ExitStatus != nil {
		out += " → exit " + strconv.Itoa(*c.ExitStatus)
	} else {
		out += " → failed"
	}
	var names []string
	for _, m := range failedTestPattern().FindAllStringSubmatch(c.Output, 6) {
		name := strings.TrimSpace(strings.Join(m[1:], ""))
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	why := session.ErrorLine(c.Output)
	all := strings.Join(names, ", ")
	// Leave out text that looks like instructions, because a package's tests may print instructions for agents.
	switch {
	case all != "":
		if screen.FindWarningReason(nil, all) == "" {
			out += ": " + all
		}
	case why != "" && screen.FindWarningReason(nil, why) == "":
		out += ": " + cutText(why, 120)
	}
	return out
}

// shortenedName is a long word, such as a directory, and the short name, such as $A, that replaces it.
type shortenedName struct{ longWord, shortName string }

// maxRecentTurns is the number of last turns from which files, commands and conclusions are collected.
const maxRecentTurns = 30

// cutText shortens a text that has more than maxBytes bytes. It cuts the text to at most maxBytes bytes, and then adds
// a space and the mark […], so that the result can be slightly longer than maxBytes.
func cutText(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	return strings.TrimSpace(text.TruncateBytes(s, maxBytes)) + " […]"
}

// lineChanges contains the numbers of lines that were added to a file and deleted from it since the last commit.
type lineChanges struct{ Added, Deleted int }
