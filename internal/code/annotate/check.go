// This file checks whether the lines of sidecars are valid. A sidecar is a file with the annotations of one source
// file.

package annotate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// SidecarProblem describes an invalid line in a sidecar, or a problem of the whole sidecar.
type SidecarProblem struct {
	File        string // path of the sidecar, relative to the tree's root
	Line        int    // line number, counted from 1 (0 if the problem concerns the whole file)
	Offset      int64  // offset in bytes at which the line begins
	Description string
}

// CheckReport is the result of [Store.CheckSidecars].
type CheckReport struct {
	Files                   int // number of sidecars
	Annotations             int // number of annotations in all sidecars that could be read
	Lines                   int // number of lines in all annotation files (sidecars), without empty lines
	FilesWithIncompleteLine int // number of sidecars that end with an incomplete line, which is normal after a crash
	NewerFormatLines        int // number of lines, in all annotation files, that a newer version of oxbow wrote
	Problems                []SidecarProblem
}

// CheckSidecars reads every line of every sidecar (a file with annotations) and changes nothing. It reports lines that
// cannot be read, blocks with a wrong hash, sidecars that are too long to be read, and sidecars with a name from which
// oxbow cannot determine the annotated file. Such data is ignored by normal lookups. Annotations in a sidecar with such
// a name are found only by a search.
func (b *Store) CheckSidecars(ctx context.Context) (CheckReport, error) {
	var r CheckReport
	err := b.walkSidecars(ctx, func(name string) error {
		full := path.Join(b.sidecarDir, name)
		data, err := vfs.ReadFile(b.worktree, full, maxSidecarBytes)
		if errors.Is(err, vfs.ErrTooLarge) {
			r.Problems = append(
				r.Problems,
				SidecarProblem{
					File:        full,
					Description: fmt.Sprintf("is longer than %d MiB, and is not read", maxSidecarBytes>>20),
				},
			)
			return nil
		}
		if err != nil {
			return err
		}
		r.Files++
		r.checkSidecar(full, data)
		// A name with "%~" was shortened to fit the file system. It does not show which file is annotated, but the
		// records inside the sidecar do.
		if _, ok := fileOfSidecarPath(name); !ok && !strings.Contains(name, "%~") {
			r.Problems = append(
				r.Problems,
				SidecarProblem{
					File:        full,
					Description: "is named as no sidecar is: its annotations are found by a search only",
				},
			)
		}
		return nil
	})
	if err != nil {
		return CheckReport{}, fmt.Errorf("checking annotations: %w", err)
	}
	return r, nil
}

// checkSidecar checks the content of a sidecar, and adds the counts and problems to the report.
func (r *CheckReport) checkSidecar(filePath string, data []byte) {
	s := parseSidecar(data)
	r.Annotations += len(s.records)
	r.NewerFormatLines += s.newerFormatLineCount
	if s.hasIncompleteLastLine {
		r.FilesWithIncompleteLine++
	}
	for _, d := range s.damagedLines {
		r.Problems = append(r.Problems, SidecarProblem{filePath, d.line, d.offset, "cannot be read: " + d.err.Error()})
	}
	n, at := 0, int64(0)
	for l := range bytes.Lines(data) {
		n++
		if text := bytes.TrimSpace(l); len(text) > 0 {
			r.Lines++
			if rec, _, _, _ := parseSidecarLine(text); rec != nil && rec.contradictsHash() {
				r.Problems = append(
					r.Problems,
					SidecarProblem{filePath, n, at, "the lines it keeps are not those that its hash is of"},
				)
			}
		}
		at += int64(len(l))
	}
}

// contradictsHash reports whether the hash that is stored in the record differs from the hash of the annotated lines
// that are stored in the record. It returns false if the record contains no hash, or not all of the annotated lines.
func (r *Record) contradictsHash() bool {
	isWhole := r.OmittedBlockLines == 0 && len(r.Block) == r.Span.Len()
	hasLines := len(r.Block) > 0 && r.BlockHash != ""
	return isWhole && hasLines && hashLines(r.Block) != r.BlockHash
}
