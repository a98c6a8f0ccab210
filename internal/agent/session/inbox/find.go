// This file finds proposals and fixes in the turns of a session.

// Package inbox finds lessons in sessions that no note contains yet. A proposal is a
// sentence of a person that waits for approval as a note. A fix describes the work between the
// failure of a command and its next success. Both are stored as entries of the archive. The
// package also labels turns with files whose edits were reverted or corrected. It never makes a
// note without a person's approval.
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

// The values of the field Why: the reasons for which a sentence becomes a proposal.
const (
	Asked  = "asked"  // the person asks to remember the sentence
	Lesson = "lesson" // the sentence corrects the agent's work
)

// proposal is a sentence of a person that may deserve a note.
type proposal struct {
	Why      string
	Sentence string
	Turn     session.Turn // the turn that contains the sentence
	Files    []string     // for a lesson: files that the previous turn changed
}

// ID identifies a proposal. Equal sentences have equal IDs, whatever their turns.
func (p *proposal) ID() string {
	return digest(sametext.Fold(p.Sentence))
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:5])
}

// minLesson is the minimum length of a correction in bytes. A shorter text, such as "No, undo
// that.", is not useful as a note.
const minLesson = 20

// findProposals returns the proposals in a session's turns, which must be in order of time.
func findProposals(turns []session.Turn) (found []proposal) {
	for i := range turns {
		t := &turns[i]
		prompt := t.Prompt()
		for _, s := range extract.AskedToRemember(prompt) {
			found = append(found, proposal{Why: Asked, Sentence: s, Turn: *t})
		}
		if i == 0 {
			continue
		}
		files := changedFiles(&turns[i-1])
		s := extract.FindCorrection(prompt)
		if len(s) < minLesson || len(files) == 0 {
			continue
		}
		if slices.ContainsFunc(found, func(p proposal) bool { return p.Sentence == s && p.Turn.N == t.N }) {
			continue
		}
		found = append(found, proposal{Why: Lesson, Sentence: s, Turn: *t, Files: files})
	}
	return found
}

// changedFiles returns the files that a turn changed, relative to its directory if possible.
func changedFiles(t *session.Turn) (files []string) {
	for _, e := range t.CallEvents() {
		for _, p := range e.Call.Wrote {
			p = relative(p, t.Dir())
			if !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
	}
	return files
}

// relative returns a path with slashes, relative to dir if the path is below it.
func relative(p, dir string) string {
	p, dir = path.Clean(strings.ReplaceAll(p, `\`, "/")), strings.TrimSuffix(strings.ReplaceAll(dir, `\`, "/"), "/")
	if rest, ok := strings.CutPrefix(p, dir+"/"); ok && dir != "" {
		return rest
	}
	return p
}

// fix describes the work between the failure of a command and its next success.
type fix struct {
	Signature string // signature of the error
	Command   string
	Error     string // the line of the output that names the error
	Edits     []string
	Between   []string     // other commands that passed meanwhile
	Said      string       // the agent's sentence about the cause or the change
	Turn      session.Turn // the turn in which the command passed

	Repeats *session.Repeats // text by others that the failed command and its output repeat

	texts []string // the agent's texts since the failure, up to the last edit
}

// ID identifies a fix within its session.
func (f *fix) ID() string { return digest(f.Turn.Client, f.Turn.Session, f.Command, f.Signature) }

// Limits of a fix.
const (
	maxEdits   = 12
	maxBetween = 12
	maxOpen    = 64 // maximum number of failures waiting for a success (above it, all are forgotten)
)

// findFixes returns the fixes in a session's turns, which must be ordered by time. A command that
// fails several times with the same error has a single fix, which begins at the first of these
// failures. A failure is ignored if no file changed before the command passed, or if the client
// does not report the command's exit status.
func findFixes(turns []session.Turn) []fix {
	s := fixSearch{open: map[string]*fix{}}
	for i := range turns {
		own := turns[i].WithoutTainted()
		trusted := own.AgentText()
		s.said = ""
		for _, e := range turns[i].Events {
			switch {
			case e.Kind == session.Text && e.Agent == "" && strings.Contains(trusted, e.Text):
				s.said += e.Text + "\n"
			case e.Kind == session.Called && e.Call != nil:
				s.call(&e, &turns[i])
			}
		}
	}
	return s.found
}

// fixSearch is the state while the calls of a session are read.
type fixSearch struct {
	open  map[string]*fix // failures whose command has not passed yet, by command
	said  string          // the agent's texts in this turn since the last edit
	found []fix
}

// call processes a call, which may end a fix, begin a fix or happen during a fix.
func (s *fixSearch) call(e *session.Event, t *session.Turn) {
	c := e.Call
	if len(s.open) > maxOpen {
		clear(s.open)
	}
	command := strings.Join(strings.Fields(c.Command), " ")
	if f := s.open[command]; f != nil && hasPassed(c) {
		delete(s.open, command)
		if len(f.Edits) > 0 && len(f.Edits) <= maxEdits {
			f.Turn, f.Said = *t, f.sentence()
			s.found = append(s.found, *f)
		}
	}
	if hasFailed(c) {
		note(s.open, command, e)
	}
	shown := command
	if e.Repeats != nil {
		shown = "" // the command repeats text by others
	}
	for _, f := range s.open {
		f.add(c, wroteBy(c, t.Dir()), shown, s.said)
	}
	if len(c.Wrote) > 0 {
		s.said = ""
	}
}

func hasFailed(c *session.Call) bool { return c.Failed || (c.Exit != nil && *c.Exit != 0) }

// hasPassed reports whether the command passed, according to its exit status.
func hasPassed(c *session.Call) bool { return !hasFailed(c) && c.Exit != nil }

// note begins a fix for a command that failed. If the command's output names no error, or the
// command already waits with the same error, note does nothing.
func note(open map[string]*fix, command string, e *session.Event) {
	s := session.Signature(e.Call.Output)
	if command == "" || s == "" {
		return
	}
	if open[command] != nil && open[command].Signature == s {
		return
	}
	open[command] = &fix{Signature: s, Command: command, Error: session.ErrorLine(e.Call.Output), Repeats: e.Repeats}
}

func wroteBy(c *session.Call, dir string) (files []string) {
	for _, p := range c.Wrote {
		files = append(files, relative(p, dir))
	}
	return files
}

// add adds a call after the failure, and the agent's texts before the call.
func (f *fix) add(c *session.Call, edits []string, command, said string) {
	for _, e := range edits {
		if !slices.Contains(f.Edits, e) {
			f.Edits = append(f.Edits, e)
		}
	}
	if len(edits) > 0 {
		f.texts = append(f.texts, said)
	}
	if command == "" || !hasPassed(c) {
		return
	}
	if len(f.Between) < maxBetween && !slices.Contains(f.Between, command) {
		f.Between = append(f.Between, command)
	}
}

// sentence returns the agent's explanation of the fix. This is the agent's last conclusion or,
// without a conclusion, the latest sentence that gives a reason for an edit. It returns "" if the
// agent only announced its steps.
func (f *fix) sentence() string {
	if found := extract.FindConclusions(strings.Join(f.texts, "\n")); len(found) > 0 {
		return found[len(found)-1]
	}
	for _, said := range slices.Backward(f.texts) {
		if s, gives := editreason.Sentence(said); gives {
			return s
		}
	}
	return ""
}

// Phrases in the text of a fix by which [ParseFix] finds its parts.
const (
	failedWith = "` failed: "
	passedBy   = "It passed after changes of "
	saidThen   = "The agent said: "
)

// Text returns the content of the fix's entry.
func (f *fix) Text() string {
	var b strings.Builder
	b.WriteString("`" + f.Command + failedWith + f.Error + "\n\n")
	b.WriteString(passedBy + strings.Join(f.Edits, ", ") + ".\n")
	if f.Said != "" {
		b.WriteString("\n" + saidThen + f.Said + "\n")
	}
	if len(f.Between) > 0 {
		b.WriteString("\nRun between:\n")
		for _, c := range f.Between {
			b.WriteString("- " + c + "\n")
		}
	}
	return b.String()
}
