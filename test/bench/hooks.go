// This file implements the command "hooks", which measures how long the hooks of a session take.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func hooksCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	n := fl.Int("n", 10_000, "entries in the memory")
	megabytes := fl.Int64("mb", 300, "megabytes of transcripts in the archive")
	sessions := fl.Int("sessions", 20, "sessions of 22 hooks")
	var src textSource
	src.addTextFlag(fl)
	b.addDirFlag(fl)
	return b.withTempDir("hooks", func(ctx context.Context, dir string) error {
		hello, err := buildMinimalProgram(ctx, dir)
		if err != nil {
			return err
		}
		r, w, es, err := b.prepareSessionImport(ctx, dir, src, *n, *megabytes, 1)
		if err != nil {
			return err
		}
		home := filepath.Join(dir, "home")
		if err := fillHome(ctx, home, es); err != nil {
			return err
		}
		if _, err := r.importSessions(ctx, home, 0); err != nil {
			return err
		}
		b.printf("%s entries, %s turns in the archive.\n\n", formatCount(len(es)), formatCount(w.turnCount))
		return r.measureHooks(ctx, hello, home, *sessions)
	})
}

// measureHooks runs oxbow's hook for each event of several Claude Code sessions. For comparison, it also runs a
// program that does nothing, once for each session.
func (r importRun) measureHooks(ctx context.Context, minimalProgramPath, home string, sessions int) error {
	var whole, first, prompt, rest, bare hookTimings
	for n := range sessions + 1 {
		var all hookTime
		for i, report := range sampleHookReports(n, r.user) {
			took, err := r.runHook(ctx, home, report)
			if err != nil {
				return err
			}
			all.elapsedTime += took.elapsedTime
			all.cpu += took.cpu
			switch {
			case n == 0: // do not count the first run, which fills the caches of the system
			case i == 0:
				first.add(took)
			case i == 1:
				prompt.add(took)
			default:
				rest.add(took)
			}
		}
		took, err := runHook(exec.CommandContext(ctx, minimalProgramPath))
		if err != nil {
			return err
		}
		if n > 0 {
			whole.add(all)
			bare.add(took)
		}
	}
	t := newTable(fmt.Sprintf("%d sessions", sessions), "p50", "p95", "p50 × bare", "processor")
	for _, row := range []struct {
		name  string
		times hookTimings
	}{
		{"bare Go program", bare},
		{"hook SessionStart, which answers", first},
		{"hook at a prompt", prompt},
		{"any other hook", rest},
		{"the 22 hooks of a session", whole},
	} {
		clock := row.times.elapsedTimes
		times := "1"
		if row.name != "bare Go program" {
			times = formatRatio(clock.p50(), bare.elapsedTimes.p50())
		}
		processor := formatDuration(row.times.cpuTimes.p50())
		t.addRow(row.name, formatDuration(clock.p50()), formatDuration(clock.quantile(.95)), times, processor)
	}
	r.emitTable(t)
	return nil
}

// hookTime is the elapsed time and the processor time of hooks.
type hookTime struct{ elapsedTime, cpu time.Duration }

// hookTimings contains the elapsed times and the processor times of many runs of the hook program.
type hookTimings struct{ elapsedTimes, cpuTimes timings }

func (t *hookTimings) add(hookRunTime hookTime) {
	t.elapsedTimes = append(t.elapsedTimes, hookRunTime.elapsedTime)
	t.cpuTimes = append(t.cpuTimes, hookRunTime.cpu)
}

// runHook runs oxbow's hook for Claude Code with a report as input, and returns the times that it took. It returns an
// error if the hook fails, or if it does not answer the start of a session.
func (r importRun) runHook(ctx context.Context, home string, report map[string]any) (hookTime, error) {
	in, err := json.Marshal(report)
	if err != nil {
		return hookTime{}, err
	}
	p := exec.CommandContext(ctx, r.oxbowPath, "--home", home, "hook", "claude")
	p.Env = minimalEnv(os.Getenv, r.user)
	p.Dir = r.user
	p.Stdin = bytes.NewReader(in)
	var out bytes.Buffer
	p.Stdout = &out
	p.Stderr = &out
	took, err := runHook(p)
	if err != nil {
		return took, err
	}
	if name := report["hook_event_name"]; name == "SessionStart" && out.Len() == 0 {
		return took, fmt.Errorf("no answer to %v", name)
	}
	return took, nil
}

// runHook runs the command p and returns the elapsed time and the processor time that it took.
func runHook(p *exec.Cmd) (hookTime, error) {
	begin := time.Now()
	err := p.Run()
	took := hookTime{elapsedTime: time.Since(begin)}
	if err != nil {
		return took, err
	}
	took.cpu = p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	return took, nil
}

// sampleHookReports returns the reports of Claude Code in one session: a prompt, nine tool calls,
// and the end.
func sampleHookReports(sessionNumber int, dir string) []map[string]any {
	var all []map[string]any
	report := func(name string, more map[string]any) {
		r := map[string]any{
			"session_id":      fmt.Sprintf("%08x-5bad-4000-9000-%012x", sessionNumber, sessionNumber),
			"cwd":             dir,
			"transcript_path": filepath.Join(dir, "none.jsonl"),
			"hook_event_name": name,
		}
		for k, v := range more {
			r[k] = v
		}
		all = append(all, r)
	}
	report("SessionStart", map[string]any{"source": "startup"})
	report("UserPromptSubmit", map[string]any{"prompt": fmt.Sprintf("mend what test %d finds", sessionNumber)})
	for i := range 9 {
		tool, input := "Bash", map[string]any{"command": fmt.Sprintf("go test ./part%d", i)}
		if i%3 == 0 {
			tool, input = "Edit", map[string]any{
				"file_path":  filepath.Join(dir, fmt.Sprintf("f%d.go", i)),
				"old_string": "a",
				"new_string": "b",
			}
		}
		use := map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": fmt.Sprintf("toolu_%d", i)}
		report("PreToolUse", use)
		use["tool_response"] = map[string]any{"stdout": "ok", "stderr": "", "interrupted": false}
		report("PostToolUse", use)
	}
	report("Stop", map[string]any{"last_assistant_message": "done"})
	report("SessionEnd", map[string]any{"reason": "exit"})
	return all
}
