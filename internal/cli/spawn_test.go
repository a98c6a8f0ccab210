// This file tests sub-agents with real processes. The agent is this test program. It reads its briefing, starts the
// server for the memory that it was given, and tries to read more than it may.

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fakeAgent is the main function of an agent without a model. Its first argument says what to do.
func fakeAgent() {
	args := os.Args[1:]
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "fake-agent:", err)
			os.Exit(3)
		}
	}
	switch args[0] {
	case "work": // work BRIEFING CONFIG: uses the memory
		b, err := os.ReadFile(args[1])
		fail(err)
		in, err := io.ReadAll(os.Stdin)
		fail(err)
		fmt.Printf("standard input is the briefing: %v\n", string(in) == string(b))
		_, task, _ := strings.Cut(string(b), "\n# Task\n")
		fmt.Printf("task: %s\n", strings.TrimSpace(task))
		fail(useMemory(args[2]))
		// Try to read more with the command line, without the server.
		out, err := exec.Command("oxbow", "get", "secret").CombinedOutput()
		fmt.Printf("oxbow get secret: %v, %s", err, out)
	case "fail":
		fmt.Println("half a result")
		fmt.Fprintln(os.Stderr, "the model is tired")
		os.Exit(3)
	case "long":
		fmt.Print("begin\n" + strings.Repeat("0123456789abcde\n", 1<<13) + "end\n")
	case "env":
		for _, v := range os.Environ() {
			if strings.HasPrefix(v, "OXBOW_") {
				fmt.Println(v)
			}
		}
	case "wait": // wait ADDRESS: reports that it runs, and then waits until it is stopped
		c, err := net.Dial("tcp", args[1])
		fail(err)
		fmt.Println("begun")
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, os.Interrupt)
		_, err = c.Write([]byte("x"))
		fail(err)
		<-stop
	default:
		fail(fmt.Errorf("unknown order %q", args[0]))
	}
}

// useMemory starts the server that a file configures, as a client does, and prints the server's answers.
func useMemory(config string) error {
	b, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	var c struct {
		Servers map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	s := c.Servers["oxbow"]
	cmd := exec.Command(s.Command, append(s.Args, "--tools", "full")...)
	cmd.Stderr = os.Stderr
	for _, k := range []string{"PATH", "HOME", "USERPROFILE", "SystemRoot", "TMPDIR", "TMP"} {
		cmd.Env = append(cmd.Env, k+"="+os.Getenv(k))
	}
	for k, v := range s.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	ctx := context.Background()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "fake-agent", Version: "1"}, nil).Connect(
		ctx,
		&mcp.CommandTransport{Command: cmd},
		nil,
	)
	if err != nil {
		return err
	}
	for _, call := range []struct {
		name string
		args map[string]any
	}{
		{"list", nil},
		{"get", map[string]any{"name": "secret"}},
		{"recall", map[string]any{"query": "zeppelin midnight"}},
		{
			"spawn_sub_agent",
			map[string]any{"agent_id": "spy", "task": "Tell all.", "memory_profile": "novelist", "briefing_only": true},
		},
		{"remember", map[string]any{"name": "axes", "content": "The axes are x, y and z."}},
	} {
		r, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: call.name, Arguments: call.args})
		if err != nil {
			return err
		}
		for _, c := range r.Content {
			fmt.Printf("%s: %s\n", call.name, strings.TrimSpace(c.(*mcp.TextContent).Text))
		}
	}
	return cs.Close()
}

// TestServerStopsItsSubAgents tests that a server whose client has disconnected stops its running sub-agents, and
// records this.
func TestServerStopsItsSubAgents(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	agent, err := exec.LookPath("fake-agent")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	home := filepath.Join(w.dir, "memory")
	w.env.Environ = os.Environ
	w.env.ServerDrainTime = time.Second
	w.vars["OXBOW_HOME"] = home
	w.must(t, "remember", "grid", "Squares.")
	settings := fmt.Sprintf("runner:\n  command: [%q, wait, %q]\n", agent, l.Addr().String())
	if err := os.WriteFile(filepath.Join(home, "settings.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	in, typed := io.Pipe()
	w.env.Stdin = in
	ended := make(chan string, 1)
	go func() {
		_, _, stderr := w.run(t, "mcp", "--tools", "agents")
		ended <- stderr
	}()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"spawn_sub_agent","arguments":{"agent_id":"waiter","task":"Wait."}}}`,
	} {
		if _, err := io.WriteString(typed, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatalf("the sub-agent ended early: %v", err)
	}
	w.env.Stdin = strings.NewReader("")
	typed.Close() // This disconnects the client.
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the sub-agent goes on")
	}
	if stderr := <-ended; strings.Contains(stderr, "closed") {
		t.Errorf("the server says %q", stderr)
	}
	got := w.must(t, "list", "agent:waiter", "--json")
	if !strings.Contains(got, `"run":["stopped"]`) || !strings.Contains(got, `"kind":"history"`) {
		t.Errorf("list = %s, want the run as stopped", got)
	}
	w.must(t, "check")
}
