// This file lists the tools of the clients. The archive of sessions needs the lists to decide who wrote the text that a
// call returned.

package clientfile

// Tools lists the tools of a client by their kind of work, which determines where the output of a tool comes from.
// Names are in lower case. A tool that is not listed is a tool of an MCP server if its name has the form of ServerName.
// The output of any other tool is unvouched.
type Tools struct {
	Runs     []string // run a shell command, which determines the origin
	Files    []string // read the files in their arguments
	Searches []string // search or list the files below the paths in their arguments
	Edits    []string // write the files in their arguments and return the agent's own text
	Web      []string // return text from the web, another document or an MCP server
	Late     []string // return the output of a command that was started earlier
	Agents   []string // start a sub-agent, whose own calls are reported
	Unseen   []string // start a sub-agent or a skill whose calls are not reported
	Quiet    []string // return the agent's or the person's own text

	// Foreign lists tools that read the web, mail or chats, with the spelling of the client. If no hook has judged a
	// call of such a tool, its result counts as text by others.
	Foreign []string

	ServerName  ServerName
	LikeServers []string // built-in tools whose names have the form of ServerName, with the spelling of the client
	OwnServers  []string // parts of the client whose tools have names in the form of ServerName
}

// ServerName is the form in which a client names the tools of MCP servers: the prefix before the name of the server,
// and the separator between the server and the tool. The separator is empty if the form is not known. All clients may
// also use the form of Claude Code.
type ServerName struct{ Prefix, Separator string }

// The tools are taken from Claude Code 2.1.330, Codex 0.169, Gemini CLI 0.61, opencode 1.18, Copilot CLI 1.0.102 and
// Qwen Code 0.24. For all other clients, the tools are taken from the sources that their readers name.
var (
	toolsOfClaude = Tools{
		Runs:     []string{"bash", "powershell"},
		Files:    []string{"read", "notebookread"},
		Searches: []string{"glob", "grep", "ls"},
		Edits:    []string{"edit", "write", "multiedit", "notebookedit"},
		Web: []string{"webfetch", "websearch", "readmcpresourcetool", "readmcpresource", "listmcpresourcestool",
			"listmcpresources"},
		Late:   []string{"bashoutput", "taskoutput", "monitor"},
		Agents: []string{"task", "agent"},
		Unseen: []string{"skill", "slashcommand", "toolsearch"},
		Quiet: []string{"todowrite", "todoread", "taskcreate", "taskupdate", "tasklist", "taskget", "taskstop",
			"exitplanmode", "enterplanmode",
			"askuserquestion", "killshell", "killbash", "enterworktree", "exitworktree", "sendmessage"},
		Foreign:    []string{"WebFetch", "WebSearch"},
		ServerName: ServerName{"mcp__", "__"},
	}
	toolsOfCodex = Tools{
		Runs:     []string{"bash", "shell", "exec_command", "local_shell", "shell_command", "container.exec"},
		Files:    []string{"read_file", "view_image"},
		Searches: []string{"list_dir", "grep_files"},
		Edits:    []string{"apply_patch"},
		Web: []string{"web_search", "web_search_call", "web.run", "browser", "read_mcp_resource", "list_mcp_resources",
			"list_mcp_resource_templates"},
		Late:       []string{"write_stdin"},
		Agents:     []string{"spawn_agent", "wait", "wait_agent", "send_input", "close_agent", "resume_agent"},
		Unseen:     []string{"tool_search"},
		Quiet:      []string{"update_plan", "request_user_input"},
		Foreign:    []string{"web_search", "web_search_call", "web.run", "browser"},
		ServerName: ServerName{"mcp__", "__"},
	}
	toolsOfGemini = Tools{
		Runs:     []string{"run_shell_command"},
		Files:    []string{"read_file", "read_many_files"},
		Searches: []string{"list_directory", "glob", "search_file_content", "grep_search"},
		Edits:    []string{"replace", "write_file", "edit"},
		Web: []string{"web_fetch", "google_web_search", "webfetch", "googlesearch", "read_mcp_resource",
			"list_mcp_resources"},
		Unseen: []string{
			"activate_skill",
			"codebase_investigator",
			"delegate_to_agent",
			"cli_help",
			"get_internal_docs",
		},
		Quiet:      []string{"write_todos", "save_memory", "ask_user", "enter_plan_mode", "exit_plan_mode"},
		Foreign:    []string{"web_fetch", "google_web_search", "WebFetch", "GoogleSearch"},
		ServerName: ServerName{"mcp_", "_"},
	}
	toolsOfOpencode = Tools{
		Runs:        []string{"bash"},
		Files:       []string{"read"},
		Searches:    []string{"glob", "grep", "list"},
		Edits:       []string{"edit", "write", "multiedit", "patch", "apply_patch"},
		Web:         []string{"webfetch", "websearch", "codesearch"},
		Agents:      []string{"task"},
		Unseen:      []string{"skill", "lsp"},
		Quiet:       []string{"todowrite", "todoread", "question", "plan_exit", "plan_enter", "invalid"},
		Foreign:     []string{"webfetch", "websearch", "codesearch"},
		ServerName:  ServerName{"", "_"},
		LikeServers: []string{"apply_patch", "plan_exit", "plan_enter"},
	}
	toolsOfCopilot = Tools{
		Runs:     []string{"bash", "powershell"},
		Files:    []string{"view", "show_file", "read"},
		Searches: []string{"glob", "grep", "rg"},
		Edits:    []string{"edit", "create", "str_replace", "insert", "apply_patch", "write"},
		Web:      []string{"web_fetch", "web_search", "fetch_copilot_cli_documentation", "webfetch", "websearch"},
		Late:     []string{"read_bash", "write_bash", "read_powershell", "write_powershell"},
		Agents:   []string{"task", "agent", "read_agent", "list_agents", "write_agent"},
		Unseen:   []string{"skill"},
		Quiet: []string{
			"update_todo",
			"todowrite",
			"report_intent",
			"store_memory",
			"ask_user",
			"stop_bash",
			"list_bash",
			"exit_plan_mode",
			"sql",
			"task_complete",
		},
		Foreign:    []string{"web_fetch", "web_search", "fetch_copilot_cli_documentation", "WebFetch", "WebSearch"},
		ServerName: ServerName{"", "-"},
	}
	toolsOfQwen = Tools{
		Runs:     []string{"run_shell_command"},
		Files:    []string{"read_file", "read_many_files"},
		Searches: []string{"list_directory", "glob", "grep_search", "search_file_content"},
		Edits:    []string{"edit", "replace", "write_file", "notebook_edit"},
		Web:      []string{"web_fetch", "web_search", "webfetch", "websearch"},
		Agents:   []string{"task", "agent"},
		Unseen:   []string{"skill", "tool_search", "lsp"},
		Quiet: []string{
			"todo_write",
			"save_memory",
			"exit_plan_mode",
			"ask_user_question",
			"enter_plan_mode",
			"task_stop",
		},
		Foreign:    []string{"web_fetch", "web_search", "WebFetch", "WebSearch"},
		ServerName: ServerName{"mcp__", "__"},
	}
	toolsOfCursor = Tools{
		Runs:  []string{"run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2", "shell"},
		Files: []string{"read_file", "read_file_v2", "read"},
		Searches: []string{
			"list_dir",
			"list_dir_v2",
			"grep",
			"grep_search",
			"ripgrep_raw_search",
			"glob",
			"glob_file_search",
			"file_search",
			"codebase_search",
			"semantic_search_full",
		},
		Edits: []string{
			"edit_file",
			"edit_file_v2",
			"search_replace",
			"write",
			"strreplace",
			"apply_patch",
			"applypatch",
			"delete_file",
			"delete",
		},
		Web:        []string{"web_search", "websearch", "web_fetch", "webfetch", "fetch_pull_request", "callmcptool"},
		Agents:     []string{"task", "task_v2", "subagent"},
		Unseen:     []string{"fetch_rules"},
		Quiet:      []string{"todo_write", "todowrite", "create_plan", "ask_question", "switch_mode", "update_memory"},
		Foreign:    []string{"web_search", "web_fetch", "WebSearch", "WebFetch", "CallMcpTool", "fetch_pull_request"},
		ServerName: ServerName{"mcp_", "_"},
	}
	toolsOfVSCode = Tools{
		Runs:  []string{"run_in_terminal", "copilot_runinterminal", "runtests", "run_task"},
		Files: []string{"read_file", "copilot_readfile"},
		Searches: []string{"grep_search", "file_search", "semantic_search", "list_dir", "copilot_findtextinfiles",
			"copilot_findfiles", "copilot_searchcodebase", "copilot_listdirectory"},
		Edits: []string{
			"replace_string_in_file",
			"multi_replace_string_in_file",
			"insert_edit_into_file",
			"create_file",
			"apply_patch",
			"edit_notebook_file",
			"copilot_replacestring",
			"copilot_multireplacestring",
			"copilot_createfile",
			"copilot_applypatch",
			"copilot_insertedit",
		},
		Web: []string{"fetch_webpage", "github_repo", "copilot_fetchwebpage", "vscode_fetchwebpage_internal",
			"copilot_githubrepo"},
		Late:   []string{"get_terminal_output", "copilot_getterminaloutput"},
		Unseen: []string{"runsubagent"},
		Quiet: []string{
			"manage_todo_list",
			"think",
			"copilot_think",
			"create_directory",
			"copilot_createdirectory",
		},
		Foreign:    []string{"fetch_webpage", "github_repo", "copilot_fetchWebPage", "vscode_fetchWebPage_internal"},
		ServerName: ServerName{"mcp_", "_"},
	}
	toolsOfZed = Tools{
		Runs:     []string{"terminal"},
		Files:    []string{"read_file", "open"},
		Searches: []string{"grep", "find_path", "list_directory", "diagnostics"},
		Edits:    []string{"edit_file", "write_file", "streaming_edit_file"},
		Web:      []string{"fetch", "web_search"},
		Unseen:   []string{"spawn_agent", "subagent", "skill"},
		Quiet: []string{"thinking", "now", "create_directory", "copy_path", "move_path", "delete_path", "save_file",
			"restore_file_from_disk", "update_plan"},
		Foreign: []string{"fetch", "web_search"},
	}
	toolsOfGoose = Tools{
		Runs:     []string{"developer__shell", "shell"},
		Files:    []string{"developer__read_image", "read_image"},
		Searches: []string{"developer__analyze", "developer__tree", "tree", "analyze"},
		Edits: []string{
			"developer__text_editor",
			"developer__write",
			"developer__edit",
			"write",
			"edit",
			"text_editor",
		},
		Web:    []string{"computercontroller__web_scrape", "computercontroller__web_search"},
		Unseen: []string{"subagent", "delegate", "load"},
		Quiet: []string{"todo__todo_write", "todo__todo_read", "memory__remember_memory", "memory__retrieve_memories",
			"platform__manage_extensions", "platform__search_available_extensions"},
		Foreign:    []string{"computercontroller__web_scrape", "computercontroller__web_search"},
		ServerName: ServerName{"", "__"},
		OwnServers: []string{"developer", "todo", "platform", "memory"},
	}
	toolsOfCline = Tools{
		Runs:  []string{"execute_command", "run_commands"},
		Files: []string{"read_file", "read_files"},
		Searches: []string{
			"list_files",
			"search_files",
			"list_code_definition_names",
			"codebase_search",
			"search_codebase",
		},
		Edits: []string{"write_to_file", "replace_in_file", "apply_diff", "apply_patch", "insert_content",
			"search_and_replace", "search_replace", "edit_file", "editor", "delete_file"},
		Web: []string{"web_fetch", "web_search", "browser_action", "use_mcp_tool", "access_mcp_resource",
			"fetch_web_content"},
		Unseen: []string{"use_skill", "skills", "use_subagents", "new_task", "fetch_instructions"},
		Quiet: []string{
			"ask_followup_question",
			"attempt_completion",
			"plan_mode_respond",
			"act_mode_respond",
			"focus_chain",
			"update_todo_list",
			"switch_mode",
		},
		Foreign: []string{"web_fetch", "web_search", "browser_action", "use_mcp_tool", "access_mcp_resource",
			"fetch_web_content"},
	}
	toolsOfPi = Tools{
		Runs:     []string{"bash"},
		Files:    []string{"read"},
		Searches: []string{"grep", "find", "ls"},
		Edits:    []string{"write", "edit"},
	}
	toolsOfOpenclaw = Tools{
		Runs:     []string{"exec", "bash"},
		Files:    []string{"read"},
		Searches: []string{"grep", "find", "ls"},
		Edits:    []string{"write", "edit", "apply_patch"},
		Web:      []string{"web_search", "web_fetch", "browser", "message"},
		Late:     []string{"process"},
		Unseen:   []string{"sessions_spawn", "sessions_send", "sessions_history", "subagents"},
		Quiet:    []string{"memory_search", "memory_get", "session_status", "sessions_list", "update_plan"},
		Foreign:  []string{"web_search", "web_fetch", "browser", "message"},
	}
	toolsOfAmp = Tools{
		Runs:     []string{"bash", "shell_command"},
		Files:    []string{"read"},
		Searches: []string{"grep", "glob", "finder", "list_directory"},
		Edits:    []string{"edit_file", "create_file", "apply_patch", "undo_edit"},
		Web:      []string{"read_web_page", "web_search", "librarian"},
		Unseen:   []string{"task", "oracle", "skill", "read_thread", "find_thread"},
		Quiet:    []string{"todo_write", "todo_read", "task_list"},
		Foreign:  []string{"read_web_page", "web_search", "librarian"},
	}
	toolsOfCrush = Tools{
		Runs:       []string{"bash"},
		Files:      []string{"view"},
		Searches:   []string{"glob", "grep", "ls", "lsp_diagnostics", "lsp_references"},
		Edits:      []string{"edit", "multiedit", "write"},
		Web:        []string{"fetch", "agentic_fetch", "web_fetch", "web_search", "sourcegraph", "download"},
		Late:       []string{"job_output"},
		Unseen:     []string{"agent"},
		Quiet:      []string{"todos", "job_kill"},
		Foreign:    []string{"fetch", "agentic_fetch", "web_fetch", "web_search", "sourcegraph", "download"},
		ServerName: ServerName{"mcp_", "_"},
	}
	toolsOfHermes = Tools{
		Runs:       []string{"terminal"},
		Files:      []string{"read_file"},
		Searches:   []string{"search_files"},
		Edits:      []string{"write_file", "patch"},
		Web:        []string{"web_search", "web_extract", "browser_navigate", "browser_snapshot", "browser_click"},
		Late:       []string{"process"},
		Unseen:     []string{"delegate_task", "skill_view", "execute_code", "session_search"},
		Quiet:      []string{"todo", "memory", "clarify"},
		Foreign:    []string{"web_search", "web_extract", "browser_navigate", "browser_snapshot"},
		ServerName: ServerName{"mcp_", "_"},
	}
	toolsOfKimi = Tools{
		Runs:     []string{"shell", "bash"},
		Files:    []string{"readfile", "readmediafile", "read"},
		Searches: []string{"glob", "grep"},
		Edits:    []string{"writefile", "strreplacefile", "write", "edit"},
		Web:      []string{"searchweb", "fetchurl", "websearch"},
		Agents:   []string{"task", "agent"},
		Quiet:    []string{"settodolist", "think", "todolist"},
		Foreign:  []string{"SearchWeb", "FetchURL", "WebSearch"},
	}
)
