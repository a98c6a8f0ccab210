// This file tests how events are cleaned: which lines remain of an output.

package session

import (
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	in := strings.Repeat("line\n", 30) + strings.Repeat("x", 5000) + "\nend\n\n"
	got := outputTail(in)
	if lines := strings.Split(got, "\n"); len(lines) != MaxOutputLines || lines[9] != "end" || len(lines[8]) > 500 {
		t.Errorf("tail = %d lines: %q", len(lines), got)
	}
	if again := outputTail(got); again != got {
		t.Errorf("tail of a tail = %q, want %q", again, got)
	}
}
