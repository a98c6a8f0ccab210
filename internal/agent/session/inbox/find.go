// This file finds proposals and fixes in the turns of a session.

// Package inbox searches sessions for lessons that are not contained in any note yet. A proposal is a sentence of a
// person that waits for approval as a note. A fix describes the work between the failure of a command and its next
// success. Both are stored as entries of the archive. The package also labels turns in which an edit was reverted or
// corrected later. It never makes a note without a person's approval.
package inbox

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/base/editreason"
	"github.com/oxbow-memory/oxbow/internal/search/sametext"
)

// These are the values of the field Reason in a proposal. They say why a sentence becomes a proposal for a note.
const (
	ReasonRememberRequest = "asked"  // The person asks the agent to remember the sentence.
	ReasonAgentCorrection = "lesson" // The sentence corrects the agent's work.
)

// noteProposal is a sentence of a person that may be worth a note.
type noteProposal struct {
	Reason   string
	Sentence string
	Turn     session.Turn // turn in which the person wrote Sentence
	Files    []string     // files that the previous turn changed, if Sentence corrects the agent's work
}

// ID identifies a proposal by its sentence. Equal sentences in different turns have the same ID.
func (p *noteProposal) ID() string {
	return makeShortDigest(sametext.NormalizeText(p.Sentence))
}

func makeShortDigest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:5])
}

// minLessonLength is the minimum length of a correction, in bytes. A shorter correction, such as "No, undo that.", is
// useless as a note.
const minLessonLength = 20

// findProposals returns the proposals in a session's turns. The turns must be in the order of time.
func findProposals(turns []session.Turn) (found []noteProposal) {
	for i := range turns {
		t := &turns[i]
		prompt := t.Prompt()
		for _, s := range extract.FindRememberRequests(prompt) {
			found = append(found, noteProposal{Reason: ReasonRememberRequest, Sentence: s, Turn: *t})
		}
		if i == 0 {
			continue
		}
		files := changedFiles(&turns[i-1])
		s := extract.FindCorrection(prompt)
		if len(s) < minLessonLength || len(files) == 0 {
			continue
		}
		if slices.ContainsFunc(
			found,
			func(p noteProposal) bool { return p.Sentence == s && p.Turn.Number == t.Number },
		) {
			continue
		}
		found = append(found, noteProposal{Reason: ReasonAgentCorrection, Sentence: s, Turn: *t, Files: files})
	}
	return found
}

// changedFiles returns the files that a turn changed. Files below the turn's working directory are relative to it.
func changedFiles(t *session.Turn) (files []string) {
	for _, e := range t.CallEvents() {
		for _, p := range e.Call.WrittenFiles {
			p = relativePath(p, t.Dir())
			if !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
	}
	return files
}

// relativePath returns a path with slashes. If the path is below dir, the result is relative to dir.
func relativePath(p, dir string) string {
	p, dir = path.Clean(strings.ReplaceAll(p, `\`, "/")), strings.TrimSuffix(strings.ReplaceAll(dir, `\`, "/"), "/")
	if rest, ok := strings.CutPrefix(p, dir+"/"); ok && dir != "" {
		return rest
	}
	return p
}

// foundFix describes the work between the failure of a command and its next success.
type foundFix struct {
	ErrorSignature     string // signature of the command's error
	Command            string
	ErrorLine          string // output line that names the error
	EditedFiles        []string
	SuccessfulCommands []string     // other commands that passed after Command failed and before it succeeded
	Explanation        string       // sentence in which the agent names the cause or the change
	Turn               session.Turn // turn in which Command succeeded

	// RepeatedCallResults lists the calls that returned texts by other people, if these texts occur again in the failed
	// command or its output. Otherwise it is nil.
	RepeatedCallResults *session.RepeatedCallResults

	agentTexts []string // texts that the agent wrote after Command failed, up to the last edit of a file
}

// ID identifies a fix within its session.
func (f *foundFix) ID() string {
	return makeShortDigest(f.Turn.Client, f.Turn.Session, f.Command, f.ErrorSignature)
}

// These constants limit the data about how an agent repaired a failing command.
const (
	maxEditedFiles        = 12
	maxSuccessfulCommands = 12
	// maximum number of failed commands that have not passed yet (if there are more, all are forgotten)
	maxStillFailingCommands = 64
)

// findFixes returns the fixes in a session's turns. A fix is the work between the failure of a command and its next
// success. The turns must be in the order of time. If a command fails several times with the same error, findFixes
// returns one fix, which begins at the first failure. A failure is ignored in these cases:
//
// - The client does not report the exit status of the command's success.
// - No file changed between the failure and the success, or more than maxEditedFiles files changed.
func findFixes(turns []session.Turn) []foundFix {
	s := fixSearch{unfixedCommands: map[string]*foundFix{}}
	for i := range turns {
		own := turns[i].WithoutRepeatedForeignText()
		trusted := own.AgentText()
		s.agentTextAfterLastEdit = ""
		for _, e := range turns[i].Events {
			switch {
			case e.Kind == session.KindText && e.SubAgent == "" && strings.Contains(trusted, e.Text):
				s.agentTextAfterLastEdit += e.Text + "\n"
			case e.Kind == session.KindToolCall && e.Call != nil:
				s.processCall(&e, &turns[i])
			}
		}
	}
	return s.foundFixes
}

// fixSearch is the state of findFixes while it reads a session's calls.
type fixSearch struct {
	// unfixedCommands contains the commands that failed and have not passed since. The value describes the work on the
	// command so far, which becomes a found fix when the command passes.
	unfixedCommands        map[string]*foundFix
	agentTextAfterLastEdit string // text of the agent in this turn after the last edit
	foundFixes             []foundFix
}

// processCall examines a tool call. A command that fails begins a fix. The calls after the failure are recorded as
// parts of the fix. If the same command succeeds later, the fix is complete.
func (s *fixSearch) processCall(e *session.Event, t *session.Turn) {
	c := e.Call
	if len(s.unfixedCommands) > maxStillFailingCommands {
		clear(s.unfixedCommands)
	}
	command := strings.Join(strings.Fields(c.Command), " ")
	if f := s.unfixedCommands[command]; f != nil && hasPassed(c) {
		delete(s.unfixedCommands, command)
		if len(f.EditedFiles) > 0 && len(f.EditedFiles) <= maxEditedFiles {
			f.Turn, f.Explanation = *t, f.findExplanation()
			s.foundFixes = append(s.foundFixes, *f)
		}
	}
	if hasFailed(c) {
		recordUnfixedFailure(s.unfixedCommands, command, e)
	}
	shown := command
	if e.RepeatedCallResults != nil {
		shown = "" // Hide the command, because it repeats text that others than the agent and the person wrote.
	}
	for _, f := range s.unfixedCommands {
		f.addCallAfterFailure(c, writtenFiles(c, t.Dir()), shown, s.agentTextAfterLastEdit)
	}
	if len(c.WrittenFiles) > 0 {
		s.agentTextAfterLastEdit = ""
	}
}

func hasFailed(c *session.ToolCall) bool {
	return c.Failed || (c.ExitStatus != nil && *c.ExitStatus != 0)
}

// hasPassed reports whether the client reported an exit status for the command, and the command did not fail.
func hasPassed(c *session.ToolCall) bool { return !hasFailed(c) && c.ExitStatus != nil }

// recordUnfixedFailure records in unfixedFailures that a command failed, because later edits may make the command pass.
// The edits are added to the new foundFix later. recordUnfixedFailure does nothing if the output names no error, or if
// the command with the same error is already recorded.
func recordUnfixedFailure(unfixedFailures map[string]*foundFix, command string, e *session.Event) {
	s := session.FailureSignature(e.Call.Output)
	if command == "" || s == "" {
		return
	}
	if unfixedFailures[command] != nil && unfixedFailures[command].ErrorSignature == s {
		return
	}
	unfixedFailures[command] = &foundFix{
		ErrorSignature:      s,
		Command:             command,
		ErrorLine:           session.ErrorLine(e.Call.Output),
		RepeatedCallResults: e.RepeatedCallResults,
	}
}

func writtenFiles(c *session.ToolCall, dir string) (files []string) {
	for _, p := range c.WrittenFiles {
		files = append(files, relativePath(p, dir))
	}
	return files
}

// addCallAfterFailure adds a tool call to the fix f, which describes the work between the failure of a command and its
// next success. edits contains the files that the call changed. command is the call's command line, which is recorded
// only if it passed. agentText is the agent's text before the call, which is recorded only if the call changed files.
func (f *foundFix) addCallAfterFailure(c *session.ToolCall, edits []string, command, agentText string) {
	for _, e := range edits {
		if !slices.Contains(f.EditedFiles, e) {
			f.EditedFiles = append(f.EditedFiles, e)
		}
	}
	if len(edits) > 0 {
		f.agentTexts = append(f.agentTexts, agentText)
	}
	if command == "" || !hasPassed(c) {
		return
	}
	if len(f.SuccessfulCommands) < maxSuccessfulCommands && !slices.Contains(f.SuccessfulCommands, command) {
		f.SuccessfulCommands = append(f.SuccessfulCommands, command)
	}
}

// findExplanation returns the agent's explanation of the fix. It returns the last sentence in which the agent reports a
// finding or a decision. If there is no such sentence, it returns the last sentence that is not only an announcement of
// the agent's next step. If all sentences only announce next steps, it returns "".
func (f *foundFix) findExplanation() string {
	if found := extract.FindConclusions(strings.Join(f.agentTexts, "\n")); len(found) > 0 {
		return found[len(found)-1]
	}
	for _, said := range slices.Backward(f.agentTexts) {
		if s, gives := editreason.FindReasonSentence(said); gives {
			return s
		}
	}
	return ""
}

// These phrases are written into the text of a fix. [ParseFixEntry] finds the parts of the text by them.
const (
	failedCommandPhrase = "` failed: "
	passedCommandPhrase = "It passed after changes of "
	agentSaidPhrase     = "The agent said: "
)

// Text returns the content of the archive entry that describes how a failed command was made to pass.
func (f *foundFix) Text() string {
	var b strings.Builder
	b.WriteString("`" + f.Command + failedCommandPhrase + f.ErrorLine + "\n\n")
	b.WriteString(passedCommandPhrase + strings.Join(f.EditedFiles, ", ") + ".\n")
	if f.Explanation != "" {
		b.WriteString("\n" + agentSaidPhrase + f.Explanation + "\n")
	}
	if len(f.SuccessfulCommands) > 0 {
		b.WriteString("\nRun between:\n")
		for _, c := range f.SuccessfulCommands {
			b.WriteString("- " + c + "\n")
		}
	}
	return b.String()
}
