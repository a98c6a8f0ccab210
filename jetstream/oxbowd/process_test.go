// Test helpers that start and kill processes of oxbowd.

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/cli"
)

// daemonVariable is an environment variable. If it is set, the test program runs as oxbowd.
const daemonVariable = "OXBOW_TEST_DAEMON"

func TestMain(m *testing.M) {
	if os.Getenv(daemonVariable) != "" {
		os.Exit(cli.RunDaemonMain(newDaemon()))
	}
	os.Exit(m.Run())
}

// oxbowd returns a command that runs oxbowd. The command is not started.
func oxbowd(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), daemonVariable+"=1", "OXBOW_HOME=", "OXBOW_KEEP=", "OXBOW_DIALECT=")
	return cmd
}

// process is a process of oxbowd that serves memories.
type process struct {
	cmd   *exec.Cmd
	found chan string   // receives the server's URL, and the whole output when the output has ended
	ended chan struct{} // closed when the process has ended
	err   error         // error with which the process ended
}

// serve starts "oxbowd serve" on a free port.
func serve(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{
		cmd:   oxbowd(context.Background(), dir, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...),
		found: make(chan string, 2),
		ended: make(chan struct{}),
	}
	out, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	go func() {
		defer close(p.ended)
		var all bytes.Buffer
		for lines := bufio.NewScanner(io.TeeReader(out, &all)); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), "agents  "); ok {
				p.found <- strings.TrimSuffix(url, "/mcp")
			}
		}
		p.err = p.cmd.Wait()
		p.found <- all.String()
	}()
	return p
}

// url waits until the process serves, and returns its URL.
func (p *process) url(t *testing.T) string {
	t.Helper()
	select {
	case s := <-p.found:
		if strings.HasPrefix(s, "http://") {
			return s
		}
		t.Fatalf("oxbowd does not serve: %s", s)
	case <-time.After(time.Minute):
		t.Fatal("oxbowd does not serve after a minute")
	}
	return ""
}

// kill ends the process in the same way as the loss of its machine.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}
