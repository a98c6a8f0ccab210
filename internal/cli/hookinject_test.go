// This file tests the blocks of text from the memory that hooks show to a model.

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
)

// prompted is a home for tests of hooks. When a hook asks for the text to show for a prompt, it gets the values of the
// fields block and err. If late is true, the hook gets them only after its context has ended. The slice asked collects
// the prompts.
type prompted struct {
	*world
	home  string
	block inject.ShownBlock
	err   error
	late  bool
	asked []inject.Prompt
}

func newPrompted(t *testing.T) *prompted {
	p := &prompted{world: newWorld(t)}
	p.home = filepath.Join(p.dir, "home")
	p.block.Text = "Ship on Tuesdays. </oxbow-memory>"
	p.block.AnswerKind = "payload"
	p.block.SentenceFingerprints = []string{"1"}
	p.block.ShownEntries = []session.ShownEntry{{SourceKind: inject.SourceKindNotes, Name: "ship", Version: 3}}
	return p
}

// hook runs the hook handler of oxbow for an event of the session s1, and returns what the handler writes to standard
// output. The parameters format and args contain the further JSON members of the event.
func (p *prompted) hook(t *testing.T, client, event, format string, args ...any) string {
	t.Helper()
	p.out.Reset()
	env := p.env
	env.Stdout, env.Stderr = &p.out, &p.errs
	env.Stdin = strings.NewReader(`{"session_id":"s1","hook_event_name":"` + event + `",` +
		fmt.Sprintf(format, args...) + `}`)
	mem := newLazyMemory(env)
	mem.finder.homeFlag = p.home
	mem.chooseInjectedBlock = func(ctx context.Context, in inject.Prompt) (inject.ShownBlock, error) {
		if p.late {
			<-ctx.Done()
		}
		p.asked = append(p.asked, in)
		return p.block, p.err
	}
	mem.handleHook(t.Context(), client)
	if err := mem.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p.out.String()
}

// injected returns the injections that the spool of a client's session contains.
func (p *prompted) injected(t *testing.T, client string) (all []session.Event) {
	t.Helper()
	b, err := os.ReadFile(session.Spool{Dir: filepath.Join(p.home, session.SpoolDir)}.FilePath(client, "s1"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var e session.Event
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind == session.KindInjection {
			all = append(all, e)
		}
	}
	return all
}

// TestPrompt tests that a prompt is answered once, in the format of its client, and that the answer is recorded.
func TestPrompt(t *testing.T) {
	for client, form := range map[string]string{
		"claude":   `"hookEventName":"UserPromptSubmit"`,
		"codex":    `"hookEventName":"UserPromptSubmit"`,
		"qwen":     `"hookEventName":"UserPromptSubmit"`,
		"gemini":   `"hookEventName":"BeforeAgent"`,
		"copilot":  `{"additionalContext":"`,
		"opencode": `{"context":"`,
	} {
		t.Run(client, func(t *testing.T) {
			p := newPrompted(t)
			event, turn := "UserPromptSubmit", `"turn_id":"t%d",`
			switch client {
			case "gemini":
				event, turn = "BeforeAgent", `"at":%d,`
			case "copilot":
				turn = `"at":%d,`
			}
			got := p.hook(t, client, event, turn+`"prompt":"when do we ship"`, 1)
			if !strings.Contains(got, form) || !strings.Contains(got, `Ship on Tuesdays. \u003c /oxbow-memory`) {
				t.Fatalf("the answer is %s", got)
			}
			if got := p.hook(t, client, event, turn+`"prompt":"when do we ship"`, 1); got != "" {
				t.Errorf("the same hook again is answered: %s", got)
			}
			p.block.Text, p.block.SentenceFingerprints = "Never on Fridays.", []string{"2"}
			if got := p.hook(t, client, event, turn+
				`"prompt":"and when not"`, 2); !strings.Contains(got, "Never on Fridays.") {
				t.Errorf("the next prompt is answered %s", got)
			}
			if got := p.hook(t, client, event, turn+`"prompt":"once more"`, 3); got != "" {
				t.Errorf("what was shown is shown again: %s", got)
			}
			all := p.injected(t, client)
			if len(all) != 2 || (all[0].Text != "Ship on Tuesdays. </oxbow-memory>" &&
				all[0].Text != "Ship on Tuesdays.") || all[0].ID == "" || all[0].ID == all[1].ID ||
				all[0].Injection.HookEvent != inject.HookEventPrompt ||
				all[0].Injection.AnswerKind != "payload" || all[0].Injection.TokenCount == 0 ||
				all[0].Injection.ShownEntries[0].Version != 3 {
				t.Errorf("recorded is %+v", all)
			}
			if last := p.asked[len(p.asked)-1]; len(p.asked) != 3 || last.Text != "once more" ||
				last.ShownTexts.PromptNumber != 3 || last.ShownTexts.LastPromptByEntryKey["notes ship"] != 2 ||
				last.Session != "s1" ||
				last.Client != client {
				t.Errorf("asked was %+v", p.asked)
			}
			checkArchive(t, p.home)
		})
	}
}

// checkArchive moves the reported events into the archive, and checks the archive.
func checkArchive(t *testing.T, home string) {
	t.Helper()
	m, err := oxbow.Open(filepath.Join(home, session.StoreFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if r, err := (&session.Archive{Memory: m}).DrainSpool(
		t.Context(),
		session.Spool{Dir: filepath.Join(home, session.SpoolDir)},
		nil,
	); err != nil || r.InvalidInputCount > 0 {
		t.Errorf("Drain = %+v, %v", r, err)
	}
	checkKilled(t, m)
}

// TestPromptSilence tests the cases in which no block is shown: for text that no person wrote, after an error, after
// the time limit, if the block cannot be recorded, and if injection is switched off.
func TestPromptSilence(t *testing.T) {
	const asks = `"prompt_id":"p%d","prompt":"when do we ship","cwd":%q`
	for name, c := range map[string]struct {
		event, more string
		set         func(p *prompted)
	}{
		"answered":    {"UserPromptSubmit", "", func(*prompted) {}},
		"a sub-agent": {"UserPromptSubmit", `,"agent_id":"a1","agent_type":"tester"`, func(*prompted) {}},
		"the client":  {"UserPromptSubmit", `,"source":"task_notification"`, func(*prompted) {}},
		"the end":     {"Stop", "", func(*prompted) {}},
		"a tool": {
			"PostToolUse",
			`,"tool_name":"Bash","tool_use_id":"c1","tool_input":{"command":"ls"}`,
			func(*prompted) {},
		},
		"nothing":     {"UserPromptSubmit", "", func(p *prompted) { p.block = inject.ShownBlock{} }},
		"an error":    {"UserPromptSubmit", "", func(p *prompted) { p.err = errors.New("no") }},
		"late":        {"UserPromptSubmit", "", func(p *prompted) { p.late = true }},
		"one session": {"UserPromptSubmit", "", func(p *prompted) { p.vars["OXBOW_INJECT"] = "off" }},
		"the home": {"UserPromptSubmit", "", func(p *prompted) {
			touch(t, filepath.Join(p.home, injection.InjectionOffFile))
		}},
		"the project": {"UserPromptSubmit", "", func(p *prompted) {
			touch(t, filepath.Join(p.dir, homeDirName, injection.InjectionOffFile))
		}},
		"all hooks": {"UserPromptSubmit", "", func(p *prompted) { p.vars["OXBOW_HOOKS"] = "off" }},
		"no state": {"UserPromptSubmit", "", func(p *prompted) {
			touch(t, filepath.Join(p.home, session.SpoolDir, "shown"))
		}},
		"no spool": {"UserPromptSubmit", "", func(p *prompted) {
			touch(t, filepath.Join(p.home, session.SpoolDir))
		}},
		"a lost spool": {"UserPromptSubmit", "", func(p *prompted) {
			mkdir(t, filepath.Join(p.home, session.SpoolDir, "claude-s1.jsonl"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPrompted(t)
			c.set(p)
			if p.late {
				waits := *patient
				waits.PromptContext = 100 * time.Millisecond
				p.env.HookTimeLimits = &waits
			}
			begun := time.Now()
			got := p.hook(t, "claude", c.event, asks+c.more, 1, p.dir)
			if (got != "") != (name == "answered") {
				t.Errorf("the answer is %s", got)
			}
			if d := time.Since(begun); d > 5*time.Second {
				t.Errorf("it took %v", d)
			}
			if name != "answered" && name != "no spool" && name != "a lost spool" && len(p.injected(t, "claude")) > 0 {
				t.Error("an injection is recorded that was not made")
			}
			if kept, _ := os.ReadFile(session.Spool{Dir: filepath.Join(p.home, session.SpoolDir)}.FilePath(
				"claude",
				"s1",
			)); strings.HasPrefix(name, "the ") && strings.Contains(c.event, "Prompt") && name != "the client" &&
				!strings.Contains(string(kept), "when do we ship") {
				t.Errorf("what was said is not kept: %s", kept)
			}
		})
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func touch(t *testing.T, name string) {
	t.Helper()
	mkdir(t, filepath.Dir(name))
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
