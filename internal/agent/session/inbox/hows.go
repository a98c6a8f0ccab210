// This file finds the commands with which a task was done in past sessions.

package inbox

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// SuccessfulCommand is a command that passed in at least one past session.
type SuccessfulCommand struct {
	Command         string    `json:"command"`
	SuccessCount    int       `json:"passed"` // how often Command ran successfully
	FailCount       int       `json:"failed"` // how often Command failed
	SessionCount    int       `json:"sessions"`
	Project         string    `json:"project,omitempty"`
	LastTurn        string    `json:"turn"` // name of the turn in which the command last passed
	LastSuccessTime time.Time `json:"time"` // time at which the command last passed
	FirstPrompt     string    `json:"asked,omitempty"`

	// share of the words in the caller's description of a task that occur in Command or, with less weight, in the turns
	// that ran Command
	matchingWordShare float64
	sessions          map[string]bool
}

const (
	// maxSearchedTurns is the maximum number of turns that are searched for a task.
	maxSearchedTurns = 200

	// surroundingWordWeight is the weight of a word that occurs only in a turn's prompt or answer, and not in the
	// command. A word in the command has the weight 1.
	surroundingWordWeight = 0.5

	// minMatchingWordShare is the smallest share of the task's words (weighted) that a command must match to be
	// returned.
	minMatchingWordShare = 0.25
)

// FindCommands returns the commands with which a task was done in past sessions, best first. The task is a text such
// as "run the tests", or a part of a command. A command matches if it contains words of the task, or if the person or
// the agent used the words in the command's turn. Commands that only print something, such as ls, are left out. If
// project is not empty, only turns of this project are searched.
func FindCommands(ctx context.Context, m *oxbow.Memory, project, task string) ([]SuccessfulCommand, error) {
	f := session.TurnFilter.And(oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{"cmd"}}}})
	if project != "" {
		f.Terms = append(f.Terms, oxbow.Term{Key: oxbow.LabelProject, Values: []string{project}})
	}
	hits, err := m.Recall(ctx, oxbow.Query{Text: taskQueryWithoutOperators(task), Filter: f, Limit: maxSearchedTurns})
	if err != nil {
		return nil, err
	}
	s := commandSearch{taskWordStems: taskWords(task), resultsByCommand: map[string]*SuccessfulCommand{}}
	for _, h := range hits {
		turn, err := session.ParseTurn(h.Entry.Content)
		if err == nil {
			s.addTurnCommands(&turn, &h.Entry)
		}
	}
	return s.bestCommands(), nil
}

// taskQueryWithoutOperators returns the words of a task without characters that have a special meaning in a query.
func taskQueryWithoutOperators(task string) string {
	return strings.Join(strings.FieldsFunc(task, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}

// commandSearch counts the passed and the failed runs of each command that matches a task.
type commandSearch struct {
	taskWordStems    []string // stems of the words in the text that the caller searches for
	resultsByCommand map[string]*SuccessfulCommand
}

// addTurnCommands adds the commands that the agent ran in a turn to s.resultsByCommand. It counts how often each
// command passed and how often it failed. If a command passed, addTurnCommands also records the session, and describes
// the command's last success: its time, the turn, the turn's prompt and the project. It skips commands that only print
// something, and commands that the archive does not contain completely. If the client reported no exit status, neither
// count increases.
func (s *commandSearch) addTurnCommands(turn *session.Turn, e *oxbow.Entry) {
	said := stemTextWords(turn.Prompt() + " " + turn.AgentText())
	for _, ev := range turn.CallEvents() {
		line := strings.Join(strings.Fields(ev.Call.Command), " ")
		if !isCompleteCommand(line) || extract.IsPrintOnlyCommand(line) {
			continue
		}
		line = extract.NormalizeCommand(line, strings.TrimSuffix(turn.Dir(), "/"))
		h := s.resultsByCommand[line]
		if h == nil {
			h = &SuccessfulCommand{Command: line, sessions: map[string]bool{}}
			s.resultsByCommand[line] = h
		}
		h.matchingWordShare = max(h.matchingWordShare, s.matchTask(stemTextWords(line), said))
		switch {
		case hasFailed(ev.Call):
			h.FailCount++
			continue
		case !hasPassed(ev.Call):
			continue // The client reports no exit status, so it is not known whether the command passed.
		}
		h.SuccessCount++
		h.sessions[turn.Client+"/"+turn.Session] = true
		if !ev.Time.Before(h.LastSuccessTime) {
			h.LastSuccessTime, h.LastTurn = ev.Time, e.Name
			h.FirstPrompt, _, _ = strings.Cut(strings.TrimSpace(turn.Prompt()), "\n")
			h.Project, _ = e.Label(oxbow.LabelProject)
		}
	}
}

// matchTask returns how well a command matches the task, from 0 to 1. The result is the average over the words of the
// task. A word in commandWords counts as 1. A word that is only in turnWords, which contains the words of the prompt
// and the answers around the command, counts as surroundingWordWeight. Any other word counts as 0. If the task has no
// words, matchTask returns 1.
func (s *commandSearch) matchTask(commandWords, turnWords map[string]bool) float64 {
	if len(s.taskWordStems) == 0 {
		return 1
	}
	sum := 0.0
	for _, w := range s.taskWordStems {
		switch {
		case commandWords[w]:
			sum++
		case turnWords[w]:
			sum += surroundingWordWeight
		}
	}
	return sum / float64(len(s.taskWordStems))
}

// bestCommands returns the commands that passed at least once, best first. A command is left out if it matches less
// than minMatchingWordShare of the task's words. The commands are sorted by the share of matching words, then by the
// session count, then by the rate of successful runs, and then by the time at which they last succeeded.
func (s *commandSearch) bestCommands() []SuccessfulCommand {
	all := []SuccessfulCommand{}
	for _, h := range s.resultsByCommand {
		if h.SuccessCount > 0 && h.matchingWordShare >= minMatchingWordShare {
			h.SessionCount = len(h.sessions)
			all = append(all, *h)
		}
	}
	slices.SortFunc(all, func(a, b SuccessfulCommand) int {
		return cmp.Or(
			cmp.Compare(b.matchingWordShare, a.matchingWordShare),
			cmp.Compare(b.SessionCount, a.SessionCount),
			cmp.Compare(b.passRate(), a.passRate()),
			b.LastSuccessTime.Compare(a.LastSuccessTime),
			strings.Compare(a.Command, b.Command),
		)
	})
	return all
}

// passRate returns the share of the command's runs that passed.
func (h *SuccessfulCommand) passRate() float64 {
	return float64(h.SuccessCount) / float64(h.SuccessCount+h.FailCount)
}

// ignoredTaskWords contains words that say nothing about the command that a task needs.
var ignoredTaskWords = strings.Fields(
	"a an the to in of for on with and or do does i we is are this that how what run runs " +
		"running start command please project it its my our",
)

// taskWords returns the stems of a task's words without ignored words. If all words are ignored words, it returns all
// stems.
func taskWords(task string) []string {
	var words, empty []string
	for _, w := range splitTextWords(task) {
		if slices.Contains(ignoredTaskWords, w) {
			empty = append(empty, analysis.Stem(w))
		} else {
			words = append(words, analysis.Stem(w))
		}
	}
	if len(words) == 0 {
		words = empty
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// stemTextWords returns the stems of a text's words.
func stemTextWords(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range splitTextWords(text) {
		all[analysis.Stem(w)] = true
	}
	return all
}

func splitTextWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// isCompleteCommand reports whether the archive contains the whole command. A longer command was cut when it was
// archived.
func isCompleteCommand(line string) bool { return line != "" && len(line) < session.MaxCommandBytes }
