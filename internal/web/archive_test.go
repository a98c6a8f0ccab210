// This file provides an archive of sessions for the tests of pages, and tests that texts with markup are escaped.

package web

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// hostile is a text that would change a page if it were not escaped.
const hostile = "</pre></textarea><script>alert(1)</script><img src=x onerror=alert(2)>\n```\n\u202eesrever ' " +
	"onclick=x \" <!-- ]]>"

// archived gives the server an archive with these events. It must be called before the memory is used.
func (b *browser) archived(events ...session.Event) *session.Archive {
	b.t.Helper()
	m := storetest.Open(b.t, "sessions.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time {
		return clock
	}})
	a := &session.Archive{Memory: m, FindProject: func(dir string) (string, string) {
		return strings.TrimPrefix(dir, "/src/"), dir
	}}
	if len(events) > 0 {
		if _, err := a.AddEvents(b.t.Context(), events); err != nil {
			b.t.Fatal(err)
		}
	}
	b.views.Workspace.Sessions = func(context.Context) (*session.Archive, error) { return a, nil }
	b.enter()
	return a
}

// enter signs in again, so that changes of the workspace take effect.
func (b *browser) enter() {
	b.t.Helper()
	link, err := b.server.SignInLink("")
	if err != nil {
		b.t.Fatal(err)
	}
	b.client = b.fresh()
	b.get(link, http.StatusOK)
}

// talk returns the events of a session in a project, with one prompt and one answer.
func talk(id, project, prompt, answer string) []session.Event {
	at := clock.Add(-time.Hour)
	e := session.Event{Client: "claude", Session: id, TurnID: id + "-1", Time: at, Dir: "/src/" + project}
	ask, say := e, e
	ask.Kind, ask.Text = session.KindPrompt, prompt
	say.Kind = session.KindText
	say.Text = answer
	say.Time = at.Add(time.Second)
	return []session.Event{ask, say}
}

var elements = regexp.MustCompile(`<(/?[a-z0-9]+)`)

// skeleton returns the elements of a page, without its text.
func skeleton(shown string) string {
	return strings.Join(elements.FindAllString(shown, -1), "")
}

// harmless fails the test if the hostile text appears as markup, or reverses the direction of the text.
func (b *browser) harmless(shown string) {
	b.t.Helper()
	// remove text fields, which contain the text unchanged
	shown = regexp.MustCompile(`(?s)<textarea.*?</textarea>`).ReplaceAllString(shown, "")
	for _, bad := range []string{"<script>alert", "<img", "\u202e", "' onclick=x \" <!--"} {
		if strings.Contains(shown, bad) {
			b.t.Errorf("a hostile text came through: %q in\n%s", bad, shown)
		}
	}
}

// token signs in with the server's token, which belongs to an agent.
func (b *browser) token() {
	b.t.Helper()
	b.client = b.fresh()
	b.post(page.RootPath+"enter", map[string][]string{"token": {token}}, http.StatusOK)
}

// bound returns a browser that only sees the entries of one project.
func bound(t *testing.T) *browser {
	return open(t, auth.Permissions{Projects: []string{"harbor"}})
}
