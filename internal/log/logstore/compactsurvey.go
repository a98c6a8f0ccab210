// This file surveys the log to find the versions that a compaction has to keep.

package logstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// nameKey is the first half of a name's SHA-256 hash.
type nameKey [16]byte

func hashName(name string) nameKey {
	h := sha256.Sum256([]byte(name))
	return nameKey(h[:])
}

// placedVersion is an entry version with the offset of its record.
type placedVersion struct {
	id, version uint64
	offset      int64 // -1 if the version is already in the new file
}

// logSurvey collects the data for a compaction.
type logSurvey struct {
	ctx          context.Context
	isDropped    dropFunc
	horizon      uint64          // the last dropped change, or the base
	horizonChain [32]byte        // chain of the log at the horizon
	versionCount int             // number of versions up to the horizon
	isFrozen     bool            // the horizon was reached
	base         []placedVersion // the entries at the horizon, by ID
	baseBody     *recordBody     // the data of the base besides entries

	newestByName map[nameKey]placedVersion // until finishSurvey: the newest versions of the entries
	// After finishSurvey: the same versions, by ID (equal to base if no change is kept).
	newestByID []placedVersion
	// Names that were removed after the horizon, with the changes that removed them.
	removedNames map[nameKey]uint64
	opIDState    *state  // op IDs and the next ID
	keptOffsets  []int64 // offsets of the changes after the horizon

	hasLargeGroup bool // the base contains a record with a large group of entries

	reportProgress func(progress.State)
	logSize        int64 // size of the log in bytes
}

func newSurvey(ctx context.Context, log *wal.Log, drops dropFunc) *logSurvey {
	h := log.Header()
	return &logSurvey{ctx: ctx, isDropped: drops, horizon: h.BaseSeq, horizonChain: h.BaseChain,
		newestByName: map[nameKey]placedVersion{}, removedNames: map[nameKey]uint64{}, opIDState: newState(),
		reportProgress: progress.Reporter(ctx), logSize: max(1, log.Size())}
}

// applyRecord implements recordApplier.
func (s *logSurvey) applyRecord(r *wal.Record, v *recordBody) ([]store.Delta, error) {
	s.reportProgress(
		progress.State{
			Unit:      progress.UnitBytes,
			DoneCount: r.Offset,
			DoneShare: float64(r.Offset) / float64(s.logSize) / 2,
		},
	)
	if r.Type == typeChange {
		if !s.isFrozen && !s.isDropped(r) {
			s.freezeHorizon()
		}
		if s.isFrozen {
			s.keptOffsets = append(s.keptOffsets, r.Offset)
		} else {
			s.horizon, s.horizonChain = r.Seq, r.Chain
		}
	}
	s.hasLargeGroup = s.hasLargeGroup || (r.Type == wal.TypeBase && isLargeGroup(v.ops))
	for _, p := range v.ops {
		e := p.entry
		s.opIDState.nextID = max(s.opIDState.nextID, e.ID+1)
		switch key := hashName(e.Name); {
		case p.isErased:
		case p.verb == store.VerbRemove:
			delete(s.newestByName, key)
			if s.isFrozen {
				s.removedNames[key] = r.Seq
			}
		default:
			s.newestByName[key] = placedVersion{e.ID, cmp.Or(e.Version, r.Seq), r.Offset}
			delete(s.removedNames, key)
			if !s.isFrozen {
				s.versionCount++
			}
		}
	}
	s.opIDState.rememberOpIDs(r.Seq, v)
	return nil, s.ctx.Err()
}

// freezeHorizon records the current entries as those at the horizon.
func (s *logSurvey) freezeHorizon() {
	s.isFrozen = true
	s.baseBody = &recordBody{nextID: s.opIDState.nextID, seenOpIDs: s.opIDState.rememberedOpIDs()}
	s.base = s.sortedVersions()
}

// finishSurvey ends the survey after the last change. It converts the entry map to rows, which need a
// third of the memory.
func (s *logSurvey) finishSurvey() {
	if s.isFrozen {
		s.newestByID = s.sortedVersions()
	} else {
		s.freezeHorizon()
		s.newestByID = s.base
	}
	s.newestByName = nil
}

// sortedVersions returns the current entries by ID.
func (s *logSurvey) sortedVersions() []placedVersion {
	all := slices.AppendSeq(make([]placedVersion, 0, len(s.newestByName)), maps.Values(s.newestByName))
	slices.SortFunc(all, placedVersion.compare)
	return all
}

func (p placedVersion) compare(q placedVersion) int {
	return cmp.Or(cmp.Compare(p.id, q.id), cmp.Compare(p.version, q.version))
}

// hasVersion reports whether the compacted log has this version, in its base or in a later change.
func (s *logSurvey) hasVersion(id, version uint64) bool {
	_, ok := slices.BinarySearchFunc(s.base, placedVersion{id: id, version: version}, placedVersion.compare)
	return ok || version > s.horizon
}
