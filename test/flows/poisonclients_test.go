// This file contains the clients for the tests of memory poisoning. It specifies the reports that each client sends to
// its hook about a prompt, a call, and an answer of the model. The formats are the same as in the recorded reports in
// internal/hook/testdata.

package flows

import (
	"fmt"
	"path/filepath"
	"time"
)

// toolUse is a kind of action for which an agent uses a tool, such as "read a file". The constants below are its
// values.
type toolUse string

const (
	useShell    toolUse = "shell"
	useRead     toolUse = "read a file"
	useSearch   toolUse = "search files"
	useWrite    toolUse = "write a file"
	useEdit     toolUse = "edit a file"
	useFetch    toolUse = "fetch a page"
	useFind     toolUse = "search the web"
	useServer   toolUse = "tool of another MCP server"
	useResource toolUse = "resource of another MCP server"
	useAgent    toolUse = "sub-agent"
	useLate     toolUse = "output of an earlier command"
	useSkill    toolUse = "skill"
	useOwn      toolUse = "tool of oxbow"
)

// toolForm is a tool of a client. It contains the name of the tool, and the tool's input for an argument, which is a
// command, a path, an address or a question.
type toolForm struct {
	name  string
	input func(arg string) object
}

// agentClient is a client whose hooks send reports.
type agentClient struct {
	name                     string
	prompted, called, failed string // names of the events for a prompt, a call, and a failed call
	// The string stopped is the name of the event at the end of an answer. The string said is the name of the field
	// that contains the answer. They are "" if the hook does not have them.
	stopped, said string
	// names of the fields that contain the IDs of the turn and the call ("" if there are no such fields)
	turnField, callField string
	hasTime              bool   // reports contain a timestamp
	mcpName              string // name of the client that servers receive
	vars                 func(session string) map[string]string
	meta                 func(session, call string) object // metadata of a call of an MCP tool
	tools                map[toolUse]toolForm
	answer               func(use toolUse, arg, text string) object // fields that contain the result of a call
	showsBeforeEdit      bool
	// fields in the reports of a sub-agent (nil if there are none)
	subagent func(session string) object
}

// keyed returns a function that returns the input of a tool with one variable argument. All other arguments are
// constant.
func keyed(key string, more ...string) func(string) object {
	return func(arg string) object {
		o := object{key: arg}
		for i := 0; i+1 < len(more); i += 2 {
			o[more[i]] = more[i+1]
		}
		return o
	}
}

// written returns a function that makes the input of a tool that writes a file. The parameters path and content are the
// names of the tool's fields for the path and for the content. The argument of the returned function is the path of the
// file.
func written(path, content string) func(string) object {
	return func(arg string) object { return object{path: arg, content: "package work\n"} }
}

// edited returns a function that builds the input of a client's edit tool. The function's argument is the path of the
// file. The parameters path, before and after are the names of the fields for the file's path, the old text and the new
// text. The old and the new text are always the same.
func edited(path, before, after string) func(string) object {
	return func(arg string) object {
		return object{path: arg, before: "package work", after: "package work // edited"}
	}
}

func answerOfClaude(use toolUse, arg, text string) object {
	content := []object{{"type": "text", "text": text}}
	var response any = content
	switch use {
	case useShell:
		response = object{"stdout": text, "stderr": "", "interrupted": false, "isImage": false,
			"noOutputExpected": false}
	case useRead:
		response = object{
			"type": "text",
			"file": object{"filePath": arg, "content": text, "numLines": 3, "startLine": 1, "totalLines": 3},
		}
	case useSearch:
		response = object{"mode": "content", "numFiles": 1, "filenames": []string{}, "content": text, "numLines": 1}
	case useWrite, useEdit:
		response = object{"filePath": arg, "structuredPatch": []any{}}
	case useFetch:
		response = object{"bytes": len(text), "code": 200, "codeText": "OK", "result": text, "url": arg}
	case useFind:
		response = object{
			"query": arg,
			"results": []any{
				object{"tool_use_id": "srvtoolu_1", "content": []object{{"title": text, "url": "https://example.org"}}},
				text,
			},
		}
	case useAgent:
		response = object{"status": "completed", "prompt": arg, "agentType": "general-purpose", "content": content}
	}
	return object{"tool_response": response}
}

// answerOfModel returns a function that builds the report of a tool call's result, as Gemini CLI and Qwen Code send it.
// In the report, llmContent is the text for the model, which the function shown returns, and returnDisplay is the text
// for the person.
func answerOfModel(shown func(use toolUse, arg, text string) string) func(toolUse, string, string) object {
	return func(use toolUse, arg, text string) object {
		return object{"tool_response": object{"llmContent": shown(use, arg, text), "returnDisplay": text}}
	}
}

func agentClients() []*agentClient {
	session := func(name, field string) func(string) map[string]string {
		return func(id string) map[string]string { return map[string]string{name: "1", field: id} }
	}
	progress := func(string, string) object { return object{"progressToken": 1} }
	server := toolForm{"mcp__tracker__get_issue", keyed("id")}
	return []*agentClient{
		{
			name: "claude", prompted: "UserPromptSubmit", called: "PostToolUse", failed: "PostToolUseFailure",
			stopped: "Stop", said: "last_assistant_message",
			turnField: "prompt_id", callField: "tool_use_id", mcpName: "claude-code",
			vars: session("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"),
			meta: func(_, call string) object {
				return object{"claudecode/toolUseId": call, "progressToken": 1}
			},
			showsBeforeEdit: true, answer: answerOfClaude,
			subagent: func(string) object {
				return object{"agent_id": "accde037c1a877351", "agent_type": "general-purpose"}
			},
			tools: map[toolUse]toolForm{
				useShell: {"Bash", keyed("command", "description", "d")}, useRead: {"Read", keyed("file_path")},
				useSearch: {"Grep", keyed("path", "pattern", "gate", "output_mode", "content")},
				useWrite:  {"Write", written("file_path", "content")},
				useEdit:   {"Edit", edited("file_path", "old_string", "new_string")},
				useFetch:  {"WebFetch", keyed("url", "prompt", "What does it say?")},
				useFind:   {"WebSearch", keyed("query")}, useServer: server,
				useResource: {"ReadMcpResourceTool", keyed("uri", "server", "tracker")},
				useAgent:    {"Agent", keyed("prompt", "subagent_type", "general-purpose")},
				useLate:     {"BashOutput", keyed("bash_id")}, useSkill: {"Skill", keyed("skill")},
				useOwn: {"mcp__oxbow__", keyed("name")},
			},
		}, {
			name: "codex", prompted: "UserPromptSubmit", called: "PostToolUse", failed: "PostToolUse", stopped: "Stop",
			said:      "last_assistant_message",
			turnField: "turn_id", callField: "tool_use_id", mcpName: "codex-mcp-client",
			vars: session("CODEX_CI", "CODEX_THREAD_ID"),
			meta: func(id, call string) object {
				return object{"sessionId": id, "threadId": id, "callId": call}
			},
			showsBeforeEdit: true,
			subagent: func(id string) object {
				return object{"agent_id": id + "-sub", "agent_type": "worker", "turn_id": id + "-sub-turn"}
			},
			answer: func(use toolUse, _, text string) object {
				if use == useServer || use == useOwn || use == useResource {
					return object{"tool_response": object{"content": []object{{"type": "text", "text": text}}}}
				}
				return object{"tool_response": text}
			},
			tools: map[toolUse]toolForm{
				useShell: {"Bash", keyed("command")}, useRead: {"Bash", func(arg string) object {
					return object{"command": "cat " + arg}
				}},
				useSearch: {"Bash", func(arg string) object { return object{"command": "rg -n gate " + arg} }},
				useWrite: {"apply_patch", func(arg string) object {
					return object{"command": "*** Begin Patch\n*** Add File: " + arg + "\n+package work\n*** End Patch"}
				}},
				useEdit: {"apply_patch", func(arg string) object {
					return object{"command": "*** Begin Patch\n*** Update File: " + arg +
						"\n@@\n-package work\n+package work // edited\n*** End Patch"}
				}},
				useFind: {"web_search", keyed("query")}, useServer: server,
				useResource: {"read_mcp_resource", keyed("uri", "server", "tracker")},
				useAgent:    {"wait", keyed("id")}, useLate: {"write_stdin", keyed("session_id", "chars", "")},
				useOwn: {"mcp__oxbow__", keyed("name")},
			},
		}, {
			name: "gemini", prompted: "BeforeAgent", called: "AfterTool", failed: "AfterTool", stopped: "AfterAgent",
			said:    "prompt_response",
			hasTime: true, mcpName: "gemini-cli-mcp-client", vars: session("GEMINI_CLI", "GEMINI_SESSION"),
			meta: progress,
			answer: answerOfModel(func(use toolUse, _, text string) string {
				if use == useShell || use == useServer || use == useOwn {
					return "<untrusted_context>\nOutput: " + text + "\nProcess Group PGID: 31699\n</untrusted_context>"
				}
				return text
			}),
			tools: map[toolUse]toolForm{
				useShell:  {"run_shell_command", keyed("command", "description", "d")},
				useRead:   {"read_file", keyed("file_path")},
				useSearch: {"search_file_content", keyed("path", "pattern", "gate")},
				useWrite:  {"write_file", written("file_path", "content")},
				useEdit:   {"replace", edited("file_path", "old_string", "new_string")},
				useFetch:  {"web_fetch", keyed("prompt")}, useFind: {"google_web_search", keyed("query")},
				useServer: {"mcp_tracker_get_issue", keyed("id")}, useResource: {"read_mcp_resource", keyed("uri")},
				useAgent: {"codebase_investigator", keyed("objective")},
				useSkill: {"activate_skill", keyed("name")}, useOwn: {"mcp_oxbow_", keyed("name")},
			},
		}, {
			name: "opencode", prompted: "UserPromptSubmit", called: "PostToolUse", failed: "PostToolUseFailure",
			stopped: "Stop", said: "AgentText",
			turnField: "turn_id", callField: "tool_use_id", hasTime: true, mcpName: "opencode",
			vars: session("OPENCODE", "OPENCODE_SESSION"), meta: progress,
			answer:   func(_ toolUse, _, text string) object { return object{"tool_response": text} },
			subagent: func(string) object { return object{"agent_type": "general"} },
			tools: map[toolUse]toolForm{
				useShell: {"bash", keyed("command", "description", "d")}, useRead: {"read", keyed("filePath")},
				useSearch: {"grep", keyed("path", "pattern", "gate")},
				useWrite:  {"write", written("filePath", "content")},
				useEdit:   {"edit", edited("filePath", "oldString", "newString")},
				useFetch:  {"webfetch", keyed("url", "format", "markdown")}, useFind: {"websearch", keyed("query")},
				useServer: {"tracker_get_issue", keyed("id")},
				useAgent:  {"task", keyed("prompt", "subagent_type", "general")}, useSkill: {"skill", keyed("name")},
				useOwn: {"oxbow_", keyed("name")},
			},
		}, {
			name: "copilot", prompted: "UserPromptSubmit", called: "PostToolUse", failed: "PostToolUseFailure",
			stopped: "Stop",
			hasTime: true, mcpName: "github-copilot-developer",
			vars: session("COPILOT_CLI_BINARY_VERSION", "COPILOT_SESSION"), meta: progress,
			showsBeforeEdit: true,
			subagent: func(id string) object {
				return object{"session_id": id + "-sub", "agent_id": id +
					"-sub", "agent_type": "general-purpose", "parent_agent_id": id}
			},
			answer: func(use toolUse, _, text string) object {
				if use == useShell {
					text += "\n<shellId: 0 completed with exit code 0>"
				}
				return object{"tool_result": object{"result_type": "success", "text_result_for_llm": text}}
			},
			tools: map[toolUse]toolForm{
				useShell: {"Bash", keyed("command", "description", "d", "mode", "sync")},
				useRead:  {"Read", keyed("path")}, useSearch: {"Grep", keyed("path", "pattern", "gate")},
				useWrite: {"Write", written("path", "file_text")},
				useEdit:  {"Edit", edited("path", "old_str", "new_str")}, useFetch: {"WebFetch", keyed("url")},
				useFind: {"WebSearch", keyed("query")}, useServer: {"tracker-get_issue", keyed("id")},
				useAgent: {"Agent", keyed("prompt", "agent_type", "general-purpose")},
				useLate:  {"read_bash", keyed("shellId")}, useSkill: {"skill", keyed("skill")},
				useOwn: {"oxbow-", keyed("name")},
			},
		}, {
			name: "qwen", prompted: "UserPromptSubmit", called: "PostToolUse", failed: "PostToolUseFailure",
			stopped: "Stop", said: "last_assistant_message",
			turnField: "prompt_id", callField: "tool_use_id", hasTime: true, mcpName: "qwen-cli-mcp-client",
			vars: session("QWEN_CODE", "QWEN_SESSION"), meta: progress,
			subagent: func(id string) object { return object{"agent_id": "general-purpose-" + id} },
			answer: answerOfModel(func(use toolUse, arg, text string) string {
				if use == useShell {
					return "Command: " + arg + "\nDirectory: (root)\nOutput: " + text +
						"\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)"
				}
				return text
			}),
			tools: map[toolUse]toolForm{
				useShell:  {"run_shell_command", keyed("command", "description", "d")},
				useRead:   {"read_file", keyed("file_path")},
				useSearch: {"grep_search", keyed("path", "pattern", "gate")},
				useWrite:  {"write_file", written("file_path", "content")},
				useEdit:   {"edit", edited("file_path", "old_string", "new_string")},
				useFetch:  {"web_fetch", keyed("url", "prompt", "What does it say?")},
				useFind:   {"web_search", keyed("query")}, useServer: server,
				useAgent: {"agent", keyed("prompt", "subagent_type", "general-purpose")},
				useSkill: {"skill", keyed("skill")}, useOwn: {"mcp__oxbow__", keyed("name")},
			},
		},
	}
}

// agentSession is a session of an agent in a client.
type agentSession struct {
	*poisonHome
	client *agentClient
	id     string
	turns  int
	calls  int
}

// report sends a report to the hook of the client and returns the answer.
func (s *agentSession) report(event string, fields object) string {
	o := object{"session_id": s.id, "hook_event_name": event, "cwd": s.dir, "permission_mode": "default"}
	if s.client.turnField != "" && s.turns > 0 {
		o[s.client.turnField] = fmt.Sprintf("%s-turn-%d", s.id, s.turns)
	}
	if s.client.hasTime {
		o["timestamp"] = s.env.Now().UTC().Format(time.RFC3339Nano)
	}
	switch s.client.name {
	case "claude", "codex", "gemini", "qwen":
		o["transcript_path"] = filepath.Join(s.vars["HOME"], "transcripts", s.id+".jsonl")
	case "opencode":
		o["agent_type"] = ""
	}
	for k, v := range fields {
		o[k] = v
	}
	s.runWith(s.t, encoded(s.t, o), "hook", s.client.name)
	answer := s.out.String()
	s.note(s.client.name+" "+event, answer)
	return answer
}

func (s *agentSession) start(source string) string {
	return s.report("SessionStart", object{"source": source})
}

func (s *agentSession) prompt(text string) string {
	s.turns++
	return s.report(s.client.prompted, object{"prompt": text})
}

// call reports to the client's hook that the agent has called a tool. The parameter use says which kind of tool, arg is
// its argument, and text is its result. The fields of the objects more are added to the report, and replace fields with
// the same name.
func (s *agentSession) call(use toolUse, arg, text string, more ...object) {
	form := s.client.tools[use]
	fields := s.client.answer(use, arg, text)
	s.calls++
	fields["tool_name"], fields["tool_input"] = form.name, form.input(arg)
	if s.client.callField != "" {
		fields[s.client.callField] = s.callID()
	}
	if s.client.name == "opencode" && use == useShell {
		fields["exit_status"] = 0
	}
	for _, o := range more {
		for k, v := range o {
			fields[k] = v
		}
	}
	s.report(s.client.called, fields)
}

// fails reports that a shell command failed.
func (s *agentSession) fails(command, output string) {
	s.calls++
	form := s.client.tools[useShell]
	fields := object{"tool_name": form.name, "tool_input": form.input(command)}
	if s.client.callField != "" {
		fields[s.client.callField] = s.callID()
	}
	switch s.client.name {
	case "codex":
		fields["tool_response"] = output
	case "gemini":
		fields["tool_response"] = object{"llmContent": "<untrusted_context>\nOutput: " + output +
			"\nExit Code: 1\n</untrusted_context>", "returnDisplay": output}
	case "qwen":
		fields["error"] = "Command: " + command + "\nDirectory: (root)\nOutput: " + output +
			"\nError: (none)\nExit Code: 1"
	default:
		fields["error"] = "Exit code 1\n" + output
	}
	s.report(s.client.failed, fields)
}

func (s *agentSession) callID() string { return fmt.Sprintf("toolu_%s_%d", s.id, s.calls) }

// stop reports that the agent ended its turn with the given answer.
func (s *agentSession) stop(answer string) {
	fields := object{"stop_hook_active": false}
	switch s.client.said {
	case "": // The report has no field for the answer, so write it to the transcript.
		s.transcribe(answer)
	case "AgentText":
		s.report("AgentText", object{"text": answer, "text_id": fmt.Sprintf("prt_%s_%d", s.id, s.turns)})
	default:
		fields[s.client.said] = answer
	}
	s.report(s.client.stopped, fields)
}

// transcribe adds an answer to the transcript of Copilot CLI.
func (s *agentSession) transcribe(answer string) {
	line := encoded(s.t, object{"type": "assistant.message", "timestamp": s.env.Now().UTC().Format(time.RFC3339Nano),
		"id":   fmt.Sprintf("%s-%d", s.id, s.turns),
		"data": object{"messageId": fmt.Sprintf("m-%s-%d", s.id, s.turns), "content": answer, "toolRequests": []any{}}})
	s.appendFile(filepath.Join(s.vars["HOME"], ".copilot", "session-state", s.id, "events.jsonl"), line)
}

// tool lets the agent call a tool of the oxbow server. The client also reports the call.
func (s *agentSession) tool(name string, args object) (answer string) {
	s.calls++
	call := object{"name": name, "arguments": args, "_meta": s.client.meta(s.id, s.callID())}
	answer = s.ask(s.client, call)[0]
	s.heard(answer)
	s.calls--
	form := s.client.tools[useOwn]
	own := *s.client
	own.tools = map[toolUse]toolForm{useOwn: {form.name + name, func(string) object { return args }}}
	was := s.client
	s.client = &own
	s.call(useOwn, "", answer)
	s.client = was
	return answer
}

// shell runs oxbow with the arguments args, like an agent in a shell, and returns the output. If withVars is true, the
// environment contains the variables of the client. The client then reports the command line in the argument line.
func (s *agentSession) shell(withVars bool, stdin, line string, args ...string) (out string) {
	out = s.unreported(withVars, stdin, args...)
	s.call(useShell, line, out)
	return out
}

// unreported runs oxbow as a command in the agent's shell, like the method shell, but without a report to the hook. The
// caller may send the report later. If withVars is true, the command gets the variables that the client sets in its
// shell.
func (s *agentSession) unreported(withVars bool, stdin string, args ...string) (out string) {
	if withVars {
		for k, v := range s.client.vars(s.id) {
			s.vars[k] = v
		}
		defer func() {
			for k := range s.client.vars(s.id) {
				delete(s.vars, k)
			}
		}()
	}
	s.env.Stdin = s.reader(stdin)
	_, stdout, stderr := s.run(s.t, args...)
	s.heard(stdout + stderr)
	return stdout + stderr
}

// heard records the output of a command or tool for the flow that is running.
func (s *agentSession) heard(text string) {
	if s.flow != nil {
		s.flow.out += text
	}
}
