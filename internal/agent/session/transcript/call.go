// This file converts a tool call of any client to the form in which the archive stores it.

package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// toolKind says what kind of work a tool does.
type toolKind int

const (
	toolKindOther toolKind = iota
	toolKindShell
	toolKindReadFile
	toolKindWriteFile
	toolKindReadWeb
	toolKindPlan
)

// toolKindsByName contains the kinds of the clients' built-in tools, by lower-case name.
var toolKindsByName = map[string]toolKind{
	"bash": toolKindShell, "shell": toolKindShell, "exec_command": toolKindShell, "local_shell": toolKindShell,
	"shell_command":  toolKindShell,
	"container.exec": toolKindShell, "run_shell_command": toolKindShell, "powershell": toolKindShell,
	"execute_command":  toolKindShell,
	"run_terminal_cmd": toolKindShell, "run_terminal_command": toolKindShell, "run_terminal_command_v2": toolKindShell,
	"run_in_terminal": toolKindShell, "copilot_runinterminal": toolKindShell, "terminal": toolKindShell,
	"developer__shell": toolKindShell,
	"exec":             toolKindShell, clientfile.PersonShellTool: toolKindShell,

	"read": toolKindReadFile, "view": toolKindReadFile, "read_file": toolKindReadFile, "notebookread": toolKindReadFile,
	"open_file":    toolKindReadFile,
	"read_file_v2": toolKindReadFile, "copilot_readfile": toolKindReadFile, "readfile": toolKindReadFile,

	"edit": toolKindWriteFile, "write": toolKindWriteFile, "multiedit": toolKindWriteFile,
	"notebookedit":  toolKindWriteFile,
	"notebook_edit": toolKindWriteFile,
	"replace":       toolKindWriteFile,
	"write_file":    toolKindWriteFile, "create": toolKindWriteFile, "str_replace": toolKindWriteFile,
	"insert":             toolKindWriteFile,
	"str_replace_editor": toolKindWriteFile,
	"multi_edit":         toolKindWriteFile, "apply_patch": toolKindWriteFile, "patch": toolKindWriteFile,
	"write_to_file": toolKindWriteFile, "replace_in_file": toolKindWriteFile, "apply_diff": toolKindWriteFile,
	"insert_content":     toolKindWriteFile,
	"search_and_replace": toolKindWriteFile, "delete_file": toolKindWriteFile, "edit_file": toolKindWriteFile,
	"edit_file_v2":   toolKindWriteFile,
	"search_replace": toolKindWriteFile, "strreplace": toolKindWriteFile, "applypatch": toolKindWriteFile,
	"create_file":            toolKindWriteFile,
	"replace_string_in_file": toolKindWriteFile, "multi_replace_string_in_file": toolKindWriteFile,
	"insert_edit_into_file":  toolKindWriteFile,
	"developer__text_editor": toolKindWriteFile, "text_editor": toolKindWriteFile,
	"developer__write": toolKindWriteFile,
	"developer__edit":  toolKindWriteFile,
	"writefile":        toolKindWriteFile, "strreplacefile": toolKindWriteFile,

	"webfetch": toolKindReadWeb, "websearch": toolKindReadWeb, "web_fetch": toolKindReadWeb,
	"web_search":        toolKindReadWeb,
	"google_web_search": toolKindReadWeb,
	"fetch":             toolKindReadWeb,
	"codesearch":        toolKindReadWeb, "web_search_call": toolKindReadWeb, "fetch_webpage": toolKindReadWeb,
	"read_web_page": toolKindReadWeb, "web_extract": toolKindReadWeb,
	"browser_action": toolKindReadWeb, "searchweb": toolKindReadWeb, "fetchurl": toolKindReadWeb,

	"todowrite": toolKindPlan, "todo_write": toolKindPlan, "update_plan": toolKindPlan, "write_todos": toolKindPlan,
	"update_todo":      toolKindPlan,
	"update_todo_list": toolKindPlan, "manage_todo_list": toolKindPlan, "settodolist": toolKindPlan,
}

// toolInput contains the arguments of a tool, under the names that the different clients use.
type toolInput struct {
	Command       json.RawMessage `json:"command"`
	Cmd           json.RawMessage `json:"cmd"`
	FilePath      string          `json:"file_path"`
	FilePathCamel string          `json:"filePath"`
	NotebookPath  string          `json:"notebook_path"`
	AbsolutePath  string          `json:"absolute_path"`
	Path          string          `json:"path"`
	// path of the edited file, in Cursor's calls until 2025
	TargetFile      string          `json:"target_file"`
	TargetFileCamel string          `json:"targetFile"`            // path of the edited file, in calls of Cursor
	RelativePath    string          `json:"relativeWorkspacePath"` // path of the edited file, in edits of Cursor
	URL             string          `json:"url"`
	Query           string          `json:"query"`
	Prompt          string          `json:"prompt"`
	Input           string          `json:"input"`
	Patch           string          `json:"patch"`
	PatchText       string          `json:"patchText"`
	OldString       string          `json:"old_string"`
	NewString       string          `json:"new_string"`
	OldStringCamel  string          `json:"oldString"`
	NewStringCamel  string          `json:"newString"`
	OldStr          string          `json:"old_str"`
	NewStr          string          `json:"new_str"`
	ReplaceAll      bool            `json:"replace_all"`
	Content         *string         `json:"content"`   // text of a whole file
	FileText        *string         `json:"file_text"` // text of a whole file in Copilot CLI
	Todos           json.RawMessage `json:"todos"`
	TodoList        json.RawMessage `json:"todoList"` // to-do list in VS Code
	Plan            json.RawMessage `json:"plan"`
}

// CallOutcome is a client's report about the result of a call.
type CallOutcome struct {
	HasFailed  bool
	ExitStatus *int   // a command's exit status, if the client reports it outside of the output
	Output     string // the text that the tool returned

	OriginalFileText *string // the file's text before an edit (nil if it is not known)

	// HasTaintedEntryText is set if the returned text contains an entry of the memory that is marked as tainted (from
	// an untrusted source).
	HasTaintedEntryText bool

	// OmitsZeroExitStatus is set if the client mentions a command's exit status only if it is not 0.
	OmitsZeroExitStatus bool
}

// CompleteCallEvent completes the event e for a finished tool call. The event's kind becomes [session.KindToolCall], or
// [session.KindPlan] if the tool manages a to-do list. CompleteCallEvent returns false if the call need not be
// reported. The function clean is applied to the texts that the event stores, in order to remove secrets and other
// parts that must not be stored.
func CompleteCallEvent(
	e session.Event,
	tool string,
	args []byte,
	o CallOutcome,
	clean func(string) string,
) (session.Event, bool) {
	var in toolInput
	_ = clientfile.DecodeObject(args, &in) // Ignore the error: arguments that cannot be decoded stay empty.
	r := toolKindsByName[strings.ToLower(tool)]
	if r == toolKindPlan {
		e.Kind = session.KindPlan
		e.Text = clean(formatPlan(in))
		return e, !o.HasFailed && e.Text != ""
	}
	c := &session.ToolCall{Tool: tool, Failed: o.HasFailed}
	command := commandLine(in)
	if r == toolKindWriteFile && command == "view" {
		r = toolKindReadFile
	}
	file := in.FilePath + in.FilePathCamel + in.NotebookPath + in.AbsolutePath + in.TargetFile + in.TargetFileCamel +
		in.RelativePath
	if file == "" {
		file = in.Path
	}
	switch r {
	case toolKindShell:
		setCommandResult(c, o, clean)
		c.Command = text.TruncateBytes(clean(command), session.MaxCommandBytes)
		if !c.Failed {
			c.WrittenFiles = patchedFiles(command)
			setTextHashes(c, &in, clean)
		}
	case toolKindReadFile:
		c.ReadFiles = asFileList(file)
	case toolKindWriteFile:
		if !c.Failed {
			c.WrittenFiles = asFileList(file)
			if c.WrittenFiles == nil {
				c.WrittenFiles = patchedFiles(command + in.Input + in.Patch + in.PatchText)
			}
			setTextHashes(c, &in, clean)
			setFileHashes(c, &in, o, clean)
		}
	case toolKindReadWeb:
		c.WebQuery = text.TruncateBytes(clean(in.URL+in.Query), session.MaxCommandBytes)
		if c.WebQuery == "" {
			c.WebQuery = text.TruncateBytes(clean(in.Prompt), session.MaxCommandBytes)
		}
	}
	c.WebQuery = cmp.Or(c.WebQuery, o.taintDescription())
	e.Kind, e.Call = session.KindToolCall, c
	return e, true
}

// taintDescription returns "tainted entry" if the output of the call contains an entry of the memory that is tainted,
// which means that its text may come from others. Otherwise it returns "". It recognizes such an output by the field
// HasTaintedEntryText, or by a warning in the output.
func (o *CallOutcome) taintDescription() string {
	if o.HasTaintedEntryText || strings.Contains(o.Output, session.TaintWarning) {
		return "tainted entry"
	}
	return ""
}

func asFileList(file string) []string {
	if file == "" {
		return nil
	}
	return []string{file}
}

// commandLine returns the command line in a shell call, whose argument is a text or an array of words. If the array
// consists of a shell, its option -c and a script, only the script is returned.
func commandLine(arguments toolInput) string {
	raw := arguments.Command
	if len(raw) == 0 {
		raw = arguments.Cmd
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var args []string
	if json.Unmarshal(raw, &args) != nil {
		return ""
	}
	if isShellScriptCall(args) {
		return args[2]
	}
	return strings.Join(args, " ")
}

// isShellScriptCall reports whether the arguments are a shell, its option -c and a script.
func isShellScriptCall(args []string) bool {
	if len(args) != 3 || !strings.HasSuffix(path.Base(args[0]), "sh") {
		return false
	}
	return strings.HasPrefix(args[1], "-") && strings.HasSuffix(args[1], "c")
}

// patchedFiles returns the files that a patch in the form of apply_patch changes.
func patchedFiles(text string) (files []string) {
	_, text, ok := strings.Cut(text, "*** Begin Patch")
	if !ok {
		return nil
	}
	for l := range strings.Lines(text) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if f, ok := strings.CutPrefix(l, mark); ok {
				f = strings.TrimSpace(f)
				if f != "" && !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
		}
	}
	return files
}

// formatPlan returns the to-do list in a tool's arguments as Markdown.
func formatPlan(args toolInput) string {
	raw := args.Todos
	if len(raw) == 0 {
		raw = args.TodoList
	}
	if len(raw) == 0 {
		raw = args.Plan
	}
	var lines string
	if json.Unmarshal(raw, &lines) == nil {
		return strings.TrimSpace(lines)
	}
	var items []struct{ Content, Step, Description, Title, Status string }
	_ = json.Unmarshal(raw, &items)
	var b strings.Builder
	for _, i := range items {
		what := i.Content + i.Step
		if what == "" {
			what = i.Title
		}
		if what == "" {
			what = i.Description
		}
		what = strings.Join(strings.Fields(what), " ")
		if what == "" {
			continue
		}
		mark := " "
		if i.Status == "completed" || i.Status == "done" {
			mark = "x"
		}
		b.WriteString("- [" + mark + "] " + what + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// setCommandResult sets a command's exit status, and whether the command failed. For a failed command, it also sets the
// end of the output.
func setCommandResult(c *session.ToolCall, outcome CallOutcome, clean func(string) string) {
	out, exit := clientfile.ParseOldCodexOutput(outcome.Output)
	if outcome.ExitStatus == nil {
		outcome.ExitStatus = exit
	}
	if outcome.ExitStatus == nil {
		outcome.ExitStatus = clientfile.ExitStatus(out)
	}
	hasPassed := outcome.OmitsZeroExitStatus && !outcome.HasFailed
	if outcome.ExitStatus == nil && hasPassed {
		outcome.ExitStatus = new(int)
	}
	c.ExitStatus = outcome.ExitStatus
	c.Failed = outcome.HasFailed || (outcome.ExitStatus != nil && *outcome.ExitStatus != 0)
	if c.Failed {
		c.Output = outputTail(clean(trimTextAddedByClient(out)))
	}
}

// maxOutputHeadBytes is the maximum size, in bytes, of the text that a client adds before a command's output.
const maxOutputHeadBytes = 1 << 10

// trimTextAddedByClient removes the text that a client adds to a command's output.
func trimTextAddedByClient(out string) string {
	out = strings.TrimSpace(out)
	out = strings.TrimSuffix(strings.TrimPrefix(out, "<untrusted_context>\n"), "\n</untrusted_context>")
	i := strings.Index(out, "\nOutput:\n")
	hasHead := i >= 0 && i < maxOutputHeadBytes
	if hasHead && !strings.HasPrefix(out, "Output:") {
		return out[i+len("\nOutput:\n"):] // Codex puts the word Output on a line before the output of the command.
	}
	if strings.HasPrefix(out, "Command: ") {
		if _, rest, ok := strings.Cut(out, "\nOutput: "); ok {
			out = "Output: " + rest // Qwen Code writes the command before the output.
		}
	}
	// Gemini CLI and Qwen Code put the word Output before the output of a command, and the exit code after the output.
	if rest, ok := strings.CutPrefix(out, "Output: "); ok {
		for _, mark := range []string{"\nError: (none)", "\nExit Code: ", "\nSignal: ", "\nProcess Group PGID: "} {
			if i := strings.LastIndex(rest, mark); i >= 0 {
				rest = rest[:i]
			}
		}
		return rest
	}
	if i := strings.LastIndex(out, "\n<shellId: "); i >= 0 {
		return out[:i]
	}
	if first, rest, _ := strings.Cut(out, "\n"); strings.HasPrefix(
		strings.TrimPrefix(first, "Error: "),
		"Exit code ",
	) {
		return rest
	}
	return out
}

// maxOutputTailBytes is the maximum size of outputTail's result, in bytes.
const maxOutputTailBytes = 4 << 10

// outputTail returns the end of an output, which has at most [session.MaxOutputLines] lines and at most
// maxOutputTailBytes bytes. The first line may be incomplete.
func outputTail(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	if len(s) > maxOutputTailBytes {
		s = strings.ToValidUTF8(s[len(s)-maxOutputTailBytes:], "")
	}
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-session.MaxOutputLines):], "\n")
}

// DecodeOutcome decodes the outcome of a finished call from a client's report. The report is a text, or an object in
// the form of Claude Code, Gemini CLI, Qwen Code or Copilot CLI.
func DecodeOutcome(response []byte) CallOutcome {
	o := decodeOutcome(response)
	o.HasTaintedEntryText = bytes.Contains(response, []byte(session.TaintWarning))
	return o
}

// decodeOutcome is like [DecodeOutcome], but does not set HasTaintedEntryText.
func decodeOutcome(response []byte) CallOutcome {
	var o struct {
		Stdout      *string `json:"stdout"`
		Stderr      string  `json:"stderr"`
		Interrupted bool    `json:"interrupted"`
		Background  string  `json:"backgroundTaskId"`
		// Set if the status is not 0 but is not an error, for example because grep found no match.
		Returned string          `json:"returnCodeInterpretation"`
		Content  json.RawMessage `json:"llmContent"`
		Copilot  string          `json:"text_result_for_llm"`
		Error    json.RawMessage `json:"error"`
		Original *string         `json:"originalFile"`
	}
	if len(response) == 0 || response[0] != '{' {
		return CallOutcome{Output: clientfile.ContentText(response)}
	}
	if !clientfile.DecodeObject(response, &o) {
		return CallOutcome{}
	}
	if o.Stdout != nil {
		return CallOutcome{
			HasFailed:           o.Interrupted,
			OmitsZeroExitStatus: o.Background == "" && o.Returned == "",
			Output: *o.Stdout + "\n" +
				o.Stderr,
		}
	}
	out := o.Copilot + clientfile.ContentText(o.Content)
	return CallOutcome{HasFailed: len(o.Error) > 0 &&
		string(
			o.Error,
		) != "null", OmitsZeroExitStatus: clientfile.IsFinishedGeminiCommand(out), Output: out,
		OriginalFileText: o.Original}
}
