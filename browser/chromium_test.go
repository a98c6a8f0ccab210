//go:build !js

// Starts Chromium, builds programs for it, and serves them on
// loopback.

package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/internal/testenv"
)

// patience bounds every wait: some ten times what the longest takes on a quiet
// machine.
const patience = 3 * time.Minute

// pollEvery is how often a page is looked at by those who wait for it.
const pollEvery = 20 * time.Millisecond

// profile returns a directory for a browser's data. What the processes of a
// browser that was killed still write there does not make the test fail.
func profile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "oxbow-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Logf("the browser's data is left: %v", err)
		}
	})
	return dir
}

// kill ends a browser at once, as kill -9 does, and waits until it is gone.
func kill(t *testing.T, browser context.Context) {
	t.Helper()
	gone := chromedp.FromContext(browser).Browser.LostConnection
	if err := chromedp.FromContext(browser).Browser.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-time.After(patience):
		t.Fatal("the browser does not die")
	}
}

// chromium starts a browser that keeps its data in profile, and returns its
// first tab. It ends with the test.
func chromium(t *testing.T, profile string) context.Context {
	t.Helper()
	path := testenv.Program(t, "chromium", "apt install chromium")
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(profile),
		chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", true)) // which a container does not allow
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, flags...)
	t.Cleanup(stop)
	ctx, quit := chromedp.NewContext(ctx, chromedp.WithErrorf(t.Logf))
	t.Cleanup(quit)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	return ctx
}

// tab opens another tab of the same browser.
func tab(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	ctx, quit := chromedp.NewContext(browser)
	t.Cleanup(quit)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	return ctx
}

// do runs actions in a tab and fails the test when they fail, or take too long.
func do(t *testing.T, tab context.Context, what string, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// eval evaluates a JavaScript expression, waiting for the promise that it may
// be, and returns its value as a T.
func eval[T any](t *testing.T, tab context.Context, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// built is a directory of programs for the browser.
type built struct{ dir string }

// run carries out a command of Go for the browser.
func (b built) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// wasmExec returns the path of the script that carries Go's programs.
func wasmExec(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "lib", "wasm", "wasm_exec.js")
}

// runner is a page that runs a program with the arguments of its query, and
// then knows how it ended.
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

// serve serves a directory of programs and the page that runs them.
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
