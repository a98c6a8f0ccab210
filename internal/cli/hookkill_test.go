// This file kills hooks at any time while other processes move events from the spool (the files of new events) to the
// archive. Each acknowledged event must be in the archive exactly once.

package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// begunVariable is an environment variable. If it is set, oxbow writes begunSign to standard error when its main
// function begins. A process spends more than half of its processor time before that.
const begunVariable, begunSign = "OXBOW_TEST_BEGUN", "begun"

// sayBegun writes begunSign to standard error if the environment variable begunVariable is set. It then unsets the
// variable, so that child processes do not write begunSign.
func sayBegun() {
	if os.Getenv(begunVariable) != "" {
		os.Unsetenv(begunVariable)
		os.Stderr.WriteString(begunSign)
	}
}

// said collects the output of a process. It calls the function in the field begun at the first output.
type said struct {
	strings.Builder
	begun func()
}

// Write implements [io.Writer]. The first call also calls the function begun.
func (s *said) Write(b []byte) (int, error) {
	if s.Len() == 0 {
		s.begun()
	}
	return s.Builder.Write(b)
}

// killer runs oxbow on a home. It kills about half of the processes after their main function has begun.
type killer struct {
	t    *testing.T
	home string

	mu   sync.Mutex // guards the fields below
	rand *rand.Rand
	// time that the main function took, by kind of process, for processes that were not killed
	took  map[string]time.Duration
	kills map[string]int
}

// run runs oxbow with the arguments, and reports whether the process succeeded. In about half of the calls, it kills
// the process after a random time. If the process was not killed, it must succeed and print nothing but begunSign. The
// kind "list" may print more.
func (k *killer) run(kind, stdin string, args ...string) bool {
	after := time.Minute
	k.mu.Lock()
	if took := k.took[kind]; took > 0 && k.rand.IntN(2) == 0 {
		after = time.Duration(k.rand.Int64N(int64(took)))
	}
	k.mu.Unlock()
	cmd := exec.Command("oxbow", append([]string{"--home", k.home}, args...)...)
	cmd.Env = append(os.Environ(), begunVariable+"=1")
	var killed atomic.Bool
	timer := time.AfterFunc(time.Minute, func() {
		killed.Store(true)
		_ = cmd.Process.Kill()
	})
	defer timer.Stop()
	var begun time.Time
	var out strings.Builder
	errs := &said{begun: func() {
		begun = time.Now()
		timer.Reset(after)
	}}
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), errs
	if kind != "list" {
		cmd.Stdout = &out
	}
	if err := cmd.Start(); err != nil {
		k.t.Error(err)
		return false
	}
	err := cmd.Wait()
	timer.Stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	switch text := errs.String() + out.String(); {
	case !killed.Load() && (err != nil || text != begunSign):
		k.t.Errorf("%s: %v, %q", kind, err, text)
	case !killed.Load():
		k.took[kind] = time.Since(begun)
	case err != nil:
		k.kills[kind]++
	}
	return err == nil
}

func TestHooksKilled(t *testing.T) {
	notRaced(t)
	want := testenv.RepeatCount(15, 435)
	k := &killer{t: t, home: t.TempDir(), rand: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)),
		took: map[string]time.Duration{}, kills: map[string]int{}}
	enough := func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.kills["report"]+k.kills["stop"] >= want || t.Failed()
	}
	var turns atomic.Int64
	acknowledged := make([]map[string]bool, 3) // the acknowledged events of each worker
	session30 := func(n int64) string { return fmt.Sprint("s", n/30) }
	var hooks, drains sync.WaitGroup
	for i := range acknowledged {
		acknowledged[i] = map[string]bool{}
		hooks.Go(func() {
			for !enough() {
				n := turns.Add(1)
				for _, r := range []struct{ kind, key, format string }{
					{
						"report",
						"prompt",
						`{"session_id":%q,"hook_event_name":"UserPromptSubmit","prompt_id":"%d","prompt":"prompt %[2]d","cwd":"/p"}`,
					},
					{
						"report",
						"call",
						`{"session_id":%q,"hook_event_name":"PostToolUse","prompt_id":"%d","tool_use_id":"call %[2]d","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{"stdout":""},"cwd":"/p"}`,
					},
					{
						"stop",
						"text",
						`{"session_id":%q,"hook_event_name":"Stop","prompt_id":"%d","last_assistant_message":"text %[2]d","cwd":"/p"}`,
					},
				} {
					if k.run(r.kind, fmt.Sprintf(r.format, session30(n), n), "hook", "claude") {
						acknowledged[i][fmt.Sprint(r.key, " ", n)] = true
					}
				}
			}
		})
	}
	var over atomic.Bool
	for range 2 {
		drains.Go(func() {
			for !over.Load() {
				k.run("list", "", "session", "list", "-q")
			}
		})
	}
	hooks.Wait()
	over.Store(true)
	drains.Wait()

	seen := archived(t, k.home, session30(turns.Load()))
	n := 0
	for _, keys := range acknowledged {
		for key := range keys {
			n++
			if seen[key] == 0 {
				t.Errorf("%s was acknowledged, and is not in the archive", key)
			}
		}
	}
	for key, times := range seen {
		if times != 1 {
			t.Errorf("%s is in the archive %d times", key, times)
		}
	}
	t.Logf("%d turns, %d acknowledged, killed: %v", turns.Load(), n, k.kills)
}

// TestStartsKilled kills hooks that report the start of a session, two hooks for each session. A hook must not show a
// block without recording it.
func TestStartsKilled(t *testing.T) {
	notRaced(t)
	home := t.TempDir()
	run := func(stdin string, kill time.Duration, args ...string) (string, time.Duration) {
		cmd := exec.Command("oxbow", append([]string{"--home", home}, args...)...)
		cmd.Env = append(os.Environ(), begunVariable+"=1")
		timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		var begun time.Time
		var out strings.Builder
		cmd.Stdin, cmd.Stdout = strings.NewReader(stdin), &out
		cmd.Stderr = &said{begun: func() {
			begun = time.Now()
			timer.Reset(kill)
		}}
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return "", 0
		}
		_ = cmd.Wait() // Ignore the error: the process may have been killed.
		return out.String(), time.Since(begun)
	}
	_, took := run("", time.Minute, "remember", "style", "Tabs, not spaces.")
	sessions := testenv.RepeatCount(12, 428)
	var shown sync.Map
	var all sync.WaitGroup
	for i := range sessions {
		id := fmt.Sprint("s", i)
		for range 2 {
			all.Go(func() {
				kill := time.Minute
				if i%2 == 0 {
					kill = rand.N(2 * took)
				}
				if out, _ := run(
					fmt.Sprintf(`{"session_id":%q,"hook_event_name":"SessionStart","source":"startup"}`, id),
					kill,
					"hook",
					"claude",
				); out != "" {
					if _, again := shown.LoadOrStore(id, out); again {
						t.Errorf("%s was answered twice", id)
					}
				}
			})
		}
		if i%4 == 3 {
			all.Wait()
		}
	}
	all.Wait()
	n := 0
	for i := range sessions {
		id := fmt.Sprint("s", i)
		b, _ := os.ReadFile(session.Spool{Dir: filepath.Join(home, session.SpoolDir)}.FilePath("claude", id))
		_, answered := shown.Load(id)
		if recorded := strings.Contains(string(b), `"kind":"injected"`); (answered && !recorded) ||
			(i%2 == 1 && !answered) {
			t.Errorf("%s: answered is %t, recorded %t", id, answered, recorded)
		}
		if answered {
			n++
		}
	}
	t.Logf("%d of %d sessions were answered", n, sessions)
	checkArchive(t, home)
}

// checkKilled checks a memory after its processes were killed. A killed process may leave a temporary file.
func checkKilled(t *testing.T, m *oxbow.Memory) {
	t.Helper()
	rep, err := m.Check(t.Context())
	for _, p := range rep.Problems {
		if p.Offset != -1 || !strings.HasPrefix(p.What, "a rewrite was interrupted and left ") {
			t.Errorf("Check: %v", p)
		}
	}
	if err != nil {
		t.Errorf("Check = %v", err)
	}
}

// archived moves the records that are still in the spool into the archive. It returns how often the archive contains
// each turn, call and text of the sessions from "s0" to the session in the parameter last. The keys of the map are
// "turn " with the prompt ID of a turn, the ID of a call, and the text of a prompt or an answer.
func archived(t *testing.T, home, last string) map[string]int {
	t.Helper()
	m, err := oxbow.Open(filepath.Join(home, session.StoreFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	a, spool := &session.Archive{Memory: m}, session.Spool{Dir: filepath.Join(home, session.SpoolDir)}
	if r, err := a.DrainSpool(t.Context(), spool, nil); err != nil {
		t.Fatalf("Drain = %+v, %v", r, err)
	}
	if left, _ := filepath.Glob(filepath.Join(spool.Dir, "*.json*")); len(left) > 0 {
		t.Errorf("in the spool is left: %v", left)
	}
	checkKilled(t, m)
	seen := map[string]int{}
	for i, id := 0, ""; id != last; i++ {
		id = fmt.Sprint("s", i)
		turns, err := a.ReadTurns(t.Context(), "claude", id)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			seen["turn "+turn.PromptID]++
			for _, e := range turn.Events {
				switch e.Kind {
				case session.KindToolCall:
					seen[e.ID]++
				case session.KindPrompt, session.KindText:
					seen[e.Text]++
				}
			}
		}
	}
	return seen
}
