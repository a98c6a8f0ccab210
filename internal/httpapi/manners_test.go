// This file tests what all routes have in common: access rights, conditions, repeated requests, pages and errors.

package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
)

// TestGuard tests requests that the server refuses. A client without a token can read only the OpenAPI description. An
// unknown token gets the status 401, a request from a foreign origin gets 403, and a body that is too large gets 413.
func TestGuard(t *testing.T) {
	h := newHome(t)
	h.want(h.send("", "GET", "/openapi.json", ""), 200, `"openapi": "3.1`)
	h.want(h.send("", "GET", basePath+"/openapi.json", ""), 200)
	h.want(h.send("", "POST", "/openapi.json", ""), 405)
	got := h.want(h.send("", "GET", "/entries", ""), 401, `"code":"unauthorized"`)
	if got.header.Get("WWW-Authenticate") == "" || got.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("the headers are %v", got.header)
	}
	h.want(h.send("wrong", "GET", "/entries", ""), 401)
	h.want(h.send("all", "GET", "/entries", "", "Origin", "https://example.org"), 403, `"code":"forbidden"`)
	h.want(
		h.send("all", "POST", "/entries", object(map[string]any{"content": strings.Repeat("x", 5<<20)})),
		413,
		`"code":"too_large"`,
	)
}

// TestRights checks that a read-only token cannot write, and that a token for one project cannot ask for more.
func TestRights(t *testing.T) {
	h := newHome(t)
	h.want(h.send("reads", "GET", "/recall?q=crane", ""), 200, markA, markB)
	for _, r := range routeTable() {
		if r.verb.ReadOnly {
			continue
		}
		target := strings.NewReplacer("{name}", "x", "{session}", "x").Replace(r.path)
		h.want(h.send("reads", r.method, target, ""), 403, `"code":"read_only"`)
	}
	s, err := remote.Open(h.server.URL, "reads", nil)
	h.must(err)
	defer s.Close()
	if err := s.Apply(t.Context(), oxbow.Remove{Name: "style " + markA}); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Apply = %v, want that only reading is allowed", err)
	}
	for _, r := range routeTable() {
		if r.needsWholeMemory {
			target := strings.NewReplacer("{name}", "x", "{names}", "x", "{profile}", "x", "{id}", "x").Replace(r.path)
			h.want(h.send("a", r.method, target, ""), 403, `"code":"partial"`)
		}
	}
	if got := h.want(h.send("a", "GET", "/recall?q=crane", ""), 200, markA); strings.Contains(got.body, markB) {
		t.Errorf("the token of a sees %s", got.body)
	}
	h.want(h.send("a", "GET", "/entries/dir%2F"+markB, ""), 404)
	h.want(h.send("all", "GET", "/entries", "", profileHeader, "alpha"), 200, markA, `"total":2`)
	h.want(h.send("all", "GET", "/entries", "", profileHeader, "none"), 400)
	// The context for a token of project b contains nothing of project a.
	if got := h.want(h.send("b", "GET", "/context?project=b", ""), 200, markB); strings.Contains(got.body, markA) {
		t.Errorf("the context of b holds %s", got.body)
	}
}

// TestStamp checks that the server, and not the client, determines the recorded author of a change.
func TestStamp(t *testing.T) {
	h := newHome(t)
	h.want(
		h.send("all", "PUT", "/entries/x", `{"content":"one"}`, "User-Agent", "prog/1", sessionHeader, "secret"),
		201,
	)
	e, err := h.notes.Get(t.Context(), "x")
	if err != nil || e.Source.Door != "http" || e.Source.Actor != oxbow.Agent || e.Source.Claimed.Client != "prog/1" ||
		!regexp.MustCompile(`^all:[0-9a-f]{16}$`).MatchString(e.Source.Session) {
		t.Errorf("the source is %+v, %v", e.Source, err)
	}
}

// TestNames checks that a name with any characters can be one segment of a path.
func TestNames(t *testing.T) {
	h := newHome(t)
	for _, name := range []string{"a/b", "a//b/", "50%", "ü ñ", "a?b#c", "%2F", "x.y", "search"} {
		got := h.want(h.send("all", "PUT", "/entries/"+escapeSegment(name), `{"content":"of it"}`), 201)
		if got.get(t, "name") != name || got.header.Get("Location") != basePath+"/entries/"+escapeSegment(name) {
			t.Errorf("%q was kept as %v, at %s", name, got.get(t, "name"), got.header.Get("Location"))
		}
		if got := h.want(h.send("all", "GET", got.header.Get("Location"), ""), 200); got.get(t, "name") != name {
			t.Errorf("at the location of %q is %s", name, got.body)
		}
	}
}

// TestProblems checks the status and the message of the answers to invalid requests. It also checks the answers to
// OPTIONS and HEAD.
func TestProblems(t *testing.T) {
	h := newHome(t)
	for _, tt := range []struct {
		method, target, body string
		status               int
		holds                string
	}{
		{"GET", "/nothing", "", 404, `"code":"no_route"`},
		{"GET", "/entries/ghost", "", 404, `"remedy":"no name is near to it; GET /api/v1/recall searches`},
		{"POST", "/recall/", "", 404, ""},
		{"PUT", "/entries", "", 405, `takes GET, HEAD, POST, OPTIONS, not PUT`},
		{"HEAD", "/events", "", 405, ""},
		{"POST", "/handoffs/ghost/take", `null`, 404, `"code":"not_found"`},
		{"DELETE", "/events", "", 405, `takes GET, OPTIONS, not DELETE`},
		{"GET", "/entries/../check", "", 404, `"code":"no_route"`},
		{"GET", "//check", "", 404, `"code":"no_route"`},
		{"GET", "/entries/", "", 404, `"code":"no_route"`},
		{"GET", "/entries/%2E%2E", "", 404, `"code":"not_found"`},
		{"GET", "/recall?quary=x", "", 400, `did you mean query?`},
		{"GET", "/recall?query=x&query=y", "", 400, `is given twice`},
		{"GET", "/recall?query=x&q=x", "", 400, `means the same as`},
		{"GET", "/recall?limit=many&query=x", "", 400, `wants a whole number`},
		{"GET", "/recall?query=%ff", "", 400, `UTF-8`},
		{"GET", "/recall?query=x&limit=1%", "", 400, `write % as %25`},
		{"DELETE", "/entries/style%20" + markA + "?dry_run=true;", "", 400, `; as %3B`},
		{"POST", "/recall?query=x", `{"query":"y"}`, 400, `is given twice`},
		{"POST", "/recall?limit=2", `{"query":"crane","limit":2}`, 200, ``},
		{"POST", "/recall", `{"query":"x","query":"y"}`, 400, `is given twice`},
		{"POST", "/recall", `[1]`, 400, `are not one JSON object`},
		{"POST", "/recall?limit=1", `{"query":`, 400, `are not one JSON object`},
		{"POST", "/recall?limit=1", `{"query":"x"} x`, 400, `something follows`},
		{"POST", "/entries", `{"name":"style ` + markA + `","content":"x"}`, 409, `"code":"exists"`},
		{"PATCH", "/entries/ghost", `{"content":"x"}`, 404, `"code":"not_found"`},
		{"PUT", "/entries/x", `{"name":"y","content":"x"}`, 400, `is given twice`},
	} {
		h.want(h.send("all", tt.method, tt.target, tt.body), tt.status, tt.holds)
	}
	h.want(
		h.send("all", "POST", "/entries", "content=x", "Content-Type", "application/x-www-form-urlencoded"),
		415,
		`"code":"media_type"`,
	)
	got := h.send("all", "OPTIONS", "/entries/x", "")
	if got.status != 204 || got.header.Get("Allow") != "DELETE, GET, HEAD, PATCH, PUT, OPTIONS" ||
		got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("OPTIONS gives %d %v", got.status, got.header)
	}
	got = h.send("all", "HEAD", "/entries/dir%2F"+markA, "")
	if got.status != 200 || got.body != "" || got.header.Get("ETag") == "" || got.header.Get("Content-Length") == "" {
		t.Errorf("HEAD gives %d %v %q", got.status, got.header, got.body)
	}
	got = h.send("all", "HEAD", "/entries/ghost", "")
	if got.status != 404 || got.body != "" {
		t.Errorf("HEAD gives %d %q", got.status, got.body)
	}
}

// TestNoPaths checks that no response reveals where the files are on the server's machine.
func TestNoPaths(t *testing.T) {
	h := newHome(t)
	dir := filepath.Dir(h.path)
	for _, target := range []string{"/stats", "/check", "/doctor"} {
		if got := h.want(
			h.send("all", "GET", target, ""),
			200,
			`"store":"memory.oxbow"`,
		); strings.Contains(got.body, dir) {
			t.Errorf("GET %s names a directory of the server: %s", target, got.body)
		}
	}
	var log bytes.Buffer
	h.server = httptest.NewServer(
		New(
			&rights.Options{
				Workspace: &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) {
					return nil, &fs.PathError{Op: "open", Path: h.path, Err: syscall.EIO}
				}},
			},
			&Options{Logger: slog.New(slog.NewTextHandler(&log, nil))},
		).Handler(auth.RequestGuard{
			Tokens: auth.Tokens{auth.NewToken("all", "all", auth.Permissions{})},
		}),
	)
	t.Cleanup(h.server.Close)
	for _, target := range []string{"/entries", "/store/about", "/events"} {
		log.Reset()
		got := h.want(h.send("all", "GET", target, ""), 500, `"code":"internal"`)
		if strings.Contains(got.body, dir) || !strings.Contains(log.String(), dir) {
			t.Errorf("GET %s answers %s and logs %q", target, got.body, log.String())
		}
	}
}

// TestConditions checks that an entry's ETag consists of the hash of its content and its version, and that a
// conditional change is made only to this version.
func TestConditions(t *testing.T) {
	h := newHome(t)
	one := h.want(h.send("all", "PUT", "/entries/x", `{"content":"one"}`), 201).header.Get("ETag")
	got := h.send("all", "GET", "/entries/x", "")
	const content = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
	if one != fmt.Sprintf(`"%s-%.0f"`, content, got.get(t, "version")) || got.header.Get("ETag") != one {
		t.Errorf(
			"the tags of a write and a read are %s and %s, want the SHA-256 of one, and the version",
			one,
			got.header.Get("ETag"),
		)
	}
	if got := h.want(h.send("all", "GET", "/entries/x", "", "If-None-Match", `"y", `+one), 304); got.body != "" ||
		got.header.Get("ETag") != one {
		t.Errorf("304 comes with %v %q", got.header, got.body)
	}
	two := h.want(h.send("all", "PUT", "/entries/x", `{"content":"two"}`, "If-Match", one), 200).header.Get("ETag")
	got = h.want(
		h.send("all", "PUT", "/entries/x", `{"content":"three"}`, "If-Match", one),
		412,
		`"code":"precondition"`,
	)
	if got.header.Get("ETag") != two {
		t.Errorf("412 comes with the tag %s, want %s", got.header.Get("ETag"), two)
	}
	// A new label changes the ETag. A read with the old ETag returns the entry again, and a change with the old ETag
	// is refused.
	tagged := h.want(h.send("all", "PATCH", "/entries/x", `{"tags":["t"]}`), 200).header.Get("ETag")
	h.want(h.send("all", "GET", "/entries/x", "", "If-None-Match", two), 200, `"tag":["t"]`)
	h.want(h.send("all", "PATCH", "/entries/x", `{"tags":["u"]}`, "If-Match", two), 412)
	two = h.want(h.send("all", "PATCH", "/entries/x", `{"tags":["u"]}`, "If-Match", tagged), 200).header.Get("ETag")
	// An ETag without a version matches no version.
	bare := two[:strings.Index(two, "-")] + `"`
	got = h.want(
		h.send("all", "PUT", "/entries/x", `{"content":"four"}`, "If-Match", bare),
		412,
		`"code":"precondition"`,
		"If-Match and its ETag",
	)
	if got.header.Get("ETag") != two {
		t.Errorf("412 comes with the tag %s, want %s", got.header.Get("ETag"), two)
	}
	h.want(h.send("all", "GET", "/entries/x", "", "If-None-Match", bare), 200, `"content":"two"`)
	h.want(h.send("all", "DELETE", "/entries/x", "", "If-Match", one), 412)
	h.want(h.send("all", "PUT", "/entries/x", `{"content":"new"}`, "If-None-Match", "*"), 412)
	h.want(h.send("all", "DELETE", "/entries/x", "", "If-Match", two), 200)
	h.want(h.send("all", "PUT", "/entries/x", `{"content":"new"}`, "If-Match", "*"), 412)
	h.want(h.send("all", "PUT", "/entries/x", `{"content":"new"}`, "If-None-Match", "*"), 201)
	// The route /undo is not about an entry, so it ignores the condition.
	h.want(h.send("all", "POST", "/undo", "", "If-Match", "*"), 200)
	h.want(h.send("all", "POST", "/entries", `{"content":"x"}`, "If-Match", "*"), 400)
	// A request may name the entry by its alias.
	tag := h.send("all", "GET", "/entries/"+markA+"alias", "").header.Get("ETag")
	if got := h.want(h.send("all", "PUT", "/entries/"+markA+
		"alias", `{"content":"of the alias"}`, "If-Match", tag), 200); got.get(t, "name") != "style "+markA {
		t.Errorf("the entry of the alias is %s", got.body)
	}
}

// TestTakenAlias checks that an entry cannot get the alias of another entry. The response names the other entry, and
// nothing is changed.
func TestTakenAlias(t *testing.T) {
	h := newHome(t)
	h.want(h.send("all", "PUT", "/entries/holder", `{"content":"has it","aliases":["key"]}`), 201)
	h.want(h.send("all", "PUT", "/entries/other", `{"content":"another"}`), 201)
	const body = `{"content":"new","aliases":["key"]}`
	h.want(h.send("all", "PUT", "/entries/new", body), 409, `"alias_taken"`, `"owner":"holder"`)
	named := `{"name":"new","content":"new","aliases":["key"]}`
	h.want(h.send("all", "POST", "/entries", named), 409, `"owner":"holder"`)
	tag := h.send("all", "GET", "/entries/other", "").header.Get("ETag")
	h.want(h.send("all", "PUT", "/entries/other", body, "If-Match", tag), 409, `"owner":"holder"`)
	h.want(h.send("all", "GET", "/entries/other", ""), 200, `"content":"another"`)
	h.want(h.send("all", "GET", "/entries/new", ""), 404)
	h.want(h.send("all", "GET", "/entries/key", ""), 200, `"name":"holder"`)
}

// TestTwoEditors checks that concurrent editors lose no text if each of them makes conditional changes: at the end,
// the entry contains every acknowledged line.
func TestTwoEditors(t *testing.T) {
	h := newHome(t)
	h.want(h.send("all", "PUT", "/entries/x", `{"content":"begin"}`), 201)
	const editors, lines = 4, 8
	var wg sync.WaitGroup
	for i := range editors {
		wg.Go(func() {
			for n := 0; n < lines; {
				got, err := h.try("all", "GET", "/entries/x", "")
				if err != nil {
					t.Error(err)
					return
				}
				text := got.get(t, "content").(string) + fmt.Sprintf("\n%d.%d", i, n)
				put, err := h.try(
					"all",
					"PUT",
					"/entries/x",
					object(map[string]any{"content": text}),
					"If-Match",
					got.header.Get("ETag"),
				)
				switch {
				case err != nil || (put.status != 200 && put.status != 412):
					t.Errorf("PUT gives %d, %v: %s", put.status, err, put.body)
					return
				case put.status == 200:
					n++
				}
			}
		})
	}
	wg.Wait()
	text := h.send("all", "GET", "/entries/x", "").get(t, "content").(string)
	if got := strings.Count(text, "\n"); got != editors*lines {
		t.Errorf("%d lines stand there, want %d: %s", got, editors*lines, text)
	}
}

// TestRepeats checks that a repeated request with the same idempotency key returns the first response and changes
// nothing.
func TestRepeats(t *testing.T) {
	h := newHome(t)
	first := h.want(h.send("all", "POST", "/entries", `{"name":"x","content":"one"}`, idempotencyKeyHeader, "k1"), 201)
	h.want(h.send("all", "DELETE", "/entries/x", "", idempotencyKeyHeader, "k2"), 200, `"forgotten":true`)
	again := h.want(h.send("all", "POST", "/entries", `{"name":"x","content":"one"}`, idempotencyKeyHeader, "k1"), 201)
	if again.body != first.body || again.header.Get("Idempotent-Replayed") != "true" ||
		again.header.Get("ETag") != first.header.Get("ETag") {
		t.Errorf("the repeat gives %v %s, the first gave %s", again.header, again.body, first.body)
	}
	h.want(h.send("all", "GET", "/entries/x", ""), 404)
	h.want(
		h.send("all", "POST", "/entries", `{"name":"x","content":"two"}`, idempotencyKeyHeader, "k1"),
		422,
		`"code":"key_reused"`,
	)
	undo := h.want(h.send("all", "POST", "/undo", "", idempotencyKeyHeader, "k3"), 200, `"verb":"remove"`)
	if again := h.want(h.send("all", "POST", "/undo", "", idempotencyKeyHeader, "k3"), 200); again.body != undo.body {
		t.Errorf("the repeat gives %s, the first gave %s", again.body, undo.body)
	}
	h.want(h.send("all", "GET", "/entries/x", ""), 200)
	// A failed request may be repeated with the same key. Different tokens may use the same key.
	h.want(h.send("all", "PATCH", "/entries/y", `{"content":"one"}`, idempotencyKeyHeader, "k4"), 404)
	h.want(h.send("all", "PUT", "/entries/y", `{"content":"one"}`), 201)
	h.want(h.send("all", "PATCH", "/entries/y", `{"content":"one"}`, idempotencyKeyHeader, "k4"), 200)
	h.want(h.send("a", "PUT", "/entries/of%20a", `{"content":"one"}`, idempotencyKeyHeader, "k4"), 201)
	h.want(h.send("all", "POST", "/entries", `{"content":"one"}`, idempotencyKeyHeader, strings.Repeat("k", 256)), 400)

	// Only one of several simultaneous requests with the same key is executed.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := h.try("all", "POST", "/entries", `{"content":"At once."}`, idempotencyKeyHeader, "k5")
			if err != nil || got.status != 201 {
				t.Errorf("POST gives %d, %v: %s", got.status, err, got.body)
			}
		})
	}
	wg.Wait()
	if got := h.send("all", "GET", "/entries?filter=name:%22At+once.%22", ""); got.get(t, "total") != 1.0 {
		t.Errorf("at once were made %s", got.body)
	}
}

// TestRepeatsAfterRestart checks that a repeated request changes nothing after a restart either, because the store
// contains the key.
func TestRepeatsAfterRestart(t *testing.T) {
	h := newHome(t)
	restart := func() { h.again() }
	h.want(h.send("all", "POST", "/entries", `{"name":"x","content":"one"}`, idempotencyKeyHeader, "k1"), 201)
	h.want(h.send("all", "PUT", "/entries/x", `{"content":"two"}`, idempotencyKeyHeader, "k2"), 200)
	restart()
	h.want(
		h.send("all", "POST", "/entries", `{"name":"x","content":"one"}`, idempotencyKeyHeader, "k1"),
		201,
		`"outcome":"added"`,
	)
	h.want(h.send("all", "GET", "/entries/x", ""), 200, "two")
	undo := h.want(h.send("all", "POST", "/undo", "", idempotencyKeyHeader, "k3"), 200)
	restart()
	again := h.want(h.send("all", "POST", "/undo", "", idempotencyKeyHeader, "k3"), 200)
	if again.body != undo.body {
		t.Errorf("the repeat gives %s, the first gave %s", again.body, undo.body)
	}
	h.want(h.send("all", "GET", "/entries/x", ""), 200, "one")
	h.want(h.send("all", "DELETE", "/entries/x", "", idempotencyKeyHeader, "k4"), 200)
	restart()
	h.want(h.send("all", "DELETE", "/entries/x", "", idempotencyKeyHeader, "k4"), 200, `"forgotten":true`)
	h.want(
		h.send("all", "PUT", "/entries/x", `{"content":"two"}`, idempotencyKeyHeader, "k2"),
		200,
		`"outcome":"updated"`,
		"was forgotten since",
	)
}

// TestPages checks that a list can be read page by page.
func TestPages(t *testing.T) {
	h := newHome(t)
	for i := range 7 {
		h.want(
			h.send(
				"all",
				"POST",
				"/entries",
				object(map[string]any{"name": fmt.Sprint("p", i), "content": "x", "project": "pages"}),
			),
			201,
		)
	}
	var names []string
	next, pages := "/entries?project=pages&limit=3", 0
	for ; next != ""; pages++ {
		got := h.want(h.send("all", "GET", next, ""), 200)
		for i := range got.get(t, "entries").([]any) {
			names = append(names, got.get(t, "entries", i, "name").(string))
		}
		link := got.header.Get("Link")
		cursor, _ := got.get(t, "next").(string)
		next, _, _ = strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if !strings.Contains(next, cursor) || (link != "" && !strings.HasSuffix(link, `>; rel="next"`)) {
			t.Errorf("the link is %q, the cursor %q", link, cursor)
		}
	}
	if strings.Join(names, " ") != "p6 p5 p4 p3 p2 p1 p0" || pages != 3 {
		t.Errorf("in %d pages there is %v", pages, names)
	}
	cursor := h.send("all", "GET", "/entries?project=pages&limit=3", "").get(t, "next").(string)
	h.want(h.send("all", "GET", "/entries?project=a&limit=3&cursor="+cursor, ""), 400, "is not of this list")
	h.want(h.send("all", "GET", "/entries?project=pages&limit=3&offset=1&cursor="+cursor, ""), 400, "next to offset")
	h.want(h.send("all", "GET", "/log?cursor=x", ""), 400)
}

// TestMinimal checks that the answer to a change has no body if the client sends the header "Prefer: return=minimal".
// The answer to a GET request must have a body in spite of this header.
func TestMinimal(t *testing.T) {
	h := newHome(t)
	for _, tt := range []struct {
		method string
		status int
	}{{"PUT", 201}, {"PATCH", 204}, {"DELETE", 204}} {
		got := h.want(
			h.send("all", tt.method, "/entries/x", `{"content":"one"}`, "Prefer", `respond-async, return="minimal"`),
			tt.status,
		)
		if got.body != "" || got.header.Get("Preference-Applied") != "return=minimal" ||
			(tt.method != http.MethodDelete && got.header.Get("ETag") == "") {
			t.Errorf("%s gives %v %q", tt.method, got.header, got.body)
		}
	}
	if got := h.send("all", "GET", "/entries", "", "Prefer", "return=minimal"); got.body == "" {
		t.Error("a list has no body")
	}
}

// TestStore tests a remote store that was opened with the secret "a". The store must show only entries of the project
// of the token with this secret. It must also accept a large entry, and new entries must have the right source and
// project.
func TestStore(t *testing.T) {
	h := newHome(t)
	s, err := remote.Open(h.server.URL, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Apply(t.Context(), oxbow.Add{Name: "far", Content: "from afar"}); err != nil {
		t.Fatal(err)
	}
	e, err := h.notes.Get(t.Context(), "far")
	if err != nil || e.Source.Door != "http" || e.Source.Actor != oxbow.Agent ||
		len(e.Values(oxbow.LabelProject)) != 1 {
		t.Errorf("it is kept as %+v, %v", e, err)
	}
	large := strings.Repeat("large\n", oxbow.MaxContent/6)
	if err := s.Apply(t.Context(), oxbow.Add{Name: "large", Content: large}, oxbow.Remove{Name: "large"}); err != nil {
		t.Errorf("an entry of %d bytes is refused: %v", len(large), err)
	}
	n := 0
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil || strings.Contains(e.Content, markB) {
			t.Errorf("it gives %+v, %v", e, err)
		}
		n++
	}
	if n != 3 {
		t.Errorf("it gives %d entries, want 3", n)
	}
}
