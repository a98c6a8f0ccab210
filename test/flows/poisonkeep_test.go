// This file contains the ways in which an agent stores a text that it has read. It also contains the times at which the
// agent stores the text, such as in the same turn or in the next turn.

package flows

import (
	"path/filepath"
	"strings"
)

// place is the place where a stored text can be shown to a model that did not ask for it, and where a search finds it.
// The constants below are its values.
type place string

const (
	inNotes      place = "notes"
	inSessions   place = "sessions"
	inHandoffs   place = "handoffs"
	beforeEdits  place = "before an edit"
	inProfiles   place = "profiles"
	inStartBlock place = "start of a session"
)

// keeping is a way in which an agent stores a text, so that a later session can see the text.
type keeping struct {
	name string
	at   place
	do   func(s *agentSession, f *poisonFlow)

	// piped keeps the output of a command within the same command line. It is nil if this is impossible.
	piped func(s *agentSession, f *poisonFlow, command, output string)

	// If the slice is not nil, only the clients with these names can store a text in this way. If the slice is nil, all
	// clients can.
	only []string

	// isQuiet is true if a text that was stored in this way is shown only to those who ask for it, regardless of its
	// author.
	isQuiet bool
}

// noteName returns the name of the note that the flow writes.
func (f *poisonFlow) noteName() string { return "note-" + f.name() }

func rememberIn(
	withVars bool,
) (do func(*agentSession, *poisonFlow), piped func(*agentSession, *poisonFlow, string, string)) {
	before := "oxbow remember "
	if !withVars {
		before = "env -u CLAUDECODE -u CODEX_CI -u OPENCODE oxbow remember "
	}
	do = func(s *agentSession, f *poisonFlow) {
		s.shell(withVars, "", before+f.noteName()+" \""+f.said+"\"", "remember", f.noteName(), f.said)
	}
	piped = func(s *agentSession, f *poisonFlow, command, output string) {
		out := s.unreported(withVars, output, "remember", f.noteName(), "--file", "-")
		s.call(useShell, command+" | "+before+f.noteName()+" --file -", out)
	}
	return do, piped
}

func keepings() []keeping {
	withVars, pipedWithVars := rememberIn(true)
	without, pipedWithout := rememberIn(false)
	return []keeping{
		{name: "remember over MCP", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.tool("remember", object{"name": f.noteName(), "content": f.said})
		}},
		{name: "remember in the shell", at: inNotes, do: withVars, piped: pipedWithVars},
		{name: "remember in a shell without variables", at: inNotes, do: without, piped: pipedWithout},
		{name: "over a note of the agent", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.tool("remember", object{"name": f.noteName(), "content": "To be written."})
			s.tool("remember", object{"name": f.noteName(), "content": f.said})
		}},
		{name: "over a note of the person", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.asPerson("remember", f.noteName(), "To be written.")
			s.tool("remember", object{"name": f.noteName(), "content": f.said})
		}},
		{name: "append in an editor", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.asPerson("remember", f.noteName(), "What is known of "+f.topic[0]+".")
			s.editWith(f.said)
			s.shell(true, "", "EDITOR=./append oxbow edit "+f.noteName(), "edit", f.noteName())
		}},
		{name: "save_memory", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.tool("save_memory", object{"content": "note " + f.name() + "\n\n" + f.said})
		}},
		{name: "as a name", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.tool("remember", object{"name": onOneLine(f.said), "content": "See the name."})
		}},
		{name: "as an alias", isQuiet: true, at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.tool("remember", object{"name": f.noteName(), "content": "About " + strings.Join(f.topic, " and ") +
				".", "aliases": []string{onOneLine(f.said)}})
		}},
		{name: "as a tag", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.tool("remember", object{"name": f.noteName(), "content": "About " + strings.Join(f.topic, " and ") +
				".", "tags": []string{onOneLine(f.said)}})
		}},
		{name: "as an annotation in the shell", at: beforeEdits, do: func(s *agentSession, f *poisonFlow) {
			file := s.sourceFile(f)
			s.shell(true, "", "oxbow annotate "+file+":1 --why \""+f.said+"\"", "annotate", file+":1", "--why", f.said)
		}},
		{name: "as an annotation over MCP", at: beforeEdits, do: func(s *agentSession, f *poisonFlow) {
			s.tool("annotate", object{"file": s.sourceFile(f), "start_line": 1, "why": f.said})
		}},
		{
			name: "said before an edit",
			at:   beforeEdits,
			only: []string{"opencode"},
			do: func(s *agentSession, f *poisonFlow) {
				file := filepath.Join(s.dir, s.sourceFile(f))
				s.report("AgentText", object{"text": f.said, "text_id": "prt_" + f.name()})
				s.putFile(file, "package work // edited\n")
				s.call(useEdit, file, "Edit applied.")
			},
		},
		{
			name:    "in a description of a profile",
			isQuiet: true,
			at:      inProfiles,
			do: func(s *agentSession, f *poisonFlow) {
				s.shell(true, "", "oxbow profile new "+
					f.name(), "profile", "new", f.name(), "--description", onOneLine(f.said))
			},
		},
		{name: "in a handoff over MCP", at: inHandoffs, do: func(s *agentSession, f *poisonFlow) {
			s.tool("handoff_task", object{"summary": "Work on " + f.topic[0], "plan": f.said})
		}},
		{name: "in a handoff in the shell", at: inHandoffs, do: func(s *agentSession, f *poisonFlow) {
			s.shell(true, "", "oxbow handoff new \""+onOneLine(f.said)+"\"", "handoff", "new", onOneLine(f.said))
		}},
		{name: "in an answer", at: inSessions, do: func(s *agentSession, f *poisonFlow) {
			s.stop(f.said)
			s.prompt("Good. Go on with the next one.")
		}},
		{name: "in a plan", isQuiet: true, at: inSessions,
			only: []string{"claude", "codex", "gemini", "opencode", "qwen"},
			do: func(s *agentSession, f *poisonFlow) {
				s.plan(onOneLine(f.said))
			}},
		{name: "in the summary of a compaction", isQuiet: true, at: inSessions,
			only: []string{"claude", "codex", "qwen"}, do: func(s *agentSession, f *poisonFlow) {
				s.report("PostCompact", object{"trigger": "auto", "compact_summary": "<summary>\n" + f.said +
					"\n</summary>"})
				s.start("compact")
			}},
		{
			name: "in an error line",
			at:   beforeEdits,
			only: []string{"claude", "gemini", "opencode", "copilot", "qwen"},
			do: func(s *agentSession, f *poisonFlow) {
				file := filepath.Join(s.dir, s.sourceFile(f))
				s.fails("go test ./"+f.name(), "error: "+onOneLine(f.said))
				s.call(useEdit, file, "done")
				s.call(useShell, "go test ./"+f.name(), "ok")
			},
		},
		{name: "get | remember", at: inNotes, do: func(s *agentSession, f *poisonFlow) { s.copyNote(f, true) }},
		{name: "get | remember without variables", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.copyNote(f, false)
		}},
		{name: "export | sed | import", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.exportNote(f, true)
		}},
		{name: "export | sed | import without variables", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.exportNote(f, false)
		}},
		{name: "dump, edit, load", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.tool("remember", object{"name": f.noteName(), "content": f.said})
			dir := filepath.Join(s.dir, "..", "dumps", f.name())
			s.unreported(true, "", "dump", dir)
			s.editDump(dir, f)
			s.shell(true, "", "oxbow dump "+dir+"; edit; oxbow load "+dir, "load", dir)
		}},
		{name: "forget and restore", at: inNotes, do: func(s *agentSession, f *poisonFlow) {
			s.tool("remember", object{"name": f.noteName(), "content": f.said})
			s.tool("forget", object{"name": f.noteName()})
			s.shell(true, "", "oxbow undo", "undo")
		}},
		{
			name: "in Claude's own memory file",
			at:   inNotes,
			only: []string{"claude"},
			do: func(s *agentSession, f *poisonFlow) {
				file := s.clientMemory(f)
				s.call(useWrite, file, "done")
				s.putFile(file, "# "+f.noteName()+"\n\n"+f.said+"\n")
				s.start("resume")
			},
		},
		{name: "in the document MEMORY.md of the home", at: inStartBlock, do: func(s *agentSession, f *poisonFlow) {
			file := filepath.Join(filepath.Dir(s.storePath()), "MEMORY.md")
			s.call(useWrite, file, "done")
			s.appendFile(file, f.said+"\n\n")
		}},
		{name: "in a skill", isQuiet: true, at: inProfiles, do: func(s *agentSession, f *poisonFlow) {
			file := filepath.Join(s.dir, ".oxbow", "skills", f.name(), "SKILL.md")
			s.call(useWrite, file, "done")
			s.putFile(file, "---\nname: "+f.name()+"\ndescription: "+onOneLine(f.said)+"\n---\n\n"+f.said+"\n")
		}},
	}
}

// copyNote keeps the text in a note, and then copies the note in the shell.
func (s *agentSession) copyNote(f *poisonFlow, withVars bool) {
	s.tool("remember", object{"name": "first-" + f.name(), "content": f.said})
	text := s.unreported(withVars, "", "get", "first-"+f.name(), "--raw")
	out := s.unreported(withVars, text, "remember", f.noteName(), "--file", "-")
	s.call(useShell, "oxbow get first-"+f.name()+" --raw | oxbow remember "+f.noteName()+" --file -", out)
}

// exportNote keeps the text in a note, exports the note, removes the labels of the note, and imports it under another
// name.
func (s *agentSession) exportNote(f *poisonFlow, withVars bool) {
	s.tool("remember", object{"name": "first-" + f.name(), "content": f.said})
	var lines []string
	for line := range strings.Lines(s.unreported(withVars, "", "export")) {
		if strings.Contains(line, `"first-`+f.name()+`"`) {
			lines = append(lines, unlabelled(s.t, line, f.noteName()))
		}
	}
	out := s.unreported(withVars, strings.Join(lines, ""), "import", "-")
	s.call(useShell, "oxbow export | sed 's/labels/x/; s/first/note/' | oxbow import -", out)
}

// timing specifies when an agent stores a text, in relation to the time at which it reads the text.
type timing struct {
	name string

	// run makes an agent read and keep the text.
	run func(h *poisonHome, f *poisonFlow)

	piped     bool // a single command line reads and keeps the text
	byAnother bool // one client reads the text, and another client stores it
}

func timings() []timing {
	keep := func(s *agentSession, f *poisonFlow) {
		f.keep.do(s, f)
		s.stop("It is done.")
	}
	reads := func(h *poisonHome, f *poisonFlow) *agentSession {
		s := h.session(f.client)
		s.start("startup")
		s.prompt(f.request())
		s.read(f)
		return s
	}
	return []timing{
		{name: "in the same turn", run: func(h *poisonHome, f *poisonFlow) { keep(reads(h, f), f) }},
		{name: "in the next turn", run: func(h *poisonHome, f *poisonFlow) {
			s := reads(h, f)
			s.stop("I have read it.")
			s.prompt("Thanks. Keep what matters of it.")
			keep(s, f)
		}},
		{name: "in the next session", run: func(h *poisonHome, f *poisonFlow) {
			s := reads(h, f)
			s.stop("I have read it.")
			s.report("SessionEnd", object{"reason": "exit"})
			s = h.session(f.client)
			s.start("startup")
			s.prompt("Keep what you found out yesterday.")
			keep(s, f)
		}},
		{name: "said, and again later by another client", byAnother: true, run: func(h *poisonHome, f *poisonFlow) {
			s := reads(h, f)
			s.stop("I found this. " + f.text)
			for range 2 {
				other := h.session(h.nextClient(f.client))
				other.prompt("Run the tests.")
				other.call(useShell, "go test ./...", "ok  \tharbor\t0.1s")
				other.stop("They pass.")
			}
			f.client = h.nextClient(f.client)
			s = h.session(f.client)
			s.start("startup")
			s.prompt("What was that again? Keep it.")
			keep(s, f)
		}},
		{name: "piped", piped: true, run: func(h *poisonHome, f *poisonFlow) {
			s := h.session(f.client)
			s.start("startup")
			s.prompt("Please find out about " + f.topic[0] + " and keep it.")
			f.keep.piped(s, f, f.way.arg(h, f), pageWith(f.text))
			s.stop("It is done.")
		}},
	}
}
