// This file leaves out entries that the caller may not read when the memory is written to files.

package transfer

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// readableFilter returns the filter f restricted to the entries that the caller may read. It is used by verbs that
// write entries to files, because an agent could otherwise read an entry in quarantine from such a file.
// withheldEntryCount is the number of entries that match f and are left out.
func readableFilter(
	ctx context.Context,
	m *oxbow.Memory,
	f oxbow.Filter,
) (_ oxbow.Filter, withheldEntryCount int, err error) {
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
		withheldEntryCount++
	}
	f.Terms = append(slices.Clone(f.Terms), on.Filter().Terms...)
	return f, withheldEntryCount, nil
}

// addLeftOutEntriesNote adds a note about the entries that were left out.
func addLeftOutEntriesNote(r *report.Report, entryCount int) {
	if entryCount > 0 {
		r.AddNotef("%s", LeftOutEntriesNote(entryCount))
	}
}

// LeftOutEntriesNote returns a sentence about entries that were left out.
func LeftOutEntriesNote(n int) report.OxbowText {
	return report.OxbowText(
		text.FormatCount(n, "entry", "entries") + " in quarantine left out: only a person may read it",
	)
}
