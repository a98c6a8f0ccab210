//go:build unix

// This file manages one process of the campaign and the processes that replace it: how a process is
// started, killed, paused, and ended properly.

package procs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// kind is the interface through which a process is used.
type kind int

const (
	stdio kind = iota
	httpd
	library
	kinds
)

func (k kind) String() string { return [...]string{"stdio", "http", "library"}[k] }

// patience is the time after which a call counts as hung. The wait for the lock takes up to
// 5 seconds, and the machine may be busy.
const patience = 60 * time.Second

// proc is a role in the campaign, which one process after another takes.
type proc struct {
	name  string
	kind  kind
	home  string
	argv  []string
	fatal func(format string, args ...any) // reports a violation

	mu      sync.Mutex // guards the following fields
	gen     int
	door    door
	cmd     *exec.Cmd
	stderr  *tail
	killed  bool // killed by the campaign
	stopped bool
	closed  bool
}

// startProc starts the first process of a role.
func startProc(ctx context.Context, p *proc) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.start(ctx)
}

// start starts a process. The caller holds mu.
func (p *proc) start(ctx context.Context) error {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	stderr := &tail{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if p.kind == httpd {
		stderr.line = make(chan string, 1)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", p.name, err)
	}
	p.gen++
	p.cmd = cmd
	p.stderr = stderr
	p.killed = false
	p.stopped = false
	p.door = nil
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch p.kind {
	case library:
		p.door = newLines(in, out)
	case stdio:
		p.door, err = openStdio(ctx, in, out)
	case httpd:
		p.door, err = p.dial(ctx, stderr.line)
	}
	if err != nil {
		p.bury()
		return fmt.Errorf("talking to %s: %w; it said %q", p.name, err, stderr)
	}
	return nil
}

var serving = regexp.MustCompile(`serving (http://\S+)`)

// dial waits until the server prints an address, and connects to that address.
func (p *proc) dial(ctx context.Context, said <-chan string) (door, error) {
	select {
	case line := <-said:
		m := serving.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("it began with %q, not with its address", line)
		}
		token, err := os.ReadFile(filepath.Join(p.home, "token"))
		if err != nil {
			return nil, err
		}
		return openHTTP(ctx, m[1], strings.TrimSpace(string(token)))
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// current returns the connection and the number of the current process.
func (p *proc) current() (door, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.door, p.gen
}

// renew replaces the process with that number, unless another goroutine has done so.
func (p *proc) renew(ctx context.Context, gen int, why error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gen != gen || p.closed {
		return nil
	}
	if !p.killed {
		// The pipe may break before the exit of the process is visible.
		state := p.bury()
		p.fatal("process: %s ended by itself (%v, %v); it said %q", p.name, why, state, p.stderr)
	} else {
		p.bury()
	}
	return p.start(ctx)
}

// bury makes sure that the process is gone and returns how it ended. The caller holds mu.
func (p *proc) bury() error {
	if p.door != nil {
		p.door.hangUp()
	}
	_ = p.cmd.Process.Kill()
	return p.cmd.Wait()
}

// kill kills the process.
func (p *proc) kill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	isEnded := p.killed || p.closed
	if isEnded || p.door == nil {
		return false
	}
	p.killed = true
	return p.cmd.Process.Kill() == nil
}

// pause pauses or resumes the process.
func (p *proc) pause(stop bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	isRunning := !p.closed && p.door != nil
	if !isRunning || p.stopped == stop {
		return false
	}
	if stop && p.killed {
		return false
	}
	p.stopped = stop
	sig := syscall.SIGCONT
	if stop {
		sig = syscall.SIGSTOP
	}
	return p.cmd.Process.Signal(sig) == nil
}

// end lets the process end as a client would: end closes the input or, for a server, sends SIGTERM.
// It returns an error if the process does not end properly.
func (p *proc) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	if p.killed {
		p.bury()
		return nil
	}
	p.door.hangUp()
	if p.kind == httpd {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	}
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("%s ended with %w; it said %q", p.name, err, p.stderr)
		}
		return nil
	case <-late.C:
		_ = p.cmd.Process.Kill()
		<-done
		return fmt.Errorf("%s did not end when told to; it said %q", p.name, p.stderr)
	}
}

// destroy kills the process and ignores its state.
func (p *proc) destroy() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		_ = p.bury()
	}
}

// ask repeats a call until a process answers it. If the process dies, it asks the successor.
// retries is the number of repetitions. An error means that the campaign is over.
func (p *proc) ask(ctx context.Context, c call) (a answer, retries int, err error) {
	for {
		d, gen := p.current()
		if d == nil {
			return a, retries, errGone
		}
		callCtx, cancel := context.WithTimeout(ctx, patience)
		a, err = d.call(callCtx, c)
		cancel()
		switch {
		case ctx.Err() != nil:
			return a, retries, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			p.fatal("hung: %s did not answer %s %q within %v", p.name, c.Verb, c.Name, patience)
			return a, retries, err
		case err != nil:
			retries++
			if err := p.renew(ctx, gen, err); err != nil {
				if ctx.Err() == nil {
					p.fatal("process: %v", err)
				}
				return a, retries, err
			}
		case a.Refused == refusedBusy:
			retries++
		default:
			return a, retries, nil
		}
	}
}

// tail keeps the last output of a process, and sends its first line to a channel.
type tail struct {
	mu   sync.Mutex // guards b
	b    []byte
	line chan string // may be nil
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !bytes.ContainsRune(t.b, '\n')
	t.b = append(t.b, b...)
	wantsLine := first && t.line != nil
	if i := bytes.IndexByte(t.b, '\n'); wantsLine && i >= 0 {
		t.line <- string(t.b[:i])
	}
	if len(t.b) > 4096 {
		t.b = append([]byte("…\n"), t.b[len(t.b)-2048:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

var _ io.Writer = (*tail)(nil)
