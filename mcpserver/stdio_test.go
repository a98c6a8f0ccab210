// Tests of the standard-stream transport as a process sees it: bytes in, bytes
// out, and an end.

package mcpserver

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/vfs"
)

// script is what a client of the older protocol writes: a handshake and calls.
func script(calls ...string) string {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"script","version":"0"}}}` + "\n")
	b.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for i, c := range calls {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", i+1, c)
	}
	return b.String()
}

// answers decodes what a server wrote, by id; every line must be JSON-RPC.
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

// A client that writes all its calls and closes the pipe gets all its answers.
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

// A call that hangs does not keep the server beyond the end of its input by
// more than a second. The clock is a test's: nothing is waited for.
func TestStdioEndsWithACallOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		workspace := &tool.Workspace{Open: func(ctx context.Context, how tool.Access) (*oxbow.Memory, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		start := time.Now()
		err := New(workspace, nil).ServeStdio(t.Context(), strings.NewReader(script(`{"name":"list","arguments":{}}`)), io.Discard)
		if took := time.Since(start); err != nil || took >= time.Second || took < graceTime {
			t.Errorf("ServeStdio = %v after %v, want nil after %v to 1s", err, took, graceTime)
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
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"protocolVersion":"2025-11-25"`) {
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
	if err := New(workspace, nil).ServeStdio(t.Context(), badReader{}, io.Discard); err == nil || !strings.Contains(err.Error(), errRead.Error()) {
		t.Errorf("ServeStdio = %v, want %v", err, errRead)
	}
}

// A line that is no message is answered, and the server goes on.
func TestStdioBadLines(t *testing.T) {
	list := `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	for name, c := range map[string]struct {
		line, id string
		code     int // 0 for no answer
	}{
		"word":            {line: "hello", code: -32700},
		"byte order":      {line: "\ufeff" + list, code: -32700},
		"NUL":             {line: "\x00\x00", code: -32700},
		"cut":             {line: list[:20], code: -32700},
		"two on a line":   {line: list + list, code: -32700},
		"empty list":      {line: "[]", code: -32600},
		"list":            {line: "[" + list + "]", code: -32600},
		"number":          {line: "5", code: -32600},
		"null":            {line: "null", code: -32600},
		"no version":      {line: `{"id":"a","method":"ping"}`, id: `"a"`, code: -32600},
		"method":          {line: `{"jsonrpc":"2.0","id":3,"method":4}`, id: "3", code: -32600},
		"id":              {line: `{"jsonrpc":"2.0","id":{},"method":"ping"}`, code: -32600},
		"null id":         {line: `{"jsonrpc":"2.0","id":null,"method":"ping"}`, code: -32600},
		"large id":        {line: `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, id: "9007199254740993", code: -32600},
		"broken id":       {line: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, id: "1.5", code: -32600},
		"no method":       {line: `{"jsonrpc":"2.0"}`, code: -32600},
		"too long":        {line: `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":"` + strings.Repeat("a", maxLine) + `"}}`, code: -32600},
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

// Version 2025-03-26 has lists of messages.
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

// A cancelled call is not answered; calls next to it are.
func TestStdioCancelled(t *testing.T) {
	noLeaks(t)
	asked := make(chan struct{})
	workspace := &tool.Workspace{Open: func(ctx context.Context, how tool.Access) (*oxbow.Memory, error) {
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
