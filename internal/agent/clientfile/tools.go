// This file lists the tools of each client. The session archive uses the lists to decide who wrote the text that a
// call returned.

package clientfile

// ClientTools lists a client's tools by purpose. The purpose determines who wrote a tool's output. Names are in lower
// case, unless a field says otherwise. A tool that is not listed belongs to an MCP server if its name has the form of
// ServerToolNameFormat. The output of any other tool counts as unvouched, which means that nobody vouches for the text
// because its author is unknown.
type ClientTools struct {
	Shells        []string // tools that run a shell command (the command determines who wrote the output)
	FileReaders   []string // tools that read the files that the arguments name
	FileSearchers []string // search or list the files below the paths that the arguments name
	// tools that write the files that the arguments name, and return text that the agent wrote
	FileEditors             []string
	WebReaders              []string // return text from the web, from another document or from an MCP server
	BackgroundOutputReaders []string // tools that return the output of a shell command that an earlier call started
	AgentStarters           []string // tools that start a sub-agent whose tool calls the client reports
	// tools that start a sub-agent or a skill whose tool calls the client does not report
	AgentStartersHidingCalls []string
	OwnTextTools             []string // tools that return text that the agent or the person wrote

	// ForeignTextReaders lists tools that read the web, mail or chats, in the client's spelling. The result of such a
	// tool counts as text by others, unless a hook examined the call and decided differently.
	ForeignTextReaders []string

	ServerToolNameFormat ServerToolNameFormat
	// the client's own tools whose names have the form of an MCP tool's name, in the client's spelling
	ServerLikeTools []string
	// Names of client parts that look like MCP servers, because their tools are named like such a server's tools.
	BuiltinServers []string
}

// ServerToolNameFormat is the form in which a client names tools of MCP servers: a prefix, the server's name, a
// separator, and the tool's name. The separator is "" if the form is not known. Every client may also use the form of
// Claude Code.
type ServerToolNameFormat struct{ Prefix, Separator string }

// The tool names come from Claude Code 2.1.330, Codex 0.169, Gemini CLI 0.61, opencode 1.18, Copilot CLI 1.0.102 and
// Qwen Code 0.24. For all other clients, they come from the public sources that the clients' readers name.
var (
	toolsOfClaude = ClientTools{
		Shells:        []string{"bash", "powershell"},
		FileReaders:   []string{"read", "notebookread"},
		FileSearchers: []string{"glob", "grep", "ls"},
		FileEditors:   []string{"edit", "write", "multiedit", "notebookedit"},
		WebReaders: []string{"webfetch", "websearch", "readmcpresourcetool", "readmcpresource", "listmcpresourcestool",
			"listmcpresources"},
		BackgroundOutputReaders:  []string{"bashoutput", "taskoutput", "monitor"},
		AgentStarters:            []string{"task", "agent"},
		AgentStartersHidingCalls: []string{"skill", "slashcommand", "toolsearch"},
		OwnTextTools: []string{"todowrite", "todoread", "taskcreate", "taskupdate", "tasklist", "taskget", "taskstop",
			"exitplanmode", "enterplanmode",
			"askuserquestion", "killshell", "killbash", "enterworktree", "exitworktree", "sendmessage"},
		ForeignTextReaders:   []string{"WebFetch", "WebSearch"},
		ServerToolNameFormat: ServerToolNameFormat{"mcp__", "__"},
	}
	toolsOfCodex = ClientTools{
		Shells:        []string{"bash", "shell", "exec_command", "local_shell", "shell_command", "container.exec"},
		FileReaders:   []string{"read_file", "view_image"},
		FileSearchers: []string{"list_dir", "grep_files"},
		FileEditors:   []string{"apply_patch"},
		WebReaders: []string{
			"web_search",
			"web_search_call",
			"web.run",
			"browser",
			"read_mcp_resource",
			"list_mcp_resources",
			"list_mcp_resource_templates",
		},
		BackgroundOutputReaders: []string{"write_stdin"},
		AgentStarters: []string{
			"spawn_agent",
			"wait",
			"wait_agent",
			"send_input",
			"close_agent",
			"resume_agent",
		},
		AgentStartersHidingCalls: []string{"tool_search"},
		OwnTextTools:             []string{"update_plan", "request_user_input"},
		ForeignTextReaders:       []string{"web_search", "web_search_call", "web.run", "browser"},
		ServerToolNameFormat:     ServerToolNameFormat{"mcp__", "__"},
	}
	toolsOfGemini = ClientTools{
		Shells:        []string{"run_shell_command"},
		FileReaders:   []string{"read_file", "read_many_files"},
		FileSearchers: []string{"list_directory", "glob", "search_file_content", "grep_search"},
		FileEditors:   []string{"replace", "write_file", "edit"},
		WebReaders: []string{"web_fetch", "google_web_search", "webfetch", "googlesearch", "read_mcp_resource",
			"list_mcp_resources"},
		AgentStartersHidingCalls: []string{
			"activate_skill",
			"codebase_investigator",
			"delegate_to_agent",
			"cli_help",
			"get_internal_docs",
		},
		OwnTextTools:         []string{"write_todos", "save_memory", "ask_user", "enter_plan_mode", "exit_plan_mode"},
		ForeignTextReaders:   []string{"web_fetch", "google_web_search", "WebFetch", "GoogleSearch"},
		ServerToolNameFormat: ServerToolNameFormat{"mcp_", "_"},
	}
	toolsOfOpencode = ClientTools{
		Shells:                   []string{"bash"},
		FileReaders:              []string{"read"},
		FileSearchers:            []string{"glob", "grep", "list"},
		FileEditors:              []string{"edit", "write", "multiedit", "patch", "apply_patch"},
		WebReaders:               []string{"webfetch", "websearch", "codesearch"},
		AgentStarters:            []string{"task"},
		AgentStartersHidingCalls: []string{"skill", "lsp"},
		OwnTextTools:             []string{"todowrite", "todoread", "question", "plan_exit", "plan_enter", "invalid"},
		ForeignTextReaders:       []string{"webfetch", "websearch", "codesearch"},
		ServerToolNameFormat:     ServerToolNameFormat{"", "_"},
		ServerLikeTools:          []string{"apply_patch", "plan_exit", "plan_enter"},
	}
	toolsOfCopilot = ClientTools{
		Shells:        []string{"bash", "powershell"},
		FileReaders:   []string{"view", "show_file", "read"},
		FileSearchers: []string{"glob", "grep", "rg"},
		FileEditors:   []string{"edit", "create", "str_replace", "insert", "apply_patch", "write"},
		WebReaders: []string{
			"web_fetch",
			"web_search",
			"fetch_copilot_cli_documentation",
			"webfetch",
			"websearch",
		},
		BackgroundOutputReaders:  []string{"read_bash", "write_bash", "read_powershell", "write_powershell"},
		AgentStarters:            []string{"task", "agent", "read_agent", "list_agents", "write_agent"},
		AgentStartersHidingCalls: []string{"skill"},
		OwnTextTools: []string{
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
		ForeignTextReaders: []string{
			"web_fetch",
			"web_search",
			"fetch_copilot_cli_documentation",
			"WebFetch",
			"WebSearch",
		},
		ServerToolNameFormat: ServerToolNameFormat{"", "-"},
	}
	toolsOfQwen = ClientTools{
		Shells:                   []string{"run_shell_command"},
		FileReaders:              []string{"read_file", "read_many_files"},
		FileSearchers:            []string{"list_directory", "glob", "grep_search", "search_file_content"},
		FileEditors:              []string{"edit", "replace", "write_file", "notebook_edit"},
		WebReaders:               []string{"web_fetch", "web_search", "webfetch", "websearch"},
		AgentStarters:            []string{"task", "agent"},
		AgentStartersHidingCalls: []string{"skill", "tool_search", "lsp"},
		OwnTextTools: []string{
			"todo_write",
			"save_memory",
			"exit_plan_mode",
			"ask_user_question",
			"enter_plan_mode",
			"task_stop",
		},
		ForeignTextReaders:   []string{"web_fetch", "web_search", "WebFetch", "WebSearch"},
		ServerToolNameFormat: ServerToolNameFormat{"mcp__", "__"},
	}
	toolsOfCursor = ClientTools{
		Shells:      []string{"run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2", "shell"},
		FileReaders: []string{"read_file", "read_file_v2", "read"},
		FileSearchers: []string{
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
		FileEditors: []string{
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
		WebReaders: []string{
			"web_search",
			"websearch",
			"web_fetch",
			"webfetch",
			"fetch_pull_request",
			"callmcptool",
		},
		AgentStarters:            []string{"task", "task_v2", "subagent"},
		AgentStartersHidingCalls: []string{"fetch_rules"},
		OwnTextTools: []string{
			"todo_write",
			"todowrite",
			"create_plan",
			"ask_question",
			"switch_mode",
			"update_memory",
		},
		ForeignTextReaders: []string{
			"web_search",
			"web_fetch",
			"WebSearch",
			"WebFetch",
			"CallMcpTool",
			"fetch_pull_request",
		},
		ServerToolNameFormat: ServerToolNameFormat{"mcp_", "_"},
	}
	toolsOfVSCode = ClientTools{
		Shells:      []string{"run_in_terminal", "copilot_runinterminal", "runtests", "run_task"},
		FileReaders: []string{"read_file", "copilot_readfile"},
		FileSearchers: []string{"grep_search", "file_search", "semantic_search", "list_dir", "copilot_findtextinfiles",
			"copilot_findfiles", "copilot_searchcodebase", "copilot_listdirectory"},
		FileEditors: []string{
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
		WebReaders: []string{"fetch_webpage", "github_repo", "copilot_fetchwebpage", "vscode_fetchwebpage_internal",
			"copilot_githubrepo"},
		BackgroundOutputReaders:  []string{"get_terminal_output", "copilot_getterminaloutput"},
		AgentStartersHidingCalls: []string{"runsubagent"},
		OwnTextTools: []string{
			"manage_todo_list",
			"think",
			"copilot_think",
			"create_directory",
			"copilot_createdirectory",
		},
		ForeignTextReaders: []string{
			"fetch_webpage",
			"github_repo",
			"copilot_fetchWebPage",
			"vscode_fetchWebPage_internal",
		},
		ServerToolNameFormat: ServerToolNameFormat{"mcp_", "_"},
	}
	toolsOfZed = ClientTools{
		Shells:                   []string{"terminal"},
		FileReaders:              []string{"read_file", "open"},
		FileSearchers:            []string{"grep", "find_path", "list_directory", "diagnostics"},
		FileEditors:              []string{"edit_file", "write_file", "streaming_edit_file"},
		WebReaders:               []string{"fetch", "web_search"},
		AgentStartersHidingCalls: []string{"spawn_agent", "subagent", "skill"},
		OwnTextTools: []string{
			"thinking",
			"now",
			"create_directory",
			"copy_path",
			"move_path",
			"delete_path",
			"save_file",
			"restore_file_from_disk",
			"update_plan",
		},
		ForeignTextReaders: []string{"fetch", "web_search"},
	}
	toolsOfGoose = ClientTools{
		Shells:        []string{"developer__shell", "shell"},
		FileReaders:   []string{"developer__read_image", "read_image"},
		FileSearchers: []string{"developer__analyze", "developer__tree", "tree", "analyze"},
		FileEditors: []string{
			"developer__text_editor",
			"developer__write",
			"developer__edit",
			"write",
			"edit",
			"text_editor",
		},
		WebReaders:               []string{"computercontroller__web_scrape", "computercontroller__web_search"},
		AgentStartersHidingCalls: []string{"subagent", "delegate", "load"},
		OwnTextTools: []string{
			"todo__todo_write",
			"todo__todo_read",
			"memory__remember_memory",
			"memory__retrieve_memories",
			"platform__manage_extensions",
			"platform__search_available_extensions",
		},
		ForeignTextReaders:   []string{"computercontroller__web_scrape", "computercontroller__web_search"},
		ServerToolNameFormat: ServerToolNameFormat{"", "__"},
		BuiltinServers:       []string{"developer", "todo", "platform", "memory"},
	}
	toolsOfCline = ClientTools{
		Shells:      []string{"execute_command", "run_commands"},
		FileReaders: []string{"read_file", "read_files"},
		FileSearchers: []string{
			"list_files",
			"search_files",
			"list_code_definition_names",
			"codebase_search",
			"search_codebase",
		},
		FileEditors: []string{"write_to_file", "replace_in_file", "apply_diff", "apply_patch", "insert_content",
			"search_and_replace", "search_replace", "edit_file", "editor", "delete_file"},
		WebReaders: []string{"web_fetch", "web_search", "browser_action", "use_mcp_tool", "access_mcp_resource",
			"fetch_web_content"},
		AgentStartersHidingCalls: []string{"use_skill", "skills", "use_subagents", "new_task", "fetch_instructions"},
		OwnTextTools: []string{
			"ask_followup_question",
			"attempt_completion",
			"plan_mode_respond",
			"act_mode_respond",
			"focus_chain",
			"update_todo_list",
			"switch_mode",
		},
		ForeignTextReaders: []string{"web_fetch", "web_search", "browser_action", "use_mcp_tool", "access_mcp_resource",
			"fetch_web_content"},
	}
	toolsOfPi = ClientTools{
		Shells:        []string{"bash"},
		FileReaders:   []string{"read"},
		FileSearchers: []string{"grep", "find", "ls"},
		FileEditors:   []string{"write", "edit"},
	}
	toolsOfOpenclaw = ClientTools{
		Shells:                   []string{"exec", "bash"},
		FileReaders:              []string{"read"},
		FileSearchers:            []string{"grep", "find", "ls"},
		FileEditors:              []string{"write", "edit", "apply_patch"},
		WebReaders:               []string{"web_search", "web_fetch", "browser", "message"},
		BackgroundOutputReaders:  []string{"process"},
		AgentStartersHidingCalls: []string{"sessions_spawn", "sessions_send", "sessions_history", "subagents"},
		OwnTextTools: []string{
			"memory_search",
			"memory_get",
			"session_status",
			"sessions_list",
			"update_plan",
		},
		ForeignTextReaders: []string{"web_search", "web_fetch", "browser", "message"},
	}
	toolsOfAmp = ClientTools{
		Shells:                   []string{"bash", "shell_command"},
		FileReaders:              []string{"read"},
		FileSearchers:            []string{"grep", "glob", "finder", "list_directory"},
		FileEditors:              []string{"edit_file", "create_file", "apply_patch", "undo_edit"},
		WebReaders:               []string{"read_web_page", "web_search", "librarian"},
		AgentStartersHidingCalls: []string{"task", "oracle", "skill", "read_thread", "find_thread"},
		OwnTextTools:             []string{"todo_write", "todo_read", "task_list"},
		ForeignTextReaders:       []string{"read_web_page", "web_search", "librarian"},
	}
	toolsOfCrush = ClientTools{
		Shells:        []string{"bash"},
		FileReaders:   []string{"view"},
		FileSearchers: []string{"glob", "grep", "ls", "lsp_diagnostics", "lsp_references"},
		FileEditors:   []string{"edit", "multiedit", "write"},
		WebReaders: []string{
			"fetch",
			"agentic_fetch",
			"web_fetch",
			"web_search",
			"sourcegraph",
			"download",
		},
		BackgroundOutputReaders:  []string{"job_output"},
		AgentStartersHidingCalls: []string{"agent"},
		OwnTextTools:             []string{"todos", "job_kill"},
		ForeignTextReaders: []string{
			"fetch",
			"agentic_fetch",
			"web_fetch",
			"web_search",
			"sourcegraph",
			"download",
		},
		ServerToolNameFormat: ServerToolNameFormat{"mcp_", "_"},
	}
	toolsOfHermes = ClientTools{
		Shells:        []string{"terminal"},
		FileReaders:   []string{"read_file"},
		FileSearchers: []string{"search_files"},
		FileEditors:   []string{"write_file", "patch"},
		WebReaders: []string{
			"web_search",
			"web_extract",
			"browser_navigate",
			"browser_snapshot",
			"browser_click",
		},
		BackgroundOutputReaders:  []string{"process"},
		AgentStartersHidingCalls: []string{"delegate_task", "skill_view", "execute_code", "session_search"},
		OwnTextTools:             []string{"todo", "memory", "clarify"},
		ForeignTextReaders:       []string{"web_search", "web_extract", "browser_navigate", "browser_snapshot"},
		ServerToolNameFormat:     ServerToolNameFormat{"mcp_", "_"},
	}
	toolsOfKimi = ClientTools{
		Shells:             []string{"shell", "bash"},
		FileReaders:        []string{"readfile", "readmediafile", "read"},
		FileSearchers:      []string{"glob", "grep"},
		FileEditors:        []string{"writefile", "strreplacefile", "write", "edit"},
		WebReaders:         []string{"searchweb", "fetchurl", "websearch"},
		AgentStarters:      []string{"task", "agent"},
		OwnTextTools:       []string{"settodolist", "think", "todolist"},
		ForeignTextReaders: []string{"SearchWeb", "FetchURL", "WebSearch"},
	}
)
