// This file converts a tool call of any client into the stored form.

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

// role is the kind of work that a tool does.
type role int

const (
	other role = iota
	shell
	reads
	writes
	asks
	plans
)

// roles contains the roles of the clients' built-in tools, by name in lower case.
var roles = map[string]role{
	"bash": shell, "shell": shell, "exec_command": shell, "local_shell": shell, "shell_command": shell,
	"container.exec": shell, "run_shell_command": shell, "powershell": shell, "execute_command": shell,
	"run_terminal_cmd": shell, "run_terminal_command": shell, "run_terminal_command_v2": shell,
	"run_in_terminal": shell, "copilot_runinterminal": shell, "terminal": shell, "developer__shell": shell,
	"exec": shell, clientfile.PersonShell: shell,

	"read": reads, "view": reads, "read_file": reads, "notebookread": reads, "open_file": reads,
	"read_file_v2": reads, "copilot_readfile": reads, "readfile": reads,

	"edit": writes, "write": writes, "multiedit": writes, "notebookedit": writes, "notebook_edit": writes,
	"replace":    writes,
	"write_file": writes, "create": writes, "str_replace": writes, "insert": writes, "str_replace_editor": writes,
	"multi_edit": writes, "apply_patch": writes, "patch": writes,
	"write_to_file": writes, "replace_in_file": writes, "apply_diff": writes, "insert_content": writes,
	"search_and_replace": writes, "delete_file": writes, "edit_file": writes, "edit_file_v2": writes,
	"search_replace": writes, "strreplace": writes, "applypatch": writes, "create_file": writes,
	"replace_string_in_file": writes, "multi_replace_string_in_file": writes, "insert_edit_into_file": writes,
	"developer__text_editor": writes, "text_editor": writes, "developer__write": writes, "developer__edit": writes,
	"writefile": writes, "strreplacefile": writes,

	"webfetch": asks, "websearch": asks, "web_fetch": asks, "web_search": asks, "google_web_search": asks,
	"fetch":      asks,
	"codesearch": asks, "web_search_call": asks, "fetch_webpage": asks, "read_web_page": asks, "web_extract": asks,
	"browser_action": asks, "searchweb": asks, "fetchurl": asks,

	"todowrite": plans, "todo_write": plans, "update_plan": plans, "write_todos": plans, "update_todo": plans,
	"update_todo_list": plans, "manage_todo_list": plans, "settodolist": plans,
}

// input contains the arguments of a tool, with the names that the clients use.
type input struct {
	Command    json.RawMessage `json:"command"`
	Cmd        json.RawMessage `json:"cmd"`
	FilePath   string          `json:"file_path"`
	FilePathC  string          `json:"filePath"`
	Notebook   string          `json:"notebook_path"`
	Absolute   string          `json:"absolute_path"`
	Path       string          `json:"path"`
	Target     string          `json:"target_file"`           // Cursor, until 2025
	TargetC    string          `json:"targetFile"`            // Cursor
	Relative   string          `json:"relativeWorkspacePath"` // Cursor, of edits
	URL        string          `json:"url"`
	Query      string          `json:"query"`
	Prompt     string          `json:"prompt"`
	Input      string          `json:"input"`
	Patch      string          `json:"patch"`
	PatchText  string          `json:"patchText"`
	OldString  string          `json:"old_string"`
	NewString  string          `json:"new_string"`
	OldStringC string          `json:"oldString"`
	NewStringC string          `json:"newString"`
	OldStr     string          `json:"old_str"`
	NewStr     string          `json:"new_str"`
	ReplaceAll bool            `json:"replace_all"`
	Content    *string         `json:"content"`   // text of a whole file
	FileText   *string         `json:"file_text"` // the same in Copilot CLI
	Todos      json.RawMessage `json:"todos"`
	TodoList   json.RawMessage `json:"todoList"` // VS Code
	Plan       json.RawMessage `json:"plan"`
}

// Outcome is the result of a call.
type Outcome struct {
	Failed bool
	Exit   *int   // exit status of a command, if the client reports it separately from the output
	Output string // the text that the tool returned

	Original *string // text of the file before an edit (nil if not known)

	// Tainted reports whether the returned text contains a tainted entry of the memory.
	Tainted bool

	// Silent reports whether the client mentions the exit status of a command only if it is not 0.
	Silent bool
}

// CompleteCall completes the event e of a finished call. The kind becomes [session.Called], or
// [session.Plan] if the tool manages a to-do list. It returns false if the call need not be
// reported. The function clean is applied to texts and removes what must not be stored.
func CompleteCall(
	e session.Event,
	tool string,
	args []byte,
	o Outcome,
	clean func(string) string,
) (session.Event, bool) {
	var in input
	_ = clientfile.Decode(args, &in) // arguments that cannot be decoded stay empty
	r := roles[strings.ToLower(tool)]
	if r == plans {
		e.Kind = session.Plan
		e.Text = clean(planText(in))
		return e, !o.Failed && e.Text != ""
	}
	c := &session.Call{Tool: tool, Failed: o.Failed}
	command := commandLine(in)
	if r == writes && command == "view" {
		r = reads
	}
	file := in.FilePath + in.FilePathC + in.Notebook + in.Absolute + in.Target + in.TargetC + in.Relative
	if file == "" {
		file = in.Path
	}
	switch r {
	case shell:
		endCommand(c, o, clean)
		c.Command = text.CutPrefix(clean(command), session.MaxCommand)
		if !c.Failed {
			c.Wrote = patchedFiles(command)
			identify(c, &in, clean)
		}
	case reads:
		c.Read = fileList(file)
	case writes:
		if !c.Failed {
			c.Wrote = fileList(file)
			if c.Wrote == nil {
				c.Wrote = patchedFiles(command + in.Input + in.Patch + in.PatchText)
			}
			identify(c, &in, clean)
			identifyFile(c, &in, o, clean)
		}
	case asks:
		c.Asked = text.CutPrefix(clean(in.URL+in.Query), session.MaxCommand)
		if c.Asked == "" {
			c.Asked = text.CutPrefix(clean(in.Prompt), session.MaxCommand)
		}
	}
	c.Asked = cmp.Or(c.Asked, o.foreign())
	e.Kind, e.Call = session.Called, c
	return e, true
}

// foreign returns "tainted entry" if the answer contains a tainted entry, otherwise "".
func (o *Outcome) foreign() string {
	if o.Tainted || strings.Contains(o.Output, session.Warned) {
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

// commandLine returns a shell call's command line. In the call, it is a text or an array of
// arguments. An array of a shell, its -c option and a script is reduced to the script.
func commandLine(in input) string {
	raw := in.Command
	if len(raw) == 0 {
		raw = in.Cmd
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

// isScript reports whether arguments are a shell, its option -c and a script.
func isScript(args []string) bool {
	if len(args) != 3 || !strings.HasSuffix(path.Base(args[0]), "sh") {
		return false
	}
	return strings.HasPrefix(args[1], "-") && strings.HasSuffix(args[1], "c")
}

// patchedFiles returns the files that an apply_patch patch changes.
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

// planText returns a to-do list as Markdown.
func planText(in input) string {
	raw := in.Todos
	if len(raw) == 0 {
		raw = in.TodoList
	}
	if len(raw) == 0 {
		raw = in.Plan
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

// endCommand sets a command's exit status. If the command failed, it also sets the end
// of the output.
func endCommand(c *session.Call, o Outcome, clean func(string) string) {
	out, exit := clientfile.OldOutput(o.Output)
	if o.Exit == nil {
		o.Exit = exit
	}
	if o.Exit == nil {
		o.Exit = clientfile.ExitStatus(out)
	}
	hasPassed := o.Silent && !o.Failed
	if o.Exit == nil && hasPassed {
		o.Exit = new(int)
	}
	c.Exit = o.Exit
	c.Failed = o.Failed || (o.Exit != nil && *o.Exit != 0)
	if c.Failed {
		c.Output = tail(clean(commandOutput(out)))
	}
}

// maxHead is the maximum size in bytes of the text that a client adds before a command's output.
const maxHead = 1 << 10

// commandOutput returns the output of a command without the text that the client added.
func commandOutput(out string) string {
	out = strings.TrimSpace(out)
	out = strings.TrimSuffix(strings.TrimPrefix(out, "<untrusted_context>\n"), "\n</untrusted_context>")
	i := strings.Index(out, "\nOutput:\n")
	hasHead := i >= 0 && i < maxHead
	if hasHead && !strings.HasPrefix(out, "Output:") {
		return out[i+len("\nOutput:\n"):] // Codex
	}
	if strings.HasPrefix(out, "Command: ") {
		if _, rest, ok := strings.Cut(out, "\nOutput: "); ok {
			out = "Output: " + rest // Qwen Code
		}
	}
	if rest, ok := strings.CutPrefix(out, "Output: "); ok { // Gemini CLI and Qwen Code
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
	if first, rest, _ := strings.Cut(out, "\n"); strings.HasPrefix(strings.TrimPrefix(first, "Error: "), "Exit code ") {
		return rest
	}
	return out
}

// maxTail is the maximum length of a tail in bytes.
const maxTail = 4 << 10

// tail returns the last lines of an output, at most [session.MaxOutputLines].
func tail(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	if len(s) > maxTail {
		s = strings.ToValidUTF8(s[len(s)-maxTail:], "")
	}
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-session.MaxOutputLines):], "\n")
}

// DecodeOutcome decodes a finished call's outcome from a client's report. The report is a text, or an
// object in the form of Claude Code, Gemini CLI, Qwen Code or Copilot CLI.
func DecodeOutcome(response []byte) Outcome {
	o := decodeOutcome(response)
	o.Tainted = bytes.Contains(response, []byte(session.Warned))
	return o
}

func decodeOutcome(response []byte) Outcome {
	var o struct {
		Stdout      *string `json:"stdout"`
		Stderr      string  `json:"stderr"`
		Interrupted bool    `json:"interrupted"`
		Background  string  `json:"backgroundTaskId"`
		// Set for a status other than 0 that is not an error, such as grep's without a
		// match.
		Returned string          `json:"returnCodeInterpretation"`
		Content  json.RawMessage `json:"llmContent"`
		Copilot  string          `json:"text_result_for_llm"`
		Error    json.RawMessage `json:"error"`
		Original *string         `json:"originalFile"`
	}
	if len(response) == 0 || response[0] != '{' {
		return Outcome{Output: clientfile.Text(response)}
	}
	if !clientfile.Decode(response, &o) {
		return Outcome{}
	}
	if o.Stdout != nil {
		return Outcome{Failed: o.Interrupted, Silent: o.Background == "" && o.Returned == "", Output: *o.Stdout + "\n" +
			o.Stderr}
	}
	out := o.Copilot + clientfile.Text(o.Content)
	return Outcome{Failed: len(o.Error) > 0 &&
		string(o.Error) != "null", Silent: clientfile.OutputFirst(out), Output: out, Original: o.Original}
}
