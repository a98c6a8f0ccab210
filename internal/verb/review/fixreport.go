// This file describes the list of fixes.

package review

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/report"
)

// Report shows each fix with its evidence.
func (o FixesOut) Report() (r report.Report) {
	for _, f := range o.Fixes {
		r.Add(report.Record{Key: f.ID, Cells: []report.Cell{{Value: f.Time}, {Value: f.Project}}, Lines: []report.Cell{
			{Name: "failed", Value: report.Text(f.Command)},
			{Name: "error", Value: report.Text(f.Error)},
			{Name: "changed", Value: report.Text(strings.Join(f.Files, ", "))},
			{Name: "said", Value: report.Text(f.Said)},
			{Name: "evidence", Value: f.Turn},
		}})
	}
	if more := o.Of - len(o.Fixes); more > 0 {
		r.Notef("%d more; --limit %d shows them all", more, o.Of)
	}
	report.AddNotes(&r, o.Notes)
	return r
}
