// This file lists the clients, with the paths and formats of their files. Setup of the first six
// clients was tested by running them. Setup of all other clients follows their documentation.

package setup

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

var allClients = []*Client{
	{Name: "claude", Title: "Claude Code", Program: "claude", IsTested: true, MemoryName: "auto memory",
		configFiles: claudeFiles, events: claudeEvents,
		memoryDir:        func(w Machine) string { return w.pathInClientDir("claude", "") },
		pathsIfInstalled: func(w Machine) []string { return []string{w.pathInClientDir("claude", "")} }},
	{Name: "codex", Title: "Codex", Program: "codex", IsTested: true, configFiles: codexFiles, events: codexEvents,
		pathsIfInstalled: func(w Machine) []string { return []string{w.pathInClientDir("codex", "")} }},
	{
		Name:             "gemini",
		Title:            "Gemini CLI",
		Program:          "gemini",
		IsTested:         true,
		configFiles:      geminiFiles,
		events:           geminiEvents,
		pathsIfInstalled: func(w Machine) []string { return []string{w.pathInClientDir("gemini", "settings.json")} },
	},
	{Name: "opencode", Title: "opencode", Program: "opencode", IsTested: true, configFiles: opencodeFiles,
		pathsIfInstalled: func(w Machine) []string {
			return []string{w.pathFromVariable("XDG_CONFIG_HOME", ".config",
				"opencode")}
		}},
	{Name: "copilot", Title: "Copilot CLI", Program: "copilot", IsTested: true,
		configFiles: copilotFiles, events: copilotEvents,
		adviceAfterSetup: copilotAdvice,
		pathsIfInstalled: func(w Machine) []string { return []string{w.pathInClientDir("copilot", "")} }},
	{Name: "qwen", Title: "Qwen Code", Program: "qwen", IsTested: true, MemoryName: "managed auto memory",
		configFiles: qwenFiles, events: qwenEvents,
		memoryDir:        func(w Machine) string { return w.pathInClientDir("qwen", "") },
		pathsIfInstalled: func(w Machine) []string { return []string{w.pathInClientDir("qwen", "")} }},
	{Name: "cursor", Title: "Cursor", Program: "cursor-agent", configFiles: cursorFiles, events: cursorEvents,
		pathsIfInstalled: func(w Machine) []string { return []string{w.pathInUserDir(".cursor")} }},
	newMCPOnlyClient("vscode", "VS Code", []string{"servers"}, fields{{"type", "stdio"}}, nil,
		func(w Machine) string { return w.pathInConfigDir("Code/User/mcp.json") }, ".vscode/mcp.json"),
	newMCPOnlyClient("windsurf", "Windsurf", []string{"mcpServers"}, nil, nil,
		func(w Machine) string { return w.pathInUserDir(".codeium/windsurf/mcp_config.json") }, ""),
	newMCPOnlyClient("zed", "Zed", []string{"context_servers"}, fields{{"source", "custom"}}, func(Options) fields {
		return fields{{"env", fields{}}}
	},
		func(w Machine) string {
			if w.GOOS == "windows" {
				return w.pathInConfigDir("Zed/settings.json")
			}
			return w.pathFromVariable("XDG_CONFIG_HOME", ".config", "zed/settings.json")
		}, ".zed/settings.json"),
	clineClient(),
	{
		Name:             "goose",
		Title:            "Goose",
		Program:          "goose",
		configFiles:      gooseFiles,
		events:           gooseEvents,
		adviceAfterSetup: gooseAdvice,
		pathsIfInstalled: func(w Machine) []string {
			return []string{w.pathFromVariable("XDG_CONFIG_HOME", ".config",
				"goose")}
		},
	},
	{Name: "kilo", Title: "Kilo Code", Program: "kilo", configFiles: kiloFiles,
		pathsIfInstalled: func(w Machine) []string {
			return []string{filepath.Dir(w.pathInUserDir(".config/kilo/kilo.jsonc"))}
		}},
}

// The events of each client for which setup writes a hook.
var (
	claudeEvents = []hookEvent{
		{"SessionStart", "", hookPurposeInject, 5},
		{"UserPromptSubmit", "", hookPurposeCapture, 5},
		{"PreToolUse", "Edit|Write|MultiEdit|NotebookEdit", hookPurposeInject, 5},
		{"PostToolUse", "", hookPurposeCapture, 5},
		{
			"PostToolUseFailure",
			"",
			hookPurposeCapture,
			5,
		}, {"SubagentStop", "", hookPurposeCapture, 5}, {"PostCompact", "",
			hookPurposeCapture, 5},
		{"Stop", "", hookPurposeCapture, 5}, {"SessionEnd", "", hookPurposeCapture, 10},
	}
	codexEvents = []hookEvent{
		{"SessionStart", "", hookPurposeInject, 5},
		{"UserPromptSubmit", "", hookPurposeCapture, 5},
		{"PreToolUse", "apply_patch", hookPurposeInject, 5},
		{"PostToolUse", "", hookPurposeCapture, 5},
		{
			"PostCompact",
			"",
			hookPurposeCapture,
			5,
		}, {"SubagentStop", "", hookPurposeCapture, 5}, {"Stop", "", hookPurposeCapture, 5},
		{"SessionEnd", "", hookPurposeCapture, 3},
	}
	geminiEvents = []hookEvent{
		{"SessionStart", "", hookPurposeInject, 5},
		{"BeforeAgent", "", hookPurposeCapture, 5},
		{"AfterTool", "*", hookPurposeCapture, 5},
		{"AfterAgent", "", hookPurposeCapture, 5},
		{"SessionEnd", "", hookPurposeCapture, 5},
	}
	copilotEvents = []hookEvent{
		{"SessionStart", "", hookPurposeInject, 5},
		{"UserPromptSubmit", "", hookPurposeCapture, 5},
		{"PreToolUse", "", hookPurposeInject, 5},
		{"PostToolUse", "", hookPurposeCapture, 5},
		{"PostToolUseFailure", "", hookPurposeCapture, 5},
		{"Stop", "", hookPurposeCapture, 5},
		{"SessionEnd", "", hookPurposeCapture, 5},
	}
	cursorEvents = []hookEvent{
		{"sessionStart", "", hookPurposeInject, 5},
		{"beforeSubmitPrompt", "", hookPurposeCapture, 5},
		{"postToolUse", "", hookPurposeCapture, 5},
		{"postToolUseFailure", "", hookPurposeCapture, 5},
		{"afterAgentResponse", "", hookPurposeCapture, 5},
		{"subagentStop", "", hookPurposeCapture, 5},
		{"stop", "", hookPurposeCapture, 5},
		{"sessionEnd", "", hookPurposeCapture, 5},
	}
	clineEvents = []hookEvent{
		{"TaskStart", "", hookPurposeInject, 5},
		{"TaskResume", "", hookPurposeInject, 5},
		{"UserPromptSubmit", "", hookPurposeCapture, 5},
		{"PostToolUse", "", hookPurposeCapture, 5},
		{"TaskComplete", "", hookPurposeCapture, 5},
		{"TaskCancel", "", hookPurposeCapture, 5},
	}
	gooseEvents = []hookEvent{
		{"SessionStart", "", hookPurposeCapture, 5},
		{"UserPromptSubmit", "", hookPurposeCapture, 5},
		{"PostToolUse", "", hookPurposeCapture, 5},
		{"PostToolUseFailure", "", hookPurposeCapture, 5},
		{"Stop", "", hookPurposeCapture, 5},
		{"SessionEnd", "", hookPurposeCapture, 5},
	}
	qwenEvents = []hookEvent{
		{"SessionStart", "", hookPurposeInject, 5},
		{"UserPromptSubmit", "", hookPurposeCapture, 5},
		{"PostToolUse", "", hookPurposeCapture, 5},
		{"PostToolUseFailure", "", hookPurposeCapture, 5},
		{
			"PostCompact",
			"",
			hookPurposeCapture,
			5,
		}, {"SubagentStop", "", hookPurposeCapture, 5}, {"Stop", "", hookPurposeCapture, 5},
		{"SessionEnd", "", hookPurposeCapture, 5},
	}
)

// Clients returns all clients that oxbow can set up.
func Clients() []*Client { return allClients }

// FindClient returns the client with this name or title, ignoring case. It returns nil if the client does not exist.
func FindClient(name string) *Client {
	title := strings.ReplaceAll(name, "-", " ") // title of a name such as claude-code
	for _, c := range allClients {
		if strings.EqualFold(c.Name, name) || strings.EqualFold(c.Title, title) {
			return c
		}
	}
	return nil
}

// firstExistingPath returns the first path at which a file exists, or the last path if no file exists.
func firstExistingPath(paths ...string) string {
	for _, p := range paths {
		if fileExists(p) {
			return p
		}
	}
	return paths[len(paths)-1]
}

// newMCPOnlyClient returns a client for which setup writes only the MCP server, into a single JSON file. The file is at
// userPath, or at projectPath relative to the project. If projectPath is "", the client cannot be set up for a project.
// The argument path contains the names of the members that lead to the file's object with the servers. In the server's
// entry, firstFields are before the command, and lastFields (which may be nil) are after it.
func newMCPOnlyClient(
	name, title string,
	path []string,
	firstFields fields,
	lastFields func(Options) fields,
	userPath func(Machine) string,
	projectPath string,
) *Client {
	return &Client{Name: name, Title: title, configFiles: func(w Machine, o Options) []clientFile {
		if o.ForProject && projectPath == "" {
			return nil
		}
		var more fields
		if lastFields != nil {
			more = lastFields(o)
		}
		f := clientFile{path: w.userOrProjectPath(o, userPath(w), projectPath), serversPath: path}
		f.additions, f.removals = o.oxbowServerParts(path, firstFields, more...)
		return []clientFile{f}
	}, pathsIfInstalled: func(w Machine) []string { return []string{filepath.Dir(userPath(w))} }}
}

// addAdditionsAndRemovals appends toAdd to f.additions, the parts that setup adds to the file. It also appends toRemove
// to f.removals, the parts that setup removes from the file.
func (f *clientFile) addAdditionsAndRemovals(toAdd, toRemove []jsonPart) {
	f.additions, f.removals = append(f.additions, toAdd...), append(f.removals, toRemove...)
}

func claudeFiles(w Machine, o Options) []clientFile {
	mcp := clientFile{
		path:        w.userOrProjectPath(o, w.pathFromVariable("CLAUDE_CONFIG_DIR", "", ".claude.json"), ".mcp.json"),
		serversPath: []string{"mcpServers"},
	}
	mcp.addAdditionsAndRemovals(
		o.oxbowServerParts(mcp.serversPath, fields{{"type", "stdio"}}, field{"alwaysLoad", true}),
	)
	settings := clientFile{path: w.userOrProjectPath(o, w.pathInClientDir("claude", "settings.json"),
		".claude/settings.local.json")}
	settings.addAdditionsAndRemovals(o.allowedToolParts("permissions", "allow"))
	settings.addAdditionsAndRemovals(
		[]jsonPart{hooksPart(o.knownOxbowPrograms, "claude", o.requiredHooks(claudeEvents, func(e hookEvent) fields {
			argv := o.oxbowArgv("hook", "claude")
			return fields{{"type", "command"}, {"command", argv[0]}, {"args", argv[1:]}, {"timeout", e.timeoutSeconds}}
		}))},
		nil,
	)
	settings.switchMemoryOffPart = settingValuePart(false, "autoMemoryEnabled")
	return []clientFile{mcp, settings}
}

func geminiFiles(w Machine, o Options) []clientFile {
	f := clientFile{
		path:        w.userOrProjectPath(o, w.pathInClientDir("gemini", "settings.json"), ".gemini/settings.json"),
		serversPath: []string{"mcpServers"},
	}
	f.addAdditionsAndRemovals(o.oxbowServerParts(f.serversPath, nil))
	f.addAdditionsAndRemovals(
		[]jsonPart{hooksPart(
			o.knownOxbowPrograms,
			"gemini",
			o.hooksWithShellCommand(
				w,
				"gemini",
				geminiEvents,
				shellKindPowerShell,
				1000,
				field{"name", programName},
			),
		)},
		nil,
	)
	policy := clientFile{path: w.pathInClientDir("gemini", "policies/oxbow.toml"), isOwnedByOxbow: true}
	if !o.NoMCP {
		// The names get the prefix "mcp_oxbow_", by which Gemini CLI recognizes the tools of an MCP server. It
		// compares other names with its own tools' names, and warns at every start about a similar name.
		var names []string
		for _, t := range o.AllowedTools {
			names = append(names, "mcp_"+programName+"_"+t)
		}
		policy.content = "# Written by oxbow setup: these tools of its server run unasked.\n[[rule]]\ntoolName = " +
			tomlValue(names) +
			"\ndecision = \"allow\"\npriority = 100\n"
	}
	return []clientFile{f, policy}
}

func qwenFiles(w Machine, o Options) []clientFile {
	f := clientFile{
		path:        w.userOrProjectPath(o, w.pathInClientDir("qwen", "settings.json"), ".qwen/settings.json"),
		serversPath: []string{"mcpServers"},
	}
	f.addAdditionsAndRemovals(o.oxbowServerParts(f.serversPath, nil))
	f.addAdditionsAndRemovals(o.allowedToolParts("permissions", "allow"))
	var more []field
	if w.GOOS == "windows" {
		more = []field{{"shell", "powershell"}}
	}
	hooks := o.hooksWithShellCommand(w, "qwen", qwenEvents, shellKindPowerShell, 1000, more...)
	f.addAdditionsAndRemovals([]jsonPart{hooksPart(o.knownOxbowPrograms, "qwen", hooks)}, nil)
	f.switchMemoryOffPart = settingValuePart(false, "memory", "enableManagedAutoMemory")
	return []clientFile{f}
}

func copilotFiles(w Machine, o Options) []clientFile {
	mcp := clientFile{path: w.pathInClientDir("copilot", "mcp-config.json"), serversPath: []string{"mcpServers"}}
	mcp.addAdditionsAndRemovals(
		o.oxbowServerParts(mcp.serversPath, fields{{"type", "local"}}, field{"tools", []string{"*"}}),
	)
	hooks := clientFile{path: w.userOrProjectPath(o, w.pathInClientDir("copilot", "hooks/oxbow.json"),
		".github/hooks/oxbow.json"), isOwnedByOxbow: true}
	line := "bash"
	if w.GOOS == "windows" {
		line = "powershell"
	}
	command := commandLine(
		choose(w.GOOS == "windows", shellKindPowerShell, shellKindPOSIX),
		o.oxbowArgv("hook", "copilot"),
	)
	want := o.requiredHooks(copilotEvents, func(e hookEvent) fields {
		return fields{
			{"type", "command"},
			{choose(line == "bash", "command", line), command},
			{"timeout", e.timeoutSeconds},
		}
	})
	if len(want) > 0 {
		all := fields{}
		for _, h := range want {
			all = append(all, field{h.event, []fields{h.handler}})
		}
		hooks.content = indentedJSON(fields{{"version", 1}, {"hooks", all}})
	}
	if o.ForProject {
		return []clientFile{hooks}
	}
	return []clientFile{mcp, hooks}
}

func opencodeFiles(w Machine, o Options) []clientFile {
	dir := w.userOrProjectPath(o, w.pathFromVariable("XDG_CONFIG_HOME", ".config", "opencode"), "")
	f := clientFile{
		path:        firstExistingPath(filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json")),
		serversPath: []string{"mcp"},
	}
	f.addAdditionsAndRemovals(
		o.clientServerParts(f.serversPath, fields{{"type", "local"}, {"command", o.oxbowArgv("mcp")}, {"enabled",
			true}}),
	)
	plugin := clientFile{
		path:           filepath.Join(w.userOrProjectPath(o, dir, ".opencode"), "plugins", "oxbow.js"),
		isOwnedByOxbow: true,
	}
	if o.PluginSource != nil && !(o.NoInject && o.NoCapture) {
		plugin.content = o.PluginSource(o.oxbowArgv("hook", "opencode"))
	}
	return []clientFile{f, plugin}
}

func kiloFiles(w Machine, o Options) []clientFile {
	dir := w.userOrProjectPath(o, w.pathInUserDir(".config/kilo"), ".kilo")
	f := clientFile{
		path:        firstExistingPath(filepath.Join(dir, "kilo.json"), filepath.Join(dir, "kilo.jsonc")),
		serversPath: []string{"mcp"},
	}
	f.addAdditionsAndRemovals(
		o.clientServerParts(f.serversPath, fields{{"type", "local"}, {"command", o.oxbowArgv("mcp")}, {"enabled",
			true}}),
	)
	return []clientFile{f}
}

// cursorFiles returns the files in which Cursor is configured. For each event, Cursor's file has a plain list of
// hooks. Files of other clients group the hooks by a pattern for tool names.
func cursorFiles(w Machine, o Options) []clientFile {
	mcp := clientFile{path: w.userOrProjectPath(o, w.pathInUserDir(".cursor/mcp.json"), ".cursor/mcp.json"),
		serversPath: []string{"mcpServers"}}
	mcp.addAdditionsAndRemovals(o.oxbowServerParts(mcp.serversPath, nil))
	hooks := clientFile{path: w.userOrProjectPath(o, w.pathInUserDir(".cursor/hooks.json"), ".cursor/hooks.json")}
	line := commandLine(choose(w.GOOS == "windows", shellKindCmd, shellKindPOSIX), o.oxbowArgv("hook", "cursor"))
	want := o.requiredHooks(cursorEvents, func(e hookEvent) fields {
		return fields{{"command", line}, {"timeout", e.timeoutSeconds}}
	})
	for i := range want {
		want[i].hasNoHandlerGroups = true
	}
	if len(want) > 0 {
		hooks.addAdditionsAndRemovals([]jsonPart{*settingValuePart(1, "version")}, nil)
	}
	hooks.addAdditionsAndRemovals([]jsonPart{hooksPart(o.knownOxbowPrograms, "cursor", want)}, nil)
	return []clientFile{mcp, hooks}
}

// clineClient returns the client Cline. Each hook of Cline is a program that is named after the event and is in a
// certain directory.
func clineClient() *Client {
	settings := func(w Machine) string {
		if p := w.pathInUserDir(".cline/data/settings/cline_mcp_settings.json"); fileExists(p) {
			return p
		}
		return w.pathInConfigDir("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
	}
	c := newMCPOnlyClient("cline", "Cline", []string{"mcpServers"}, nil, func(o Options) fields {
		return fields{{"disabled", false}, {"autoApprove", o.AllowedTools}}
	}, settings, "")
	server := c.configFiles
	c.events = clineEvents
	c.adviceAfterSetup = clineAdvice
	c.configFiles = func(w Machine, o Options) []clientFile { return append(server(w, o), clineHookFiles(w, o)...) }
	return c
}

// clineHookFiles returns the hook files of Cline, which are the programs that Cline runs at its events. A hook prints
// oxbow's answer. If this answer is empty, the hook prints an answer that lets Cline continue, because Cline expects an
// answer. The file for an event has content only if the options need a hook for this event. Otherwise setup removes the
// file.
func clineHookFiles(w Machine, o Options) []clientFile {
	if w.GOOS == "windows" {
		return nil // On Windows, Cline runs no hooks.
	}
	line := commandLine(shellKindPOSIX, o.oxbowArgv("hook", "cline"))
	dir := w.userOrProjectPath(o, w.pathInUserDir("Documents/Cline/Hooks"), ".clinerules/hooks")
	var files []clientFile
	want := o.requiredHooks(clineEvents, func(hookEvent) fields { return nil })
	for _, e := range clineEvents {
		f := clientFile{path: filepath.Join(dir, e.name), isOwnedByOxbow: true, isOxbowExecutable: true}
		if slices.ContainsFunc(want, func(h hookEntry) bool { return h.event == e.name }) {
			f.content = clineHookStart + line + clineHookEnd
		}
		files = append(files, f)
	}
	return files
}

func clineAdvice(w Machine, o Options) []string {
	if w.GOOS == "windows" || (o.NoInject && o.NoCapture) {
		return nil
	}
	return []string{"Cline runs hooks only if the setting \"Enable Hooks\" is on"}
}

// gooseVersion is the version of the plug-in that contains Goose's hooks.
const gooseVersion = "0.1.0"

// gooseFiles returns the plug-in that contains Goose's hooks. Goose registers MCP servers in a YAML file, which setup
// does not change.
func gooseFiles(w Machine, o Options) []clientFile {
	dir := w.userOrProjectPath(o, w.pathInUserDir(".agents/plugins/oxbow"), ".agents/plugins/oxbow")
	manifest := clientFile{path: filepath.Join(dir, "plugin.json"), isOwnedByOxbow: true}
	hooks := clientFile{path: filepath.Join(dir, "hooks", "hooks.json"), isOwnedByOxbow: true}
	want := o.hooksWithShellCommand(w, "goose", gooseEvents, shellKindPOSIX, 1)
	if len(want) > 0 {
		manifest.content = indentedJSON(fields{{"name", programName}, {"version", gooseVersion},
			{"description", "Reports sessions to oxbow"}})
		all := fields{}
		for _, h := range want {
			all = append(all, field{h.event, []fields{h.hookGroupFields()}})
		}
		hooks.content = indentedJSON(fields{{"hooks", all}})
	}
	return []clientFile{manifest, hooks}
}

func gooseAdvice(_ Machine, o Options) []string {
	if o.NoMCP {
		return nil
	}
	return []string{"setup does not change config.yaml of Goose: add the server with goose configure, as a command " +
		"with the line " + commandLine(shellKindPOSIX, o.oxbowArgv("mcp"))}
}

func copilotAdvice(_ Machine, o Options) []string {
	if o.NoMCP {
		return nil
	}
	return []string{
		"Copilot CLI keeps no list of tools that run unasked: start it with --allow-tool=oxbow, or approve them when " +
			"it asks",
	}
}

func codexFiles(w Machine, o Options) []clientFile {
	dir := w.userOrProjectPath(o, w.pathInClientDir("codex", ""), ".codex")
	hooks := clientFile{path: filepath.Join(dir, "hooks.json")}
	want := o.hooksWithShellCommand(w, "codex", codexEvents, shellKindCmd, 1)
	for i, h := range want {
		if h.event == "SessionStart" {
			want[i].handler = append(h.handler, field{"additionalContextLimit", 20000})
		}
	}
	hooks.addAdditionsAndRemovals([]jsonPart{hooksPart(o.knownOxbowPrograms, "codex", want)}, nil)
	config := clientFile{path: filepath.Join(dir, "config.toml"), serversPath: []string{"mcp_servers"}}
	config.editTOML = func(t, base *tomlDocument, put bool) error {
		if !put || o.NoMCP {
			return removeServer(o.knownOxbowPrograms, t, base)
		}
		argv := o.oxbowArgv("mcp")
		return putServer(
			o.knownOxbowPrograms,
			t,
			base,
			fields{{"command", argv[0]}, {"args", argv[1:]}, {"startup_timeout_sec", 20}},
		)
	}
	return []clientFile{hooks, config}
}

// hasTrustedHooks reports whether Codex trusts all of oxbow's hooks in its hook file. If a file of Codex cannot be
// read, it returns true, because the inspection reports the unreadable file separately.
func hasTrustedHooks(w Machine, o Options) bool {
	files := codexFiles(w, o)
	hooks, err := resolveLink(files[0].path)
	text, herr := readFile(hooks)
	config, cerr := readFile(files[1].path)
	_, config = splitBOM(config)
	t, terr := parseTOML(config)
	if errors.Join(err, herr, cerr, terr) != nil {
		return true // Do not report missing trust, because the error in the file is reported elsewhere.
	}
	for key, hash := range codexHookHashes(w.knownOxbowPrograms(o), hooks, text) {
		if t.valueAt("hooks", "state", key, "trusted_hash") != hash {
			return false
		}
	}
	return true
}

// readTOMLServer returns oxbow's server in the configuration of Codex. exists is false if the server is missing.
func readTOMLServer(t *tomlDocument) (s Server, exists bool) {
	m, exists := t.valueAt("mcp_servers", programName).(map[string]any)
	s.Command, _ = m["command"].(string)
	args, _ := m["args"].([]any)
	for _, a := range args {
		word, _ := a.(string)
		s.Args = append(s.Args, word)
	}
	return s, exists
}

// putServer writes the table of oxbow's server into Codex's configuration. If the configuration already contains the
// table, and the table starts the server for the same memory directory, the arguments in the table are kept. putServer
// returns an error if the table belongs to another program.
//
// Earlier versions of oxbow wrote the key "required" into the table. With this key, Codex does not start if oxbow fails
// to start. Therefore putServer removes the key, unless the user wrote it.
func putServer(knownPrograms oxbowPrograms, t, docWithoutOxbow *tomlDocument, serverFields fields) error {
	if current, ok := readTOMLServer(t); ok {
		if !knownPrograms.isServerEntry(current) {
			return foreignServerError("mcp_servers." + programName)
		}
		serverFields = keepCurrentServerArgs(current, serverFields)
		if docWithoutOxbow.valueAt("mcp_servers", programName, "required") == nil &&
			t.valueAt("mcp_servers", programName,
				"required") != nil {
			if err := t.removeTable("mcp_servers", programName, "required"); err != nil {
				return err
			}
		}
	}
	return t.setFields(serverFields, "mcp_servers", programName)
}

// removeServer removes the table of oxbow's server from t, the configuration of Codex. It keeps a table that a person
// wrote. Such a table starts a program other than oxbow, or names its program without an absolute path.
//
// The document docWithoutOxbow contains the configuration from before oxbow was set up. If it also has the table,
// removeServer does not delete the table in t. Instead, it restores the earlier command and arguments, and deletes the
// fields that setup added.
func removeServer(knownPrograms oxbowPrograms, t, docWithoutOxbow *tomlDocument) error {
	current, ok := readTOMLServer(t)
	if !ok || !knownPrograms.isServerEntry(current) {
		return nil
	}
	if !filepath.IsAbs(current.Argv()[0]) {
		return nil
	}
	if original, ok := docWithoutOxbow.valueAt("mcp_servers", programName).(map[string]any); ok {
		for _, name := range []string{"required", "startup_timeout_sec"} {
			if _, ok := original[name]; !ok {
				if err := t.removeTable("mcp_servers", programName, name); err != nil {
					return err
				}
			}
		}
		before, _ := readTOMLServer(docWithoutOxbow)
		return t.setFields(fields{{"command", before.Command}, {"args", slices.Clone(before.Args)}}, "mcp_servers",
			programName)
	}
	return t.removeTable("mcp_servers", programName)
}
