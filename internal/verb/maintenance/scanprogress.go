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

// scanProgress counts the entries and changes that a scan has processed, first in the memory, then in the archive of
// sessions.
type scanProgress struct {
	showProgress func(progress.State) // function that receives the progress (may be nil)
	// estimated share of the scan that the user's memory needs (the rest is for the session archive)
	userMemoryWorkShare float64
	// The scan of all memories is divided into shares. finishedWorkShare is the share that was done before the current
	// memory was scanned. currentMemoryWorkShare is the share that the current memory needs.
	finishedWorkShare, currentMemoryWorkShare float64
	// number of entries and changes that were searched so far, in all memories and in the memory that is scanned now
	processedItems, processedItemsInMemory int64
	totalItems                             int64 // number of entries and changes in the memory that is scanned now
}

// newScanProgress returns the progress of a scan of all memories of the home p. The progress is shown by the function
// in ctx. userMemoryWorkShare is estimated from the sizes of the user's store and of the archive of sessions.
func newScanProgress(ctx context.Context, p verb.Place) scanProgress {
	size := func(path string) float64 {
		fi, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return float64(fi.Size())
	}
	s := scanProgress{showProgress: progress.Reporter(ctx), userMemoryWorkShare: 1}
	if own, archive := size(p.StorePath), size(filepath.Join(p.Dir(), session.StoreFile)); own > 0 {
		s.userMemoryWorkShare = own / (own + archive)
	}
	return s
}

// beginMemory prepares s for the scan of a memory. It sets the number of items in the memory, which are entries and
// changes, and the memory's share of the whole work. The argument isArchive is true for the archive of sessions, which
// is scanned after the user's memory.
func (s *scanProgress) beginMemory(ctx context.Context, m *oxbow.Memory, isArchive bool) {
	s.finishedWorkShare = 0
	s.currentMemoryWorkShare = s.userMemoryWorkShare
	if isArchive {
		s.finishedWorkShare = s.userMemoryWorkShare
		s.currentMemoryWorkShare = 1 - s.userMemoryWorkShare
	}
	s.processedItemsInMemory = 0
	s.totalItems = 0
	if n, err := m.Stats(ctx); err == nil {
		s.totalItems = int64(n.Entries) + int64(n.Last-n.First+1)
	}
}

// countItem counts an entry or a change that was searched for secrets, and reports the progress.
func (s *scanProgress) countItem() {
	s.processedItems++
	s.processedItemsInMemory++
	if s.showProgress == nil {
		return
	}
	part := 0.
	if s.totalItems > 0 {
		part = s.finishedWorkShare + s.currentMemoryWorkShare*min(
			1,
			float64(s.processedItemsInMemory)/float64(s.totalItems),
		)
	}
	s.showProgress(progress.State{Unit: progress.UnitTexts, DoneCount: s.processedItems, FinishedWorkShare: part})
}
