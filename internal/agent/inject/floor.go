// This file calibrates the floor of a memory with decoys, and reads and writes the file with the
// result.

package inject

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/vfs"
)

// floorSuffix is the suffix of the file next to a store that contains the floor. The file is derived
// from the store, so it may be deleted at any time.
const floorSuffix = ".gate"

// FloorCalibration is a memory's floor, with the number of entries and the decoys for which it was
// calculated.
type FloorCalibration struct {
	Decoys  string     `json:"decoys"` // hash of the decoy list
	Entries int        `json:"entries"`
	Floor   gate.Floor `json:"floor"`
}

// maxEntryGrowth is the relative change in the number of entries above which the floor is calibrated
// again.
const maxEntryGrowth = .2

// FitsSize reports whether the floor was calibrated with this program's decoys, on a memory whose number of
// entries differs from entries by at most [maxEntryGrowth].
func (c FloorCalibration) FitsSize(entries int) bool {
	off := float64(entries - c.Entries)
	return c.Decoys == decoysHash() && max(off, -off) <= maxEntryGrowth*float64(c.Entries)
}

// IsUsableFor reports whether the floor may be used until the next calibration. This requires that the
// number of entries has less than doubled and not halved since the last calibration.
func (c FloorCalibration) IsUsableFor(entries int) bool {
	return c.Decoys == decoysHash() && entries < 2*c.Entries && c.Entries < 2*entries
}

// ruleVersion is increased when units get other strengths, so that floors are calibrated again.
const ruleVersion = "2\n"

// decoysHash returns a hash over all decoys and the rule's version.
var decoysHash = sync.OnceValue(func() string {
	sum := sha256.New()
	_, _ = sum.Write([]byte(ruleVersion)) // hash.Hash never returns an error
	for _, d := range gate.Decoys() {
		_, _ = sum.Write([]byte(d.Language + d.Text + "\n"))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})

// CalibrateFloor returns a source's floor, and the number of decoys that it searched for. A note does
// not raise the floor if other conditions of the gate prevent showing it for the decoy. A session's
// turn can raise the floor in any case, because past sessions contain the words of everyday talk.
// (If turns were treated like notes, 53 instead of 40 of 1,000 foreign questions of BEAM would get
// a payload.) If ctx ends, CalibrateFloor returns its error together with the floor for the decoys so
// far, which is usable after some hundred decoys.
func (s *MemorySource) CalibrateFloor(ctx context.Context) (c FloorCalibration, searched int, err error) {
	c.Decoys = decoysHash()
	c.Entries, err = s.CountShowable(ctx)
	if err != nil {
		return c, 0, err
	}
	gs := map[string][]float64{}
	analyzer := analysis.NewAnalyzer() // share an analyzer for all decoys, because they have most words in common
	for _, d := range gate.Decoys() {
		units, uerr := s.rankUnits(ctx, analyzer, d.Text, s.Filter, maxUnits)
		err = uerr
		if err != nil {
			break
		}
		best := 0.
		for _, u := range units {
			if s.Kind == SourceSessions || gate.Floor(0).AnswerQuestion(u.Strength) != gate.AnswerSilence {
				best = max(best, u.Value)
			}
		}
		gs[d.Language] = append(gs[d.Language], best)
		searched++
	}
	c.Floor = gate.FloorForDecoys(gs)
	return c, searched, err
}

// CountShowable returns the number of entries that may be shown. These are all entries except those
// excluded by a negated term of the filter, such as held entries.
func (s *MemorySource) CountShowable(ctx context.Context) (n int, err error) {
	if err := s.Memory.View(ctx, func(all oxbow.Entries) { n = all.Len() }); err != nil {
		return 0, err
	}
	var excluding []oxbow.Term
	for _, t := range s.Filter.Terms {
		if t.Not {
			excluding = append(excluding, t)
		}
	}
	if len(excluding) == 0 {
		return n, nil
	}
	excluded, err := s.Memory.CountAny(ctx, excluding...)
	if err != nil {
		return 0, err
	}
	return max(n-excluded, 0), nil // another process may have written between the two calls
}

// ReadFloor reads the calibration from the file next to a store. If the file cannot be read, it
// returns the zero FloorCalibration, which is not valid for any memory.
func ReadFloor(store string) (c FloorCalibration) {
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return c
	}
	defer dir.Close()
	b, err := vfs.ReadFile(dir, filepath.Base(store)+floorSuffix, 4096)
	if err != nil || json.Unmarshal(b, &c) != nil {
		return FloorCalibration{}
	}
	return c
}

// Write writes the calibration to the file next to a store.
func (c FloorCalibration) Write(store string) error {
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
