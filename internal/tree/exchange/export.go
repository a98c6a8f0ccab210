// This file writes entries as JSON lines.

package exchange

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
)

// exportedEntry is an entry in the form in which it is exported. The fields are in the order of the JSON keys. The
// fields of [oxbow.Entry] are in the same order, so that an Entry can be converted to an exportedEntry.
type exportedEntry struct {
	ID      uint64        `json:"id"`
	Name    string        `json:"name"`
	Kind    oxbow.Kind    `json:"kind"`
	Content string        `json:"content"`
	Aliases []string      `json:"aliases"`
	Labels  []oxbow.Label `json:"labels"`
	Created time.Time     `json:"created"`
	Updated time.Time     `json:"updated"`
	Version uint64        `json:"version"`
	Source  oxbow.Source  `json:"source"`
}

// Export writes the entries that match the filter f, ordered by ID, and returns their number. Each entry is a line of
// JSON (UTF-8, ended by a newline):
//
//	{"id":7,"name":"deploy","kind":"note","content":"…","aliases":["ship"],
//	 "labels":[{"key":"project","value":"vtt"}],"created":"2026-04-18T09:30:00Z",
//	 "updated":"2026-04-19T10:00:00.5Z","version":12,"source":{"time":…,"actor":"agent"}}
//
// All keys are always present, in this order, so that the same entries produce the same bytes. Local labels are
// omitted, except for personal labels. Times are in RFC 3339 format and in UTC, with the precision of the store. [Read]
// reads the result. If an error is returned, the output may be incomplete.
func Export(ctx context.Context, s oxbow.Store, f oxbow.Filter, w io.Writer) (int, error) {
	bw := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(bw)
	enc.SetEscapeHTML(false) // Do not escape <, > and &, because the output is not used in HTML.
	n, tell := 0, progress.NewCountReporter(ctx, progress.UnitEntries)
	for e, err := range s.Entries(ctx, f) {
		if err != nil {
			return n, fmt.Errorf("exporting entries: %w", err)
		}
		tell(n, 0)
		if err := ctx.Err(); err != nil {
			return n, fmt.Errorf("exporting entries: %w", err)
		}
		r := exportedEntry(e)
		r.Created, r.Updated = e.Created.UTC(), e.Updated.UTC()
		if r.Aliases == nil {
			r.Aliases = []string{}
		}
		isImport := func(l oxbow.Label) bool { return l.IsLocal() && !l.IsPersonal() }
		r.Labels = slices.DeleteFunc(slices.Clone(r.Labels), isImport)
		if r.Labels == nil {
			r.Labels = []oxbow.Label{}
		}
		if err := enc.Encode(r); err != nil {
			return n, fmt.Errorf("exporting entry %q: %w", e.Name, err)
		}
		n++
	}
	if err := bw.Flush(); err != nil {
		return n, fmt.Errorf("exporting entries: %w", err)
	}
	return n, nil
}
