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

// client describes a client, at the version with which the tests were last run.
type client struct {
	name, install string // name of the program, and the npm packages to install
	script        string // path of the script that node runs, below node_modules ("" if the program runs without node)
	tool          func(tool string, input map[string]any) call

	// prepare writes the files with which the client uses the model at url. It returns environment variables for the
	// client.
	prepare func(home, url string) ([]string, error)
	run     []string // arguments that come before the prompt
	resume  []string // arguments that follow those in run if the client continues its last session

	shell func(command string) call // returns a call of the client's own tool that runs a command
	free  []string                  // arguments that follow those in run if all tools are allowed

	// call that starts a sub-agent, and the call that ends it (without a name if sub-agents are not tested)
	agent, agentEnds call
}

// shellTool returns a function that makes calls of the tool with this name. The tool runs a command. more contains
// further arguments of the tool.
func shellTool(name string, more object) func(command string) call {
	return func(command string) call {
		input := object{"command": command}
		maps.Copy(input, more)
		return call{Name: name, Input: input}
	}
}

// prefixedCalls returns a function that makes calls of oxbow's tools. In this client, the names of these tools begin
// with prefix.
func prefixedCalls(prefix string) func(string, map[string]any) call {
	return func(tool string, input map[string]any) call { return call{Name: prefix + tool, Input: input} }
}

// task is the prompt of a sub-agent. For the same prompt of a person, hooks would show a note.
const task = "From which pier does the ferry to Bornholm leave at dawn? Look for the timetable."

var clients = []client{
	{"claude", "@anthropic-ai/claude-code@2.1.329", "", prefixedCalls("mcp__oxbow__"),
		func(home, url string) ([]string, error) {
			return []string{"ANTHROPIC_BASE_URL=" +
					url, "ANTHROPIC_API_KEY=test", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
					"DISABLE_ERROR_REPORTING=1",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}, writeJSON(
					filepath.Join(home, ".claude.json"),
					object{"hasCompletedOnboarding": true},
				)
		}, []string{"--model", "claude-sonnet-4-5", "--output-format", "stream-json", "--verbose", "-p"},
		[]string{"--continue"}, shellTool("Bash", object{"description": "look"}), []string{"--allowedTools=Bash"},
		call{}, call{}},

	{"codex", "@openai/codex@0.169.0", "", func(tool string, input map[string]any) call {
		return call{Namespace: "mcp__oxbow", Name: tool, Input: input}
	}, func(home, url string) ([]string, error) {
		return []string{"MODEL_KEY=test"}, write(filepath.Join(home, ".codex", "config.toml"), `model = "gpt-5.1-codex"
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
`)
	}, []string{"exec", "--json", "--skip-git-repo-check"},
		[]string{"resume", "--last"}, func(command string) call {
			return call{Name: "exec_command", Input: object{"cmd": command}}
		}, []string{"--dangerously-bypass-approvals-and-sandbox"}, call{}, call{}},

	{"gemini", "@google/gemini-cli@0.61.0", "@google/gemini-cli/bundle/gemini.js", prefixedCalls("mcp_oxbow_"),
		func(home, url string) ([]string, error) {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=test", "GEMINI_CLI_TRUST_WORKSPACE=true"},
				writeJSON(
					filepath.Join(home, ".gemini", "settings.json"),
					object{"security": object{"auth": object{"selectedType": "gemini-api-key"}},
						"privacy": object{"usageStatisticsEnabled": false},
						"general": object{"enableAutoUpdate": false}},
				)
		}, []string{"-m", "gemini-2.5-flash", "--skip-trust", "-o", "stream-json", "-p"},
		[]string{"--resume", "latest"}, shellTool("run_shell_command", nil), []string{"--approval-mode", "yolo"},
		call{Name: "invoke_agent", Input: object{"agent_name": "generalist", "prompt": task}},
		call{Name: "complete_task", Input: object{"result": object{"response": "Pier nine."}}}},

	{"opencode", "opencode-ai@1.18.33 @opencode-ai/plugin@1.18.33", "", prefixedCalls("oxbow_"),
		func(home, url string) ([]string, error) {
			return []string{
					"OPENCODE_DISABLE_AUTOUPDATE=1",
					"OPENCODE_DISABLE_MODELS_FETCH=1",
					"OPENCODE_DISABLE_LSP_DOWNLOAD=1",
					"OPENCODE_DISABLE_SHARE=1",
				},
				writeJSON(
					filepath.Join(home, ".config", "opencode", "opencode.json"),
					object{"model": "scripted/m", "small_model": "scripted/m", "autoupdate": false,
						"provider": object{
							"scripted": object{"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": url +
								"/v1", "apiKey": "test"},
								"models": object{
									"m": object{
										"name":      "m",
										"tool_call": true,
										"limit":     object{"context": 200000, "output": 8000},
									},
								}},
						}},
				)
		}, []string{"run", "--format", "json"},
		[]string{"--continue"}, shellTool("bash", object{"description": "look"}), nil, call{}, call{}},

	{"copilot", "@github/copilot@1.0.102", "", prefixedCalls("oxbow-"), func(home, url string) ([]string, error) {
		return []string{"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=" + url +
			"/v1", "COPILOT_PROVIDER_API_KEY=test", "COPILOT_MODEL=gpt-4.1"}, nil
	}, []string{"--no-auto-update", "--allow-tool=oxbow", "--output-format", "json", "-p"},
		[]string{"--continue"}, shellTool("bash", object{"description": "look"}),
		[]string{"--allow-all-tools", "--allow-all-paths"}, call{}, call{}},

	{"qwen", "@qwen-code/qwen-code@0.24.4", "@qwen-code/qwen-code/cli-entry.js",
		func(tool string, input map[string]any) call {
			return call{Name: "tool_call", Input: object{"name": "mcp__oxbow__" + tool, "arguments": input}}
		}, func(home, url string) ([]string, error) {
			return []string{"OPENAI_API_KEY=test", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=scripted"},
				writeJSON(
					filepath.Join(home, ".qwen", "settings.json"),
					object{"security": object{"auth": object{"selectedType": "openai"}},
						"privacy": object{"usageStatisticsEnabled": false},
						"general": object{"disableAutoUpdate": true}},
				)
		}, []string{"--auth-type", "openai", "-o", "stream-json", "-p"},
		[]string{"--continue"}, shellTool("run_shell_command", object{"is_background": false}),
		[]string{"--approval-mode", "yolo"}, call{}, call{}},
}

// runArguments returns the arguments for a run with this prompt. If free is true, they allow all tools. If resumes is
// true, the run continues the last session. An option -p at the end of c.run stays directly before the prompt.
func (c *client) runArguments(prompt string, free, resumes bool) []string {
	run, prints := c.run, ""
	if run[len(run)-1] == "-p" {
		run, prints = run[:len(run)-1], "-p"
	}
	args := slices.Clone(run)
	if free {
		args = append(args, c.free...)
	}
	if resumes {
		args = append(args, c.resume...)
	}
	if prints != "" {
		args = append(args, prints)
	}
	return append(args, prompt)
}

// command returns the command line that starts the client. The client must be installed below dir; otherwise the
// result is nil.
func (c *client) command(dir string) []string {
	modules := filepath.Join(dir, c.name, "node_modules")
	argv := []string{filepath.Join(modules, ".bin", c.name)}
	if c.script != "" {
		argv = []string{"node", filepath.Join(modules, filepath.FromSlash(c.script))}
	}
	if _, err := os.Stat(argv[len(argv)-1]); err != nil {
		return nil
	}
	return argv
}

// hint returns advice on how to install the client.
func (c *client) hint(dir string) string {
	if dir == "" {
		dir = "$" + clientsEnv
	}
	return "npm install --prefix " + dir + "/" + c.name + " " + c.install + " (Node 22), with " + clientsEnv +
		" set to that directory"
}

// clientsEnv is the environment variable that names the directory in which clients are installed.
const clientsEnv = "OXBOW_CLIENTS"

// isRequired reports whether the variable OXBOW_REQUIRE contains the name of the client. Its value "all" does not mean
// clients, because they are large and have to be downloaded.
func isRequired(name string) bool {
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
	return write(path, string(b)+"\n")
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
