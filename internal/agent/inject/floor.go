// This file calibrates the minimum strength of a memory. A note or conversation turn is shown for a prompt only if its
// strength, which measures how well it matches the prompt, exceeds the minimum. To find the minimum, this file searches
// the memory for decoys, which are questions that the memory cannot answer. It stores the minimum in a file.

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

// minMatchStrengthFileSuffix is the suffix of the file that contains a memory's minimum strength. A note or turn is
// shown for a prompt only if its strength is higher. The file is stored next to the memory's store. It can be deleted
// at any time, because its content can be computed from the store.
const minMatchStrengthFileSuffix = ".gate"

// MinStrengthCalibration contains a memory's floor, which is the minimum strength for showing an entry to the model.
// It also records the number of entries and the test prompts with which the floor was computed.
type MinStrengthCalibration struct {
	// hash of the decoys, which are the test prompts that no memory can answer
	DecoyPromptsHash string                `json:"decoys"`
	EntryCount       int                   `json:"entries"`
	MinStrength      gate.MinMatchStrength `json:"floor"`
}

// maxEntryCountGrowth is how much the number of entries in a memory may change, relative to the old number, before the
// minimum strength for showing an entry is computed again.
const maxEntryCountGrowth = .2

// IsUpToDateFor reports whether the minimum strength in c can still be used for a memory with entryCount entries. It
// returns true if both conditions are met:
//
//   - The minimum strength was computed with this program's decoys (test prompts that no memory can answer).
//   - Since this computation, the number of entries has changed by at most the share [maxEntryCountGrowth].
func (c MinStrengthCalibration) IsUpToDateFor(entryCount int) bool {
	off := float64(entryCount - c.EntryCount)
	return c.DecoyPromptsHash == decoyPromptsHash() && max(off, -off) <= maxEntryCountGrowth*float64(c.EntryCount)
}

// IsUsableFor reports whether this minimum strength for showing entries may still be used until a new minimum is
// computed. entryCount is the number of entries in the memory now. IsUsableFor returns true if both conditions are met:
//
// - The minimum strength was computed with this program's decoys (test prompts that no memory can answer).
// - The memory has more than half and less than twice as many entries as it had then.
func (c MinStrengthCalibration) IsUsableFor(entryCount int) bool {
	return c.DecoyPromptsHash == decoyPromptsHash() && entryCount < 2*c.EntryCount && c.EntryCount < 2*entryCount
}

// matchStrengthVersion must be increased if a change in the code alters how strongly entries match prompts. The
// minimum strength of each memory is then computed again.
const matchStrengthVersion = "2\n"

// decoyPromptsHash returns a hash of matchStrengthVersion and all decoys (test prompts that no memory can answer).
// If either changes, the hash changes, and the minimum strength of each memory is computed again.
var decoyPromptsHash = sync.OnceValue(func() string {
	sum := sha256.New()
	_, _ = sum.Write([]byte(matchStrengthVersion)) // hash.Hash never returns an error
	for _, d := range gate.DecoyPrompts() {
		_, _ = sum.Write([]byte(d.Language + d.Text + "\n"))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})

// CalibrateMinStrength computes the minimum strength above which entries of a memory are shown. For this purpose, it
// searches the memory for decoys, which are prompts that no memory can answer. searchedDecoyCount is the number of
// these searches.
//
// A note that matches a decoy raises the minimum only if the note would otherwise be shown. A past turn always raises
// the minimum, because sessions contain the words of everyday talk. With this rule, the benchmark BEAM gets an answer
// to 40 of 1,000 unanswerable questions. If turns were treated like notes, it would get an answer to 53 such questions.
//
// If ctx ends, CalibrateMinStrength returns the error of ctx, and the minimum that results from the searches so far.
// This minimum is usable after some hundred searches.
func (s *MemorySource) CalibrateMinStrength(
	ctx context.Context,
) (c MinStrengthCalibration, searchedDecoyCount int, err error) {
	c.DecoyPromptsHash = decoyPromptsHash()
	c.EntryCount, err = s.CountShowableEntries(ctx)
	if err != nil {
		return c, 0, err
	}
	gs := map[string][]float64{}
	// Use the same analyzer for all decoys, because it caches words and decoys have most words in common.
	analyzer := analysis.NewAnalyzer()
	for _, d := range gate.DecoyPrompts() {
		units, uerr := s.rankEntries(ctx, analyzer, d.Text, s.Filter, maxQuotedEntries)
		err = uerr
		if err != nil {
			break
		}
		best := 0.
		for _, u := range units {
			if s.SourceKind == SourceKindSessions ||
				gate.MinMatchStrength(0).AnswerKindForQuestion(u.PromptMatchStrength) != gate.AnswerSilence {
				best = max(best, u.Strength)
			}
		}
		gs[d.Language] = append(gs[d.Language], best)
		searchedDecoyCount++
	}
	c.MinStrength = gate.CalibrateMinMatchStrength(gs)
	return c, searchedDecoyCount, err
}

// CountShowableEntries returns the number of entries that s.Filter does not exclude. Only the negated terms of the
// filter (terms with Not) are used. For example, such a term excludes entries that are held back. Other terms are
// ignored.
func (s *MemorySource) CountShowableEntries(ctx context.Context) (n int, err error) {
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
	// The difference of the two counts can be negative if another process adds entries between the counts.
	return max(n-excluded, 0), nil
}

// ReadMinStrengthFile reads the minimum strength for showing entries, and how it was computed, from the file beside a
// store. If the file cannot be read, ReadMinStrengthFile returns the zero MinStrengthCalibration, which is invalid for
// every memory.
func ReadMinStrengthFile(storePath string) (c MinStrengthCalibration) {
	dir, err := vfs.Dir(filepath.Dir(storePath))
	if err != nil {
		return c
	}
	defer dir.Close()
	b, err := vfs.ReadFile(dir, filepath.Base(storePath)+minMatchStrengthFileSuffix, 4096)
	if err != nil || json.Unmarshal(b, &c) != nil {
		return MinStrengthCalibration{}
	}
	return c
}

// WriteMinMatchStrengthFile writes c as JSON to a file in the directory of the store. The file's name is the store's
// name plus minMatchStrengthFileSuffix.
func (c MinStrengthCalibration) WriteMinMatchStrengthFile(storePath string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	dir, err := vfs.Dir(filepath.Dir(storePath))
	if err != nil {
		return err
	}
	defer dir.Close()
	return vfs.WriteDerived(dir, filepath.Base(storePath)+minMatchStrengthFileSuffix, 0o600, append(b, '\n'))
}
