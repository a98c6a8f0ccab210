// This file lists the clients, with the paths and formats of their files. Setup of the first six
// clients was tested by running them. Setup of the others follows their documentation.

package setup

import (
	"path/filepath"
	"slices"
	"strings"
)

var clients = []*Client{
	{Name: "claude", Title: "Claude Code", Program: "claude", Proved: true, Memory: "auto memory",
		filesFor: claudeFiles,
		memories: func(w World) string { return w.home("claude", "") },
		signs:    func(w World) []string { return []string{w.home("claude", "")} }},
	{Name: "codex", Title: "Codex", Program: "codex", Proved: true, filesFor: codexFiles,
		signs: func(w World) []string { return []string{w.home("codex", "")} }},
	{Name: "gemini", Title: "Gemini CLI", Program: "gemini", Proved: true, filesFor: geminiFiles,
		signs: func(w World) []string { return []string{w.home("gemini", "settings.json")} }},
	{Name: "opencode", Title: "opencode", Program: "opencode", Proved: true, filesFor: opencodeFiles,
		signs: func(w World) []string { return []string{w.dir("XDG_CONFIG_HOME", ".config", "opencode")} }},
	{Name: "copilot", Title: "Copilot CLI", Program: "copilot", Proved: true, filesFor: copilotFiles,
		notes: copilotNotes,
		signs: func(w World) []string { return []string{w.home("copilot", "")} }},
	{Name: "qwen", Title: "Qwen Code", Program: "qwen", Proved: true, Memory: "managed auto memory",
		filesFor: qwenFiles,
		memories: func(w World) string { return w.home("qwen", "") },
		signs:    func(w World) []string { return []string{w.home("qwen", "")} }},
	plainClient("cursor", "Cursor", []string{"mcpServers"}, nil, nil,
		func(w World) string { return w.user(".cursor/mcp.json") }, ".cursor/mcp.json"),
	plainClient("vscode", "VS Code", []string{"servers"}, fields{{"type", "stdio"}}, nil,
		func(w World) string { return w.config("Code/User/mcp.json") }, ".vscode/mcp.json"),
	plainClient("windsurf", "Windsurf", []string{"mcpServers"}, nil, nil,
		func(w World) string { return w.user(".codeium/windsurf/mcp_config.json") }, ""),
	plainClient("zed", "Zed", []string{"context_servers"}, fields{{"source", "custom"}}, func(Options) fields {
		return fields{{"env", fields{}}}
	},
		func(w World) string {
			if w.GOOS == "windows" {
				return w.config("Zed/settings.json")
			}
			return w.dir("XDG_CONFIG_HOME", ".config", "zed/settings.json")
		}, ".zed/settings.json"),
	plainClient("cline", "Cline", []string{"mcpServers"}, nil, func(o Options) fields {
		return fields{{"disabled", false}, {"autoApprove", o.Allow}}
	},
		func(w World) string {
			if p := w.user(".cline/data/settings/cline_mcp_settings.json"); exists(p) {
				return p
			}
			return w.config("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
		}, ""),
	{Name: "kilo", Title: "Kilo Code", Program: "kilo", filesFor: kiloFiles,
		signs: func(w World) []string { return []string{filepath.Dir(w.user(".config/kilo/kilo.jsonc"))} }},
}

// Clients returns all clients that oxbow can set up.
func Clients() []*Client { return clients }

// Find returns the client with a name or title, ignoring case. It returns nil if there is no such
// client.
func Find(name string) *Client {
	for _, c := range clients {
		if strings.EqualFold(c.Name, name) || strings.EqualFold(c.Title, name) {
			return c
		}
	}
	return nil
}

// firstExisting returns the first path that exists, or the last path if none does.
func firstExisting(paths ...string) string {
	for _, p := range paths {
		if exists(p) {
			return p
		}
	}
	return paths[len(paths)-1]
}

// plainClient returns a client for which setup only adds a server to a single file.
func plainClient(
	name, title string,
	path []string,
	before fields,
	after func(Options) fields,
	user func(World) string,
	project string,
) *Client {
	return &Client{Name: name, Title: title, filesFor: func(w World, o Options) []file {
		if o.Project && project == "" {
			return nil
		}
		var more fields
		if after != nil {
			more = after(o)
		}
		f := file{path: w.scoped(o, user(w), project), servers: path}
		f.items, f.removals = o.server(path, before, more...)
		return []file{f}
	}, signs: func(w World) []string { return []string{filepath.Dir(user(w))} }}
}

// addItem adds an item to the file's items.
func (f *file) addItem(put, off []item) {
	f.items, f.removals = append(f.items, put...), append(f.removals, off...)
}

func claudeFiles(w World, o Options) []file {
	mcp := file{
		path:    w.scoped(o, w.dir("CLAUDE_CONFIG_DIR", "", ".claude.json"), ".mcp.json"),
		servers: []string{"mcpServers"},
	}
	mcp.addItem(o.server(mcp.servers, fields{{"type", "stdio"}}, field{"alwaysLoad", true}))
	settings := file{path: w.scoped(o, w.home("claude", "settings.json"), ".claude/settings.local.json")}
	settings.addItem(o.allow("permissions", "allow"))
	settings.addItem([]item{hooksItem(o.own, "claude", o.hooks("claude", func(e event) fields {
		argv := o.argv("hook", "claude")
		return fields{{"type", "command"}, {"command", argv[0]}, {"args", argv[1:]}, {"timeout", e.timeout}}
	}))}, nil)
	settings.memory = valueItem(false, "autoMemoryEnabled")
	return []file{mcp, settings}
}

func geminiFiles(w World, o Options) []file {
	f := file{
		path:    w.scoped(o, w.home("gemini", "settings.json"), ".gemini/settings.json"),
		servers: []string{"mcpServers"},
	}
	f.addItem(o.server(f.servers, nil))
	f.addItem(
		[]item{hooksItem(o.own, "gemini", o.lineHooks(w, "gemini", powerShell, 1000, field{"name", program}))},
		nil,
	)
	policy := file{path: w.home("gemini", "policies/oxbow.toml"), isOxbows: true}
	if !o.NoMCP {
		// Gemini CLI compares each toolName with the names of its own tools, and warns at every
		// start if a name looks like a misspelling. This prefix marks the tools of servers.
		var names []string
		for _, t := range o.Allow {
			names = append(names, "mcp_"+program+"_"+t)
		}
		policy.content = "# Written by oxbow setup: these tools of its server run unasked.\n[[rule]]\ntoolName = " +
			tomlValue(names) +
			"\ndecision = \"allow\"\npriority = 100\n"
	}
	return []file{f, policy}
}

func qwenFiles(w World, o Options) []file {
	f := file{
		path:    w.scoped(o, w.home("qwen", "settings.json"), ".qwen/settings.json"),
		servers: []string{"mcpServers"},
	}
	f.addItem(o.server(f.servers, nil))
	f.addItem(o.allow("permissions", "allow"))
	var more []field
	if w.GOOS == "windows" {
		more = []field{{"shell", "powershell"}}
	}
	f.addItem([]item{hooksItem(o.own, "qwen", o.lineHooks(w, "qwen", powerShell, 1000, more...))}, nil)
	f.memory = valueItem(false, "memory", "enableManagedAutoMemory")
	return []file{f}
}

func copilotFiles(w World, o Options) []file {
	mcp := file{path: w.home("copilot", "mcp-config.json"), servers: []string{"mcpServers"}}
	mcp.addItem(o.server(mcp.servers, fields{{"type", "local"}}, field{"tools", []string{"*"}}))
	hooks := file{path: w.scoped(o, w.home("copilot", "hooks/oxbow.json"), ".github/hooks/oxbow.json"), isOxbows: true}
	line := "bash"
	if w.GOOS == "windows" {
		line = "powershell"
	}
	command := commandLine(either(w.GOOS == "windows", powerShell, posix), o.argv("hook", "copilot"))
	want := o.hooks("copilot", func(e event) fields {
		return fields{{"type", "command"}, {either(line == "bash", "command", line), command}, {"timeout", e.timeout}}
	})
	if len(want) > 0 {
		all := fields{}
		for _, h := range want {
			all = append(all, field{h.event, []fields{h.handler}})
		}
		hooks.content = indentedJSON(fields{{"version", 1}, {"hooks", all}})
	}
	if o.Project {
		return []file{hooks}
	}
	return []file{mcp, hooks}
}

func opencodeFiles(w World, o Options) []file {
	dir := w.scoped(o, w.dir("XDG_CONFIG_HOME", ".config", "opencode"), "")
	f := file{
		path:    firstExisting(filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json")),
		servers: []string{"mcp"},
	}
	f.addItem(o.serverOf(f.servers, fields{{"type", "local"}, {"command", o.argv("mcp")}, {"enabled", true}}))
	plugin := file{path: filepath.Join(w.scoped(o, dir, ".opencode"), "plugins", "oxbow.js"), isOxbows: true}
	if o.Plugin != nil && !(o.NoInject && o.NoCapture) {
		plugin.content = o.Plugin(o.argv("hook", "opencode"))
	}
	return []file{f, plugin}
}

func kiloFiles(w World, o Options) []file {
	dir := w.scoped(o, w.user(".config/kilo"), ".kilo")
	f := file{
		path:    firstExisting(filepath.Join(dir, "kilo.json"), filepath.Join(dir, "kilo.jsonc")),
		servers: []string{"mcp"},
	}
	f.addItem(o.serverOf(f.servers, fields{{"type", "local"}, {"command", o.argv("mcp")}, {"enabled", true}}))
	return []file{f}
}

func copilotNotes(_ World, o Options) []string {
	if o.NoMCP {
		return nil
	}
	return []string{
		"Copilot CLI keeps no list of tools that run unasked: start it with --allow-tool=oxbow, or approve them when " +
			"it asks",
	}
}

func codexFiles(w World, o Options) []file {
	dir := w.scoped(o, w.home("codex", ""), ".codex")
	hooks := file{path: filepath.Join(dir, "hooks.json")}
	want := o.lineHooks(w, "codex", cmd, 1)
	for i, h := range want {
		if h.event == "SessionStart" {
			want[i].handler = append(h.handler, field{"additionalContextLimit", 20000})
		}
	}
	hooks.addItem([]item{hooksItem(o.own, "codex", want)}, nil)
	config := file{path: filepath.Join(dir, "config.toml"), servers: []string{"mcp_servers"}}
	config.toml = func(t, base *table, put bool) error {
		if !put || o.NoMCP {
			return takeServer(o.own, t, base)
		}
		argv := o.argv("mcp")
		return putServer(o.own, t, base, fields{{"command", argv[0]}, {"args", argv[1:]}, {"startup_timeout_sec", 20}})
	}
	return []file{hooks, config}
}

// trustsHooks reports whether Codex trusts all of oxbow's hooks in its files.
func trustsHooks(w World, o Options) bool {
	files := codexFiles(w, o)
	hooks, err := follow(files[0].path)
	text, herr := readFile(hooks)
	config, cerr := readFile(files[1].path)
	_, config = splitBOM(config)
	t, terr := parseTOML(config)
	if err != nil || herr != nil || cerr != nil || terr != nil {
		return true // another finding reports the error
	}
	for key, hash := range hookHashes(w.ownPrograms(o), hooks, text) {
		if t.at("hooks", "state", key, "trusted_hash") != hash {
			return false
		}
	}
	return true
}

// serverAt returns oxbow's server in Codex' configuration.
func serverAt(t *table) (s Server, there bool) {
	m, there := t.at("mcp_servers", program).(map[string]any)
	s.Command, _ = m["command"].(string)
	args, _ := m["args"].([]any)
	for _, a := range args {
		word, _ := a.(string)
		s.Args = append(s.Args, word)
	}
	return s, there
}

// putServer writes the server's table into Codex' configuration. It removes the key required,
// unless the person wrote it. Earlier versions of oxbow wrote the key. With it, Codex does not
// start if oxbow fails to start.
func putServer(own ownPrograms, t, base *table, want fields) error {
	if is, ok := serverAt(t); ok {
		if !own.startServer(is) {
			return errOther("mcp_servers." + program)
		}
		want = mergeArgs(is, want)
		if base.at("mcp_servers", program, "required") == nil && t.at("mcp_servers", program, "required") != nil {
			if err := t.remove("mcp_servers", program, "required"); err != nil {
				return err
			}
		}
	}
	return t.set(want, "mcp_servers", program)
}

func takeServer(own ownPrograms, t, base *table) error {
	is, ok := serverAt(t)
	if !ok || !own.startServer(is) || !filepath.IsAbs(is.Argv()[0]) {
		return nil
	}
	if was, ok := base.at("mcp_servers", program).(map[string]any); ok {
		for _, name := range []string{"required", "startup_timeout_sec"} {
			if _, ok := was[name]; !ok {
				if err := t.remove("mcp_servers", program, name); err != nil {
					return err
				}
			}
		}
		before, _ := serverAt(base)
		return t.set(fields{{"command", before.Command}, {"args", slices.Clone(before.Args)}}, "mcp_servers", program)
	}
	return t.remove("mcp_servers", program)
}
