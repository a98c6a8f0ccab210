// This file tests the pages of sessions.

package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// injected returns the event of a hook that showed a text of the memory to the model.
func injected(of session.Event, text string, names ...string) session.Event {
	e := session.Event{Client: of.Client, Session: of.Session, TurnID: of.TurnID, Dir: of.Dir,
		Time: of.Time.Add(time.Millisecond), Kind: session.KindInjection, ID: "i1", Text: text,
		Injection: &session.Injection{
			HookEvent:         "prompt",
			AnswerKind:        "payload",
			TokenCount:        21,
			BestMatchStrength: 0.71,
			MinMatchStrength:  0.4,
		}}
	for _, n := range names {
		e.Injection.ShownEntries = append(
			e.Injection.ShownEntries,
			session.ShownEntry{SourceKind: "notes", Name: n, Version: 1},
		)
	}
	return e
}

func TestSessions(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.has(b.get(page.RootPath+"sessions", http.StatusOK), "No session is stored yet.")
	events := talk("s1", "harbor", "How do we deploy the harbor?", "By the blue script.")
	exit := 2
	call := session.Event{Client: "claude", Session: "s1", TurnID: "s1-1", Kind: session.KindToolCall, ID: "c1",
		Time: events[1].Time.Add(time.Second), Dir: "/src/harbor",
		Call: &session.ToolCall{
			Tool:       "Bash",
			Command:    "make ship",
			ExitStatus: &exit,
			Failed:     true,
			Output:     "no rule",
		}}
	events = append(events, injected(events[0], "Deploy with the script.", "deploy"), call)
	b.archived(append(events, talk("s2", "lantern", "Paint it green.", "Painted.")...)...)
	shown := b.get(page.RootPath+"sessions", http.StatusOK)
	b.has(shown, "How do we deploy the harbor?", "Paint it green.", "1 turn", "/ui/sessions/claude/s1")
	shown = b.get(page.RootPath+"sessions?project=harbor&client=claude&since=7d", http.StatusOK)
	if strings.Contains(shown, "Paint") {
		t.Error("a filter of projects selects nothing")
	}
	b.has(b.get(page.RootPath+"sessions?project=none", http.StatusOK), "No session matches.")
	b.has(b.get(page.RootPath+"sessions?limit=1", http.StatusOK), "Show more", "limit=21")
	b.has(
		b.get(page.RootPath+"sessions?q=blue+script&client=claude", http.StatusOK),
		"/ui/sessions/claude/s1?turn=1#turn-1",
	)
	b.has(b.get(page.RootPath+"sessions?q=zebra", http.StatusOK), "No turn contains these words.")
	b.get(page.RootPath+"sessions?since=gibberish", http.StatusBadRequest)

	shown = b.get(page.RootPath+"sessions/claude/s1", http.StatusOK)
	b.has(
		shown,
		`id="turn-1"`,
		"By the blue script.",
		"$ make ship",
		"exit 2",
		"no rule",
		"oxbow showed notes with the prompt: 21 tokens",
		"Deploy with the script.",
		"/ui/entries/deploy",
		"Strength 0.71",
	)
	if strings.Index(shown, "put before the model with") > strings.Index(shown, "By the blue script.") {
		t.Error("what was injected does not stand in its place")
	}
	b.get(page.RootPath+"sessions/claude/none", http.StatusNotFound)
}

// TestSessionTurns tests that a turn of a long session is on the page that its link opens.
func TestSessionTurns(t *testing.T) {
	b := open(t, auth.Permissions{})
	var events []session.Event
	for i := range 25 {
		e := talk("s1", "harbor", fmt.Sprintf("prompt number %d.", i+1), "ok")[0]
		e.TurnID, e.Time = fmt.Sprint("t", i), e.Time.Add(time.Duration(i)*time.Minute)
		events = append(events, e)
	}
	b.archived(events...)
	shown := b.get(page.RootPath+"sessions/claude/s1", http.StatusOK)
	b.has(shown, "prompt number 10.", "Later turns")
	if strings.Contains(shown, "prompt number 11.") {
		t.Error("a page has more turns than it may")
	}
	b.has(b.get(page.RootPath+"sessions/claude/s1?turn=23", http.StatusOK), "prompt number 23.", "Earlier turns")
	b.get(page.RootPath+"sessions/claude/s1?offset=999", http.StatusOK)
}

func TestSessionUse(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("taken", "Stays as it is.")
	b.archived(talk("s1", "harbor", "How do we deploy?", "By the blue script.")...)
	path := page.RootPath + "sessions/claude/s1"
	form := b.get(path+"/note?turn=1", http.StatusOK)
	b.has(form, "By the blue script.")
	b.get(path+"/note?turn=9", http.StatusNotFound)
	b.has(
		b.submit(form, "Save", url.Values{"content": {"Other."}, "name": {"taken"}}, http.StatusBadRequest),
		"another entry",
	)
	shown := b.submit(
		form,
		"Save",
		url.Values{"content": {"Deploy by the blue script."}, "name": {"deploy"}, "tags": {"ops, how"}},
		http.StatusOK,
	)
	b.has(shown, "Added", "deploy", `id="turn-1"`)
	b.has(b.get(page.RootPath+"entries/deploy", http.StatusOK), "Deploy by the blue script.", "harbor", "ops")
	b.has(b.submit(shown, "Undo", nil, http.StatusOK), "Undid")

	res, err := b.client.Get(b.url + path + "/export?form=markdown")
	got := b.read(res, err, path, http.StatusOK)
	b.has(got, "## Turn 1", "By the blue script.")
	if res.Header.Get("Content-Disposition") != `attachment; filename=session-claude-s1.md` {
		t.Error(res.Header.Get("Content-Disposition"))
	}
	b.has(b.get(path+"/export?form=json", http.StatusOK), `"session": "s1"`)

	shown = b.submit(b.get(path+"/forget", http.StatusOK), "Forget the session", nil, http.StatusOK)
	b.has(shown, "1 turn removed")
	b.get(path, http.StatusNotFound)
	b.has(
		b.submit(shown, "Restore the session", nil, http.StatusOK),
		"By the blue script.",
		"The session was restored.",
	)
}

func TestSessionRights(t *testing.T) {
	b := open(t, auth.Permissions{ReadOnly: true})
	b.archived(talk("s1", "harbor", "How do we deploy?", "By the blue script.")...)
	path := page.RootPath + "sessions/claude/s1"
	if shown := b.get(path, http.StatusOK); strings.Contains(shown, "Forget…") ||
		strings.Contains(shown, "Make a note") {
		t.Error("a reader is offered to write")
	}
	b.post(path+"/forget", nil, http.StatusForbidden)
	b.post(path+"/note", url.Values{"turn": {"1"}, "content": {"x"}}, http.StatusForbidden)

	b = bound(t)
	b.archived(append(talk("s1", "harbor", "The harbor.", "ok"), talk("s2", "lantern", "The MARKER.", "MARKER")...)...)
	for _, path := range []string{"sessions", "sessions?q=MARKER", "sessions?project=lantern"} {
		if shown := b.get(page.RootPath+path, http.StatusOK); strings.Contains(
			strings.ReplaceAll(shown, `"MARKER"`, ""),
			"MARKER",
		) {
			t.Errorf("%s shows another project:\n%s", path, shown)
		}
	}
	for _, path := range []string{"", "/export?form=json", "/export?form=markdown", "/note?turn=1", "/forget"} {
		if shown := b.get(page.RootPath+"sessions/claude/s2"+path, http.StatusNotFound); strings.Contains(
			shown,
			"MARKER",
		) {
			t.Errorf("%s shows another project", path)
		}
	}
}

func TestSessionHostile(t *testing.T) {
	var skeletons []string
	for _, text := range []string{"calm\nfence\ncalm", hostile} {
		b := open(t, auth.Permissions{})
		events := talk("s1", "harbor", "x "+text, "y "+text)
		b.archived(append(events, injected(events[0], text, "deploy"))...)
		all := ""
		for _, path := range []string{"", "/claude/s1", "/claude/s1/note?turn=1"} {
			shown := b.get(page.RootPath+"sessions"+path, http.StatusOK)
			b.harmless(shown)
			all += skeleton(shown) + "\n"
		}
		skeletons = append(skeletons, all)
	}
	if skeletons[0] != skeletons[1] {
		t.Errorf("the pages are built otherwise:\n%s\n%s", skeletons[0], skeletons[1])
	}
}
