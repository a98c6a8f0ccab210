// This file tests for which part of a prompt the memory is searched.

package inject

import (
	"strings"
	"testing"
)

// TestProseOfStackTraces checks that the stack frames in a pasted trace are left out of the search. The question and
// the error message must stay.
func TestProseOfStackTraces(t *testing.T) {
	for name, trace := range map[string]string{
		"java": `Exception in thread "main" java.lang.IllegalStateException: no berth is free at ` +
			`com.harbor.Thread.plan(Thread.java:41) at java.base/java.lang.Thread.run(Thread.java:833)`,
		"javascript": "Error: no berth is free\n    at plan (/srv/harbor/thread.js:41)\n    at run (node:internal/thread:12)",
		"python": "Traceback (most recent call last):\n  File \"/srv/harbor/thread.py\", line 41, in plan\n" +
			"Error: no berth is free",
	} {
		got := personWrittenText("Why does this happen?\n" + trace)
		if !strings.Contains(got, "Why does this happen") {
			t.Errorf("%s: the question is not in %q", name, got)
		}
		if strings.Contains(strings.ToLower(got), "thread") {
			t.Errorf("%s: a frame is in %q", name, got)
		}
	}
	if got := personWrittenText("Look at berth (north) and main.go:41, please."); !strings.Contains(
		got,
		"berth (north)",
	) {
		t.Errorf("a sentence without a frame became %q", got)
	}
}
