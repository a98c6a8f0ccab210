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
	runRunning = "running" // the run has not ended, or its end was not recorded (only in entries)
	Done       = "done"
	runFailed  = "failed"  // it returned an exit status other than 0, or could not be started
	runStopped = "stopped" // the run was stopped together with its caller
	runLate    = "timeout" // the run was stopped because its time was up
)

// Keys of labels on a run's entry.
const (
	labelAgent = "agent" // agent:ID
	labelRun   = "run"   // run:done, and so on
)

// Limits, in bytes, for a run's stored output. If the output is longer, its beginning and end are
// stored.
const (
	maxHead   = 8 << 10
	maxTail   = 24 << 10
	maxErrors = 4 << 10 // end of standard error
)

// standardGrace is the time between SIGTERM and SIGKILL.
const standardGrace = 5 * time.Second

// Outcome is the result of a run.
type Outcome struct {
	Entry   string // entry that records the run ("" if it is not recorded)
	Ended   string // Done, or "failed", "stopped" or "timeout"
	Status  int    // exit status (-1 if unknown)
	Started time.Time
	Took    time.Duration
	Result  string // standard output, complete or only its beginning and end
	Cut     int    // number of bytes omitted from Result
	Errors  string // end of standard error
	Notes   []string
}

// Run starts the sub-agent and waits until it ends. The sub-agent is stopped if ctx is done or its
// time is up. If the system supports process groups, its child processes are stopped as well.
//
// The run is recorded as an entry of kind history, first as running and then with its result. The
// entry is written through the sub-agent's profile, so that it belongs to the profile. If the
// profile or the store does not accept such an entry, a note says so.
//
// If Run returns an error, nothing was started.
func (s *Service) Run(ctx context.Context, m *oxbow.Memory, r *Runner, b *Briefing) (out Outcome, err error) {
	caller, end, err := s.beginRun(ctx)
	if err != nil {
		return Outcome{}, err
	}
	defer end()
	dir, err := os.MkdirTemp("", "oxbow-sub-agent-")
	if err != nil {
		return Outcome{}, fmt.Errorf("making the files of %s: %w", b.Agent, err)
	}
	defer func() {
		if rerr := vfs.RemoveTree(dir); rerr != nil {
			out.Notes = append(out.Notes, "the files of the briefing are left: "+rerr.Error())
		}
	}()
	argv, err := b.writeFiles(r, dir)
	if err != nil {
		return Outcome{}, err
	}
	argv[0], err = findProgram(argv[0])
	if err != nil {
		return Outcome{}, fmt.Errorf("starting %s by %s: %w", b.Agent, r.File, err)
	}
	out = Outcome{Started: s.now(), Status: -1}
	var store oxbow.Store = m
	if b.Profile != "" && s.Bound == nil {
		store = scope.New(m, b.resolved.Scope(), nil)
	}
	src, _ := oxbow.SourceFrom(ctx)
	src.Actor, src.Claimed.Agent = oxbow.Program, b.Agent
	// Record the run even if the caller's context is done.
	recording := oxbow.WithNote(oxbow.WithSource(context.WithoutCancel(ctx), src), "sub-agent")
	rec := &record{ctx: recording, store: store, b: b}
	out.Entry, err = rec.addEntry(&out)
	if errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported) {
		out.Notes = append(out.Notes, "the run is not recorded: "+err.Error())
	} else if err != nil {
		return Outcome{}, fmt.Errorf("recording the run of %s: %w", b.Agent, err)
	}
	s.runProcess(caller, r, b, argv, &out)
	out.Took = s.now().Sub(out.Started)
	if out.Entry != "" {
		if err := rec.end(&out); err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("how it ended is not recorded in %q: %v", out.Entry, err))
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

// writeFiles writes the files for the placeholders, and returns the command.
func (b *Briefing) writeFiles(r *Runner, dir string) ([]string, error) {
	config, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{"oxbow": b.Reach}}, "", "  ")
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
	return r.argv(values), nil
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
	for _, k := range slices.Sorted(maps.Keys(b.Reach.Env)) {
		env = append(env, k+"="+b.Reach.Env[k])
	}
	return env
}

// runProcess runs the process until it ends.
func (s *Service) runProcess(caller context.Context, r *Runner, b *Briefing, argv []string, out *Outcome) {
	ctx, cancel := context.WithTimeout(caller, r.Timeout)
	defer cancel()
	// On some systems, a process is ended together with the thread that started it, so the thread
	// must stay alive.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said, complained := &keeper{head: maxHead, tail: maxTail}, &keeper{tail: maxErrors}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.agentEnviron(b)
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
	cmd.WaitDelay = cmp.Or(s.Grace, standardGrace)
	stopAll := together(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		stopAll()
		out.Ended = runStopped
		if caller.Err() == nil {
			out.Ended = runLate
			out.Notes = append(
				out.Notes,
				fmt.Sprintf("it was stopped because its time of %s was up; %s sets another", r.Timeout, r.File),
			)
		}
	case err == nil || errors.Is(err, exec.ErrWaitDelay): // a child process may still hold the output open
		out.Ended = Done
	case errors.As(err, &exit):
		out.Ended = runFailed
	default:
		out.Ended = runFailed
		out.Notes = append(out.Notes, "it could not be started: "+err.Error())
	}
	if cmd.ProcessState != nil {
		out.Status = cmd.ProcessState.ExitCode()
	}
	out.Result, out.Cut = said.text()
	out.Errors, _ = complained.text()
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

// keeper keeps the beginning and the end of the data written to it.
type keeper struct {
	head, tail int // maximum sizes in bytes
	first      []byte
	last       []byte
	n          int // number of bytes written
}

func (k *keeper) Write(p []byte) (int, error) {
	k.n += len(p)
	rest := p
	if room := k.head - len(k.first); room > 0 {
		n := min(room, len(rest))
		k.first, rest = append(k.first, rest[:n]...), rest[n:]
	}
	k.last = append(k.last, rest...)
	if len(k.last) > 2*k.tail {
		k.last = append(k.last[:0], k.last[len(k.last)-k.tail:]...)
	}
	return len(p), nil
}

// text returns the kept data as valid text for an entry, and the number of bytes that were left
// out.
func (k *keeper) text() (string, int) {
	last := k.last
	if len(last) > k.tail {
		last = last[len(last)-k.tail:]
	}
	cut := k.n - len(k.first) - len(last)
	s := string(k.first)
	if cut > 0 && k.head > 0 {
		s += fmt.Sprintf("\n[… %d bytes are left out here …]\n", cut)
	}
	s += string(last)
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd"), cut
}

// record writes the entry of a run.
type record struct {
	ctx   context.Context
	store oxbow.Store
	b     *Briefing
	name  string
}

// maxNames is the maximum number of names that are tried for an entry.
const maxNames = 100

// addEntry adds the entry, under an unused name.
func (r *record) addEntry(out *Outcome) (string, error) {
	base := "run: " + r.b.Agent + " " + out.Started.UTC().Format("2006-01-02 15:04:05")
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		err := r.store.Apply(
			r.ctx,
			oxbow.Add{Name: name, Kind: oxbow.History, Content: r.content(out), Labels: r.runLabels(runRunning)},
		)
		var invalid *oxbow.InvalidError
		taken := errors.Is(err, oxbow.ErrExists) || (errors.As(err, &invalid) && invalid.Field == "name")
		if taken && n < maxNames {
			continue
		}
		r.name = name
		if err != nil {
			name = ""
		}
		return name, err
	}
}

// end updates the entry with the result of the run. Changes that others made to its labels are
// kept.
func (r *record) end(out *Outcome) error {
	e, err := r.store.Get(r.ctx, r.name)
	if err != nil {
		return err
	}
	labels := slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool { return l.Key == labelRun })
	labels = oxbow.SortLabels(append(labels, oxbow.Label{Key: labelRun, Value: out.Ended}))
	return r.store.Apply(r.ctx, oxbow.Update{Name: r.name, Content: r.content(out), Aliases: e.Aliases, Labels: labels})
}

func (r *record) runLabels(run string) []oxbow.Label {
	return oxbow.SortLabels([]oxbow.Label{{Key: labelAgent, Value: r.b.Agent}, {Key: labelRun, Value: run}})
}

// content returns the entry's text, which has the task, the time, and the result. The sub-agent's
// output is put into code blocks that the output cannot close, because it is data.
func (r *record) content(out *Outcome) string {
	var w strings.Builder
	fmt.Fprintf(&w, "Sub-agent %s", r.b.Agent)
	if r.b.Profile != "" {
		w.WriteString(", profile " + r.b.Profile)
	}
	if r.b.Skill != nil {
		w.WriteString(", skill " + r.b.Skill.Name)
	}
	if n := r.b.Selection.AsOf; n != 0 {
		fmt.Fprintf(&w, ", memory as of change %d", n)
	}
	fmt.Fprintf(&w, ". Started %s", out.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	if out.Ended == "" {
		w.WriteString("; its end is not recorded here yet.\n")
	} else {
		fmt.Fprintf(&w, "; %s after %s", out.Ended, out.Took.Round(time.Millisecond))
		if out.Status >= 0 {
			fmt.Fprintf(&w, ", exit status %d", out.Status)
		}
		w.WriteString(".\n")
	}
	for _, n := range out.Notes {
		w.WriteString("\nNote: " + n + "\n")
	}
	w.WriteString("\n## Task\n\n" + prompt.Fence("markdown", strings.TrimSpace(r.b.Task)))
	if out.Ended != "" {
		w.WriteString("\n## Result\n\n" + prompt.Fence("text", out.Result))
	}
	hasFailed := out.Ended != "" && out.Ended != Done
	if hasFailed && out.Errors != "" {
		w.WriteString("\n## Errors\n\n" + prompt.Fence("text", out.Errors))
	}
	return w.String()
}
