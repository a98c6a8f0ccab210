// What the turns of a session teach: proposals, fixes, and what was reverted.

// Package inbox keeps what sessions teach and no note says: proposals, which
// are sentences of a person that wait for a yes, and fixes, which are what was done
// between a failure and the same command passing. Both are entries of the archive.
// None becomes a note by itself.
package inbox

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/session/extract"
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
		if len(s) < minLesson || len(files) == 0 || slices.ContainsFunc(found, func(p proposal) bool { return p.Sentence == s && p.Turn.N == t.N }) {
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
			if p = relative(p, t.Dir()); !slices.Contains(files, p) {
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
	Output    string // the end of what the failure printed
	Edits     []string
	Between   []string     // commands that passed
	Turn      session.Turn // in which the command passed
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
// failures on. A failure after which no file changed teaches nothing.
func fixesOf(turns []session.Turn) (found []fix) {
	open := map[string]*fix{} // by command
	for i := range turns {
		for _, e := range turns[i].Calls() {
			c := e.Call
			if len(open) > maxOpen {
				clear(open)
			}
			command := strings.Join(strings.Fields(c.Command), " ")
			if command == "" || failed(c) {
				note(open, command, c)
				for _, f := range open {
					f.add(wroteBy(c, turns[i].Dir()), "")
				}
				continue
			}
			if f := open[command]; f != nil {
				delete(open, command)
				if len(f.Edits) > 0 && len(f.Edits) <= maxEdits {
					f.Turn = turns[i]
					found = append(found, *f)
				}
			}
			for _, f := range open {
				f.add(wroteBy(c, turns[i].Dir()), command)
			}
		}
	}
	return found
}

func failed(c *session.Call) bool { return c.Failed || c.Exit != nil && *c.Exit != 0 }

// note begins a fix, unless the call printed no error or the command failed with
// the same before.
func note(open map[string]*fix, command string, c *session.Call) {
	s := session.Signature(c.Output)
	if command == "" || s == "" || open[command] != nil && open[command].Signature == s {
		return
	}
	open[command] = &fix{Signature: s, Command: command, Output: c.Output}
}

func wroteBy(c *session.Call, dir string) (files []string) {
	for _, p := range c.Wrote {
		files = append(files, relative(p, dir))
	}
	return files
}

func (f *fix) add(edits []string, command string) {
	for _, e := range edits {
		if !slices.Contains(f.Edits, e) {
			f.Edits = append(f.Edits, e)
		}
	}
	if command != "" && len(f.Between) < maxBetween && !slices.Contains(f.Between, command) {
		f.Between = append(f.Between, command)
	}
}

// undoes are commands that take edits back; of all files, or of those they name.
var undoes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[;&|] ?)git (?:restore|revert|reset --hard|checkout (?:HEAD )?-- |checkout \.|stash(?: push| drop|$| -))`)
})

// revertedOf returns the turns whose edits were taken back, by number: by a later
// command that names one of their files, or all, or by the person's next words.
func revertedOf(turns []session.Turn) (found []int) {
	wrote := make([][]string, len(turns))
	add := func(i int) {
		if !slices.Contains(found, i) {
			found = append(found, i)
		}
	}
	for i := range turns {
		wrote[i] = filesOf(&turns[i])
		if i > 0 && len(wrote[i-1]) > 0 && extract.Corrects(turns[i].Prompt()) != "" {
			add(i - 1)
		}
		for _, e := range turns[i].Calls() {
			command := strings.Join(strings.Fields(e.Call.Command), " ")
			if failed(e.Call) || strings.Contains(command, "--staged") || !undoes().MatchString(command) {
				continue
			}
			for j := i; j >= 0; j-- {
				named := slices.ContainsFunc(wrote[j], func(f string) bool { return strings.Contains(command, f) })
				if named {
					add(j)
				}
				if all := !strings.Contains(command, "/") && !strings.Contains(strings.TrimSuffix(command, " ."), "."); all && len(wrote[j]) > 0 {
					add(j)
					break // those before were most likely committed
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// Text returns the fix as the content of an entry.
func (f *fix) Text() string {
	var b strings.Builder
	b.WriteString("`" + f.Command + "` failed: " + f.Signature + "\n\n")
	b.WriteString("It passed after changes of " + strings.Join(f.Edits, ", ") + ".\n")
	if len(f.Between) > 0 {
		b.WriteString("\nRun between:\n")
		for _, c := range f.Between {
			b.WriteString("- " + c + "\n")
		}
	}
	return b.String()
}
