// This file describes a client: its files, and the parts that setup writes into these files.

package setup

import (
	"os"
	"path/filepath"
	"slices"
)

// Options say how a client is to be set up.
type Options struct {
	Executable string // absolute path of the oxbow program
	// directory of the memory for the server and the hooks ("" means that the configuration names none)
	Home            string
	ForProject      bool     // set up the client only for the current project, in the project's files
	NoMCP           bool     // do not set up the MCP server
	NoInject        bool     // do not set up hooks that add memory to the context
	NoCapture       bool     // do not set up hooks that only record the session
	SwitchMemoryOff bool     // switch the client's own memory off
	TrustCodexHooks bool     // for Codex: mark the hooks as trusted, so that Codex runs them
	AllowedTools    []string // tools that the client may call without asking the person

	// PluginSource returns the JavaScript source of the plug-in for opencode, which runs the command argv for each
	// event. If PluginSource is nil, setup does not write the plug-in.
	PluginSource func(argv []string) string

	knownOxbowPrograms oxbowPrograms // programs that count as oxbow; set by [Client.desiredFiles]
}

// Client is a program with an agent, such as Claude Code, that oxbow can be set up for.
type Client struct {
	Name, Title string
	Program     string // name of the client's executable in PATH ("" if the client lacks an executable)
	// Setup was tested by running the client. If this is false, setup was only written after the client's
	// documentation.
	IsTested   bool
	MemoryName string // name of the client's own memory ("" if the client lacks a memory)

	configFiles func(w Machine, o Options) []clientFile
	events      []hookEvent // events for which setup writes hooks (nil if it writes none)

	// memoryDir returns the directory in which the client keeps its own memory. It is nil if the client lacks a
	// memory.
	memoryDir        func(w Machine) string
	pathsIfInstalled func(w Machine) []string // paths of which one exists if the client is installed
	adviceAfterSetup func(w Machine, o Options) []string
}

// clientFile describes a file of a client, and what setup changes in it.
type clientFile struct {
	path        string
	serversPath []string   // names of the nested members in a JSON file that lead to the object with the servers
	additions   []jsonPart // parts of a JSON file that setup adds
	// parts of a JSON file that setup removes, because the options exclude them (for example NoMCP)
	removals            []jsonPart
	switchMemoryOffPart *jsonPart // part of a JSON file that switches the client's own memory off
	editTOML            func(t, base *tomlDocument, put bool) error
	// new content of a file that belongs to oxbow ("" if the file is to be removed or does not belong to oxbow)
	content        string
	isOwnedByOxbow bool

	// isOxbowExecutable is true for an executable file that belongs to oxbow but whose name the client prescribes.
	// Another program's file may have the same path.
	isOxbowExecutable bool
}

// IsInstalled reports whether the client seems to be installed.
func (c *Client) IsInstalled(w Machine) bool {
	return c.IsProgramOnPath(w) || slices.ContainsFunc(c.pathsIfInstalled(w), fileExists)
}

// IsProgramOnPath reports whether the client's program is in a directory of PATH.
func (c *Client) IsProgramOnPath(w Machine) bool {
	if c.Program == "" {
		return false
	}
	for _, dir := range filepath.SplitList(w.Getenv("PATH")) {
		for _, ext := range choose(w.GOOS == "windows", []string{".exe", ".cmd"}, []string{""}) {
			if fi, err := os.Stat(filepath.Join(dir, c.Program+ext)); err == nil && !fi.IsDir() {
				return true
			}
		}
	}
	return false
}

// userOrProjectPath returns the path of a file for the user or for the project. If o.ForProject is set, it returns the
// argument projectPath, which is relative to w.ProjectDir, as an absolute path. Otherwise it returns the argument
// userPath.
func (w Machine) userOrProjectPath(o Options, userPath, projectPath string) string {
	if o.ForProject {
		return filepath.Join(w.ProjectDir, filepath.FromSlash(projectPath))
	}
	return userPath
}

// oxbowArgv returns the command that runs oxbow with these arguments, as separate words.
func (o Options) oxbowArgv(words ...string) []string {
	argv := []string{o.Executable}
	if o.Home != "" {
		argv = append(argv, "--home", o.Home)
	}
	return append(argv, words...)
}

// oxbowServerParts returns the part of a client's JSON file that makes the client start oxbow's server. If o.NoMCP is
// set, the part is in toRemove, because setup removes it from the file. Otherwise it is in toAdd, because setup adds
// it. The other result is nil.
//
// The argument path contains the names of the members that lead to the file's object with the servers. The part
// consists of firstFields, the fields command and args, and lastFields, in this order.
func (o Options) oxbowServerParts(
	path []string,
	firstFields fields,
	lastFields ...field,
) (toAdd, toRemove []jsonPart) {
	argv := o.oxbowArgv("mcp")
	return o.clientServerParts(
		path,
		slices.Concat(firstFields, fields{{"command", argv[0]}, {"args", argv[1:]}}, lastFields),
	)
}

func (o Options) clientServerParts(path []string, serverFields fields) (toAdd, toRemove []jsonPart) {
	return partsToAddAndRemove(!o.NoMCP, serverPart(o.knownOxbowPrograms, path, serverFields))
}

// partsToAddAndRemove returns two lists: parts that setup adds to a file, and parts that it removes. The parameter part
// is in the first list if shouldAdd is true, and otherwise in the second.
func partsToAddAndRemove(shouldAdd bool, part jsonPart) ([]jsonPart, []jsonPart) {
	if shouldAdd {
		return []jsonPart{part}, nil
	}
	return nil, []jsonPart{part}
}

// allowedToolParts returns the part of a JSON file that lets the client call the tools o.AllowedTools of oxbow without
// asking the person. The argument path leads to the file's list of such tools. If o.NoMCP is set, the part is in
// toRemove, because setup removes it from the file. Otherwise it is in toAdd, because setup adds it. The other result
// is nil.
func (o Options) allowedToolParts(path ...string) (toAdd, toRemove []jsonPart) {
	const prefix = "mcp__" + programName + "__"
	var words []string
	for _, t := range o.AllowedTools {
		words = append(words, prefix+t)
	}
	return partsToAddAndRemove(!o.NoMCP, listWordsPart(prefix, words, path...))
}

// Purposes of a hook. The values can be combined.
const (
	hookPurposeCapture = 1 << iota
	hookPurposeInject
)

// hookEvent is an event for which setup writes a hook.
type hookEvent struct {
	name, matcher  string
	purpose        int
	timeoutSeconds int // in seconds
}

// requiredHooks returns a hook for each of the events, except for events whose purpose the options exclude (see
// [Options.excludesHookPurpose]). The function handler returns the JSON fields of the hook for an event.
func (o Options) requiredHooks(events []hookEvent, handler func(e hookEvent) fields) (hookEntries []hookEntry) {
	for _, e := range events {
		if o.excludesHookPurpose(e.purpose) {
			continue
		}
		hookEntries = append(hookEntries, hookEntry{event: e.name, matcher: e.matcher, handler: handler(e)})
	}
	return hookEntries
}

// excludesHookPurpose reports whether the options say that setup writes no hooks for a purpose, such as
// hookPurposeInject.
func (o Options) excludesHookPurpose(purpose int) bool {
	switch purpose {
	case hookPurposeInject:
		return o.NoInject
	case hookPurposeCapture:
		return o.NoCapture
	}
	return false
}

// hooksWithShellCommand returns a hook of oxbow for each of the events that the options do not exclude. The command of
// a hook is a single line for a shell. On Windows, this is the shell windowsShell, and elsewhere a POSIX shell.
// timeoutUnitsPerSecond is 1 if the client's timeouts are in seconds, and 1000 if they are in milliseconds. The fields
// in extraFields are added to each hook.
func (o Options) hooksWithShellCommand(
	w Machine,
	client string,
	events []hookEvent,
	windowsShell shellKind,
	timeoutUnitsPerSecond int,
	extraFields ...field,
) []hookEntry {
	line := commandLine(choose(w.GOOS == "windows", windowsShell, shellKindPOSIX), o.oxbowArgv("hook", client))
	if client == "gemini" && w.GOOS != "windows" {
		line += failOnErrorSuffix
	}
	return o.requiredHooks(events, func(e hookEvent) fields {
		return append(
			fields{{"type", "command"}, {"command", line}, {"timeout", e.timeoutSeconds * timeoutUnitsPerSecond}},
			extraFields...)
	})
}
