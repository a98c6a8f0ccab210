// Tests of how calls ended, as far as clients tell.

package transcript

import (
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// Claude Code reports a command such as test or grep, whose status is not 0 and no error, by its
// interpretation: the status is not known then. That of others is 0 if it tells of none.
func TestInterpretedStatus(t *testing.T) {
	for response, want := range map[string]bool{
		`{"stdout":"","stderr":"","interrupted":false}`:                                                 true,
		`{"stdout":"","stderr":"","interrupted":false,"returnCodeInterpretation":"Condition is false"}`: false,
		`{"stdout":"","stderr":"","interrupted":false,"returnCodeInterpretation":"No matches found"}`:   false,
		`{"stdout":"","stderr":"","interrupted":false,"backgroundTaskId":"b1"}`:                         false,
	} {
		e, ok := CompleteCall(
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
