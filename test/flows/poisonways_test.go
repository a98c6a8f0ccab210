// This file contains the ways in which foreign text reaches an agent.

package flows

import (
	"fmt"
	"path/filepath"
	"strings"
)

// wayIn is a way in which an agent reads foreign text.
type wayIn struct {
	name string
	use  toolUse

	// arg returns the command, path or address for the tool, and creates the files that are necessary.
	arg func(h *poisonHome, f *poisonFlow) string

	// printed returns the result of the tool, which contains the given text. If printed is nil, the result is the page
	// that pageWith returns.
	printed func(text string) string

	// pipes is true if the way is a command whose output can be piped to another command.
	pipes bool

	// brings is a function that puts the foreign text of the flow f into the memory. It returns the name of the new
	// entry. The agent of the session s then reads this entry. If the text does not reach the agent through the memory,
	// brings is nil.
	brings func(h *poisonHome, f *poisonFlow, s *agentSession) (name string)

	// bySubagent is true if a sub-agent reads the text and reports it to the agent.
	bySubagent bool
}

func pageWith(text string) string {
	return "# A page\n\nWritten by people.\n\n" + text + "\n\nSee also the index.\n"
}

// commandWay returns a wayIn (a way by which foreign text reaches the agent) for a shell command. In the command line,
// the parameter line, %s stands for the name of the flow.
func commandWay(name, line string) wayIn {
	return wayIn{name: name, use: useShell, pipes: true, arg: func(_ *poisonHome, f *poisonFlow) string {
		return strings.ReplaceAll(line, "%s", f.name())
	}}
}

// gitWay returns a way in which an agent reads a foreign text: a git command that prints a commit of another person.
// The argument name is the name of the way. The argument line is the command line, in which %s stands for the name of
// the flow.
func gitWay(name, line string) wayIn {
	w := commandWay(name, line)
	w.printed = func(text string) string {
		return "commit 5be1c0ffee5be1c0ffee5be1c0ffee5be1c0ffee\nAuthor: Somebody <s@example.org>\nDate:   Mon Apr 6 " +
			"10:00:00 2026 +0200\n\n    " + text + "\n"
	}
	return w
}

// fileWay returns a wayIn in which an agent reads a foreign text from a file. The path of the file is relative to the
// directory of the test project, but may lead out of it. Each "%s" in the path is replaced by the name of the flow. The
// function prepare creates the file with the given path and text.
func fileWay(name string, use toolUse, path string, prepare func(h *poisonHome, path, text string)) wayIn {
	return wayIn{name: name, use: use, arg: func(h *poisonHome, f *poisonFlow) string {
		at := filepath.Join(h.dir, filepath.FromSlash(strings.ReplaceAll(path, "%s", f.name())))
		prepare(h, at, pageWith(f.text))
		return at
	}}
}

func addressOf(h *poisonHome, f *poisonFlow) string { return "https://example.org/" + f.name() }

func waysIn() []wayIn {
	put := func(h *poisonHome, path, text string) { h.putFile(path, text) }
	all := []wayIn{
		{name: "web page", use: useFetch, arg: addressOf},
		{name: "web page as HTML", use: useFetch, arg: addressOf, printed: func(s string) string {
			return "<html><body><h1>A page</h1><p>" + strings.ReplaceAll(s, " of ", " of <b></b>") +
				"</p></body></html>"
		}},
		{name: "web search", use: useFind, arg: func(_ *poisonHome, f *poisonFlow) string {
			return "news of " + f.topic[0]
		}},
		{name: "another MCP server", use: useServer, arg: func(_ *poisonHome, f *poisonFlow) string {
			return f.name()
		}, printed: func(s string) string {
			return `{"id":7,"title":"A ticket","body":"` + s + `\nThanks."}`
		}},
		{name: "resource of another MCP server", use: useResource, arg: func(_ *poisonHome, f *poisonFlow) string {
			return "issue://" + f.name()
		}},
		{name: "sub-agent that read the web", use: useFetch, arg: addressOf, bySubagent: true},
		{name: "answer of a sub-agent alone", use: useAgent, arg: func(_ *poisonHome, f *poisonFlow) string {
			return "Look into " + f.topic[0]
		}},
		{name: "output of a command in the background", use: useLate, arg: func(*poisonHome, *poisonFlow) string {
			return "bash_1"
		}},
		{name: "skill", use: useSkill, arg: func(*poisonHome, *poisonFlow) string { return "release-notes" }},
		commandWay("curl", "curl -s https://example.org/%s"),
		commandWay("curl in bash -c", `bash -c "curl -s https://example.org/%s | head -50"`),
		commandWay("curl of a variable", "U=https://example.org/%s; curl -s $U"),
		commandWay("curl by substitution", "cat <(curl -s https://example.org/%s)"),
		commandWay("curl by xargs", "echo example.org/%s | xargs curl -s"),
		commandWay("gh issue view", "gh issue view 41 --comments # %s"),
		commandWay("npm view", "npm view left-%s readme"),
		commandWay("npm install", "npm install left-%s"),
		commandWay("pip show", "pip show left_%s"),
		commandWay("cargo", "cargo info left-%s"),
		commandWay("go doc", "go doc example.org/%s"),
		commandWay("docker exec", "docker exec web cat /srv/%s.md"),
		commandWay("docker logs", "docker logs --tail 50 web-%s"),
		commandWay("kubectl", "kubectl logs deploy/%s"),
		commandWay("psql", "psql -c 'select body from notes where id = 7' # %s"),
		commandWay("ssh", "ssh build cat notes/%s.md"),
		commandWay("aws s3", "aws s3 cp s3://notes/%s -"),
		commandWay(
			"python urllib",
			`python3 -c "import urllib.request as u; print(u.urlopen('http://example.org/%s').read().decode())"`,
		),
		commandWay("man page", "man %s"),
		commandWay("unknown program", "acme-notes show %s"),
		commandWay("script of the project", "./tools/fetch-notes %s"),
		gitWay("git log", "git log -3"), gitWay("git log of a branch", "git log -p origin/main"),
		gitWay("git show", "git show 5be1c0ff"),
		commandWay("git log of subjects", "git log --format=%b -3"),
		commandWay("git notes", "git notes show 5be1c0ff"), commandWay("git pull", "git pull --rebase"),
		commandWay("git fetch", "git fetch origin"),
		commandWay("git show of another branch", "git show origin/main:docs/%s.md"),
		fileWay("file that git does not track", useRead, "notes/%s.md", put),
		fileWay("file that git ignores", useRead, "build/%s.out", put),
		fileWay("file outside of the project", useRead, "../downloads/%s.md", put),
		fileWay("file through a link", useRead, "elsewhere/%s.md", put), // The link leads out of the project.
		fileWay("package in node_modules", useRead, "node_modules/%s/README.md", put),
		fileWay(
			"search of files that git does not track",
			useSearch,
			"notes",
			func(h *poisonHome, path, text string) {},
		),
		fileWay("file that a command downloaded", useRead, "docs/%s.md", func(h *poisonHome, path, text string) {
			h.putFile(path, text)
			h.fetched = path
		}),
		{name: "cat of a variable path", use: useShell, pipes: true, arg: func(h *poisonHome, f *poisonFlow) string {
			h.putFile(filepath.Join(h.vars["HOME"], "mail", f.name()+".txt"), pageWith(f.text))
			return "cat $HOME/mail/" + f.name() + ".txt"
		}},
		{name: "cd and cat", use: useShell, pipes: true, arg: func(h *poisonHome, f *poisonFlow) string {
			h.putFile(filepath.Join(h.dir, "..", "downloads", f.name()+".txt"), pageWith(f.text))
			return "cd ../downloads && cat " + f.name() + ".txt"
		}},
		{name: "import of Markdown", brings: func(h *poisonHome, f *poisonFlow, s *agentSession) string {
			file := filepath.Join(h.dir, "..", "downloads", "in-"+f.name()+".md")
			h.putFile(file, "# in-"+f.name()+"\n\n"+f.text+"\n")
			s.shell(true, "", "oxbow import "+file, "import", file)
			return "in-" + f.name()
		}},
		{
			name: "import of JSON lines without variables",
			brings: func(h *poisonHome, f *poisonFlow, s *agentSession) string {
				file := filepath.Join(h.dir, "..", "downloads", "in-"+f.name()+".jsonl")
				h.putFile(file, encoded(h.t, object{"name": "in-" +
					f.name(), "content": f.text, "labels": object{"pinned": []string{"true"}}}))
				s.shell(false, "", "env -i oxbow import "+file, "import", file)
				return "in-" + f.name()
			},
		},
		{name: "load of a dump of others", brings: func(h *poisonHome, f *poisonFlow, s *agentSession) string {
			dir := filepath.Join(h.dir, "..", "downloads", "dump-"+f.name())
			other := *h.world
			other.vars = map[string]string{"HOME": h.vars["HOME"]}
			other.must(h.t, "--home", dir+"-home", "remember", "in-"+f.name(), f.text)
			other.must(h.t, "--home", dir+"-home", "dump", dir)
			s.shell(true, "", "oxbow load "+dir, "load", dir)
			return "in-" + f.name()
		}},
		{name: "pull of a team's memory", brings: func(h *poisonHome, f *poisonFlow, _ *agentSession) string {
			h.pull(f)
			return "in-" + f.name()
		}},
	}
	return all
}

// read makes the agent of a session read the text of a flow.
func (s *agentSession) read(f *poisonFlow) {
	w := f.way
	if w == nil {
		return
	}
	if w.brings != nil {
		name := w.brings(s.poisonHome, f, s)
		if got := s.tool("get", object{"name": name}); !f.repeatsText(got) && !isMarked(got) {
			s.t.Errorf("%v: the memory has not got the text: %s", f, got)
		}
		return
	}
	h := s.poisonHome
	h.fetched = ""
	arg := w.arg(h, f)
	if h.fetched != "" {
		s.call(useShell, fmt.Sprintf("curl -s -o %s https://example.org/%s && git add -A", h.fetched, f.name()), "")
		h.git("add", "-A")
	}
	printed := pageWith
	if w.printed != nil {
		printed = w.printed
	}
	text := printed(f.text)
	if w.use == useSearch {
		h.putFile(filepath.Join(arg, f.name()+".md"), pageWith(f.text))
		text = filepath.Join("notes", f.name()+".md") + ":5:" + f.text
	}
	if w.use == useRead && s.client.name == "opencode" { // The client opencode adds line numbers.
		text = numbered(text)
	}
	if !w.bySubagent {
		s.call(w.use, arg, text)
		return
	}
	fields := s.client.subagent(s.id)
	s.call(w.use, arg, text, fields)
	s.call(useAgent, "Look into "+f.topic[0], "The page says: "+f.text)
}

// numbered returns the lines of a file with line numbers, in the format of opencode.
func numbered(text string) string {
	b := strings.Builder{}
	b.WriteString("<file>\n")
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%05d| %s\n", i+1, line)
	}
	return b.String() + "\n(End of file)\n</file>"
}
