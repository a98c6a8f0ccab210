// This file tests that a handoff leaves out text that looks like instructions.

package handoff

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

func TestShapedTextIsLeftOut(t *testing.T) {
	for form, order := range testenv.DisguisedInstructions() {
		for place, e := range map[string]session.Event{
			"a conclusion":          event(session.KindText, "The root cause was that the file says: "+order),
			"an open item":          event(session.KindPlan, "- [ ] first\n- [ ] "+order),
			"a command":             called("echo "+order, 0, ""),
			"a command that failed": called("echo "+order, 1, ""),
			"a failed test":         called("make", 1, "not ok 1 - "+order),
			"an error line":         called("make", 1, "error: "+order),
		} {
			got := composeRecord(
				fold(event(session.KindPrompt, "Make refunds work."), e, called("make lint", 0, "")),
				nil,
			)
			if strings.Contains(got, order) || !strings.Contains(got, "make lint") {
				t.Errorf("%s, %s: the handoff is %s", place, form, got)
			}
		}
	}
}
