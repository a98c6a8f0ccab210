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
	Home       string   // home that the server and the hooks use, or "" if the configuration names no home
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

	ownPrograms ownPrograms // programs that are oxbow; set by [Client.desiredFiles]
}

// Client is a program for which oxbow can be set up.
type Client struct {
	Name, Title string
	Program     string // name of the executable in PATH ("" if the client has none)
	Proved      bool   // setup was tested by running the client; setup of other clients follows their documentation
	Memory      string // name of the client's own memory ("" if it has none)

	filesFor func(w Machine, o Options) []clientFile
	events   []hookEvent // events that run hooks (nil if setup does not write hooks)

	// memoryDir returns the directory in which the client keeps its own memory, or nil if the client
	// has no memory of its own.
	memoryDir    func(w Machine) string
	installSigns func(w Machine) []string // paths that exist if the client is installed
	adviceFor    func(w Machine, o Options) []string
}

// clientFile describes a client's file, and the parts that setup writes.
type clientFile struct {
	path           string
	serversPath    []string   // path of names to the object with the servers
	additions      []jsonPart // parts of a JSON file that setup adds
	removals       []jsonPart // parts that setup removes, because the options exclude them
	memoryOffItem  *jsonPart  // part that switches the client's own memory off
	editTOML       func(t, base *tomlDocument, put bool) error
	content        string // content of a file that belongs to oxbow ("" for other files, or if the file is removed)
	isOwnedByOxbow bool

	// isProgram is true for an executable file whose name is not oxbow's, so that another program's file may be
	// there.
	isProgram bool
}

// IsInstalled reports whether the client appears to be installed.
func (c *Client) IsInstalled(w Machine) bool {
	return c.IsOnPath(w) || slices.ContainsFunc(c.installSigns(w), fileExists)
}

// IsOnPath reports whether the client's program is in a directory of PATH.
func (c *Client) IsOnPath(w Machine) bool {
	if c.Program == "" {
		return false
	}
	for _, dir := range filepath.SplitList(w.Getenv("PATH")) {
		for _, ext := range chooseIf(w.GOOS == "windows", []string{".exe", ".cmd"}, []string{""}) {
			if fi, err := os.Stat(filepath.Join(dir, c.Program+ext)); err == nil && !fi.IsDir() {
				return true
			}
		}
	}
	return false
}

// scopedPath returns user, or project if o.Project is set.
func (w Machine) scopedPath(o Options, user, project string) string {
	if o.Project {
		return filepath.Join(w.Dir, filepath.FromSlash(project))
	}
	return user
}

// oxbowArgv returns the command line that starts oxbow.
func (o Options) oxbowArgv(words ...string) []string {
	argv := []string{o.Executable}
	if o.Home != "" {
		argv = append(argv, "--home", o.Home)
	}
	return append(argv, words...)
}

// serverItems returns the part of a JSON file for the server. The command and its arguments are separate
// members.
func (o Options) serverItems(path []string, before fields, after ...field) (put, off []jsonPart) {
	argv := o.oxbowArgv("mcp")
	return o.clientServerItems(path, slices.Concat(before, fields{{"command", argv[0]}, {"args", argv[1:]}}, after))
}

func (o Options) clientServerItems(path []string, want fields) (put, off []jsonPart) {
	return itemsToPutOrRemove(!o.NoMCP, serverItem(o.ownPrograms, path, want))
}

// itemsToPutOrRemove returns the item in the first list if put is set, and otherwise in the second
// list.
func itemsToPutOrRemove(put bool, i jsonPart) ([]jsonPart, []jsonPart) {
	if put {
		return []jsonPart{i}, nil
	}
	return nil, []jsonPart{i}
}

// allowItems returns the item that lets tools run without asking the person.
func (o Options) allowItems(path ...string) (put, off []jsonPart) {
	const prefix = "mcp__" + programName + "__"
	var words []string
	for _, t := range o.Allow {
		words = append(words, prefix+t)
	}
	return itemsToPutOrRemove(!o.NoMCP, stringsItem(prefix, words, path...))
}

// Purposes of hooks.
const (
	captureUse = 1 << iota
	injectUse
)

// hookEvent is an event of a client that runs hooks.
type hookEvent struct {
	name, matcher string
	purpose       int
	timeout       int // seconds
}

// requiredHooks returns the hooks that the options require.
func (o Options) requiredHooks(events []hookEvent, handler func(e hookEvent) fields) (want []hookEntry) {
	for _, e := range events {
		if o.excludesUse(e.purpose) {
			continue
		}
		want = append(want, hookEntry{event: e.name, matcher: e.matcher, handler: handler(e)})
	}
	return want
}

// excludesUse reports whether the options switch a use of hooks off.
func (o Options) excludesUse(use int) bool {
	switch use {
	case injectUse:
		return o.NoInject
	case captureUse:
		return o.NoCapture
	}
	return false
}

// shellHooks returns hooks whose command is a line for a shell. unit is the number of time units per
// second in the client's timeouts.
func (o Options) shellHooks(
	w Machine,
	client string,
	events []hookEvent,
	windows shellKind,
	unit int,
	more ...field,
) []hookEntry {
	line := commandLine(chooseIf(w.GOOS == "windows", windows, posixShell), o.oxbowArgv("hook", client))
	if client == "gemini" && w.GOOS != "windows" {
		line += exitOneSuffix
	}
	return o.requiredHooks(events, func(e hookEvent) fields {
		return append(fields{{"type", "command"}, {"command", line}, {"timeout", e.timeout * unit}}, more...)
	})
}
