// Calibration: the floor of a memory, from decoys, and the file that keeps it.

package inject

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/vfs"
)

// floorSuffix ends the name of the file next to a store that keeps its floor. The file
// is made from the store and may be deleted at any time.
const floorSuffix = ".gate"

// Calibration is the floor of a memory of so many entries.
type Calibration struct {
	Decoys  string     `json:"decoys"` // a hash of the list
	Entries int        `json:"entries"`
	Floor   gate.Floor `json:"floor"`
}

// floorGrows is by how much a memory grows before its floor is calibrated again.
const floorGrows = .2

// Fits reports whether the floor is of a memory of about so many entries, and of the
// decoys of this program.
func (c Calibration) Fits(entries int) bool {
	off := float64(entries - c.Entries)
	return c.Decoys == decoysHash() && max(off, -off) <= floorGrows*float64(c.Entries)
}

// Near reports whether the floor is of use until it is calibrated again: the memory has
// less than twice, and more than half, the entries.
func (c Calibration) Near(entries int) bool {
	return c.Decoys == decoysHash() && entries < 2*c.Entries && c.Entries < 2*entries
}

func decoysHash() string {
	sum := sha256.New()
	for _, d := range gate.Decoys() {
		_, _ = sum.Write([]byte(d.Language + d.Text + "\n")) // a hash has no error
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Calibrate returns the floor of a source. A note that the other conditions of the gate keep
// silent for a decoy does not raise the floor. A turn does, because past sessions hold the words
// of everyday talk: otherwise 53 instead of 40 of 1,000 foreign questions of BEAM get a payload.
// The error of a ctx that is done comes with
// the floor by the decoys up to then, which is of use from some hundred on.
func (s *Source) Calibrate(ctx context.Context) (c Calibration, asked int, err error) {
	c.Decoys = decoysHash()
	c.Entries, err = s.Entries(ctx)
	if err != nil {
		return c, 0, err
	}
	gs := map[string][]float64{}
	for _, d := range gate.Decoys() {
		units, uerr := s.strengths(ctx, d.Text, s.Filter, mostUnits)
		err = uerr
		if err != nil {
			break
		}
		best := 0.
		for _, u := range units {
			if s.In == InSessions || gate.Floor(0).Answer(u.Strength) != gate.Silence {
				best = max(best, u.G)
			}
		}
		gs[d.Language] = append(gs[d.Language], best)
		asked++
	}
	c.Floor = gate.FloorOf(gs)
	return c, asked, err
}

// Entries returns the number of entries of the memory without those that are held back or that
// nobody vouches for, which may not be shown. An entry with several reasons counts as several.
func (s *Source) Entries(ctx context.Context) (n int, err error) {
	if err := s.Memory.View(ctx, func(all oxbow.Entries) { n = all.Len() }); err != nil {
		return 0, err
	}
	for _, t := range s.Filter.Terms {
		if !t.Not {
			continue
		}
		counts, err := s.Memory.Values(ctx, t.Key, t.Values...)
		if err != nil {
			return 0, err
		}
		for _, of := range counts {
			n -= of
		}
	}
	return max(n, 0), nil
}

// ReadFloor reads the file next to a store. What cannot be read fits no memory.
func ReadFloor(store string) (c Calibration) {
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return c
	}
	defer dir.Close()
	b, err := vfs.ReadFile(dir, filepath.Base(store)+floorSuffix, 4096)
	if err != nil || json.Unmarshal(b, &c) != nil {
		return Calibration{}
	}
	return c
}

// Write writes the file next to a store.
func (c Calibration) Write(store string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return err
	}
	defer dir.Close()
	return vfs.WriteDerived(dir, filepath.Base(store)+floorSuffix, 0o600, append(b, '\n'))
}
