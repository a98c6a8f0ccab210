// This file sets up a server for the tests, and sends requests to it. The home of the server contains notes, an
// archive of sessions, profiles and a working tree.

package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// The word markA occurs only in texts of project a, and the word markB only in texts of project b. A response to a
// client whose token is for one project must not contain the word of the other project.
const (
	markA = "quokkaalpha"
	markB = "wombatbeta"
)

// home is a server together with the memory that it serves.
type home struct {
	t      testing.TB
	notes  *oxbow.Memory
	path   string // path of the notes
	server *httptest.Server
	views  *rights.Options
}

func newHome(t testing.TB) *home {
	t.Helper()
	dir := t.TempDir()
	h := &home{t: t, path: filepath.Join(dir, "memory.oxbow")}
	h.notes = storetest.Open(t, h.path, nil)
	archive := &session.Archive{Memory: storetest.Open(t, filepath.Join(dir, session.StoreFile), nil),
		FindProject: func(dir string) (string, string) { return filepath.Base(dir), dir }}
	h.fill(archive)
	tree, profiles := vfs.NewMem(), vfs.NewMem()
	h.must(vfs.WriteFile(tree, "a.go", []byte("one\ntwo of them\nthree\n"), 0o644))
	h.must(profiles.MkdirAll("profiles", 0o755))
	h.must(vfs.WriteFile(
		profiles,
		"profiles/alpha.yaml",
		[]byte("description: What alpha has.\ninclude: {projects: [a]}\n"),
		0o644,
	))
	book, err := annotate.Open(tree, nil)
	h.must(err)
	set := &profile.Set{Places: []profile.Place{{FS: profiles, Dirs: profile.HomeDirs}}}
	h.views = &rights.Options{Profiles: set, Workspace: &verb.Workspace{
		Open:        func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return h.notes, nil },
		Sessions:    func(context.Context) (*session.Archive, error) { return archive, nil },
		Kept:        func(context.Context) (*session.Archive, error) { return archive, nil },
		Annotations: func(context.Context) (verb.WorkingTree, error) { return book, nil },
		Project:     func() string { return "a" },
		Loader: func() (*handoff.Loader, error) {
			return &handoff.Loader{Profiles: set, Skills: &skill.Set{}}, nil
		},
		Dir:   dir,
		Place: func() (verb.Place, error) { return verb.Place{Home: dir, StorePath: h.path}, nil },
		Host: &verb.Host{Getenv: func(string) string { return "" }, GOOS: "linux",
			FileSystem: func(string) (sysinfo.FileSystem, error) { return sysinfo.FileSystem{}, nil }},
	}}
	return h.again()
}

// again starts a new server for the same memory, like after a restart.
func (h *home) again() *home {
	h.server = httptest.NewServer(New(h.views, nil).Handler(auth.RequestGuard{Tokens: auth.Tokens{
		auth.NewToken("all", "all", auth.Permissions{}),
		auth.NewToken("a", "a", auth.Permissions{Projects: []string{"a"}}),
		auth.NewToken("b", "b", auth.Permissions{Projects: []string{"b"}}),
		auth.NewToken("reads", "reads", auth.Permissions{ReadOnly: true}),
	}}))
	h.t.Cleanup(h.server.Close)
	return h
}

func (h *home) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// fill writes notes of two projects, and one session of each project.
func (h *home) fill(archive *session.Archive) {
	h.t.Helper()
	var events []session.Event
	for i, p := range []struct{ project, mark string }{{"a", markA}, {"b", markB}} {
		labels := []oxbow.Label{{Key: oxbow.LabelProject, Value: p.project}, {Key: oxbow.LabelTag, Value: p.mark +
			"tag"}}
		h.must(h.notes.Apply(h.t.Context(),
			oxbow.Add{Name: "style " + p.mark, Content: "Tabs and no spaces, says " + p.mark +
				".", Aliases: []string{p.mark + "alias"}, Labels: labels},
			oxbow.Add{Name: "dir/" + p.mark, Content: "The crane of " + p.mark +
				" turns to the left.\n\nIt is green.", Labels: labels}))
		h.must(h.notes.Apply(h.t.Context(), oxbow.Update{Name: "dir/" + p.mark, Content: "The crane of " + p.mark +
			" turns to the right.", Labels: labels}))
		at := time.Date(2026, 3, 2, 9, i, 0, 0, time.UTC)
		events = append(events,
			session.Event{Client: "claude", Session: "s-" +
				p.mark, Kind: session.KindPrompt, TurnID: "1", Time: at, Dir: "/" +
				p.project, Text: "Always use the lift of " + p.mark + ", never the stairs. Remember that."},
			session.Event{Client: "claude", Session: "s-" +
				p.mark, Kind: session.KindInjection, TurnID: "1", ID: "i1", Time: at, Text: "note " + p.mark,
				Injection: &session.Injection{
					HookEvent: "prompt",
					ShownEntries: []session.ShownEntry{{SourceKind: "notes", Name: "style " +
						p.mark, Version: 1}},
				}})
	}
	_, err := archive.AddEvents(h.t.Context(), events)
	h.must(err)
}

// reply is the response to a request.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request. target is a path below /api/v1, or a complete path. header contains names and values in turn.
func (h *home) send(token, method, target, body string, header ...string) reply {
	h.t.Helper()
	r, err := h.try(token, method, target, body, header...)
	h.must(err)
	return r
}

func (h *home) try(token, method, target, body string, header ...string) (reply, error) {
	if !strings.HasPrefix(target, basePath) && target != "/openapi.json" {
		target = basePath + target
	}
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.server.URL+target, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := h.server.Client().Do(r)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(b)}, err
}

// want fails the test unless the response has this status and contains these texts.
func (h *home) want(got reply, status int, holds ...string) reply {
	h.t.Helper()
	if got.status != status {
		h.t.Errorf("the status is %d, want %d: %s", got.status, status, got.body)
	}
	for _, s := range holds {
		if !strings.Contains(got.body, s) {
			h.t.Errorf("the answer does not hold %q: %s", s, got.body)
		}
	}
	return got
}

// get returns a member of the JSON response by its path.
func (r reply) get(t testing.TB, path ...any) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader([]byte(r.body)))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("there is no %v: %s", path, r.body)
			}
			v = m[p]
		case int:
			l, ok := v.([]any)
			if !ok || len(l) <= p {
				t.Fatalf("there is no %v: %s", path, r.body)
			}
			v = l[p]
		}
	}
	return v
}

func object(v map[string]any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return string(b)
}
