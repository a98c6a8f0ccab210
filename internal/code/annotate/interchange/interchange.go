// This file contains the code that the formats Agent Trace and Git AI share: the report about a conversion, and the
// search for the code lines to which an imported record refers.

// Package interchange writes annotations as Agent Trace records, and imports annotations from Agent
// Trace records and from the notes of Git AI.
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

// ConversionReport counts the converted items, and the losses in the conversion.
type ConversionReport struct {
	WrittenCount int // number of annotations that an import wrote, or of trace records that an export wrote
	NotesRead    int // number of git notes that an import read (each is about one commit)
	// how often information of each kind was lost in the conversion, by the kind's description
	InformationLossCounts map[string]int
}

func (r *ConversionReport) countLoss(description string) {
	if r.InformationLossCounts == nil {
		r.InformationLossCounts = map[string]int{}
	}
	r.InformationLossCounts[description]++
}

// importedLineRange is a range of code lines, for which an annotation will be imported.
type importedLineRange struct {
	record       annotate.Record
	fileAtCommit annotate.FileAtCommit // file and commit with the range (Commit "" means the file in the working tree)
}

// buildImportedRecords returns the annotation records for the imported line ranges. It reads the lines to which each
// range refers, and stores them in the record of the range. If the lines of a range cannot be read, no record is
// returned for the range, and a loss is counted in rep. If a range does not name a commit, its record contains the
// present lines of the file, and this is also counted as a loss.
func buildImportedRecords(
	ctx context.Context,
	b *annotate.Store,
	lineRanges []importedLineRange,
	rep *ConversionReport,
) ([]annotate.Record, error) {
	then, err := readFileVersions(ctx, b, lineRanges)
	if err != nil {
		return nil, err
	}
	var out []annotate.Record
	for i, w := range lineRanges {
		t := then[i]
		switch {
		case t.Lines == nil && w.fileAtCommit.Commit != "" && t.Time.IsZero():
			rep.countLoss("ranges at a revision that this repository does not have")
		case t.Lines == nil:
			rep.countLoss("ranges of a file that is not there")
		case !w.record.SetLines(t.Lines):
			rep.countLoss("ranges that end behind their file")
		default:
			w.record.FileBlobName = t.BlobName
			if w.fileAtCommit.Commit == "" {
				rep.countLoss("ranges without a revision: their lines are those of now")
			}
			out = append(out, w.record)
		}
	}
	return out, nil
}

// readFileVersions returns the file version to which each range refers, in the same order. This is the file at the
// commit of the range, or the file in the working tree if the range names no commit. The field Lines is nil if the file
// cannot be annotated or does not exist, or if there is no git repository for a range with a commit.
func readFileVersions(
	ctx context.Context,
	b *annotate.Store,
	lineRanges []importedLineRange,
) ([]annotate.FileVersion, error) {
	var places []annotate.FileAtCommit
	var at []int
	then := make([]annotate.FileVersion, len(lineRanges))
	for i, w := range lineRanges {
		if w.fileAtCommit.Commit != "" {
			places, at = append(places, w.fileAtCommit), append(at, i)
			continue
		}
		lines, err := b.FileLines(w.fileAtCommit.File)
		hasNoLines := errors.Is(err, fs.ErrNotExist) || errors.Is(err, oxbow.ErrInvalid)
		if err != nil && !hasNoLines {
			return nil, err
		}
		then[i].Lines = lines
	}
	if len(places) == 0 {
		return then, nil
	}
	got, err := b.ReadFilesAtCommits(ctx, places)
	// Ignore the error: without a git repository there are no commits to read.
	if errors.Is(err, oxbow.ErrUnsupported) {
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

// maxFieldBytes is the maximum length, in bytes, of a short text in a record, such as the agent, model or session
// name.
const maxFieldBytes = 256

// truncateField replaces invalid UTF-8 in a text and shortens it to maxFieldBytes bytes.
func truncateField(s string) string {
	return text.TruncateBytes(strings.ToValidUTF8(s, "\ufffd"), maxFieldBytes)
}

// truncateReasoning removes invalid UTF-8 from a text and shortens the text to at most [annotate.MaxReasoningBytes]
// bytes.
func truncateReasoning(s string) string {
	return text.TruncateBytes(strings.ToValidUTF8(s, ""), annotate.MaxReasoningBytes)
}
