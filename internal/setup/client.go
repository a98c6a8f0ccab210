// The clients: their files, and what setup writes there.

package setup

import (
	"os"
	"path/filepath"
	"slices"
)

// Options say what is set up.
type Options struct {
	Executable string   // path from the root
	Home       string   // that the server and the hooks are given; "" where they find it
	Project    bool     // the project's files, not the user's
	NoMCP      bool     // no server
	NoInject   bool     // no hook that shows a memory
	NoCapture  bool     // no hook that only keeps what is said and done
	Off        bool     // switch the client's own memory off
	Trust      bool     // mark the hooks as trusted, for Codex
	Allow      []string // tools that run unasked

	// Plugin returns the JavaScript of opencode's plug-in, which runs a command for
	// each event; nil for none.
	Plugin func(argv []string) string
}

// Client is a program that oxbow can be set up for.
type Client struct {
	Name, Title string
	Program     string // its name in PATH; "" for none
	Proved      bool   // by running it; others by their documents
	Memory      string // its own memory, "" for none

	files func(w World, o Options) []file
	// memories returns the directory of the files of its own memory; nil for none.
	memories func(w World) string
	signs    func(w World) []string // paths that show that it is installed
	notes    func(w World, o Options) []string
}

// file is a file of a client, and what is oxbow's in it.
type file struct {
	path    string
	servers []string // where the servers stand
	items   []item   // of a file of JSON
	off     []item   // what these options leave out
	memory  *item    // switches the client's own memory off
	toml    func(t, base *table, put bool) error
	whole   string // content of a file that is oxbow's; "" for others, or when it is to go
	own     bool
}

// Installed reports whether the client seems to be there.
func (c *Client) Installed(w World) bool {
	return c.OnPath(w) || slices.ContainsFunc(c.signs(w), exists)
}

// OnPath reports whether the client's program is in a directory of PATH.
func (c *Client) OnPath(w World) bool {
	for _, dir := range filepath.SplitList(w.Getenv("PATH")) {
		for _, ext := range cond(w.GOOS == "windows", []string{".exe", ".cmd"}, []string{""}) {
			if fi, err := os.Stat(filepath.Join(dir, c.Program+ext)); c.Program != "" && err == nil && !fi.IsDir() {
				return true
			}
		}
	}
	return false
}

// scoped returns the user's path, or the project's.
func (w World) scoped(o Options, user, project string) string {
	if o.Project {
		return filepath.Join(w.Dir, filepath.FromSlash(project))
	}
	return user
}

// argv returns the words that start oxbow.
func (o Options) argv(words ...string) []string {
	argv := []string{o.Executable}
	if o.Home != "" {
		argv = append(argv, "--home", o.Home)
	}
	return append(argv, words...)
}

// server returns the item of the server, split in a command and its arguments.
func (o Options) server(path []string, before fields, after ...field) (put, off []item) {
	argv := o.argv("mcp")
	return o.serverOf(path, slices.Concat(before, fields{{"command", argv[0]}, {"args", argv[1:]}}, after))
}

func (o Options) serverOf(path []string, want fields) (put, off []item) {
	return choose(!o.NoMCP, serverItem(path, want))
}

// choose returns an item as one to put, or as one to take out.
func choose(put bool, i item) ([]item, []item) {
	if put {
		return []item{i}, nil
	}
	return nil, []item{i}
}

// allow returns the approvals of the tools that run unasked.
func (o Options) allow(path ...string) (put, off []item) {
	const prefix = "mcp__" + program + "__"
	var words []string
	for _, t := range o.Allow {
		words = append(words, prefix+t)
	}
	return choose(!o.NoMCP, stringsItem(prefix, words, path...))
}

// uses of hooks
const (
	capture = 1 << iota
	inject
)

// event is an event that a client's hooks are run on.
type event struct {
	name, matcher string
	use           int
	timeout       int // seconds
}

var events = map[string][]event{
	"claude": {{"SessionStart", "", inject, 5}, {"UserPromptSubmit", "", capture, 5}, {"PreToolUse", "Edit|Write|MultiEdit|NotebookEdit", inject, 5}, {"PostToolUse", "", capture, 5},
		{"PostToolUseFailure", "", capture, 5}, {"SubagentStop", "", capture, 5}, {"PostCompact", "", capture, 5}, {"Stop", "", capture, 5}, {"SessionEnd", "", capture, 10}},
	"codex": {{"SessionStart", "", inject, 5}, {"UserPromptSubmit", "", capture, 5}, {"PreToolUse", "apply_patch", inject, 5}, {"PostToolUse", "", capture, 5},
		{"PostCompact", "", capture, 5}, {"SubagentStop", "", capture, 5}, {"Stop", "", capture, 5}, {"SessionEnd", "", capture, 3}},
	"gemini": {{"SessionStart", "", inject, 5}, {"BeforeAgent", "", capture, 5}, {"AfterTool", "*", capture, 5}, {"AfterAgent", "", capture, 5}, {"SessionEnd", "", capture, 5}},
	"copilot": {{"SessionStart", "", inject, 5}, {"UserPromptSubmit", "", capture, 5}, {"PreToolUse", "", inject, 5}, {"PostToolUse", "", capture, 5}, {"PostToolUseFailure", "", capture, 5}, {"Stop", "", capture, 5},
		{"SessionEnd", "", capture, 5}},
	"qwen": {{"SessionStart", "", inject, 5}, {"UserPromptSubmit", "", capture, 5}, {"PostToolUse", "", capture, 5}, {"PostToolUseFailure", "", capture, 5},
		{"PostCompact", "", capture, 5}, {"SubagentStop", "", capture, 5}, {"Stop", "", capture, 5}, {"SessionEnd", "", capture, 5}},
}

// hooks returns the hooks that these options ask for.
func (o Options) hooks(client string, handler func(e event) fields) (want []hook) {
	for _, e := range events[client] {
		if (e.use == inject && o.NoInject) || (e.use == capture && o.NoCapture) {
			continue
		}
		want = append(want, hook{e.name, e.matcher, handler(e)})
	}
	return want
}

// lineHooks are hooks whose command is a line for a shell.
func (o Options) lineHooks(w World, client string, windows shell, unit int, more ...field) []hook {
	line := commandLine(cond(w.GOOS == "windows", windows, posix), o.argv("hook", client))
	return o.hooks(client, func(e event) fields {
		return append(fields{{"type", "command"}, {"command", line}, {"timeout", e.timeout * unit}}, more...)
	})
}
