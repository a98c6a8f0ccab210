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
	showProgress func(progress.State) // called with the progress (may be nil)
	memoryShare  float64              // the memory's share of all work, estimated from file sizes
	// Share of the work before this memory, and this memory's share.
	firstShare, shareWidth            float64
	processedItems, processedInMemory int64 // processed items in all memories, and in this memory
	totalItems                        int64 // number of items in this memory
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
	s := scanProgress{showProgress: progress.Reporter(ctx), memoryShare: 1}
	if own, archive := size(p.StorePath), size(filepath.Join(p.Dir(), session.StoreFile)); own > 0 {
		s.memoryShare = own / (own + archive)
	}
	return s
}

// beginMemory starts counting for a memory.
func (s *scanProgress) beginMemory(ctx context.Context, m *oxbow.Memory, isArchive bool) {
	s.firstShare = 0
	s.shareWidth = s.memoryShare
	if isArchive {
		s.firstShare = s.memoryShare
		s.shareWidth = 1 - s.memoryShare
	}
	s.processedInMemory = 0
	s.totalItems = 0
	if n, err := m.Stats(ctx); err == nil {
		s.totalItems = int64(n.Entries) + int64(n.Last-n.First+1)
	}
}

// countItem counts a processed entry or change.
func (s *scanProgress) countItem() {
	s.processedItems++
	s.processedInMemory++
	if s.showProgress == nil {
		return
	}
	part := 0.
	if s.totalItems > 0 {
		part = s.firstShare + s.shareWidth*min(1, float64(s.processedInMemory)/float64(s.totalItems))
	}
	s.showProgress(progress.State{Unit: progress.UnitTexts, DoneCount: s.processedItems, DoneShare: part})
}
