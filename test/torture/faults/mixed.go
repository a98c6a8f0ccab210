// Snapshots of pages of several: what a disk may show that gives unsynced pages
// the blocks of a file that was replaced.

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
	snapshotPage  = 4096
	oldSnapshots  = 4  // that pages are taken from
	mixedOneOf    = 16 // of so many images with a snapshot, one gets mixed ones
	mixesOfImages = 4
)

// mix examines an image with other snapshots: an older one, and some whose pages
// are of several or zeros.
func (r *crashRun) mix(im *crashfs.Sketch, allowed []*workload.State) error {
	sum := im.Sum(workload.IsLock)
	if sum>>40%mixedOneOf != 0 {
		return nil
	}
	const name = workload.StoreFile + ".snap"
	img := im.Mem()
	own, err := vfs.ReadFile(img, name, -1)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(r.s.Seed, sum))
	for i := range mixesOfImages {
		b := r.otherSnapshot(own, i, rnd)
		if b == nil || bytes.Equal(b, own) {
			continue
		}
		with := img.Clone()
		if err := with.Put(name, b, 0o600, time.Unix(1776162225, 0)); err != nil {
			return err
		}
		r.tally.Mixed++
		if err := r.judge.Examine(with, allowed); err != nil {
			return fmt.Errorf("with snapshot %d of other pages: %w", i, err)
		}
	}
	if len(own) > 0 {
		r.snaps = append(r.snaps, bytes.Clone(own))
		r.snaps = r.snaps[max(0, len(r.snaps)-oldSnapshots):]
	}
	return nil
}

// otherSnapshot returns an older snapshot whole for i = 0, else a mix of pages;
// nil when there is no older one.
func (r *crashRun) otherSnapshot(own []byte, i int, rnd *rand.Rand) []byte {
	if len(r.snaps) == 0 {
		return nil
	}
	old := r.snaps[rnd.IntN(len(r.snaps))]
	if i == 0 {
		return bytes.Clone(old)
	}
	b := bytes.Clone(own)
	for from := 0; from < len(b); from += snapshotPage {
		page := b[from:min(from+snapshotPage, len(b))]
		switch n := rnd.IntN(8); {
		case n < 3 && from < len(old):
			copy(page, old[from:])
		case n == 3:
			clear(page)
		case n == 4 && from < len(old):
			half := len(page) / 512 / 2 * 512 // torn between two sectors
			if from+half < len(old) {
				copy(page[half:], old[from+half:])
			}
		}
	}
	return b
}
