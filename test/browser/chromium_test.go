//go:build !js

// This file builds programs for Chromium and serves them to it on the loopback interface.

package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pollEvery is the time between two looks at the page while a test waits for a change in it.
const pollEvery = 20 * time.Millisecond

// built is a directory that contains programs for the browser.
type built struct{ dir string }

// run runs the go command with GOOS and GOARCH set for the browser.
func (b built) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// wasmExec returns the path of Go's script that runs WebAssembly programs in a page.
func wasmExec(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "lib", "wasm", "wasm_exec.js")
}

// runner is a page that runs a program. The query of the address contains the arguments. When the program has ended,
// the page contains its result.
const runner = `<!doctype html><title>runner</title><script src="/wasm_exec.js"></script><script>
const query = new URLSearchParams(location.search)
let out = ""
fs.writeSync = (fd, bytes) => { out += new TextDecoder().decode(bytes); return bytes.length }
const ended = (async () => {
	const go = new Go()
	let code = 0
	go.argv = [query.get("wasm"), ...query.getAll("arg")]
	go.exit = c => { code = c }
	const program = await WebAssembly.instantiateStreaming(fetch("/" + query.get("wasm")), go.importObject)
	await go.run(program.instance)
	return {code, out}
})()
</script>`

// serve starts a server for a directory of programs and for the page runner. The server stops at the end of the test.
func serve(t *testing.T, b built) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	script := wasmExec(t)
	mux.HandleFunc("/wasm_exec.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, script) })
	mux.HandleFunc("/run", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, runner) })
	mux.Handle("/", http.FileServer(http.Dir(b.dir)))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}
