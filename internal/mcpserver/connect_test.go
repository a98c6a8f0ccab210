// This file connects clients to the server over each transport.

package mcpserver

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

const token = "a token of some length"

// versions lists the protocol versions that the package comment promises.
var versions = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

// newWorkspace returns a workspace for a store in fsys, and a counter of how often the store was opened.
func newWorkspace(t *testing.T, fsys vfs.FS) (*verb.Workspace, *atomic.Int32) {
	t.Helper()
	var opened atomic.Int32
	get, closeFn := verb.OpenOnFirstUse(func(context.Context) (*oxbow.Memory, error) {
		opened.Add(1)
		return oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys, LockWait: 30 * time.Second})
	})
	t.Cleanup(func() {
		m, err := get(context.Background(), verb.Read)
		if err != nil {
			t.Errorf("opening for the check: %v", err)
			return
		}
		if c, ok := m.Store().(oxbow.Checker); ok {
			if r, err := c.Check(context.Background()); err != nil || len(r.Problems) > 0 {
				t.Errorf("Check = %v, %v, want no problems", r.Problems, err)
			}
		}
		if err := closeFn(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	return &verb.Workspace{Open: get}, &opened
}

// noLeaks fails the test if goroutines that were started after the call still run at the end.
func noLeaks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		goleak.VerifyNone(t, before)
	})
}

// connect connects a client to the server over one transport.
type connect func(t *testing.T, s *Server, version string) *mcp.ClientSession

func client(t *testing.T, tr mcp.Transport, version string) *mcp.ClientSession {
	t.Helper()
	return clientNamed(t, "tester", tr, version)
}

func clientNamed(t *testing.T, name string, tr mcp.Transport, version string) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1.2"}, nil)
	cs, err := c.Connect(t.Context(), tr, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connecting with %s: %v", version, err)
	}
	return cs
}

func overMemory(t *testing.T, s *Server, version string) *mcp.ClientSession {
	t.Helper()
	m, err := s.openUnrestrictedServer("mcp")
	if err != nil {
		t.Fatal(err)
	}
	here, there := mcp.NewInMemoryTransports()
	ss, err := m.Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs := client(t, there, version)
	t.Cleanup(func() { cs.Close(); ss.Wait() })
	return cs
}

func overPipes(t *testing.T, s *Server, version string) *mcp.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() {
		// The test's context would end before the input does.
		err := s.ServeStdio(context.Background(), fromClient, toClient)
		toClient.Close()
		done <- err
	}()
	cs := client(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, version)
	t.Cleanup(func() {
		cs.Close()
		if err := <-done; err != nil {
			t.Errorf("ServeStdio = %v, want nil at the end of input", err)
		}
	})
	return cs
}

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func overHTTP(t *testing.T, s *Server, version string) *mcp.ClientSession {
	t.Helper()
	srv := httptest.NewServer(
		s.Handler(auth.RequestGuard{Tokens: auth.Tokens{auth.NewToken("", token, auth.Permissions{})}}),
	)
	cs := client(
		t,
		&mcp.StreamableClientTransport{Endpoint: srv.URL, HTTPClient: &http.Client{Transport: bearer{token}}},
		version,
	)
	t.Cleanup(func() { cs.Close(); srv.Close(); http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	return cs
}

var transports = map[string]connect{"memory": overMemory, "pipes": overPipes, "http": overHTTP}

// everywhere runs a test for each transport and each protocol version.
func everywhere(t *testing.T, fn func(t *testing.T, cs *mcp.ClientSession, door string)) {
	for name, connect := range transports {
		for _, v := range versions {
			t.Run(name+" "+v, func(t *testing.T) {
				noLeaks(t)
				workspace, _ := newWorkspace(t, vfs.NewMem())
				door := "mcp"
				if name == "http" {
					door = "http"
				}
				cs := connect(t, New(workspace, nil), v)
				if got := cs.InitializeResult().ProtocolVersion; got != v {
					t.Errorf("the session speaks %s, want %s", got, v)
				}
				fn(t, cs, door)
			})
		}
	}
}

// say calls a tool and returns its text. It fails the test if the call fails or if the answer has other parts.
func say(t *testing.T, cs *mcp.ClientSession, name string, args any) string {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s(%v): %v", name, args, err)
	}
	said := textOf(res)
	if res.IsError {
		t.Fatalf("%s(%v): %s", name, args, said)
	}
	if said == "" || res.StructuredContent != nil {
		t.Errorf("%s(%v) = %q, structured %v, want a text alone", name, args, said, res.StructuredContent)
	}
	return said
}

func textOf(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

type obj = map[string]any
