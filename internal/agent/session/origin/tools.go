// This file finds the kind of work that a tool does.

package origin

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// toolPurpose is a tool's kind of work. It determines where the tool's output comes from.
type toolPurpose int

const (
	purposeUnknown     toolPurpose = iota
	purposeShell                   // runs a shell command, which determines the origin
	purposeReadFiles               // reads the files in its arguments
	purposeSearchFiles             // searches or lists the files below the paths in its arguments
	purposeEditFiles               // writes the files in its arguments and returns the agent's own text
	purposeReadWeb                 // returns text from the web, another document or an MCP server
	purposeLateOutput              // returns the output of a command that was started earlier
	purposeStartAgent              // starts a sub-agent, whose own calls are reported
	purposeUnreported              // starts a sub-agent or a skill whose calls are not reported
	purposeOwnText                 // returns the agent's or the person's own text
)

// ownServers lists the names under which setup registers this program's server. Another program's
// server with such a name is mistaken for it.
var ownServers = []string{"oxbow", "plugin_oxbow_oxbow"}

// findPurpose returns the use of a client's tool, and whether this program's own server provides the
// tool.
func findPurpose(client, tool string) (u toolPurpose, isOxbow bool) {
	name := strings.ToLower(tool)
	c, _ := clientfile.FindEventClient(client) // an unknown client has no tools
	for _, t := range toolsByPurpose(&c.Tools) {
		if slices.Contains(t.names, name) {
			return t.purpose, false
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
			return purposeOwnText, true
		}
		if strings.Contains(rest, form.Separator) {
			return purposeReadWeb, false
		}
	}
	return purposeUnknown, false
}

// purposeTools are the tools of a client with the same use. The names are in lower case.
type purposeTools struct {
	purpose toolPurpose
	names   []string
}

// toolsByPurpose returns the tools of a client by use.
func toolsByPurpose(t *clientfile.ClientTools) []purposeTools {
	return []purposeTools{
		{purposeShell, t.Shells},
		{purposeReadFiles, t.FileReaders},
		{purposeSearchFiles, t.FileSearchers},
		{purposeEditFiles, t.FileEditors},
		{purposeReadWeb, t.WebReaders},
		{
			purposeLateOutput,
			t.LateOutputReaders,
		},
		{purposeStartAgent, t.AgentStarters},
		{purposeUnreported, t.UnreportedStarters},
		{purposeOwnText, t.OwnTextTools},
	}
}
