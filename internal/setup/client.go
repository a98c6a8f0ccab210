// This file describes clients: their files, and the parts of the files that setup writes.

package setup

import (
	"os"
	"path/filepath"
	"slices"
)

// Options configure the setup of a client.
type Options struct {
	Executable string   // absolute path of oxbow
	Home       string   // home that the server and the hooks use; "" if they find it themselves
	Project    bool     // change the project's files instead of the user's
	NoMCP      bool     // do not set up the server
	NoInject   bool     // do not set up hooks that add memory to the context
	NoCapture  bool     // do not set up hooks that only record the session
	Off        bool     // switch the client's own memory off
	Trust      bool     // mark the hooks as trusted, for Codex
	Allow      []string // tools that the client runs without asking the person

	// Plugin returns the JavaScript source of opencode's plug-in, which runs a command for each
	// event. If Plugin is nil, setup does not write the plug-in.
	Plugin func(argv []string) string

	own ownPrograms // programs that are oxbow; set by [Client.files]
}

// Client is a program for which oxbow can be set up.
type Client struct {
	Name, Title string
	Program     string // name of the executable in PATH; "" if the client has none
	Proved      bool   // setup was tested by running the client; setup of other clients follows their documentation
	Memory      string // name of the client's own memory; "" if it has none

	filesFor func(w World, o Options) []file
	// memories returns the directory of the client's own memory. It is nil if the client has no
	// memory of its own.
	memories func(w World) string
	signs    func(w World) []string // paths that exist if the client is installed
	notes    func(w World, o Options) []string
}

// file describes a file of a client, and the parts of it that setup writes.
type file struct {
	path     string
	servers  []string // path of names to the object with the servers
	items    []item   // parts of a JSON file that setup adds
	removals []item   // parts that setup removes, because the options exclude them
	memory   *item    // part that switches the client's own memory off
	toml     func(t, base *table, put bool) error
	content  string // content of a file that belongs to oxbow; "" for other files, or if the file is removed
	isOxbows bool
}

// Installed reports whether the client appears to be installed.
func (c *Client) Installed(w World) bool {
	return c.OnPath(w) || slices.ContainsFunc(c.signs(w), exists)
}

// OnPath reports whether the client's program is in a directory of PATH.
func (c *Client) OnPath(w World) bool {
	for _, dir := range filepath.SplitList(w.Getenv("PATH")) {
		for _, ext := range either(w.GOOS == "windows", []string{".exe", ".cmd"}, []string{""}) {
			if fi, err := os.Stat(filepath.Join(dir, c.Program+ext)); c.Program != "" && err == nil && !fi.IsDir() {
				return true
			}
		}
	}
	return false
}

// scoped returns user, or project if o.Project is set.
func (w World) scoped(o Options, user, project string) string {
	if o.Project {
		return filepath.Join(w.Dir, filepath.FromSlash(project))
	}
	return user
}

// argv returns the command line that starts oxbow.
func (o Options) argv(words ...string) []string {
	argv := []string{o.Executable}
	if o.Home != "" {
		argv = append(argv, "--home", o.Home)
	}
	return append(argv, words...)
}

// server returns the part of a JSON file for the server. The command and its arguments are separate
// members.
func (o Options) server(path []string, before fields, after ...field) (put, off []item) {
	argv := o.argv("mcp")
	return o.serverOf(path, slices.Concat(before, fields{{"command", argv[0]}, {"args", argv[1:]}}, after))
}

func (o Options) serverOf(path []string, want fields) (put, off []item) {
	return itemsToPutOrRemove(!o.NoMCP, serverItem(o.own, path, want))
}

// itemsToPutOrRemove returns the item in the first list if put is set, and otherwise in the second
// list.
func itemsToPutOrRemove(put bool, i item) ([]item, []item) {
	if put {
		return []item{i}, nil
	}
	return nil, []item{i}
}

// allow returns the item that lets tools run without asking the person.
func (o Options) allow(path ...string) (put, off []item) {
	const prefix = "mcp__" + program + "__"
	var words []string
	for _, t := range o.Allow {
		words = append(words, prefix+t)
	}
	return itemsToPutOrRemove(!o.NoMCP, stringsItem(prefix, words, path...))
}

// Purposes of hooks.
const (
	capture = 1 << iota
	inject
)

// event is an event of a client that runs hooks.
type event struct {
	name, matcher string
	use           int
	timeout       int // seconds
}

var events = map[string][]event{
	"claude": {
		{"SessionStart", "", inject, 5},
		{"UserPromptSubmit", "", capture, 5},
		{"PreToolUse", "Edit|Write|MultiEdit|NotebookEdit", inject, 5},
		{"PostToolUse", "", capture, 5},
		{"PostToolUseFailure", "", capture, 5}, {"SubagentStop", "", capture, 5}, {"PostCompact", "", capture, 5},
		{"Stop", "", capture, 5}, {"SessionEnd", "", capture, 10},
	},
	"codex": {
		{"SessionStart", "", inject, 5},
		{"UserPromptSubmit", "", capture, 5},
		{"PreToolUse", "apply_patch", inject, 5},
		{"PostToolUse", "", capture, 5},
		{"PostCompact", "", capture, 5}, {"SubagentStop", "", capture, 5}, {"Stop", "", capture, 5},
		{"SessionEnd", "", capture, 3},
	},
	"gemini": {
		{"SessionStart", "", inject, 5},
		{"BeforeAgent", "", capture, 5},
		{"AfterTool", "*", capture, 5},
		{"AfterAgent", "", capture, 5},
		{"SessionEnd", "", capture, 5},
	},
	"copilot": {
		{"SessionStart", "", inject, 5},
		{"UserPromptSubmit", "", capture, 5},
		{"PreToolUse", "", inject, 5},
		{"PostToolUse", "", capture, 5},
		{"PostToolUseFailure", "", capture, 5},
		{"Stop", "", capture, 5},
		{"SessionEnd", "", capture, 5},
	},
	"qwen": {
		{"SessionStart", "", inject, 5},
		{"UserPromptSubmit", "", capture, 5},
		{"PostToolUse", "", capture, 5},
		{"PostToolUseFailure", "", capture, 5},
		{"PostCompact", "", capture, 5}, {"SubagentStop", "", capture, 5}, {"Stop", "", capture, 5},
		{"SessionEnd", "", capture, 5},
	},
}

// hooks returns the hooks that the options require.
func (o Options) hooks(client string, handler func(e event) fields) (want []hook) {
	for _, e := range events[client] {
		if (e.use == inject && o.NoInject) || (e.use == capture && o.NoCapture) {
			continue
		}
		want = append(want, hook{e.name, e.matcher, handler(e)})
	}
	return want
}

// lineHooks returns hooks whose command is a line for a shell. unit is the number of time units per
// second in the client's timeouts.
func (o Options) lineHooks(w World, client string, windows shell, unit int, more ...field) []hook {
	line := commandLine(either(w.GOOS == "windows", windows, posix), o.argv("hook", client))
	return o.hooks(client, func(e event) fields {
		return append(fields{{"type", "command"}, {"command", line}, {"timeout", e.timeout * unit}}, more...)
	})
}
