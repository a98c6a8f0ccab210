// This file decides which texts of a turn repeat what the agent had read of others.
//
// A hook judges each call as it reports it ([Reading]), and keeps prints of the text. What
// repeats that text in the same words is found by the prints. The rules for names of tools
// and commands at the end of this file are for calls that no hook has judged, such as
// those of an old archive: what was written after such a call counts as repeating it.

package session

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Warned stands in every answer of this program that holds a tainted entry. The call
// that got such an answer has read what others wrote.
const Warned = "others may have had a part in what it says"

// webTools are the tools of clients that read the web, mail or chats, by client.
var webTools = map[string][]string{
	"claude":   {"WebFetch", "WebSearch"},
	"codex":    {"web_search", "web_search_call", "web.run", "browser"},
	"gemini":   {"web_fetch", "google_web_search", "WebFetch", "GoogleSearch"},
	"qwen":     {"web_fetch", "web_search", "WebFetch", "WebSearch"},
	"opencode": {"webfetch", "websearch", "codesearch"},
	"copilot":  {"web_fetch", "web_search", "fetch_copilot_cli_documentation", "WebFetch", "WebSearch"},
}

// openTools are the tools of clients whose names look like those of an MCP
// server, and are none.
var openTools = map[string][]string{
	"opencode": {"apply_patch", "plan_exit", "plan_enter"},
	"copilot":  {},
}

// ownServers are what the setup calls this program's server. Others that are
// named so are taken for it.
var ownServers = []string{"oxbow", "plugin_oxbow_oxbow"}

// foreignDirs are directories of a working tree that hold what others wrote.
var foreignDirs = []string{"node_modules", "bower_components", "jspm_packages", "site-packages", "dist-packages",
	"vendor", "third_party",
	".venv", "venv", "Pods", "Carthage", ".cargo", ".m2", ".gradle", ".yarn", ".pnpm-store", ".bundle", "elm-stuff"}

// Taints returns what the turn repeats of others: the calls whose results its texts and
// commands repeat, and those whose results are not known. Each is the tool and its
// argument.
func (t *Turn) Taints() []string {
	found := untraced(t.Events, t.Dir())
	for i := range t.Events {
		if r := t.Events[i].Repeats; r != nil {
			found = appendNew(found, r.Foreign...)
		}
	}
	return found
}

// Unvouched returns the calls of programs that are not known whose output the turn's texts
// and commands repeat.
func (t *Turn) Unvouched() (found []string) {
	for i := range t.Events {
		if r := t.Events[i].Repeats; r != nil {
			found = appendNew(found, r.Unvouched...)
		}
	}
	return found
}

// Read returns the calls that returned text by others, whether or not the turn repeats it.
func (t *Turn) Read() (found []string) {
	for i := range t.Events {
		if c := t.Events[i].Call; c != nil && c.Reading != nil && c.Reading.Level == ReadForeign {
			found = appendNew(found, c.Reading.What)
		}
	}
	return appendNew(found, untraced(t.Events, t.Dir())...)
}

// appendNew adds texts that a list does not have, up to maxTaints.
func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if len(list) < maxTaints && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// untraced returns the calls that returned text by others of which there are no prints, in
// order of time, in a working directory. To read the agent's own files counts for none.
func untraced(events []Event, dir string, own ...string) (found []string) {
	for _, s := range taints(events, dir, own...) {
		found = appendNew(found, s)
	}
	return found
}

// taints yields the numbers of the events that are calls which returned text by others of
// which there are no prints, and the tool and its argument of each.
func taints(events []Event, dir string, own ...string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		wrote := slices.Clone(own) // files that the agent wrote are its own
		for i, e := range events {
			if e.Kind != Called || e.Call == nil {
				continue
			}
			if s := e.Call.taint(e.Client, dir, wrote); s != "" && !yield(i, s) {
				return
			}
			wrote = append(wrote, e.Call.Wrote...)
		}
	}
}

// traces returns the identifiers of the prints of text by others that the events have.
func traces(events []Event) (ids []string) {
	for _, e := range events {
		if e.Call != nil && e.Call.Reading != nil && e.Call.Reading.Level != ReadOwn && e.Call.Reading.Trace != "" {
			ids = append(ids, e.Call.Reading.Trace)
		}
	}
	return ids
}

// Untainted returns the turn without what its agent said, planned and typed that repeats
// what it had read of others, and without all of that after a call whose result is not
// known. The files that it wrote stay.
func (t *Turn) Untainted() Turn {
	u := *t
	from := len(t.Events)
	for i := range taints(t.Events, t.Dir()) {
		from = i
		break
	}
	u.Events = nil
	for i, e := range t.Events {
		if i >= from || e.Repeats != nil {
			switch {
			case e.Kind == Text || e.Kind == Plan:
				continue
			case e.Kind == Called && e.Call != nil:
				e.Call = &Call{Tool: e.Call.Tool, Wrote: e.Call.Wrote}
			}
		}
		u.Events = append(u.Events, e)
	}
	return u
}

// taint returns the tool and its argument if the call returned text by others of which
// there are no prints, else "".
func (c *Call) taint(client, dir string, wrote []string) string {
	if r := c.Reading; r != nil {
		if r.Level == ReadForeign && r.Trace == "" {
			return cmp.Or(r.What, c.Tool)
		}
		return ""
	}
	arg := ""
	switch server := c.server(client); {
	case server != "" && !slices.Contains(ownServers, strings.ToLower(server)):
		arg = c.Asked
	case c.Asked != "" || slices.Contains(webTools[client], c.Tool):
		arg = c.Asked
	default:
		arg = c.readsForeign(dir, wrote)
		if arg == "" {
			return ""
		}
	}
	return strings.TrimSpace(text.Cut(strings.TrimSpace(short(c.Tool, maxWord)+" "+short(arg, maxPath)), maxTaint))
}

// server returns the MCP server of the tool, "" for a tool of the client.
func (c *Call) server(client string) string {
	if rest, ok := strings.CutPrefix(c.Tool, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return server
	}
	name, apart := c.Tool, ""
	switch client {
	case "gemini":
		rest, ok := strings.CutPrefix(name, "mcp_")
		if !ok {
			return ""
		}
		name, apart = rest, "_"
	case "opencode":
		apart = "_"
	case "copilot":
		apart = "-"
	default:
		return ""
	}
	if slices.Contains(openTools[client], name) || slices.Contains(webTools[client], name) {
		return ""
	}
	for _, own := range ownServers {
		if strings.HasPrefix(name, own+apart) {
			return own
		}
	}
	if i := strings.Index(name, apart); i > 0 {
		return name[:i]
	}
	return ""
}

// readsForeign returns the first path or address that the call reads and that is
// not the agent's or the person's own.
func (c *Call) readsForeign(dir string, wrote []string) string {
	for _, p := range c.Read {
		if isForeign(p, dir) && !slices.Contains(wrote, p) {
			return p
		}
	}
	return commandReads(c.Command, dir, wrote)
}

// fetchers are programs that read what an address leads to; readers print files.
// Of gh and glab, which have other uses, only what shows texts of others.
var (
	fetchers = []string{"curl", "wget", "http", "https", "xh", "lynx", "w3m", "links", "aria2c", "Invoke-WebRequest",
		"iwr", "Invoke-RestMethod", "irm"}
	hubs     = []string{"gh", "glab"}
	hubReads = []string{"view", "api", "list", "diff", "search", "status", "comment", "checks"}
	readers  = []string{"cat", "bat", "head", "tail", "less", "more", "sed", "awk", "grep", "egrep", "rg", "ag",
		"jq", "yq", "strings", "xxd", "nl", "cut", "sort", "type", "Get-Content", "gc"}
)

// commandReads returns the part of a command line that reads an address or a path
// that is foreign. Quotes are taken off, and nothing is expanded.
func commandReads(command, dir string, wrote []string) string {
	for _, part := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune("|;&\n()`", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains(wrappers, words[0])) {
			words = words[1:]
		}
		for i, w := range words {
			words[i] = strings.Trim(w, `"'<`)
		}
		if len(words) > 0 && readsOthers(words, func(p string) bool {
			return isForeign(p, dir) && !slices.Contains(wrote, p)
		}) {
			return strings.TrimSpace(part)
		}
	}
	return ""
}

// wrappers are programs that run the one after them.
var wrappers = []string{"sudo", "env", "time", "nohup", "command", "exec"}

// readsOthers reports whether a program reads what others wrote.
func readsOthers(words []string, foreign func(path string) bool) bool {
	args := words[1:]
	switch program := strings.TrimSuffix(path.Base(unixPath(words[0])), ".exe"); {
	case slices.Contains(fetchers, program):
		return slices.ContainsFunc(args, isRemote)
	case slices.Contains(hubs, program):
		return len(args) > 0 && (args[0] == "api" || args[0] == "search" ||
			(len(args) > 1 && slices.Contains(hubReads, args[1])))
	case slices.Contains(readers, program):
		return slices.ContainsFunc(args, func(w string) bool {
			return !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "/dev/") && strings.ContainsAny(w, `/\`) &&
				foreign(w)
		})
	}
	return false
}

// isRemote reports whether a word of a command is an address on another machine.
func isRemote(w string) bool {
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

// isForeign reports whether a path leads out of the working directory or into a
// directory of what others wrote.
func isForeign(p, dir string) bool {
	p, dir = unixPath(p), strings.TrimSuffix(unixPath(dir), "/")
	if p == "" {
		return false
	}
	rel := p
	switch {
	case isAbs(p) && dir == "":
		return true
	case isAbs(p):
		clean := path.Clean(p)
		inner, ok := cutFold(clean, dir, strings.Contains(dir, ":"))
		if !ok || (inner != "" && inner[0] != '/') {
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

// cutFold cuts a prefix, on Windows whatever its case.
func cutFold(s, prefix string, fold bool) (rest string, ok bool) {
	if len(s) < len(prefix) || (s[:len(prefix)] != prefix && !(fold && strings.EqualFold(s[:len(prefix)], prefix))) {
		return "", false
	}
	return s[len(prefix):], true
}

// unixPath returns a path of any system with slashes. A backslash that stands in a
// name of a file is taken for one.
func unixPath(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// isAbs reports whether a path with slashes is absolute on any system.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || (len(p) > 2 && p[1] == ':' && p[2] == '/' && (p[0]|0x20) >= 'a' &&
		(p[0]|0x20) <= 'z')
}
