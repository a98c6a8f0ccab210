// This file implements the command http. It measures the time of a recall over HTTP while many clients are connected,
// including slow clients.

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/httpapi"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
)

// httpRun is one run of the command http, which measures recalls over HTTP.
type httpRun struct {
	*bench
	entryCount, clientCount, slowClientCount int
	recallsPerSecond                         float64 // number of recalls per second by all clients together
	measureTime                              time.Duration
	seed                                     uint64
	textSource                               textSource

	sendsNothing      bool // The clients send no requests.
	addr              string
	phrases           []string
	slowConnections   atomic.Int64 // number of open connections from slow clients
	closedConnections atomic.Int64 // number of connections from slow clients that the server has closed
}

func httpCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &httpRun{bench: b}
	fl.IntVar(&r.entryCount, "n", 100_000, "entries in the store")
	fl.IntVar(&r.clientCount, "clients", 1000, "connections that are kept and recall in turn")
	fl.IntVar(&r.slowClientCount, "slow", 100, "connections that send or read a byte a second")
	fl.Float64Var(&r.recallsPerSecond, "rate", 200, "recalls a second, of all clients together")
	fl.DurationVar(&r.measureTime, "time", 30*time.Second, "how long to measure")
	fl.Uint64Var(&r.seed, "seed", 1, "seed of the sampling")
	r.textSource.addFlags(fl)
	b.addDirFlag(fl)
	return r.run
}

// benchToken is the token of the clients.
const benchToken = "bench"

func (r *httpRun) run(ctx context.Context) (err error) {
	dir, remove, err := r.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	entries, from, err := r.textSource.readEntries(ctx, r.entryCount)
	if err != nil {
		return err
	}
	r.phrases, err = samplePhrases(entries, 2000, r.seed)
	if err != nil {
		return err
	}
	texts := len(entries)
	for i := texts; i < r.entryCount; i++ {
		e := entries[i%texts]
		entries = append(entries, oxbow.Add{Name: fmt.Sprintf("%s again %d", e.Name, i/texts), Content: e.Content})
	}
	m, err := oxbow.Open(filepath.Join(dir, "memory.oxbow"), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if err := fillMemory(ctx, m, entries); err != nil {
		return err
	}
	var direct timings
	for i := range 1000 {
		if err := direct.timeCall(func() error {
			_, err := m.Recall(ctx, oxbow.Query{Text: r.phrases[i%len(r.phrases)], Limit: 5})
			return err
		}); err != nil {
			return err
		}
	}
	srv, l, err := r.serve(m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	r.addr = l.Addr().String()
	r.printTitle("http", dir)
	r.printf(
		"%s entries, of %s texts from %s; %s kept connections recall %.0f times a second together, each at times of "+
			"its own; %s slow ones send a request or read an answer a byte a second. Server and clients share one "+
			"process. A recall counts from when it was due.\n\n",
		formatCount(
			len(entries),
		),
		formatCount(texts),
		from,
		formatCount(r.clientCount),
		r.recallsPerSecond,
		formatCount(r.slowClientCount),
	)
	t := newTable("recall", "p50", "p99", "most", "recalls", "slow ones held", "cut off by the server")
	t.addRow(
		"of the library, alone",
		formatDuration(direct.quantile(.5)),
		formatDuration(direct.quantile(.99)),
		formatDuration(direct.quantile(1)),
		formatCount(len(direct)),
		"–",
		"–",
	)
	// Let the server answer some recalls without printing the times. The first recalls start background work, such as
	// building the index file, which must not be counted.
	if err := r.measureRecalls(ctx, newTable(make([]string, 7)...), "", 0); err != nil {
		return err
	}
	for _, slow := range []int{0, r.slowClientCount} {
		for _, what := range []string{"an answer without work", "over HTTP"} {
			r.sendsNothing = what != "over HTTP"
			if r.sendsNothing {
				what += ","
			}
			if err := r.measureRecalls(ctx, t, what, slow); err != nil {
				return err
			}
		}
	}
	r.emitTable(t)
	return nil
}

// serve starts an HTTP server for the memory m on a free local port, with the same API as oxbow serve. It also serves
// 4,096 zero bytes at /nothing. It returns the server and its listener without waiting for requests.
func (r *httpRun) serve(m *oxbow.Memory) (*http.Server, net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	views := &rights.Options{
		Workspace: &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) {
			return m, nil
		}},
	}
	guard := auth.RequestGuard{Tokens: auth.Tokens{auth.NewToken("bench", benchToken, auth.Permissions{})}}
	mux := http.NewServeMux()
	mux.Handle("/", httpapi.New(views, nil).Handler(guard))
	mux.HandleFunc("/nothing", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 4096)) })
	srv := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 30 * time.Second,
		ReadTimeout:       60 * time.Second,
		IdleTimeout:       120 * time.Second,
	}
	// Ignore the result, because Serve always returns an error after the server was closed.
	go func() { _ = srv.Serve(l) }()
	return srv, l, nil
}

// measureRecalls measures the times of recalls by r.clientCount clients, while slow clients are also connected. The
// argument slowClients is the number of slow clients. The measurement lasts r.measureTime. measureRecalls adds a row to
// the table t. The row contains quantiles of the times, the number of recalls, the number of slow connections after
// half of the time, and the number of closed connections.
func (r *httpRun) measureRecalls(ctx context.Context, t *markdownTable, rowTitle string, slowClients int) error {
	ctx, stop := context.WithTimeout(ctx, r.measureTime)
	defer stop()
	r.closedConnections.Store(0)
	var slowly, kept sync.WaitGroup
	for i := range slowClients {
		slowly.Go(func() { r.runSlowClient(ctx, i%2 == 0) })
	}
	conns := make([]net.Conn, r.clientCount)
	for i := range conns {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			return err
		}
		defer c.Close()
		conns[i] = c
	}
	took := make([]timings, r.clientCount)
	errs := make([]error, r.clientCount)
	for i, c := range conns {
		kept.Go(func() { took[i], errs[i] = r.runClient(ctx, c, rand.New(rand.NewPCG(r.seed, uint64(i)))) })
	}
	var held atomic.Int64
	half := time.AfterFunc(r.measureTime/2, func() { held.Store(r.slowConnections.Load()) })
	defer half.Stop()
	kept.Wait()
	slowly.Wait()
	var all timings
	for i := range took {
		all = append(all, took[i]...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	t.addRow(
		fmt.Sprintf("%s %s kept and %s slow", rowTitle, formatCount(r.clientCount), formatCount(slowClients)),
		formatDuration(all.quantile(.5)),
		formatDuration(all.quantile(.99)),
		formatDuration(all.quantile(1)),
		formatCount(len(all)),
		formatCount(int(held.Load())),
		formatCount(int(r.closedConnections.Load())),
	)
	return nil
}

// runClient sends recall requests (searches) over one connection, at random times that do not depend on earlier
// answers. It stops when ctx is done. It returns the duration of each request, measured from the time at which the
// request was due until the end of the answer.
func (r *httpRun) runClient(ctx context.Context, c net.Conn, rnd *rand.Rand) (requestDurations timings, err error) {
	answers := bufio.NewReader(c)
	pause := func() time.Duration {
		return time.Duration(rnd.ExpFloat64() * float64(r.clientCount) / r.recallsPerSecond * float64(time.Second))
	}
	for due := time.Now().Add(pause()); ; due = due.Add(pause()) {
		select {
		case <-ctx.Done():
			return requestDurations, nil
		case <-time.After(time.Until(due)):
		}
		request := "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
		if !r.sendsNothing {
			request = r.recallRequest(r.phrases[rnd.IntN(len(r.phrases))])
		}
		if _, err := io.WriteString(c, request); err != nil {
			return requestDurations, err
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			return requestDurations, err
		}
		_, err = io.Copy(io.Discard, res.Body)
		err = errors.Join(err, res.Body.Close())
		if err != nil || res.StatusCode != http.StatusOK {
			return requestDurations, errors.Join(err, fmt.Errorf("recalling over HTTP: %s", res.Status))
		}
		requestDurations = append(requestDurations, time.Since(due))
	}
}

func (r *httpRun) recallRequest(query string) string {
	return "GET /api/v1/recall?" + url.Values{"query": {query}}.Encode() +
		" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + benchToken + "\r\n\r\n"
}

// runSlowClient opens one slow connection after another until ctx is done. If sendsRequest is set, it sends a request
// at one byte per second. Otherwise it reads a long answer at one byte per second.
func (r *httpRun) runSlowClient(ctx context.Context, sendsRequest bool) {
	for ctx.Err() == nil {
		if r.runSlowConnection(ctx, sendsRequest) != nil && ctx.Err() == nil {
			r.closedConnections.Add(1)
		}
	}
}

func (r *httpRun) runSlowConnection(ctx context.Context, sendsRequest bool) error {
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	r.slowConnections.Add(1)
	defer r.slowConnections.Add(-1)
	request := r.recallRequest("slow")
	if !sendsRequest {
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		if _, err := io.WriteString(
			c,
			"GET /api/v1/entries?limit=1000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+benchToken+
				"\r\n\r\n",
		); err != nil {
			return err
		}
	}
	one := make([]byte, 1)
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
		switch {
		case !sendsRequest:
			_, err = c.Read(one)
		case i == len(request):
			return nil
		default:
			_, err = io.WriteString(c, request[i:i+1])
		}
		if err != nil {
			return err
		}
	}
}
