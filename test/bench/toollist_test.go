// This file tests that the list of tools, which clients send with each request, has few tokens.

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// mostToolTokens is the maximum number of tokens in the list of the default tools.
const mostToolTokens = 1100

// TestToolList starts oxbow mcp and counts the tokens of its tools as a model reads them: names,
// descriptions and input schemas, as JSON.
func TestToolList(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "oxbow")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", path, "./cmd/oxbow").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(path, "mcp")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "OXBOW_HOME="+filepath.Join(dir, "home"))
	cmd.Stdin = strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`,
	)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	tools := listedTools(t, strings.NewReader(string(out)))
	for _, name := range []tokenizer.Encoding{tokenizer.Cl100kBase, tokenizer.O200kBase} {
		codec, err := tokenizer.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		n, err := codec.Count(tools)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d tokens in %d bytes", name, n, len(tools))
		if n > mostToolTokens {
			t.Errorf("%s: a model reads %d tokens, want at most %d", name, n, mostToolTokens)
		}
	}
}

// listedTools returns the tools in the answer with the ID 2, as JSON.
func listedTools(t *testing.T, answers io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(answers)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var answer struct {
			ID     int
			Result struct {
				Tools []struct {
					Name        string          `json:"name"`
					Description string          `json:"description"`
					InputSchema json.RawMessage `json:"inputSchema"`
				}
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if answer.ID != 2 {
			continue
		}
		if len(answer.Result.Tools) < 6 {
			t.Fatalf("%d tools", len(answer.Result.Tools))
		}
		b, err := json.Marshal(answer.Result.Tools)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	t.Fatal("the server lists no tools")
	return ""
}
