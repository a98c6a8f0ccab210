// This file tests the inbox: approving, editing and rejecting.

package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// hold adds an entry by an agent that has read the web, so that it must be approved.
func (b *browser) hold(name, content string) {
	b.t.Helper()
	ctx := oxbow.WithSource(b.t.Context(), oxbow.Source{Actor: oxbow.Agent})
	if err := b.memory.Apply(
		ctx,
		oxbow.Add{
			Name:    name,
			Content: content,
			Labels:  []oxbow.Label{{Key: oxbow.LabelTaint, Value: "WebFetch https://evil.example/" + name}},
		},
	); err != nil {
		b.t.Fatal(err)
	}
}

func TestInboxProposals(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.has(b.get(page.RootPath+"inbox", http.StatusOK), "Nothing waits for a decision.")
	events := talk("s1", "harbor", "From now on, always run the linter before a commit.", "Done.")
	events = append(events, talk("s2", "harbor", "Remember that the staging port is 8443.", "Noted.")...)
	b.archived(events...)
	shown := b.get(page.RootPath+"inbox", http.StatusOK)
	b.has(
		shown,
		"run the linter",
		"staging port is 8443",
		"you asked to remember it",
		"/ui/sessions/claude/s1?turn=1#turn-1",
		`data-key="a"`,
		`data-keys`,
	)

	shown = b.submit(shown, "Approve", nil, http.StatusOK)
	b.has(shown, "Added", "Undo")
	if n := b.entries(); n != 1 {
		t.Errorf("%d entries after one approval", n)
	}
	shown = b.submit(shown, "Undo", nil, http.StatusOK)
	if n := b.entries(); n != 0 {
		t.Errorf("%d entries after undo", n)
	}
	b.has(shown, "run the linter", "staging port is 8443", "undone") // the entry waits for approval again
	if strings.Count(shown, ">Reject<") != 2 {
		t.Errorf("not both can be rejected:\n%s", shown)
	}
	shown = b.submit(
		shown,
		"Approve",
		url.Values{"content": {"Staging listens on 9443."}, "name": {"staging"}},
		http.StatusOK,
	)
	if e, err := b.memory.Get(t.Context(), "staging"); err != nil || e.Content != "Staging listens on 9443." {
		t.Errorf("the edited text: %+v, %v", e, err)
	}
	b.has(shown, "staging port is 8443")
	b.has(
		b.submit(shown, "Reject", url.Values{"content": {"Edited, and rejected."}}, http.StatusBadRequest),
		"Edited, and rejected.",
		"nothing was done",
	)
	shown = b.submit(shown, "Reject", nil, http.StatusOK)
	b.has(shown, "Nothing waits for a decision.", "Rejected 1 proposal")
	shown = b.submit(shown, "Undo", nil, http.StatusOK)
	b.has(shown, "staging port is 8443")
	b.has(b.submit(shown, "Reject", nil, http.StatusOK), "Nothing waits for a decision.")
	b.has(b.get(page.RootPath+"inbox?all=1", http.StatusOK), "accepted")
	b.get(page.RootPath+"inbox/ffff", http.StatusNotFound)
}

func (b *browser) entries() (n int) {
	b.t.Helper()
	for _, err := range b.memory.Entries(b.t.Context(), oxbow.Filter{}) {
		if err != nil {
			b.t.Fatal(err)
		}
		n++
	}
	return n
}

func TestInboxReject(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.archived(talk(
		"s1",
		"harbor",
		"From now on, always run the linter before a commit. Remember that the staging port is 8443.",
		"Done.",
	)...)
	shown := b.get(page.RootPath+"inbox", http.StatusOK)
	if strings.Count(shown, ">Reject<") != 2 {
		t.Fatalf("not two proposals:\n%s", shown)
	}
	shown = b.submit(shown, "Reject all 2 of this session", nil, http.StatusOK)
	b.has(shown, "Rejected 2 proposals", "Nothing waits for a decision.")
	b.has(b.submit(b.get(page.RootPath+"inbox?all=1", http.StatusOK), "Approve", nil, http.StatusOK), "Added")
}

// TestInboxPlaceOf tests that a proposal can replace the entry that it corrects.
func TestInboxPlaceOf(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("ports", "The staging port is 8080.")
	b.archived(talk("s1", "harbor", "Remember that the staging port is 8443.", "Done.")...)
	shown := b.get(page.RootPath+"inbox", http.StatusOK)
	at := attribute(shown[strings.Index(shown, `<h3><a `)+4:], "href")
	shown = b.get(at, http.StatusOK)
	b.has(shown, "The whole prompt", "<del>", "staging port is <b>8080</b>.", "<ins>")
	b.submit(shown, "Replace this entry", nil, http.StatusOK)
	if e, err := b.memory.Get(t.Context(), "ports"); err != nil || !strings.Contains(e.Content, "8443") {
		t.Errorf("the entry is %+v, %v", e, err)
	}
}

func TestInboxHeld(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.hold("one", "Ship on Fridays.")
	b.hold("two", "Old text.")
	b.hold("three", "Third.")
	shown := b.get(page.RootPath+"inbox", http.StatusOK)
	b.has(shown, "held back", "the agent had read", "WebFetch https://evil.example/one", "Ship on Fridays.")
	trust := func(name string) oxbow.Trust {
		e, err := b.memory.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return e.Trust()
	}
	shown = b.post(page.RootPath+"inbox/approve", url.Values{"name": {"one"}}, http.StatusOK)
	b.has(shown, "Relabelled")
	if trust("one") == oxbow.TrustTainted {
		t.Error("approved, and still held back")
	}
	b.submit(shown, "Undo", nil, http.StatusOK)
	if trust("one") != oxbow.TrustTainted {
		t.Error("undone, and not held back")
	}
	b.post(page.RootPath+"inbox/approve", url.Values{"name": {"two"}, "content": {"New text."}}, http.StatusOK)
	if e, _ := b.memory.Get(t.Context(), "two"); e.Content != "New text." || trust("two") == oxbow.TrustTainted {
		t.Errorf("the edited entry is %+v", e)
	}
	shown = b.post(page.RootPath+"inbox/forget", url.Values{"name": {"three"}}, http.StatusOK)
	b.has(b.submit(shown, "Undo", nil, http.StatusOK), "Third.")
	b.post(page.RootPath+"inbox/approve", url.Values{"name": {"nothing"}}, http.StatusNotFound)
}

// TestInboxApproveKeepsEdits tests that the button that approves a row also saves the text that was
// typed into it.
func TestInboxApproveKeepsEdits(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.archived(talk("s1", "harbor", "Remember that the staging port is 8443.", "Noted.")...)
	b.hold("one", "Ship on Fridays.")
	shown := b.get(page.RootPath+"inbox", http.StatusOK)
	if n := strings.Count(shown, ">Approve<"); n != 2 {
		t.Errorf("two rows have %d buttons that approve", n)
	}
	shown = b.submit(shown, "Approve", url.Values{"content": {"EDITED\r\nTEXT"}}, http.StatusOK)
	if e, err := b.memory.Get(t.Context(), "EDITED"); err != nil || e.Content != "EDITED\nTEXT" {
		t.Errorf("the proposal became %+v, %v", e, err)
	}
	b.has(b.submit(shown, "Approve", url.Values{"content": {" "}}, http.StatusBadRequest), "The text is empty")

	// If another writer was faster, neither the typed text nor the stored text is lost.
	if err := b.memory.Apply(
		t.Context(),
		oxbow.Relabel{
			Name:   "one",
			Labels: []oxbow.Label{{Key: oxbow.LabelTaint, Value: "WebFetch https://other.example"}},
		},
	); err != nil {
		t.Fatal(err)
	}
	conflict := b.submit(shown, "Approve", url.Values{"content": {"Ship on Mondays."}}, http.StatusConflict)
	b.has(conflict, "Ship on Mondays.", "<del>", "Fridays")
	if e, _ := b.memory.Get(t.Context(), "one"); e.Content != "Ship on Fridays." || e.MayShow(oxbow.Unasked) {
		t.Errorf("after a conflict the entry is %+v", e)
	}
	b.submit(conflict, "Approve", nil, http.StatusOK)
	if e, _ := b.memory.Get(t.Context(), "one"); e.Content != "Ship on Mondays." || !e.MayShow(oxbow.Unasked) {
		t.Errorf("the edited entry is %+v", e)
	}
}

// TestInboxRights tests the pages of the inbox, which lists entries that are held until a person decides about them. A
// browser that signed in with an agent's token must not offer or accept an approval, and must show the reason. A
// read-only browser must not offer or accept any decision.
func TestInboxRights(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.hold("one", "Ship on Fridays.")
	b.token()
	shown := b.get(page.RootPath+"inbox", http.StatusOK)
	b.has(shown, "Only a person may approve")
	if strings.Contains(shown, ">Approve<") {
		t.Error("an agent is offered to approve")
	}
	b.has(
		b.post(page.RootPath+"inbox/approve", url.Values{"name": {"one"}, "content": {"mine"}}, http.StatusBadRequest),
		"Only a person approves",
	)
	if e, _ := b.memory.Get(t.Context(), "one"); e.Content != "Ship on Fridays." {
		t.Errorf("a refused approval changed the text: %+v", e)
	}

	b = open(t, auth.Permissions{ReadOnly: true})
	b.hold("one", "Ship on Fridays.")
	a := b.archived(talk("s1", "harbor", "Remember that the staging port is 8443.", "Done.")...)
	shown = b.get(page.RootPath+"inbox", http.StatusOK)
	b.has(shown, "This browser may only read")
	if strings.Contains(shown, ">Reject<") {
		t.Error("a reader is offered to reject")
	}
	for path, form := range map[string]url.Values{"approve": {"name": {"one"}}, "forget": {"name": {"one"}}} {
		b.post(page.RootPath+"inbox/"+path, form, http.StatusForbidden)
	}
	if _, err := b.memory.Get(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	_ = a
}

// TestInboxBound tests that a browser that is bound to a project shows nothing of other projects.
func TestInboxBound(t *testing.T) {
	b := bound(t)
	b.hold("foreign", "MARKER in a held entry.")
	b.archived(append(
		talk("s1", "harbor", "Remember that the harbor port is 8443.", "Done."),
		talk("s2", "lantern", "Remember that the MARKER is 7.", "Done.")...,
	)...)
	for _, path := range []string{"inbox", "inbox?all=1"} {
		if shown := b.get(page.RootPath+path, http.StatusOK); strings.Contains(shown, "MARKER") {
			t.Errorf("%s shows another project:\n%s", path, shown)
		}
	}
}

func TestInboxHostile(t *testing.T) {
	plain, b := open(t, auth.Permissions{}), open(t, auth.Permissions{})
	skeletons := map[*browser]string{}
	for br, text := range map[*browser]string{plain: strings.Repeat("calm ", 12) + "\nfence\ncalm", b: hostile} {
		br.hold("one", text+" text")
		br.archived(talk("s1", "harbor", "Remember that the name is "+text, "x")...)
		shown := br.get(page.RootPath+"inbox", http.StatusOK)
		br.harmless(shown)
		skeletons[br] = skeleton(shown)
	}
	if skeletons[plain] != skeletons[b] {
		t.Errorf("the page is built otherwise:\n%s\n%s", skeletons[plain], skeletons[b])
	}
}

// TestInboxSets tests that the entries of one session are decided about together, that rejecting them
// can be undone, and that a version which the page did not show stays.
func TestInboxSets(t *testing.T) {
	b := open(t, auth.Permissions{})
	agent := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent, Ref: "session:claude/s1"})
	taint := []oxbow.Label{{Key: oxbow.LabelTaint, Value: "WebFetch https://evil.example"}}
	for _, name := range []string{"one", "two", "three"} {
		add := oxbow.Add{Name: name, Content: strings.Repeat("A line of "+name+".\n", 40), Labels: taint}
		if err := b.memory.Apply(agent, add); err != nil {
			t.Fatal(err)
		}
	}
	b.hold("other", "Of nobody known.")
	shown := b.get(page.RootPath+"inbox", http.StatusOK)
	b.has(shown, "3 notes of <a href=\"/ui/sessions/claude/s1\">", "1 note from other sources", "The whole text",
		"/ui/inbox/held/one?row=")
	if n := strings.Count(shown, "A line of one."); n != 6 {
		t.Errorf("the page shows %d lines of a text, want 6", n)
	}
	whole := b.get(page.RootPath+"inbox/held/one", http.StatusOK)
	if n := strings.Count(whole, "A line of one."); n != 80 { // once as text, and once in the field for editing
		t.Errorf("the page of a held entry shows %d lines", n)
	}
	b.get(page.RootPath+"inbox/held/unknown", http.StatusNotFound)

	newer := oxbow.Update{Name: "two", Content: "Written after the page.", Labels: taint}
	if err := b.memory.Apply(agent, newer); err != nil {
		t.Fatal(err)
	}
	b.submit(shown, "Approve all 3", nil, http.StatusOK)
	for name, want := range map[string]bool{"one": true, "two": false, "three": true} {
		if e, err := b.memory.Get(t.Context(), name); err != nil || e.MayShow(oxbow.Unasked) != want {
			t.Errorf("%s is approved: %v, want %v (%v)", name, e.MayShow(oxbow.Unasked), want, err)
		}
	}
	agent = oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent, Ref: "session:claude/s2"})
	for _, name := range []string{"four", "five"} {
		if err := b.memory.Apply(agent, oxbow.Add{Name: name, Content: "Of " + name, Labels: taint}); err != nil {
			t.Fatal(err)
		}
	}
	rejected := b.submit(b.get(page.RootPath+"inbox", http.StatusOK), "Reject all 2", nil, http.StatusOK)
	if n := b.entries(); n != 4 {
		t.Errorf("%d entries after rejecting a group", n)
	}
	b.submit(rejected, "Undo", nil, http.StatusOK)
	if n := b.entries(); n != 6 {
		t.Errorf("%d entries after undo", n)
	}
	b.post(page.RootPath+"inbox/approve-set", url.Values{"set": {"session:claude/s1"}}, http.StatusBadRequest)
	b.post(page.RootPath+"inbox/forget-set", url.Values{"set": {"unknown"}, "version": {"9"}}, http.StatusBadRequest)
}

// TestInboxProposalsTogether tests that all proposals can be approved at once.
func TestInboxProposalsTogether(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.archived(append(talk("s1", "harbor", "From now on, always run the linter before a commit.", "Done."),
		talk("s2", "harbor", "Remember that the staging port is 8443.", "Noted.")...)...)
	shown := b.submit(b.get(page.RootPath+"inbox", http.StatusOK), "Approve all 2", nil, http.StatusOK)
	b.has(shown, "2 changes", "Nothing waits for a decision.")
	if n := b.entries(); n != 2 {
		t.Errorf("%d entries, want 2", n)
	}
	b.submit(shown, "Undo", nil, http.StatusOK)
	if n := b.entries(); n != 0 {
		t.Errorf("%d entries after undo", n)
	}
}

// TestInboxSetsKeepTheirSource tests that an entry stays in the group of the session or import that wrote
// its text, after a person has labelled it, or has rejected it and undone this.
func TestInboxSetsKeepTheirSource(t *testing.T) {
	b := open(t, auth.Permissions{})
	agent := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent, Ref: "session:claude/s1"})
	taint := []oxbow.Label{{Key: oxbow.LabelTaint, Value: "WebFetch https://evil.example"}}
	source := oxbow.Source{Actor: oxbow.Imported, Session: "run"}.WithOrigin("book.jsonl")
	imported := oxbow.WithSource(t.Context(), source)
	for _, name := range []string{"one", "two", "three"} {
		note := oxbow.Add{Name: name, Content: "A line of " + name, Labels: taint}
		if err := b.memory.Apply(agent, note); err != nil {
			t.Fatal(err)
		}
		add := oxbow.Add{Name: "chapter " + name, Content: "A chapter.",
			Labels: []oxbow.Label{{Key: oxbow.LabelUnvouched, Value: oxbow.UnvouchedImport}}}
		if err := b.memory.Apply(imported, add); err != nil {
			t.Fatal(err)
		}
	}
	groups := []string{"3 notes of <a href=\"/ui/sessions/claude/s1\">", "3 imported notes from book.jsonl"}
	for _, name := range []string{"two", "chapter two"} {
		b.post(page.RootPath+"find/label", url.Values{"name": {name}, "label": {"tag:read"}}, http.StatusOK)
		if e, err := b.memory.Get(t.Context(), name); err != nil || !slices.Contains(e.Values("tag"), "read") {
			t.Errorf("the labelled entry is %+v, %v", e, err)
		}
		b.has(b.get(page.RootPath+"inbox", http.StatusOK), groups...)
		rejected := b.post(page.RootPath+"inbox/forget", url.Values{"name": {name}}, http.StatusOK)
		b.submit(rejected, "Undo", nil, http.StatusOK)
		b.has(b.get(page.RootPath+"inbox", http.StatusOK), groups...)
	}
	b.submit(b.get(page.RootPath+"inbox", http.StatusOK), "Approve all", nil, http.StatusOK)
	if e, err := b.memory.Get(t.Context(), "chapter two"); err != nil || !e.MayShow(oxbow.Unasked) {
		t.Errorf("after approving the import its labelled entry is %+v, %v", e, err)
	}
}
