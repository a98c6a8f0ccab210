// This file tests the page of an entry, and the forms that change it.

package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// at returns the path of an entry's page, or of a page below it.
func at(name, below string) string { return page.RootPath + page.EntryPath(name) + below }

// content returns the content of an entry.
func (b *browser) content(name string) string {
	b.t.Helper()
	e, err := b.memory.Get(b.t.Context(), name)
	if err != nil {
		b.t.Fatal(err)
	}
	return e.Content
}

// TestEdit tests that a wrong memory can be corrected with few clicks from the first page: the entry,
// Edit, Save. Unchanged fields are kept.
func TestEdit(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember(
		"deploy",
		"# Rules\n\nShip on **Fridays**.\n",
		oxbow.Label{Key: "project", Value: "harbor"},
		oxbow.Label{Key: "tag", Value: "a b"},
		oxbow.Label{Key: "tag", Value: "ops"}, oxbow.Label{Key: "ticket", Value: "7"},
		oxbow.Label{Key: "confidence", Value: "0.5"},
	)
	shown := b.get(page.RootPath, http.StatusOK)
	b.has(shown, `href="`+at("deploy", "")+`"`)
	shown = b.get(at("deploy", ""), http.StatusOK)
	b.has(shown, "<h3>Rules</h3>", "<strong>Fridays</strong>", `href="`+at("deploy", "/edit")+`"`)
	shown = b.get(at("deploy", "/edit"), http.StatusOK)
	b.has(shown, "\n# Rules\n\nShip on **Fridays**.\n</textarea>", "\na b\nops</textarea>")
	form := url.Values{"content": {"Ship on\r\nTuesdays.\r\n"}, "tags": {"a b\r\nnew\r\n"}, "confidence": {""}}
	shown = b.submit(shown, "Save", form, http.StatusOK)
	b.has(shown, "Changed &#34;deploy&#34;.", "Tuesdays.", ">Undo<")
	e, err := b.memory.Get(t.Context(), "deploy")
	if got, want := fmt.Sprint(
		e.Content,
		e.Labels,
		err,
	), "Ship on\nTuesdays.\n[project:harbor tag:\"a b\" tag:new ticket:7] <nil>"; got != want {
		t.Errorf("after the edit: %s, want %s", got, want)
	}
	b.submit(shown, "Undo", nil, http.StatusOK)
	if got := b.content("deploy"); !strings.Contains(got, "Fridays") {
		t.Errorf("after undo: %q", got)
	}
	// If the form cannot be saved, it is shown again with the values that were entered.
	shown = b.submit(
		b.get(at("deploy", "/edit"), http.StatusOK),
		"Save",
		url.Values{"content": {"Kept words."}, "confidence": {"much"}},
		http.StatusBadRequest,
	)
	b.has(shown, "Kept words.</textarea>", "is not a number from 0 to 1")
	b.has(b.submit(shown, "Save", url.Values{"content": {""}, "confidence": {""}}, http.StatusBadRequest), "forget it")
	b.has(b.post(at("deploy", "/edit"), url.Values{"content": {"x"}}, http.StatusBadRequest), "version")
	b.get(at("unknown", "/edit"), http.StatusNotFound)
}

// TestConflict tests concurrent edits: the second person sees both texts, and saving replaces only the
// version that was shown.
func TestConflict(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("n", "one\ntwo\nthree\nfour\nfive\n", oxbow.Label{Key: "tag", Value: "old"})
	first, second := b.get(at("n", "/edit"), http.StatusOK), b.get(at("n", "/edit"), http.StatusOK)
	b.submit(first, "Save", url.Values{"content": {"ONE\ntwo\nthree\nfour\nfive\n"}, "tags": {"theirs"}}, http.StatusOK)
	mine := url.Values{"content": {"one\ntwo\nthree\nfour\nFIVE\n"}, "tags": {"old"}, "project": {""},
		"related_files": {""}, "aliases": {""}, "confidence": {"0.5"}}
	shown := b.submit(second, "Save", mine, http.StatusConflict)
	b.has(
		shown,
		"The entry has changed",
		"<del>− <bdi>ONE</bdi></del>",
		"<ins>+ <bdi>FIVE</bdi></ins>",
		"four\nFIVE\n</textarea>",
		"\ntheirs</textarea>",
		"ONE\ntwo\nthree\nfour\nFIVE",
	)

	// If a third person saved the entry after the page was shown, "Replace it by my text" must not overwrite the third
	// person's text.
	b.submit(
		b.get(at("n", "/edit"), http.StatusOK),
		"Save",
		url.Values{"content": {"ONE\ntwo\ndrei\nfour\nfive\n"}},
		http.StatusOK,
	)
	again := b.submit(shown, "Replace it by my text", nil, http.StatusConflict)
	b.has(again, "drei", "The entry has changed")
	b.submit(again, "Save both", nil, http.StatusOK)
	if got := b.content("n"); got != "one\ntwo\ndrei\nfour\nFIVE\n" {
		t.Errorf("both together are %q", got)
	}
	e, _ := b.memory.Get(t.Context(), "n")
	if got := fmt.Sprint(e.Labels); got != "[confidence:0.5 tag:theirs]" {
		t.Errorf("labels are %s, want those of both", got)
	}
	shown = b.get(at("n", "/edit"), http.StatusOK)
	b.remember("other", "x")
	b.submit(b.get(at("n", ""), http.StatusOK), "Forget", nil, http.StatusOK)
	shown = b.submit(shown, "Save", url.Values{"content": {"mine all the same"}}, http.StatusConflict)
	b.submit(shown, "Remember", url.Values{"content": {"mine all the same"}}, http.StatusOK)
	if got := b.content("n"); got != "mine all the same" {
		t.Errorf("saved as a new one: %q", got)
	}
}

// TestTakenAlias tests that an edit cannot give an entry the alias of another one, and that the form
// is shown again with the input.
func TestTakenAlias(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("holder", "has the alias")
	b.remember("other", "another text")
	shown := b.get(at("holder", "/edit"), http.StatusOK)
	b.submit(shown, "Save", url.Values{"aliases": {"key"}}, http.StatusOK)
	shown = b.get(at("other", "/edit"), http.StatusOK)
	shown = b.submit(shown, "Save", url.Values{"content": {"typed words"}, "aliases": {"key"}}, http.StatusBadRequest)
	b.has(shown, "typed words</textarea>", "key</textarea>", "holder")
	b.submit(shown, "Save", url.Values{"aliases": {"free"}}, http.StatusOK)
	if got := b.content("other"); got != "typed words" {
		t.Errorf("the entry is %q, want the typed text", got)
	}
}

// TestVersions tests that each version shows its changes and can be restored.
func TestVersions(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("n", "one\n", oxbow.Label{Key: "tag", Value: "x"})
	for i, text := range []string{"two\n", "three\n"} {
		b.submit(
			b.get(at("n", "/edit"), http.StatusOK),
			"Save",
			url.Values{"content": {text}, "tags": {fmt.Sprint(i)}},
			http.StatusOK,
		)
	}
	shown := b.get(at("n", "/versions"), http.StatusOK)
	b.has(shown, "<del>− <bdi>two</bdi></del><ins>+ <bdi>three</bdi></ins>", "<del>− <bdi>tag:x</bdi></del>")
	b.has(b.get(at("n", "@1"), http.StatusOK), "one", "Current text")
	b.has(b.post(at("n", "/restore"), url.Values{"seq": {"1"}}, http.StatusOK), "<p>one</p>", "Undo")
	b.submit(b.get(at("n", ""), http.StatusOK), "Forget", nil, http.StatusOK)
	shown = b.get(at("n", ""), http.StatusNotFound)
	b.has(shown, "Forgotten by you", "<p>one</p>")
	b.submit(shown, "Restore", nil, http.StatusOK)
	if got := b.content("n"); got != "one\n" {
		t.Errorf("brought back: %q", got)
	}
	b.post(at("n", "/restore"), url.Values{"seq": {"99"}}, http.StatusNotFound)
	b.post(at("n", "/restore"), url.Values{"seq": {"x"}}, http.StatusBadRequest)
	b.get(at("unknown", "/versions"), http.StatusNotFound)

	b.remember("third", "One boat.")
	for _, text := range []string{"Two boats.", "Three boats."} {
		if err := b.memory.Apply(t.Context(), oxbow.Update{Name: "third", Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	e, err := b.memory.Get(t.Context(), "third")
	if err != nil {
		t.Fatal(err)
	}
	compared := b.get(at("third", "/versions")+fmt.Sprintf("?from=%d&to=%d", e.Version-2, e.Version), http.StatusOK)
	_, section, _ := strings.Cut(compared, `id="compared"`)
	section, _, _ = strings.Cut(section, "</section>")
	if !strings.Contains(section, "One") || !strings.Contains(section, "Three") || strings.Contains(section, "Two") {
		t.Errorf("the comparison of the first and the third version is %s", section)
	}
	b.post(at("n", "/forget"), url.Values{"version": {"1"}}, http.StatusConflict)
	b.has(b.get(at("n", "/lineage"), http.StatusOK), "No source is known")
}

// TestNew tests the page that adds an entry. If the entry is invalid or its name exists already, the page must show the
// error with the text that the person typed. An existing entry must not change.
func TestNew(t *testing.T) {
	b := open(t, auth.Permissions{})
	shown := b.get(page.RootPath+"new", http.StatusOK)
	b.has(
		b.submit(
			shown,
			"Remember",
			url.Values{"content": {"The gate closes at six."}, "project": {"harbor"}, "aliases": {"gate"}},
			http.StatusOK,
		),
		"The gate closes at six.",
		"Undo",
	)
	b.has(
		b.submit(shown, "Remember", url.Values{"name": {"gate hours"}, "content": {""}}, http.StatusBadRequest),
		"is empty",
	)
	b.submit(shown, "Remember", url.Values{"name": {"second"}, "content": {"kept"}}, http.StatusOK)
	b.has(
		b.submit(shown, "Remember", url.Values{"name": {"second"}, "content": {"lost?"}}, http.StatusConflict),
		"lost?</textarea>",
		"Choose another name",
	)
	if got := b.content("second"); got != "kept" {
		t.Errorf("an entry of that name became %q", got)
	}
}

// TestPinApprove tests that pinning and approving need one click each. Approving must fail with a conflict if the entry
// has not the version that the page showed.
func TestPinApprove(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("n", "text")
	shown := b.submit(b.get(at("n", ""), http.StatusOK), "Pin", nil, http.StatusOK)
	b.has(shown, ">pinned<")
	shown = b.submit(shown, "Unpin", nil, http.StatusOK)
	if strings.Contains(shown, ">pinned<") {
		t.Error("the entry is still pinned")
	}
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent})
	if err := b.memory.Apply(
		ctx,
		oxbow.Add{
			Name:    "held",
			Content: "from a page",
			Labels:  []oxbow.Label{{Key: oxbow.LabelTaint, Value: "WebFetch"}},
		},
	); err != nil {
		t.Fatal(err)
	}
	shown = b.get(at("held", ""), http.StatusOK)
	b.has(shown, "Agents are not shown this entry unasked", "WebFetch")
	b.submit(shown, "Approve", url.Values{"version": {"1"}}, http.StatusConflict)
	shown = b.submit(shown, "Approve", nil, http.StatusOK)
	if strings.Contains(shown, "No model is shown") {
		t.Error("the entry is still held back")
	}
	b.post(at("unknown", "/approve"), nil, http.StatusNotFound)
	b.post(at("unknown", "/pin"), nil, http.StatusNotFound)
}

// TestReadOnly tests that a browser without write permission gets no forms, and that the server refuses
// forged forms.
func TestReadOnly(t *testing.T) {
	b := open(t, auth.Permissions{ReadOnly: true, Projects: []string{"harbor"}})
	b.remember("mine", "text", oxbow.Label{Key: "project", Value: "harbor"})
	b.remember("other", "secret words", oxbow.Label{Key: "project", Value: "attic"})
	if shown := b.get(at("mine", ""), http.StatusOK); strings.Contains(shown, "/forget") ||
		strings.Contains(shown, "/edit") {
		t.Errorf("a browser that may not write has forms:\n%s", shown)
	}
	for _, below := range []string{"/edit", "/pin", "/forget", "/restore", "/redact"} {
		b.post(at("mine", below), url.Values{"version": {"1"}, "seq": {"1"}, "content": {"x"}}, http.StatusForbidden)
		shown := b.post(at("other", below), url.Values{"version": {"2"}, "seq": {"2"}, "content": {"x"}}, 0)
		if strings.Contains(shown, "secret words") {
			t.Errorf("%s shows an entry of another project", below)
		}
	}
	for _, below := range []string{"", "/raw", "/edit", "/versions", "/lineage", "/redact", "@2"} {
		if shown := b.get(at("other", below), 0); strings.Contains(shown, "secret words") {
			t.Errorf("%s shows an entry of another project", below)
		}
	}
	if got := b.content("mine"); got != "text" {
		t.Errorf("the entry became %q", got)
	}
}
