// This file implements "oxbow demo --ui", which shows the sample in a browser after an agent's
// session.

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/cli/demo"
)

// demoSession is the session ID of the agent in the sample.
const demoSession = "5d0c71aa"

// storyStep is a step of that session: the report of a client's hook, or a command that the agent
// runs.
type storyStep struct {
	Hook  map[string]any `json:"hook"`
	Agent []string       `json:"agent"`
}

// demoPages imports the sample, plays the session, and serves the pages until ctx ends.
func (mem *openMemory) demoPages(ctx context.Context, run runner, dir, home string) error {
	step := func(env Env) error {
		out := env.Stdout.(*bytes.Buffer)
		if status := run(ctx, env); status != exitDone {
			return fmt.Errorf(
				"the demo's command %q ended with status %d: %s",
				strings.Join(env.Args, " "),
				status,
				strings.TrimSpace(out.String()),
			)
		}
		return nil
	}
	for _, s := range story(demo.Corpus())[:2] { // the steps that fill the memory
		if err := step(mem.env.stage(dir, home, new(bytes.Buffer), s.Args)); err != nil {
			return err
		}
	}
	for line := range strings.Lines(demo.Session) {
		var p storyStep
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return fmt.Errorf("reading the sample's session: %w", err)
		}
		env := mem.env.stage(dir, home, new(bytes.Buffer), p.Agent)
		if p.Hook != nil {
			p.Hook["session_id"], p.Hook["cwd"] = demoSession, dir
			report, err := json.Marshal(p.Hook)
			if err != nil {
				return err
			}
			env.Args, env.Stdin = []string{"hook", "claude"}, bytes.NewReader(report)
		} else {
			env.Getenv = func(key string) string {
				return map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": demoSession}[key]
			}
		}
		if err := step(env); err != nil {
			return err
		}
	}
	mem.env.printNote("a small team's memory, in a throw-away home that Ctrl-C removes")
	mem.sample, mem.finder.homeFlag = true, home
	return mem.ui(ctx, uiIn{}, "")
}
