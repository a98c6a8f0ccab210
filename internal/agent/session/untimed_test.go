// This file tests clients that store no times, and whose hooks and transcripts contain different call IDs.

package session_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// conversation returns the prompts of a random conversation, the events that hooks reported, and the events of its
// transcript at several times. The last transcript is complete. The hooks missed the first prompts.
func conversation(r *rand.Rand) (prompts []string, hooks []session.Event, transcripts [][]session.Event) {
	n := 2 + r.IntN(12)
	missed := r.IntN(n)
	var transcript []session.Event
	for i := range n {
		text := []string{"continue", "continue", "go on", fmt.Sprint("step ", i)}[r.IntN(4)]
		prompts = append(prompts, text)
		turn, asked := fmt.Sprint("m", i), float64(i*300+r.IntN(200))
		e := event(session.KindPrompt, turn, "", 0, text)
		c := call(turn, fmt.Sprint("toolu", i), 0, fmt.Sprint("make ", i))
		c.Call.Tool = "run_terminal_command_v2"
		said := event(session.KindText, turn, fmt.Sprint("b", i), 0, fmt.Sprint("It is step ", i, "."))
		transcript = append(transcript, e, c, said)
		if i >= missed {
			report := call("", fmt.Sprint("tool", i), asked+2, fmt.Sprint("make ", i))
			report.HasHookID = true
			hooks = append(hooks, event(session.KindPrompt, "", "", asked, text), exited(report, i%2),
				event(session.KindText, "", "", asked+3, said.Text), event(session.KindTurnEnd, "", "", asked+4, ""))
		}
		if r.IntN(4) == 0 || i == n-1 {
			transcripts = append(transcripts, untimed(transcript, asked+5))
		}
	}
	return prompts, hooks, transcripts
}

// untimed returns a copy of the events as they are read from the transcript of a client that stores no times. HasNoTime
// is true for each event. The times are invented: the first event has the time of the transcript's last change, which
// is the parameter seconds, and each further event is 1 ms later.
func untimed(events []session.Event, seconds float64) []session.Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].Time, events[i].HasNoTime = at(seconds+float64(i)/1000), true
	}
	return events
}

// TestUntimed adds a conversation from hooks and from a transcript without times, in any order and in parts. There
// must be one turn for each prompt, in the order of the conversation, with its own call and text.
func TestUntimed(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		prompts, hooks, transcripts := conversation(r)
		all := slices.Concat(append(transcripts, hooks)...)
		turns := session.BuildTurns(all)
		if len(turns) != len(prompts) {
			t.Fatalf("seed %d: %d prompts make %d turns:\n%s", seed, len(prompts), len(turns), shown(turns))
		}
		for i := range turns {
			calls := turns[i].CallEvents()
			want := fmt.Sprint("It is step ", i, ".")
			if turns[i].Prompt() != prompts[i] || turns[i].AgentText() != want || len(calls) != 1 ||
				calls[0].Call.Command != fmt.Sprint("make ", i) || calls[0].ID != fmt.Sprint("toolu", i) {
				t.Fatalf("seed %d: turn %d is wrong:\n%s", seed, i+1, shown(turns))
			}
		}
		one, parts := open(t, t.TempDir()), open(t, t.TempDir())
		if _, err := one.AddEvents(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		arrivals := slices.Clone(transcripts)
		for rest := hooks; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			arrivals = append(arrivals, rest[:n])
			rest = rest[n:]
		}
		r.Shuffle(len(arrivals), func(i, j int) { arrivals[i], arrivals[j] = arrivals[j], arrivals[i] })
		for _, part := range arrivals {
			if _, err := parts.AddEvents(t.Context(), part); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := contents(t, parts), contents(t, one); got != want {
			t.Fatalf("seed %d: in parts\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// TestPromptAfterTranscript tests that a prompt begins a new turn if a hook reports it after the transcript was
// written, even if an earlier prompt has the same text.
func TestPromptAfterTranscript(t *testing.T) {
	transcript := untimed([]session.Event{event(session.KindPrompt, "m1", "", 0, "continue"),
		event(session.KindText, "m1", "b1", 0, "Done.")}, 100)
	turns := session.BuildTurns(append(transcript, event(session.KindPrompt, "", "", 900, "continue")))
	if len(turns) != 2 {
		t.Errorf("the turns are\n%s", shown(turns))
	}
}

// TestHookCalls tests which calls from hooks are joined with calls in the transcript that have other IDs.
func TestHookCalls(t *testing.T) {
	transcriptCall := func(id, tool string, second float64, wrote ...string) session.Event {
		e := event(session.KindToolCall, "p1", id, second, "")
		e.Call = &session.ToolCall{Tool: tool, WrittenFiles: wrote}
		return e
	}
	hookCall := func(id, tool string, second float64, wrote ...string) session.Event {
		e := transcriptCall(id, tool, second, wrote...)
		e.TurnID = ""
		e.HasHookID = true
		e.Dir = "/src"
		return e
	}
	turns := session.BuildTurns([]session.Event{
		event(session.KindPrompt, "p1", "", 0, "go"),
		transcriptCall("t1", "edit_file_v2", 1, "a.go"),
		transcriptCall("t2", "edit_file_v2", 2, "a.go"),
		transcriptCall("t3", "read_file_v2", 3),
		hookCall("h1", "Write", 1.5, "/src/a.go"),
		hookCall("h2", "Write", 2.5, "/src/a.go"),
		hookCall("h2", "Write", 2.5, "/src/a.go"), // The hook is installed twice, so it reports the call twice.
		hookCall("h3", "Write", 3.5, "/src/b.go"), // The transcript does not contain this call.
		hookCall("t3", "Read", 3.5),
	})
	var got []string
	for _, e := range turns[0].CallEvents() {
		got = append(got, e.ID+" "+strings.Join(e.Call.WrittenFiles, " "))
	}
	if want := []string{"t1 /src/a.go", "t2 /src/a.go", "t3 ", "h3 /src/b.go"}; !slices.Equal(got, want) {
		t.Errorf("the calls are %q, want %q", got, want)
	}
}
