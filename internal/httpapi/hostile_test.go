// This file sends random requests to every route. No request may cause a server error, and no token may receive data
// of another token's project.

package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// hostile generates random requests.
type hostile struct {
	*rand.Rand
	mark string // word put into generated texts; it marks the project that the token may access
}

func pick[T any](h hostile, from ...T) T { return from[h.IntN(len(from))] }

// name returns the name of an entry in the token's project, or a name that no entry has.
func (h hostile) name() string {
	return pick(h, "style "+h.mark, "dir/"+h.mark, h.mark+
		"alias", "ghost", "new", "a/b", "..", ".", "%", "\x00", "é", strings.Repeat("n", 300), "s-"+
		h.mark, "alpha", "lint", "search")
}

// value returns a JSON value for a parameter. Most values have the right type.
func (h hostile) value(p verb.Param) string {
	text := func() string {
		b, _ := json.Marshal(pick(h, h.name(), "crane", "x", "", "project:a", "tag:"+h.mark+
			"tag", "2026-03", "yesterday", "-1", "+\"", "(", "claude", "\u202e", "4", strings.Repeat("word ", 50)))
		return string(b)
	}
	if h.IntN(40) == 0 {
		return pick(
			h,
			"null",
			"{}",
			"[]",
			"[1,[2]]",
			`"\ud800"`,
			"1e400",
			"tru",
			"-0",
			`{"a":{"b":[]}}`,
			"99999999999999999999",
		)
	}
	var v string
	switch p.Type {
	case "integer":
		v = pick(h, "1", "2", "5", "3", "20", "0", "-1", "1000", "1001", "1e3", "1.5", `"7"`, "18446744073709551615")
	case "number":
		v = pick(h, "0", "0.5", "1", "-1", "1e9")
	case "boolean":
		v = pick(h, "true", "false", `"true"`)
	default:
		v = text()
		if len(p.Enum) > 0 && h.IntN(4) > 0 {
			v = `"` + pick(h, p.Enum...) + `"`
		}
	}
	if p.Repeatable && h.IntN(3) > 0 {
		v = "[" + v + "," + text() + "]"
	}
	return v
}

// The method members returns random arguments for the verb of the route r. Each argument is a name and a JSON value.
// Arguments that are required may be missing, and argument names may be aliases or invalid.
func (h hostile) members(r *route) (members [][2]string) {
	for _, p := range r.verb.Params {
		if (p.Required && h.IntN(30) > 0) || (p.Name == "content" && h.IntN(3) > 0) || h.IntN(8) == 0 {
			name := p.Name
			if len(p.OtherNames) > 0 && h.IntN(6) == 0 {
				name = pick(h, p.OtherNames...)
			}
			members = append(members, [2]string{name, h.value(p)})
		}
	}
	if h.IntN(25) == 0 {
		members = append(
			members,
			[2]string{
				pick(h, "cursor", "offset", "bogus", "op_id", "limit", "\xff"),
				pick(h, `"x"`, "3", `"AAAAAAM"`),
			},
		)
	}
	return members
}

// request returns the method, the target and the body of a random request for the route r. The target is the route's
// path with random arguments and, rarely, an additional segment. Sometimes the method is another one, or the body is
// not the JSON object that the route expects.
func (h hostile) request(r *route) (method, target, body string) {
	segments := strings.Split(r.path, "/")
	for i, s := range segments {
		if _, ok := parsePathArgument(s); ok {
			segments[i] = escapeSegment(h.name())
		}
	}
	if h.IntN(30) == 0 {
		segments = append(segments, pick(h, "", "x", "%2F", "restore"))
	}
	target = basePath + strings.Join(segments, "/")
	method = r.method
	if h.IntN(10) == 0 {
		method = pick(h, "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW")
	}
	q, members := url.Values{}, h.members(r)
	var parts []string
	for _, m := range members {
		if method == "GET" || method == "DELETE" || h.IntN(8) == 0 {
			q.Add(m[0], strings.Trim(m[1], `"`))
			continue
		}
		parts = append(parts, fmt.Sprintf("%q:%s", m[0], m[1]))
	}
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	body = "{" + strings.Join(parts, ",") + "}"
	if h.IntN(20) == 0 {
		body = pick(h, "", "[]", "null", body[:h.IntN(len(body)+1)], body+body, "\xff", strings.Repeat("[", 10_000))
	}
	return method, target, body
}

// headers sets some request headers at random.
func (h hostile) headers(to http.Header, tags []string) {
	for name, values := range map[string][]string{
		"If-Match": append(tags, "*", `"x"`, "", `W/"y", "z"`), "If-None-Match": append(tags, "*", `"x"`),
		idempotencyKeyHeader: {"k1", "k2", "k3", "", strings.Repeat("k", 300)}, "Prefer": {"return=minimal", ";;,"},
		"Content-Type": {"application/json", "application/json", "text/plain", "application/merge-patch+json", ";",
			"application/json; charset=latin1"},
		"Origin":        {"https://example.org", "null", "http://localhost:1"},
		"Last-Event-ID": {"0", "3", "-1", "x", "99999999999999999999"},
		profileHeader:   {"alpha", "none", "../x"}, sessionHeader: {"s1", "\xff"},
		"User-Agent": {"x\xff", strings.Repeat("u", 500)},
	} {
		if h.IntN(40) == 0 || ((name == "If-Match" || name == idempotencyKeyHeader) && h.IntN(12) == 0) {
			to.Set(name, pick(h, values...))
		}
	}
}

func TestHostileRequests(t *testing.T) {
	count := testenv.RepeatCount(2000, 18_000)
	if testing.Short() {
		count = 2000 // Short runs send fewer requests.
	}
	seed := uint64(19)
	if testenv.RepeatCount(0, 1) == 1 { // Long runs use a new seed each time.
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	home := newHome(t)
	handler := home.server.Config.Handler
	all, tags := routeTable(), []string{}
	mux := newMux(nil, nil)
	statuses := map[int]int{}
	rnd := rand.New(rand.NewPCG(seed, 1))
	for i := range count {
		token := pick(
			hostile{Rand: rnd},
			"a",
			"b",
			"a",
			"b",
			"a",
			"b",
			"all",
			"all",
			"all",
			"all",
			"all",
			"all",
			"reads",
			"wrong",
		)
		h := hostile{rnd, map[string]string{"a": markA, "b": markB}[token]}
		r := &all[i%len(all)]
		if h.mark == "" {
			// A token that sees both projects must not copy a project's mark into the other project.
			h.mark = "neutral"
		}
		if token == "all" && !r.verb.ReadOnly && (strings.HasPrefix(r.path, "/labels/") || r.path == "/consolidate") {
			token = "wrong" // These routes could move labels from one project to the other.
		}
		method, target, body := h.request(r)
		if i%100 == 0 {
			method = "GET"
			target = basePath + "/events"
			body = ""
		}
		u, err := url.ParseRequestURI(target)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		if i%100 == 0 {
			cancel() // A stream of events only ends when its client disconnects.
		}
		req := (&http.Request{Method: method, URL: u, Host: "localhost",
			Header: http.Header{"Authorization": {"Bearer " + token}}, Body: io.NopCloser(strings.NewReader(body)),
			ContentLength: int64(len(body)), RemoteAddr: "127.0.0.1:1"}).WithContext(
			ctx,
		)
		h.headers(req.Header, tags)
		if h.IntN(40) == 0 {
			req.Host = "example.org"
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		cancel()
		statuses[w.Code]++
		asked := fmt.Sprintf(
			"request %d: %s %s %s %v by %s",
			i,
			method,
			target,
			shortenQuotedText(body),
			req.Header,
			token,
		)
		judge(t, asked, token, routeOf(mux, req, r), method, w)
		if tag := w.Header().Get("ETag"); tag != "" {
			tags = append(tags[max(0, len(tags)-5):], tag)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("statuses: %v", statuses)
	for _, s := range []int{200, 201, 204, 400, 401, 403, 404, 405, 412} {
		if statuses[s] == 0 && !testing.Short() {
			t.Errorf("no request was answered with %d", s)
		}
	}
}

// judge fails the test if the response is wrong, whatever the request was. A response is wrong if it has the status
// 500, if it contains data of another project than the token's, or if it reports an error in another form than a
// problem document. A successful JSON response must conform to the schema of the route r.
func judge(t *testing.T, asked, token string, r *route, method string, w *httptest.ResponseRecorder) {
	t.Helper()
	got := w.Body.String() + fmt.Sprint(w.Header())
	switch {
	case w.Code == 500:
		t.Errorf("%s: %s", asked, got)
	case token == "a" && strings.Contains(got, markB), token == "b" && strings.Contains(got, markA):
		t.Errorf("%s gets what is of another: %s", asked, got)
	case w.Code >= 400 && method != "HEAD" && w.Header().Get("Content-Type") != "application/problem+json":
		t.Errorf("%s fails with %v", asked, w.Header())
	case w.Code >= 400 && method != "HEAD" && !json.Valid(w.Body.Bytes()):
		t.Errorf("%s fails with %s", asked, got)
	}
	if w.Code < 300 && method == r.method && w.Header().Get("Content-Type") == "application/json" &&
		bytes.HasPrefix(w.Body.Bytes(), []byte("{")) {
		fitsSchema(t, r.method+" "+r.path, w.Body.Bytes())
		if t.Failed() {
			t.Log(asked)
		}
	}
}

// routeOf returns the route that the server chooses for a request. Because of a hostile name in its path, this may be
// another route than intended. If no route matches, it returns the intended route.
func routeOf(mux *http.ServeMux, r *http.Request, intended *route) *route {
	_, pattern := mux.Handler(r)
	all := routeTable()
	for i := range all {
		if pattern == all[i].method+" "+basePath+all[i].path {
			return &all[i]
		}
	}
	return intended
}
