// What the formats share: the report, and the lines of what is imported.

// Package interchange writes annotations as Agent Trace records, and makes
// annotations of such records and of the notes of Git AI.
package interchange

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// Report counts what did not fit, in words.
type Report struct {
	Written int            // annotations, or records
	Notes   int            // notes that were read
	Left    map[string]int // what was left out or has no place, and how often
}

func (r *Report) left(what string) {
	if r.Left == nil {
		r.Left = map[string]int{}
	}
	r.Left[what]++
}

// want is a range that is to become an annotation.
type want struct {
	rec   annotate.Record
	place annotate.FileAt // Commit is "" for the working tree
}

// fill takes the lines of what is wanted from where they stood.
func fill(ctx context.Context, b *annotate.Store, wants []want, rep *Report) ([]annotate.Record, error) {
	then, err := versionsOf(ctx, b, wants)
	if err != nil {
		return nil, err
	}
	var out []annotate.Record
	for i, w := range wants {
		t := then[i]
		switch {
		case t.Lines == nil && w.place.Commit != "" && t.Time.IsZero():
			rep.left("ranges at a revision that this repository does not have")
		case t.Lines == nil:
			rep.left("ranges of a file that is not there")
		case !w.rec.SetLines(t.Lines):
			rep.left("ranges that end behind their file")
		default:
			w.rec.Blob = t.Blob
			if w.place.Commit == "" {
				rep.left("ranges without a revision: their lines are those of now")
			}
			out = append(out, w.rec)
		}
	}
	return out, nil
}

// versionsOf returns the files that the ranges are of, each at the revision of its
// range, without one as it is now. What is not there has no lines.
func versionsOf(ctx context.Context, b *annotate.Store, wants []want) ([]annotate.FileVersion, error) {
	var places []annotate.FileAt
	var at []int
	then := make([]annotate.FileVersion, len(wants))
	for i, w := range wants {
		if w.place.Commit != "" {
			places, at = append(places, w.place), append(at, i)
			continue
		}
		lines, err := b.Text(w.place.File)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, oxbow.ErrInvalid) {
			return nil, err
		}
		then[i].Lines = lines
	}
	if len(places) == 0 {
		return then, nil
	}
	got, err := b.FilesAt(ctx, places)
	if errors.Is(err, oxbow.ErrUnsupported) { // no repository has no revision
		return then, nil
	}
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		then[i] = got[k]
	}
	return then, nil
}

// maxWord is the most bytes of a word of a record.
const maxWord = 256

// word cuts a word of a record to its bound.
func word(s string) string { return text.Cut(strings.ToValidUTF8(s, "\ufffd"), maxWord) }

// whyText cuts reasoning to its bound.
func whyText(s string) string { return text.Cut(strings.ToValidUTF8(s, ""), annotate.MaxWhy) }
