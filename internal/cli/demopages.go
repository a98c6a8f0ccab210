// This file implements "oxbow demo --ui". It shows the sample, with a session of an agent, in a browser.

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/cli/demo"
)

// demoSessionID is the ID of the sample session.
const demoSessionID = "5d0c71aa"

// demoSessionStep is a step in the sample session: either a report of a client's hook, or a command that the agent
// runs.
type demoSessionStep struct {
	HookReport map[string]any `json:"hook"`
	AgentArgs  []string       `json:"agent"`
}

// runDemoPages imports the sample, plays the sample session, and serves the pages until ctx ends.
func (mem *lazyMemory) runDemoPages(ctx context.Context, run commandRunner, dir, home string) error {
	step := func(env Env) error {
		out := env.Stdout.(*bytes.Buffer)
		if status := run(ctx, env); status != exitSuccess {
			return fmt.Errorf(
				"the demo's command %q ended with status %d: %s",
				strings.Join(env.Args, " "),
				status,
				strings.TrimSpace(out.String()),
			)
		}
		return nil
	}
	for _, s := range demoSteps(demo.SamplePaths())[:2] { // The first two commands of the demo fill the memory.
		if err := step(mem.env.demoEnv(dir, home, new(bytes.Buffer), s.Args)); err != nil {
			return err
		}
	}
	for line := range strings.Lines(demo.SessionStepsJSONL) {
		var p demoSessionStep
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return fmt.Errorf("reading the sample's session: %w", err)
		}
		env := mem.env.demoEnv(dir, home, new(bytes.Buffer), p.AgentArgs)
		if p.HookReport != nil {
			p.HookReport["session_id"], p.HookReport["cwd"] = demoSessionID, dir
			report, err := json.Marshal(p.HookReport)
			if err != nil {
				return err
			}
			env.Args, env.Stdin = []string{"hook", "claude"}, bytes.NewReader(report)
		} else {
			env.Getenv = func(key string) string {
				return map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": demoSessionID}[key]
			}
		}
		if err := step(env); err != nil {
			return err
		}
	}
	mem.env.printNote("a small team's memory, in a throw-away home that Ctrl-C removes")
	mem.isDemoSample, mem.finder.homeFlag = true, home
	return mem.servePagesAt(ctx, uiIn{}, "")
}
