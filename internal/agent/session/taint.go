// This file decides which texts of a turn repeat foreign text that the agent had read.
//
// A hook judges each call when it reports the call ([TextSource]), and stores fingerprints of the
// returned text. The fingerprints find later texts that repeat passages word for word. The rules
// for tool and command names at the end of this file apply to calls that no hook has judged, such
// as calls in an old archive. Everything that the agent writes after such a call counts as
// repeating foreign text.

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

// TaintWarning is contained in every answer of this program that includes a tainted entry. A call that
// returned such an answer has read text by others.
const TaintWarning = "others may have had a part in what it says"

// ownServers lists the names under which setup registers this program's MCP server. Another
// program's server with such a name is mistaken for it.
var ownServers = []string{"oxbow", "plugin_oxbow_oxbow"}

// foreignDirs lists directories of a working tree that contain code by others.
var foreignDirs = []string{"node_modules", "bower_components", "jspm_packages", "site-packages", "dist-packages",
	"vendor", "third_party",
	".venv", "venv", "Pods", "Carthage", ".cargo", ".m2", ".gradle", ".yarn", ".pnpm-store", ".bundle", "elm-stuff"}

// TaintingCalls returns the calls whose results the turn's texts and commands repeat, and the calls that
// returned text by others without fingerprints. Each is the tool and its argument.
func (t *Turn) TaintingCalls() []string {
	found := untracedCalls(t.Events, t.Dir())
	for i := range t.Events {
		if r := t.Events[i].Repeats; r != nil {
			found = appendNew(found, r.Foreign...)
		}
	}
	return found
}

// UnvouchedCalls returns the calls of unknown programs whose output the turn's texts and commands
// repeat.
func (t *Turn) UnvouchedCalls() (found []string) {
	for i := range t.Events {
		if r := t.Events[i].Repeats; r != nil {
			found = appendNew(found, r.Unvouched...)
		}
	}
	return found
}

// ForeignReads returns the calls that returned text by others, whether or not the turn repeats it.
func (t *Turn) ForeignReads() (found []string) {
	for i := range t.Events {
		if r := t.Events[i].textSource(); r != nil && r.Level == LevelForeign {
			found = appendNew(found, r.Cause)
		}
	}
	return appendNew(found, untracedCalls(t.Events, t.Dir())...)
}

// appendNew adds the texts that the list does not contain, up to maxTaints texts in total.
func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if len(list) < maxTaints && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// untracedCalls returns the calls, in order of time, that returned text by others without fingerprints.
// Reading the agent's own files does not count.
func untracedCalls(events []Event, dir string, ownFiles ...string) (found []string) {
	for _, s := range taintedEvents(events, dir, ownFiles...) {
		found = appendNew(found, s)
	}
	return found
}

// taintedEvents yields the index and the tool with its argument of each call that returned text by others
// without fingerprints.
func taintedEvents(events []Event, dir string, ownFiles ...string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		wrote := slices.Clone(ownFiles) // files that the agent wrote are its own
		for i, e := range events {
			if e.Kind != KindCall || e.Call == nil {
				continue
			}
			if s := e.Call.taintSource(e.Client, dir, wrote); s != "" && !yield(i, s) {
				return
			}
			wrote = append(wrote, e.Call.WrittenFiles...)
		}
	}
}

// foreignTraces returns the traces of all texts in the events that are not the agent's own.
func foreignTraces(events []Event) (ids []string) {
	for _, e := range events {
		r := e.textSource()
		if r == nil || r.Level == LevelOwn {
			continue
		}
		if r.TraceID != "" {
			ids = append(ids, r.TraceID)
		}
	}
	return ids
}

// WithoutTaintedTexts returns the turn without the agent's texts, plans and commands that repeat foreign
// text. It also leaves out all of these from the first call on that returned foreign text
// without fingerprints. Paths of written files stay.
func (t *Turn) WithoutTaintedTexts() Turn {
	u := *t
	from := len(t.Events)
	for i := range taintedEvents(t.Events, t.Dir()) {
		from = i
		break
	}
	u.Events = nil
	for i, e := range t.Events {
		if i >= from || e.Repeats != nil {
			switch {
			case e.Kind == KindText || e.Kind == KindPlan:
				continue
			case e.Kind == KindCall && e.Call != nil:
				e.Call = &ToolCall{Tool: e.Call.Tool, WrittenFiles: e.Call.WrittenFiles}
			}
		}
		u.Events = append(u.Events, e)
	}
	return u
}

// taintSource returns the tool and its argument if the call returned text by others without fingerprints,
// otherwise "".
func (c *ToolCall) taintSource(client, dir string, wrote []string) string {
	if r := c.TextSource; r != nil {
		if r.Level == LevelForeign && r.TraceID == "" {
			return cmp.Or(r.Cause, c.Tool)
		}
		return ""
	}
	arg := ""
	switch server := c.mcpServer(client); {
	case server != "" && !slices.Contains(ownServers, strings.ToLower(server)):
		arg = c.WebQuery
	case c.WebQuery != "" || isForeignTool(client, c.Tool):
		arg = c.WebQuery
	default:
		arg = c.foreignReadPart(dir, wrote)
		if arg == "" {
			return ""
		}
	}
	return strings.TrimSpace(
		text.TruncateBytes(
			strings.TrimSpace(shortLine(c.Tool, maxIdentifier)+" "+shortLine(arg, maxPath)),
			maxTaintBytes,
		),
	)
}

// mcpServer returns the tool's MCP server, or "" for a client's built-in tool.
func (c *ToolCall) mcpServer(client string) string {
	if rest, ok := strings.CutPrefix(c.Tool, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return server
	}
	known, _ := clientfile.FindEventClient(client)
	tools := known.Tools
	separator := tools.ServerName.Separator
	name, ok := strings.CutPrefix(c.Tool, tools.ServerName.Prefix)
	if !ok || separator == "" {
		return ""
	}
	if slices.Contains(tools.ServerLikeTools, name) || slices.Contains(tools.ForeignReaders, name) {
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

// isForeignTool reports whether a client's tool reads the web, mail or chats.
func isForeignTool(client, tool string) bool {
	known, _ := clientfile.FindEventClient(client)
	return slices.Contains(known.Tools.ForeignReaders, tool)
}

// foreignReadPart returns the first path or command part with which the call reads text by
// somebody other than the agent and the person.
func (c *ToolCall) foreignReadPart(dir string, wrote []string) string {
	for _, p := range c.ReadFiles {
		if isForeignPath(p, dir) && !slices.Contains(wrote, p) {
			return p
		}
	}
	return foreignCommandPart(c.Command, dir, wrote)
}

// fetchers are programs that read URLs, and readers are programs that print files. For the hubs gh
// and glab, only the subcommands in hubReadCommands print text by others.
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
	hubPrograms     = []string{"gh", "glab"}
	hubReadCommands = []string{"view", "api", "list", "diff", "search", "status", "comment", "checks"}
	filePrinters    = []string{"cat", "bat", "head", "tail", "less", "more", "sed", "awk", "grep", "egrep", "rg", "ag",
		"jq", "yq", "strings", "xxd", "nl", "cut", "sort", "type", "Get-Content", "gc"}
)

// foreignCommandPart returns the first part of a command line that reads a foreign URL or path. It
// returns "" if no part does. It removes quotes and expands nothing.
func foreignCommandPart(command, dir string, wrote []string) string {
	for _, part := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune("|;&\n()`", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains(wrapperPrograms, words[0])) {
			words = words[1:]
		}
		for i, w := range words {
			words[i] = strings.Trim(w, `"'<`)
		}
		if len(words) > 0 && readsForeignText(words, func(p string) bool {
			return isForeignPath(p, dir) && !slices.Contains(wrote, p)
		}) {
			return strings.TrimSpace(part)
		}
	}
	return ""
}

// wrapperPrograms are programs that run the command in their arguments.
var wrapperPrograms = []string{"sudo", "env", "time", "nohup", "command", "exec"}

// readsForeignText reports whether a command reads text by others.
func readsForeignText(words []string, foreign func(path string) bool) bool {
	args := words[1:]
	switch program := strings.TrimSuffix(path.Base(slashPath(words[0])), ".exe"); {
	case slices.Contains(fetchPrograms, program):
		return slices.ContainsFunc(args, isRemoteAddress)
	case slices.Contains(hubPrograms, program):
		return len(args) > 0 && (args[0] == "api" || args[0] == "search" ||
			(len(args) > 1 && slices.Contains(hubReadCommands, args[1])))
	case slices.Contains(filePrinters, program):
		return slices.ContainsFunc(args, func(w string) bool {
			return !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "/dev/") && strings.ContainsAny(w, `/\`) &&
				foreign(w)
		})
	}
	return false
}

// isRemoteAddress reports whether a word of a command is an address on another machine.
func isRemoteAddress(w string) bool {
	if strings.HasPrefix(w, "-") {
		return false
	}
	_, host, ok := strings.Cut(w, "://")
	if !ok {
		host = w
	}
	host, _, _ = strings.Cut(host, "/")
	if strings.HasPrefix(host, ":") || strings.HasPrefix(host, "[::1]") {
		return false
	}
	host, _, _ = strings.Cut(host, ":")
	return (ok || strings.Contains(host, ".")) && host != "localhost" && host != "0.0.0.0" &&
		!strings.HasPrefix(host, "127.")
}

// isForeignPath reports whether a path leads out of the working directory or into a directory in
// foreignDirs.
func isForeignPath(p, dir string) bool {
	p, dir = slashPath(p), strings.TrimSuffix(slashPath(dir), "/")
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
		isOtherName := inner != "" &&
			inner[0] != '/' // the name of the directory is only the beginning of another name
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
		if slices.Contains(foreignDirs, part) {
			return true
		}
	}
	return false
}

// cutPrefixFold cuts a prefix from s. If fold is true (on Windows), letter case is ignored.
func cutPrefixFold(s, prefix string, fold bool) (rest string, ok bool) {
	if !fold {
		return strings.CutPrefix(s, prefix)
	}
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// slashPath returns a path of any system with slashes. It also replaces backslashes that are part of
// a file name.
func slashPath(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// isAbsolutePath reports whether a path with slashes is absolute on any system.
func isAbsolutePath(p string) bool {
	return strings.HasPrefix(p, "/") || (len(p) > 2 && p[1] == ':' && p[2] == '/' && (p[0]|0x20) >= 'a' &&
		(p[0]|0x20) <= 'z')
}
