// Runs a sub-agent: the process, its bounds, and the entry that
// records it.

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
)

// How a run ended.
const (
	runRunning = "running" // in an entry: it has not ended, or was not seen to
	Done       = "done"
	runFailed  = "failed"  // by its exit status, or it could not be started
	runStopped = "stopped" // with its caller
	runLate    = "timeout" // stopped because its time was up
)

// The keys of the labels of a run's entry.
const (
	labelAgent = "agent" // agent:ID
	labelRun   = "run"   // run:done and so on
)

// What is kept of what a run says, in bytes. Of a longer result the beginning
// and the end are kept.
const (
	maxHead   = 8 << 10
	maxTail   = 24 << 10
	maxErrors = 4 << 10 // of the end of standard error
)

// standardGrace is how long a process that was asked to end may take.
const standardGrace = 5 * time.Second

// Outcome is how a run went.
type Outcome struct {
	Entry   string // that records it; "" when it is not recorded
	Ended   string // Done, or "failed", "stopped" or "timeout"
	Status  int    // exit status; -1 when there is none
	Started time.Time
	Took    time.Duration
	Result  string // what it printed, whole or its beginning and end
	Cut     int    // bytes left out of Result
	Errors  string // the end of what it printed as errors
	Notes   []string
}

// Run starts the sub-agent and waits for its end. It is stopped when ctx ends or its time is up, with all
// the processes that it has started where the system knows groups of them.
//
// The run is recorded as an entry of kind history, first as running and then as
// it ended, through the sub-agent's profile, so that it belongs to it. Where the
// profile or the store does not take such an entry, a note says so.
//
// An error says that nothing was started.
func (s *Service) Run(ctx context.Context, m *oxbow.Memory, r *Runner, b *Briefing) (out Outcome, err error) {
	caller, end, err := s.begin(ctx)
	if err != nil {
		return Outcome{}, err
	}
	defer end()
	dir, err := os.MkdirTemp("", "oxbow-sub-agent-")
	if err != nil {
		return Outcome{}, fmt.Errorf("making the files of %s: %w", b.Agent, err)
	}
	defer func() {
		if rerr := os.RemoveAll(dir); rerr != nil {
			out.Notes = append(out.Notes, "the files of the briefing are left: "+rerr.Error())
		}
	}()
	argv, err := b.files(r, dir)
	if err != nil {
		return Outcome{}, err
	}
	argv[0], err = program(argv[0])
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
	// The record outlives the caller, who may have hung up.
	recording := oxbow.WithNote(oxbow.WithSource(context.WithoutCancel(ctx), src), "sub-agent")
	rec := &record{ctx: recording, store: store, b: b}
	out.Entry, err = rec.begin(&out)
	if errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported) {
		out.Notes = append(out.Notes, "the run is not recorded: "+err.Error())
	} else if err != nil {
		return Outcome{}, fmt.Errorf("recording the run of %s: %w", b.Agent, err)
	}
	s.start(caller, r, b, argv, &out)
	out.Took = s.now().Sub(out.Started)
	if out.Entry != "" {
		if err := rec.end(&out); err != nil {
			out.Notes = append(out.Notes, fmt.Sprintf("how it ended is not recorded in %q: %v", out.Entry, err))
		}
	}
	return out, nil
}

// program finds a program. What would be run only because it lies in the working
// directory is refused.
func program(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	path, err := exec.LookPath(name)
	if err == nil && !filepath.IsAbs(path) {
		err = fmt.Errorf("%s is found by a path that depends on the working directory", name)
	}
	return path, err
}

// files writes what the placeholders stand for, and returns the command.
func (b *Briefing) files(r *Runner, dir string) ([]string, error) {
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
		{"briefing", "briefing.md", b.Text()}, {"task", "task.md", b.Task}, {"skill", "skill.md", skill}, {"mcp_config", "mcp.json", string(config)},
	} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, []byte(f.body), 0o600); err != nil {
			return nil, fmt.Errorf("writing the files of %s: %w", b.Agent, err)
		}
		values[f.key] = path
	}
	return r.argv(values), nil
}

// environ returns the environment of the sub-agent. No variable of oxbow's is
// handed on but those that bind it.
func (s *Service) environ(b *Briefing) []string {
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

// start runs the process to its end.
func (s *Service) start(caller context.Context, r *Runner, b *Briefing, argv []string, out *Outcome) {
	ctx, cancel := context.WithTimeout(caller, r.Timeout)
	defer cancel()
	// Where the system ends a process together with the thread that started
	// it, that thread must live.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said, complained := &keeper{head: maxHead, tail: maxTail}, &keeper{tail: maxErrors}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.Dir, s.environ(b)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(said, &deaf{w: s.Stdout}), io.MultiWriter(complained, &deaf{w: s.Stderr})
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
			out.Notes = append(out.Notes, fmt.Sprintf("it was stopped because its time of %s was up; %s sets another", r.Timeout, r.File))
		}
	case err == nil || errors.Is(err, exec.ErrWaitDelay): // what it started may still hold its output
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

// deaf writes as long as there is a reader: one that has gone must not end
// the sub-agent before its result is recorded.
type deaf struct {
	w      io.Writer
	failed bool
}

func (d *deaf) Write(p []byte) (int, error) {
	if d.w != nil && !d.failed {
		_, err := d.w.Write(p)
		d.failed = err != nil
	}
	return len(p), nil
}

// keeper keeps the beginning and the end of what is written.
type keeper struct {
	head, tail int // the most bytes of each
	first      []byte
	last       []byte
	n          int // bytes written
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

// text returns what was kept as text that an entry can hold, and how many bytes
// are not in it.
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

// record is the entry of a run.
type record struct {
	ctx   context.Context
	store oxbow.Store
	b     *Briefing
	name  string
}

// maxNames is how many names are tried for an entry.
const maxNames = 100

// begin writes that the run has begun, under a name that is free.
func (r *record) begin(out *Outcome) (string, error) {
	base := "run: " + r.b.Agent + " " + out.Started.UTC().Format("2006-01-02 15:04:05")
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s (%d)", base, n)
		}
		err := r.store.Apply(r.ctx, oxbow.Add{Name: name, Kind: oxbow.History, Content: r.content(out), Labels: r.labels(runRunning)})
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

// end writes how the run ended. What others did to the entry's labels stays.
func (r *record) end(out *Outcome) error {
	e, err := r.store.Get(r.ctx, r.name)
	if err != nil {
		return err
	}
	labels := slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool { return l.Key == labelRun })
	labels = oxbow.SortLabels(append(labels, oxbow.Label{Key: labelRun, Value: out.Ended}))
	return r.store.Apply(r.ctx, oxbow.Update{Name: r.name, Content: r.content(out), Aliases: e.Aliases, Labels: labels})
}

func (r *record) labels(run string) []oxbow.Label {
	return oxbow.SortLabels([]oxbow.Label{{Key: labelAgent, Value: r.b.Agent}, {Key: labelRun, Value: run}})
}

// content says what was run, when, and how it ended. What the sub-agent said is
// data, and stands in fences that it cannot close.
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
	if out.Ended != "" && out.Ended != Done && out.Errors != "" {
		w.WriteString("\n## Errors\n\n" + prompt.Fence("text", out.Errors))
	}
	return w.String()
}
