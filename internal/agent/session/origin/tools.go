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

// tables contains the tools of the clients, taken from Claude Code 2.1.330, Codex 0.169, Gemini CLI 0.61, opencode
// 1.18, Copilot CLI 1.0.102 and Qwen Code 0.24. For all other clients, the tools are taken from the sources that
// package clientfile names. A tool that is not listed is an MCP tool if its name has an MCP tool's form. The output of
// any tool that is neither listed nor an MCP tool is unvouched.
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
	"cursor": {
		runs:  {"run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2", "shell"},
		files: {"read_file", "read_file_v2", "read"},
		searches: {"list_dir", "list_dir_v2", "grep", "grep_search", "ripgrep_raw_search", "glob", "glob_file_search",
			"file_search", "codebase_search", "semantic_search_full"},
		edits: {"edit_file", "edit_file_v2", "search_replace", "write", "strreplace", "apply_patch", "applypatch",
			"delete_file", "delete"},
		web:    {"web_search", "websearch", "web_fetch", "webfetch", "fetch_pull_request", "callmcptool"},
		agents: {"task", "task_v2", "subagent"},
		unseen: {"fetch_rules"},
		quiet:  {"todo_write", "todowrite", "create_plan", "ask_question", "switch_mode", "update_memory"},
	},
	"vscode": {
		runs:  {"run_in_terminal", "copilot_runinterminal", "runtests", "run_task"},
		files: {"read_file", "copilot_readfile"},
		searches: {"grep_search", "file_search", "semantic_search", "list_dir", "copilot_findtextinfiles",
			"copilot_findfiles", "copilot_searchcodebase", "copilot_listdirectory"},
		edits: {"replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file", "create_file",
			"apply_patch", "edit_notebook_file", "copilot_replacestring", "copilot_multireplacestring",
			"copilot_createfile", "copilot_applypatch", "copilot_insertedit"},
		web: {"fetch_webpage", "github_repo", "copilot_fetchwebpage", "vscode_fetchwebpage_internal",
			"copilot_githubrepo"},
		late:   {"get_terminal_output", "copilot_getterminaloutput"},
		unseen: {"runsubagent"},
		quiet:  {"manage_todo_list", "think", "copilot_think", "create_directory", "copilot_createdirectory"},
	},
	"zed": {
		runs:     {"terminal"},
		files:    {"read_file", "open"},
		searches: {"grep", "find_path", "list_directory", "diagnostics"},
		edits:    {"edit_file", "write_file", "streaming_edit_file"},
		web:      {"fetch", "web_search"},
		unseen:   {"spawn_agent", "subagent", "skill"},
		quiet: {"thinking", "now", "create_directory", "copy_path", "move_path", "delete_path", "save_file",
			"restore_file_from_disk", "update_plan"},
	},
	"goose": {
		runs:     {"developer__shell", "shell"},
		files:    {"developer__read_image", "read_image"},
		searches: {"developer__analyze", "developer__tree", "tree", "analyze"},
		edits:    {"developer__text_editor", "developer__write", "developer__edit", "write", "edit", "text_editor"},
		web:      {"computercontroller__web_scrape", "computercontroller__web_search"},
		unseen:   {"subagent", "delegate", "load"},
		quiet: {"todo__todo_write", "todo__todo_read", "memory__remember_memory", "memory__retrieve_memories",
			"platform__manage_extensions", "platform__search_available_extensions"},
	},
	"cline": {
		runs:     {"execute_command", "run_commands"},
		files:    {"read_file", "read_files"},
		searches: {"list_files", "search_files", "list_code_definition_names", "codebase_search", "search_codebase"},
		edits: {"write_to_file", "replace_in_file", "apply_diff", "apply_patch", "insert_content",
			"search_and_replace", "search_replace", "edit_file", "editor", "delete_file"},
		web: {"web_fetch", "web_search", "browser_action", "use_mcp_tool", "access_mcp_resource",
			"fetch_web_content"},
		unseen: {"use_skill", "skills", "use_subagents", "new_task", "fetch_instructions"},
		quiet: {"ask_followup_question", "attempt_completion", "plan_mode_respond", "act_mode_respond", "focus_chain",
			"update_todo_list", "switch_mode"},
	},
	"pi": {
		runs:     {"bash"},
		files:    {"read"},
		searches: {"grep", "find", "ls"},
		edits:    {"write", "edit"},
	},
	"openclaw": {
		runs:     {"exec", "bash"},
		files:    {"read"},
		searches: {"grep", "find", "ls"},
		edits:    {"write", "edit", "apply_patch"},
		web:      {"web_search", "web_fetch", "browser", "message"},
		late:     {"process"},
		unseen:   {"sessions_spawn", "sessions_send", "sessions_history", "subagents"},
		quiet:    {"memory_search", "memory_get", "session_status", "sessions_list", "update_plan"},
	},
	"amp": {
		runs:     {"bash", "shell_command"},
		files:    {"read"},
		searches: {"grep", "glob", "finder", "list_directory"},
		edits:    {"edit_file", "create_file", "apply_patch", "undo_edit"},
		web:      {"read_web_page", "web_search", "librarian"},
		unseen:   {"task", "oracle", "skill", "read_thread", "find_thread"},
		quiet:    {"todo_write", "todo_read", "task_list"},
	},
	"crush": {
		runs:     {"bash"},
		files:    {"view"},
		searches: {"glob", "grep", "ls", "lsp_diagnostics", "lsp_references"},
		edits:    {"edit", "multiedit", "write"},
		web:      {"fetch", "agentic_fetch", "web_fetch", "web_search", "sourcegraph", "download"},
		late:     {"job_output"},
		unseen:   {"agent"},
		quiet:    {"todos", "job_kill"},
	},
	"hermes": {
		runs:     {"terminal"},
		files:    {"read_file"},
		searches: {"search_files"},
		edits:    {"write_file", "patch"},
		web:      {"web_search", "web_extract", "browser_navigate", "browser_snapshot", "browser_click"},
		late:     {"process"},
		unseen:   {"delegate_task", "skill_view", "execute_code", "session_search"},
		quiet:    {"todo", "memory", "clarify"},
	},
	"kimi": {
		runs:     {"shell", "bash"},
		files:    {"readfile", "readmediafile", "read"},
		searches: {"glob", "grep"},
		edits:    {"writefile", "strreplacefile", "write", "edit"},
		web:      {"searchweb", "fetchurl", "websearch"},
		agents:   {"task", "agent"},
		quiet:    {"settodolist", "think", "todolist"},
	},
}

// sameTools contains, for each client that is a fork of another client, the client whose tools it has.
var sameTools = map[string]string{"roo": "cline", "kilo": "cline"}

// mcpNames contains, by client, the forms of MCP tool names: the prefix before the server, and the
// separator between the server and the tool.
var mcpNames = map[string]struct{ front, between string }{
	"claude":   {"mcp__", "__"},
	"codex":    {"mcp__", "__"},
	"qwen":     {"mcp__", "__"},
	"gemini":   {"mcp_", "_"},
	"opencode": {"", "_"},
	"copilot":  {"", "-"},
	"cursor":   {"mcp_", "_"},
	"vscode":   {"mcp_", "_"},
	"goose":    {"", "__"},
	"crush":    {"mcp_", "_"},
	"hermes":   {"mcp_", "_"},
}

// ownServers lists the names under which setup registers this program's server. Another program's
// server with such a name is mistaken for it.
var ownServers = []string{"oxbow", "plugin_oxbow_oxbow"}

// toolUse returns the use of a client's tool, and whether this program's own server provides the
// tool.
func toolUse(client, tool string) (u use, own bool) {
	name := strings.ToLower(tool)
	if other := sameTools[client]; other != "" {
		client = other
	}
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
