// This file tests pages like a browser without scripts.

package web

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// clock is the present time in all tests.
var clock = time.Date(2026, 4, 18, 10, 0, 0, 0, time.UTC)

const token = "a-token-of-enough-length"

// browser is a browser without scripts that has signed in with a link.
type browser struct {
	t      *testing.T
	client *http.Client
	url    string // URL of the server
	memory *oxbow.Memory
	server *Server
	views  *rights.Options
}

// open starts a server for a new memory, and signs in. The memory is checked at the end of the test.
func open(t *testing.T, rightsWord auth.Permissions) *browser {
	t.Helper()
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return clock }})
	work := &verb.Workspace{
		Open:   func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Now:    func() time.Time { return clock },
		Source: oxbow.Source{Actor: oxbow.Person},
	}
	b := &browser{t: t, memory: m, views: &rights.Options{Workspace: work, Rights: rightsWord}}
	b.server = New(b.views, &Options{Now: work.Now})
	srv := httptest.NewServer(b.server.Handler(auth.RequestGuard{
		Tokens: auth.Tokens{auth.NewToken("t", token, auth.Permissions{})},
	}))
	t.Cleanup(srv.Close)
	b.url = srv.URL
	b.client = b.fresh()
	link, err := b.server.SignInLink("")
	if err != nil {
		t.Fatal(err)
	}
	b.get(link, http.StatusOK)
	return b
}

// fresh returns a client that is not signed in.
func (b *browser) fresh() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// remember adds an entry that a person wrote.
func (b *browser) remember(name, content string, labels ...oxbow.Label) {
	b.t.Helper()
	ctx := oxbow.WithSource(b.t.Context(), oxbow.Source{Actor: oxbow.Person})
	if err := b.memory.Apply(ctx, oxbow.Add{Name: name, Content: content, Labels: labels}); err != nil {
		b.t.Fatal(err)
	}
}

// get returns a page. It follows redirects.
func (b *browser) get(path string, status int) string {
	b.t.Helper()
	res, err := b.client.Get(b.url + path)
	return b.read(res, err, path, status)
}

// post submits a form and returns the page to which it leads.
func (b *browser) post(path string, form url.Values, status int) string {
	b.t.Helper()
	res, err := b.client.PostForm(b.url+path, form)
	return b.read(res, err, path, status)
}

// read returns the body of a response. The status must be the given one, unless it is 0.
func (b *browser) read(res *http.Response, err error, path string, status int) string {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || (status != 0 && res.StatusCode != status) {
		b.t.Fatalf("%s: %v, status %d, want %d\n%s", path, err, res.StatusCode, status, body)
	}
	return string(body)
}

// submit submits the form that has a button with this text, and returns the page to which it leads. Fields that are
// not given keep their values.
func (b *browser) submit(shown, button string, fields url.Values, status int) string {
	b.t.Helper()
	for _, form := range regexp.MustCompile(`(?s)<form[^>]*method="post"[^>]*>.*?</form>`).FindAllString(shown, -1) {
		pressed := regexp.MustCompile(`<button[^>]*>` + regexp.QuoteMeta(button) + `</button>`).FindString(form)
		if pressed == "" {
			continue
		}
		values := url.Values{}
		for _, in := range regexp.MustCompile(`<input[^>]*>`).FindAllString(form, -1) {
			name := attribute(in, "name")
			isTicked := attribute(in, "type") != "checkbox" || strings.Contains(in, " checked")
			if name != "" && isTicked {
				values.Add(name, attribute(in, "value"))
			}
		}
		for _, m := range regexp.MustCompile(`(?s)<textarea([^>]*)>\n?(.*?)</textarea>`).FindAllStringSubmatch(
			form,
			-1,
		) {
			values.Add(attribute(m[1], "name"), html.UnescapeString(m[2]))
		}
		for k, v := range fields {
			values[k] = v
		}
		return b.post(cmp.Or(attribute(pressed, "formaction"), attribute(form, "action")), values, status)
	}
	b.t.Fatalf("no form has a button %q in\n%s", button, shown)
	return ""
}

func attribute(tag, name string) string {
	m := regexp.MustCompile(` ` + name + `="([^"]*)"`).FindStringSubmatch(tag)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

func (b *browser) has(shown string, wants ...string) {
	b.t.Helper()
	for _, want := range wants {
		if !strings.Contains(shown, want) {
			b.t.Errorf("the page has no %q:\n%s", want, shown)
		}
	}
}

// TestForgetUndo tests that the page of an entry has a button that forgets the entry, and that the answer has a button
// that restores it.
func TestForgetUndo(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("a/b deploy", "Ship on Fridays.", oxbow.Label{Key: "project", Value: "harbor"})
	shown := b.get(page.RootPath, http.StatusOK)
	b.has(shown, "a/b deploy", "Ship on Fridays.", "project")
	shown = b.get(page.RootPath+page.EntryPath("a/b deploy"), http.StatusOK)
	shown = b.submit(shown, "Forget", nil, http.StatusOK)
	b.has(shown, "Forgot &#34;a/b deploy&#34;.")
	if _, err := b.memory.Get(t.Context(), "a/b deploy"); err == nil {
		t.Error("the entry is still there")
	}
	shown = b.submit(shown, "Undo", nil, http.StatusOK)
	b.has(shown, "Undid a change")
	if e, err := b.memory.Get(t.Context(), "a/b deploy"); err != nil || e.Content != "Ship on Fridays." {
		t.Errorf("after undo: %+v, %v", e, err)
	}
}

// TestDots tests that an entry whose name is a path element such as ".." has a page.
func TestDots(t *testing.T) {
	b := open(t, auth.Permissions{})
	for _, name := range []string{".", ".."} {
		b.remember(name, "Ship on Fridays.")
		to, err := url.Parse("http://host" + page.RootPath + page.EntryPath(name))
		if err != nil {
			t.Fatal(err)
		}
		shown := b.get(to.JoinPath().EscapedPath(), http.StatusOK)
		b.has(b.submit(shown, "Forget", nil, http.StatusOK), "Forgot &#34;"+name+"&#34;.")
	}
}

// TestSignIn checks that a link can be used by one browser only. Requests are refused that have another host, come
// from another site, or have no session.
func TestSignIn(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("secret plan", "The marker text.")
	link, err := b.server.SignInLink("")
	if err != nil {
		t.Fatal(err)
	}
	first, second := b.fresh(), b.fresh()
	for i, c := range []*http.Client{first, second} {
		b.client = c
		b.get(link, []int{http.StatusOK, http.StatusUnauthorized}[i])
	}
	if shown := b.get(page.RootPath, http.StatusOK); strings.Contains(shown, "secret plan") ||
		!strings.Contains(shown, "Sign in") {
		t.Errorf("without a session, the page is\n%s", shown)
	}
	b.has(b.post(page.RootPath+"undo", url.Values{"seq": {"1"}}, http.StatusUnauthorized), "session has ended")
	b.has(
		b.post(page.RootPath+"enter", url.Values{"token": {"wrong"}}, http.StatusUnauthorized),
		"does not know that token",
	)
	b.has(b.post(page.RootPath+"enter", url.Values{"token": {token}}, http.StatusOK), "secret plan")

	b.client = first
	for _, h := range []map[string]string{
		{"Host": "evil.example"},
		{"Origin": "https://evil.example"},
		{"Sec-Fetch-Site": "cross-site"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+page.RootPath+
			"undo", strings.NewReader("seq=1"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for k, v := range h {
			req.Header.Set(k, v)
			if k == "Host" {
				req.Host = v
			}
		}
		res, err := b.client.Do(req)
		b.read(res, err, fmt.Sprint(h), http.StatusForbidden)
	}
	if _, err := b.memory.Get(t.Context(), "secret plan"); err != nil {
		t.Errorf("a foreign page undid a change: %v", err)
	}
}
