// This file tests the section of a web page that shows which texts of a person were changed by agents.

package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// overwrite adds a note with the text own by a person, and then updates it to the text now by an agent. If now is
// empty, the agent removes the note.
func (b *browser) overwrite(name, own, now string) {
	b.t.Helper()
	person := oxbow.WithSource(b.t.Context(), oxbow.Source{Actor: oxbow.Person})
	agent := oxbow.WithSource(
		b.t.Context(),
		oxbow.Source{Actor: oxbow.Agent, Ref: "session:claude/s1", Claimed: oxbow.Claim{Agent: "claude"}},
	)
	if err := b.memory.Apply(person, oxbow.Add{Name: name, Content: own}); err != nil {
		b.t.Fatal(err)
	}
	var op oxbow.Op = oxbow.Update{Name: name, Content: now}
	if now == "" {
		op = oxbow.Remove{Name: name}
	}
	if err := b.memory.Apply(agent, op); err != nil {
		b.t.Fatal(err)
	}
}

func TestChanged(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.overwrite("deploy", "We ship on Fridays.", "We ship on Mondays.")
	for _, path := range []string{page.RootPath, page.RootPath + "inbox"} {
		shown := b.get(path, http.StatusOK)
		b.has(
			shown,
			"Agents changed 1 note that you wrote",
			"<del>",
			"We ship on Fridays.",
			"<ins>",
			"We ship on Mondays.",
			"<bdi>claude</bdi>",
			"/ui/sessions/claude/s1",
			">Bring back<",
			">Keep<",
		)
		if err := sound(shown); err != nil {
			t.Error(err)
		}
	}
	content := func(name string) string {
		e, err := b.memory.Get(t.Context(), name)
		if err != nil {
			return err.Error()
		}
		return e.Content
	}
	shown := b.submit(b.get(page.RootPath, http.StatusOK), "Bring back", nil, http.StatusOK)
	b.has(shown, "Brought back")
	if strings.Contains(shown, "Agents changed") || content("deploy") != "We ship on Fridays." {
		t.Errorf("brought back, the entry says %q:\n%s", content("deploy"), shown)
	}
	shown = b.submit(shown, "Undo", nil, http.StatusOK)
	shown = b.submit(shown, "Keep", nil, http.StatusOK)
	if strings.Contains(shown, "Agents changed") || content("deploy") != "We ship on Mondays." {
		t.Errorf("kept, the entry says %q:\n%s", content("deploy"), shown)
	}
	b.post(page.RootPath+"changed/keep", url.Values{"name": {"deploy"}}, http.StatusNotFound)

	b.overwrite("gone", "Only in my words.", "")
	shown = b.get(page.RootPath, http.StatusOK)
	b.has(shown, "Only in my words.", "forgotten")
	b.submit(shown, "Bring back", nil, http.StatusOK)
	if content("gone") != "Only in my words." {
		t.Errorf("brought back, the entry says %q", content("gone"))
	}
}

// TestChangedRights tests the pages that show what an agent has changed in a person's entries. Only a person may decide
// whether to keep such a change. A browser with a token acts for an agent: it sees the changes but must not decide. The
// same is true for a read-only browser.
func TestChangedRights(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.overwrite("deploy", "We ship on Fridays.", "We ship on Mondays.")
	b.token()
	shown := b.get(page.RootPath+"inbox", http.StatusOK)
	b.has(shown, "We ship on Fridays.", "Only a person")
	if strings.Contains(shown, ">Keep<") {
		t.Error("an agent is offered to keep its change")
	}
	for _, path := range []string{"keep", "restore"} {
		b.has(
			b.post(page.RootPath+"changed/"+path, url.Values{"name": {"deploy"}}, http.StatusBadRequest),
			"Only a person",
		)
	}
	b = open(t, auth.Permissions{ReadOnly: true})
	b.overwrite("deploy", "We ship on Fridays.", "We ship on Mondays.")
	if shown := b.get(page.RootPath, http.StatusOK); strings.Contains(shown, ">Keep<") ||
		!strings.Contains(shown, "We ship on Fridays.") {
		t.Errorf("a reader sees:\n%s", shown)
	}
	b.post(page.RootPath+"changed/keep", url.Values{"name": {"deploy"}}, http.StatusForbidden)
}

// TestChangedEntry tests the page of an entry that an agent changed after a person wrote it. The page must show the
// change and the buttons "Bring back" and "Keep" until the person clicks one of the buttons.
func TestChangedEntry(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.overwrite("deploy", "We ship on Fridays.", "We ship on Mondays.")
	b.remember("other", "Of nobody else.")
	shown := b.get(at("deploy", ""), http.StatusOK)
	b.has(shown, "An agent changed what you wrote", "<del>", "We ship on Fridays.", ">Bring back<", ">Keep<",
		`href="/ui/sessions/claude/s1">the conversation`)
	if err := sound(shown); err != nil {
		t.Error(err)
	}
	shown = b.submit(shown, "Keep", nil, http.StatusOK)
	for _, page := range []string{shown, b.get(at("other", ""), http.StatusOK)} {
		if strings.Contains(page, "An agent changed") {
			t.Error("a page shows a change that does not wait for a decision")
		}
	}
}
