// Ends the demo from outside, and sees that nothing of it is left.

//go:build unix

package cli

import (
	"os"
	"os/exec"
	"testing"
)

// A reader that wants the first line alone, as head does, leaves no throw-away home behind.
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
	_ = cmd.Wait() // its status says that the pipe is broken
	if left, err := os.ReadDir(temps); err != nil || len(left) > 0 {
		t.Errorf("oxbow demo left %v (%v) in the temporary directory", left, err)
	}
}
