// This file contains parts that the reports of several verbs share.

package verb

import "github.com/oxbow-memory/oxbow/internal/base/report"

// savedReport tells which version of an entry a call wrote.
func savedReport(did report.Words, name string, version uint64, notes []Note) (r report.Report) {
	r.Add(report.Line{Sentence: report.Sentencef("%s %s %s", did, report.Name(name), report.Change(version)),
		Key: report.Name(name)})
	report.AddNotes(&r, notes)
	return r
}

// AllTouched returns the advice that says how to list all entries that a call touched. After a dry run there is no
// change, so that the same call has to list them.
func AllTouched(dryRun bool) report.Words {
	return report.Did(dryRun, "oxbow log --limit 1 --json lists them all", "--json lists them all")
}
