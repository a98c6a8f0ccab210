// This file contains parts that the reports of several verbs share.

package verb

import "github.com/oxbow-memory/oxbow/internal/base/report"

// AllTouched returns the advice that says how to list all entries that a call touched. After a dry run there is no
// change, so that the same call has to list them.
func AllTouched(dryRun bool) report.Words {
	return report.Did(dryRun, "oxbow log --limit 1 --json lists them all", "--json lists them all")
}
