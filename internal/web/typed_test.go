// This file tests that no form loses the input of a person.

package web

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

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
	for _, rt := range routes {
		if rt.method != http.MethodPost {
			continue
		}
		forms++
		path := page.Root + strings.NewReplacer("{name}", "ghost", "{client}", "claude", "{session}", "none").Replace(
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

// TestNoteOfTurnComesBack tests that the form for a note about a turn is shown again with its input.
func TestNoteOfTurnComesBack(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("taken", "What it says.")
	b.archived(talk("s1", "harbor", "Which port?", "8443.")...)
	form := b.get(page.Root+"sessions/claude/s1/note?turn=1", http.StatusOK)
	shown := b.submit(
		form,
		"Remember it",
		url.Values{"name": {"taken"}, "content": {"My words."}, "tags": {"port, mine"}},
		http.StatusBadRequest,
	)
	b.has(shown, "is that of another entry", "My words.", "port, mine", "Remember it")
	b.has(b.submit(shown, "Remember it", url.Values{"name": {"port"}}, http.StatusOK), "Added")
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
	b.post(page.Root+"enter", url.Values{"token": {token}}, http.StatusOK)
	shown := b.get(page.Root+"inbox", http.StatusOK)
	b.has(shown, "Only a person approves what is held back, accepts proposals")
	if strings.Contains(shown, ">Approve<") {
		t.Error("the inbox offers to approve")
	}
	_, rest, _ := strings.Cut(shown, page.Root+"inbox/")
	id, _, _ := strings.Cut(rest, `"`)
	edited := url.Values{"id": {id}, "name": {"held"}, "version": {"2"}, "content": {"Edited by a program."}}
	for path, status := range map[string]int{"inbox/accept": 400, "inbox/drop": 400, "inbox/approve": 400,
		"entries/held/approve": 400, "entries/typed/redact": 403} {
		b.post(page.Root+path, edited, status)
	}
	if e, err := b.memory.Get(t.Context(), "held"); err != nil || e.Content != "What is held." {
		t.Errorf("the entry that is held back is %+v, %v", e, err)
	}
	if n := b.entries(); n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
}

// TestSessionTakesBack tests that the link on a session's page undoes the session's changes, whatever
// the name of the session is.
func TestSessionTakesBack(t *testing.T) {
	b := open(t, auth.Permissions{})
	const id = "a b&c=%2F+ü#1"
	b.archived(talk(id, "harbor", "Which port?", "8443.")...)
	shown := b.get(page.Root+page.SessionPath("claude", id, 0), http.StatusOK)
	b.has(shown, "Take back what it wrote…", page.Root+"log/revert?"+url.Values{"session": {"claude/" + id}}.Encode())
	b.has(b.get(page.Root+"log/revert?"+url.Values{"session": {"claude/" +
		id}}.Encode(), http.StatusOK), "No change is of this session")
}
