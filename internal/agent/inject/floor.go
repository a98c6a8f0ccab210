// This file calibrates the floor of a memory, the strength that a unit must have to be shown. It searches the memory
// for decoys, which are questions that the memory cannot answer, and stores the result in a file.

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

// floorFileSuffix is the suffix of the file that contains a store's floor. The file can be deleted at any time,
// because it can be computed from the store.
const floorFileSuffix = ".gate"

// FloorCalibration contains a memory's floor, and the number of entries and the decoys with which the floor was
// computed.
type FloorCalibration struct {
	DecoysHash string          `json:"decoys"` // hash of the decoy list
	EntryCount int             `json:"entries"`
	Floor      gate.ScoreFloor `json:"floor"`
}

// maxEntryGrowth is the maximum relative change in the number of entries since the calibration. After a larger change,
// the floor is calibrated again.
const maxEntryGrowth = .2

// FitsSize reports whether the calibration is still exact: it used this program's decoys, and the number of entries
// has changed by at most [maxEntryGrowth] since.
func (c FloorCalibration) FitsSize(entries int) bool {
	off := float64(entries - c.EntryCount)
	return c.DecoysHash == decoysHash() && max(off, -off) <= maxEntryGrowth*float64(c.EntryCount)
}

// IsUsableFor reports whether the floor may be used until the next calibration is complete. The number of entries must
// have less than doubled, and not have halved, since the last calibration.
func (c FloorCalibration) IsUsableFor(entries int) bool {
	return c.DecoysHash == decoysHash() && entries < 2*c.EntryCount && c.EntryCount < 2*entries
}

// floorRuleVersion must be increased when a change in the code alters the strengths of units. Floors are then
// calibrated again.
const floorRuleVersion = "2\n"

// decoysHash returns a hash over all decoys and floorRuleVersion.
var decoysHash = sync.OnceValue(func() string {
	sum := sha256.New()
	_, _ = sum.Write([]byte(floorRuleVersion)) // hash.Hash never returns an error
	for _, d := range gate.DecoyPrompts() {
		_, _ = sum.Write([]byte(d.Language + d.Text + "\n"))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})

// CalibrateFloor computes the floor of a source by searching for decoys. searchedDecoys counts the decoys that it has
// searched for.
//
// A note raises the floor only if the gate would show the note for the decoy. A past turn always raises the floor,
// because sessions contain the words of everyday talk. (If turns were treated like notes, 53 of 1,000 foreign
// questions in BEAM would get a payload, and not 40.)
//
// If ctx ends, CalibrateFloor returns the error of ctx, and the floor for the decoys so far. This floor is usable
// after some hundred decoys.
func (s *MemorySource) CalibrateFloor(ctx context.Context) (c FloorCalibration, searchedDecoys int, err error) {
	c.DecoysHash = decoysHash()
	c.EntryCount, err = s.CountShowable(ctx)
	if err != nil {
		return c, 0, err
	}
	gs := map[string][]float64{}
	// All decoys share an analyzer, which caches words, because they have most words in common.
	analyzer := analysis.NewAnalyzer()
	for _, d := range gate.DecoyPrompts() {
		units, uerr := s.rankUnits(ctx, analyzer, d.Text, s.Filter, maxUnits)
		err = uerr
		if err != nil {
			break
		}
		best := 0.
		for _, u := range units {
			if s.SourceKind == SourceSessions ||
				gate.ScoreFloor(0).AnswerQuestion(u.MatchStrength) != gate.AnswerSilence {
				best = max(best, u.Value)
			}
		}
		gs[d.Language] = append(gs[d.Language], best)
		searchedDecoys++
	}
	c.Floor = gate.FloorForDecoys(gs)
	return c, searchedDecoys, err
}

// CountShowable returns how many entries may be shown: all entries except the entries that a negated term of the
// filter excludes, such as held-back entries.
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
	// The difference can be negative if another process has written between the two calls.
	return max(n-excluded, 0), nil
}

// ReadFloor reads the calibration from the file next to a store. If the file cannot be read, it returns the zero
// FloorCalibration, which fits no memory.
func ReadFloor(storePath string) (c FloorCalibration) {
	dir, err := vfs.Dir(filepath.Dir(storePath))
	if err != nil {
		return c
	}
	defer dir.Close()
	b, err := vfs.ReadFile(dir, filepath.Base(storePath)+floorFileSuffix, 4096)
	if err != nil || json.Unmarshal(b, &c) != nil {
		return FloorCalibration{}
	}
	return c
}

// WriteFloorFile writes the calibration to the file next to the store.
func (c FloorCalibration) WriteFloorFile(storePath string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	dir, err := vfs.Dir(filepath.Dir(storePath))
	if err != nil {
		return err
	}
	defer dir.Close()
	return vfs.WriteDerived(dir, filepath.Base(storePath)+floorFileSuffix, 0o600, append(b, '\n'))
}
