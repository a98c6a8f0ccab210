// This file tests that tenants of one server see nothing of each other, over all routes.

package cli

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

// neighbours contains the names of the homes that one server serves. The homes "alpha" and "beta" belong to tenants,
// and "own" is the server's own home. Every part of a home, such as an entry, contains secret words of that home. The
// part's name is n-NAME, where NAME is the name of the home. All tenants know these names.
var neighbours = []string{"alpha", "beta", "own"}

func hush(of string) string { return "hush" + of }
func pass(of string) string { return "pass-of-" + of + "-0123456789" }

// street is a test server that serves all homes in the list neighbours.
type street struct {
	*world
	url   string
	addr  string
	links map[string]string
	kept  map[string]http.CookieJar // cookies of browsers that signed in with a link, by neighbour
	stop  func() int
	said  *bytes.Buffer // the server's output, which is complete after stop

	service bool // The server has no terminal.
}

func (s *street) home(of string) string {
	if of == "own" {
		return filepath.Join(s.dir, "home")
	}
	return filepath.Join(s.dir, "home", maintenance.TenantsDir, of)
}

// newStreet creates the homes, and serves them with one token for each. The given lines are added to the token file.
func newStreet(t *testing.T, lines string, flags ...string) *street {
	t.Helper()
	s := &street{world: newWorld(t), links: map[string]string{}, kept: map[string]http.CookieJar{}}
	s.env.Rand = crand.Reader // This source of random numbers is safe for concurrent use.
	var tokens strings.Builder
	for _, of := range neighbours {
		home, w := s.home(of), hush(of)
		for name, text := range map[string]string{"profiles/p-" + of + ".yaml": "description: " + w +
			"\ninclude:\n  projects: [" + w + "]\n", "skills/s/SKILL.md": "---\nname: " + w + "\ndescription: " + w +
			"\n---\n" + w} {
			file := filepath.Join(home, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s.must(t, "--home", home, "remember", "n-"+of, "The crane turns "+w+
			".", "--project", w, "--tag", w, "--alias", w+" alias")
		s.must(t, "--home", home, "remember", "other "+w, "The harbour crane of "+w+" is high.")
		s.must(t, "--home", home, "handoff", "new", "half of "+w)
		mem := newLazyMemory(s.env)
		mem.finder.homeFlag = home
		mem.env.Stdout, mem.env.Stderr = io.Discard, io.Discard
		mem.env.Stdin = strings.NewReader(
			`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"Remember that the crane is of ` + w +
				`."}`,
		)
		mem.handleHook(t.Context(), "claude")
		if err := mem.close(t.Context()); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&tokens, "%s %s rw%s\n", of, pass(of), map[bool]string{false: " tenant=" + of}[of == "own"])
	}
	file := filepath.Join(s.dir, "tokens")
	if err := os.WriteFile(file, []byte(tokens.String()+lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s.serve(t, append([]string{"serve", "--home", s.home("own"), "--http", ":0", "--tokens", file}, flags...)...)
	return s
}

// serve starts a server with the arguments args, and returns when the server accepts connections. It sets s.addr,
// s.url, s.links (the links for signing in that the server printed) and s.stop. The server runs until s.stop is called
// or the test ends. The test fails if the server ends with another status than success.
func (s *street) serve(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	env := s.env
	s.said = new(bytes.Buffer)
	addr, ended := make(chan string, 1), make(chan int, 1)
	env.Args = args
	env.Stdout = io.Discard
	env.Stderr = s.said
	env.IsStderrTerminal = !s.service
	env.OnListening = func(a string) { addr <- a }
	go func() { ended <- Run(ctx, env) }()
	select {
	case a := <-addr:
		s.addr, s.url = a, "http://"+a
	case status := <-ended:
		cancel()
		t.Fatalf("oxbow %q ended with status %d: %s", args, status, s.said)
	}
	for _, m := range regexp.MustCompile(`http://\S*/ui/enter\?key=(\w*)\.?\S+`).FindAllStringSubmatch(
		s.said.String(),
		-1,
	) {
		of := m[1]
		if !strings.Contains(m[0], "key="+of+".") {
			of = "own"
		}
		s.links[of] = m[0]
	}
	stopped := false
	s.stop = func() int {
		if stopped {
			return exitSuccess
		}
		stopped = true
		http.DefaultClient.CloseIdleConnections()
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if status := s.stop(); status != exitSuccess {
			t.Errorf("the server ended with status %d: %s", status, s.said)
		}
	})
}

// send sends a request. It returns the status, and the whole answer with its headers.
func (s *street) send(t *testing.T, c *http.Client, method, target, secret, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" && strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "application/json")
	} else if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, fmt.Sprint(res.Header) + string(b)
}

// watcher checks all answers that one tenant of the server gets. The field of is the tenant's name in the list
// neighbours.
type watcher struct {
	of     string
	own    map[string]int // number of answers that contain the neighbour's own words, by interface
	others int            // number of answers that contain the words of another neighbour
}

func (w *watcher) look(t *testing.T, door, what, answer string) {
	t.Helper()
	if strings.Contains(answer, hush(w.of)) {
		w.own[door]++
	}
	for _, of := range neighbours {
		if i := strings.Index(answer, hush(of)); of != w.of && i >= 0 {
			w.others++
			t.Errorf("%s got words of %s over %s: …%s…", w.of, of, what, answer[max(0, i-100):min(len(answer), i+100)])
		}
	}
	if other := maintenance.TenantsDir + string(filepath.Separator); strings.Contains(answer, other) &&
		!strings.Contains(answer, other+w.of) {
		t.Errorf("%s got a path of another over %s", w.of, what)
	}
}

// values returns an argument for a parameter with this name. The argument refers to data of the tenant whose name is in
// the parameter of. If the name is unknown, values returns nil.
func values(name, of string) any {
	switch name {
	case "name", "names", "names_or_ids", "note", "entry", "targets", "id":
		return "n-" + of
	case "query", "prompt", "text", "q":
		return "harbour crane"
	case "profile":
		return "p-" + of
	case "session", "sessions":
		return "s1"
	case "content", "summary", "why":
		return "something new about the crane"
	case "filter":
		return "kind:note"
	case "seq", "limit", "version", "as_of":
		return 1
	case "explain", "dry_run":
		return true
	}
	return nil
}

// TestTenants calls every route of every interface as each neighbour, and names the data of all neighbours. No answer
// may contain a word of another neighbour. Each interface must return data of the neighbour itself.
func TestTenants(t *testing.T) {
	t.Parallel()
	s := newStreet(t, "")
	for _, of := range neighbours {
		w := &watcher{of: of, own: map[string]int{}}
		for _, to := range neighbours {
			s.api(t, w, to)
			s.agents(t, w, to)
			for _, way := range []string{"token", "link"} {
				s.browse(t, w, to, way)
			}
		}
		for door, least := range map[string]int{"api": 20, "store": 5, "mcp": 8, "pages by token": 10,
			"pages by link": 10} {
			if w.own[door] < least {
				t.Errorf("%s found its own words in %d answers of %s, want %d or more", of, w.own[door], door, least)
			}
		}
	}
	s.strangers(t)
	s.stop()
	if strings.Contains(s.said.String(), "level=") {
		t.Errorf("the server said %s", s.said)
	}
	for _, of := range neighbours {
		s.must(t, "--home", s.home(of), "check")
	}
}

// api sends requests with the token of the tenant w.of to the operations in /openapi.json and to the routes below
// /api/v1/store/. The requests name the data of the tenant to. w.look must find no words of other tenants in the
// answers. Event streams are left out, and so are calls that would delete the tenant's own words.
func (s *street) api(t *testing.T, w *watcher, to string) {
	t.Helper()
	_, text := s.send(t, http.DefaultClient, "GET", "/openapi.json", "", "")
	var d struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):]), &d); err != nil || len(d.Paths) < 40 {
		t.Fatalf("%d paths in /openapi.json, %v", len(d.Paths), err)
	}
	for path, methods := range d.Paths {
		if strings.HasSuffix(path, "/events") || strings.Contains(path, "/store/") {
			continue // Another test covers event streams.
		}
		for method, op := range methods {
			if method == "delete" && to == w.of {
				continue // The call would delete the words that the test searches for.
			}
			target := path
			q := url.Values{}
			body := map[string]any{"dry_run": true}
			if i := strings.Index(target, "/{"); i >= 0 {
				target = regexp.MustCompile(`\{(\w+)\}`).ReplaceAllStringFunc(target, func(arg string) string {
					if strings.Contains(path, "/profiles/") {
						return "p-" + to
					}
					return fmt.Sprint(values(strings.Trim(arg, "{}"), to))
				})
			}
			for _, p := range op.Parameters {
				if v := values(p.Name, to); v != nil && p.In == "query" {
					q.Set(p.Name, fmt.Sprint(v))
				}
			}
			for _, name := range []string{"query", "content", "name", "prompt", "summary"} {
				body[name] = values(name, to)
			}
			b, _ := json.Marshal(body)
			if method == "get" || method == "delete" {
				b = nil
			}
			for _, target := range []string{target, target + "?" + q.Encode()} {
				_, answer := s.send(t, http.DefaultClient, strings.ToUpper(method), target, pass(w.of), string(b))
				w.look(t, "api", method+" "+target, answer)
			}
		}
	}
	for _, route := range []string{"about", "entry?name=n-" +
		to, "check", "stats", "position", "since?position=", "log", "versions?name=n-" + to, "asof?seq=1"} {
		_, answer := s.send(t, http.DefaultClient, "GET", "/api/v1/store/"+route, pass(w.of), "")
		w.look(t, "store", route, answer)
	}
	_, answer := s.send(t, http.DefaultClient, "POST", "/api/v1/store/entries", pass(w.of), `{}`)
	w.look(t, "store", "entries", answer)
}

// carrier is an HTTP transport that sends the token secret with each request. It calls the function in the field look
// with each answer.
type carrier struct {
	secret string
	look   func(answer string)
}

func (b carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.secret)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || r.Method != http.MethodPost {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	b.look(fmt.Sprint(res.Header) + string(body))
	return res, err
}

// The function agents connects to the MCP server as the neighbour w.of, with two protocol versions. It connects to the
// general path, and to the path of a part of the neighbour to. On each connection, callAll reads all lists and their
// items, and calls all tools. The watcher w examines each answer for secret words of other neighbours. The server may
// refuse the connection to the part if to is another neighbour.
func (s *street) agents(t *testing.T, w *watcher, to string) {
	t.Helper()
	for _, version := range []string{"2026-07-28", "2025-06-18"} {
		for _, path := range []string{"/mcp", "/mcp/p/p-" + to} {
			what := path
			c := &http.Client{Transport: carrier{pass(w.of), func(answer string) { w.look(t, "mcp", what, answer) }}}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
				&mcp.StreamableClientTransport{
					Endpoint:             s.url + path,
					HTTPClient:           c,
					DisableStandaloneSSE: true,
					MaxRetries:           -1,
				}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				if path == "/mcp" || to == w.of {
					t.Fatalf("%s connecting to %s: %v", w.of, path, err)
				}
				continue
			}
			s.callAll(t, session, to, to == w.of, &what)
			if err := session.Close(); err != nil {
				t.Errorf("closing the session: %v", err)
			}
		}
	}
}

// callAll calls each tool, resource, prompt and completion that a session offers. The arguments refer to data of the
// tenant to. If spare is true, callAll does not call the tool forget. It sets *what to a description of the current
// call.
func (s *street) callAll(t *testing.T, session *mcp.ClientSession, to string, spare bool, what *string) {
	t.Helper()
	ctx := t.Context()
	list, err := session.ListTools(ctx, nil)
	if err != nil || len(list.Tools) < 4 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	for _, tool := range list.Tools {
		*what = tool.Name
		if tool.Name == "forget" && spare {
			continue
		}
		schema, _ := tool.InputSchema.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		args := map[string]any{}
		for name, p := range properties {
			if v := values(name, to); v != nil {
				args[name] = v
				if p, _ := p.(map[string]any); fmt.Sprint(p["type"]) == "array" {
					args[name] = []any{v}
				}
			}
		}
		for range 2 {
			// Ignore the result, because the session's HTTP transport (a carrier) has already checked the answer.
			_, _ = session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: args})
			delete(args, "as_of")
			delete(args, "profile")
		}
	}
	*what = "lists"
	resources, err := session.ListResources(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range resources.Resources {
		_, _ = session.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI})
	}
	_, _ = session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "oxbow://entry/n-" + to})
	_, _ = session.ListResourceTemplates(ctx, nil)
	prompts, err := session.ListPrompts(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prompts.Prompts {
		args := map[string]string{}
		for _, a := range p.Arguments {
			args[a.Name] = fmt.Sprint(values(a.Name, to))
		}
		_, _ = session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: args})
	}
	for _, arg := range []string{"name", "profile"} {
		_, _ = session.Complete(
			ctx,
			&mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "oxbow://entry/{name}"},
				Argument: mcp.CompleteParamsArgument{Name: arg, Value: "n"},
			},
		)
	}
}

// browse signs in to the web interface as the neighbour w.of, and opens its pages and submits its forms. If the
// parameter way is "link", it signs in with the link that the neighbour was given. A link works only once, so that
// later calls use the cookies of the first call. Otherwise it signs in with the token. The paths and forms name entries
// of the neighbour to. The watcher w examines the answers. browse skips event streams, all undo forms, and the forget
// forms for the neighbour's own entries.
func (s *street) browse(t *testing.T, w *watcher, to, way string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	if way == "link" && s.links[w.of] != "" {
		s.send(t, c, "GET", strings.TrimPrefix(s.links[w.of], s.url), "", "")
		delete(s.links, w.of)
		s.kept[w.of] = jar
	} else if way == "link" {
		c.Jar = s.kept[w.of]
	} else {
		s.send(t, c, "POST", "/ui/enter", "", "token="+pass(w.of))
	}
	if status, answer := s.send(t, c, "GET", "/ui/", "", ""); status != 200 || !strings.Contains(answer, hush(w.of)) {
		t.Fatalf("%s is not signed in by %s: %d %s", w.of, way, status, answer)
	}
	source, err := os.ReadFile(filepath.FromSlash("../web/routes.go"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`\{"(GET|POST)", "([^"]*)"`).FindAllSubmatch(source, -1)
	if len(rows) < 40 {
		t.Fatalf("%d rows in the table of pages", len(rows))
	}
	for _, row := range rows {
		method, path := string(row[1]), "/ui/"+
			strings.NewReplacer("{$}", "", "entries/{name}", "entries/n-"+to, "{name}", "p-"+
				to, "{client}", "claude", "{session}", "s1", "{seq}", "1", "{id}", "1", "{rest...}",
				"x").Replace(string(row[2]))
		if strings.HasSuffix(path, "/events") {
			continue
		}
		for _, q := range []string{"", "?q=crane&prompt=harbour+crane&full=1&session=s1&from=1&to=2"} {
			body := ""
			if method == "POST" {
				body = "name=n-" + to + "&q=crane&content=x&names=n-" + to
				if to == w.of {
					body = "q=" // Send no new text, so that the words that the test searches for stay unchanged.
				}
				if (strings.Contains(path, "/forget") && to == w.of) || strings.HasSuffix(path, "/undo") {
					continue
				}
			}
			_, answer := s.send(t, c, method, path+q, "", body)
			w.look(t, "pages by "+way, method+" "+path+q, answer)
		}
	}
	s.crossing(t, w, jar)
}

// crossing sends the cookie of one neighbour as if it belonged to another.
func (s *street) crossing(t *testing.T, w *watcher, jar http.CookieJar) {
	t.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range jar.Cookies(at) {
		_, rest, found := strings.Cut(c.Value, ".")
		if !found {
			rest = c.Value
		}
		for _, of := range neighbours {
			req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/ui/find", nil)
			if err != nil {
				t.Fatal(err)
			}
			value := of + "." + rest
			if of == "own" {
				value = rest
			}
			req.AddCookie(&http.Cookie{Name: c.Name, Value: value})
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || (of != w.of && res.StatusCode != http.StatusSeeOther) {
				t.Errorf("the cookie of %s, as if of %s: %d, %v", w.of, of, res.StatusCode, err)
			}
			w.look(t, "crossing", "a cookie as of "+of, string(b))
		}
	}
}

// The function strangers tests that an answer to a request without a valid token contains no secret words of any
// neighbour. Requests to paths that begin with /api must fail with status 401.
func (s *street) strangers(t *testing.T) {
	t.Helper()
	w := &watcher{of: "stranger", own: map[string]int{}}
	for _, path := range []string{"/", "/ui/", "/ui/find?q=crane", "/ui/enter?key=alpha.x", "/api/v1/entries",
		"/api/v1/store/log", "/mcp", "/api/v1/events", "/ui/events", "/tenants/alpha"} {
		for _, secret := range []string{"", "alpha", hush("alpha"), "tenant=alpha"} {
			status, answer := s.send(t, http.DefaultClient, "GET", path, secret, "")
			w.look(t, "all", path, answer)
			if strings.HasPrefix(path, "/api") && status != http.StatusUnauthorized {
				t.Errorf("GET %s without a token = %d", path, status)
			}
		}
	}
}
