// This file composes the record of a session within its budget.
//
// If room is short, paths and commands take precedence, because a compaction loses these most
// often. Texts that fit are written in full. Otherwise similar paths and commands are grouped,
// then frequent words are replaced by names such as $A, and finally the commands that tell least
// for their length are left out.

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

// maxRecordTokens is the maximum number of estimated tokens in the text of a record with its first line.
const maxRecordTokens = 900

// TaskFromTurns returns a task with the record of a session, whose turns must be ordered by time. The record
// has the line counts of the working tree if they can be computed within maxCompareTime. The same turns in the
// same tree result in the same bytes. If nothing happened in the turns, the task is empty.
func TaskFromTurns(ctx context.Context, turns []session.Turn) Task {
	return Task{Record: composeRecord(turns, countLines(ctx, turns, maxCompareTime))}
}

// composeRecord returns the record for a session's turns, which must be ordered by time. If nothing
// happened in the turns, it returns "". The keys of stats are paths relative to the session's
// directory. If the line counts are not known, stats may be nil.
func composeRecord(turns []session.Turn, stats map[string]lineChanges) string {
	r := newRecord(turns)
	if r.isEmpty() {
		return ""
	}
	r.replacedWords = nameWords(r)
	files := fileLinesByForm(r, stats, r.replacedWords)
	typed, short := commandLinesByForm(r, r.replacedWords)
	room := maxRecordTokens - text.EstimateTokens(recordIntro+"\n\n")
	fits := func(out string) bool { return text.EstimateTokens(out) <= room }
	// Each step shortens more than the step before, beginning with the least needed parts.
	for _, s := range sizeLimitSteps {
		commands := typed
		if s.mergesSimilar {
			commands = selectedLines(short, nil)
		}
		if out := r.format(s, files[s.fileForm], commands); fits(out) {
			return out
		}
	}
	tight := sizeLimitSteps[len(sizeLimitSteps)-1]
	f := files[tight.fileForm]
	for len(f) > 0 && !fits(r.format(tight, f, nil)) { // drop the oldest files
		f = f[:len(f)-1]
	}
	out := r.format(tight, f, nil)
	if !fits(out) {
		return text.TruncateBytes(out, room) // a token has at least one byte
	}
	// Add the commands that tell most for their length.
	taken := make([]bool, len(short))
	order := make([]int, len(short))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(
		order,
		func(a, b int) int { return cmp.Compare(short[b].valuePerToken(), short[a].valuePerToken()) },
	)
	for _, i := range order {
		taken[i] = true
		if next := r.format(tight, f, selectedLines(short, taken)); fits(next) {
			out = next
		} else {
			taken[i] = false
		}
	}
	return out
}

// goalTitle begins the first line of a record, if the goal is known.
const goalTitle = "Goal, as first asked: "

// selectedLines returns the lines of the commands selected by isSelected, or all commands' lines if isSelected
// is nil.
func selectedLines(commands []mergedLine, isSelected []bool) (lines []string) {
	for i := range commands {
		if isSelected == nil || isSelected[i] {
			lines = append(lines, commands[i].text())
		}
	}
	return lines
}

// sizeLimits limits a record: the bytes of goal and asked, and the line counts. It also selects the
// form of files and commands.
type sizeLimits struct {
	goalBytes, lastRequest, conclusions, todos, failures int
	fileForm                                             int
	mergesSimilar                                        bool // whether similar commands are merged
}

// sizeLimitSteps are tried in order until the record fits.
var sizeLimitSteps = []sizeLimits{
	{600, 1200, 12, 12, 8, 0, false},
	{300, 800, 8, 8, 6, 0, false},
	{300, 600, 6, 8, 6, 1, false},
	{240, 480, 5, 6, 5, 1, true},
	{200, 320, 4, 5, 4, 1, true},
	{160, 240, 3, 4, 3, 1, true},
	{100, 160, 2, 3, 3, 1, true},
}

// format returns the text of the record, whose parts are limited by s. files and commands are the lines of these
// parts.
func (r *record) format(s sizeLimits, files, commands []string) string {
	var b strings.Builder
	part := func(head string, lines []string) {
		if len(lines) > 0 {
			b.WriteString("\n" + head + "\n" + strings.Join(lines, "\n") + "\n")
		}
	}
	if r.goal != "" {
		b.WriteString("\n" + goalTitle + cutText(r.goal, s.goalBytes) + "\n")
	}
	if r.lastRequest != "" && r.lastRequest != r.goal {
		b.WriteString("\nAsked last: " + cutText(r.lastRequest, s.lastRequest) + "\n")
	}
	part("Concluded:", firstLines(bulletLines(r.conclusions), s.conclusions))
	part("Open:", firstLines(bulletLines(r.todos), s.todos))
	part("Still failing:", firstLines(r.failures, s.failures))
	hasNames := s.fileForm > 0 && len(r.replacedWords) > 0
	if hasNames && len(files)+len(commands) > 0 {
		b.WriteString("\nHere " + nameDefinitions(r.replacedWords) + "\n")
	}
	part("Files changed:", files)
	if r.hasUnknownExit {
		part("Commands of which no failure is known, the last first:", commands)
	} else {
		part("Commands that passed, the last first:", commands)
	}
	return strings.TrimSpace(b.String())
}

func bulletLines(ss []string) []string {
	var lines []string
	for _, s := range ss {
		lines = append(lines, "- "+cutText(s, 220))
	}
	return lines
}

// firstLines returns the first n lines, and a line with the number of omitted lines if there are any.
func firstLines(lines []string, n int) []string {
	if more := len(lines) - n; more > 0 {
		return append(slices.Clone(lines[:n]), fmt.Sprintf("(and %d more)", more))
	}
	return lines
}
