// This file runs a sub-agent. It starts the process, enforces the limits, and records the run as an entry.

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

// States of a sub-agent's execution.
const (
	// The sub-agent's program has not ended, or oxbow was killed before it could record the end. Only stored entries
	// have this state.
	stateRunning  = "running"
	StateDone     = "done"
	stateFailed   = "failed"  // the program returned an exit status other than 0 or could not be started
	stateStopped  = "stopped" // the run was stopped because its caller was stopped
	stateTimedOut = "timeout" // the run was stopped because it exceeded the time limit
)

// Keys of the labels on the history entry that records one run of a sub-agent.
const (
	agentLabelKey    = "agent" // label agent:ID
	runStateLabelKey = "run"   // label run:STATE, such as run:done
)

// Maximum sizes, in bytes, of the stored output. If the standard output is longer, only the beginning and the end are
// stored.
const (
	maxOutputStartBytes = 8 << 10
	maxOutputEndBytes   = 24 << 10
	maxStderrBytes      = 4 << 10 // maximum size of the standard error output that is stored (only the end is stored)
)

// defaultTermToKillDelay is the time that a stopped process has to end by itself: the time between SIGTERM and SIGKILL.
const defaultTermToKillDelay = 5 * time.Second

// RunOutcome is the result of a run.
type RunOutcome struct {
	EntryName    string // name of the entry that records the execution of the sub-agent ("" if it is not recorded)
	EndState     string // how the sub-agent's program ended: "done", "failed", "stopped" or "timeout"
	ExitStatus   int    // exit status (-1 if unknown)
	StartTime    time.Time
	Duration     time.Duration
	Output       string // standard output (only the beginning and the end if the output is too long)
	OmittedBytes int    // number of bytes that Output lacks
	ErrorOutput  string // the last bytes that the sub-agent's program wrote to its standard error output
	WarningNotes []string
}

// Run starts the sub-agent that the briefing b describes and waits until it ends. The sub-agent is stopped when ctx is
// done or its time limit is exceeded. On systems with process groups, the sub-agent's child processes are stopped as
// well.
//
// Run records the run in m as an entry of kind history, first as running and then with its result. If the briefing has
// a profile, Run writes the entry with the profile's restrictions, so that a reader with this profile can see the
// entry. If the profile or the store refuses the entry, the run continues, and the field WarningNotes of the outcome
// says that the run is not recorded.
//
// If Run returns an error, the sub-agent's process was not started.
func (s *Service) Run(ctx context.Context, m *oxbow.Memory, r *Runner, b *Briefing) (out RunOutcome, err error) {
	caller, end, err := s.registerSubAgentRun(ctx)
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
			out.WarningNotes = append(out.WarningNotes, "the files of the briefing are left: "+rerr.Error())
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
	out = RunOutcome{StartTime: s.currentTime(), ExitStatus: -1}
	var store oxbow.Store = m
	if b.Profile != "" && s.RestrictingProfile == nil {
		store = scope.New(m, b.resolvedProfile.Scope(), nil)
	}
	src, _ := oxbow.SourceFrom(ctx)
	src.Actor, src.Claimed.Agent = oxbow.Program, b.Agent
	// Record the run even if the caller's context is done.
	recording := oxbow.WithNote(oxbow.WithSource(context.WithoutCancel(ctx), src), "sub-agent")
	rec := &runRecord{ctx: recording, store: store, briefing: b}
	out.EntryName, err = rec.addEntry(&out)
	if errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported) {
		out.WarningNotes = append(out.WarningNotes, "the run is not recorded: "+err.Error())
	} else if err != nil {
		return RunOutcome{}, fmt.Errorf("recording the run of %s: %w", b.Agent, err)
	}
	s.runProcess(caller, r, b, argv, &out)
	out.Duration = s.currentTime().Sub(out.StartTime)
	if out.EntryName != "" {
		if err := rec.updateEntry(&out); err != nil {
			out.WarningNotes = append(
				out.WarningNotes,
				fmt.Sprintf("how it ended is not recorded in %q: %v", out.EntryName, err),
			)
		}
	}
	return out, nil
}

// findProgram returns the path of a program. It returns an error for a program that would only be found in the working
// directory.
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

// writePlaceholderFiles writes the files to which the placeholders in the runner's command refer. It creates the files
// in the directory scratchDir. It returns the command with all placeholders replaced.
func (b *Briefing) writePlaceholderFiles(r *Runner, scratchDir string) ([]string, error) {
	config, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{"oxbow": b.MemoryServer}}, "", "  ")
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
		path := filepath.Join(scratchDir, f.name)
		if err := os.WriteFile(path, []byte(f.body), 0o600); err != nil {
			return nil, fmt.Errorf("writing the files of %s: %w", b.Agent, err)
		}
		values[f.key] = path
	}
	return r.expandPlaceholders(values), nil
}

// agentEnviron returns the environment variables for the sub-agent: the variables in s.Environ, except those whose
// names begin with OXBOW_, and the variables in b.MemoryServer.Env, which restrict the sub-agent to its memory.
func (s *Service) agentEnviron(b *Briefing) []string {
	var env []string
	if s.Environ != nil {
		env = slices.DeleteFunc(slices.Clone(s.Environ()), func(v string) bool {
			return strings.HasPrefix(strings.ToUpper(v), "OXBOW_")
		})
	}
	for _, k := range slices.Sorted(maps.Keys(b.MemoryServer.Env)) {
		env = append(env, k+"="+b.MemoryServer.Env[k])
	}
	return env
}

// runProcess starts the process, waits until it ends, and records the result in outcome. The process is stopped if it
// runs longer than r.RunTimeout, or if callerCtx ends.
func (s *Service) runProcess(callerCtx context.Context, r *Runner, b *Briefing, argv []string, outcome *RunOutcome) {
	ctx, cancel := context.WithTimeout(callerCtx, r.RunTimeout)
	defer cancel()
	// On some systems, the process would be ended when the thread that started it ends. Therefore this thread must
	// stay alive.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said, complained := &headTailBuffer{
		maxHeadBytes: maxOutputStartBytes,
		maxTailBytes: maxOutputEndBytes,
	}, &headTailBuffer{
		maxTailBytes: maxStderrBytes,
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.WorkingDir, s.agentEnviron(b)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(said, &discardAfterErrorWriter{w: s.Stdout}), io.MultiWriter(
		complained,
		&discardAfterErrorWriter{w: s.Stderr},
	)
	switch r.Stdin {
	case stdinBriefing:
		cmd.Stdin = strings.NewReader(b.Text())
	case stdinTask:
		cmd.Stdin = strings.NewReader(b.Task)
	}
	cmd.WaitDelay = cmp.Or(s.TermToKillDelay, defaultTermToKillDelay)
	stopAll := setProcessGroup(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		stopAll()
		outcome.EndState = stateStopped
		if callerCtx.Err() == nil {
			outcome.EndState = stateTimedOut
			outcome.WarningNotes = append(
				outcome.WarningNotes,
				fmt.Sprintf(
					"it was stopped because its time of %s was up; %s sets another",
					r.RunTimeout,
					r.SettingsPath,
				),
			)
		}
	// With ErrWaitDelay, the program ended with status 0, but one of its child processes still has the output open.
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		outcome.EndState = StateDone
	case errors.As(err, &exit):
		outcome.EndState = stateFailed
	default:
		outcome.EndState = stateFailed
		outcome.WarningNotes = append(outcome.WarningNotes, "it could not be started: "+err.Error())
	}
	if cmd.ProcessState != nil {
		outcome.ExitStatus = cmd.ProcessState.ExitCode()
	}
	outcome.Output, outcome.OmittedBytes = said.headAndTailText()
	outcome.ErrorOutput, _ = complained.headAndTailText()
}

// discardAfterErrorWriter writes to w until a write fails, and then discards all later data without an error. If it
// returned the error, the sub-agent's output would be closed, and the sub-agent would end before its result is
// recorded.
type discardAfterErrorWriter struct {
	w         io.Writer
	hasFailed bool
}

func (d *discardAfterErrorWriter) Write(p []byte) (int, error) {
	if d.w != nil && !d.hasFailed {
		_, err := d.w.Write(p)
		d.hasFailed = err != nil
	}
	return len(p), nil
}

// headTailBuffer keeps only the beginning and the end of the data that is written to it.
type headTailBuffer struct {
	maxHeadBytes, maxTailBytes int // maximum number of bytes in headBytes and in tailBytes
	headBytes                  []byte
	tailBytes                  []byte
	writtenBytes               int // number of bytes that were written to the buffer
}

func (k *headTailBuffer) Write(p []byte) (int, error) {
	k.writtenBytes += len(p)
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

// headAndTailText returns the kept data, and the number of bytes that were left out in the middle. Bytes that an entry
// must not contain (invalid UTF-8 and NUL) are replaced by U+FFFD.
func (k *headTailBuffer) headAndTailText() (string, int) {
	last := k.tailBytes
	if len(last) > k.maxTailBytes {
		last = last[len(last)-k.maxTailBytes:]
	}
	cut := k.writtenBytes - len(k.headBytes) - len(last)
	s := string(k.headBytes)
	if cut > 0 && k.maxHeadBytes > 0 {
		s += fmt.Sprintf("\n[… %d bytes are left out here …]\n", cut)
	}
	s += string(last)
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd"), cut
}

// runRecord writes the entry that records a run.
type runRecord struct {
	ctx       context.Context
	store     oxbow.Store
	briefing  *Briefing
	entryName string
}

// maxNameAttempts is the maximum number of names that addEntry tries.
const maxNameAttempts = 100

// addEntry adds the entry that records the run, and returns the entry's name, such as "run: AGENT 2006-01-02 15:04:05".
// If the name is in use, addEntry appends a number to it. If the entry cannot be added, addEntry returns "" and an
// error.
func (r *runRecord) addEntry(outcome *RunOutcome) (string, error) {
	base := "run: " + r.briefing.Agent + " " + outcome.StartTime.UTC().Format("2006-01-02 15:04:05")
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		err := r.store.Apply(
			r.ctx,
			oxbow.Add{
				Name:    name,
				Kind:    oxbow.History,
				Content: r.entryText(outcome),
				Labels:  r.labelsOfRunEntry(stateRunning),
			},
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

// updateEntry writes the run's result into its entry. It keeps labels that others have changed in the meantime.
func (r *runRecord) updateEntry(outcome *RunOutcome) error {
	e, err := r.store.Get(r.ctx, r.entryName)
	if err != nil {
		return err
	}
	labels := slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool { return l.Key == runStateLabelKey })
	labels = oxbow.SortLabels(append(labels, oxbow.Label{Key: runStateLabelKey, Value: outcome.EndState}))
	return r.store.Apply(
		r.ctx,
		oxbow.Update{Name: r.entryName, Content: r.entryText(outcome), Aliases: e.Aliases, Labels: labels},
	)
}

func (r *runRecord) labelsOfRunEntry(runState string) []oxbow.Label {
	return oxbow.SortLabels(
		[]oxbow.Label{{Key: agentLabelKey, Value: r.briefing.Agent}, {Key: runStateLabelKey, Value: runState}},
	)
}

// entryText returns the text of the run's entry: the task, the time and the result. The sub-agent's output is data, so
// it is put into code blocks that the output cannot close.
func (r *runRecord) entryText(outcome *RunOutcome) string {
	var w strings.Builder
	fmt.Fprintf(&w, "Sub-agent %s", r.briefing.Agent)
	if r.briefing.Profile != "" {
		w.WriteString(", profile " + r.briefing.Profile)
	}
	if r.briefing.Skill != nil {
		w.WriteString(", skill " + r.briefing.Skill.Name)
	}
	if n := r.briefing.EntrySelection.AsOf; n != 0 {
		fmt.Fprintf(&w, ", memory as of change %d", n)
	}
	fmt.Fprintf(&w, ". Started %s", outcome.StartTime.UTC().Format("2006-01-02 15:04:05 UTC"))
	if outcome.EndState == "" {
		w.WriteString("; its end is not recorded here yet.\n")
	} else {
		fmt.Fprintf(&w, "; %s after %s", outcome.EndState, outcome.Duration.Round(time.Millisecond))
		if outcome.ExitStatus >= 0 {
			fmt.Fprintf(&w, ", exit status %d", outcome.ExitStatus)
		}
		w.WriteString(".\n")
	}
	for _, n := range outcome.WarningNotes {
		w.WriteString("\nNote: " + n + "\n")
	}
	w.WriteString("\n## Task\n\n" + prompt.FenceText("markdown", strings.TrimSpace(r.briefing.Task)))
	if outcome.EndState != "" {
		w.WriteString("\n## Result\n\n" + prompt.FenceText("text", outcome.Output))
	}
	hasFailed := outcome.EndState != "" && outcome.EndState != StateDone
	if hasFailed && outcome.ErrorOutput != "" {
		w.WriteString("\n## Errors\n\n" + prompt.FenceText("text", outcome.ErrorOutput))
	}
	return w.String()
}
