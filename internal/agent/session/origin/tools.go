// This file finds the kind of work that a tool does.

package origin

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// use is a tool's kind of work. It determines where the tool's output comes from.
type use int

const (
	unknown  use = iota
	runs         // runs a shell command, which determines the origin
	files        // reads the files in its arguments
	searches     // searches or lists the files below the paths in its arguments
	edits        // writes the files in its arguments and returns the agent's own text
	web          // returns text from the web, another document or an MCP server
	late         // returns the output of a command that was started earlier
	agents       // starts a sub-agent, whose own calls are reported
	unseen       // starts a sub-agent or a skill whose calls are not reported
	quiet        // returns the agent's or the person's own text
)

// ownServers lists the names under which setup registers this program's server. Another program's
// server with such a name is mistaken for it.
var ownServers = []string{"oxbow", "plugin_oxbow_oxbow"}

// toolUse returns the use of a client's tool, and whether this program's own server provides the
// tool.
func toolUse(client, tool string) (u use, own bool) {
	name := strings.ToLower(tool)
	c, _ := clientfile.FindEventClient(client) // an unknown client has no tools
	for _, t := range toolsByUse(&c.Tools) {
		if slices.Contains(t.names, name) {
			return t.use, false
		}
	}
	claude, _ := clientfile.FindEventClient("claude")
	for _, form := range []clientfile.ServerName{claude.Tools.ServerName, c.Tools.ServerName} {
		rest, ok := strings.CutPrefix(name, form.Prefix)
		if !ok || form.Separator == "" {
			continue
		}
		if i := slices.IndexFunc(ownServers, func(s string) bool {
			return strings.HasPrefix(rest, s+form.Separator)
		}); i >= 0 {
			return quiet, true
		}
		if strings.Contains(rest, form.Separator) {
			return web, false
		}
	}
	return unknown, false
}

// usedTools are the tools of a client with the same use. The names are in lower case.
type usedTools struct {
	use   use
	names []string
}

// toolsByUse returns the tools of a client by use.
func toolsByUse(t *clientfile.Tools) []usedTools {
	return []usedTools{{runs, t.Runs}, {files, t.Files}, {searches, t.Searches}, {edits, t.Edits}, {web, t.Web},
		{late, t.Late}, {agents, t.Agents}, {unseen, t.Unseen}, {quiet, t.Quiet}}
}
