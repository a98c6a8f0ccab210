// This file tests a daemon's command line.

package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestDaemonAdvice tests that the advice in the error of a daemon's command is printed with the daemon's own commands.
// The test contains a single run, because the flags of a root command can be defined only once.
func TestDaemonAdvice(t *testing.T) {
	w := newWorld(t)
	root := &cobra.Command{Use: "quayd", Short: "serves memories"}
	root.AddCommand(&cobra.Command{Use: "cluster", RunE: func(*cobra.Command, []string) error {
		return usageErrorf("oxbow serve starts it, and oxbow cluster restore brings a copy back", "no server runs")
	}})
	env := w.env
	env.Args = []string{"--home", "kept", "cluster"}
	env.Stdout, env.Stderr = &w.out, &w.errs
	start := func(context.Context, string, func(string, ...any)) (Memories, error) {
		t.Error("the storage was started")
		return nil, nil
	}
	status := runDaemon(
		t.Context(),
		env,
		Daemon{RootCommand: root, ServeCommand: &cobra.Command{Use: "serve"}, StartStorage: start},
	)
	if status != exitUsageError || !strings.Contains(w.errs.String(), "no server runs") {
		t.Errorf("status %d, %q", status, w.errs.String())
	}
	if !strings.Contains(w.errs.String(), "serve starts it") {
		t.Errorf("the advice is not printed: %q", w.errs.String())
	}
}
