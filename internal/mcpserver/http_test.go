// This file tests which clients may connect over HTTP.

package mcpserver

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/vfs"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`

func TestGuard(t *testing.T) {
	workspace, opened := newWorkspace(t, vfs.NewMem())
	srv := httptest.NewServer(New(workspace, nil).Handler(auth.RequestGuard{
		Tokens:  auth.Tokens{auth.NewToken("", token, auth.Permissions{})},
		Hosts:   []string{"memory.example"},
		Origins: []string{"https://ok.example"},
	}))
	defer srv.Close()
	good := "Bearer " + token
	for _, c := range []struct {
		name, host, origin, auth, body string
		want                           int
	}{
		{"all right", "", "", good, hello, 200},
		{"localhost", "localhost:8080", "", good, hello, 200},
		{"IPv6", "[::1]:80", "", good, hello, 200},
		{"loopback network", "127.8.9.1", "", good, hello, 200},
		{"allowed host", "memory.example:443", "", good, hello, 200},
		{"foreign host", "evil.example", "", good, hello, 403},
		{"host that resolves here", "localhost.evil.example", "", good, hello, 403},
		{"host of another machine", "192.168.1.2", "", good, hello, 403},
		{"own origin", "", "http://localhost:3000", good, hello, 200},
		{"own origin by number", "", "http://127.0.0.1", good, hello, 200},
		{"allowed origin", "", "https://ok.example", good, hello, 200},
		{"foreign origin", "", "https://evil.example", good, hello, 403},
		{"origin that looks like ours", "", "http://localhost.evil.example", good, hello, 403},
		{"origin with a user", "", "http://localhost@evil.example", good, hello, 403},
		{"null origin", "", "null", good, hello, 403},
		{"origin of a file", "", "file://localhost", good, hello, 403},
		{"no token", "", "", "", hello, 401},
		{"wrong token", "", "", "Bearer x", hello, 401},
		{"token cut short", "", "", good[:len(good)-1], hello, 401},
		{"no scheme", "", "", token, hello, 401},
		{"other scheme", "", "", "Basic " + token, hello, 401},
		{"scheme in lower case", "", "", "bearer " + token, hello, 200},
		{"big body", "", "", good, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` +
			strings.Repeat("x", auth.MaxBodyBytes) + `"}}`, 413},
		{"big body without token", "", "", "", strings.Repeat("x", auth.MaxBodyBytes+1), 401},
	} {
		for _, chunked := range []bool{false, true} {
			var body io.Reader = strings.NewReader(c.body)
			if chunked {
				body = struct{ io.Reader }{body} // The request does not tell its length.
			}
			req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL, body)
			if err != nil {
				t.Fatal(err)
			}
			if c.host != "" {
				req.Host = c.host
			}
			for k, v := range map[string]string{"Origin": c.origin, "Authorization": c.auth} {
				if v != "" {
					req.Header.Set(k, v)
				}
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			said, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if res.StatusCode != c.want {
				t.Errorf("%s: status %d, want %d: %s", c.name, res.StatusCode, c.want, said)
			}
			if (res.StatusCode == 401) != (res.Header.Get("WWW-Authenticate") != "") {
				t.Errorf(
					"%s: status %d with WWW-Authenticate %q",
					c.name,
					res.StatusCode,
					res.Header.Get("WWW-Authenticate"),
				)
			}
			for h := range res.Header {
				if strings.HasPrefix(h, "Access-Control-") {
					t.Errorf("%s: the answer has the header %s", c.name, h)
				}
			}
		}
	}
	if opened.Load() != 0 {
		t.Error("the store was opened by requests that called nothing")
	}
}

// TestNoTokenSet checks that every client is refused if the server has no token, whatever the client sends.
func TestNoTokenSet(t *testing.T) {
	workspace, _ := newWorkspace(t, vfs.NewMem())
	h := New(workspace, nil).Handler(auth.RequestGuard{})
	for _, auth := range []string{"", "Bearer", "Bearer ", "Bearer x"} {
		req := httptest.NewRequest("POST", "http://localhost/", strings.NewReader(hello))
		req.Header.Set("Authorization", auth)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != http.StatusUnauthorized {
			t.Errorf("Authorization %q: status %d, want 401", auth, w.Code)
		}
	}
}

// TestHTTPSpeaksAsStdio checks that HTTP behaves like standard streams: each error has a code, requests with IDs that
// cannot be returned are refused, and batches are allowed only in protocol versions that have them.
func TestHTTPSpeaksAsStdio(t *testing.T) {
	workspace, _ := newWorkspace(t, vfs.NewMem())
	srv := httptest.NewServer(New(workspace, nil).Handler(auth.RequestGuard{
		Tokens: auth.Tokens{auth.NewToken("", token, auth.Permissions{})},
	}))
	defer srv.Close()
	post := func(session, body string) (int, string, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Authorization": "Bearer " +
			token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Session-Id": session} {
			if v != "" {
				req.Header.Set(k, v)
			}
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		said, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("Mcp-Session-Id"), string(said)
	}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if _, _, said := post("", list); !strings.Contains(said, `"id":2,"error":{"code":-32603,`) {
		t.Errorf("a call before initialize: %.200s, want the code of an internal error", said)
	}
	// The server cannot represent these request IDs, so it refuses the requests. The error answer must still contain
	// the ID as the client wrote it.
	const ping = `{"jsonrpc":"2.0","id":%s,"method":"ping"}`
	for _, version := range []string{"2025-11-25", "2025-03-26"} {
		_, session, _ := post("", strings.Replace(hello, "2025-11-25", version, 1))
		for _, id := range []string{"null", "1.5", "9007199254740992", "-9007199254740992", "1e300"} {
			for _, body := range []string{fmt.Sprintf(ping, id), "[" + list + "," + fmt.Sprintf(ping, id) + "]"} {
				if status, _, said := post(session, body); status != http.StatusBadRequest ||
					!strings.Contains(said, `"id":`+id+`,"error":{"code":-32600,`) {
					t.Errorf(
						"%s: %s is answered %d %.200s, want 400 and the code of no request",
						version,
						body,
						status,
						said,
					)
				}
			}
		}
		for _, id := range []string{`"x"`, "-3", "9007199254740991"} {
			if status, _, said := post(session, fmt.Sprintf(ping, id)); status != http.StatusOK ||
				!strings.Contains(said, `"id":`+id) {
				t.Errorf("%s: the id %s is answered %d %.200s", version, id, status, said)
			}
		}
	}
	for version, lists := range map[string]bool{"2025-11-25": false, "2025-03-26": true} {
		_, session, _ := post("", strings.Replace(hello, "2025-11-25", version, 1))
		post(session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if status, _, said := post(session, "["+list+"]"); (status == http.StatusOK) != lists {
			t.Errorf("%s: a list of messages: %d %.200s, want it taken: %t", version, status, said, lists)
		}
	}
}
