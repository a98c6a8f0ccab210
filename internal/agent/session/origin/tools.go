// This file determines a tool's purpose from the tool's name and client.

package origin

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// toolPurpose is the kind of action that a tool performs. It determines where the returned text comes from.
type toolPurpose int

const (
	toolPurposeUnknown toolPurpose = iota
	// The tool runs a shell command, and the command determines where the text comes from.
	toolPurposeShell
	toolPurposeReadFiles   // The tool returns the files in its arguments.
	toolPurposeSearchFiles // The tool searches or lists the files below the paths in its arguments.
	// The tool writes the files in its arguments. Its result contains only text that the agent wrote.
	toolPurposeEditFiles
	// The tool returns text from the web, from a document outside of the project, or from an MCP server.
	toolPurposeReadWeb
	toolPurposeReadBackgroundOutput  // The tool returns the output of a command that was started earlier.
	toolPurposeStartAgent            // The tool starts a sub-agent whose own calls are reported.
	toolPurposeStartUnreportedAgent  // The tool starts a sub-agent or a skill whose calls are not reported.
	toolPurposeReadAgentOrPersonText // The tool returns text by the agent or the person.
)

// ownServerNames lists the names under which oxbow setup registers oxbow's MCP server. The server of another
// program with such a name is mistaken for oxbow's server.
var ownServerNames = []string{"oxbow", "plugin_oxbow_oxbow"}

// findToolPurpose returns the purpose of a client's tool, and whether oxbow's own server provides the tool.
func findToolPurpose(client, tool string) (purpose toolPurpose, isOxbow bool) {
	name := strings.ToLower(tool)
	// Ignore whether the client is known. For an unknown client, the lists of tools are empty.
	c, _ := clientfile.FindEventClient(client)
	for _, t := range toolsByPurpose(&c.Tools) {
		if slices.Contains(t.names, name) {
			return t.purpose, false
		}
	}
	claude, _ := clientfile.FindEventClient("claude")
	for _, form := range []clientfile.ServerToolNameFormat{claude.Tools.ServerToolNameFormat,
		c.Tools.ServerToolNameFormat} {
		rest, ok := strings.CutPrefix(name, form.Prefix)
		if !ok || form.Separator == "" {
			continue
		}
		if i := slices.IndexFunc(ownServerNames, func(s string) bool {
			return strings.HasPrefix(rest, s+form.Separator)
		}); i >= 0 {
			return toolPurposeReadAgentOrPersonText, true
		}
		if strings.Contains(rest, form.Separator) {
			return toolPurposeReadWeb, false
		}
	}
	return toolPurposeUnknown, false
}

// purposeTools lists the tools of a client that have the same purpose. The names are in lower case.
type purposeTools struct {
	purpose toolPurpose
	names   []string
}

// toolsByPurpose returns the tools of a client, grouped by purpose.
func toolsByPurpose(t *clientfile.ClientTools) []purposeTools {
	return []purposeTools{
		{toolPurposeShell, t.Shells},
		{toolPurposeReadFiles, t.FileReaders},
		{toolPurposeSearchFiles, t.FileSearchers},
		{toolPurposeEditFiles, t.FileEditors},
		{toolPurposeReadWeb, t.WebReaders},
		{
			toolPurposeReadBackgroundOutput,
			t.BackgroundOutputReaders,
		},
		{toolPurposeStartAgent, t.AgentStarters},
		{toolPurposeStartUnreportedAgent, t.AgentStartersHidingCalls},
		{toolPurposeReadAgentOrPersonText, t.OwnTextTools},
	}
}
