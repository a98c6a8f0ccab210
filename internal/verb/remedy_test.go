// This file tests that there is advice for each error of the library.

package verb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func TestEveryErrorHasAWayOut(t *testing.T) {
	for _, err := range []error{
		oxbow.ErrNotFound, oxbow.ErrExists, oxbow.ErrConflict, oxbow.ErrBusy, oxbow.ErrCorrupt, oxbow.ErrVersion,
		oxbow.ErrReadOnly, oxbow.ErrFull, oxbow.ErrVanished, oxbow.ErrUnknownOutcome, oxbow.ErrClosed,
		oxbow.ErrUnsupported,
		oxbow.ErrNotStore, oxbow.ErrRolledBack, oxbow.ErrNetworkFS,
	} {
		h := ErrorRemedy(err).String()
		if h == "" || strings.HasSuffix(h, ".") || strings.ToLower(h[:1]) != h[:1] {
			t.Errorf("Remedy(%v) = %q, want a sentence that begins small and has no period", err, h)
		}
	}
}

func TestHintsOfDurability(t *testing.T) {
	since := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		err  error
		want []string
	}{
		{"rolled back", oxbow.ErrRolledBack, []string{"newer file", "oxbow recover --accept"}},
		{"damaged", &oxbow.CorruptError{Path: "p"}, []string{"oxbow check", "oxbow recover"}},
		{"network", oxbow.ErrNetworkFS, []string{"local disk", "OXBOW_HOME", "--network-fs"}},
		{"busy", &oxbow.BusyError{PID: 42, Program: "oxbow mcp", Since: since}, []string{"process 42", "kill 42"}},
		{
			"stopped",
			&oxbow.BusyError{PID: 42, Program: "oxbow mcp", Since: since, Stopped: true},
			[]string{"kill -CONT 42", "kill 42"},
		},
		{"nobody known", &oxbow.BusyError{}, []string{"oxbow doctor"}},
		{"both", errors.Join(oxbow.ErrUnknownOutcome, oxbow.ErrFull), []string{"same op_id"}},
	} {
		got := ErrorRemedy(c.err).String()
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: Remedy(%v) = %q, want %q in it", c.name, c.err, got, w)
			}
		}
	}
}
