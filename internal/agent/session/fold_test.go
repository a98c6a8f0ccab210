// This file tests folding, which builds the turns of a conversation from events. The same turns must be built from
// events in any order, with any repetitions, and also if the events are added in several parts.

package session_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

var day = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// at returns the time that is the given number of seconds after the test's start.
func at(seconds float64) time.Time { return day.Add(time.Duration(seconds * float64(time.Second))) }

// shown formats turns as lines with each turn's prompt and its other events.
func shown(turns []session.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		fmt.Fprintf(&b, "%d[%s]%q", t.Number, t.PromptID, t.Prompt())
		for _, e := range t.Events {
			switch {
			case e.Call != nil:
				fmt.Fprintf(&b, " %s(%s)", e.Call.Tool, e.Call.Command)
				if e.Call.ExitStatus != nil {
					fmt.Fprintf(&b, "=%d", *e.Call.ExitStatus)
				}
			case e.Kind != session.KindPrompt:
				fmt.Fprintf(&b, " %s:%q", e.Kind, e.Text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// bytesOf returns everything that an archive would store for the turns.
func bytesOf(t *testing.T, turns []session.Turn) string {
	t.Helper()
	var b strings.Builder
	for _, turn := range turns {
		j, err := json.Marshal(turn)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(turn.Content() + "\n" + string(j) + "\n")
	}
	return b.String()
}

func event(k session.EventKind, turn, id string, seconds float64, text string) session.Event {
	return session.Event{Client: "claude", Session: "s", TurnID: turn, Kind: k, ID: id, Time: at(seconds), Text: text}
}

func call(turn, id string, seconds float64, command string) session.Event {
	e := event(session.KindToolCall, turn, id, seconds, "")
	e.Call = &session.ToolCall{Tool: "Bash", Command: command}
	return e
}

func exited(e session.Event, status int) session.Event {
	c := *e.Call
	c.ExitStatus = &status
	e.Call = &c
	return e
}

// TestClientWords tests that words of the client, such as resume, are not part of a turn's text, and are still read
// back with the turn.
func TestClientWords(t *testing.T) {
	turns := session.BuildTurns([]session.Event{
		event(session.KindSessionStart, "", "", 0, "resume"),
		event(session.KindPrompt, "p1", "", 1, "go"),
		event(session.KindSessionEnd, "", "", 9, "other"),
	})
	if len(turns) != 1 {
		t.Fatalf("there are %d turns", len(turns))
	}
	content := turns[0].Content()
	if got := session.ReadableText(content); got != "user: go" {
		t.Errorf("the turn reads %q", got)
	}
	back, err := session.ParseTurn(content)
	if err != nil || len(back.Events) != 3 || back.Events[0].Text != "resume" || back.Events[2].Text != "other" {
		t.Errorf("the turn is %+v, %v", back.Events, err)
	}
}

func TestFold(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []session.Event
		want   string
	}{
		{"a hook and the transcript report one prompt",
			[]session.Event{
				event(session.KindPrompt, "p1", "", 0, "fix it"),
				event(session.KindPrompt, "p1", "u1", 0.2, "fix it"),
				event(session.KindText, "p1", "m1", 1, "Fixed."),
			},
			`1[p1]"fix it" text:"Fixed."`},
		{"a hook without identifiers joins the transcript's prompt",
			[]session.Event{
				event(session.KindPrompt, "", "", 0, "fix it"),
				event(session.KindPrompt, "", "u1", 0.4, "fix it"),
				event(session.KindText, "", "m1", 1, "Fixed."),
			},
			`1[u1]"fix it" text:"Fixed."`},
		{"and a transcript's that has a turn",
			[]session.Event{
				event(session.KindPrompt, "", "", 0, "fix it"),
				event(session.KindPrompt, "p1", "u1", 0.4, "fix it"),
				event(session.KindText, "", "", 1, "Fixed."),
			},
			`1[p1]"fix it" text:"Fixed."`},
		{"the same prompt typed twice is two turns",
			[]session.Event{event(session.KindPrompt, "", "", 0, "continue"), event(session.KindPrompt, "", "", 30,
				"continue"),
				event(session.KindPrompt, "", "u1", 0.5, "continue"), event(session.KindPrompt, "", "u2", 30.5,
					"continue")},
			"1[u1]\"continue\"\n2[u2]\"continue\""},
		{"also where only hooks report it",
			[]session.Event{
				event(session.KindPrompt, "", "", 0, "continue"),
				event(session.KindPrompt, "", "", 30, "continue"),
			},
			"1[]\"continue\"\n2[]\"continue\""},
		{"a hook that is installed twice reports one prompt",
			[]session.Event{
				event(session.KindPrompt, "", "", 0, "continue"),
				event(session.KindPrompt, "", "", 0.1, "continue"),
				call("", "", 1, "ls"),
				call("", "", 1.1, "ls"),
			},
			`1[]"continue" Bash(ls)`},
		{"a call is one by its identifier, and knows what either report knows",
			[]session.Event{
				event(session.KindPrompt, "p1", "", 0, "go"),
				call("p1", "toolu_1", 2, "go test"),
				exited(call("", "toolu_1", 3, "go test"), 1),
			},
			`1[p1]"go" Bash(go test)=1`},
		{"calls without identifier join those of equal input that began before",
			[]session.Event{event(session.KindPrompt, "", "u1", 0, "go"), call("", "", 5, "ls"), call("", "", 20, "ls"),
				call("", "c1", 4, "ls"), exited(call("", "c2", 21, "ls"), 0), call("", "c3", 60, "pwd")},
			`1[u1]"go" Bash(ls) Bash(ls)=0 Bash(pwd)`},
		{"a report is of the earliest call that began before it, however long that took",
			[]session.Event{event(session.KindPrompt, "", "u1", 0, "go"), exited(call("", "c1", 1, "go vet"), 1),
				exited(call("", "c2", 9, "go vet"), 0),
				exited(call("", "", 8, "go vet"), 1), exited(call("", "", 12, "go vet"), 0)},
			`1[u1]"go" Bash(go vet)=1 Bash(go vet)=0`},
		{"a transcript with the time of writing has the call after the report, late on a busy machine",
			[]session.Event{event(session.KindPrompt, "", "u1", 0, "go"), exited(call("", "", 2, "go vet"), 1),
				exited(call("", "c1", 9, "go vet"), 1), exited(call("", "", 12, "go vet"), 0),
				exited(call("", "c2", 18, "go vet"), 0)},
			`1[u1]"go" Bash(go vet)=1 Bash(go vet)=0`},
		{"a report that is missing takes no other with it",
			[]session.Event{
				event(session.KindPrompt, "", "u1", 0, "go"),
				exited(call("", "c1", 1, "go vet"), 1),
				exited(call("", "c2", 9, "go vet"), 0),
				exited(call("", "", 12, "go vet"), 0),
			},
			`1[u1]"go" Bash(go vet)=1 Bash(go vet)=0`},
		{"a command that fails and passes at once is no hook that is installed twice",
			[]session.Event{
				event(session.KindPrompt, "", "", 0, "go"),
				exited(call("", "", 1, "go vet"), 1),
				exited(call("", "", 2, "go vet"), 0),
			},
			`1[]"go" Bash(go vet)=1 Bash(go vet)=0`},
		{"a command that runs twice is two calls",
			[]session.Event{event(session.KindPrompt, "", "", 0, "go"), call("", "", 5, "ls"), call("", "", 20, "ls")},
			`1[]"go" Bash(ls) Bash(ls)`},
		{"an answer at the end of a turn is that of the messages",
			[]session.Event{event(session.KindPrompt, "", "u1", 0, "go"), event(session.KindText, "", "m1", 1,
				"First."),
				event(session.KindText, "", "m2", 2, "Second."),
				event(session.KindText, "", "", 3, "First.\n\nSecond."), event(session.KindText, "", "", 3, "Second."),
				event(session.KindText, "", "", 4, "Third.")},
			`1[u1]"go" text:"First." text:"Second." text:"Third."`},
		{"what comes before the first prompt belongs to it",
			[]session.Event{event(session.KindSessionStart, "", "", 0, "startup"),
				event(session.KindPrompt, "p1", "", 2,
					"go")},
			`1[p1]"go" start:"startup"`},
		{"without a prompt there is a turn all the same",
			[]session.Event{event(session.KindSessionStart, "", "", 0, "startup"), event(session.KindText, "", "m1", 2,
				"hello")},
			`1[]"" start:"startup" text:"hello"`},
		{"a call that ends after the next prompt stays in its turn",
			[]session.Event{event(session.KindPrompt, "p1", "", 0, "go"), call("p1", "c1", 1, "sleep"),
				event(session.KindPrompt, "p2", "", 5, "and"), exited(call("", "c1", 9, "sleep"), 0),
				call("", "c2", 10, "ls")},
			"1[p1]\"go\" Bash(sleep)=0\n2[p2]\"and\" Bash(ls)"},
		{"a sub-agent's prompt is no turn",
			[]session.Event{
				event(session.KindPrompt, "p1", "", 0, "go"),
				{Client: "claude", Session: "s", Kind: session.KindPrompt, SubAgent: "helper", Text: "look",
					Time: at(1)},
			},
			`1[p1]"go"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := strings.TrimSpace(tc.want)
			if got := strings.TrimSpace(shown(session.BuildTurns(tc.events))); got != want {
				t.Errorf("Fold = \n%s\nwant\n%s", got, want)
			}
		})
	}
}

// randomEvents returns the reports of random sessions. Some reports of an event lack identifiers, like the reports of
// hooks.
func randomEvents(r *rand.Rand) []session.Event {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var all []session.Event
	for range 1 + r.IntN(40) {
		e := session.Event{Client: pick("claude", "gemini"), Session: pick("s1", "s1", "s2"),
			Time:   at(float64(r.IntN(600)) / 2),
			TurnID: pick("", "", "p1", "p2", "p3"), ID: pick("", "", "a", "b", "c", "d"),
			Kind: session.EventKind(pick(
				"prompt",
				"prompt",
				"text",
				"text",
				"call",
				"call",
				"call",
				"stop",
				"start",
				"plan",
				"injected",
			)),
			Text: pick("continue", "continue", "fix it", "Done.", "a", "ab", "b", ""), Dir: pick("", "/p", "/q"),
			SubAgent: pick("", "", "", "helper")}
		if e.Kind == session.KindToolCall {
			e.Text, e.Call = "", &session.ToolCall{Tool: pick("Bash", "Edit"), Command: pick("ls", "go test"),
				Failed: r.IntN(2) == 0, Output: pick("", "x\ny", "boom"), WrittenFiles: []string{pick("a.go", "b.go")}}
			if n := r.IntN(3); n < 2 {
				e.Call.ExitStatus = &n
			}
		}
		e.HasNoTime = r.IntN(5) == 0
		e.IsFromPromptList = e.Kind == session.KindPrompt && e.TurnID+e.ID == "" && r.IntN(2) == 0
		e.HasHookID = e.Kind == session.KindToolCall && r.IntN(3) == 0
		if e.Kind == session.KindInjection {
			e.Injection = &session.Injection{HookEvent: pick("start", "prompt"), TokenCount: r.IntN(3),
				BestMatchStrength: float64(r.IntN(3)), RareTerms: []string{"a", "b", "done"},
				ShownEntries: []session.ShownEntry{
					{SourceKind: "notes", Name: pick("style", "harbor"), Version: uint64(r.IntN(3))},
				}}
		}
		all = append(all, e)
	}
	return all
}

// TestFoldOrder tests that BuildTurns builds the same turns if the events are in another order or repeated. The same
// must hold if the events are added in several parts, and the turns of the earlier parts are parsed from their content.
func TestFoldOrder(t *testing.T) {
	testenv.SkipInShortMode(t)
	for seed := range uint64(testenv.RepeatCount(100, 700)) {
		r := rand.New(rand.NewPCG(seed, 1))
		events := randomEvents(r)
		want := bytesOf(t, session.BuildTurns(events))
		again := slices.Concat(events, events[:r.IntN(len(events)+1)])
		r.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		if got := bytesOf(t, session.BuildTurns(again)); got != want {
			t.Fatalf("seed %d: shuffled and repeated\n%s\nwant\n%s", seed, got, want)
		}
		var kept []session.Event
		for len(again) > 0 {
			n := 1 + r.IntN(len(again))
			var part []session.Event
			for _, turn := range session.BuildTurns(append(kept, again[:n]...)) {
				back, err := session.ParseTurn(turn.Content())
				if err != nil {
					t.Fatalf("seed %d: Parse: %v", seed, err)
				}
				part = append(part, back.UnmergedReports()...)
			}
			kept, again = part, again[n:]
		}
		if got := bytesOf(t, session.BuildTurns(kept)); got != want {
			t.Fatalf("seed %d: in parts\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// TestFoldBounds tests that a turn that is too large is cut, that the turn records this, and that it is cut at the
// same place for any order of the events.
func TestFoldBounds(t *testing.T) {
	testenv.SkipInShortMode(t)
	huge := event(session.KindPrompt, "p1", "", 0, strings.Repeat("word ", 1<<20))
	turns := session.BuildTurns([]session.Event{huge})
	if got := turns[0].Prompt(); len(got) > 256<<10 || !strings.Contains(got, "cut here: the text had") {
		t.Errorf("a prompt of 5 MB is kept as %d bytes ending in %q", len(got), got[max(0, len(got)-60):])
	}
	events := []session.Event{huge}
	for i := range 5000 {
		events = append(events, call("p1", fmt.Sprint("c", i), 1+float64(i), "go test ./..."))
	}
	turns = session.BuildTurns(events)
	if len(turns) != 1 || !turns[0].HasOmittedEvents || len(turns[0].Events) < 1000 ||
		len(turns[0].Content()) > 1<<20 {
		t.Fatalf(
			"5,000 calls: %d turns, cut %v, %d events, %d bytes",
			len(turns),
			turns[0].HasOmittedEvents,
			len(turns[0].Events),
			len(turns[0].Content()),
		)
	}
	want := turns[0].Content()
	slices.Reverse(events)
	half := session.BuildTurns(events[:2500])
	got := session.BuildTurns(append(half[0].UnmergedReports(), events[2500:]...))
	if got[0].Content() != want {
		t.Errorf("the other way around, in two parts, another turn is kept")
	}
}

// TestStartOfAResumedSession tests that a session start and its injection belong to the turn that follows, and that a
// later injection belongs to the turn of the prompt before it.
func TestStartOfAResumedSession(t *testing.T) {
	block := func(seconds float64, text string) session.Event {
		e := event(session.KindInjection, "", text, seconds, text)
		e.Injection = &session.Injection{HookEvent: "start"}
		return e
	}
	before := []session.Event{event(session.KindSessionStart, "", "", 0, "startup"), block(1, "first"),
		event(session.KindPrompt, "p1", "", 2, "one"),
		event(session.KindSessionStart, "", "", 100, "resume"), block(101, "second")}
	after := []session.Event{event(session.KindPrompt, "p2", "", 102, "two"), block(103, "late")}
	want := `1[p1]"one" start:"startup" injected:"first"
2[p2]"two" start:"resume" injected:"second" injected:"late"
`
	turns := session.BuildTurns(slices.Concat(before, after))
	if got := shown(turns); got != want {
		t.Errorf("Fold = %s, want %s", got, want)
	}
	// The result must be the same if the second prompt is reported after the first turn was stored.
	var kept []session.Event
	for _, turn := range session.BuildTurns(before) {
		kept = append(kept, turn.UnmergedReports()...)
	}
	if got := shown(session.BuildTurns(slices.Concat(kept, after))); got != want {
		t.Errorf("in two parts Fold = %s, want %s", got, want)
	}
}

// TestEndOfATurn tests the end of a turn whose last event is reported twice, by a hook and by a transcript, with
// different times. The turn's EndTime must be the earlier of the two times.
func TestEndOfATurn(t *testing.T) {
	turns := session.BuildTurns([]session.Event{
		event(session.KindPrompt, "t1", "p1", 0, "build it"),
		event(session.KindText, "t1", "m1", 5, "done"),
		event(session.KindText, "t1", "", 9, "done"), // The hook reports the text without an ID.
	})
	if len(turns) != 1 || !turns[0].EndTime.Equal(at(5)) {
		t.Errorf("Fold = %s, which ends %v; want one turn that ends %v", shown(turns), turns[0].EndTime, at(5))
	}
}
