//go:build unix

// This file manages a process of the campaign and the processes that replace it. It starts, kills, pauses and properly
// ends processes.

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

// procKind tells how the campaign talks to a tested process: by MCP over pipes, by HTTP, or as a child that calls the
// library.
type procKind int

const (
	procKindStdio procKind = iota
	procKindHTTP
	procKindLibrary
	procKindCount
)

func (k procKind) String() string { return [...]string{"stdio", "http", "library"}[k] }

// callTimeout is the time after which a call counts as hung. It is long because the wait for the lock takes up to 5
// seconds and the machine may be busy.
const callTimeout = 60 * time.Second

// processRole is a task in the test, such as writing entries. If the process with this task is killed, another process
// takes over the task.
type processRole struct {
	name            string
	kind            procKind
	home            string
	argv            []string
	reportViolation func(format string, args ...any) // reports a violated guarantee of the store, which ends the test

	mu            sync.Mutex // guards the following fields
	processNumber int
	connection    processConnection
	cmd           *exec.Cmd
	stderr        *outputTail
	isKilled      bool // the campaign killed the current process
	isPaused      bool
	isClosed      bool
}

// startProc starts the process for a role in the test, such as a server. If this process is killed later, the test
// starts further processes for the same role.
func startProc(ctx context.Context, p *processRole) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.start(ctx)
}

// start starts a new process for this role, and connects to it. If the connection fails within callTimeout, the process
// is killed, and start returns an error. The caller must hold mu.
func (p *processRole) start(ctx context.Context) error {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	stderr := &outputTail{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if p.kind == procKindHTTP {
		stderr.firstLine = make(chan string, 1)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", p.name, err)
	}
	p.processNumber++
	p.cmd = cmd
	p.stderr = stderr
	p.isKilled = false
	p.isPaused = false
	p.connection = nil
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	switch p.kind {
	case procKindLibrary:
		p.connection = newLineConnection(in, out)
	case procKindStdio:
		p.connection, err = openStdio(ctx, in, out)
	case procKindHTTP:
		p.connection, err = p.connect(ctx, stderr.firstLine)
	}
	if err != nil {
		p.waitForExit()
		return fmt.Errorf("talking to %s: %w; it said %q", p.name, err, stderr)
	}
	return nil
}

var servingPattern = regexp.MustCompile(`serving (http://\S+)`)

// connect waits until the server prints its address as the first line of its output, and connects to this address.
func (p *processRole) connect(ctx context.Context, firstLine <-chan string) (processConnection, error) {
	select {
	case line := <-firstLine:
		m := servingPattern.FindStringSubmatch(line)
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

// currentConnection returns the connection and the number of the current process.
func (p *processRole) currentConnection() (processConnection, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.connection, p.processNumber
}

// restart starts a new process in place of a process that has ended. processNumber is the number of the process that
// has ended. If another goroutine has already replaced this process, or if p is closed, restart does nothing. If the
// process was not killed by the test, restart reports a violation with the reason.
func (p *processRole) restart(ctx context.Context, processNumber int, reason error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.processNumber != processNumber || p.isClosed {
		return nil
	}
	if !p.isKilled {
		// The pipe may break before the end of the process is visible.
		state := p.waitForExit()
		p.reportViolation("process: %s ended by itself (%v, %v); it said %q", p.name, reason, state, p.stderr)
	} else {
		p.waitForExit()
	}
	return p.start(ctx)
}

// waitForExit kills the process if it is still running, waits until it has ended, and returns how it ended. The caller
// must hold mu.
func (p *processRole) waitForExit() error {
	if p.connection != nil {
		p.connection.closeInput()
	}
	_ = p.cmd.Process.Kill()
	return p.cmd.Wait()
}

// kill kills the process, and reports whether it has done so. It does nothing if the process was killed or closed
// before, or has no connection.
func (p *processRole) kill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	isEnded := p.isKilled || p.isClosed
	if isEnded || p.connection == nil {
		return false
	}
	p.isKilled = true
	return p.cmd.Process.Kill() == nil
}

// setPaused pauses the process if shouldPause is true, and otherwise resumes it. It reports whether the process was
// paused or resumed.
func (p *processRole) setPaused(shouldPause bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	isRunning := !p.isClosed && p.connection != nil
	if !isRunning || p.isPaused == shouldPause {
		return false
	}
	if shouldPause && p.isKilled {
		return false
	}
	p.isPaused = shouldPause
	sig := syscall.SIGCONT
	if shouldPause {
		sig = syscall.SIGSTOP
	}
	return p.cmd.Process.Signal(sig) == nil
}

// stopProperly asks the process to end, and waits until it has ended. It closes the input of the process, as a client
// does when it needs no more calls. If the process is an HTTP server, stopProperly also sends SIGTERM. It returns an
// error if the process ends with an error. If the process does not end within callTimeout, stopProperly kills the
// process and returns an error. It does nothing if it was called before. If the process was killed before, it only
// waits for the end of the process.
func (p *processRole) stopProperly() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed {
		return nil
	}
	p.isClosed = true
	if p.isKilled {
		p.waitForExit()
		return nil
	}
	p.connection.closeInput()
	if p.kind == procKindHTTP {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	}
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	late := time.NewTimer(callTimeout)
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

// killQuietly kills the process, unless the process is already closed. It waits for the end of the process and ignores
// the exit status.
func (p *processRole) killQuietly() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isClosed {
		p.isClosed = true
		_ = p.waitForExit()
	}
}

// callUntilAnswered sends a call to a process until a process answers the call. If the process dies, callUntilAnswered
// restarts it and repeats the call. It also repeats the call if the store was busy (refusalStoreBusy). The result
// retries is the number of repetitions. If the process does not answer within callTimeout or cannot be restarted,
// callUntilAnswered reports a violation. An error means that the test is over.
func (p *processRole) callUntilAnswered(ctx context.Context, c callRequest) (a callAnswer, retries int, err error) {
	for {
		d, gen := p.currentConnection()
		if d == nil {
			return a, retries, errProcessGone
		}
		callCtx, cancel := context.WithTimeout(ctx, callTimeout)
		a, err = d.call(callCtx, c)
		cancel()
		switch {
		case ctx.Err() != nil:
			return a, retries, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			p.reportViolation("hung: %s did not answer %s %q within %v", p.name, c.Verb, c.Name, callTimeout)
			return a, retries, err
		case err != nil:
			retries++
			if err := p.restart(ctx, gen, err); err != nil {
				if ctx.Err() == nil {
					p.reportViolation("process: %v", err)
				}
				return a, retries, err
			}
		case a.Refusal == refusalStoreBusy:
			retries++
		default:
			return a, retries, nil
		}
	}
}

// outputTail keeps the last part of a process's output, and sends its first line to a channel.
type outputTail struct {
	mu        sync.Mutex // guards output
	output    []byte
	firstLine chan string // receives the first line of the process's output (may be nil)
}

func (t *outputTail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !bytes.ContainsRune(t.output, '\n')
	t.output = append(t.output, b...)
	wantsLine := first && t.firstLine != nil
	if i := bytes.IndexByte(t.output, '\n'); wantsLine && i >= 0 {
		t.firstLine <- string(t.output[:i])
	}
	if len(t.output) > 4096 {
		t.output = append([]byte("…\n"), t.output[len(t.output)-2048:]...)
	}
	return len(b), nil
}

func (t *outputTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.output)
}

var _ io.Writer = (*outputTail)(nil)
