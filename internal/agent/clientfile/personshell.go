// This file reads commands that the person ran in the client, for example by typing "!ls". Clients store such a command
// as a text in the person's name, which is no prompt.

package clientfile

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// PersonShell is the tool of a call that runs a command of the person, not of the agent.
const PersonShell = "user_shell"

// personShell reports the commands of a conversation.
type personShell struct{ pending string } // ID of a command whose output is in a later line ("" if none)

// shellForms contains the forms of commands and outputs:
//
//	<bash-input>COMMAND</bash-input>                                  Claude Code, Kimi Code
//	<bash-stdout>OUTPUT</bash-stdout><bash-stderr>…</bash-stderr>     the same, in the next line
//	<user_shell_command><command>…</command><result>Exit code: 0 …    Codex
//	I ran the following shell command: ```sh … ``` This produced …    Gemini CLI, Qwen Code
var shellForms = sync.OnceValue(func() [4]*regexp.Regexp {
	return [4]*regexp.Regexp{
		regexp.MustCompile(`(?s)^<bash-input>(.*?)</bash-input>\s*(.*)$`),
		regexp.MustCompile(`(?s)^<bash-std(?:out|err)>.*`),
		regexp.MustCompile(`(?s)^<user_shell_command>\s*<command>\n?(.*?)\n?</command>\s*<result>\n?(.*?)\n?</result>`),
		regexp.MustCompile("(?s)^I ran the following shell command:\\n(?:```\\w*\\n)?(.*?)(?:\\n```)?\\n\\n" +
			"This produced the following (?:result|output):\\n(?:```\\n)?(.*?)(?:\\n```)?$"),
	}
})

// bashOutput matches the tags around an output in the form of Claude Code.
var bashOutput = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?bash-std(?:out|err)>`) })

// isShellText reports whether a text begins like a command of the person, or its output.
func isShellText(text string) bool {
	return strings.HasPrefix(text, "<bash-") || strings.HasPrefix(text, "<user_shell_command>") ||
		strings.HasPrefix(text, "I ran the following shell command:")
}

// report reports the command or the output in a text in the person's name, which has the fields of the event e. It
// returns false if the text has another form.
func (s *personShell) report(e Event, text string, yield func(*Event)) bool {
	text = strings.TrimSpace(text)
	if !isShellText(text) {
		return false
	}
	forms := shellForms()
	if m := forms[0].FindStringSubmatch(text); m != nil {
		s.call(e, m[1], yield)
		if strings.TrimSpace(m[2]) != "" {
			s.result(e, m[2], yield)
		}
		return true
	}
	if forms[1].MatchString(text) {
		s.result(e, text, yield)
		return true
	}
	for _, form := range forms[2:] {
		if m := form.FindStringSubmatch(text); m != nil {
			s.call(e, m[1], yield)
			s.result(e, m[2], yield)
			return true
		}
	}
	return false
}

// call reports the start of a command.
func (s *personShell) call(e Event, command string, yield func(*Event)) {
	e.Kind, e.Turn = EventCall, ""
	e.Text = ""
	e.ID = e.ID + "@" + strconv.FormatInt(e.Offset, 10)
	s.pending = e.ID
	e.Tool = PersonShell
	e.Args, _ = json.Marshal(map[string]string{"command": strings.TrimSpace(command)}) // texts can be encoded
	yield(&e)
}

// result reports the output of the last command. An output without a command is ignored.
func (s *personShell) result(e Event, output string, yield func(*Event)) {
	if s.pending == "" {
		return
	}
	e.Kind, e.ID = EventResult, s.pending
	e.Turn, e.Text = "", ""
	s.pending = ""
	e.output = strings.TrimSpace(bashOutput().ReplaceAllString(output, ""))
	e.Exit = ExitStatus(e.output)
	yield(&e)
}
