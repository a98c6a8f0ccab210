// This file has the table of clients' tools.

package origin

import (
	"slices"
	"strings"
)

// use is a tool's kind of work. It determines where the tool's output comes from.
type use int

const (
	unknown  use = iota
	runs         // runs a shell command, which determines the origin
	files        // reads the files in its arguments
	searches     // searches or lists the files below the paths in its arguments
	edits        // writes the files in its arguments and returns the agent's own text
	web          // returns text from the web, another document or an MCP server
	late         // returns the output of a command that was started earlier
	agents       // starts a sub-agent, whose own calls are reported
	unseen       // starts a sub-agent or a skill whose calls are not reported
	quiet        // returns the agent's or the person's own text
)

// clientTools contains the tools of a client by use. Names are in lower case.
type clientTools map[use][]string

// tables contains the tools of the clients, taken from Claude Code 2.1.330, Codex 0.169, Gemini CLI
// 0.61, opencode 1.18, Copilot CLI 1.0.102 and Qwen Code 0.24. A tool that is not listed is an MCP
// tool if its name has an MCP tool's form. The output of other tools is unvouched.
var tables = map[string]clientTools{
	"claude": {
		runs:     {"bash", "powershell"},
		files:    {"read", "notebookread"},
		searches: {"glob", "grep", "ls"},
		edits:    {"edit", "write", "multiedit", "notebookedit"},
		web: {"webfetch", "websearch", "readmcpresourcetool", "readmcpresource", "listmcpresourcestool",
			"listmcpresources"},
		late:   {"bashoutput", "taskoutput", "monitor"},
		agents: {"task", "agent"},
		unseen: {"skill", "slashcommand", "toolsearch"},
		quiet: {"todowrite", "todoread", "taskcreate", "taskupdate", "tasklist", "taskget", "taskstop",
			"exitplanmode", "enterplanmode",
			"askuserquestion", "killshell", "killbash", "enterworktree", "exitworktree", "sendmessage"},
	},
	"codex": {
		runs:     {"bash", "shell", "exec_command", "local_shell", "shell_command", "container.exec"},
		files:    {"read_file", "view_image"},
		searches: {"list_dir", "grep_files"},
		edits:    {"apply_patch"},
		web: {"web_search", "web_search_call", "web.run", "browser", "read_mcp_resource", "list_mcp_resources",
			"list_mcp_resource_templates"},
		late:   {"write_stdin"},
		agents: {"spawn_agent", "wait", "wait_agent", "send_input", "close_agent", "resume_agent"},
		unseen: {"tool_search"},
		quiet:  {"update_plan", "request_user_input"},
	},
	"gemini": {
		runs:     {"run_shell_command"},
		files:    {"read_file", "read_many_files"},
		searches: {"list_directory", "glob", "search_file_content", "grep_search"},
		edits:    {"replace", "write_file", "edit"},
		web: {"web_fetch", "google_web_search", "webfetch", "googlesearch", "read_mcp_resource",
			"list_mcp_resources"},
		unseen: {"activate_skill", "codebase_investigator", "delegate_to_agent", "cli_help", "get_internal_docs"},
		quiet:  {"write_todos", "save_memory", "ask_user", "enter_plan_mode", "exit_plan_mode"},
	},
	"opencode": {
		runs:     {"bash"},
		files:    {"read"},
		searches: {"glob", "grep", "list"},
		edits:    {"edit", "write", "multiedit", "patch", "apply_patch"},
		web:      {"webfetch", "websearch", "codesearch"},
		agents:   {"task"},
		unseen:   {"skill", "lsp"},
		quiet:    {"todowrite", "todoread", "question", "plan_exit", "plan_enter", "invalid"},
	},
	"copilot": {
		runs:     {"bash", "powershell"},
		files:    {"view", "show_file", "read"},
		searches: {"glob", "grep", "rg"},
		edits:    {"edit", "create", "str_replace", "insert", "apply_patch", "write"},
		web:      {"web_fetch", "web_search", "fetch_copilot_cli_documentation", "webfetch", "websearch"},
		late:     {"read_bash", "write_bash", "read_powershell", "write_powershell"},
		agents:   {"task", "agent", "read_agent", "list_agents", "write_agent"},
		unseen:   {"skill"},
		quiet: {"update_todo", "todowrite", "report_intent", "store_memory", "ask_user", "stop_bash", "list_bash",
			"exit_plan_mode", "sql", "task_complete"},
	},
	"qwen": {
		runs:     {"run_shell_command"},
		files:    {"read_file", "read_many_files"},
		searches: {"list_directory", "glob", "grep_search", "search_file_content"},
		edits:    {"edit", "replace", "write_file", "notebook_edit"},
		web:      {"web_fetch", "web_search", "webfetch", "websearch"},
		agents:   {"task", "agent"},
		unseen:   {"skill", "tool_search", "lsp"},
		quiet:    {"todo_write", "save_memory", "exit_plan_mode", "ask_user_question", "enter_plan_mode", "task_stop"},
	},
}

// mcpNames contains, by client, the forms of MCP tool names: the prefix before the server, and the
// separator between the server and the tool.
var mcpNames = map[string]struct{ front, between string }{
	"claude":   {"mcp__", "__"},
	"codex":    {"mcp__", "__"},
	"qwen":     {"mcp__", "__"},
	"gemini":   {"mcp_", "_"},
	"opencode": {"", "_"},
	"copilot":  {"", "-"},
}

// ownServers lists the names under which setup registers this program's server. Another program's
// server with such a name is mistaken for it.
var ownServers = []string{"oxbow", "plugin_oxbow_oxbow"}

// toolUse returns the use of a client's tool, and whether this program's own server provides the
// tool.
func toolUse(client, tool string) (u use, own bool) {
	name := strings.ToLower(tool)
	for u, names := range tables[client] {
		if slices.Contains(names, name) {
			return u, false
		}
	}
	for _, form := range []struct{ front, between string }{mcpNames["claude"], mcpNames[client]} {
		rest, ok := strings.CutPrefix(name, form.front)
		if !ok || form.between == "" {
			continue
		}
		if i := slices.IndexFunc(ownServers, func(s string) bool {
			return strings.HasPrefix(rest, s+form.between)
		}); i >= 0 {
			return quiet, true
		}
		if strings.Contains(rest, form.between) {
			return web, false
		}
	}
	return unknown, false
}
