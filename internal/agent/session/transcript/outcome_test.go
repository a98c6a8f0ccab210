// This file tests how the outcome of a call is determined.

package transcript

import (
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// TestInterpretedStatus tests calls of Claude Code that report no exit status. The status is unknown if the call runs
// in the background. It is also unknown if the report contains an interpretation, because a command such as grep may
// then have returned a status other than 0 without an error. In all other cases the status is 0.
func TestInterpretedStatus(t *testing.T) {
	for response, want := range map[string]bool{
		`{"stdout":"","stderr":"","interrupted":false}`:                                                 true,
		`{"stdout":"","stderr":"","interrupted":false,"returnCodeInterpretation":"Condition is false"}`: false,
		`{"stdout":"","stderr":"","interrupted":false,"returnCodeInterpretation":"No matches found"}`:   false,
		`{"stdout":"","stderr":"","interrupted":false,"backgroundTaskId":"b1"}`:                         false,
	} {
		e, ok := CompleteCallEvent(
			session.Event{},
			"Bash",
			[]byte(`{"command":"grep x y"}`),
			DecodeOutcome([]byte(response)),
			func(s string) string {
				return s
			},
		)
		if !ok || e.Call.Failed || (e.Call.ExitStatus != nil) != want {
			t.Errorf(
				"%s: failed %t, exit %v; want a known status: %t",
				response,
				e.Call.Failed,
				e.Call.ExitStatus,
				want,
			)
		}
	}
}
