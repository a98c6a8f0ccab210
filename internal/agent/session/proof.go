// This file finds the proof that the work in a turn is sound. A proof is a passed test or a commit.

package session

import (
	"regexp"
	"sync"
)

var commitCommandPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[;&|]\s*)git\s+(?:-[cC]\s+\S+\s+|-\S+\s+)*commit\b`)
})

// findLastTestOrCommit finds the last successful test or commit in events. The result lastTestOrCommit is the command
// of this test or commit, shortened to one line. It is "" if no such command exists, if a later test failed, or if a
// later call wrote files. The result files lists the files that were written by any call in events.
func findLastTestOrCommit(events []Event) (lastTestOrCommit string, files []string) {
	for _, e := range events {
		c := e.Call
		if e.Kind != KindToolCall || c == nil {
			continue
		}
		switch failed := c.Failed || (c.ExitStatus != nil && *c.ExitStatus != 0); {
		case testCommandPattern().MatchString(c.Command) && failed, len(c.WrittenFiles) > 0:
			lastTestOrCommit, files = "", append(files, c.WrittenFiles...)
		case !failed && (testCommandPattern().MatchString(c.Command) || commitCommandPattern().MatchString(c.Command)):
			lastTestOrCommit = toShortLine(c.Command, maxForeignTextCallBytes)
		}
	}
	return lastTestOrCommit, files
}
