// This file reports the progress of a scan.

package maintenance

import (
	"context"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// scanProgress counts the entries and changes that a scan has processed, first in the memory and
// then in the sessions archive.
type scanProgress struct {
	show         func(progress.State) // called with the progress (may be nil)
	ownPart      float64              // the memory's share of all work, estimated from file sizes
	first, width float64              // share of the work before this memory, and this memory's share
	done, inPart int64                // processed items in all memories, and in this memory
	all          int64                // number of items in this memory
}

// newScanProgress returns the progress for scanning the home at a place.
func newScanProgress(ctx context.Context, p verb.Place) scanProgress {
	size := func(path string) float64 {
		fi, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return float64(fi.Size())
	}
	s := scanProgress{show: progress.Reporter(ctx), ownPart: 1}
	if own, archive := size(p.Store), size(filepath.Join(p.Dir(), session.StoreFile)); own > 0 {
		s.ownPart = own / (own + archive)
	}
	return s
}

// begin starts counting for a memory.
func (s *scanProgress) begin(ctx context.Context, m *oxbow.Memory, isArchive bool) {
	s.first = 0
	s.width = s.ownPart
	if isArchive {
		s.first = s.ownPart
		s.width = 1 - s.ownPart
	}
	s.inPart = 0
	s.all = 0
	if n, err := m.Stats(ctx); err == nil {
		s.all = int64(n.Entries) + int64(n.Last-n.First+1)
	}
}

// step counts a processed entry or change.
func (s *scanProgress) step() {
	s.done++
	s.inPart++
	if s.show == nil {
		return
	}
	part := 0.
	if s.all > 0 {
		part = s.first + s.width*min(1, float64(s.inPart)/float64(s.all))
	}
	s.show(progress.State{Unit: progress.Texts, Done: s.done, Part: part})
}
