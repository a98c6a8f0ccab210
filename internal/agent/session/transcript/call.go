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

// toolRole says what kind of work a tool does.
type toolRole int

const (
	roleOther toolRole = iota
	roleShell
	roleReadFile
	roleWriteFile
	roleReadWeb
	rolePlan
)

// toolRoles contains the roles of the clients' built-in tools, by lower-case name.
var toolRoles = map[string]toolRole{
	"bash": roleShell, "shell": roleShell, "exec_command": roleShell, "local_shell": roleShell,
	"shell_command":  roleShell,
	"container.exec": roleShell, "run_shell_command": roleShell, "powershell": roleShell, "execute_command": roleShell,
	"run_terminal_cmd": roleShell, "run_terminal_command": roleShell, "run_terminal_command_v2": roleShell,
	"run_in_terminal": roleShell, "copilot_runinterminal": roleShell, "terminal": roleShell,
	"developer__shell": roleShell,
	"exec":             roleShell, clientfile.PersonShell: roleShell,

	"read": roleReadFile, "view": roleReadFile, "read_file": roleReadFile, "notebookread": roleReadFile,
	"open_file":    roleReadFile,
	"read_file_v2": roleReadFile, "copilot_readfile": roleReadFile, "readfile": roleReadFile,

	"edit": roleWriteFile, "write": roleWriteFile, "multiedit": roleWriteFile, "notebookedit": roleWriteFile,
	"notebook_edit": roleWriteFile,
	"replace":       roleWriteFile,
	"write_file":    roleWriteFile, "create": roleWriteFile, "str_replace": roleWriteFile, "insert": roleWriteFile,
	"str_replace_editor": roleWriteFile,
	"multi_edit":         roleWriteFile, "apply_patch": roleWriteFile, "patch": roleWriteFile,
	"write_to_file": roleWriteFile, "replace_in_file": roleWriteFile, "apply_diff": roleWriteFile,
	"insert_content":     roleWriteFile,
	"search_and_replace": roleWriteFile, "delete_file": roleWriteFile, "edit_file": roleWriteFile,
	"edit_file_v2":   roleWriteFile,
	"search_replace": roleWriteFile, "strreplace": roleWriteFile, "applypatch": roleWriteFile,
	"create_file":            roleWriteFile,
	"replace_string_in_file": roleWriteFile, "multi_replace_string_in_file": roleWriteFile,
	"insert_edit_into_file":  roleWriteFile,
	"developer__text_editor": roleWriteFile, "text_editor": roleWriteFile, "developer__write": roleWriteFile,
	"developer__edit": roleWriteFile,
	"writefile":       roleWriteFile, "strreplacefile": roleWriteFile,

	"webfetch": roleReadWeb, "websearch": roleReadWeb, "web_fetch": roleReadWeb, "web_search": roleReadWeb,
	"google_web_search": roleReadWeb,
	"fetch":             roleReadWeb,
	"codesearch":        roleReadWeb, "web_search_call": roleReadWeb, "fetch_webpage": roleReadWeb,
	"read_web_page": roleReadWeb, "web_extract": roleReadWeb,
	"browser_action": roleReadWeb, "searchweb": roleReadWeb, "fetchurl": roleReadWeb,

	"todowrite": rolePlan, "todo_write": rolePlan, "update_plan": rolePlan, "write_todos": rolePlan,
	"update_todo":      rolePlan,
	"update_todo_list": rolePlan, "manage_todo_list": rolePlan, "settodolist": rolePlan,
}

// toolInput contains the arguments of a tool, under the names that the different clients use.
type toolInput struct {
	Command         json.RawMessage `json:"command"`
	Cmd             json.RawMessage `json:"cmd"`
	FilePath        string          `json:"file_path"`
	FilePathCamel   string          `json:"filePath"`
	NotebookPath    string          `json:"notebook_path"`
	AbsolutePath    string          `json:"absolute_path"`
	Path            string          `json:"path"`
	TargetFile      string          `json:"target_file"`           // name in Cursor until 2025
	TargetFileCamel string          `json:"targetFile"`            // name in Cursor
	RelativePath    string          `json:"relativeWorkspacePath"` // name in Cursor's edits
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
	TodoList        json.RawMessage `json:"todoList"` // name in VS Code
	Plan            json.RawMessage `json:"plan"`
}

// CallOutcome is what a client reports about the result of a call.
type CallOutcome struct {
	Failed     bool
	ExitStatus *int   // a command's exit status, if the client reports it outside of the output
	Output     string // the text that the tool returned

	OriginalFile *string // the file's text before an edit (nil if it is not known)

	// IsTainted is set if the returned text contains a tainted entry of the memory.
	IsTainted bool

	// OmitsZeroExit is set if the client mentions a command's exit status only if it is not 0.
	OmitsZeroExit bool
}

// CompleteCall completes the event e for a finished call. The event's kind becomes [session.KindCall], or
// [session.KindPlan] if the tool manages a to-do list. CompleteCall returns false if the call need not be reported.
// The function clean removes what must not be stored from each text.
func CompleteCall(
	e session.Event,
	tool string,
	args []byte,
	o CallOutcome,
	clean func(string) string,
) (session.Event, bool) {
	var in toolInput
	_ = clientfile.DecodeObject(args, &in) // Ignore the error: arguments that cannot be decoded stay empty.
	r := toolRoles[strings.ToLower(tool)]
	if r == rolePlan {
		e.Kind = session.KindPlan
		e.Text = clean(planText(in))
		return e, !o.Failed && e.Text != ""
	}
	c := &session.ToolCall{Tool: tool, Failed: o.Failed}
	command := commandLine(in)
	if r == roleWriteFile && command == "view" {
		r = roleReadFile
	}
	file := in.FilePath + in.FilePathCamel + in.NotebookPath + in.AbsolutePath + in.TargetFile + in.TargetFileCamel +
		in.RelativePath
	if file == "" {
		file = in.Path
	}
	switch r {
	case roleShell:
		setCommandResult(c, o, clean)
		c.Command = text.TruncateBytes(clean(command), session.MaxCommandBytes)
		if !c.Failed {
			c.WrittenFiles = patchedFiles(command)
			setTextHashes(c, &in, clean)
		}
	case roleReadFile:
		c.ReadFiles = fileList(file)
	case roleWriteFile:
		if !c.Failed {
			c.WrittenFiles = fileList(file)
			if c.WrittenFiles == nil {
				c.WrittenFiles = patchedFiles(command + in.Input + in.Patch + in.PatchText)
			}
			setTextHashes(c, &in, clean)
			setFileHashes(c, &in, o, clean)
		}
	case roleReadWeb:
		c.WebQuery = text.TruncateBytes(clean(in.URL+in.Query), session.MaxCommandBytes)
		if c.WebQuery == "" {
			c.WebQuery = text.TruncateBytes(clean(in.Prompt), session.MaxCommandBytes)
		}
	}
	c.WebQuery = cmp.Or(c.WebQuery, o.taintCause())
	e.Kind, e.Call = session.KindCall, c
	return e, true
}

// taintCause returns "tainted entry" if the returned text contains a tainted entry, and otherwise "".
func (o *CallOutcome) taintCause() string {
	if o.IsTainted || strings.Contains(o.Output, session.TaintWarning) {
		return "tainted entry"
	}
	return ""
}

func fileList(file string) []string {
	if file == "" {
		return nil
	}
	return []string{file}
}

// commandLine returns the command line of a shell call, whose argument is a text or an array of words. If the array
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
	if isScript(args) {
		return args[2]
	}
	return strings.Join(args, " ")
}

// isScript reports whether the arguments are a shell, its option -c and a script.
func isScript(args []string) bool {
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

// planText returns the to-do list in a tool's arguments as Markdown.
func planText(args toolInput) string {
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

// setCommandResult sets a command's exit status. For a failed command, it also sets the end of the output.
func setCommandResult(c *session.ToolCall, o CallOutcome, clean func(string) string) {
	out, exit := clientfile.ParseOldOutput(o.Output)
	if o.ExitStatus == nil {
		o.ExitStatus = exit
	}
	if o.ExitStatus == nil {
		o.ExitStatus = clientfile.ExitStatus(out)
	}
	hasPassed := o.OmitsZeroExit && !o.Failed
	if o.ExitStatus == nil && hasPassed {
		o.ExitStatus = new(int)
	}
	c.ExitStatus = o.ExitStatus
	c.Failed = o.Failed || (o.ExitStatus != nil && *o.ExitStatus != 0)
	if c.Failed {
		c.Output = outputTail(clean(commandOutput(out)))
	}
}

// maxOutputHead is the maximum size, in bytes, of the text that a client adds before a command's output.
const maxOutputHead = 1 << 10

// commandOutput removes the text that a client adds to a command's output.
func commandOutput(out string) string {
	out = strings.TrimSpace(out)
	out = strings.TrimSuffix(strings.TrimPrefix(out, "<untrusted_context>\n"), "\n</untrusted_context>")
	i := strings.Index(out, "\nOutput:\n")
	hasHead := i >= 0 && i < maxOutputHead
	if hasHead && !strings.HasPrefix(out, "Output:") {
		return out[i+len("\nOutput:\n"):] // This is the form of Codex.
	}
	if strings.HasPrefix(out, "Command: ") {
		if _, rest, ok := strings.Cut(out, "\nOutput: "); ok {
			out = "Output: " + rest // This is the form of Qwen Code.
		}
	}
	if rest, ok := strings.CutPrefix(out, "Output: "); ok { // This is the form of Gemini CLI and Qwen Code.
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

// maxTailBytes is the maximum size of the result of outputTail, in bytes.
const maxTailBytes = 4 << 10

// outputTail returns the last lines of an output, at most [session.MaxOutputLines] lines.
func outputTail(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	if len(s) > maxTailBytes {
		s = strings.ToValidUTF8(s[len(s)-maxTailBytes:], "")
	}
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-session.MaxOutputLines):], "\n")
}

// DecodeOutcome decodes the outcome of a finished call from a client's report. The report is a text, or an object in
// the form of Claude Code, Gemini CLI, Qwen Code or Copilot CLI.
func DecodeOutcome(response []byte) CallOutcome {
	o := decodeOutcome(response)
	o.IsTainted = bytes.Contains(response, []byte(session.TaintWarning))
	return o
}

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
			Failed:        o.Interrupted,
			OmitsZeroExit: o.Background == "" && o.Returned == "",
			Output: *o.Stdout + "\n" +
				o.Stderr,
		}
	}
	out := o.Copilot + clientfile.ContentText(o.Content)
	return CallOutcome{Failed: len(o.Error) > 0 &&
		string(
			o.Error,
		) != "null", OmitsZeroExit: clientfile.IsGeminiOutput(out), Output: out, OriginalFile: o.Original}
}
