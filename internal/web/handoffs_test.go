// This file tests the pages of profiles, handoffs and annotations.

package web

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

func TestProfiles(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.profiled(nil)
	b.has(b.get(page.RootPath+"profiles", http.StatusOK), "There are no profiles yet.")
	b.profiled(map[string]string{
		"dev.yaml": "name: dev\ndescription: " + `"Works on <b>the harbor</b>"` +
			"\ninclude:\n  projects: [harbor, nowhere]\nmax_tokens: 900\n",
		"lost.yaml": "name: lost\nextends: [none]\n",
	})
	b.remember("deploy", "Ship by the blue script.", project("harbor"))
	shown := b.get(page.RootPath+"profiles", http.StatusOK)
	b.has(shown, "/ui/profiles/dev", "Works on &lt;b&gt;the harbor", "cannot be read")
	shown = b.get(page.RootPath+"profiles/dev", http.StatusOK)
	b.has(
		shown,
		"nowhere",
		"project:harbor",
		"900 tokens",
		"/ui/entries/deploy",
		"1 entry of about",
		"The text that an agent gets",
	)
	b.has(b.get(page.RootPath+"profiles/lost", http.StatusOK), "none")
	b.get(page.RootPath+"profiles/nothing", http.StatusBadRequest)

	b = bound(t)
	b.profiled(map[string]string{"dev.yaml": "name: dev\ndescription: MARKER\n"})
	for _, path := range []string{"profiles", "profiles/dev", "context?profile=dev"} {
		if shown := b.get(page.RootPath+path, http.StatusForbidden); strings.Contains(shown, "MARKER") {
			t.Errorf("%s shows a profile", path)
		}
	}
}

// hand creates a handoff and returns the path of its page.
func (b *browser) hand(project, summary string) (path string) {
	b.t.Helper()
	h, err := handoff.StoreTask(
		oxbow.WithSource(b.t.Context(), oxbow.Source{Actor: oxbow.Person}),
		b.memory,
		handoff.Task{Project: project, Summary: summary, Plan: "Then " + summary},
	)
	if err != nil {
		b.t.Fatal(err)
	}
	return page.RootPath + handoffPath(h.Name)
}

func TestHandoffs(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.has(b.get(page.RootPath+"handoffs", http.StatusOK), "No handoff is open.")
	at := b.hand("harbor", "crane work\n\nThe crane turns "+hostile)
	shown := b.get(page.RootPath+"handoffs", http.StatusOK)
	b.has(shown, "crane work", "The crane turns", "open")
	b.harmless(shown)
	shown = b.get(at, http.StatusOK)
	b.has(shown, "What the next session gets", "Then crane work")
	b.harmless(shown)
	shown = b.submit(shown, "Discard", nil, http.StatusOK)
	b.has(shown, "Forgot", "No handoff is open.")
	b.has(b.submit(shown, "Undo", nil, http.StatusOK), "crane work")
	b.get(page.RootPath+"handoffs/none", http.StatusNotFound)
	b.post(page.RootPath+"handoffs/none/drop", nil, http.StatusNotFound)

	b = bound(t)
	at = b.hand("lantern", "MARKER")
	for path, status := range map[string]int{page.RootPath + "handoffs?all=1": http.StatusOK, at: http.StatusNotFound} {
		if shown := b.get(path, status); strings.Contains(strings.ReplaceAll(shown, `handoff: MARKER`, ""), "MARKER") {
			t.Errorf("%s shows another project", path)
		}
	}
	b = open(t, auth.Permissions{ReadOnly: true})
	at = b.hand("", "x")
	if shown := b.get(at, http.StatusOK); strings.Contains(shown, "Discard") {
		t.Error("a reader is offered to drop")
	}
	b.post(at+"/drop", nil, http.StatusForbidden)
}

func TestAnnotations(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.has(b.get(page.RootPath+"annotations", http.StatusOK), "These pages were not started in a repository.")
	dir := t.TempDir()
	if err := os.WriteFile(
		filepath.Join(dir, "pool.go"),
		[]byte("package pool\n\nconst most = 8 // <b>\n"),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	s, err := annotate.OpenDir(t.Context(), dir, &annotate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b.views.Workspace.Annotations = func(context.Context) (verb.WorkingTree, error) { return s, nil }
	b.enter()
	b.has(b.get(page.RootPath+"annotations", http.StatusOK), "No line has an annotation yet.")
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Person})
	if _, err := s.Add(
		ctx,
		annotate.Record{
			File: "pool.go",
			Span: annotate.LineSpan{First: 3, Last: 3},
			Why:  "Eight is what the crane holds. " + hostile,
		},
	); err != nil {
		t.Fatal(err)
	}
	b.has(b.get(page.RootPath+"annotations", http.StatusOK), "pool.go", "1 why")
	shown := b.get(page.RootPath+"annotations?file=pool.go", http.StatusOK)
	b.has(shown, "const most = 8 // &lt;b&gt;", "Eight is what the crane holds.", "1 why in the margin")
	b.harmless(shown)
	shown = b.get(page.RootPath+"annotations?q=crane", http.StatusOK)
	b.has(shown, "Eight is what", "file=pool.go", "line 3")
	b.harmless(shown)
	for _, file := range []string{"none.go", "../etc/passwd", "/etc/passwd"} {
		res, err := b.client.Get(b.url + page.RootPath + "annotations?file=" + file)
		if err != nil || res.StatusCode < 400 || res.StatusCode >= 500 {
			t.Errorf("%s: %v, %v", file, res.StatusCode, err)
		}
		_ = res.Body.Close()
	}

	b = open(t, auth.Permissions{Kinds: []string{"note"}}) // this browser must not see the working tree
	b.views.Workspace.Annotations = func(context.Context) (verb.WorkingTree, error) { return s, nil }
	b.enter()
	for _, path := range []string{"annotations", "annotations?file=pool.go"} {
		b.has(b.get(page.RootPath+path, http.StatusOK), "These pages were not started in a repository.")
	}
}
