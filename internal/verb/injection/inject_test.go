// This file tests the text that is added to a user's prompt if both a note and an earlier prompt in another
// conversation match the prompt.

package injection

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// injectWorkspace returns a workspace with one note, and the archive of a session with these prompts.
func injectWorkspace(t *testing.T, prompts ...session.Event) (*verb.Workspace, *session.Archive) {
	t.Helper()
	open := func() *oxbow.Memory {
		m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
		return m
	}
	notes, a := open(), &session.Archive{Memory: open()}
	if err := notes.Apply(
		t.Context(),
		oxbow.Add{Name: "greeting", Content: "The receptionist is called Ottilie."},
	); err != nil {
		t.Fatal(err)
	}
	for i := range prompts {
		p := &prompts[i]
		p.Client, p.Time = "claude", time.Date(2026, 3, 2, 9, i, 0, 0, time.UTC)
		if p.TurnID == "" {
			p.TurnID = fmt.Sprint(i)
		}
		if p.Session == "" {
			p.Session = "s"
		}
	}
	if _, err := a.AddEvents(t.Context(), prompts); err != nil {
		t.Fatal(err)
	}
	return &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return notes, nil },
		Sessions: func(context.Context) (*session.Archive, error) { return a, nil }}, a
}

const injectQuestion = "Which port does the staging proxy listen on since the Hamburg migration?"

func TestInjectTaintedTurn(t *testing.T) {
	prompt := session.Event{
		Kind:   session.KindPrompt,
		TurnID: "1",
		Text:   "Since the Hamburg migration the staging proxy listens on port 8443.",
	}
	w, _ := injectWorkspace(t, prompt)
	out, err := Inject(t.Context(), w, InjectIn{Prompt: injectQuestion})
	if err != nil || out.Answer != "payload" || !strings.Contains(out.Text, "8443") {
		t.Fatalf("Inject = %+v, %v", out, err)
	}
	fetch := session.Event{
		Kind:   session.KindToolCall,
		ID:     "call-000001",
		TurnID: "1",
		Call:   &session.ToolCall{Tool: "WebFetch", WebQuery: "https://example.org"},
	}
	w, a := injectWorkspace(t, prompt, fetch)
	if hits, err := a.Memory.Recall(
		t.Context(),
		oxbow.Query{Text: "staging proxy", Filter: session.TurnFilter},
	); err != nil || len(hits) != 1 || len(hits[0].Entry.Values(oxbow.LabelTaint)) == 0 {
		t.Fatalf("the turn is not tainted: %+v, %v", hits, err)
	}
	if out, err := Inject(t.Context(), w, InjectIn{Prompt: injectQuestion}); err != nil || out.Answer != "silence" ||
		out.Text != "" || len(out.SilenceReasons) == 0 {
		t.Errorf("of a tainted turn: %+v, %v", out, err)
	}
}

func TestInjectUnused(t *testing.T) {
	var events []session.Event
	events = append(
		events,
		session.Event{
			Kind:    session.KindPrompt,
			Session: "old",
			Text:    "Since the Hamburg migration the staging proxy listens on port 8443.",
		},
	)
	for i := range session.MinShownTurnsForUnused {
		turn := fmt.Sprint("p", i)
		events = append(events, session.Event{Kind: session.KindPrompt, TurnID: turn, Text: fmt.Sprint("unlike ", i)},
			session.Event{Kind: session.KindInjection, TurnID: turn, ID: turn, Text: "claude/old/0001@1: …",
				Injection: &session.Injection{
					HookEvent: inject.HookEventPrompt,
					ShownEntries: []session.ShownEntry{
						{SourceKind: inject.SourceKindSessions, Name: "claude/old/0001", Version: 1},
					},
				}})
	}
	w, a := injectWorkspace(t, events...)
	if counts, err := a.CountEntryUses(t.Context(), "claude/old/0001"); err != nil || !counts[0].IsUnused() {
		t.Fatalf("Shown = %+v, %v", counts, err)
	}
	out, err := Inject(t.Context(), w, InjectIn{Prompt: injectQuestion, Explain: true})
	if err != nil || out.Answer != "pointer" || strings.Contains(out.Text, "8443") || len(out.EntryDecisions) == 0 ||
		!strings.Contains(out.EntryDecisions[0].NotShownReason, "never used") {
		t.Errorf("Inject = %+v, %v", out, err)
	}
}

func TestInjectWithoutMemory(t *testing.T) {
	none := fmt.Errorf("there is no memory yet")
	w := &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return nil, none }}
	if _, err := Inject(t.Context(), w, InjectIn{Prompt: injectQuestion}); err == nil {
		t.Error("without a memory there is no error")
	}
	full, _ := injectWorkspace(
		t,
		session.Event{
			Kind: session.KindPrompt,
			Text: "Since the Hamburg migration the staging proxy listens on port 8443.",
		},
	)
	w.Sessions = full.Sessions
	if out, err := Inject(t.Context(), w, InjectIn{Prompt: injectQuestion, MaxWait: time.Nanosecond}); err != nil ||
		out.Answer != "silence" {
		t.Errorf("in too short a time: %+v, %v", out, err)
	}
	if out, err := Inject(t.Context(), w, InjectIn{Prompt: injectQuestion}); err != nil || out.Answer != "payload" {
		t.Errorf("of the archive alone: %+v, %v", out, err)
	}
}
