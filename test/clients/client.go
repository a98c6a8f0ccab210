// This file describes the clients that the tests run: how to install a client, and how to run it without a person.

package clients

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// testedClient describes a client, at the version with which the tests were last run.
type testedClient struct {
	name, npmPackages string // name of the program, and the npm packages to install
	scriptPath        string // path of the script that node runs, below node_modules ("" if the program runs without node)
	makeToolCall      func(tool string, input map[string]any) toolCall

	// writeConfig writes the files with which the client uses the model at url. It returns environment variables
	// for the client.
	writeConfig func(home, url string) ([]string, error)
	runArgs     []string // command-line arguments of the client that come before the prompt
	resumeArgs  []string // arguments after runArgs with which the client continues its last session

	makeShellCall func(command string) toolCall // returns a call of the client's own tool that runs a command
	// arguments after runArgs with which the client allows all tools without asking
	allowAllArgs []string

	// toolCall that starts a sub-agent, and the call that ends it (without a name if sub-agents are not tested)
	startAgentCall, endAgentCall toolCall
}

// shellCallFunc returns a function that makes calls of the tool with this name. The tool runs a command. extraInput
// contains further arguments of the tool.
func shellCallFunc(name string, extraInput jsonObject) func(command string) toolCall {
	return func(command string) toolCall {
		input := jsonObject{"command": command}
		maps.Copy(input, extraInput)
		return toolCall{Name: name, Input: input}
	}
}

// prefixedCallFunc returns a function that builds the calls of oxbow's tools. It is for a client that puts a prefix
// before each tool's name. The returned function receives the tool's name without the prefix and the tool's input. It
// makes no call. It returns a toolCall with the prefixed name and the input.
func prefixedCallFunc(prefix string) func(string, map[string]any) toolCall {
	return func(tool string, input map[string]any) toolCall { return toolCall{Name: prefix + tool, Input: input} }
}

// subagentTask is the prompt of a sub-agent. It is a question for which oxbow's hooks would show a note if a person
// typed it. The tests check that the hooks show no note to the sub-agent.
const subagentTask = "From which pier does the ferry to Bornholm leave at dawn? Look for the timetable."

var testedClients = []testedClient{
	{"claude", "@anthropic-ai/claude-code@2.1.329", "", prefixedCallFunc("mcp__oxbow__"),
		func(home, url string) ([]string, error) {
			return []string{"ANTHROPIC_BASE_URL=" +
					url, "ANTHROPIC_API_KEY=test", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
					"DISABLE_ERROR_REPORTING=1",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}, writeJSON(
					filepath.Join(home, ".claude.json"),
					jsonObject{"hasCompletedOnboarding": true},
				)
		}, []string{"--model", "claude-sonnet-4-5", "--output-format", "stream-json", "--verbose", "-p"},
		[]string{
			"--continue",
		}, shellCallFunc("Bash", jsonObject{"description": "look"}), []string{"--allowedTools=Bash"},
		toolCall{}, toolCall{}},

	{"codex", "@openai/codex@0.169.0", "", func(tool string, input map[string]any) toolCall {
		return toolCall{Namespace: "mcp__oxbow", Name: tool, Input: input}
	}, func(home, url string) ([]string, error) {
		return []string{
				"MODEL_KEY=test",
			}, writeFile(
				filepath.Join(home, ".codex", "config.toml"),
				`model = "gpt-5.1-codex"
model_provider = "scripted"
approval_policy = "on-request"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "`+url+`/v1"
env_key = "MODEL_KEY"
wire_api = "responses"
[analytics]
enabled = false
`,
			)
	}, []string{"exec", "--json", "--skip-git-repo-check"},
		[]string{"resume", "--last"}, func(command string) toolCall {
			return toolCall{Name: "exec_command", Input: jsonObject{"cmd": command}}
		}, []string{"--dangerously-bypass-approvals-and-sandbox"}, toolCall{}, toolCall{}},

	{"gemini", "@google/gemini-cli@0.61.0", "@google/gemini-cli/bundle/gemini.js", prefixedCallFunc("mcp_oxbow_"),
		func(home, url string) ([]string, error) {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=test", "GEMINI_CLI_TRUST_WORKSPACE=true"},
				writeJSON(
					filepath.Join(home, ".gemini", "settings.json"),
					jsonObject{"security": jsonObject{"auth": jsonObject{"selectedType": "gemini-api-key"}},
						"privacy": jsonObject{"usageStatisticsEnabled": false},
						"general": jsonObject{"enableAutoUpdate": false}},
				)
		}, []string{"-m", "gemini-2.5-flash", "--skip-trust", "-o", "stream-json", "-p"},
		[]string{"--resume", "latest"}, shellCallFunc("run_shell_command", nil), []string{"--approval-mode", "yolo"},
		toolCall{Name: "invoke_agent", Input: jsonObject{"agent_name": "generalist", "prompt": subagentTask}},
		toolCall{Name: "complete_task", Input: jsonObject{"result": jsonObject{"response": "Pier nine."}}}},

	{"opencode", "opencode-ai@1.18.33 @opencode-ai/plugin@1.18.33", "", prefixedCallFunc("oxbow_"),
		func(home, url string) ([]string, error) {
			return []string{
					"OPENCODE_DISABLE_AUTOUPDATE=1",
					"OPENCODE_DISABLE_MODELS_FETCH=1",
					"OPENCODE_DISABLE_LSP_DOWNLOAD=1",
					"OPENCODE_DISABLE_SHARE=1",
				},
				writeJSON(
					filepath.Join(home, ".config", "opencode", "opencode.json"),
					jsonObject{"model": "scripted/m", "small_model": "scripted/m", "autoupdate": false,
						"provider": jsonObject{
							"scripted": jsonObject{
								"npm": "@ai-sdk/openai-compatible",
								"options": jsonObject{"baseURL": url +
									"/v1", "apiKey": "test"},
								"models": jsonObject{
									"m": jsonObject{
										"name":      "m",
										"tool_call": true,
										"limit":     jsonObject{"context": 200000, "output": 8000},
									},
								},
							},
						}},
				)
		}, []string{"run", "--format", "json"},
		[]string{"--continue"}, shellCallFunc("bash", jsonObject{"description": "look"}), nil, toolCall{}, toolCall{}},

	{"copilot", "@github/copilot@1.0.102", "", prefixedCallFunc("oxbow-"), func(home, url string) ([]string, error) {
		return []string{"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + url +
			"/v1", "COPILOT_PROVIDER_API_KEY=test", "COPILOT_MODEL=gpt-4.1"}, nil
	}, []string{"--no-auto-update", "--allow-tool=oxbow", "--output-format", "json", "-p"},
		[]string{"--continue"}, shellCallFunc("bash", jsonObject{"description": "look"}),
		[]string{"--allow-all-tools", "--allow-all-paths"}, toolCall{}, toolCall{}},

	{"qwen", "@qwen-code/qwen-code@0.24.4", "@qwen-code/qwen-code/cli-entry.js",
		func(tool string, input map[string]any) toolCall {
			return toolCall{Name: "tool_call", Input: jsonObject{"name": "mcp__oxbow__" + tool, "arguments": input}}
		}, func(home, url string) ([]string, error) {
			return []string{"OPENAI_API_KEY=test", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=scripted"},
				writeJSON(
					filepath.Join(home, ".qwen", "settings.json"),
					jsonObject{"security": jsonObject{"auth": jsonObject{"selectedType": "openai"}},
						"privacy": jsonObject{"usageStatisticsEnabled": false},
						"general": jsonObject{"disableAutoUpdate": true}},
				)
		}, []string{"--auth-type", "openai", "-o", "stream-json", "-p"},
		[]string{"--continue"}, shellCallFunc("run_shell_command", jsonObject{"is_background": false}),
		[]string{"--approval-mode", "yolo"}, toolCall{}, toolCall{}},
}

// runArguments returns the arguments for a run with this prompt. If allowAllTools is true, the arguments allow all
// tools. If resumesSession is true, the run continues the last session. An option -p at the end of c.runArgs stays
// directly before the prompt.
func (c *testedClient) runArguments(prompt string, allowAllTools, resumesSession bool) []string {
	run, prints := c.runArgs, ""
	if run[len(run)-1] == "-p" {
		run, prints = run[:len(run)-1], "-p"
	}
	args := slices.Clone(run)
	if allowAllTools {
		args = append(args, c.allowAllArgs...)
	}
	if resumesSession {
		args = append(args, c.resumeArgs...)
	}
	if prints != "" {
		args = append(args, prints)
	}
	return append(args, prompt)
}

// commandLine returns the command line that starts the client. The client must be installed below dir; otherwise the
// result is nil.
func (c *testedClient) commandLine(dir string) []string {
	modules := filepath.Join(dir, c.name, "node_modules")
	argv := []string{filepath.Join(modules, ".bin", c.name)}
	if c.scriptPath != "" {
		argv = []string{"node", filepath.Join(modules, filepath.FromSlash(c.scriptPath))}
	}
	if _, err := os.Stat(argv[len(argv)-1]); err != nil {
		return nil
	}
	return argv
}

// failureHint returns advice for a test that fails because the client is missing: how to install the client.
func (c *testedClient) failureHint(dir string) string {
	if dir == "" {
		dir = "$" + clientsEnv
	}
	return "npm install --prefix " + dir + "/" + c.name + " " + c.npmPackages + " (Node 22), with " + clientsEnv +
		" set to that directory"
}

// clientsEnv is the environment variable that names the directory in which clients are installed.
const clientsEnv = "OXBOW_CLIENTS"

// isClientRequired reports whether the variable OXBOW_REQUIRE contains the name of the client. The value "all" does not
// require clients, because they are large and have to be downloaded.
func isClientRequired(name string) bool {
	for n := range strings.SplitSeq(os.Getenv("OXBOW_REQUIRE"), ",") {
		if strings.TrimSpace(n) == name {
			return true
		}
	}
	return false
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, string(b)+"\n")
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
