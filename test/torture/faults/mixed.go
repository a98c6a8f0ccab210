// This file tests snapshot files that contain pages of several snapshots. A disk can produce such a file if it reuses
// the blocks of a replaced file for pages that were never synced.

package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	snapshotPageBytes = 4096
	// number of old snapshot files that are kept, because parts of them are written into later snapshot files
	oldSnapshotCount = 4
	// The content of the disk after a crash is called an image. Of all images with a snapshot file, only one in
	// imagesPerMixedTest is tested with other snapshot files.
	imagesPerMixedTest     = 16
	mixedSnapshotsPerImage = 4
)

// examineMixedSnapshots repeats the test of a disk content after a crash, with other snapshot files in place of the
// content's own file: an older file, and files in which some pages are zero or come from other snapshots. Most contents
// are skipped. One in imagesPerMixedTest is tested.
func (r *crashRun) examineMixedSnapshots(
	crashContent *crashfs.CrashContent,
	allowedStates []*workload.StoreState,
) error {
	sum := crashContent.HashFiles(workload.IsLockFile)
	if sum>>40%imagesPerMixedTest != 0 {
		return nil
	}
	const name = workload.StoreFile + ".snap"
	img := crashContent.BuildFileSystem()
	own, err := vfs.ReadFile(img, name, -1)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(r.script.Seed, sum))
	for i := range mixedSnapshotsPerImage {
		b := r.olderOrMixedSnapshot(own, i, rnd)
		if b == nil || bytes.Equal(b, own) {
			continue
		}
		with := img.Clone()
		if err := with.Put(name, b, 0o600, time.Unix(1776162225, 0)); err != nil {
			return err
		}
		r.tally.MixedSnapshotContents++
		if err := r.judge.ExamineImage(with, allowedStates); err != nil {
			return fmt.Errorf("with snapshot %d of other pages: %w", i, err)
		}
	}
	if len(own) > 0 {
		r.snapshots = append(r.snapshots, bytes.Clone(own))
		r.snapshots = r.snapshots[max(0, len(r.snapshots)-oldSnapshotCount):]
	}
	return nil
}

// olderOrMixedSnapshot returns a wrong snapshot file for a test. If i is 0, this is an older snapshot file. Otherwise
// it is a copy of currentSnapshot with some damaged pages: a page is zero, or a page or the half of a page comes from
// an older file. Without an older file, the result is nil.
func (r *crashRun) olderOrMixedSnapshot(currentSnapshot []byte, i int, rnd *rand.Rand) []byte {
	if len(r.snapshots) == 0 {
		return nil
	}
	old := r.snapshots[rnd.IntN(len(r.snapshots))]
	if i == 0 {
		return bytes.Clone(old)
	}
	b := bytes.Clone(currentSnapshot)
	for from := 0; from < len(b); from += snapshotPageBytes {
		page := b[from:min(from+snapshotPageBytes, len(b))]
		switch n := rnd.IntN(8); {
		case n < 3 && from < len(old):
			copy(page, old[from:])
		case n == 3:
			clear(page)
		case n == 4 && from < len(old):
			half := len(page) / 512 / 2 * 512 // The write of the page was interrupted between two sectors.
			if from+half < len(old) {
				copy(page[half:], old[from+half:])
			}
		}
	}
	return b
}
