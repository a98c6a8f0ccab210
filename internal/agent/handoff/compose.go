// This file composes the record of a session, which must fit into a token budget.
//
// Paths and commands have priority, because a compaction loses them most often. If the full text does not fit, similar
// paths and commands are grouped. Then frequent words are replaced by short names such as $A. Finally the longest
// commands with the least information are left out.

package handoff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// maxSessionRecordTokens is the maximum number of estimated tokens in a record, including its first line.
const maxSessionRecordTokens = 900

// TaskFromTurns returns a task whose record describes a session. The turns must be ordered by time. The record contains
// the numbers of added and deleted lines if they can be computed within maxCompareTime. These numbers depend on the
// working tree. Everything else in the result depends only on the turns. If the turns contain no actions, the task is
// empty.
func TaskFromTurns(ctx context.Context, turns []session.Turn) Task {
	return Task{SessionRecordText: composeRecord(turns, countChangedLinesByFile(ctx, turns, maxCompareTime))}
}

// composeRecord returns the text of the record for a session's turns, which must be ordered by time. It returns "" if
// the turns contain no actions. changesByFile contains the line counts by path, relative to the session's directory.
// It is nil if the counts are not known.
func composeRecord(turns []session.Turn, changesByFile map[string]lineChanges) string {
	r := newSessionRecord(turns)
	if r.isEmpty() {
		return ""
	}
	r.shortenedWords = chooseWordsToShorten(r)
	files := formatFileLines(r, changesByFile, r.shortenedWords)
	typed, short := formatCommandLines(r, r.shortenedWords)
	room := maxSessionRecordTokens - text.EstimateTokens(sessionRecordIntro+"\n\n")
	fits := func(out string) bool { return text.EstimateTokens(out) <= room }
	// Each step shortens the record more than the step before. The least needed parts are shortened first.
	for _, s := range sessionRecordLimitSteps {
		commands := typed
		if s.mergesSimilarCommands {
			commands = selectedCommandLines(short, nil)
		}
		if out := r.formatRecord(s, files[s.fileLineFormatIndex], commands); fits(out) {
			return out
		}
	}
	tight := sessionRecordLimitSteps[len(sessionRecordLimitSteps)-1]
	f := files[tight.fileLineFormatIndex]
	// Drop the last line in f until the record has at most room tokens. The files are ordered by their last change,
	// newest first, so the files with the oldest changes are dropped first.
	for len(f) > 0 && !fits(r.formatRecord(tight, f, nil)) {
		f = f[:len(f)-1]
	}
	out := r.formatRecord(tight, f, nil)
	if !fits(out) {
		// Cut the record to room bytes, because a text has at most as many tokens as bytes.
		return text.TruncateBytes(out, room)
	}
	// Add the lines with shell commands to the record as long as they fit. The lines with the most commands for each
	// token come first.
	taken := make([]bool, len(short))
	order := make([]int, len(short))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(
		order,
		func(a, b int) int { return cmp.Compare(short[b].commandsPerToken(), short[a].commandsPerToken()) },
	)
	for _, i := range order {
		taken[i] = true
		if next := r.formatRecord(tight, f, selectedCommandLines(short, taken)); fits(next) {
			out = next
		} else {
			taken[i] = false
		}
	}
	return out
}

// goalTitle begins the first line of a record that has a goal.
const goalTitle = "Goal, as first asked: "

// selectedCommandLines returns a line for each selected command. If isSelected is nil, all commands are selected.
func selectedCommandLines(commands []mergedCommandLine, isSelected []bool) (lines []string) {
	for i := range commands {
		if isSelected == nil || isSelected[i] {
			lines = append(lines, commands[i].formatLine())
		}
	}
	return lines
}

// sessionRecordLimits limits the parts of a record about a session. maxGoalBytes and maxLastRequestBytes are in bytes.
// maxAgentConclusions, maxTodos and maxFailures are numbers of lines. fileLineFormatIndex selects the form of the lines
// about changed files: 0 means the full form, and greater numbers mean shorter forms.
type sessionRecordLimits struct {
	maxGoalBytes, maxLastRequestBytes, maxAgentConclusions, maxTodos, maxFailures int
	fileLineFormatIndex                                                           int
	mergesSimilarCommands                                                         bool // merge similar commands
}

// sessionRecordLimitSteps contains limits for a handoff that oxbow composes from a session's record. The steps are
// ordered from loose to strict, and are tried in this order until the text is short enough. The numbers of a step are
// the maximum sizes of the goal and of the last request in bytes, the maximum numbers of conclusions, to-do items and
// failures, and the index of the form in which files are listed. A larger index selects a shorter form. The last value
// says whether similar commands are merged.
var sessionRecordLimitSteps = []sessionRecordLimits{
	{600, 1200, 12, 12, 8, 0, false},
	{300, 800, 8, 8, 6, 0, false},
	{300, 600, 6, 8, 6, 1, false},
	{240, 480, 5, 6, 5, 1, true},
	{200, 320, 4, 5, 4, 1, true},
	{160, 240, 3, 4, 3, 1, true},
	{100, 160, 2, 3, 3, 1, true},
}

// formatRecord returns the record of a session as text. s limits the length of the parts. fileLines are the lines for
// the changed files, and commandLines are the lines for the commands that succeeded.
func (r *sessionRecord) formatRecord(s sessionRecordLimits, fileLines, commandLines []string) string {
	var b strings.Builder
	part := func(head string, lines []string) {
		if len(lines) > 0 {
			b.WriteString("\n" + head + "\n" + strings.Join(lines, "\n") + "\n")
		}
	}
	if r.goal != "" {
		b.WriteString("\n" + goalTitle + cutText(r.goal, s.maxGoalBytes) + "\n")
	}
	if r.lastRequest != "" && r.lastRequest != r.goal {
		b.WriteString("\nAsked last: " + cutText(r.lastRequest, s.maxLastRequestBytes) + "\n")
	}
	part("Concluded:", limitLines(bulletLines(r.conclusions), s.maxAgentConclusions))
	part("Open:", limitLines(bulletLines(r.todos), s.maxTodos))
	part("Still failing:", limitLines(r.failures, s.maxFailures))
	hasNames := s.fileLineFormatIndex > 0 && len(r.shortenedWords) > 0
	if hasNames && len(fileLines)+len(commandLines) > 0 {
		b.WriteString("\nHere " + shortNameDefinitions(r.shortenedWords) + "\n")
	}
	part("Files changed:", fileLines)
	if r.hasUnknownExitStatus {
		part("Commands of which no failure is known, the last first:", commandLines)
	} else {
		part("Commands that passed, the last first:", commandLines)
	}
	return strings.TrimSpace(b.String())
}

func bulletLines(items []string) []string {
	var lines []string
	for _, s := range items {
		lines = append(lines, "- "+cutText(s, 220))
	}
	return lines
}

// limitLines returns the first maxLines lines. If lines are omitted, limitLines appends a line that tells how many.
func limitLines(lines []string, maxLines int) []string {
	if more := len(lines) - maxLines; more > 0 {
		return append(slices.Clone(lines[:maxLines]), fmt.Sprintf("(and %d more)", more))
	}
	return lines
}
