// Tests with three processes of oxbowd: tenants, agents, and the loss of a process.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow/jetstream"
)

// The constants acme and rival are the tokens of two tenants. The constant secret is the secret of the cluster, with
// which programs connect to its servers.
const (
	acme   = "kE0v1sVQxqB8oVbW2mZt5wAAAA"
	rival  = "zE0v1sVQxqB8oVbW2mZt5wBBBB"
	secret = "a-secret-of-the-cluster"
)

// homeOf returns a directory that contains a secret and a token file.
func homeOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"secret": secret + "\n", "tokens": "ops " + acme +
		" rw tenant=acme\nops2 " + rival + " rw tenant=rival\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// freeAddresses returns the addresses of ports that are not used.
func freeAddresses(t *testing.T, n int) []string {
	t.Helper()
	addrs := make([]string, n)
	for i := range addrs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addrs[i] = l.Addr().String()
		defer l.Close()
	}
	return addrs
}

// request sends an HTTP request, and returns the status and the body of the response.
func request(ctx context.Context, token, method, url, body string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// api is like request, but an error ends the test.
func api(t *testing.T, token, method, url, body string) (int, string) {
	t.Helper()
	status, answer, err := request(t.Context(), token, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

// apiAfterLoss is like api, for a request soon after a server was lost. Until the other servers have elected a leader,
// they answer with the status 503 and tell the client to try again. apiAfterLoss repeats the request for at most a
// minute.
func apiAfterLoss(t *testing.T, token, method, url, body string) (int, string) {
	t.Helper()
	for began := time.Now(); ; {
		status, answer := api(t, token, method, url, body)
		if status != http.StatusServiceUnavailable || time.Since(began) > time.Minute {
			return status, answer
		}
	}
}

// bearer is an HTTP transport that adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// agent calls a tool with the Model Context Protocol, and returns the tool's answer.
func agent(t *testing.T, token, url, tool string, args map[string]any) string {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url +
			"/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || res.IsError {
		t.Fatalf("%s = %+v, %v", tool, res, err)
	}
	b, err := json.Marshal(res.Content)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// leader returns the number of the process that leads the stream with the most messages.
func leader(t *testing.T, url string, l clientLogin) int {
	t.Helper()
	b := &clusterMemories{serverURLs: url, login: l}
	if err := b.connectCluster(t.Context(), &serverNode{serverName: "test"}, t.TempDir(), t.Logf); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := b.cluster.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Streams = slices.DeleteFunc(s.Streams, func(s jetstream.StreamStatus) bool { return s.Brains == 0 })
	at := slices.MaxFunc(s.Streams, func(a, b jetstream.StreamStatus) int { return int(a.Messages) - int(b.Messages) })
	var i int
	if _, err := fmt.Sscanf(at.Leader, "n%d", &i); err != nil {
		t.Fatalf("stream %s is led by %q", at.Name, at.Leader)
	}
	return i
}

// writer writes entries until ctx ends. It returns the names of the entries whose writes were acknowledged, and the
// longest time for a write.
func writer(ctx context.Context, t *testing.T, id int, url string) (names []string, longest time.Duration) {
	for n := 0; ctx.Err() == nil; n++ {
		name, begun := fmt.Sprintf("w%d-%d", id, n), time.Now()
		status, answer, err := request(context.WithoutCancel(ctx), acme, "PUT", url+"/api/v1/entries/"+
			name, `{"content":"`+name+`"}`)
		for err == nil && status == http.StatusServiceUnavailable && time.Since(begun) < time.Minute {
			status, answer, err = request(context.WithoutCancel(ctx), acme, "PUT", url+"/api/v1/entries/"+
				name, `{"content":"`+name+`"}`)
		}
		longest = max(longest, time.Since(begun))
		if err != nil || status != http.StatusCreated {
			t.Errorf("PUT of %s = %d %s, %v", name, status, answer, err)
			return names, longest
		}
		names = append(names, name)
	}
	return names, longest
}

// TestThreeProcesses tests that agents of a tenant read through one process what other agents of the tenant wrote
// through another process, and that other tenants do not read it. If a process is killed, the other processes must
// continue to serve. When the process starts again, it must have all acknowledged entries.
func TestThreeProcesses(t *testing.T) {
	t.Parallel()
	dir, addrs := homeOf(t), freeAddresses(t, 6)
	start := func(i int) *process {
		return serve(
			t,
			dir,
			"--home",
			fmt.Sprint("h", i),
			"--name",
			fmt.Sprint("n", i),
			"--listen",
			addrs[i],
			"--cluster",
			addrs[3+i],
			"--peers", strings.Join(addrs[3:], ","), "--secret-file", "secret", "--tokens", "tokens",
		)
	}
	var processes [3]*process
	var urls [3]string
	for i := range processes {
		processes[i] = start(i)
	}
	for i, p := range processes {
		urls[i] = p.url(t)
		healthz(t, urls[i], http.StatusOK, "ok\n")
	}

	if status, answer := api(t, acme, "PUT", urls[0]+
		"/api/v1/entries/deploy", `{"content":"We deploy on Tuesdays."}`); status != http.StatusCreated {
		t.Fatalf("PUT = %d %s", status, answer)
	}
	if got := agent(
		t,
		acme,
		urls[1],
		"recall",
		map[string]any{"query": "when do we deploy"},
	); !strings.Contains(got, "on Tuesdays") {
		t.Errorf("recall of an agent = %s", got)
	}
	agent(t, acme, urls[1], "remember", map[string]any{"name": "review", "content": "Two people review."})
	if _, got := api(t, acme, "GET", urls[2]+
		"/api/v1/recall?query=review", ""); !strings.Contains(got, "Two people review") {
		t.Errorf("recall = %s", got)
	}
	if status, got := api(t, rival, "GET", urls[2]+"/api/v1/entries/deploy", ""); status != http.StatusNotFound {
		t.Errorf("GET of another tenant = %d %s", status, got)
	}
	if _, got := api(t, rival, "GET", urls[0]+"/api/v1/recall?query=deploy", ""); strings.Contains(got, "Tuesdays") {
		t.Errorf("recall of another tenant = %s", got)
	}
	if got := agent(
		t,
		rival,
		urls[0],
		"recall",
		map[string]any{"query": "when do we deploy"},
	); strings.Contains(got, "Tuesdays") {
		t.Errorf("recall of an agent of another tenant = %s", got)
	}

	body := `{"content":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}`
	status, got := api(t, acme, "PUT", urls[2]+"/api/v1/entries/key", body)
	if status != http.StatusCreated || strings.Contains(got, "ghp_16C7") {
		t.Errorf("PUT of a secret = %d %s, want it redacted", status, got)
	}

	lost := leader(t, addrs[0], newSecretLogin(secret, nil))
	ctx, stop := context.WithCancel(t.Context())
	var all [3][]string
	var gaps [3]time.Duration
	var wg sync.WaitGroup
	for i := range 3 {
		if i != lost {
			wg.Go(func() { all[i], gaps[i] = writer(ctx, t, i, urls[i]) })
		}
	}
	processes[lost].kill()
	other := (lost + 1) % 3
	for i := range 30 {
		if status, answer := apiAfterLoss(
			t,
			acme,
			"PUT",
			fmt.Sprintf("%s/api/v1/entries/after-%d", urls[other], i),
			`{"content":"It goes on."}`,
		); status != http.StatusCreated {
			t.Errorf("PUT = %d %s", status, answer)
		}
	}
	stop()
	wg.Wait()
	names := append(slices.Concat(all[:]...), "deploy", "review", "after-0", "after-29")
	t.Logf("killed n%d; %d changes, the longest took %v", lost, len(names), slices.Max(gaps[:]))
	processes[lost] = start(lost)
	urls[lost] = processes[lost].url(t)
	for _, name := range names {
		if status, answer := api(t, acme, "GET", urls[lost]+"/api/v1/entries/"+name, ""); status != http.StatusOK {
			t.Errorf("GET of %s = %d %s", name, status, answer)
		}
	}
	if status, answer := api(t, acme, "GET", urls[other]+"/api/v1/check", ""); status != http.StatusOK ||
		!strings.Contains(answer, `"problems":[]`) {
		t.Errorf("check = %d %s", status, answer)
	}

	// If two processes are lost, the third must report this, and must report that it is ready again afterwards.
	for _, i := range []int{lost, other} {
		processes[i].kill()
	}
	third := 3 - lost - other
	healthz(
		t,
		urls[third],
		http.StatusServiceUnavailable,
		"the memories cannot be read: most of their servers do not answer\n",
	)
	processes[lost] = start(lost)
	healthz(t, urls[third], http.StatusOK, "ok\n")
	if status, answer := api(t, acme, "GET", urls[third]+"/api/v1/entries/deploy", ""); status != http.StatusOK {
		t.Errorf("GET = %d %s", status, answer)
	}
}

// healthz waits until the health check of a process answers with the given status and body.
func healthz(t *testing.T, url string, status int, body string) {
	t.Helper()
	for began := time.Now(); ; {
		s, b, err := request(t.Context(), "", "GET", url+"/healthz", "")
		if s == status && b == body {
			return
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("/healthz = %d %q, %v, want %d %q", s, b, err, status, body)
		}
	}
}
