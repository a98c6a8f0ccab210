// This file reads commands that the person ran inside the client, for example by typing "!ls". Clients store such a
// command as a message by the person, but the command is not a prompt to the agent.

package clientfile

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// PersonShellTool is the tool name for a call that stands for a command by the person, not by the agent.
const PersonShellTool = "user_shell"

// personCommandReporter reports the shell commands that the person ran during a conversation. The pendingCallID
// identifies a reported command whose output may be in a later line. It is "" if no output is missing.
type personCommandReporter struct{ pendingCallID string }

// shellTextPatterns matches the forms in which clients store commands and outputs:
//
//	<bash-input>COMMAND</bash-input>                                  Claude Code, Kimi Code
//	<bash-stdout>OUTPUT</bash-stdout><bash-stderr>…</bash-stderr>     the same, in the next line
//	<user_shell_command><command>…</command><result>Exit code: 0 …    Codex
//	I ran the following shell command: ```sh … ``` This produced …    Gemini CLI, Qwen Code
var shellTextPatterns = sync.OnceValue(func() [4]*regexp.Regexp {
	return [4]*regexp.Regexp{
		regexp.MustCompile(`(?s)^<bash-input>(.*?)</bash-input>\s*(.*)$`),
		regexp.MustCompile(`(?s)^<bash-std(?:out|err)>.*`),
		regexp.MustCompile(
			`(?s)^<user_shell_command>\s*<command>\n?(.*?)\n?</command>\s*<result>\n?(.*?)\n?</result>`,
		),
		regexp.MustCompile("(?s)^I ran the following shell command:\\n(?:```\\w*\\n)?(.*?)(?:\\n```)?\\n\\n" +
			"This produced the following (?:result|output):\\n(?:```\\n)?(.*?)(?:\\n```)?$"),
	}
})

// bashOutputTagPattern matches the tags that Claude Code puts around a command's output.
var bashOutputTagPattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`</?bash-std(?:out|err)>`) },
)

// isShellText reports whether a text begins with one of the tags or words with which clients store a shell command by
// the person, or the command's output.
func isShellText(text string) bool {
	return strings.HasPrefix(text, "<bash-") || strings.HasPrefix(text, "<user_shell_command>") ||
		strings.HasPrefix(text, "I ran the following shell command:")
}

// reportShellText reports a shell command that the person ran, or the output of such a command. Clients store both as
// if they were texts by the person. The reported events are copies of e. reportShellText returns false if text contains
// neither a command nor an output.
func (s *personCommandReporter) reportShellText(e Event, text string, yield func(*Event)) bool {
	text = strings.TrimSpace(text)
	if !isShellText(text) {
		return false
	}
	forms := shellTextPatterns()
	if m := forms[0].FindStringSubmatch(text); m != nil {
		s.reportCommand(e, m[1], yield)
		if strings.TrimSpace(m[2]) != "" {
			s.reportOutput(e, m[2], yield)
		}
		return true
	}
	if forms[1].MatchString(text) {
		s.reportOutput(e, text, yield)
		return true
	}
	for _, form := range forms[2:] {
		if m := form.FindStringSubmatch(text); m != nil {
			s.reportCommand(e, m[1], yield)
			s.reportOutput(e, m[2], yield)
			return true
		}
	}
	return false
}

// reportCommand reports that the person ran a command.
func (s *personCommandReporter) reportCommand(e Event, command string, yield func(*Event)) {
	e.Kind, e.TurnID = EventToolCall, ""
	e.Text = ""
	e.ID = e.ID + "@" + strconv.FormatInt(e.Offset, 10)
	s.pendingCallID = e.ID
	e.ToolName = PersonShellTool
	// Ignore the error: strings can always be encoded.
	e.Args, _ = json.Marshal(map[string]string{"command": strings.TrimSpace(command)})
	yield(&e)
}

// reportOutput reports the last command's output. Output without a preceding command is ignored.
func (s *personCommandReporter) reportOutput(e Event, output string, yield func(*Event)) {
	if s.pendingCallID == "" {
		return
	}
	e.Kind, e.ID = EventToolResult, s.pendingCallID
	e.TurnID, e.Text = "", ""
	s.pendingCallID = ""
	e.decodedResultText = strings.TrimSpace(bashOutputTagPattern().ReplaceAllString(output, ""))
	e.ExitStatus = ExitStatus(e.decodedResultText)
	yield(&e)
}
