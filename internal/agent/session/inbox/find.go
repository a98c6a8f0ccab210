// What the turns of a session teach: proposals, fixes, and what was reverted.

// Package inbox keeps what sessions teach and no note says: proposals, which
// are sentences of a person that wait for a yes, and fixes, which are what was done
// between a failure and the same command passing. Both are entries of the archive.
// Turns are labelled with the files whose edits were taken back or corrected.
// None becomes a note by itself.
package inbox

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/base/reason"
)

// Why a sentence is proposed.
const (
	Asked  = "asked"  // it asks to remember
	Lesson = "lesson" // it corrects what an agent did
)

// proposal is a sentence of a person that may be worth a note.
type proposal struct {
	Why      string
	Sentence string
	Turn     session.Turn // in which it was said
	Files    []string     // of a lesson: what the turn before it changed
}

// ID tells a proposal from others: the same sentence has the same, whatever turn it
// was said in.
func (p *proposal) ID() string {
	return digest(strings.ToLower(strings.Join(strings.Fields(p.Sentence), " ")))
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:5])
}

// minLesson is the bytes of a correction that says what is right: "No, undo that."
// teaches nothing.
const minLesson = 20

// proposalsOf returns those of a session's turns, which are in order of time.
func proposalsOf(turns []session.Turn) (found []proposal) {
	for i := range turns {
		t := &turns[i]
		prompt := t.Prompt()
		for _, s := range extract.Asked(prompt) {
			found = append(found, proposal{Why: Asked, Sentence: s, Turn: *t})
		}
		if i == 0 {
			continue
		}
		files := filesOf(&turns[i-1])
		s := extract.Corrects(prompt)
		if len(s) < minLesson || len(files) == 0 || slices.ContainsFunc(found, func(p proposal) bool {
			return p.Sentence == s && p.Turn.N == t.N
		}) {
			continue
		}
		found = append(found, proposal{Why: Lesson, Sentence: s, Turn: *t, Files: files})
	}
	return found
}

// filesOf returns the files that a turn changed, as a project names them.
func filesOf(t *session.Turn) (files []string) {
	for _, e := range t.Calls() {
		for _, p := range e.Call.Wrote {
			p = relative(p, t.Dir())
			if !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
	}
	return files
}

// relative returns a path with slashes, relative to the directory when it lies in
// it.
func relative(p, dir string) string {
	p, dir = path.Clean(strings.ReplaceAll(p, `\`, "/")), strings.TrimSuffix(strings.ReplaceAll(dir, `\`, "/"), "/")
	if rest, ok := strings.CutPrefix(p, dir+"/"); ok && dir != "" {
		return rest
	}
	return p
}

// fix is what was done between a failure and the same command passing.
type fix struct {
	Signature string // of the error
	Command   string
	Error     string // the line of the output that names the error
	Edits     []string
	Between   []string     // commands that passed
	Said      string       // what the agent said of the cause or of the change, in one sentence
	Turn      session.Turn // in which the command passed

	Repeats *session.Repeats // what the command that failed and its output repeat of others

	texts []string // that the agent said since the failure, up to the last edit
}

// ID tells a fix from others of its session.
func (f *fix) ID() string { return digest(f.Turn.Client, f.Turn.Session, f.Command, f.Signature) }

// Bounds of a fix: what took more was no fix of one error.
const (
	maxEdits   = 12
	maxBetween = 12
	maxOpen    = 64 // failures that wait for the command to pass
)

// fixesOf returns those of a session's turns, which are in order of time. A command
// that fails several times with one error has one fix, from the first of these
// failures on. A failure after which no file changed teaches nothing, and nor does a
// command whose client reports no exit status.
func fixesOf(turns []session.Turn) []fix {
	s := fixSearch{open: map[string]*fix{}}
	for i := range turns {
		own := turns[i].Untainted()
		trusted := own.Said()
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

// fixSearch is what is known while the calls of a session are read.
type fixSearch struct {
	open  map[string]*fix // failures that wait for their command to pass, by command
	said  string          // by the agent in this turn, since the last edit
	found []fix
}

// call reads a call: the end of a fix, the begin of one, or what came between.
func (s *fixSearch) call(e *session.Event, t *session.Turn) {
	c := e.Call
	if len(s.open) > maxOpen {
		clear(s.open)
	}
	command := strings.Join(strings.Fields(c.Command), " ")
	if f := s.open[command]; f != nil && passed(c) {
		delete(s.open, command)
		if len(f.Edits) > 0 && len(f.Edits) <= maxEdits {
			f.Turn, f.Said = *t, f.sentence()
			s.found = append(s.found, *f)
		}
	}
	if failed(c) {
		note(s.open, command, e)
	}
	shown := command
	if e.Repeats != nil {
		shown = "" // its words are those of others
	}
	for _, f := range s.open {
		f.add(c, wroteBy(c, t.Dir()), shown, s.said)
	}
	if len(c.Wrote) > 0 {
		s.said = ""
	}
}

func failed(c *session.Call) bool { return c.Failed || (c.Exit != nil && *c.Exit != 0) }

// passed reports whether a command is known to have passed.
func passed(c *session.Call) bool { return !failed(c) && c.Exit != nil }

// note begins a fix, unless the call printed no error or the command failed with
// the same before.
func note(open map[string]*fix, command string, e *session.Event) {
	s := session.Signature(e.Call.Output)
	if command == "" || s == "" || (open[command] != nil && open[command].Signature == s) {
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

// add adds a call that came after the failure, and what the agent said before it.
func (f *fix) add(c *session.Call, edits []string, command, said string) {
	for _, e := range edits {
		if !slices.Contains(f.Edits, e) {
			f.Edits = append(f.Edits, e)
		}
	}
	if len(edits) > 0 {
		f.texts = append(f.texts, said)
	}
	if command != "" && passed(c) && len(f.Between) < maxBetween && !slices.Contains(f.Between, command) {
		f.Between = append(f.Between, command)
	}
}

// sentence returns what the agent said of the fix: the last conclusion on the way to it,
// else the sentence that gives the reason of the last edit that has one. It returns "" if
// the agent only announced its steps.
func (f *fix) sentence() string {
	if found := extract.Concluded(strings.Join(f.texts, "\n")); len(found) > 0 {
		return found[len(found)-1]
	}
	for _, said := range slices.Backward(f.texts) {
		if s, gives := reason.Sentence(said); gives {
			return s
		}
	}
	return ""
}

// The beginnings of paragraphs of a fix's text.
const (
	failedWith = "` failed: "
	passedBy   = "It passed after changes of "
	saidThen   = "The agent said: "
)

// Text returns the fix as the content of an entry.
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
