// This file tests push and pull with servers that are not oxbow servers, or that send false answers.

package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPushToAHostileServer tests that push and pull end with an error, whatever the server answers. The error must be
// safe to print on a terminal. No request may go to another host, and the home must not change.
func TestPushToAHostileServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "deploy", "on Tuesdays")
	const secret = "a-long-secret-of-the-user"
	w.vars["OXBOW_TOKEN"] = secret
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host was asked for %s, with %q", r.URL, r.Header)
	}))
	defer other.Close()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(bytes.Repeat([]byte("x"), 1<<20))
	}
	_ = z.Close()
	for what, answer := range map[string]http.HandlerFunc{
		"a page":  func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "<html>welcome</html>") },
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"another host": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, other.URL+r.URL.Path, http.StatusFound)
		},
		"another host, 8": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, other.URL+r.URL.Path, http.StatusPermanentRedirect)
		},
		"a bomb": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write(bomb.Bytes())
		},
		"a problem for the terminal": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/problem+json")
			rw.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(
				rw,
				`{"code":"invalid","field":"x","value":"\u001b]0;owned\u0007%s","reason":"\u001b[2J","detail":"\u001b[31mred\u009b2J\u202e%s"}`,
				strings.Repeat("v", 10_000),
				strings.Repeat("d", 10_000),
			)
		},
		"every note": func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/entries") {
				fmt.Fprintln(
					rw,
					`{"entry":{"id":1,"name":"../../etc/passwd\u001b[2J","kind":"note","content":"x","version":1}}`+
						"\n"+`{"end":{"count":1}}`,
				)
				return
			}
			fmt.Fprint(rw, `{"position":"AAAA"}`)
		},
	} {
		t.Run(what, func(t *testing.T) {
			srv := httptest.NewServer(answer)
			defer srv.Close()
			for _, verb := range []string{"push", "pull"} {
				status, stdout, stderr := w.run(t, verb, srv.URL)
				if status == exitSuccess || stderr == "" {
					t.Errorf("%s = %d, %.300q%.300q, want an error", verb, status, stdout, stderr)
				}
				if said := stdout + stderr; len(said) > 12_000 || strings.ContainsAny(said, "\x1b\x07\u009b\u202e") ||
					strings.Contains(said, secret) {
					t.Errorf("%s printed %d bytes: %.300q", verb, len(said), said)
				}
			}
			if out := w.must(t, "list", "--json"); strings.Count(out, `"name"`) != 1 ||
				!strings.Contains(out, "deploy") {
				t.Errorf("the home has %s", out)
			}
		})
	}
	if out := w.must(t, "remote", "--json"); !strings.Contains(out, `"servers":[]`) {
		t.Errorf("remembered is %s", out)
	}
	w.must(t, "check")
}
