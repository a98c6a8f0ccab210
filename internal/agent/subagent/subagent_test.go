// This file tests briefings, and runs sub-agents. The test program itself plays the sub-agents.

package subagent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestMain runs the tests. If the first argument is "agent", it plays a sub-agent instead.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "agent" {
		os.Exit(m.Run())
	}
	switch args := os.Args[2:]; args[0] {
	case "cat": // print the standard input
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "show": // print a file, and the number of arguments
		b, err := os.ReadFile(args[1])
		fmt.Printf("%d arguments, %v\n%s", len(args), err, b)
	case "wait": // connect to an address and wait until stopped
		wait(args[1])
	case "parent": // start a child process that waits, and wait as well
		cmd := exec.Command(os.Args[0], "agent", "wait", args[1])
		if err := cmd.Start(); err != nil {
			os.Exit(4)
		}
		wait(args[1])
	case "deaf": // ignore SIGTERM
		signal.Ignore(syscall.SIGTERM)
		wait(args[1])
	}
	os.Exit(0)
}

func wait(address string) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		os.Exit(5)
	}
	if _, err := c.Write([]byte("x")); err != nil {
		os.Exit(5)
	}
	_, _ = c.Read(make([]byte, 1)) // This blocks, because the test never writes.
	os.Exit(6)
}

// agent returns a runner that starts this test program as a sub-agent with these arguments.
func agent(t *testing.T, args ...string) *Runner {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Runner{
		Command:      append([]string{program, "agent"}, args...),
		Stdin:        stdinNone,
		RunTimeout:   time.Minute,
		SettingsPath: "settings.yaml",
	}
}

// begun waits until n sub-agents have connected to l, and returns the connections.
func begun(t *testing.T, l net.Listener, n int) []net.Conn {
	t.Helper()
	var cs []net.Conn
	for range n {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		cs = append(cs, c)
	}
	return cs
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// world returns a memory with entries of two projects, and a service that uses this memory.
func world(t *testing.T) (*oxbow.Memory, *Service) {
	t.Helper()
	fsys := vfs.NewMem()
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: fsys, Clock: func() time.Time {
		return time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC)
	}})
	for _, e := range []struct{ name, text, project string }{
		{"grid", "Squares of 5 feet.", "vtt"},
		{"plot", "The zeppelin sails.", "novel"},
		{"grid", "Hexagons.", "vtt"},
	} {
		if _, err := m.Remember(
			t.Context(),
			oxbow.Entry{Name: e.name, Content: e.text, Labels: []oxbow.Label{{Key: "project", Value: e.project}}},
		); err != nil {
			t.Fatal(err)
		}
	}
	for name, body := range map[string]string{
		"dev":    "include:\n  projects: [vtt]\n",
		"novel":  "include:\n  projects: [novel]\n",
		"strict": "include:\n  projects: [vtt]\nexclude:\n  kinds: [history]\n",
		"empty":  "include:\n  projects: [none]\n",
	} {
		if err := fsys.MkdirAll("profiles", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteFile(fsys, "profiles/"+name+".yaml", []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return m, &Service{
		Profiles: &profile.Set{Places: []profile.Place{{FS: fsys, Dirs: profile.HomeDirs}}},
		Skills: &skill.Set{
			Roots: []skill.SearchRoot{{FS: fstest.MapFS{"skills/core/SKILL.md": {Data: []byte("Count squares.")}},
				RootPath: "/home/me", SkillDirs: skill.HomeSkillDirs}},
		},
		ProgramPath: "/bin/ox bow", ProgramArgs: []string{"--home", "/h"},
		ProgramEnv: map[string]string{EnvHome: "/h", EnvSettings: NoSettings},
		WorkingDir: t.TempDir(), Environ: os.Environ, Now: func() time.Time {
			return time.Date(2026, 4, 18, 10, 0, 0, 0, time.UTC)
		},
		TermToKillDelay: 100 * time.Millisecond,
	}
}

func brief(t *testing.T, s *Service, m *oxbow.Memory, r SubagentRequest) *Briefing {
	t.Helper()
	b, err := s.MakeBriefing(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBriefing(t *testing.T) {
	m, s := world(t)
	b := brief(t, s, m, SubagentRequest{Agent: "refactor", Task: "  Make it 3D.\n", Profile: "dev", Skill: "core"})
	want := "# You are the sub-agent refactor\n\nYou were started for one task, which stands at the end. Whoever " +
		"started you reads what you answer last, and nothing else of what you do.\n\n" +
		b.EntrySelection.Text() +
		"# Skill: core\n\nDo the task as it says. Files that it names are in \"/home/me/skills/core\".\n\n<!-- skill " +
		"core, from /home/me/skills/core/SKILL.md -->\nCount squares.\n\n" +
		"# Your memory\n\nIt is bound to the profile dev: you see what the profile includes and nothing else, and " +
		"what you remember belongs to it. If you have no memory tools yet, this starts the server of them (Model " +
		"Context Protocol, standard streams):\n\n" +
		"```sh\nOXBOW_AGENT=refactor OXBOW_HOME=/h OXBOW_PROFILE=dev OXBOW_SETTINGS=none OXBOW_SPAWN_DEPTH=1 " +
		"'/bin/ox bow' --home /h mcp --profile dev\n```\n\n# Task\n\nMake it 3D.\n"
	if b.Text() != want {
		t.Errorf("Text() = %s\nwant %s", b.Text(), want)
	}
	if sel := b.EntrySelection.Text(); !strings.Contains(sel, "Hexagons.") || strings.Contains(sel, "zeppelin") {
		t.Errorf("the selection is %s", sel)
	}
	if b.EstimatedTokens <= b.EntrySelection.Context.Tokens {
		t.Errorf("Tokens = %d, of which the selection has %d", b.EstimatedTokens, b.EntrySelection.Context.Tokens)
	}
	// The briefing can be limited to a past state of the memory and to a budget.
	b = brief(t, s, m, SubagentRequest{Agent: "author", Task: "Why?", Profile: "dev", AsOfSeq: 1, TokenBudget: 500})
	if text := b.Text(); !strings.Contains(text, "Squares of 5 feet.") || strings.Contains(text, "Hexagons.") ||
		!strings.Contains(text, `recall answers from the past with as_of "1"`) {
		t.Errorf("as of change 1: %s", text)
	}
	if b.EntrySelection.Context.Budget != 500 {
		t.Errorf("the budget is %d", b.EntrySelection.Context.Budget)
	}
	// Without a profile, the sub-agent sees the whole memory, unless the caller is bound to a profile.
	b = brief(t, s, m, SubagentRequest{Agent: "all", Task: "x"})
	if _, is := b.MemoryServer.Env[envProfile]; is || b.Profile != "" || !strings.Contains(b.Text(), "zeppelin") {
		t.Errorf("without a profile: %q, %v", b.Profile, b.MemoryServer)
	}
	dev, err := s.Profiles.Resolve("dev")
	if err != nil {
		t.Fatal(err)
	}
	s.RestrictingProfile = &dev
	inside := scope.Within(m, dev.Scope())
	b = brief(t, s, inside, SubagentRequest{Agent: "own", Task: "x"})
	if b.Profile != "dev" || strings.Contains(b.Text(), "zeppelin") {
		t.Errorf("of a bound caller: %q", b.Profile)
	}
	if _, err := s.MakeBriefing(
		t.Context(),
		inside,
		SubagentRequest{Agent: "spy", Task: "x", Profile: "novel"},
	); !errors.Is(err, oxbow.ErrInvalid) || !strings.Contains(err.Error(), `bound to`) {
		t.Errorf("through another profile: %v", err)
	}
}

func TestBriefingRefuses(t *testing.T) {
	m, s := world(t)
	for name, c := range map[string]struct {
		req  SubagentRequest
		want string
	}{
		"no agent":           {SubagentRequest{Task: "x"}, "agent_id"},
		"an agent of a path": {SubagentRequest{Agent: "a/../b", Task: "x"}, "agent_id"},
		"an agent of a flag": {SubagentRequest{Agent: "--yolo", Task: "x"}, "agent_id"},
		"no task":            {SubagentRequest{Agent: "a", Task: " \n"}, "task is empty"},
		"a long task":        {SubagentRequest{Agent: "a", Task: strings.Repeat("x", maxTaskBytes+1)}, "task"},
		"a binary task":      {SubagentRequest{Agent: "a", Task: "a\x00b"}, "task"},
		"no such profile": {
			SubagentRequest{Agent: "a", Task: "x", Profile: "dve"},
			`there is no profile "dve"; did you mean dev?`,
		},
		"a hostile profile": {SubagentRequest{Agent: "a", Task: "x", Profile: "../dev"}, "profile name"},
		"no such skill": {
			SubagentRequest{Agent: "a", Task: "x", Skill: "cor"},
			`there is no skill "cor"; did you mean core?`,
		},
		"a hostile skill":  {SubagentRequest{Agent: "a", Task: "x", Skill: "../core"}, "skill name"},
		"a budget below 0": {SubagentRequest{Agent: "a", Task: "x", TokenBudget: -1}, "max_tokens"},
	} {
		if b, err := s.MakeBriefing(t.Context(), m, c.req); !errors.Is(err, oxbow.ErrInvalid) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Brief() = %v, %v, want an error with %q", name, b, err, c.want)
		}
	}
}

func TestRun(t *testing.T) {
	m, s := world(t)
	var shown bytes.Buffer
	s.Stdout = &shown
	b := brief(t, s, m, SubagentRequest{Agent: "refactor", Task: "Make it 3D.", Profile: "dev"})
	r := agent(t, "cat")
	r.Stdin = stdinBriefing
	out, err := s.Run(t.Context(), m, r, b)
	if err != nil || out.EndState != StateDone || out.ExitStatus != 0 || out.Output != b.Text() ||
		shown.String() != b.Text() {
		t.Fatalf("Run() = %+v, %v; shown %q", out, err, shown.String())
	}
	e, err := m.Get(t.Context(), out.EntryName)
	if err != nil || e.Kind != oxbow.History ||
		fmt.Sprint(e.Labels) != "[agent:refactor profile:dev project:vtt run:done]" || e.Source.Profile != "dev" ||
		e.Source.Actor != oxbow.Program {
		t.Errorf("recorded as %v %v of %+v, %v", e.Kind, e.Labels, e.Source, err)
	}
	for _, want := range []string{
		"Sub-agent refactor, profile dev. Started 2026-04-18 10:00:00 UTC; done after 0s, exit status 0.",
		"## Task\n\n```markdown\nMake it 3D.\n```",
		"## Result\n\n````text\n# You are",
	} {
		if !strings.Contains(e.Content, want) {
			t.Errorf("the record has no %q:\n%s", want, e.Content)
		}
	}
	// The next runs begin at the same time by the test's clock, and each must still get its own entry. A placeholder
	// such as {task} in the agent's command stands for a file's path. Each file must contain its text unchanged.
	b = brief(
		t,
		s,
		m,
		SubagentRequest{Agent: "refactor", Task: "`rm -rf` $HOME; \"'\nx", Profile: "dev", Skill: "core"},
	)
	for what, want := range map[string]string{
		"{task}":       b.Task,
		"{skill}":      "Count squares.",
		"{briefing}":   b.Text(),
		"{mcp_config}": "\"OXBOW_PROFILE\": \"dev\"",
	} {
		out, err := s.Run(t.Context(), m, agent(t, "show", what), b)
		if err != nil || !strings.HasPrefix(out.Output, "2 arguments, <nil>\n") ||
			!strings.Contains(out.Output, want) {
			t.Errorf("%s gave %q, %v", what, out.Output, err)
		}
	}
	n := 0
	for e, err := range m.Entries(
		t.Context(),
		oxbow.Filter{Terms: []oxbow.Term{{Key: runStateLabelKey, Values: []string{StateDone}}}},
	) {
		if err != nil || !strings.HasPrefix(e.Name, "run: refactor 2026-04-18 10:00:00") {
			t.Errorf("%q, %v", e.Name, err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("%d runs are recorded, want 5", n)
	}
}

// TestRunUnrecorded checks that a run continues if its profile refuses the entry that records the run. If the memory
// cannot be written at all, nothing is started.
func TestRunUnrecorded(t *testing.T) {
	m, s := world(t)
	b := brief(t, s, m, SubagentRequest{Agent: "a", Task: "x", Profile: "strict"})
	out, err := s.Run(t.Context(), m, agent(t, "cat"), b)
	if err != nil || out.EndState != StateDone || out.EntryName != "" || len(out.WarningNotes) != 1 ||
		!strings.Contains(out.WarningNotes[0], "not recorded") {
		t.Errorf("Run() = %+v, %v, want a note that it is not recorded", out, err)
	}
	r := agent(t, "cat")
	r.Command[0] = "no-such-program"
	b = brief(t, s, m, SubagentRequest{Agent: "a", Task: "x", Profile: "dev"})
	if out, err := s.Run(t.Context(), m, r, b); !errors.Is(err, exec.ErrNotFound) || out.EntryName != "" {
		t.Errorf("Run() of no program = %+v, %v", out, err)
	}
	closed := oxbow.New(shut{m}, nil)
	if out, err := s.Run(t.Context(), closed, agent(t, "cat"), b); !errors.Is(err, oxbow.ErrFull) {
		t.Errorf("Run() on a full disk = %+v, %v, want ErrFull", out, err)
	}
}

// shut is a store whose method Apply always fails with ErrFull, as if the disk were full.
type shut struct{ oxbow.Store }

func (shut) Apply(context.Context, ...oxbow.Op) error { return oxbow.ErrFull }

// TestStop checks that a sub-agent and its child processes end with the caller, with the service, and when the time
// limit is exceeded. Each end is recorded.
func TestStop(t *testing.T) {
	m, s := world(t)
	b := brief(t, s, m, SubagentRequest{Agent: "a", Task: "x", Profile: "dev"})
	modes := []string{"wait", "deaf"}
	if runtime.GOOS != "windows" { // On Windows, only the process itself is ended.
		modes = append(modes, "parent")
	}
	for _, mode := range modes {
		l := listen(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan RunOutcome, 1)
		go func() {
			out, err := s.Run(ctx, m, agent(t, mode, l.Addr().String()), b)
			if err != nil {
				t.Errorf("%s: Run() = %v", mode, err)
			}
			ended <- out
		}()
		n := 1
		if mode == "parent" {
			n = 2
		}
		conns := begun(t, l, n)
		cancel()
		out := <-ended
		if e, err := m.Get(t.Context(), out.EntryName); out.EndState != stateStopped || err != nil ||
			!strings.Contains(e.Content, "stopped after") {
			t.Errorf("%s: %+v, recorded as %q, %v", mode, out, e.Content, err)
		}
		for _, c := range conns {
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s: a process goes on", mode)
			}
		}
	}
	late := agent(t, "wait", listen(t).Addr().String())
	late.RunTimeout = 50 * time.Millisecond
	if out, err := s.Run(t.Context(), m, late, b); err != nil || out.EndState != stateTimedOut ||
		len(out.WarningNotes) != 1 ||
		!strings.Contains(out.WarningNotes[0], "its time of 50ms was up") {
		t.Errorf("Run() = %+v, %v, want %s", out, err, stateTimedOut)
	}

	// Start maxConcurrentRuns sub-agents at the same time. A further one must be refused, and Close must end all of
	// them.
	l := listen(t)
	ended := make(chan RunOutcome, maxConcurrentRuns)
	for range maxConcurrentRuns {
		go func() {
			out, err := s.Run(t.Context(), m, agent(t, "wait", l.Addr().String()), b)
			if err != nil {
				t.Errorf("Run() = %v", err)
			}
			ended <- out
		}()
	}
	begun(t, l, maxConcurrentRuns)
	if _, err := s.Run(t.Context(), m, agent(t, "cat"), b); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "4 run already") {
		t.Errorf("one more: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for range maxConcurrentRuns {
		if out := <-ended; out.EndState != stateStopped {
			t.Errorf("after Close: %+v", out)
		}
	}
	if _, err := s.Run(t.Context(), m, agent(t, "cat"), b); !errors.Is(err, context.Canceled) {
		t.Errorf("after Close: %v", err)
	}
	deep := &Service{SpawnDepth: maxSubAgentDepth}
	if _, err := deep.Run(t.Context(), m, agent(t, "cat"), b); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("too deep: %v", err)
	}
}

func TestKeeper(t *testing.T) {
	for _, c := range []struct {
		said string
		want string
		cut  int
	}{
		{"", "", 0},
		{"abcdef", "abcdef", 0},
		{"abcdefgh", "abcdefgh", 0},
		{"abcdefghi", "abc\n[… 1 bytes are left out here …]\nefghi", 1},
		{"abcdefghijklmnopqrstuvwxyz", "abc\n[… 18 bytes are left out here …]\nvwxyz", 18},
		{"a\x00\xffb", "a\ufffd\ufffdb", 0},
	} {
		for _, step := range []int{1, 2, 7, 100} {
			k := &headTailBuffer{maxHeadBytes: 3, maxTailBytes: 5}
			for s := c.said; len(s) > 0; {
				n := min(step, len(s))
				if w, err := k.Write([]byte(s[:n])); w != n || err != nil {
					t.Fatal(w, err)
				}
				s = s[n:]
			}
			if got, cut := k.headAndTailText(); got != c.want || cut != c.cut {
				t.Errorf("%q by %d: %q, %d, want %q, %d", c.said, step, got, cut, c.want, c.cut)
			}
		}
	}
}
