// This file builds plug-ins for clients. A plug-in contains the same server and hooks that setup writes.

package setup

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// bundleVersion is the version of all plug-ins. The version must change with each release, because clients update a
// plug-in only if its version has changed.
const bundleVersion = "0.1.0"

// BundleDir is the directory of the plug-ins in the repository. It contains a subdirectory for each client.
const BundleDir = "internal/deploy/plugins"

const (
	bundleTitle    = "Memory for agents: notes, past sessions, and why lines are as they are. Needs the program oxbow."
	bundleHomepage = "https://github.com/oxbow-memory/oxbow"
	bundleOwner    = "oxbow"
)

// PluginFiles returns the files of the plug-ins for all clients. It also returns the marketplace files, in which
// clients find the plug-ins of the repository. The keys are slash-separated paths in the repository.
//
// A plug-in starts the program oxbow, which must be in PATH. The function plugin returns the source of opencode's
// plug-in (see [Options.PluginSource]).
//
// The formats are for Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, opencode 1.18, Copilot CLI 1.0 and Qwen Code 0.24.
func PluginFiles(plugin func(argv []string) string) (map[string]string, error) {
	o := Options{Executable: programName, PluginSource: plugin}
	all := map[string]string{
		".claude-plugin/marketplace.json": indentedJSON(fields{
			{"name", programName}, {"owner", fields{{"name", bundleOwner}}},
			{"plugins", []fields{{
				{"name", programName}, {"source", "./" + BundleDir + "/claude"}, {"description", bundleTitle},
				{"version", bundleVersion},
			}}},
		}),
		".agents/plugins/marketplace.json": indentedJSON(fields{
			{"name", programName}, {"interface", fields{{"displayName", programName}}},
			{"plugins", []fields{{
				{"name", programName}, {"source", fields{{"source", "local"}, {"path", "./" + BundleDir + "/codex"}}},
				{"policy", fields{{"installation", "AVAILABLE"}, {"authentication", "ON_INSTALL"}}},
				{"category", "Productivity"},
			}}},
		}),
	}
	for _, b := range []struct {
		client string
		files  func(o Options) (map[string]string, error)
	}{
		{"claude", claudeBundleFiles}, {"codex", codexBundleFiles}, {"copilot", copilotBundleFiles},
		{"gemini", newExtensionBundle("gemini", geminiFiles)}, {"qwen", newExtensionBundle("qwen", qwenFiles)},
		{"opencode", opencodeBundleFiles},
	} {
		files, err := b.files(o)
		if err != nil {
			return nil, fmt.Errorf("making the plug-in for %s: %w", b.client, err)
		}
		for name, content := range files {
			all[path.Join(BundleDir, b.client, name)] = content
		}
	}
	return all, nil
}

// bundleMachine is an imaginary machine without files. oxbow's plug-ins for clients are built from the files that
// setup would create on this machine.
var bundleMachine = Machine{
	Getenv:      func(string) string { return "" },
	GOOS:        "linux",
	UserHomeDir: "/nobody",
	ProjectDir:  "/nowhere",
}

// manifestFields returns the fields that plug-in manifests have in common for all AI clients, followed by extraFields.
func manifestFields(extraFields ...field) fields {
	return append(
		fields{{"name", programName}, {"version", bundleVersion}, {"description", bundleTitle}},
		extraFields...)
}

var publishedFields = []field{
	{"author", fields{{"name", bundleOwner}}}, {"homepage", bundleHomepage}, {"license", "Apache-2.0"},
}

// membersToWrite returns the members that setup would write to a JSON file that does not exist yet.
func membersToWrite(f clientFile) (map[string]json.RawMessage, error) {
	d, err := parseJSON(nil)
	if err != nil {
		return nil, err
	}
	base, err := parseJSON(nil)
	if err != nil {
		return nil, err
	}
	for _, i := range f.additions {
		if err := i.add(d, base); err != nil {
			return nil, err
		}
	}
	var members map[string]json.RawMessage
	return members, json.Unmarshal(toStandardJSON(&d.root), &members)
}

// hooksFileContent returns the content of a file hooks/hooks.json. The content consists of the hooks that setup would
// write to the file f.
func hooksFileContent(f clientFile) (string, error) {
	members, err := membersToWrite(f)
	if err != nil {
		return "", err
	}
	return indentedJSON(fields{{"hooks", members["hooks"]}}), nil
}

// serversFileContent returns the content of a plug-in's file .mcp.json, which tells the client how to start oxbow's MCP
// server. The JSON object for the server consists of firstFields, the fields command and args, and lastFields, in this
// order.
func (o Options) serversFileContent(firstFields fields, lastFields ...field) (string, error) {
	put, _ := o.oxbowServerParts([]string{"mcpServers"}, firstFields, lastFields...)
	members, err := membersToWrite(clientFile{additions: put})
	return indentedJSON(members), err
}

func claudeBundleFiles(o Options) (map[string]string, error) {
	files := claudeFiles(bundleMachine, o)
	servers, err := membersToWrite(files[0])
	if err != nil {
		return nil, err
	}
	hooks, err := hooksFileContent(files[1])
	return map[string]string{
		".claude-plugin/plugin.json": indentedJSON(manifestFields(publishedFields...)),
		".mcp.json":                  indentedJSON(servers),
		"hooks/hooks.json":           hooks,
		"skills/memory/SKILL.md":     skillText,
		"commands/recall.md":         recallCommandText,
		"commands/remember.md":       rememberCommandText,
	}, err
}

func codexBundleFiles(o Options) (map[string]string, error) {
	hooks, err := hooksFileContent(codexFiles(bundleMachine, o)[0])
	if err != nil {
		return nil, err
	}
	servers, err := o.serversFileContent(nil, field{"startup_timeout_sec", 20})
	return map[string]string{
		".codex-plugin/plugin.json": indentedJSON(manifestFields(slices.Concat(publishedFields, []field{
			{"hooks", "./hooks/hooks.json"}, {"mcpServers", "./.mcp.json"},
			{"interface", fields{
				{"displayName", programName}, {"shortDescription", bundleTitle}, {"developerName", bundleOwner},
				{"category", "Productivity"},
			}},
		})...)),
		".mcp.json":        servers,
		"hooks/hooks.json": hooks,
	}, err
}

func copilotBundleFiles(o Options) (map[string]string, error) {
	files := copilotFiles(bundleMachine, o)
	servers, err := membersToWrite(files[0])
	return map[string]string{
		"plugin.json": indentedJSON(manifestFields(append(slices.Clone(publishedFields),
			field{"hooks", "hooks.json"}, field{"mcpServers", ".mcp.json"})...)),
		".mcp.json":  indentedJSON(servers),
		"hooks.json": files[1].content,
	}, err
}

// newExtensionBundle returns a function that builds an extension for Gemini CLI or for Qwen Code, which use the same
// format.
func newExtensionBundle(client string, filesFor func(Machine, Options) []clientFile) func(Options) (map[string]string,
	error) {
	return func(o Options) (map[string]string, error) {
		settings := filesFor(bundleMachine, o)[0]
		members, err := membersToWrite(settings)
		if err != nil {
			return nil, err
		}
		hooks, err := hooksFileContent(settings)
		return map[string]string{
			client + "-extension.json": indentedJSON(manifestFields(field{"mcpServers", members["mcpServers"]})),
			"hooks/hooks.json":         hooks,
		}, err
	}
}

// opencodeBundleFiles builds an npm package with two plug-ins for opencode. The first plug-in reports events to oxbow.
// The second plug-in adds oxbow's MCP server to opencode's configuration, unless the configuration already contains a
// server with the name oxbow. If o.PluginSource is nil, opencodeBundleFiles returns nil.
func opencodeBundleFiles(o Options) (map[string]string, error) {
	server, err := json.Marshal(fields{{"type", "local"}, {"command", o.oxbowArgv("mcp")}, {"enabled", true}})
	if err != nil || o.PluginSource == nil {
		return nil, err
	}
	source := strings.Replace(o.PluginSource(o.oxbowArgv("hook", "opencode")),
		`// Written by "oxbow setup opencode", and taken back by "oxbow setup --remove".`,
		"// The plug-in of oxbow for opencode. It needs the program oxbow in PATH.", 1)
	return map[string]string{
		"package.json": indentedJSON(fields{
			{"name", "oxbow-opencode"}, {"version", bundleVersion}, {"description", bundleTitle},
			{"type", "module"}, {"main", "index.js"}, {"homepage", bundleHomepage}, {"license", "Apache-2.0"},
		}),
		"index.js": source + `
export const OxbowServer = async () => ({
  config: async (config) => {
    config.mcp = { ` + programName + `: ` + string(server) + `, ...config.mcp }
  },
})
`,
	}, nil
}
