// This file leaves entries out of files if the caller may not read them.

package transfer

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// readableFilter restricts the filter f to the entries that the caller may read. Without this restriction, an agent
// could read an entry in quarantine from the file that the verb writes. withheld is the number of entries that f
// selects and the caller may not read.
func readableFilter(ctx context.Context, m *oxbow.Memory, f oxbow.Filter) (_ oxbow.Filter, withheld int, err error) {
	on := oxbow.OnRequest(ctx)
	keys := on.HeldLabels()
	if keys == nil {
		return f, 0, nil
	}
	held := oxbow.Filter{Terms: append(slices.Clone(f.Terms), oxbow.Term{Key: "has", Values: keys})}
	for _, err := range m.Entries(ctx, held) {
		if err != nil {
			return f, 0, err
		}
		withheld++
	}
	f.Terms = append(slices.Clone(f.Terms), on.Filter().Terms...)
	return f, withheld, nil
}

// addWithheldNote reports the entries that were left out.
func addWithheldNote(r *report.Report, n int) {
	if n > 0 {
		r.AddNotef("%s", WithheldNote(n))
	}
}

// WithheldNote returns a sentence about entries that were left out.
func WithheldNote(n int) report.Words {
	return report.Words(text.FormatCount(n, "entry", "entries") + " in quarantine left out: only a person may read it")
}
