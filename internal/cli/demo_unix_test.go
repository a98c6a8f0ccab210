// This file ends the command demo by closing the pipe that it writes to. Afterwards, the demo must have left no
// temporary files behind.

//go:build unix

package cli

import (
	"os"
	"os/exec"
	"testing"
)

// TestDemoInBrokenPipe tests that "oxbow demo" deletes its temporary directory if the reader of its output closes the
// pipe after the first few bytes, as the program head does.
func TestDemoInBrokenPipe(t *testing.T) {
	temps, home := t.TempDir(), t.TempDir()
	cmd := exec.Command("oxbow", "demo")
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "TMPDIR="+temps)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Errorf("reading the first bytes of the demo: %v", err)
	}
	r.Close()
	_ = cmd.Wait() // Ignore the error: the status only reports the broken pipe.
	if left, err := os.ReadDir(temps); err != nil || len(left) > 0 {
		t.Errorf("oxbow demo left %v (%v) in the temporary directory", left, err)
	}
}
