// This file tests commands that are interrupted.

package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestCancelled(t *testing.T) {
	w := newWorld(t)
	w.must(t, "remember", "a", "text")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env := w.env
	env.Args = []string{"export"}
	env.Stdout = &w.out
	env.Stderr = &w.errs
	w.errs.Reset()
	if got := Run(ctx, env); got != exitCommandFailed || w.errs.String() != "oxbow: stopped\n" {
		t.Errorf(
			"Run of a cancelled export = %d, %q, want %d and that it stopped",
			got,
			w.errs.String(),
			exitCommandFailed,
		)
	}
	w.must(t, "check")
}

// TestInterruptedInput tests that a command that waits for input ends when its context is canceled. The command must
// then fail with the message "stopped". The test also checks that an interruptibleReader returns all input if the
// context is not canceled.
func TestInterruptedInput(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, in := io.Pipe()
	defer in.Close()
	w := newWorld(t)
	env := w.env
	env.Args = []string{"remember", "x"}
	env.Stdin = r
	env.Stdout = &w.out
	env.Stderr = &w.errs
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, env) }()
	if _, err := io.WriteString(in, "half"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := <-ended; got != exitCommandFailed || w.errs.String() != "oxbow: stopped\n" {
		t.Errorf(
			"Run of an interrupted remember = %d, %q, want %d and that it stopped",
			got,
			w.errs.String(),
			exitCommandFailed,
		)
	}

	got, err := io.ReadAll(
		&interruptibleReader{ctx: t.Context(), r: iotest.OneByteReader(strings.NewReader("all of it"))},
	)
	if string(got) != "all of it" || err != nil {
		t.Errorf("reading to the end = %q, %v, want all of it", got, err)
	}
}

// TestInterruptedEdit tests that the text of an interrupted edit is saved, and that the path is printed.
func TestInterruptedEdit(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "x", "old")
	ctx, cancel := context.WithCancel(t.Context())
	env := w.env
	env.Args = []string{"edit", "x"}
	env.Stdout = &w.out
	env.Stderr = &w.errs
	env.RunEditor = func(argv []string) error {
		defer cancel()
		return os.WriteFile(argv[len(argv)-1], []byte("new"), 0o600)
	}
	w.errs.Reset()
	got := Run(ctx, env)
	kept, err := filepath.Glob(filepath.Join(w.dir, homeDirName, "unsaved", "x.*.md"))
	if err != nil || len(kept) != 1 || got != exitCommandFailed || !strings.Contains(w.errs.String(), kept[0]) {
		t.Fatalf(
			"Run of an interrupted edit = %d, %q, kept %v (%v), want it to say where the text is",
			got,
			w.errs.String(),
			kept,
			err,
		)
	}
	if b, err := os.ReadFile(kept[0]); string(b) != "new" || err != nil {
		t.Errorf("%s holds %q (%v), want the edit", kept[0], b, err)
	}
	w.must(t, "check")
}
