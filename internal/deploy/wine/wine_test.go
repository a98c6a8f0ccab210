// This file tests how the program counts the results of tests, and how the program replaces the function in package
// testing that removes temporary directories.

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestResults(t *testing.T) {
	const events = `{"Action":"start","Package":"github.com/oxbow-memory/oxbow/vfs"}
{"Action":"pass","Package":"github.com/oxbow-memory/oxbow/vfs","Test":"TestA"}
{"Action":"pass","Package":"github.com/oxbow-memory/oxbow/vfs","Test":"TestB/part"}
{"Action":"fail","Package":"github.com/oxbow-memory/oxbow/vfs","Test":"TestB"}
{"Action":"skip","Package":"github.com/oxbow-memory/oxbow/vfs","Test":"TestC"}
{"Action":"fail","Package":"github.com/oxbow-memory/oxbow/vfs"}
{"Action":"build-output","ImportPath":"x","Output":"text"}
{"Action":"fail","Package":"github.com/oxbow-memory/oxbow"}
{"Action":"skip","Package":"github.com/oxbow-memory/oxbow/store"}
`
	results, err := readResults(strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	p := results["vfs"]
	if p == nil || p.passed != 1 || p.skipped != 1 || !slices.Equal(p.failed, []string{"TestB"}) || !p.hasRunFailed {
		t.Errorf("vfs has %+v", p)
	}
	var b strings.Builder
	printResults(&b, results)
	for _, row := range []string{
		"| `vfs` | 1 | 1 | 1 | TestB |\n",
		"| `oxbow` | 0 | 0 | 0 | the package was not built, or its tests ended early |\n",
	} {
		if !strings.Contains(b.String(), row) {
			t.Errorf("the table lacks %q:\n%s", row, b.String())
		}
	}
	if strings.Contains(b.String(), "store") {
		t.Errorf("a package without tests has a row:\n%s", b.String())
	}
	if results, err := readResults(strings.NewReader(events + "no event")); err == nil || results["vfs"] == nil {
		t.Errorf("after a line that is no event: %v, %v", results, err)
	}
}

// TestWithCleanup tests replaceRemoveAllCall with the file testing.go of the Go version that runs this test. The file
// must contain the call that replaceRemoveAllCall replaces exactly once. A file without the call must cause an error.
func TestWithCleanup(t *testing.T) {
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src", "testing", "testing.go"))
	if err != nil {
		t.Fatal(err)
	}
	replaced, err := replaceRemoveAllCall(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(replaced, "err := removeByRemove(path)\n") != 1 ||
		!strings.HasSuffix(replaced, removeFuncGoSource) {
		t.Error("the call or the function was not added")
	}
	if _, err := replaceRemoveAllCall("package testing\n"); err == nil {
		t.Error("a file without the call was accepted")
	}
}
