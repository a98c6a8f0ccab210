// This file finds the proof that a turn's work is sound: a test that passed, or a
// commit.

package session

import (
	"regexp"
	"sync"
)

var isCommit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[;&|]\s*)git\s+(?:-[cC]\s+\S+\s+|-\S+\s+)*commit\b`)
})

// findProof returns the command of the last passed test or the last commit, and the files
// written before it. The proof is "" if neither exists, or if a test failed or a file
// was written afterwards.
func findProof(events []Event) (proof string, files []string) {
	for _, e := range events {
		c := e.Call
		if e.Kind != Called || c == nil {
			continue
		}
		switch failed := c.Failed || (c.Exit != nil && *c.Exit != 0); {
		case isTest().MatchString(c.Command) && failed, len(c.Wrote) > 0:
			proof, files = "", append(files, c.Wrote...)
		case !failed && (isTest().MatchString(c.Command) || isCommit().MatchString(c.Command)):
			proof = short(c.Command, maxTaint)
		}
	}
	return proof, files
}
