// This file writes the report that shows how failed commands were fixed.

package review

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/report"
)

// Report lists how failed commands were fixed. For each fix, it shows the failed command and its error.
func (o FixesOut) Report() (r report.Report) {
	for _, f := range o.Fixes {
		r.Add(
			report.Record{
				Key:   f.ID,
				Cells: []report.Cell{{Value: f.Time}, {Value: f.Project}},
				TextCellsBelow: []report.Cell{
					{Name: "failed", Value: report.QuotedText(f.Command)},
					{Name: "error", Value: report.QuotedText(f.ErrorLine)},
					{Name: "changed", Value: report.QuotedText(strings.Join(f.ChangedFiles, ", "))},
					{Name: "said", Value: report.QuotedText(f.Explanation)},
					{Name: "evidence", Value: f.TurnName},
				},
			},
		)
	}
	if more := o.TotalFixes - len(o.Fixes); more > 0 {
		r.AddNotef("%d more; --limit %d shows them all", more, o.TotalFixes)
	}
	report.AddNotes(&r, o.Notes)
	return r
}
