// Checking the sidecars line by line.

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

// Problem is one line of a sidecar that is not sound.
type Problem struct {
	File   string // path of the sidecar, below the root of the tree
	Line   int    // from 1; 0 when it is about the whole file
	Offset int64  // of the line, in bytes
	What   string
}

// Report is what [Store.Check] found.
type Report struct {
	Files       int // sidecars
	Annotations int // that can be read
	Lines       int // that are not empty
	Torn        int // sidecars whose last line is a write that was cut off: normal after a crash
	Newer       int // lines that a newer program wrote
	Problems    []Problem
}

// Check reads every line of every sidecar. A line that cannot be read is a
// problem, and so are a block that is not what its hash says and a sidecar
// whose name is that of no file: no lookup reads it there. It changes
// nothing.
func (b *Store) Check(ctx context.Context) (Report, error) {
	var r Report
	err := b.walk(ctx, func(name string) error {
		full := path.Join(b.dir, name)
		data, err := vfs.ReadFile(b.work, full, maxSidecar)
		if errors.Is(err, vfs.ErrTooLarge) {
			r.Problems = append(r.Problems, Problem{File: full, What: fmt.Sprintf("is longer than %d MiB, and is not read", maxSidecar>>20)})
			return nil
		}
		if err != nil {
			return err
		}
		r.Files++
		r.examine(full, data)
		// A name that was cut to fit the file system only its records tell.
		if _, ok := sourceOf(name); !ok && !strings.Contains(name, "%~") {
			r.Problems = append(r.Problems, Problem{File: full, What: "is named as no sidecar is: its annotations are found by a search only"})
		}
		return nil
	})
	if err != nil {
		return Report{}, fmt.Errorf("checking annotations: %w", err)
	}
	return r, nil
}

// examine reads one sidecar.
func (r *Report) examine(full string, data []byte) {
	s := parse(data)
	r.Annotations += len(s.records)
	r.Newer += s.newer
	if s.torn {
		r.Torn++
	}
	for _, d := range s.damaged {
		r.Problems = append(r.Problems, Problem{full, d.line, d.offset, "cannot be read: " + d.err.Error()})
	}
	n, at := 0, int64(0)
	for l := range bytes.Lines(data) {
		n++
		if text := bytes.TrimSpace(l); len(text) > 0 {
			r.Lines++
			if rec, _, _, err := parseLine(text); err == nil && rec != nil && rec.Cut == 0 && len(rec.Block) == rec.Span.Len() &&
				len(rec.Block) > 0 && rec.Hash != "" && hashLines(rec.Block) != rec.Hash {
				r.Problems = append(r.Problems, Problem{full, n, at, "the lines it keeps are not those that its hash is of"})
			}
		}
		at += int64(len(l))
	}
}
