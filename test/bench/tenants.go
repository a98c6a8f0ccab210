// This file implements the command named "tenants". It measures a server with many tenants: the latency of calls, the
// server's memory, and how many acknowledged writes are stored after kill -9.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// tenantsRun is one measurement of a server with many tenants.
type tenantsRun struct {
	*bench
	entryCount, tenantCount, clientCount int
	recallRate, writeRate                float64 // recalls per second and writes per second, by all clients together
	measureTime                          time.Duration
	killCount                            int
	killInterval                         time.Duration // time after which the server is killed again
	// time for which a client waits after each write, while the server is killed repeatedly
	pauseAfterWrite time.Duration
	textSource      textSource

	program, home, tokensPath string
	phrases                   []string
	cmd                       *exec.Cmd
	url                       string
	client                    *http.Client

	mu sync.Mutex // mu guards acknowledgedNames.
	// names of the entries whose writes the server has acknowledged, in the form TENANT/NAME
	acknowledgedNames map[string]bool
}

func tenantsCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &tenantsRun{bench: b, acknowledgedNames: map[string]bool{}}
	fl.IntVar(&r.entryCount, "n", 100_000, "entries of each tenant")
	fl.IntVar(&r.tenantCount, "tenants", 20, "tenants")
	fl.IntVar(&r.clientCount, "clients", 50, "clients, each of one tenant")
	fl.Float64Var(&r.recallRate, "rate", 200, "recalls a second, of all clients together")
	fl.Float64Var(&r.writeRate, "writes", 20, "writes a second, of all clients together")
	fl.DurationVar(&r.measureTime, "time", 30*time.Second, "how long to measure")
	fl.DurationVar(&r.pauseAfterWrite, "pause", 0, "how long a client waits after each write, while there are kills")
	fl.IntVar(&r.killCount, "kills", 3, "times that the server is killed under writes")
	fl.DurationVar(&r.killInterval, "between", 5*time.Second, "how long it runs before each")
	r.textSource.addFlags(fl)
	b.addDirFlag(fl)
	return r.run
}

func (r *tenantsRun) run(ctx context.Context) (err error) {
	dir, remove, err := r.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	from, err := r.prepareHomes(ctx, dir)
	if err != nil {
		return err
	}
	r.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: r.clientCount}}
	defer func() { err = errors.Join(err, r.killProcess()) }()
	var first timings
	if err := first.timeCall(func() error {
		if err := r.startServer(ctx); err != nil {
			return err
		}
		return r.recall(ctx, 0, r.phrases[0])
	}); err != nil {
		return err
	}
	empty := r.serverMemoryBytes()
	for i := range r.tenantCount { // Open the memories of all tenants.
		if err := r.recall(ctx, i, r.phrases[0]); err != nil {
			return err
		}
	}
	opened := r.serverMemoryBytes()
	// Do not measure the first writes for each tenant, because these writes cause additional work.
	if _, _, err := r.measureCalls(ctx, r.measureTime/2, "first"); err != nil {
		return err
	}
	recalls, writes, err := r.measureCalls(ctx, r.measureTime, "w")
	if err != nil {
		return err
	}
	full := r.serverMemoryBytes()
	r.printTitle("tenants", dir)
	r.printf(
		"%s tenants of %s entries each, of texts from %s; %s clients recall %.0f and write %.0f times a second "+
			"together, each at times of its own. A call counts from when it was due.\n\n",
		formatCount(
			r.tenantCount,
		),
		formatCount(r.entryCount),
		from,
		formatCount(r.clientCount),
		r.recallRate,
		r.writeRate,
	)
	t := newTable("call", "p50", "p99", "most", "calls")
	for _, row := range []struct {
		what string
		took timings
	}{{"start to the first recall", first}, {"recall", recalls}, {"write, acknowledged", writes}} {
		t.addRow(
			row.what,
			formatDuration(row.took.quantile(.5)),
			formatDuration(row.took.quantile(.99)),
			formatDuration(row.took.quantile(1)),
			formatCount(len(row.took)),
		)
	}
	r.emitTable(t)
	mem := newTable("memory of the server", "MB", "MB a tenant")
	for _, row := range []struct {
		what string
		rss  int64
	}{{"one tenant open", empty}, {"all open", opened}, {"after the calls", full}} {
		if row.what == "one tenant open" {
			mem.addRow(row.what, fmt.Sprintf("%.0f", float64(row.rss)/1e6), fmt.Sprintf("%.0f", float64(row.rss)/1e6))
			continue
		}
		mem.addRow(
			row.what,
			fmt.Sprintf("%.0f", float64(row.rss)/1e6),
			fmt.Sprintf("%.0f", float64(row.rss)/1e6/float64(r.tenantCount)),
		)
	}
	r.emitTable(mem)
	return r.killServerDuringWrites(ctx)
}

// prepareHomes builds oxbow and fills a home for each tenant. It returns a description of the texts' origin
// (textOrigin).
func (r *tenantsRun) prepareHomes(ctx context.Context, dir string) (textOrigin string, err error) {
	r.program, err = buildOxbow(ctx, dir, "oxbow", "-trimpath")
	if err != nil {
		return "", err
	}
	entries, textOrigin, err := r.textSource.readEntries(ctx, min(r.entryCount, 10_000))
	if err != nil {
		return "", err
	}
	r.phrases, err = samplePhrases(entries, 2000, 1)
	if err != nil {
		return "", err
	}
	model := filepath.Join(dir, "model")
	if err := os.Mkdir(model, 0o700); err != nil {
		return "", err
	}
	if err := fillHome(ctx, model, repeatEntries(entries, r.entryCount)); err != nil {
		return "", err
	}
	// The second recall in a home creates the index file, so make one change and two recalls.
	for _, args := range [][]string{
		{"remember", "an index", "Written to have an index made."},
		{"recall", "index"},
		{"recall", "index"},
	} {
		cmd := exec.CommandContext(ctx, r.program, append([]string{"--home", model}, args...)...)
		cmd.Env = minimalEnv(os.Getenv, model)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("making the index: %w: %s", err, out)
		}
	}
	r.home, r.tokensPath = filepath.Join(dir, "home"), filepath.Join(dir, "tokens")
	var lines strings.Builder
	for i := range r.tenantCount {
		if err := os.CopyFS(filepath.Join(r.home, "tenants", tenantName(i)), os.DirFS(model)); err != nil {
			return "", err
		}
		fmt.Fprintf(&lines, "%s %s rw tenant=%s\n", tenantName(i), tenantSecret(i), tenantName(i))
	}
	// Sync the copied files now. Otherwise the system would write them to the disk later, while calls are measured.
	if err := syncTree(r.home); err != nil {
		return "", err
	}
	return textOrigin, os.WriteFile(r.tokensPath, []byte(lines.String()), 0o600)
}

// syncTree syncs all files below a directory to the disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

func tenantName(i int) string   { return fmt.Sprintf("t%02d", i) }
func tenantSecret(i int) string { return fmt.Sprintf("a-secret-of-tenant-%02d", i) }

var serverAddressPattern = regexp.MustCompile(`API\s+(http://[^/]+)/api`)

// startServer starts the server and waits until it listens.
func (r *tenantsRun) startServer(ctx context.Context) error {
	r.cmd = exec.CommandContext(
		ctx,
		r.program,
		"serve",
		"--home",
		r.home,
		"--tokens",
		r.tokensPath,
		"--http",
		"127.0.0.1:0",
	)
	r.cmd.Env = minimalEnv(os.Getenv, r.home)
	out, err := r.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	var said bytes.Buffer
	one := make([]byte, 4096)
	for {
		n, err := out.Read(one)
		said.Write(one[:n])
		if m := serverAddressPattern.FindSubmatch(said.Bytes()); m != nil {
			r.url = string(m[1])
			// Read the rest of the server's output, so that the server does not block. The goroutine ends when the
			// server ends.
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return nil
		}
		if err != nil {
			return fmt.Errorf("the server ended: %s", said.String())
		}
	}
}

// killProcess kills the server with SIGKILL.
func (r *tenantsRun) killProcess() error {
	if r.cmd == nil || r.cmd.Process == nil {
		return nil
	}
	err := r.cmd.Process.Kill()
	_ = r.cmd.Wait() // Ignore the error of Wait, because it only says that the process was killed.
	r.cmd = nil
	return err
}

// serverMemoryBytes returns how much anonymous memory the server process uses, in bytes. It returns 0 if that is
// unknown.
func (r *tenantsRun) serverMemoryBytes() int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "RssAnon:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}

// call sends one request of a tenant. It returns an error if the status of the response differs from the argument
// wantStatus.
func (r *tenantsRun) call(ctx context.Context, method, target string, tenant int, body []byte, wantStatus int) error {
	req, err := http.NewRequestWithContext(ctx, method, r.url+target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+tenantSecret(tenant))
	req.Header.Set("Content-Type", "application/json")
	res, err := r.client.Do(req)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(res.Body)
	err = errors.Join(err, res.Body.Close())
	if err == nil && res.StatusCode != wantStatus {
		err = fmt.Errorf("%s %s = %s %s", method, target, res.Status, answer)
	}
	return err
}

func (r *tenantsRun) recall(ctx context.Context, tenant int, phrase string) error {
	return r.call(ctx, http.MethodGet, "/api/v1/recall?"+
		url.Values{"query": {phrase}}.Encode(), tenant, nil, http.StatusOK)
}

func (r *tenantsRun) writeEntry(ctx context.Context, tenant int, name string) error {
	body, err := json.Marshal(map[string]string{"name": name, "content": "What " + name +
		" is about, in a sentence of some length that says what it is about."})
	if err != nil {
		return err
	}
	if err := r.call(ctx, http.MethodPost, "/api/v1/entries", tenant, body, http.StatusCreated); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acknowledgedNames[tenantName(tenant)+"/"+name] = true
	return nil
}

// measureCalls measures how long the calls of all clients take. Each client makes its calls at random moments, which do
// not depend on the server's speed. The measurement of a call begins at the moment when the call is due, even if the
// client makes it later.
func (r *tenantsRun) measureCalls(
	ctx context.Context,
	wait time.Duration,
	name string,
) (recalls, writes timings, err error) {
	end := time.Now().Add(wait)
	var wg sync.WaitGroup
	took := make([]timings, r.clientCount)
	wrote := make([]timings, r.clientCount)
	errs := make([]error, r.clientCount)
	for i := range r.clientCount {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			pause := func() time.Duration {
				return time.Duration(
					rnd.ExpFloat64() * float64(r.clientCount) / (r.recallRate + r.writeRate) * float64(time.Second),
				)
			}
			for due := time.Now().Add(pause()); due.Before(end) && errs[i] == nil; due = due.Add(pause()) {
				select {
				case <-ctx.Done():
					errs[i] = ctx.Err()
				case <-time.After(time.Until(due)):
				}
				if rnd.Float64() < r.recallRate/(r.recallRate+r.writeRate) {
					errs[i] = errors.Join(errs[i], r.recall(ctx, i%r.tenantCount, r.phrases[rnd.IntN(len(r.phrases))]))
					took[i] = append(took[i], time.Since(due))
				} else {
					errs[i] = errors.Join(
						errs[i],
						r.writeEntry(ctx, i%r.tenantCount, fmt.Sprintf("%s %d of %d", name, len(wrote[i]), i)),
					)
					wrote[i] = append(wrote[i], time.Since(due))
				}
			}
		})
	}
	wg.Wait()
	for i := range took {
		recalls, writes = append(recalls, took[i]...), append(writes, wrote[i]...)
	}
	return recalls, writes, errors.Join(errs...)
}

// killServerDuringWrites repeatedly kills the server during writes, then checks that all acknowledged entries are
// stored.
func (r *tenantsRun) killServerDuringWrites(ctx context.Context) error {
	for k := range r.killCount {
		writing, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		for i := range r.clientCount {
			wg.Go(func() {
				for n := 0; writing.Err() == nil; n++ {
					if r.writeEntry(writing, i%r.tenantCount, fmt.Sprintf("k%d-%d-%d", k, i, n)) != nil {
						return // The server was killed, so this client ends.
					}
					select {
					case <-writing.Done():
					case <-time.After(r.pauseAfterWrite):
					}
				}
			})
		}
		select {
		case <-ctx.Done():
		case <-time.After(r.killInterval):
		}
		err := r.killProcess()
		wg.Wait()
		stop()
		err = errors.Join(err, r.startServer(ctx))
		if err != nil {
			return err
		}
	}
	lost := 0
	for name := range r.acknowledgedNames {
		tenant, name, _ := strings.Cut(name, "/")
		i, err := strconv.Atoi(tenant[1:])
		if err != nil {
			return err
		}
		if err := r.call(ctx, http.MethodGet, "/api/v1/entries/"+
			url.PathEscape(name), i, nil, http.StatusOK); err != nil {
			r.logf("%s of %s is lost: %v", name, tenant, err)
			lost++
		}
	}
	for i := range r.tenantCount {
		if err := r.call(ctx, http.MethodGet, "/api/v1/check", i, nil, http.StatusOK); err != nil {
			return err
		}
	}
	t := newTable("kills under writes", "writes acknowledged", "lost")
	t.addRow(formatCount(r.killCount), formatCount(len(r.acknowledgedNames)), formatCount(lost))
	r.emitTable(t)
	if lost > 0 {
		return fmt.Errorf("%d writes were acknowledged and are lost", lost)
	}
	return nil
}
