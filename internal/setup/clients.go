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
	{Name: "claude", Title: "Claude Code", Program: "claude", Proved: true, Memory: "auto memory",
		filesFor: claudeFiles, events: claudeEvents,
		memoryDir:    func(w Machine) string { return w.clientPath("claude", "") },
		installSigns: func(w Machine) []string { return []string{w.clientPath("claude", "")} }},
	{Name: "codex", Title: "Codex", Program: "codex", Proved: true, filesFor: codexFiles, events: codexEvents,
		installSigns: func(w Machine) []string { return []string{w.clientPath("codex", "")} }},
	{Name: "gemini", Title: "Gemini CLI", Program: "gemini", Proved: true, filesFor: geminiFiles, events: geminiEvents,
		installSigns: func(w Machine) []string { return []string{w.clientPath("gemini", "settings.json")} }},
	{Name: "opencode", Title: "opencode", Program: "opencode", Proved: true, filesFor: opencodeFiles,
		installSigns: func(w Machine) []string {
			return []string{w.pathInVariable("XDG_CONFIG_HOME", ".config",
				"opencode")}
		}},
	{Name: "copilot", Title: "Copilot CLI", Program: "copilot", Proved: true,
		filesFor: copilotFiles, events: copilotEvents,
		adviceFor:    copilotNotes,
		installSigns: func(w Machine) []string { return []string{w.clientPath("copilot", "")} }},
	{Name: "qwen", Title: "Qwen Code", Program: "qwen", Proved: true, Memory: "managed auto memory",
		filesFor: qwenFiles, events: qwenEvents,
		memoryDir:    func(w Machine) string { return w.clientPath("qwen", "") },
		installSigns: func(w Machine) []string { return []string{w.clientPath("qwen", "")} }},
	{Name: "cursor", Title: "Cursor", Program: "cursor-agent", filesFor: cursorFiles, events: cursorEvents,
		installSigns: func(w Machine) []string { return []string{w.userPath(".cursor")} }},
	mcpOnlyClient("vscode", "VS Code", []string{"servers"}, fields{{"type", "stdio"}}, nil,
		func(w Machine) string { return w.configPath("Code/User/mcp.json") }, ".vscode/mcp.json"),
	mcpOnlyClient("windsurf", "Windsurf", []string{"mcpServers"}, nil, nil,
		func(w Machine) string { return w.userPath(".codeium/windsurf/mcp_config.json") }, ""),
	mcpOnlyClient("zed", "Zed", []string{"context_servers"}, fields{{"source", "custom"}}, func(Options) fields {
		return fields{{"env", fields{}}}
	},
		func(w Machine) string {
			if w.GOOS == "windows" {
				return w.configPath("Zed/settings.json")
			}
			return w.pathInVariable("XDG_CONFIG_HOME", ".config", "zed/settings.json")
		}, ".zed/settings.json"),
	clineClient(),
	{Name: "goose", Title: "Goose", Program: "goose", filesFor: gooseFiles, events: gooseEvents, adviceFor: gooseNotes,
		installSigns: func(w Machine) []string {
			return []string{w.pathInVariable("XDG_CONFIG_HOME", ".config",
				"goose")}
		}},
	{Name: "kilo", Title: "Kilo Code", Program: "kilo", filesFor: kiloFiles,
		installSigns: func(w Machine) []string {
			return []string{filepath.Dir(w.userPath(".config/kilo/kilo.jsonc"))}
		}},
}

// The events of each client for which setup writes a hook.
var (
	claudeEvents = []hookEvent{
		{"SessionStart", "", injectUse, 5},
		{"UserPromptSubmit", "", captureUse, 5},
		{"PreToolUse", "Edit|Write|MultiEdit|NotebookEdit", injectUse, 5},
		{"PostToolUse", "", captureUse, 5},
		{"PostToolUseFailure", "", captureUse, 5}, {"SubagentStop", "", captureUse, 5}, {"PostCompact", "",
			captureUse, 5},
		{"Stop", "", captureUse, 5}, {"SessionEnd", "", captureUse, 10},
	}
	codexEvents = []hookEvent{
		{"SessionStart", "", injectUse, 5},
		{"UserPromptSubmit", "", captureUse, 5},
		{"PreToolUse", "apply_patch", injectUse, 5},
		{"PostToolUse", "", captureUse, 5},
		{"PostCompact", "", captureUse, 5}, {"SubagentStop", "", captureUse, 5}, {"Stop", "", captureUse, 5},
		{"SessionEnd", "", captureUse, 3},
	}
	geminiEvents = []hookEvent{
		{"SessionStart", "", injectUse, 5},
		{"BeforeAgent", "", captureUse, 5},
		{"AfterTool", "*", captureUse, 5},
		{"AfterAgent", "", captureUse, 5},
		{"SessionEnd", "", captureUse, 5},
	}
	copilotEvents = []hookEvent{
		{"SessionStart", "", injectUse, 5},
		{"UserPromptSubmit", "", captureUse, 5},
		{"PreToolUse", "", injectUse, 5},
		{"PostToolUse", "", captureUse, 5},
		{"PostToolUseFailure", "", captureUse, 5},
		{"Stop", "", captureUse, 5},
		{"SessionEnd", "", captureUse, 5},
	}
	cursorEvents = []hookEvent{
		{"sessionStart", "", injectUse, 5},
		{"beforeSubmitPrompt", "", captureUse, 5},
		{"postToolUse", "", captureUse, 5},
		{"postToolUseFailure", "", captureUse, 5},
		{"afterAgentResponse", "", captureUse, 5},
		{"subagentStop", "", captureUse, 5},
		{"stop", "", captureUse, 5},
		{"sessionEnd", "", captureUse, 5},
	}
	clineEvents = []hookEvent{
		{"TaskStart", "", injectUse, 5},
		{"TaskResume", "", injectUse, 5},
		{"UserPromptSubmit", "", captureUse, 5},
		{"PostToolUse", "", captureUse, 5},
		{"TaskComplete", "", captureUse, 5},
		{"TaskCancel", "", captureUse, 5},
	}
	gooseEvents = []hookEvent{
		{"SessionStart", "", captureUse, 5},
		{"UserPromptSubmit", "", captureUse, 5},
		{"PostToolUse", "", captureUse, 5},
		{"PostToolUseFailure", "", captureUse, 5},
		{"Stop", "", captureUse, 5},
		{"SessionEnd", "", captureUse, 5},
	}
	qwenEvents = []hookEvent{
		{"SessionStart", "", injectUse, 5},
		{"UserPromptSubmit", "", captureUse, 5},
		{"PostToolUse", "", captureUse, 5},
		{"PostToolUseFailure", "", captureUse, 5},
		{"PostCompact", "", captureUse, 5}, {"SubagentStop", "", captureUse, 5}, {"Stop", "", captureUse, 5},
		{"SessionEnd", "", captureUse, 5},
	}
)

// Clients returns all clients that oxbow can set up.
func Clients() []*Client { return allClients }

// FindClient returns the client with this name or title, ignoring case. It returns nil if there is none.
func FindClient(name string) *Client {
	title := strings.ReplaceAll(name, "-", " ") // title of a name such as claude-code
	for _, c := range allClients {
		if strings.EqualFold(c.Name, name) || strings.EqualFold(c.Title, title) {
			return c
		}
	}
	return nil
}

// firstExisting returns the first path at which a file exists, or the last path if there is none.
func firstExisting(paths ...string) string {
	for _, p := range paths {
		if fileExists(p) {
			return p
		}
	}
	return paths[len(paths)-1]
}

// mcpOnlyClient returns a client with a single configuration file, for which setup only writes the MCP server.
func mcpOnlyClient(
	name, title string,
	path []string,
	before fields,
	after func(Options) fields,
	user func(Machine) string,
	project string,
) *Client {
	return &Client{Name: name, Title: title, filesFor: func(w Machine, o Options) []clientFile {
		if o.Project && project == "" {
			return nil
		}
		var more fields
		if after != nil {
			more = after(o)
		}
		f := clientFile{path: w.scopedPath(o, user(w), project), serversPath: path}
		f.additions, f.removals = o.serverItems(path, before, more...)
		return []clientFile{f}
	}, installSigns: func(w Machine) []string { return []string{filepath.Dir(user(w))} }}
}

// addItems adds parts to the lists of the parts that setup adds and removes.
func (f *clientFile) addItems(put, off []jsonPart) {
	f.additions, f.removals = append(f.additions, put...), append(f.removals, off...)
}

func claudeFiles(w Machine, o Options) []clientFile {
	mcp := clientFile{
		path:        w.scopedPath(o, w.pathInVariable("CLAUDE_CONFIG_DIR", "", ".claude.json"), ".mcp.json"),
		serversPath: []string{"mcpServers"},
	}
	mcp.addItems(o.serverItems(mcp.serversPath, fields{{"type", "stdio"}}, field{"alwaysLoad", true}))
	settings := clientFile{path: w.scopedPath(o, w.clientPath("claude", "settings.json"),
		".claude/settings.local.json")}
	settings.addItems(o.allowItems("permissions", "allow"))
	settings.addItems(
		[]jsonPart{hooksItem(o.ownPrograms, "claude", o.requiredHooks(claudeEvents, func(e hookEvent) fields {
			argv := o.oxbowArgv("hook", "claude")
			return fields{{"type", "command"}, {"command", argv[0]}, {"args", argv[1:]}, {"timeout", e.timeout}}
		}))},
		nil,
	)
	settings.memoryOffItem = valueItem(false, "autoMemoryEnabled")
	return []clientFile{mcp, settings}
}

func geminiFiles(w Machine, o Options) []clientFile {
	f := clientFile{
		path:        w.scopedPath(o, w.clientPath("gemini", "settings.json"), ".gemini/settings.json"),
		serversPath: []string{"mcpServers"},
	}
	f.addItems(o.serverItems(f.serversPath, nil))
	f.addItems(
		[]jsonPart{hooksItem(o.ownPrograms, "gemini",
			o.shellHooks(w, "gemini", geminiEvents, powerShell, 1000, field{"name", programName}))},
		nil,
	)
	policy := clientFile{path: w.clientPath("gemini", "policies/oxbow.toml"), isOwnedByOxbow: true}
	if !o.NoMCP {
		// Gemini CLI compares each name with the names of its own tools, and warns at every start if it resembles one.
		// With this prefix, Gemini CLI recognizes the names of an MCP server's tools.
		var names []string
		for _, t := range o.Allow {
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
		path:        w.scopedPath(o, w.clientPath("qwen", "settings.json"), ".qwen/settings.json"),
		serversPath: []string{"mcpServers"},
	}
	f.addItems(o.serverItems(f.serversPath, nil))
	f.addItems(o.allowItems("permissions", "allow"))
	var more []field
	if w.GOOS == "windows" {
		more = []field{{"shell", "powershell"}}
	}
	hooks := o.shellHooks(w, "qwen", qwenEvents, powerShell, 1000, more...)
	f.addItems([]jsonPart{hooksItem(o.ownPrograms, "qwen", hooks)}, nil)
	f.memoryOffItem = valueItem(false, "memory", "enableManagedAutoMemory")
	return []clientFile{f}
}

func copilotFiles(w Machine, o Options) []clientFile {
	mcp := clientFile{path: w.clientPath("copilot", "mcp-config.json"), serversPath: []string{"mcpServers"}}
	mcp.addItems(o.serverItems(mcp.serversPath, fields{{"type", "local"}}, field{"tools", []string{"*"}}))
	hooks := clientFile{path: w.scopedPath(o, w.clientPath("copilot", "hooks/oxbow.json"),
		".github/hooks/oxbow.json"), isOwnedByOxbow: true}
	line := "bash"
	if w.GOOS == "windows" {
		line = "powershell"
	}
	command := commandLine(chooseIf(w.GOOS == "windows", powerShell, posixShell), o.oxbowArgv("hook", "copilot"))
	want := o.requiredHooks(copilotEvents, func(e hookEvent) fields {
		return fields{
			{"type", "command"},
			{chooseIf(line == "bash", "command", line), command},
			{"timeout", e.timeout},
		}
	})
	if len(want) > 0 {
		all := fields{}
		for _, h := range want {
			all = append(all, field{h.event, []fields{h.handler}})
		}
		hooks.content = indentedJSON(fields{{"version", 1}, {"hooks", all}})
	}
	if o.Project {
		return []clientFile{hooks}
	}
	return []clientFile{mcp, hooks}
}

func opencodeFiles(w Machine, o Options) []clientFile {
	dir := w.scopedPath(o, w.pathInVariable("XDG_CONFIG_HOME", ".config", "opencode"), "")
	f := clientFile{
		path:        firstExisting(filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json")),
		serversPath: []string{"mcp"},
	}
	f.addItems(
		o.clientServerItems(f.serversPath, fields{{"type", "local"}, {"command", o.oxbowArgv("mcp")}, {"enabled",
			true}}),
	)
	plugin := clientFile{
		path:           filepath.Join(w.scopedPath(o, dir, ".opencode"), "plugins", "oxbow.js"),
		isOwnedByOxbow: true,
	}
	if o.Plugin != nil && !(o.NoInject && o.NoCapture) {
		plugin.content = o.Plugin(o.oxbowArgv("hook", "opencode"))
	}
	return []clientFile{f, plugin}
}

func kiloFiles(w Machine, o Options) []clientFile {
	dir := w.scopedPath(o, w.userPath(".config/kilo"), ".kilo")
	f := clientFile{
		path:        firstExisting(filepath.Join(dir, "kilo.json"), filepath.Join(dir, "kilo.jsonc")),
		serversPath: []string{"mcp"},
	}
	f.addItems(
		o.clientServerItems(f.serversPath, fields{{"type", "local"}, {"command", o.oxbowArgv("mcp")}, {"enabled",
			true}}),
	)
	return []clientFile{f}
}

// cursorFiles returns the files of Cursor. In Cursor's files, the hooks of an event are not in groups.
func cursorFiles(w Machine, o Options) []clientFile {
	mcp := clientFile{path: w.scopedPath(o, w.userPath(".cursor/mcp.json"), ".cursor/mcp.json"),
		serversPath: []string{"mcpServers"}}
	mcp.addItems(o.serverItems(mcp.serversPath, nil))
	hooks := clientFile{path: w.scopedPath(o, w.userPath(".cursor/hooks.json"), ".cursor/hooks.json")}
	line := commandLine(chooseIf(w.GOOS == "windows", cmdShell, posixShell), o.oxbowArgv("hook", "cursor"))
	want := o.requiredHooks(cursorEvents, func(e hookEvent) fields {
		return fields{{"command", line}, {"timeout", e.timeout}}
	})
	for i := range want {
		want[i].isFlat = true
	}
	if len(want) > 0 {
		hooks.addItems([]jsonPart{*valueItem(1, "version")}, nil)
	}
	hooks.addItems([]jsonPart{hooksItem(o.ownPrograms, "cursor", want)}, nil)
	return []clientFile{mcp, hooks}
}

// clineClient returns the client Cline. Each hook of Cline is a program that is named after the event and is in a
// certain directory.
func clineClient() *Client {
	settings := func(w Machine) string {
		if p := w.userPath(".cline/data/settings/cline_mcp_settings.json"); fileExists(p) {
			return p
		}
		return w.configPath("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
	}
	c := mcpOnlyClient("cline", "Cline", []string{"mcpServers"}, nil, func(o Options) fields {
		return fields{{"disabled", false}, {"autoApprove", o.Allow}}
	}, settings, "")
	server := c.filesFor
	c.events = clineEvents
	c.adviceFor = clineNotes
	c.filesFor = func(w Machine, o Options) []clientFile { return append(server(w, o), clineHooks(w, o)...) }
	return c
}

// clineHooks returns the programs that Cline runs at its events. Each prints oxbow's answer, or else an answer without
// context, because Cline expects an answer.
func clineHooks(w Machine, o Options) []clientFile {
	if w.GOOS == "windows" {
		return nil // On Windows, Cline runs no hooks.
	}
	line := commandLine(posixShell, o.oxbowArgv("hook", "cline"))
	dir := w.scopedPath(o, w.userPath("Documents/Cline/Hooks"), ".clinerules/hooks")
	var files []clientFile
	want := o.requiredHooks(clineEvents, func(hookEvent) fields { return nil })
	for _, e := range clineEvents {
		f := clientFile{path: filepath.Join(dir, e.name), isOwnedByOxbow: true, isProgram: true}
		if slices.ContainsFunc(want, func(h hookEntry) bool { return h.event == e.name }) {
			f.content = "#!/bin/sh\n# Written by oxbow setup: reports this event to oxbow.\nanswer=$(" + line + ")\n" +
				`[ -n "$answer" ] || answer='{"cancel":false}'` + "\n" + `printf '%s\n' "$answer"` + "\n"
		}
		files = append(files, f)
	}
	return files
}

func clineNotes(w Machine, o Options) []string {
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
	dir := w.scopedPath(o, w.userPath(".agents/plugins/oxbow"), ".agents/plugins/oxbow")
	manifest := clientFile{path: filepath.Join(dir, "plugin.json"), isOwnedByOxbow: true}
	hooks := clientFile{path: filepath.Join(dir, "hooks", "hooks.json"), isOwnedByOxbow: true}
	want := o.shellHooks(w, "goose", gooseEvents, posixShell, 1)
	if len(want) > 0 {
		manifest.content = indentedJSON(fields{{"name", programName}, {"version", gooseVersion},
			{"description", "Reports sessions to oxbow"}})
		all := fields{}
		for _, h := range want {
			all = append(all, field{h.event, []fields{h.groupFields()}})
		}
		hooks.content = indentedJSON(fields{{"hooks", all}})
	}
	return []clientFile{manifest, hooks}
}

func gooseNotes(_ Machine, o Options) []string {
	if o.NoMCP {
		return nil
	}
	return []string{"setup does not change config.yaml of Goose: add the server with goose configure, as a command " +
		"with the line " + commandLine(posixShell, o.oxbowArgv("mcp"))}
}

func copilotNotes(_ Machine, o Options) []string {
	if o.NoMCP {
		return nil
	}
	return []string{
		"Copilot CLI keeps no list of tools that run unasked: start it with --allow-tool=oxbow, or approve them when " +
			"it asks",
	}
}

func codexFiles(w Machine, o Options) []clientFile {
	dir := w.scopedPath(o, w.clientPath("codex", ""), ".codex")
	hooks := clientFile{path: filepath.Join(dir, "hooks.json")}
	want := o.shellHooks(w, "codex", codexEvents, cmdShell, 1)
	for i, h := range want {
		if h.event == "SessionStart" {
			want[i].handler = append(h.handler, field{"additionalContextLimit", 20000})
		}
	}
	hooks.addItems([]jsonPart{hooksItem(o.ownPrograms, "codex", want)}, nil)
	config := clientFile{path: filepath.Join(dir, "config.toml"), serversPath: []string{"mcp_servers"}}
	config.editTOML = func(t, base *tomlDocument, put bool) error {
		if !put || o.NoMCP {
			return removeServer(o.ownPrograms, t, base)
		}
		argv := o.oxbowArgv("mcp")
		return putServer(
			o.ownPrograms,
			t,
			base,
			fields{{"command", argv[0]}, {"args", argv[1:]}, {"startup_timeout_sec", 20}},
		)
	}
	return []clientFile{hooks, config}
}

// hasTrustedHooks reports whether Codex trusts all of oxbow's hooks in its files. If a file cannot be read, it returns
// true, because another finding reports the file.
func hasTrustedHooks(w Machine, o Options) bool {
	files := codexFiles(w, o)
	hooks, err := resolveLink(files[0].path)
	text, herr := readFile(hooks)
	config, cerr := readFile(files[1].path)
	_, config = splitBOM(config)
	t, terr := parseTOML(config)
	if errors.Join(err, herr, cerr, terr) != nil {
		return true // another finding reports the error
	}
	for key, hash := range codexHookHashes(w.ownPrograms(o), hooks, text) {
		if t.valueAt("hooks", "state", key, "trusted_hash") != hash {
			return false
		}
	}
	return true
}

// serverInTOML returns oxbow's server in the configuration of Codex. exists is false if there is none.
func serverInTOML(t *tomlDocument) (s Server, exists bool) {
	m, exists := t.valueAt("mcp_servers", programName).(map[string]any)
	s.Command, _ = m["command"].(string)
	args, _ := m["args"].([]any)
	for _, a := range args {
		word, _ := a.(string)
		s.Args = append(s.Args, word)
	}
	return s, exists
}

// putServer writes the table of oxbow's server into the configuration of Codex. It removes the key required, unless
// the user wrote this key: earlier versions of oxbow wrote it, and with it Codex does not start if oxbow fails to
// start.
func putServer(own ownPrograms, t, base *tomlDocument, want fields) error {
	if current, ok := serverInTOML(t); ok {
		if !own.isServerEntry(current) {
			return foreignServerError("mcp_servers." + programName)
		}
		want = keepServerArgs(current, want)
		if base.valueAt("mcp_servers", programName, "required") == nil && t.valueAt("mcp_servers", programName,
			"required") != nil {
			if err := t.removeTable("mcp_servers", programName, "required"); err != nil {
				return err
			}
		}
	}
	return t.setFields(want, "mcp_servers", programName)
}

// removeServer removes the table of oxbow's server from t, or restores the table of the same name in base, the file
// without oxbow. It keeps a table that a person wrote. Such a table runs another program, or names oxbow without its
// absolute path.
func removeServer(own ownPrograms, t, base *tomlDocument) error {
	current, ok := serverInTOML(t)
	if !ok || !own.isServerEntry(current) {
		return nil
	}
	if !filepath.IsAbs(current.Argv()[0]) {
		return nil
	}
	if original, ok := base.valueAt("mcp_servers", programName).(map[string]any); ok {
		for _, name := range []string{"required", "startup_timeout_sec"} {
			if _, ok := original[name]; !ok {
				if err := t.removeTable("mcp_servers", programName, name); err != nil {
					return err
				}
			}
		}
		before, _ := serverInTOML(base)
		return t.setFields(fields{{"command", before.Command}, {"args", slices.Clone(before.Args)}}, "mcp_servers",
			programName)
	}
	return t.removeTable("mcp_servers", programName)
}
