// This file tests that no form loses the text that a person entered.

package web

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// TestTypedComesBack tests that the page for an error in a form contains the input.
func TestTypedComesBack(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("there", "What it says.")
	b.hold("held", "What is held.")
	b.archived(talk("s1", "harbor", "From now on, always run the linter.", "Done.")...)
	const typed = "What a person <typed> & meant"
	form := url.Values{"content": {typed}, "name": {"ghost"}, "tags": {"mine"}, "id": {"ffff"}, "version": {"x"},
		"turn": {"9"}}
	forms := 0
	for _, rt := range pageRoutes {
		if rt.method != http.MethodPost {
			continue
		}
		forms++
		path := page.RootPath + strings.NewReplacer("{name}", "ghost", "{client}", "claude", "{session}", "none").
			Replace(
				rt.path,
			)
		for who, client := range map[string]*http.Client{"signed in": b.client, "signed out": b.fresh()} {
			res, err := client.PostForm(b.url+path, form)
			if err != nil {
				t.Fatal(err)
			}
			shown, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode >= 400 && !strings.Contains(string(shown), "What a person &lt;typed&gt; &amp; meant") {
				t.Errorf("%s, %s: status %d without what was typed", path, who, res.StatusCode)
			}
		}
	}
	if forms < 10 {
		t.Errorf("%d forms were tried", forms)
	}
}

// TestNoteOfTurnComesBack tests the form for a note about a turn. If the note cannot be saved because its name is
// already used, the form must be shown again and must contain what the person entered.
func TestNoteOfTurnComesBack(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("taken", "What it says.")
	b.archived(talk("s1", "harbor", "Which port?", "8443.")...)
	form := b.get(page.RootPath+"sessions/claude/s1/note?turn=1", http.StatusOK)
	shown := b.submit(
		form,
		"Save",
		url.Values{"name": {"taken"}, "content": {"My words."}, "tags": {"port, mine"}},
		http.StatusBadRequest,
	)
	b.has(shown, "is already used by another entry", "My words.", "port, mine", "Save")
	b.has(b.submit(shown, "Save", url.Values{"name": {"port"}}, http.StatusOK), "Added")
	if e, err := b.memory.Get(t.Context(), "port"); err != nil || e.Content != "My words." {
		t.Errorf("the note is %+v, %v", e, err)
	}
}

// TestTokensDecideNothing tests that a browser that signed in with a token, like a program, cannot make
// a person's decisions and cannot erase a person's text.
func TestTokensDecideNothing(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("typed", "By a person.")
	b.hold("held", "What is held.")
	b.archived(talk("s1", "harbor", "From now on, always run the linter.", "Done.")...)
	b.client = b.fresh()
	b.post(page.RootPath+"enter", url.Values{"token": {token}}, http.StatusOK)
	shown := b.get(page.RootPath+"inbox", http.StatusOK)
	b.has(shown, "Only a person may approve notes, accept proposals")
	if strings.Contains(shown, ">Approve<") {
		t.Error("the inbox offers to approve")
	}
	_, rest, _ := strings.Cut(shown, page.RootPath+"inbox/")
	id, _, _ := strings.Cut(rest, `"`)
	edited := url.Values{"id": {id}, "name": {"held"}, "version": {"2"}, "content": {"Edited by a program."}}
	for path, status := range map[string]int{"inbox/accept": 400, "inbox/drop": 400, "inbox/approve": 400,
		"entries/held/approve": 400, "entries/typed/redact": 403} {
		b.post(page.RootPath+path, edited, status)
	}
	if e, err := b.memory.Get(t.Context(), "held"); err != nil || e.Content != "What is held." {
		t.Errorf("the entry that is held back is %+v, %v", e, err)
	}
	if n := b.entries(); n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
}

// TestSessionTakesBack tests that the page of a session lists the changes that the session made to the memory, and that
// two clicks undo these changes. The session's ID contains characters that are special in URLs and HTML.
func TestSessionTakesBack(t *testing.T) {
	b := open(t, auth.Permissions{})
	const id = "a b&c=%2F+ü#1"
	b.archived(talk(id, "harbor", "Which port?", "8443.")...)
	b.has(
		b.get(page.RootPath+page.SessionPath("claude", id, 0), http.StatusOK),
		"This session wrote nothing to the memory.",
	)
	b.has(b.get(page.RootPath+"log/revert?"+url.Values{"session": {"claude/" +
		id}}.Encode(), http.StatusOK), "This session changed nothing")

	b.remember("port", "8080")
	b.remember("host", "a.example")
	agent := oxbow.WithSource(t.Context(), oxbow.Source{
		Actor:   oxbow.Agent,
		Ref:     "session:claude/" + id,
		Claimed: oxbow.Claim{Client: "claude"},
	})
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "door", Content: "Left."},
		oxbow.Update{Name: "port", Content: "8443"},
		oxbow.Remove{Name: "host"},
	} {
		if err := b.memory.Apply(agent, op); err != nil {
			t.Fatal(err)
		}
	}
	shown := b.get(page.RootPath+page.SessionPath("claude", id, 0), http.StatusOK)
	b.has(shown, "It wrote 1 entry, changed 1 entry, forgot 1 entry",
		`Wrote </span><a href="/ui/entries/door">`, `Changed </span><a href="/ui/entries/port">`)
	logged := b.get(page.RootPath+"log", http.StatusOK)
	b.has(logged, "A session of <bdi>claude</bdi></a>: 3 changes")
	_, rest, _ := strings.Cut(logged, page.RootPath+"log/revert?")
	query, _, _ := strings.Cut(rest, `"`)
	shown = b.get(page.RootPath+"log/revert?"+html.UnescapeString(query), http.StatusOK)
	b.submit(shown, "Undo the session", nil, http.StatusOK)
	if b.content("port") != "8080" || b.content("host") != "a.example" {
		t.Errorf("after taking back, port is %q and host %q", b.content("port"), b.content("host"))
	}
	b.has(b.get(page.RootPath+page.SessionPath("claude", id, 0), http.StatusOK), "was undone")
}
