// This file decides which texts of a turn repeat foreign text that the agent had read.
//
// When a hook reports a call, it judges who wrote the result ([TextSource]), and stores fingerprints of the text. The
// fingerprints find later texts that repeat passages word for word.
//
// The rules for tool and command names at the end of this file apply to calls that no hook has judged, such as calls
// in an old archive. Everything that the agent writes after such a call counts as repeating foreign text.

package session

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// TaintWarning is a sentence that oxbow adds to an answer if an entry in the answer may contain text by others. A call
// that returned such an answer counts as a call that read text by others.
const TaintWarning = "others may have had a part in what it says"

// ownServers lists the names under which setup registers oxbow's MCP server. Another program's server with such a name
// is mistaken for oxbow's.
var ownServers = []string{"oxbow", "plugin_oxbow_oxbow"}

// thirdPartyDirs lists names of directories inside a working tree that contain code by others.
var thirdPartyDirs = []string{"node_modules", "bower_components", "jspm_packages", "site-packages", "dist-packages",
	"vendor", "third_party",
	".venv", "venv", "Pods", "Carthage", ".cargo", ".m2", ".gradle", ".yarn", ".pnpm-store", ".bundle", "elm-stuff"}

// DescribeTaintingCalls returns the tool calls through which text by others may have come into the turn. The calls
// whose text has no fingerprints are first, because oxbow cannot find repetitions of such a text. The calls whose text
// is repeated in the turn's texts and commands follow. Each call is described by the tool and its argument.
func (t *Turn) DescribeTaintingCalls() []string {
	found := unfingerprintedCalls(t.Events, t.Dir())
	for i := range t.Events {
		if r := t.Events[i].RepeatedCallResults; r != nil {
			found = appendMissingTexts(found, r.ForeignTextCalls...)
		}
	}
	return found
}

// UnknownProgramCalls returns the calls of unknown programs whose output is repeated in the turn's texts or commands.
// Nobody vouches for the output of an unknown program. Each call is described by the tool and its argument.
func (t *Turn) UnknownProgramCalls() (found []string) {
	for i := range t.Events {
		if r := t.Events[i].RepeatedCallResults; r != nil {
			found = appendMissingTexts(found, r.UnvouchedTextCalls...)
		}
	}
	return found
}

// ForeignTextCalls returns the tool calls that returned foreign text. Foreign text is text that neither the person nor
// the agent wrote. A call is returned even if the turn does not repeat the foreign text. The result also includes calls
// for whose foreign text no fingerprints were recorded. Each call is described by the tool and its argument.
func (t *Turn) ForeignTextCalls() (found []string) {
	for i := range t.Events {
		if r := t.Events[i].textSource(); r != nil && r.TrustLevel == TrustLevelForeignText {
			found = appendMissingTexts(found, r.CallDescription)
		}
	}
	return appendMissingTexts(found, unfingerprintedCalls(t.Events, t.Dir())...)
}

// appendMissingTexts appends the texts that the list does not contain yet. The list gets at most
// maxTaintingCallsPerTurn elements.
func appendMissingTexts(list []string, more ...string) []string {
	for _, s := range more {
		if len(list) < maxTaintingCallsPerTurn && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// unfingerprintedCalls returns descriptions of the calls in events that returned text by others, if no fingerprints of
// the text are stored (see [eachUnfingerprintedCall]). The descriptions are in the order of the events, without
// repetitions. dir is the directory of the session. The files in agentFiles are the agent's own.
func unfingerprintedCalls(events []Event, dir string, agentFiles ...string) (callDescriptions []string) {
	for _, s := range eachUnfingerprintedCall(events, dir, agentFiles...) {
		callDescriptions = appendMissingTexts(callDescriptions, s)
	}
	return callDescriptions
}

// eachUnfingerprintedCall yields the tool calls in events that returned text by others without stored fingerprints.
// Fingerprints are hashes with which oxbow recognizes later repetitions of the text. For each such call, it yields the
// event's index and a description of the call. dir is the working directory of the calls. agentFiles contains files
// that the agent wrote before these events. Text in these files does not count as text by others.
func eachUnfingerprintedCall(events []Event, dir string, agentFiles ...string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		wrote := slices.Clone(agentFiles) // Files that the agent wrote are its own.
		for i, e := range events {
			if e.Kind != KindToolCall || e.Call == nil {
				continue
			}
			if s := e.Call.describeUnfingerprintedCall(e.Client, dir, wrote); s != "" && !yield(i, s) {
				return
			}
			wrote = append(wrote, e.Call.WrittenFiles...)
		}
	}
}

// findForeignFingerprintIDs returns the IDs of the fingerprints of all foreign texts that the calls in events returned.
// A text is foreign if others wrote it, or if nobody vouches for it. A text without fingerprints is skipped.
func findForeignFingerprintIDs(events []Event) (ids []string) {
	for _, e := range events {
		r := e.textSource()
		if r == nil || r.TrustLevel == TrustLevelOwnText {
			continue
		}
		if r.TraceID != "" {
			ids = append(ids, r.TraceID)
		}
	}
	return ids
}

// WithoutRepeatedForeignText returns a copy of the turn without the agent's texts, plans and commands that repeat
// foreign text, which others wrote. To recognize repetitions, oxbow needs fingerprints (hashes of short word sequences)
// of the foreign text. If a call returned foreign text without fingerprints, the copy contains none of the agent's
// texts, plans and commands from this call on. The paths of written files stay.
func (t *Turn) WithoutRepeatedForeignText() Turn {
	u := *t
	from := len(t.Events)
	for i := range eachUnfingerprintedCall(t.Events, t.Dir()) {
		from = i
		break
	}
	u.Events = nil
	for i, e := range t.Events {
		if i >= from || e.RepeatedCallResults != nil {
			switch {
			case e.Kind == KindText || e.Kind == KindPlan:
				continue
			case e.Kind == KindToolCall && e.Call != nil:
				e.Call = &ToolCall{Tool: e.Call.Tool, WrittenFiles: e.Call.WrittenFiles}
			}
		}
		u.Events = append(u.Events, e)
	}
	return u
}

// describeUnfingerprintedCall returns the tool and its argument if the call returned text by others, of which oxbow has
// no fingerprints. For any other call, it returns "". The files in writtenFiles count as the agent's own.
func (c *ToolCall) describeUnfingerprintedCall(client, dir string, writtenFiles []string) string {
	if r := c.ResultTextSource; r != nil {
		if r.TrustLevel == TrustLevelForeignText && r.TraceID == "" {
			return cmp.Or(r.CallDescription, c.Tool)
		}
		return ""
	}
	arg := ""
	switch server := c.mcpServer(client); {
	case server != "" && !slices.Contains(ownServers, strings.ToLower(server)):
		arg = c.WebQuery
	case c.WebQuery != "" || isWebMailOrChatTool(client, c.Tool):
		arg = c.WebQuery
	default:
		arg = c.findForeignTextRead(dir, writtenFiles)
		if arg == "" {
			return ""
		}
	}
	return strings.TrimSpace(
		text.TruncateBytes(
			strings.TrimSpace(toShortLine(c.Tool, maxIDOrNameBytes)+" "+toShortLine(arg, maxPathBytes)),
			maxForeignTextCallBytes,
		),
	)
}

// mcpServer returns the name of the MCP server to which the tool belongs. It returns "" for a built-in tool of the
// client.
func (c *ToolCall) mcpServer(client string) string {
	if rest, ok := strings.CutPrefix(c.Tool, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return server
	}
	known, _ := clientfile.FindEventClient(client)
	tools := known.Tools
	separator := tools.ServerToolNameFormat.Separator
	name, ok := strings.CutPrefix(c.Tool, tools.ServerToolNameFormat.Prefix)
	if !ok || separator == "" {
		return ""
	}
	if slices.Contains(tools.ServerLikeTools, name) || slices.Contains(tools.ForeignTextReaders, name) {
		return ""
	}
	for _, own := range ownServers {
		if strings.HasPrefix(name, own+separator) {
			return own
		}
	}
	server, _, ok := strings.Cut(name, separator)
	if !ok || slices.Contains(tools.BuiltinServers, server) {
		return ""
	}
	return server
}

// isWebMailOrChatTool reports whether a client's tool reads the web, mail or chats.
func isWebMailOrChatTool(client, tool string) bool {
	known, _ := clientfile.FindEventClient(client)
	return slices.Contains(known.Tools.ForeignTextReaders, tool)
}

// findForeignTextRead returns the source of the foreign text that the call reads: the first foreign file in
// c.ReadFiles, or else the first part of the command that reads foreign text. It returns "" if the call reads no
// foreign text.
//
// A file is foreign if it is outside the directory dir, or in a directory whose name is in thirdPartyDirs, such as a
// directory for dependencies. Files in writtenFiles are not foreign, because the agent wrote them.
func (c *ToolCall) findForeignTextRead(dir string, writtenFiles []string) string {
	for _, p := range c.ReadFiles {
		if isExternalPath(p, dir) && !slices.Contains(writtenFiles, p) {
			return p
		}
	}
	return findExternalCommandPart(c.Command, dir, writtenFiles)
}

// fetchPrograms read URLs, and filePrintingPrograms print files. The codeHostPrograms gh and glab print text by
// others only with the subcommands in codeHostReadCommands.
var (
	fetchPrograms = []string{
		"curl",
		"wget",
		"http",
		"https",
		"xh",
		"lynx",
		"w3m",
		"links",
		"aria2c",
		"Invoke-WebRequest",
		"iwr",
		"Invoke-RestMethod",
		"irm",
	}
	codeHostPrograms     = []string{"gh", "glab"}
	codeHostReadCommands = []string{"view", "api", "list", "diff", "search", "status", "comment", "checks"}
	filePrintingPrograms = []string{
		"cat",
		"bat",
		"head",
		"tail",
		"less",
		"more",
		"sed",
		"awk",
		"grep",
		"egrep",
		"rg",
		"ag",
		"jq",
		"yq",
		"strings",
		"xxd",
		"nl",
		"cut",
		"sort",
		"type",
		"Get-Content",
		"gc",
	}
)

// findExternalCommandPart returns the first part of a command line that reads a URL or a path outside of the directory
// dir. It ignores the paths in writtenFiles, because the agent wrote these files. It returns "" if no part reads a URL
// or such a path. It removes quotes, but expands no variables or patterns.
func findExternalCommandPart(command, dir string, writtenFiles []string) string {
	for _, part := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune("|;&\n()`", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains(wrapperPrograms, words[0])) {
			words = words[1:]
		}
		for i, w := range words {
			words[i] = strings.Trim(w, `"'<`)
		}
		if len(words) > 0 && readsExternalText(words, func(p string) bool {
			return isExternalPath(p, dir) && !slices.Contains(writtenFiles, p)
		}) {
			return strings.TrimSpace(part)
		}
	}
	return ""
}

// wrapperPrograms lists programs that run the command in their arguments.
var wrapperPrograms = []string{"sudo", "env", "time", "nohup", "command", "exec"}

// readsExternalText reports whether a command reads text that other people wrote. The slice words contains the
// program's name and then its arguments. The function isExternal reports whether other people may have written the file
// with the given path.
func readsExternalText(words []string, isExternal func(path string) bool) bool {
	args := words[1:]
	switch program := strings.TrimSuffix(path.Base(replaceBackslashes(words[0])), ".exe"); {
	case slices.Contains(fetchPrograms, program):
		return slices.ContainsFunc(args, isRemoteAddress)
	case slices.Contains(codeHostPrograms, program):
		return len(args) > 0 && (args[0] == "api" || args[0] == "search" ||
			(len(args) > 1 && slices.Contains(codeHostReadCommands, args[1])))
	case slices.Contains(filePrintingPrograms, program):
		return slices.ContainsFunc(args, func(w string) bool {
			return !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "/dev/") && strings.ContainsAny(w, `/\`) &&
				isExternal(w)
		})
	}
	return false
}

// isRemoteAddress reports whether a word of a command is an address on another machine.
func isRemoteAddress(word string) bool {
	if strings.HasPrefix(word, "-") {
		return false
	}
	_, host, ok := strings.Cut(word, "://")
	if !ok {
		host = word
	}
	host, _, _ = strings.Cut(host, "/")
	if strings.HasPrefix(host, ":") || strings.HasPrefix(host, "[::1]") {
		return false
	}
	host, _, _ = strings.Cut(host, ":")
	return (ok || strings.Contains(host, ".")) && host != "localhost" && host != "0.0.0.0" &&
		!strings.HasPrefix(host, "127.")
}

// isExternalPath reports whether a path leads out of the directory dir, or into a directory whose name is in
// thirdPartyDirs.
func isExternalPath(p, dir string) bool {
	p, dir = replaceBackslashes(p), strings.TrimSuffix(replaceBackslashes(dir), "/")
	if p == "" {
		return false
	}
	rel := p
	switch {
	case isAbsolutePath(p) && dir == "":
		return true
	case isAbsolutePath(p):
		clean := path.Clean(p)
		inner, ok := cutPrefixFold(clean, dir, strings.Contains(dir, ":"))
		// It is another name if dir is only the beginning of a longer name in p, as for dir /a and p /ab.
		isOtherName := inner != "" &&
			inner[0] != '/'
		if !ok || isOtherName {
			return true
		}
		rel = strings.TrimPrefix(inner, "/")
	case strings.HasPrefix(p, "~"):
		return true
	}
	rel = path.Clean(rel)
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return true
	}
	for part := range strings.SplitSeq(rel, "/") {
		if slices.Contains(thirdPartyDirs, part) {
			return true
		}
	}
	return false
}

// cutPrefixFold removes a prefix from s. If ignoresCase is set, as on Windows, it ignores letter case.
func cutPrefixFold(s, prefix string, ignoresCase bool) (rest string, ok bool) {
	if !ignoresCase {
		return strings.CutPrefix(s, prefix)
	}
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// replaceBackslashes replaces backslashes in a path by slashes. It also replaces backslashes that are part of a file
// name.
func replaceBackslashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// isAbsolutePath reports whether a path with slashes is absolute on any operating system.
func isAbsolutePath(p string) bool {
	return strings.HasPrefix(p, "/") || (len(p) > 2 && p[1] == ':' && p[2] == '/' && (p[0]|0x20) >= 'a' &&
		(p[0]|0x20) <= 'z')
}
