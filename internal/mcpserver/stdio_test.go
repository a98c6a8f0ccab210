// This file tests the transport over standard streams as another process sees it: its input, its output and its end.

package mcpserver

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// script returns the input of a client of an older protocol version: a handshake, followed by the calls.
func script(calls ...string) string {
	var b strings.Builder
	b.WriteString(
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"0"}}}` + "\n",
	)
	b.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for i, c := range calls {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", i+1, c)
	}
	return b.String()
}

// answers decodes the output of a server and returns the answers by request ID. Every line must be JSON-RPC.
func answers(t *testing.T, out string) map[int]json.RawMessage {
	t.Helper()
	got := map[int]json.RawMessage{}
	for line := range strings.Lines(out) {
		var m struct {
			JSONRPC string
			ID      *int
			Method  string
			Result  json.RawMessage
			Error   json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("the server wrote %q, which is not the protocol: %v", line, err)
			continue
		}
		if m.ID != nil && m.Result != nil {
			got[*m.ID] = m.Result
		} else if m.Error != nil {
			t.Errorf("the server answered %s", line)
		}
	}
	return got
}

// TestStdioAnswersBeforeItEnds checks that a client which writes all its calls and closes the pipe receives all
// answers.
func TestStdioAnswersBeforeItEnds(t *testing.T) {
	noLeaks(t)
	workspace, _ := newWorkspace(t, vfs.NewMem())
	var calls []string
	for i := range 50 {
		calls = append(calls, fmt.Sprintf(`{"name":"remember","arguments":{"name":"n%d","content":"c"}}`, i))
	}
	var out bytes.Buffer
	if err := New(workspace, nil).ServeStdio(t.Context(), strings.NewReader(script(calls...)), &out); err != nil {
		t.Errorf("ServeStdio = %v, want nil at the end of input", err)
	}
	got := answers(t, out.String())
	if len(got) != 51 {
		t.Errorf("%d answers, want 51", len(got))
	}
	for id, r := range got {
		if strings.Contains(string(r), `"isError":true`) {
			t.Errorf("call %d failed: %s", id, r)
		}
	}
}

func TestStdioNoInput(t *testing.T) {
	noLeaks(t)
	workspace, opened := newWorkspace(t, vfs.NewMem())
	var out bytes.Buffer
	if err := New(workspace, nil).ServeStdio(t.Context(), strings.NewReader(""), &out); err != nil || out.Len() != 0 {
		t.Errorf("ServeStdio of nothing = %v, wrote %q, want nil and nothing", err, out.String())
	}
	if opened.Load() != 0 {
		t.Error("the store was opened for nothing")
	}
}

// TestStdioEndsWithACallOpen checks that the server ends even if a call never returns, and that the client is told.
// The test uses a fake clock, so it does not wait.
func TestStdioEndsWithACallOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		workspace := &verb.Workspace{Open: func(ctx context.Context, how verb.MemoryAccess) (*oxbow.Memory, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		start := time.Now()
		var out bytes.Buffer
		err := New(workspace, nil).ServeStdio(
			t.Context(),
			strings.NewReader(script(`{"name":"list","arguments":{}}`)),
			&out,
		)
		if took := time.Since(start); err != nil || took >= defaultDrainTimeout+time.Second ||
			took < defaultDrainTimeout {
			t.Errorf("ServeStdio = %v after %v, want nil after %v", err, took, defaultDrainTimeout)
		}
		if n := strings.Count(out.String(), "was not finished within 2m0s"); n != 1 {
			t.Errorf("the answers say %d times that the call was given up, want once: %s", n, out.String())
		}
	})
}

// slowMemory delays calls like a busy machine: each call waits one step longer than the call before.
type slowMemory struct {
	m    *oxbow.Memory
	step time.Duration
	n    atomic.Int64
}

func (s *slowMemory) open(ctx context.Context, _ verb.MemoryAccess) (*oxbow.Memory, error) {
	select {
	case <-time.After(time.Duration(s.n.Add(1)) * s.step):
		return s.m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestStdioFinishesSlowCalls checks that ServeStdio answers all calls that it has read, even if its input ends or a
// signal arrives. The calls together take longer than defaultDrainTimeout, but the time between two answers is shorter.
// The server does not wait for calls that the client cancelled.
func TestStdioFinishesSlowCalls(t *testing.T) {
	var calls []string
	for i := range 200 {
		calls = append(calls, fmt.Sprintf(`{"name":"remember","arguments":{"name":"n%d","content":"c"}}`, i))
	}
	for _, tt := range []struct {
		name  string
		input func(w *io.PipeWriter, stop context.CancelFunc)
		want  error
	}{
		{"the input ends", func(w *io.PipeWriter, _ context.CancelFunc) { w.Close() }, nil},
		{"within a line", func(w *io.PipeWriter, _ context.CancelFunc) {
			io.WriteString(w, `{"jsonrpc":"2.0","id":5000,"method":"tools/ca`)
			w.Close()
		}, nil},
		{"a signal", func(_ *io.PipeWriter, stop context.CancelFunc) { stop() }, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
				if err != nil {
					t.Fatal(err)
				}
				slow := &slowMemory{m: m, step: defaultDrainTimeout / 50}
				in, w := io.Pipe()
				ctx, stop := context.WithCancel(t.Context())
				var out bytes.Buffer
				done := make(chan error, 1)
				go func() { done <- New(&verb.Workspace{Open: slow.open}, nil).ServeStdio(ctx, in, &out) }()
				io.WriteString(w, script(calls...))
				io.WriteString(
					w,
					`{"jsonrpc":"2.0","id":4000,"method":"tools/call","params":{"name":"list","arguments":{}}}`+"\n",
				)
				io.WriteString(w, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4000}}`+
					"\n")
				synctest.Wait() // Now all calls have been read.
				tt.input(w, stop)
				if err := <-done; err != tt.want {
					t.Errorf("ServeStdio = %v, want %v", err, tt.want)
				}
				w.Close()
				for i := range calls {
					if e, err := m.Get(context.Background(), fmt.Sprint("n", i)); err != nil || e.Content != "c" {
						t.Errorf("note %d was lost: %v", i, err)
					}
				}
				var whole, cut string
				for line := range strings.Lines(out.String()) {
					if strings.Contains(line, `"id":null`) {
						cut += line
					} else {
						whole += line
					}
				}
				got := answers(t, whole)
				if _, cancelled := got[4000]; cancelled || len(got) != len(calls)+1 {
					t.Errorf(
						"%d answers to %d calls and the handshake; the cancelled call was answered: %v",
						len(got),
						len(calls),
						cancelled,
					)
				}
				if said := strings.Contains(
					cut,
					"the input ended within this line",
				); said != (tt.name == "within a line") {
					t.Errorf("the line that was cut was answered with %q", cut)
				}
				storetest.Close(t, m)
			})
		})
	}
}

// brokenWriter accepts one answer. All later writes fail, as for a pipe whose reader has ended.
type brokenWriter struct{ n int }

func (b *brokenWriter) Write(p []byte) (int, error) {
	b.n++
	if b.n > 1 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestStdioClientStopsReading checks that the calls of a client are executed even if it no longer reads the answers.
func TestStdioClientStopsReading(t *testing.T) {
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	w := &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil }}
	var calls []string
	for i := range 30 {
		calls = append(calls, fmt.Sprintf(`{"name":"remember","arguments":{"name":"n%d","content":"c"}}`, i))
	}
	if err := New(w, nil).ServeStdio(
		t.Context(),
		strings.NewReader(script(calls...)),
		&brokenWriter{},
	); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("ServeStdio = %v, want the error of writing", err)
	}
	for i := range calls {
		if _, err := m.Get(t.Context(), fmt.Sprint("n", i)); err != nil {
			t.Errorf("note %d was lost: %v", i, err)
		}
	}
	storetest.Close(t, m)
}

// TestStdioIDTwice checks that a call is refused with an explanation if an unanswered call has the same ID.
func TestStdioIDTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		workspace := &verb.Workspace{Open: func(ctx context.Context, _ verb.MemoryAccess) (*oxbow.Memory, error) {
			time.Sleep(time.Second)
			return nil, oxbow.ErrClosed
		}}
		call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list","arguments":{}}}` + "\n"
		var out bytes.Buffer
		if err := New(workspace, nil).ServeStdio(t.Context(), strings.NewReader(script()+call+call), &out); err != nil {
			t.Error(err)
		}
		if strings.Count(out.String(), `"id":7,`) != 1 ||
			strings.Count(out.String(), "has the id of another call") != 1 {
			t.Errorf("the calls were answered %s", out.String())
		}
	})
}

func TestStdioContextEnds(t *testing.T) {
	noLeaks(t)
	workspace, _ := newWorkspace(t, vfs.NewMem())
	in, w := io.Pipe()
	out, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- New(workspace, nil).ServeStdio(ctx, in, toClient) }()
	go io.WriteString(w, script())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil ||
		!strings.Contains(line, `"protocolVersion":"2025-11-25"`) {
		t.Errorf("the server answered %q, %v, want the handshake", line, err)
	}
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("ServeStdio = %v, want context.Canceled", err)
	}
	w.Close()
	out.Close()
}

func TestStdioReadFails(t *testing.T) {
	workspace, _ := newWorkspace(t, vfs.NewMem())
	if err := New(workspace, nil).ServeStdio(t.Context(), badReader{}, io.Discard); err == nil ||
		!strings.Contains(err.Error(), errRead.Error()) {
		t.Errorf("ServeStdio = %v, want %v", err, errRead)
	}
}

// TestStdioBadLines checks that an invalid line is answered with an error, and that the server continues.
func TestStdioBadLines(t *testing.T) {
	list := `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	for name, c := range map[string]struct {
		line, id string
		code     int // error code; 0 if there is no answer
	}{
		"word":          {line: "hello", code: -32700},
		"byte order":    {line: "\ufeff" + list, code: -32700},
		"NUL":           {line: "\x00\x00", code: -32700},
		"cut":           {line: list[:20], code: -32700},
		"two on a line": {line: list + list, code: -32700},
		"empty list":    {line: "[]", code: -32600},
		"list":          {line: "[" + list + "]", code: -32600},
		"number":        {line: "5", code: -32600},
		"null":          {line: "null", code: -32600},
		"no version":    {line: `{"id":"a","method":"ping"}`, id: `"a"`, code: -32600},
		"method":        {line: `{"jsonrpc":"2.0","id":3,"method":4}`, id: "3", code: -32600},
		"id":            {line: `{"jsonrpc":"2.0","id":{},"method":"ping"}`, code: -32600},
		"null id":       {line: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, code: -32600},
		"large id": {
			line: `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`,
			id:   "9007199254740993",
			code: -32600,
		},
		"broken id": {line: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, id: "1.5", code: -32600},
		"no method": {line: `{"jsonrpc":"2.0"}`, code: -32600},
		"too long": {line: `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":"` +
			strings.Repeat("a", maxLineBytes) + `"}}`, code: -32600},
		"empty":           {line: ""},
		"white space":     {line: " \t\r"},
		"another's reply": {line: `{"jsonrpc":"2.0","id":9,"result":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			workspace, _ := newWorkspace(t, vfs.NewMem())
			var out bytes.Buffer
			in := c.line + "\r\n" + strings.ReplaceAll(script(), "\n", "\r\n") + c.line + "\n" + list
			if err := New(workspace, nil).ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
				t.Errorf("ServeStdio = %v, want nil at the end of input", err)
			}
			var refused, listed int
			for line := range strings.Lines(out.String()) {
				var m struct {
					ID     json.RawMessage
					Result json.RawMessage
					Error  struct{ Code int }
				}
				if err := json.Unmarshal([]byte(line), &m); err != nil {
					t.Fatalf("the server wrote %q: %v", line, err)
				}
				switch {
				case m.Error.Code != 0:
					refused++
					if want := cmp.Or(c.id, "null"); m.Error.Code != c.code || string(m.ID) != want {
						t.Errorf("answered %s, want code %d to %s", line, c.code, want)
					}
				case string(m.ID) == "7" && len(m.Result) > 0:
					listed++
				}
			}
			if want := map[bool]int{true: 2, false: 0}[c.code != 0]; refused != want || listed != 1 {
				t.Errorf("%d refusals and %d answers, want %d and 1: %.300s", refused, listed, want, out.String())
			}
		})
	}
}

// TestStdioLists checks that the server accepts batches of messages in protocol version 2025-03-26. The server must
// answer each message of a batch. If two messages of a batch have the same ID, the server must return an error with
// code -32600.
func TestStdioLists(t *testing.T) {
	workspace, _ := newWorkspace(t, vfs.NewMem())
	ping := `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
	in := strings.ReplaceAll(script(), "2025-11-25", "2025-03-26") +
		fmt.Sprintf("["+ping+","+ping+"]\n", 5, 5) + fmt.Sprintf("["+ping+","+ping+"]\n", 6, 7)
	var out bytes.Buffer
	if err := New(workspace, nil).ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Errorf("ServeStdio = %v, want nil", err)
	}
	for _, want := range []string{`"code":-32600`, `"id":6`, `"id":7`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("answered %s, want %s in it", out.String(), want)
		}
	}
}

// TestStdioCancelled checks that ServeStdio does not answer a canceled call and sends no errors. Canceling a request
// that was already answered must have no effect.
func TestStdioCancelled(t *testing.T) {
	noLeaks(t)
	asked := make(chan struct{})
	workspace := &verb.Workspace{Open: func(ctx context.Context, how verb.MemoryAccess) (*oxbow.Memory, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	in, toServer := io.Pipe()
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- New(workspace, nil).ServeStdio(context.Background(), in, &out) }()
	io.WriteString(toServer, script(`{"name":"list","arguments":{}}`))
	<-asked
	io.WriteString(toServer, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n")
	io.WriteString(toServer, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	io.WriteString(toServer, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`+"\n")
	toServer.Close()
	if err := <-done; err != nil {
		t.Errorf("ServeStdio = %v, want nil", err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, `"id":1,`) || strings.Contains(line, `"code"`) {
			t.Errorf("the server answered %s", line)
		}
	}
}
