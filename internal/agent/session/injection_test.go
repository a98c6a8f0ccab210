// This file tests injections, which are texts that oxbow showed to an agent. An injection must be stored unchanged,
// except that secrets are removed, and its words must not make its turn match a search.

package session_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// put returns the event of a hook that inserted a text into the model's context.
func put(turn, id string, seconds float64, text string, in session.Injection) session.Event {
	e := event(session.KindInjection, turn, id, seconds, text)
	e.Injection = &in
	return e
}

var roundingNote = session.ShownEntry{SourceKind: "notes", Name: "cents rounding", Version: 3}

// TestInjectionKept tests the record of an injection, which is a text that a hook added to a prompt. The turn must
// contain the injection unchanged, and only once even if the injection is reported twice. A search for words of the
// injected text must not find the turn.
func TestInjectionKept(t *testing.T) {
	a := open(t, t.TempDir())
	text := "cents rounding@3: Balances use bankers quantization."
	in := put(
		"p1",
		"i1",
		1,
		text,
		session.Injection{
			HookEvent:         "prompt",
			AnswerKind:        "payload",
			TokenCount:        40,
			BestMatchStrength: 3.2,
			MinMatchStrength:  2,
			ShownEntries:      []session.ShownEntry{roundingNote},
			RareTerms:         []string{"banker", "quantiz", "balanc"},
		},
	)
	prompt, said := event(
		session.KindPrompt,
		"p1",
		"u1",
		0,
		"why does it fail",
	), event(session.KindText, "p1", "m1", 9, "A bug in a loop.")
	add(t, a, "1 new, 0 changed", prompt, in, said)
	add(t, a, "0 new, 0 changed", in)
	e, err := a.Memory.Get(t.Context(), "claude/s/0001")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := session.ReadableText(e.Content),
		"user: why does it fail\n\nassistant: A bug in a loop."; got != want {
		t.Errorf("content = %q, want %q", got, want)
	}
	if got, want := fmt.Sprint(
		e.Labels,
	), `[client:claude injected:prompt session:s shown:"cents rounding" turn:1]`; got != want {
		t.Errorf("labels = %s, want %s", got, want)
	}
	for _, q := range []string{"quantization", "rounding", "cents", "bankers"} {
		if hits, err := a.Memory.Recall(t.Context(), oxbow.Query{Text: q}); err != nil || len(hits) != 0 {
			t.Errorf("%q finds %d entries, %v", q, len(hits), err)
		}
	}
	turn, err := session.ParseTurn(e.Content)
	if err != nil {
		t.Fatal(err)
	}
	got := turn.InjectionEvents()
	if len(got) != 1 || got[0].Text != text || fmt.Sprint(*got[0].Injection) != fmt.Sprint(*in.Injection) {
		t.Errorf("injections = %+v, want %+v", got, in)
	}
	if turn.Prompt() != prompt.Text || turn.AgentText() != said.Text {
		t.Errorf("prompt %q, said %q", turn.Prompt(), turn.AgentText())
	}
}

// TestInjectionSaidAgain tests that an injected text is separate from what the agent or the person said, even if both
// texts are equal.
func TestInjectionSaidAgain(t *testing.T) {
	in := put("p1", "i1", 1, "A rounding error.", session.Injection{HookEvent: "prompt"})
	turns := session.BuildTurns([]session.Event{
		event(session.KindPrompt, "p1", "", 0, "why"),
		in,
		event(session.KindText, "p1", "m1", 2, "A rounding error."),
	})
	back, err := session.ParseTurn(turns[0].Content())
	if err != nil || back.AgentText() != "A rounding error." || back.InjectionEvents()[0].Text != back.AgentText() {
		t.Errorf("parsed back: %+v, %v", back.Events, err)
	}
}

// TestOldTurn tests that the content of a turn from a version without injections stays the same.
func TestOldTurn(t *testing.T) {
	const old = "user: why does it fail\n\nassistant: A rounding error.\n\n--- FAIL: TestPay\n\n<!--1 " +
		"==(?__[$'!)),,]=`^|/%_={|,)&>|;-,@+\\<]*+?)+|+>{)%])$\":>`='*[]$+^\"(';^`~``]'!:!-,_:=};;.)#\"+\"!-?%\"(;;<;-*)({).)\"\\~[]':\\\\\\{`*`^#^<-,'\"/#!+[&`#!(='[,'-*\"{<@<?{}=(;#!|{(<:![.\".!!&}_^):&`.$=|^\\{%(})*:'>^{=*`.(-):^*??#~|#{[=.[&<&|=><=`<#`)/[//-=$*/%<!~#-}[`?_=_+_-.:/?`[|+@}|/?\\@`@?\"{'\\/#^?&!.{(]@_:~@+\"}{`)+,\\\\$`}~&`<~%(;!!(~~{-->"
	turn, err := session.ParseTurn(old)
	if err != nil {
		t.Fatal(err)
	}
	if again := session.BuildTurns(turn.UnmergedReports()); len(again) != 1 || again[0].Content() != old {
		t.Errorf("the turn is now %q", again[0].Content())
	}
}

// TestInjectionRedacted tests that secrets are removed from an injection's text, names and rare terms, and that the
// fence stays.
func TestInjectionRedacted(t *testing.T) {
	a := open(t, t.TempDir())
	a.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	in := put(
		"p1",
		"i1",
		1,
		"<oxbow-memory>the password is hunter2 of harbor</oxbow-memory>",
		session.Injection{
			HookEvent:    "start",
			ShownEntries: []session.ShownEntry{{SourceKind: "notes", Name: "hunter2"}},
			RareTerms:    []string{"hunter2", "harbor"},
		},
	)
	add(t, a, "1 new, 0 changed", event(session.KindPrompt, "p1", "", 0, "go"), in)
	turns, err := a.ReadTurns(t.Context(), "claude", "s")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(
		turns[0].InjectionEvents()[0].Text,
		turns[0].InjectionEvents()[0].Injection.ShownEntries,
		turns[0].InjectionEvents()[0].Injection.RareTerms,
	), "<oxbow-memory>the password is [redacted] of harbor</oxbow-memory>[{notes [redacted] 0}] [harbor]"; got != want {
		t.Errorf("kept is %q, want %q", got, want)
	}
}

func TestUsed(t *testing.T) {
	ferry := session.ShownEntry{SourceKind: "sessions", Name: "claude/s0/0004", Version: 9}
	text := "2026-10-02, cents rounding@3:\nBalances use bankers quantization in ledger.\nclaude/s0/0004@9:\nThe " +
		"ferry of the pilot went aground."
	rare := []string{"banker", "quantiz", "ledger", "ferri", "pilot", "aground"}
	in := put(
		"p1",
		"i1",
		5,
		text,
		session.Injection{
			HookEvent:    "prompt",
			ShownEntries: []session.ShownEntry{roundingNote, ferry},
			RareTerms:    rare,
		},
	)
	said := func(seconds float64, s string) session.Event {
		return event(session.KindText, "p1", fmt.Sprint("m", seconds), seconds, s)
	}
	edit := call("p1", "c1", 7, "quantize --ledger")
	edit.Call.WrittenFiles = []string{"pay/bankers.go"}
	for _, tc := range []struct {
		name   string
		events []session.Event
		want   []session.ShownEntry
	}{
		{"nothing was written", nil, nil},
		{"two terms are chance", []session.Event{said(6, "The bankers quantized it.")}, nil},
		{
			"three of one entry",
			[]session.Event{said(6, "The bankers quantized it."), said(8, "See the ledger.")},
			[]session.ShownEntry{roundingNote},
		},
		{"three of two entries are of none", []session.Event{said(6, "The bankers quantized the ferry.")}, nil},
		{
			"both",
			[]session.Event{said(6, "Bankers quantization in ledgers; a ferry, aground, its pilot.")},
			[]session.ShownEntry{roundingNote, ferry},
		},
		{"commands and files count", []session.Event{edit}, []session.ShownEntry{roundingNote}},
		{
			"what was written before does not",
			[]session.Event{said(2, "The bankers use a ledger."), said(6, "The bankers quantized the ledger.")},
			nil,
		},
		{
			"nor what the person says",
			[]session.Event{event(session.KindPrompt, "p1", "u2", 6, "bankers quantization in ledger")},
			nil,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			turns := session.BuildTurns(slices.Concat(
				[]session.Event{event(session.KindPrompt, "p1", "u1", 0, "go"), in},
				tc.events,
			))
			if got := turns[0].ShownEntriesUsed(); !slices.Equal(got, tc.want) {
				t.Errorf("Used = %v, want %v", got, tc.want)
			}
		})
	}
	// If the text does not mark where each entry begins, any term in the text counts for all entries shown. Therefore
	// both entries are used.
	in.Text = strings.ReplaceAll(text, "@", " ")
	if got := session.BuildTurns([]session.Event{
		event(session.KindPrompt, "p1", "", 0, "go"),
		in,
		said(6, "bankers quantization in ledger"),
	})[0].ShownEntriesUsed(); len(got) != 2 {
		t.Errorf("without marks, Used = %v", got)
	}
}

// TestInjectionBounds tests that an Injection with implausible values, which no hook writes, causes no error. Negative
// token counts and values that are not finite must become 0. Long texts and lists must be shortened.
func TestInjectionBounds(t *testing.T) {
	in := session.Injection{
		HookEvent:         "prompt\n",
		TokenCount:        -1,
		BestMatchStrength: 1 / zero,
		MinMatchStrength:  zero / zero,
	}
	for i := range 10_000 {
		in.ShownEntries, in.RareTerms = append(
			in.ShownEntries,
			session.ShownEntry{Name: strings.Repeat(fmt.Sprint(i), 1000)},
		), append(in.RareTerms, fmt.Sprint("w", i))
	}
	odd := put("p1", "i1", 1, "x", in)
	none := odd
	none.ID, none.Injection = "i2", nil
	turns := session.BuildTurns([]session.Event{event(session.KindPrompt, "p1", "", 0, "go"), odd, none})
	back, err := session.ParseTurn(turns[0].Content())
	if err != nil || len(back.Events) != 3 || len(back.InjectionEvents()) != 1 {
		t.Fatalf("parsed back: %+v, %v", back.Events, err)
	}
	got := back.InjectionEvents()[0].Injection
	if got.BestMatchStrength != 0 || got.MinMatchStrength != 0 || got.TokenCount != 0 || got.HookEvent != "prompt" ||
		len(got.ShownEntries) > 40 ||
		len(got.RareTerms) > 100 ||
		len(turns[0].Content()) > 16<<10 {
		t.Errorf("kept is %.200v, in %d bytes", got, len(turns[0].Content()))
	}
	a := open(t, t.TempDir())
	add(t, a, "1 new, 0 changed", odd, none)
}

var zero float64

// TestShown tests that the index counts how often an entry was shown and used, when turns are added, changed and
// removed.
func TestShown(t *testing.T) {
	a := open(t, t.TempDir())
	shownIn := func(n, used int) (events []session.Event) {
		for i := range n {
			turn, from := fmt.Sprint("p", i), float64(60*i)
			events = append(events, event(session.KindPrompt, turn, "", from, fmt.Sprint("step ", i)),
				put(
					turn,
					fmt.Sprint("i", i),
					from+1,
					"The bankers quantize a ledger.",
					session.Injection{
						HookEvent:    "prompt",
						ShownEntries: []session.ShownEntry{roundingNote},
						RareTerms:    []string{"banker", "quantiz", "ledger"},
					},
				))
			if i < used {
				events = append(events, event(session.KindText, turn, "", from+2, "A ledger that bankers quantized."))
			}
		}
		return events
	}
	check := func(want string) {
		t.Helper()
		if got, err := a.CountEntryUses(t.Context(), "cents rounding", "other"); err != nil || fmt.Sprint(got) != want {
			t.Errorf("Shown = %v, %v; want %s", got, err, want)
		}
	}
	check("[{cents rounding 0 0} {other 0 0}]")
	unused := func() string {
		t.Helper()
		got, err := a.UnusedEntryCounts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(got)
	}
	add(t, a, "9 new, 0 changed", shownIn(9, 0)...)
	check("[{cents rounding 9 0} {other 0 0}]")
	if got := unused(); got != "[]" {
		t.Errorf("after nine turns, Unused = %s", got)
	}
	add(t, a, "3 new, 0 changed", shownIn(12, 0)...)
	if got := unused(); got != "[{cents rounding 12 0}]" {
		t.Errorf("after twelve turns, Unused = %s", got)
	}
	add(t, a, "0 new, 3 changed", shownIn(3, 3)...)
	check("[{cents rounding 12 3} {other 0 0}]")
	if got := unused(); got != "[]" {
		t.Errorf("after it was used, Unused = %s", got)
	}
	if _, err := a.RemoveSession(t.Context(), "claude", "s"); err != nil {
		t.Fatal(err)
	}
	check("[{cents rounding 0 0} {other 0 0}]")
}

// TestRedactedTurn tests that a secret in an archived turn can be removed from each of its texts, and that the result
// is still a turn.
func TestRedactedTurn(t *testing.T) {
	asked := call("p1", "c1", 3, "")
	asked.Call.WebQuery = "https://a.example/?key=hunter2"
	turn := session.BuildTurns([]session.Event{
		event(session.KindPrompt, "p1", "", 0, "hunter2 fails"),
		put("p1", "i1", 1, "It was hunter2.", session.Injection{HookEvent: "prompt", RareTerms: []string{"hunter2"}}),
		asked,
	})[0]
	if got := session.ReadCompressedTexts(turn.Content()); fmt.Sprint(
		got,
	) != "[It was hunter2. https://a.example/?key=hunter2]" {
		t.Errorf("Packed = %q", got)
	}
	content, ok := session.TransformTurnTexts(turn.Content(), func(s string) string {
		return strings.ReplaceAll(s, "hunter2", "[x]")
	})
	back, err := session.ParseTurn(content)
	if !ok || err != nil {
		t.Fatalf("Redacted: %v, %v", ok, err)
	}
	if got := bytesOf(t, []session.Turn{back}); strings.Contains(got, "hunter2") || strings.Count(got, "[x]") != 4 {
		t.Errorf("left is %s", got)
	}
	if again := session.BuildTurns(back.UnmergedReports()); again[0].Content() != content {
		t.Error("it folds to another turn")
	}
	if got, ok := session.TransformTurnTexts("a note with hunter2", strings.ToUpper); ok ||
		got != "a note with hunter2" ||
		session.ReadCompressedTexts(got) != nil {
		t.Errorf("of a note: %q, %v", got, ok)
	}
}

// TestInjectionGrowth tests that a turn with twice as many injections costs at most 2.6 times as much.
func TestInjectionGrowth(t *testing.T) {
	testenv.SkipInShortMode(t)
	cost := func(n int) uint64 {
		events := []session.Event{event(session.KindPrompt, "p1", "", 0, "go")}
		for i := range n {
			in := session.Injection{
				HookEvent: "action",
				RareTerms: []string{"banker", "quantiz", "ledger", fmt.Sprint("w", i)},
			}
			text := ""
			for j := range 20 {
				s := session.ShownEntry{SourceKind: "notes", Name: fmt.Sprint("note ", i, ".", j), Version: 1}
				in.ShownEntries, text = append(in.ShownEntries, s), text+s.Name+"@1: The bankers quantize a ledger.\n"
			}
			events = append(
				events,
				put("p1", fmt.Sprint("i", i), float64(i), text, in),
				event(session.KindText, "p1", fmt.Sprint("m", i), float64(i), "A ledger that bankers quantized."),
			)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		turn := session.BuildTurns(events)[0]
		if used := turn.ShownEntriesUsed(); len(used) == 0 || len(turn.Content()) == 0 {
			t.Error("nothing was used")
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	cost(10)
	one := cost(100)
	for n := 200; n <= 400; n *= 2 {
		two := cost(n)
		if float64(two) > 2.6*float64(one) {
			t.Errorf("%d injections allocate %d bytes, half as many %d", n, two, one)
		}
		one = two
	}
}
