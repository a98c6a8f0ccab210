// This file tests the question that setup asks before it changes the files of clients.

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// linesTyped is an input that returns one line at each read, as a terminal does.
type linesTyped []string

func (l *linesTyped) Read(b []byte) (int, error) {
	if len(*l) == 0 {
		return 0, nil
	}
	n := copy(b, (*l)[0])
	*l = (*l)[1:]
	return n, nil
}

func TestSetupAsks(t *testing.T) {
	for _, c := range []struct {
		name      string
		height    int
		typed     linesTyped
		agreed    bool
		summary   bool
		different bool // The difference between the files is shown.
	}{
		{"a long difference", 24, linesTyped{"n\n"}, false, true, false},
		{"a long difference, agreed", 24, linesTyped{"\n"}, true, true, false},
		{"a long difference that is shown", 24, linesTyped{"d\n", "y\n"}, true, true, true},
		{"a difference that fits", 1000, linesTyped{"n\n"}, false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.must(t, "init")
			w.env.IsStdinTerminal = true
			w.env.IsStderrTerminal = true
			w.env.TerminalHeight = c.height
			w.env.Stdin = &c.typed
			// After the person agrees, setup fails here, because it cannot start the server.
			_, _, stderr := w.run(t, "setup", "claude")
			if !strings.Contains(stderr, "Change these files? ") ||
				strings.Contains(stderr, "−0 lines)") != c.summary ||
				strings.Contains(stderr, "\n+  \"mcpServers\"") != c.different {
				t.Errorf("setup asks with %q", stderr)
			}
			_, err := os.Stat(filepath.Join(w.vars["HOME"], ".claude.json"))
			if (err == nil) != c.agreed {
				t.Errorf("the settings: %v", err)
			}
			w.must(t, "check")
		})
	}
}
