// This file separates what people wrote from text that clients add to it.

package clientfile

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// clientWrittenPrefixes lists the beginnings of user messages that the client wrote itself.
var clientWrittenPrefixes = []string{
	"<local-command-", "<bash-", "<task-notification>", "<environment_context>", "<user_instructions>",
	"<session_context>", "<turn_aborted>", "<system-reminder>",
	"<subagent_notification>", "# AGENTS.md instructions", "Caveat: The messages below", "[Request interrupted",
	"Stop hook feedback:", "<teammate-message", "This session is being continued from a previous conversation",
}

var commandTagPatterns = sync.OnceValue(func() [2]*regexp.Regexp {
	return [2]*regexp.Regexp{
		regexp.MustCompile(`(?s)<command-name>(.*?)</command-name>`),
		regexp.MustCompile(`(?s)<command-args>(.*?)</command-args>`),
	}
})

// builtinCommands lists commands that clients execute themselves. Such a command is not a prompt.
var builtinCommands = []string{"/about", "/add-dir", "/agents", "/approvals", "/auth", "/chat", "/clear", "/compact",
	"/compress", "/config", "/context", "/copy", "/cost", "/diff", "/directory", "/doctor", "/editor", "/effort",
	"/exit", "/export", "/extensions", "/fast", "/fork", "/help", "/hooks", "/ide", "/login", "/logout", "/mcp",
	"/memory", "/model", "/new", "/permissions", "/plugin", "/privacy", "/quit", "/remote-control", "/rename",
	"/restore", "/resume", "/rewind", "/settings", "/stats", "/status", "/statusline", "/theme", "/tools", "/usage",
	"/vim"}

// isBuiltinCommand reports whether a text is a command that the client executes itself, with or without arguments.
func isBuiltinCommand(text string) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return slices.Contains(builtinCommands, name)
}

// ideContextPattern matches text that editors add to a person's prompt. Codex's extension puts a description of the
// open files before the prompt. Claude Code adds the open file or the selected lines.
var ideContextPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?s)^# Context from my IDE setup:.*?\n## My request for Codex:\n|<ide_(opened_file|selection)>.*?</ide_(?:opened_file|selection)>`,
	)
})

// ExtractPromptText returns the part of a user message that the person wrote, without private parts (see
// [text.HidePrivateParts]). If the person typed a slash command, ExtractPromptText returns the command's name and
// arguments. It returns "" for a command that is built into the client, and for a message that the client wrote.
func ExtractPromptText(s string) string {
	s = strings.TrimSpace(ideContextPattern().ReplaceAllString(strings.TrimSpace(s), ""))
	if strings.HasPrefix(s, "<command-") {
		name, args := commandTagPatterns()[0].FindStringSubmatch(s), commandTagPatterns()[1].FindStringSubmatch(s)
		if name == nil || isBuiltinCommand(name[1]) {
			return ""
		}
		s = name[1]
		if args != nil {
			s = strings.TrimSpace(s + " " + args[1])
		}
	}
	if slices.ContainsFunc(clientWrittenPrefixes, func(o string) bool { return strings.HasPrefix(s, o) }) {
		return ""
	}
	return strings.TrimSpace(text.HidePrivateParts(s))
}

// RemoveArgumentQuotes removes the quotes that opencode adds around a prompt. The command "opencode run" adds these
// quotes if the argument with the prompt contains a space. For every other client, s is returned unchanged. A text
// without such quotes, or without a space, is also returned unchanged.
func RemoveArgumentQuotes(client, s string) string {
	if client != "opencode" {
		return s
	}
	inner, begins := strings.CutPrefix(strings.TrimSpace(s), `"`)
	inner, ends := strings.CutSuffix(inner, `"`)
	if !begins || !ends {
		return s
	}
	hasQuote := strings.Contains(strings.ReplaceAll(inner, `\"`, ""), `"`)
	if hasQuote || !strings.Contains(inner, " ") {
		return s
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}
