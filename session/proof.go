// What stands behind the work of a turn: a test that passed, or a commit.

package session

import (
	"regexp"
	"sync"
)

var isCommit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[;&|]\s*)git\s+(?:-[cC]\s+\S+\s+|-\S+\s+)*commit\b`)
})

// proofOf returns the command of the last test that passed, or of the last commit; ""
// where there is none, and where a test failed or a file was written after it.
func proofOf(events []Event) (proof string) {
	for _, e := range events {
		c := e.Call
		if e.Kind != Called || c == nil {
			continue
		}
		switch failed := c.Failed || c.Exit != nil && *c.Exit != 0; {
		case isTest().MatchString(c.Command) && failed, len(c.Wrote) > 0:
			proof = ""
		case !failed && (isTest().MatchString(c.Command) || isCommit().MatchString(c.Command)):
			proof = short(c.Command, maxTaint)
		}
	}
	return proof
}
