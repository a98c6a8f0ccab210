// This file tests the events, the messages and the quotas of a server with tenants.

package cli

import (
	"bufio"
	crand "crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestTenantEvents tests that a tenant's event stream reports only changes of that tenant.
func TestTenantEvents(t *testing.T) {
	s := newStreet(t, "")
	for i, of := range neighbours {
		other := neighbours[(i+1)%len(neighbours)]
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/api/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+pass(of))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		until := func(want string) {
			for lines.Scan() {
				if strings.Contains(lines.Text(), hush(other)) {
					t.Errorf("%s was told of %s: %s", of, other, lines.Text())
				}
				if strings.Contains(lines.Text(), want) {
					return
				}
			}
			t.Errorf("the stream of %s ended before %q: %v", of, want, lines.Err())
		}
		until("event: ready")
		for _, writes := range []string{other, of} {
			if status, answer := s.send(
				t,
				http.DefaultClient,
				"POST",
				"/api/v1/entries",
				pass(writes),
				`{"name":"event `+of+hush(writes)+`","content":"x"}`,
			); status != 201 {
				t.Fatalf("POST = %d %s", status, answer)
			}
		}
		until("event " + of + hush(of))
	}
}

// TestServiceShowsNoLinks tests the output of a server that runs as a service. The output is usually kept in files, so
// it must contain no link with which somebody could sign in as a tenant.
func TestServiceShowsNoLinks(t *testing.T) {
	s := &street{world: newWorld(t), links: map[string]string{}, service: true}
	s.env.Rand = crand.Reader
	file := filepath.Join(s.dir, "tokens")
	if err := os.WriteFile(file, []byte("a "+pass("a")+" rw tenant=a\nb "+pass("b")+
		" rw tenant=b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.serve(t, "serve", "--home", s.home("own"), "--http", ":0", "--tokens", file)
	s.stop()
	if strings.Contains(s.said.String(), "key=") || strings.Count(s.said.String(), s.url+"/ui/ with a token") != 1 {
		t.Errorf("the server said %s", s.said)
	}
}

// TestQuota tests that each interface refuses a write beyond the quota, with a message that says what to do.
func TestQuota(t *testing.T) {
	t.Parallel()
	s := newStreet(t, "tenant=alpha entries=4\ntenant=beta writes=1\n")
	post := func(of, name string) (int, string) {
		return s.send(t, http.DefaultClient, "POST", "/api/v1/entries", pass(of), `{"name":"`+name+`","content":"x"}`)
	}
	if status, answer := post("alpha", "fourth"); status != http.StatusCreated {
		t.Fatalf("POST = %d %s", status, answer)
	}
	for _, of := range neighbours[1:] {
		if status, answer := post(of, "first"); status != http.StatusCreated {
			t.Errorf("POST of %s = %d %s", of, status, answer)
		}
	}
	if status, answer := post("alpha", "fifth"); status != http.StatusTooManyRequests ||
		!strings.Contains(answer, `"code":"quota"`) || !strings.Contains(answer, `"bound":"entries"`) ||
		strings.Contains(answer, "Retry-After") {
		t.Errorf("POST to a full memory = %d %s", status, answer)
	}
	if status, answer := s.send(
		t,
		http.DefaultClient,
		"DELETE",
		"/api/v1/entries/fourth",
		pass("alpha"),
		"",
	); status != http.StatusOK {
		t.Fatalf("DELETE = %d %s", status, answer)
	}
	if status, answer := post("alpha", "in its place"); status != http.StatusCreated {
		t.Fatalf("POST = %d %s", status, answer)
	}
	for _, path := range []string{"/api/v1/entries/fourth/restore", "/api/v1/store/restore"} {
		if status, answer := s.send(
			t,
			http.DefaultClient,
			"POST",
			path,
			pass("alpha"),
			`{"name":"fourth","seq":4}`,
		); status != http.StatusTooManyRequests {
			t.Errorf("POST %s to a full memory = %d %s", path, status, answer)
		}
	}
	status, answer := http.StatusCreated, ""
	for n := 0; status == http.StatusCreated && n < 20; n++ {
		status, answer = post("beta", fmt.Sprint("next ", n))
	}
	if status != http.StatusTooManyRequests || !strings.Contains(answer, "Retry-After:[1]") {
		t.Errorf("POST too soon = %d %s", status, answer)
	}
	var answers strings.Builder
	c := &http.Client{Transport: carrier{pass("alpha"), func(answer string) { answers.WriteString(answer) }}}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(
		t.Context(),
		&mcp.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: c, DisableStandaloneSSE: true},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if res, err := session.CallTool(
		t.Context(),
		&mcp.CallToolParams{Name: "remember", Arguments: map[string]any{"name": "sixth", "content": "x"}},
	); err != nil || !res.IsError || !strings.Contains(answers.String(), "may have 4 entries") ||
		!strings.Contains(answers.String(), "forget what is not needed") {
		t.Errorf("remember = %+v, %v: %s", res, err, answers.String())
	}
}
