// Tests of the library under WASI. The program is compiled for wasip1 and runs in wazero. Each run is a new process
// that has only access to the directory that it receives.

package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// guest is a program for wasip1 that is compiled once and run many times.
type guest struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

func buildGuest(t *testing.T) guest {
	t.Helper()
	wasm := filepath.Join(t.TempDir(), "platform.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", wasm, ".")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build for wasip1: %v\n%s", err, out)
	}
	code, err := os.ReadFile(wasm)
	if err != nil {
		t.Fatal(err)
	}
	// The interpreter starts immediately. Compiling 5 MB in advance would take longer than all runs of this test.
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { r.Close(t.Context()) })
	if _, err := wasi_snapshot_preview1.Instantiate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	m, err := r.CompileModule(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return guest{r, m}
}

// run runs the program as a process. The process sees dir as /home and has no access to other files of the host.
func (g guest) run(t *testing.T, dir string, args ...string) (stdout, stderr string, code uint32) {
	t.Helper()
	var out, errs bytes.Buffer
	cfg := wazero.NewModuleConfig().WithName("").WithArgs(append([]string{"platform"}, args...)...).
		WithFSConfig(wazero.NewFSConfig().WithDirMount(dir, "/home")).
		WithStdout(&out).WithStderr(&errs).WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader)
	_, err := g.runtime.InstantiateModule(t.Context(), g.module, cfg)
	var exit *sys.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		t.Fatalf("platform %q: %v\n%s", args, err, errs.String())
	}
	return out.String(), errs.String(), code
}

func TestWASI(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for wasip1 and runs it in an interpreter")
	}
	g, dir := buildGuest(t), t.TempDir()
	must := func(want string, args ...string) {
		t.Helper()
		out, errs, code := g.run(t, dir, args...)
		if code != 0 || out != want {
			t.Fatalf("platform %q = %q, exit status %d, %s; want %q", args, out, code, errs, want)
		}
	}
	const file = "/home/deep/memory.oxbow"
	must("", "recall", file, "tuesday")
	must("remembered deploy as change 1\n", "remember", file, "deploy", "We ship on Tuesdays.")
	// A second process recalls what the first process remembered, and adds an entry.
	must("deploy: We ship on Tuesdays.\n", "recall", file, "when do we ship")
	must("remembered lunch as change 2\n", "remember", file, "lunch", "Noodles.")
	must("remembered deploy as change 3\n", "remember", file, "deploy", "We ship on Fridays.")
	must("deploy: We ship on Fridays.\n", "recall", file, "when do we ship")
	must("2 entries in 3 changes, 0 problems\n", "check", file)

	// The host reads the same file.
	m, err := oxbow.Open(filepath.Join(dir, "deep", "memory.oxbow"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e, err := m.Get(t.Context(), "deploy")
	if err != nil || e.Content != "We ship on Fridays." {
		t.Errorf("Get(deploy) on the host = %q, %v", e.Content, err)
	}
	if _, err := m.Remember(t.Context(), oxbow.Entry{Name: "host", Content: "Written outside."}); err != nil {
		t.Fatal(err)
	}
	must("host: Written outside.\n", "recall", file, "outside")

	// The process cannot write to a directory that it did not receive.
	outside := t.TempDir()
	_, errs, code := g.run(t, dir, "remember", filepath.ToSlash(outside)+"/memory.oxbow", "a", "b")
	if names, err := os.ReadDir(outside); code == 0 || errs == "" || err != nil || len(names) != 0 {
		t.Errorf("writing outside of the given directory: exit status %d, %q, made %v", code, errs, names)
	}
	if left := leftovers(t, filepath.Join(dir, "deep")); left != "" {
		t.Errorf("temporary files are left: %s", left)
	}
}

func leftovers(t *testing.T, dir string) string {
	t.Helper()
	d, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	entries, err := d.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			left = append(left, e.Name())
		}
	}
	return strings.Join(left, ", ")
}
