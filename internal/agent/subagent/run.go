// This file runs a sub-agent: it starts the process, enforces the limits, and records the run as an
// entry.

package subagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

// The possible results of a run.
const (
	runRunning  = "running" // the run has not ended, or its end was not recorded (only in entries)
	RunDone     = "done"
	runFailed   = "failed"  // it returned an exit status other than 0, or could not be started
	runStopped  = "stopped" // the run was stopped together with its caller
	runTimedOut = "timeout" // the run was stopped because its time was up
)

// Keys of labels on a run's entry.
const (
	labelAgent = "agent" // agent:ID
	labelRun   = "run"   // run:done, and so on
)

// Limits, in bytes, for a run's stored output. If the output is longer, its beginning and end are
// stored.
const (
	maxOutputHead = 8 << 10
	maxOutputTail = 24 << 10
	maxErrors     = 4 << 10 // end of standard error
)

// defaultGrace is the time between SIGTERM and SIGKILL.
const defaultGrace = 5 * time.Second

// RunOutcome is the result of a run.
type RunOutcome struct {
	EntryName    string // entry that records the run ("" if it is not recorded)
	EndState     string // "done", "failed", "stopped" or "timeout"
	ExitStatus   int    // exit status (-1 if unknown)
	StartTime    time.Time
	Duration     time.Duration
	Output       string // standard output, complete or only its beginning and end
	OmittedBytes int    // number of bytes omitted from Output
	ErrorOutput  string // end of standard error
	Notes        []string
}

// Run starts the sub-agent and waits until it ends. The sub-agent is stopped if ctx is done or its
// time is up. If the system supports process groups, its child processes are stopped as well.
//
// The run is recorded as an entry of kind history, first as running and then with its result. The
// entry is written through the sub-agent's profile, so that it belongs to the profile. If the
// profile or the store does not accept such an entry, a note says so.
//
// If Run returns an error, nothing was started.
func (s *Service) Run(ctx context.Context, m *oxbow.Memory, r *Runner, b *Briefing) (out RunOutcome, err error) {
	caller, end, err := s.beginRun(ctx)
	if err != nil {
		return RunOutcome{}, err
	}
	defer end()
	dir, err := os.MkdirTemp("", "oxbow-sub-agent-")
	if err != nil {
		return RunOutcome{}, fmt.Errorf("making the files of %s: %w", b.Agent, err)
	}
	defer func() {
		if rerr := vfs.RemoveTree(dir); rerr != nil {
			out.Notes = append(out.Notes, "the files of the briefing are left: "+rerr.Error())
		}
	}()
	argv, err := b.writePlaceholderFiles(r, dir)
	if err != nil {
		return RunOutcome{}, err
	}
	argv[0], err = findProgram(argv[0])
	if err != nil {
		return RunOutcome{}, fmt.Errorf("starting %s by %s: %w", b.Agent, r.SettingsPath, err)
	}
	out = RunOutcome{StartTime: s.now(), ExitStatus: -1}
	var store oxbow.Store = m
	if b.Profile != "" && s.BoundProfile == nil {
		store = scope.New(m, b.resolvedProfile.Scope(), nil)
	}
	src, _ := oxbow.SourceFrom(ctx)
	src.Actor, src.Claimed.Agent = oxbow.Program, b.Agent
	// Record the run even if the caller's context is done.
	recording := oxbow.WithNote(oxbow.WithSource(context.WithoutCancel(ctx), src), "sub-agent")
	rec := &runRecord{ctx: recording, store: store, briefing: b}
	out.EntryName, err = rec.addEntry(&out)
	if errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported) {
		out.Notes = append(out.Notes, "the run is not recorded: "+err.Error())
	} else if err != nil {
		return RunOutcome{}, fmt.Errorf("recording the run of %s: %w", b.Agent, err)
	}
	s.runProcess(caller, r, b, argv, &out)
	out.Duration = s.now().Sub(out.StartTime)
	if out.EntryName != "" {
		if err := rec.updateEntry(&out); err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("how it ended is not recorded in %q: %v", out.EntryName, err))
		}
	}
	return out, nil
}

// findProgram returns the path of a program. It refuses programs that would be found only because of
// the working directory.
func findProgram(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	path, err := exec.LookPath(name)
	if err == nil && !filepath.IsAbs(path) {
		err = fmt.Errorf("%s is found by a path that depends on the working directory", name)
	}
	return path, err
}

// writePlaceholderFiles writes the files for the placeholders, and returns the command.
func (b *Briefing) writePlaceholderFiles(r *Runner, dir string) ([]string, error) {
	config, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{"oxbow": b.Server}}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the configuration of %s: %w", b.Agent, err)
	}
	skill := ""
	if b.Skill != nil {
		skill = b.Skill.Text
	}
	values := map[string]string{"agent_id": b.Agent, "profile": b.Profile}
	for _, f := range []struct{ key, name, body string }{
		{"briefing", "briefing.md", b.Text()}, {"task", "task.md", b.Task}, {"skill", "skill.md", skill},
		{"mcp_config", "mcp.json", string(config)},
	} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, []byte(f.body), 0o600); err != nil {
			return nil, fmt.Errorf("writing the files of %s: %w", b.Agent, err)
		}
		values[f.key] = path
	}
	return r.expandCommand(values), nil
}

// agentEnviron returns the sub-agent's environment. Oxbow's own variables are removed, except those
// that bind the sub-agent to its memory.
func (s *Service) agentEnviron(b *Briefing) []string {
	var env []string
	if s.Environ != nil {
		env = slices.DeleteFunc(slices.Clone(s.Environ()), func(v string) bool {
			return strings.HasPrefix(strings.ToUpper(v), "OXBOW_")
		})
	}
	for _, k := range slices.Sorted(maps.Keys(b.Server.Env)) {
		env = append(env, k+"="+b.Server.Env[k])
	}
	return env
}

// runProcess runs the process until it ends.
func (s *Service) runProcess(callerCtx context.Context, r *Runner, b *Briefing, argv []string, out *RunOutcome) {
	ctx, cancel := context.WithTimeout(callerCtx, r.Timeout)
	defer cancel()
	// On some systems, a process is ended together with the thread that started it, so the thread
	// must stay alive.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said, complained := &outputBuffer{
		maxHeadBytes: maxOutputHead,
		maxTailBytes: maxOutputTail,
	}, &outputBuffer{
		maxTailBytes: maxErrors,
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.WorkingDir, s.agentEnviron(b)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(said, &firstErrorWriter{w: s.Stdout}), io.MultiWriter(
		complained,
		&firstErrorWriter{w: s.Stderr},
	)
	switch r.Stdin {
	case stdinBriefing:
		cmd.Stdin = strings.NewReader(b.Text())
	case stdinTask:
		cmd.Stdin = strings.NewReader(b.Task)
	}
	cmd.WaitDelay = cmp.Or(s.StopGrace, defaultGrace)
	stopAll := setProcessGroup(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		stopAll()
		out.EndState = runStopped
		if callerCtx.Err() == nil {
			out.EndState = runTimedOut
			out.Notes = append(
				out.Notes,
				fmt.Sprintf(
					"it was stopped because its time of %s was up; %s sets another",
					r.Timeout,
					r.SettingsPath,
				),
			)
		}
	case err == nil || errors.Is(err, exec.ErrWaitDelay): // a child process may still hold the output open
		out.EndState = RunDone
	case errors.As(err, &exit):
		out.EndState = runFailed
	default:
		out.EndState = runFailed
		out.Notes = append(out.Notes, "it could not be started: "+err.Error())
	}
	if cmd.ProcessState != nil {
		out.ExitStatus = cmd.ProcessState.ExitCode()
	}
	out.Output, out.OmittedBytes = said.storedText()
	out.ErrorOutput, _ = complained.storedText()
}

// firstErrorWriter writes until the first error and then ignores all data, so that a reader that has gone
// cannot end the sub-agent before its result is recorded.
type firstErrorWriter struct {
	w         io.Writer
	hasFailed bool
}

func (d *firstErrorWriter) Write(p []byte) (int, error) {
	if d.w != nil && !d.hasFailed {
		_, err := d.w.Write(p)
		d.hasFailed = err != nil
	}
	return len(p), nil
}

// outputBuffer keeps the beginning and the end of the data written to it.
type outputBuffer struct {
	maxHeadBytes, maxTailBytes int // maximum sizes in bytes
	headBytes                  []byte
	tailBytes                  []byte
	written                    int // number of bytes written
}

func (k *outputBuffer) Write(p []byte) (int, error) {
	k.written += len(p)
	rest := p
	if room := k.maxHeadBytes - len(k.headBytes); room > 0 {
		n := min(room, len(rest))
		k.headBytes, rest = append(k.headBytes, rest[:n]...), rest[n:]
	}
	k.tailBytes = append(k.tailBytes, rest...)
	if len(k.tailBytes) > 2*k.maxTailBytes {
		k.tailBytes = append(k.tailBytes[:0], k.tailBytes[len(k.tailBytes)-k.maxTailBytes:]...)
	}
	return len(p), nil
}

// storedText returns the kept data as valid text for an entry, and the number of bytes that were left
// out.
func (k *outputBuffer) storedText() (string, int) {
	last := k.tailBytes
	if len(last) > k.maxTailBytes {
		last = last[len(last)-k.maxTailBytes:]
	}
	cut := k.written - len(k.headBytes) - len(last)
	s := string(k.headBytes)
	if cut > 0 && k.maxHeadBytes > 0 {
		s += fmt.Sprintf("\n[… %d bytes are left out here …]\n", cut)
	}
	s += string(last)
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd"), cut
}

// runRecord writes the entry of a run.
type runRecord struct {
	ctx       context.Context
	store     oxbow.Store
	briefing  *Briefing
	entryName string
}

// maxNameAttempts is the maximum number of names that are tried for an entry.
const maxNameAttempts = 100

// addEntry adds the entry, under an unused name.
func (r *runRecord) addEntry(out *RunOutcome) (string, error) {
	base := "run: " + r.briefing.Agent + " " + out.StartTime.UTC().Format("2006-01-02 15:04:05")
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		err := r.store.Apply(
			r.ctx,
			oxbow.Add{Name: name, Kind: oxbow.History, Content: r.entryText(out), Labels: r.runLabels(runRunning)},
		)
		var invalid *oxbow.InvalidError
		taken := errors.Is(err, oxbow.ErrExists) || (errors.As(err, &invalid) && invalid.Field == "name")
		if taken && n < maxNameAttempts {
			continue
		}
		r.entryName = name
		if err != nil {
			name = ""
		}
		return name, err
	}
}

// updateEntry updates the entry with the result of the run. Changes that others made to its labels are
// kept.
func (r *runRecord) updateEntry(out *RunOutcome) error {
	e, err := r.store.Get(r.ctx, r.entryName)
	if err != nil {
		return err
	}
	labels := slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool { return l.Key == labelRun })
	labels = oxbow.SortLabels(append(labels, oxbow.Label{Key: labelRun, Value: out.EndState}))
	return r.store.Apply(
		r.ctx,
		oxbow.Update{Name: r.entryName, Content: r.entryText(out), Aliases: e.Aliases, Labels: labels},
	)
}

func (r *runRecord) runLabels(run string) []oxbow.Label {
	return oxbow.SortLabels([]oxbow.Label{{Key: labelAgent, Value: r.briefing.Agent}, {Key: labelRun, Value: run}})
}

// entryText returns the entry's text, which has the task, the time, and the result. The sub-agent's
// output is put into code blocks that the output cannot close, because it is data.
func (r *runRecord) entryText(out *RunOutcome) string {
	var w strings.Builder
	fmt.Fprintf(&w, "Sub-agent %s", r.briefing.Agent)
	if r.briefing.Profile != "" {
		w.WriteString(", profile " + r.briefing.Profile)
	}
	if r.briefing.Skill != nil {
		w.WriteString(", skill " + r.briefing.Skill.Name)
	}
	if n := r.briefing.Selection.AsOf; n != 0 {
		fmt.Fprintf(&w, ", memory as of change %d", n)
	}
	fmt.Fprintf(&w, ". Started %s", out.StartTime.UTC().Format("2006-01-02 15:04:05 UTC"))
	if out.EndState == "" {
		w.WriteString("; its end is not recorded here yet.\n")
	} else {
		fmt.Fprintf(&w, "; %s after %s", out.EndState, out.Duration.Round(time.Millisecond))
		if out.ExitStatus >= 0 {
			fmt.Fprintf(&w, ", exit status %d", out.ExitStatus)
		}
		w.WriteString(".\n")
	}
	for _, n := range out.Notes {
		w.WriteString("\nNote: " + n + "\n")
	}
	w.WriteString("\n## Task\n\n" + prompt.Fence("markdown", strings.TrimSpace(r.briefing.Task)))
	if out.EndState != "" {
		w.WriteString("\n## Result\n\n" + prompt.Fence("text", out.Output))
	}
	hasFailed := out.EndState != "" && out.EndState != RunDone
	if hasFailed && out.ErrorOutput != "" {
		w.WriteString("\n## Errors\n\n" + prompt.Fence("text", out.ErrorOutput))
	}
	return w.String()
}
