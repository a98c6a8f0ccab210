// This file implements the command requests. It measures the processor time that a server needs for one request,
// without the time of the client.

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// requestsRun is one run of the command requests.
type requestsRun struct {
	*bench
	entryCount, requestCount, rounds int
	entrySize                        int
	clientCount                      int // number of clients that send requests at the same time
	programPathList                  string
	kindPattern                      string // only kinds whose names match this pattern are measured
	seed                             uint64
	textSource                       textSource

	phrases           []string
	writtenEntryCount atomic.Int64 // number of remembered entries, for their names
}

func requestsCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &requestsRun{bench: b}
	fl.IntVar(&r.entryCount, "n", 100_000, "entries in the home")
	fl.IntVar(&r.requestCount, "requests", 500, "requests of each kind in a round")
	fl.IntVar(&r.rounds, "rounds", 5, "rounds, in which the programs take turns")
	fl.IntVar(&r.entrySize, "bytes", 230, "approximate size of an entry in bytes")
	fl.IntVar(&r.clientCount, "clients", 8, "clients that send requests at the same time")
	fl.StringVar(&r.programPathList, "programs", "", "`FILE,FILE` of programs to compare (default: oxbow is built)")
	fl.StringVar(&r.kindPattern, "only", "", "requests whose names match `REGEXP`")
	fl.Uint64Var(&r.seed, "seed", 1, "seed of the sampling")
	r.textSource.addFlags(fl)
	b.addDirFlag(fl)
	return r.run
}

// measuredServer is the server of one program: oxbow serve, whose requests arrive over HTTP, and oxbow mcp, whose calls
// arrive over standard input.
type measuredServer struct {
	url        string
	httpServer *exec.Cmd  // oxbow serve
	mcp        *mcpClient // oxbow mcp

	client     *http.Client
	mu         sync.Mutex // guards mcpSession
	mcpSession string     // ID of the session of MCP over HTTP
	lastID     atomic.Int64
}

// serverKind is one kind of request to a server.
type serverKind struct {
	name        string
	sendRequest func(ctx context.Context, s *measuredServer, phrase string) error
}

func (r *requestsRun) run(ctx context.Context) (err error) {
	if r.requestCount < 1 || r.rounds < 1 || r.clientCount < 1 {
		return errors.New("measuring requests: --requests, --rounds and --clients must be above 0")
	}
	wanted, err := regexp.Compile(r.kindPattern)
	if err != nil {
		return fmt.Errorf("measuring requests: %w", err)
	}
	dir, remove, err := r.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	paths := strings.Split(r.programPathList, ",")
	if r.programPathList == "" {
		built, err := buildOxbow(ctx, dir, "oxbow", "-trimpath")
		if err != nil {
			return err
		}
		paths = []string{built}
	}
	r.textSource.entryBytes = r.entrySize
	entries, from, err := r.textSource.readEntries(ctx, r.entryCount)
	if err != nil {
		return err
	}
	r.phrases, err = samplePhrases(entries, 2000, r.seed)
	if err != nil {
		return err
	}
	model := filepath.Join(dir, "model")
	if err := os.MkdirAll(model, 0o700); err != nil {
		return err
	}
	if err := fillHome(ctx, model, repeatEntries(entries, r.entryCount)); err != nil {
		return err
	}
	kinds := slices.DeleteFunc(r.requestKinds(), func(k serverKind) bool { return !wanted.MatchString(k.name) })
	servers := make([]*measuredServer, 0, 2*len(paths))
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.stop())
		}
	}()
	for i, path := range paths {
		home := filepath.Join(dir, fmt.Sprintf("home%d", i))
		if err := os.CopyFS(home, os.DirFS(model)); err != nil {
			return err
		}
		s, err := r.startMeasuredServer(ctx, path, home)
		if err != nil {
			return err
		}
		servers = append(servers, s)
	}
	library, err := oxbow.Open(filepath.Join(model, "memory.oxbow"), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, library.Close()) }()
	costs := make([][]timings, len(kinds)) // for each kind and program, the processor time per request in each round
	for i := range costs {
		costs[i] = make([]timings, len(paths))
	}
	var plain timings
	for round := range r.rounds + 1 {
		rnd := rand.New(rand.NewPCG(r.seed, uint64(round)))
		asked := make([]string, r.requestCount)
		for i := range asked {
			asked[i] = r.phrases[rnd.IntN(len(r.phrases))]
		}
		started, _ := processorTime()
		for _, phrase := range asked {
			if _, err := library.Recall(ctx, oxbow.Query{Text: phrase}); err != nil {
				return err
			}
		}
		ended, _ := processorTime()
		if round > 0 { // The first round warms the caches and is not counted.
			plain = append(plain, (ended-started)/time.Duration(r.requestCount))
		}
		for k, kind := range kinds {
			for p := range paths {
				cost, err := r.measureRequests(ctx, servers[p], kind, asked)
				if err != nil {
					return fmt.Errorf("%s: %w", kind.name, err)
				}
				if round > 0 {
					costs[k][p] = append(costs[k][p], cost)
				}
			}
		}
		r.logf("round %d of %d", round, r.rounds)
	}
	r.printTitle("requests", dir)
	head := []string{"processor time of the server, one request"}
	for i := range paths {
		name := ""
		if len(paths) > 1 {
			name = fmt.Sprintf(", program %d", i+1)
		}
		head = append(head, "median"+name, "× Memory.Recall"+name)
	}
	t := newTable(head...)
	row := []string{"Memory.Recall of the library"}
	for range paths {
		row = append(row, formatDuration(plain.p50()), "1.00×")
	}
	t.addRow(row...)
	for k, kind := range kinds {
		row := []string{kind.name}
		for p := range paths {
			row = append(row, formatDuration(costs[k][p].p50()), formatRatio(costs[k][p].p50(), plain.p50()))
		}
		t.addRow(row...)
	}
	r.emitTable(t)
	r.printf("%s entries of about %d bytes, from %s; %s, each of which waits for its answers.\n\n",
		formatCount(r.entryCount), r.entrySize, from, text.FormatCount(r.clientCount, "client", "clients"))
	return nil
}

// requestKinds returns the kinds of requests that are measured.
func (r *requestsRun) requestKinds() []serverKind {
	newEntry := func(phrase string) map[string]any {
		n := r.writtenEntryCount.Add(1)
		return map[string]any{
			"name": fmt.Sprintf("written %d", n),
			"content": fmt.Sprintf("Entry %d was written while requests were measured. It is about %s, which somebody "+
				"wanted to look up again later, and it has the length of a short note.", n, phrase),
		}
	}
	return []serverKind{
		{"HEAD /openapi.json", func(ctx context.Context, s *measuredServer, _ string) error {
			return s.request(ctx, http.MethodHead, "/openapi.json", nil, http.StatusOK)
		}},
		{"POST /recall", func(ctx context.Context, s *measuredServer, phrase string) error {
			return s.request(ctx, http.MethodPost, "/api/v1/recall", map[string]any{"query": phrase}, http.StatusOK)
		}},
		{"MCP recall, HTTP", func(ctx context.Context, s *measuredServer, phrase string) error {
			return s.callTool(ctx, "recall", map[string]any{"query": phrase})
		}},
		{"MCP recall, standard input", func(ctx context.Context, s *measuredServer, phrase string) error {
			return (<-s.mcp.callTool("recall", map[string]any{"query": phrase})).toolError()
		}},
		{"POST /entries", func(ctx context.Context, s *measuredServer, phrase string) error {
			return s.request(ctx, http.MethodPost, "/api/v1/entries", newEntry(phrase), http.StatusCreated)
		}},
		{"MCP remember, HTTP", func(ctx context.Context, s *measuredServer, phrase string) error {
			return s.callTool(ctx, "remember", newEntry(phrase))
		}},
	}
}

// measureRequests sends one request for each phrase from r.clientCount clients at the same time. It returns the
// server's average processor time for a request.
func (r *requestsRun) measureRequests(
	ctx context.Context,
	s *measuredServer,
	kind serverKind,
	phrases []string,
) (time.Duration, error) {
	before, err := s.processorTime()
	if err != nil {
		return 0, err
	}
	var next atomic.Int64
	clients, ctx := errgroup.WithContext(ctx)
	for range r.clientCount {
		clients.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(phrases) {
					return nil
				}
				if err := kind.sendRequest(ctx, s, phrases[i]); err != nil {
					return err
				}
			}
		})
	}
	if err := clients.Wait(); err != nil {
		return 0, err
	}
	after, err := s.processorTime()
	return (after - before) / time.Duration(len(phrases)), err
}

// processorTime returns the processor time of both processes of the server.
func (s *measuredServer) processorTime() (time.Duration, error) {
	var sum time.Duration
	for _, cmd := range []*exec.Cmd{s.httpServer, s.mcp.cmd} {
		t, ok := processorTimeOf(cmd.Process.Pid)
		if !ok {
			return 0, errors.New("measuring requests: the processor time of another process is unknown on this system")
		}
		sum += t
	}
	return sum, nil
}

// startMeasuredServer starts a server for HTTP, and one for standard input, of a home.
func (r *requestsRun) startMeasuredServer(ctx context.Context, path, home string) (*measuredServer, error) {
	s := &measuredServer{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: r.clientCount}}}
	tokens := home + ".tokens"
	if err := os.WriteFile(tokens, []byte("bench "+serverToken+" rw\n"), 0o600); err != nil {
		return nil, err
	}
	s.httpServer = exec.CommandContext(ctx, path, "serve", "--home", home, "--tokens", tokens, "--http", "127.0.0.1:0")
	s.httpServer.Env = minimalEnv(os.Getenv, home)
	url, err := startAndReadAddress(s.httpServer)
	if err != nil {
		return nil, err
	}
	s.url = url
	s.mcp, err = startServer(ctx, program{
		path: path,
		args: []string{"mcp", "--home", home},
		env:  minimalEnv(os.Getenv, home),
	})
	if err == nil {
		err = s.mcp.initialize()
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// serverToken is the secret of the token with which the requests are sent.
const serverToken = "a-secret-of-the-measurement"

// startAndReadAddress starts a server and returns the address that it prints to standard error.
func startAndReadAddress(cmd *exec.Cmd) (url string, err error) {
	out, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	var printed bytes.Buffer
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		printed.Write(line)
		if m := serverAddressPattern.FindSubmatch(line); m != nil {
			// Read the rest of the server's output, so that the server does not block. The goroutine ends when the
			// server ends.
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return string(m[1]), nil
		}
		if err != nil {
			_ = cmd.Wait() // Ignore the error of Wait, because the output says more.
			return "", fmt.Errorf("the server ended: %s", printed.String())
		}
	}
}

// stop ends the processes.
func (s *measuredServer) stop() (err error) {
	if s.mcp != nil {
		err = s.mcp.close()
	}
	if s.httpServer != nil && s.httpServer.Process != nil {
		err = errors.Join(err, s.httpServer.Process.Kill())
		_ = s.httpServer.Wait() // Ignore the error of Wait, because it only says that the process was killed.
	}
	return err
}

// send sends a request with a JSON body, and returns the response and its body.
func (s *measuredServer) send(
	ctx context.Context,
	method, target string,
	body any,
	accept, mcpSession string,
) (*http.Response, []byte, error) {
	var b []byte
	if body != nil {
		var err error
		b, err = json.Marshal(body)
		if err != nil {
			return nil, nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+target, bytes.NewReader(b))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+serverToken)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	if mcpSession != "" {
		req.Header.Set("Mcp-Session-Id", mcpSession)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	answer, err := io.ReadAll(res.Body)
	return res, answer, errors.Join(err, res.Body.Close())
}

// request sends a request to the HTTP API. It returns an error if the status is not wantStatus.
func (s *measuredServer) request(ctx context.Context, method, target string, body any, wantStatus int) error {
	res, answer, err := s.send(ctx, method, target, body, "application/json", "")
	if err == nil && res.StatusCode != wantStatus {
		err = fmt.Errorf("%s %s = %s %s", method, target, res.Status, answer)
	}
	return err
}

// startMCPSession performs the handshake of MCP over HTTP, unless it was performed before. It returns the ID of the
// session.
func (s *measuredServer) startMCPSession(ctx context.Context) (id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mcpSession != "" {
		return s.mcpSession, nil
	}
	res, _, err := s.sendMCPMessage(ctx, "", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize",
		"params": map[string]any{"protocolVersion": protocolVersion, "capabilities": map[string]any{},
			"clientInfo": map[string]any{"name": "oxbow-bench", "version": "1"}}})
	if err != nil {
		return "", err
	}
	s.mcpSession = res.Header.Get("Mcp-Session-Id")
	_, _, err = s.sendMCPMessage(
		ctx,
		s.mcpSession,
		map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"},
	)
	return s.mcpSession, err
}

// callTool calls a tool of MCP over HTTP.
func (s *measuredServer) callTool(ctx context.Context, name string, args any) error {
	session, err := s.startMCPSession(ctx)
	if err != nil {
		return err
	}
	_, answer, err := s.sendMCPMessage(
		ctx,
		session,
		map[string]any{"jsonrpc": "2.0", "id": s.lastID.Add(1) + 1, "method": "tools/call",
			"params": map[string]any{"name": name, "arguments": args}},
	)
	if err != nil {
		return err
	}
	// The answer is an event stream with one message, or the message itself.
	if _, data, ok := bytes.Cut(answer, []byte("data: ")); ok {
		answer = data
	}
	var m struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(bytes.TrimSpace(answer), &m); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if m.Error != nil {
		return fmt.Errorf("calling %s: %s", name, m.Error)
	}
	return mcpReply{result: m.Result}.toolError()
}

// sendMCPMessage sends one message of MCP over HTTP.
func (s *measuredServer) sendMCPMessage(ctx context.Context, session string, m any) (*http.Response, []byte, error) {
	res, answer, err := s.send(ctx, http.MethodPost, "/mcp", m, "application/json, text/event-stream", session)
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("POST /mcp = %s %s", res.Status, answer)
	}
	return res, answer, err
}
