//go:build !js

// Command page runs a memory in a web page. Run it in a clone of the repository, open the address that
// it prints, and remember something. The memory is kept if you reload the page, open it in a second
// tab, or close the browser.
//
//	cd test/browser && go run ./page
//
// This file is the server. It builds this package for the browser and serves the result with the surrounding page.
// Entries never reach the server. The program that runs in the page is in page_js.go.
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed index.html
var indexHTML []byte

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve; port 0 takes any")
	flag.Parse()
	if err := runServer(*addr); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func runServer(addr string) error {
	program, err := buildWasmProgram()
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("asking where Go is: %w", err)
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("reading the script that carries Go programs: %w", err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("open http://%s/\n", l.Addr())
	return http.Serve(l, pageHandler(program, script))
}

// buildWasmProgram compiles this package as a WebAssembly program for the browser, and returns the program.
func buildWasmProgram() ([]byte, error) {
	dir, err := os.MkdirTemp("", "oxbow-page-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "page.wasm")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", file, "github.com/oxbow-memory/oxbow/test/browser/page")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("building the program for the browser: %w", err)
	}
	return os.ReadFile(file)
}

// pageHandler returns a handler that serves three files: the page at /, the WebAssembly program at /page.wasm, and Go's
// script that runs the program at /wasm_exec.js.
func pageHandler(program, script []byte) http.Handler {
	mux := http.NewServeMux()
	for _, f := range []struct {
		path, kind string
		data       []byte
	}{
		{"/{$}", "text/html; charset=utf-8", indexHTML},
		{"/page.wasm", "application/wasm", program},
		{"/wasm_exec.js", "text/javascript; charset=utf-8", script},
	} {
		mux.HandleFunc("GET "+f.path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", f.kind)
			w.Header().Set(
				"Content-Security-Policy",
				"default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'",
			)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
		})
	}
	return mux
}
