// Tests of the door of standard streams as a process sees it: bytes in,
// bytes out, and an end.

package mcpserver

import (
	"bufio"
	"bytes"
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
	desk, _ := newDesk(t, vfs.NewMem())
	var calls []string
	for i := range 50 {
		calls = append(calls, fmt.Sprintf(`{"name":"remember","arguments":{"name":"n%d","content":"c"}}`, i))
	}
	var out bytes.Buffer
	if err := New(desk, nil).ServeStdio(t.Context(), strings.NewReader(script(calls...)), &out); err != nil {
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
	desk, opened := newDesk(t, vfs.NewMem())
	var out bytes.Buffer
	if err := New(desk, nil).ServeStdio(t.Context(), strings.NewReader(""), &out); err != nil || out.Len() != 0 {
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
		desk := &tool.Workspace{Open: func(ctx context.Context, how tool.Access) (*oxbow.Memory, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		start := time.Now()
		err := New(desk, nil).ServeStdio(t.Context(), strings.NewReader(script(`{"name":"list","arguments":{}}`)), io.Discard)
		if took := time.Since(start); err != nil || took >= time.Second || took < drainTime {
			t.Errorf("ServeStdio = %v after %v, want nil after %v to 1s", err, took, drainTime)
		}
	})
}

func TestStdioContextEnds(t *testing.T) {
	noLeaks(t)
	desk, _ := newDesk(t, vfs.NewMem())
	in, w := io.Pipe()
	out, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- New(desk, nil).ServeStdio(ctx, in, toClient) }()
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
	desk, _ := newDesk(t, vfs.NewMem())
	if err := New(desk, nil).ServeStdio(t.Context(), badReader{}, io.Discard); err == nil || !strings.Contains(err.Error(), errRead.Error()) {
		t.Errorf("ServeStdio = %v, want %v", err, errRead)
	}
}
