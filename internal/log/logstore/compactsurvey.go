// This file reads the log to find the versions that a compaction must keep.

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

// nameHash is the first half of a name's SHA-256 hash.
type nameHash [16]byte

func hashName(name string) nameHash {
	h := sha256.Sum256([]byte(name))
	return nameHash(h[:])
}

// locatedVersion identifies a version of an entry and the record that contains it.
type locatedVersion struct {
	id, version uint64
	offset      int64 // offset of the record, or -1 if the version is already in the new file
}

// compactionSurvey collects the facts that a compaction must know about the log.
type compactionSurvey struct {
	ctx                   context.Context
	isChangeDropped       changeDropPredicate
	lastDroppedChange     uint64           // number of the last change that is dropped, now or by the last compaction
	lastDroppedChainHash  [32]byte         // value of the log's hash chain after the last dropped change
	versionCount          int              // number of entry versions in the log, up to the last dropped change
	areDroppedChangesRead bool             // all changes that the compaction drops were read
	initialVersions       []locatedVersion // the entry versions with which the new log begins, ordered by entry ID
	initialRecordBody     *recordBody      // op IDs and next entry ID with which the new log begins

	// newest version of each entry, by name (nil after the whole log was read)
	newestByName map[nameHash]locatedVersion
	// Newest version of each entry, ordered by ID. It is set when the whole log was read. It equals initialVersions if
	// the compaction keeps no change.
	newestByID []locatedVersion
	// Names of entries that were removed by a kept change, each with the number of this change.
	removedNames      map[nameHash]uint64
	stateWithOpIDs    *state  // state that contains only the op IDs and the next entry ID
	keptChangeOffsets []int64 // offsets of the changes that the compaction keeps

	// The records at the old log's beginning include a record with more entries than oxbow now puts into one record.
	hasLargeInitialRecord bool

	reportProgress func(progress.State)
	logSize        int64 // size of the log, in bytes
}

func newCompactionSurvey(ctx context.Context, log *wal.Log, isDropped changeDropPredicate) *compactionSurvey {
	h := log.Header()
	return &compactionSurvey{
		ctx:                  ctx,
		isChangeDropped:      isDropped,
		lastDroppedChange:    h.BaseSeq,
		lastDroppedChainHash: h.BaseChainHash,
		newestByName:         map[nameHash]locatedVersion{},
		removedNames:         map[nameHash]uint64{},
		stateWithOpIDs:       newState(),
		reportProgress:       progress.Reporter(ctx),
		logSize:              max(1, log.Size()),
	}
}

// applyRecord implements recordApplier.
func (s *compactionSurvey) applyRecord(r *wal.Record, v *recordBody) ([]store.Delta, error) {
	s.reportProgress(
		progress.State{
			Unit:              progress.UnitBytes,
			DoneCount:         r.FileOffset,
			FinishedWorkShare: float64(r.FileOffset) / float64(s.logSize) / 2,
		},
	)
	if r.Type == recordTypeChange {
		if !s.areDroppedChangesRead && !s.isChangeDropped(r) {
			s.setInitialEntries()
		}
		if s.areDroppedChangesRead {
			s.keptChangeOffsets = append(s.keptChangeOffsets, r.FileOffset)
		} else {
			s.lastDroppedChange, s.lastDroppedChainHash = r.Seq, r.ChainHash
		}
	}
	s.hasLargeInitialRecord = s.hasLargeInitialRecord || (r.Type == wal.TypeBaseSection && isLargeBaseRecord(v.ops))
	for _, p := range v.ops {
		e := p.entry
		s.stateWithOpIDs.nextEntryID = max(s.stateWithOpIDs.nextEntryID, e.ID+1)
		switch key := hashName(e.Name); {
		case p.isContentErased:
		case p.verb == store.VerbRemove:
			delete(s.newestByName, key)
			if s.areDroppedChangesRead {
				s.removedNames[key] = r.Seq
			}
		default:
			s.newestByName[key] = locatedVersion{e.ID, cmp.Or(e.Version, r.Seq), r.FileOffset}
			delete(s.removedNames, key)
			if !s.areDroppedChangesRead {
				s.versionCount++
			}
		}
	}
	s.stateWithOpIDs.rememberOpIDs(r.Seq, v)
	return nil, s.ctx.Err()
}

// setInitialEntries records the data with which the log will begin after the compaction: the entries, the op IDs and
// the next entry ID. It records these data as they are in the state that the survey has read so far. Therefore the
// caller must call setInitialEntries after it has read the last change that the compaction drops, and before it applies
// the first change that the compaction keeps.
func (s *compactionSurvey) setInitialEntries() {
	s.areDroppedChangesRead = true
	s.initialRecordBody = &recordBody{
		nextEntryID: s.stateWithOpIDs.nextEntryID,
		seenOpIDs:   s.stateWithOpIDs.rememberedOpIDs(),
	}
	s.initialVersions = s.newestVersionsByID()
}

// finishSurvey stores the newest version of each entry in the slice newestByID, which needs a third of the memory of
// the map newestByName, and then drops the map. If no change is kept, it also records the entries with which the new
// log begins. It must be called after the log's last change was read.
func (s *compactionSurvey) finishSurvey() {
	if s.areDroppedChangesRead {
		s.newestByID = s.newestVersionsByID()
	} else {
		s.setInitialEntries()
		s.newestByID = s.initialVersions
	}
	s.newestByName = nil
}

// newestVersionsByID returns the newest version of each entry. The versions are sorted by the IDs of the entries.
func (s *compactionSurvey) newestVersionsByID() []locatedVersion {
	all := slices.AppendSeq(make([]locatedVersion, 0, len(s.newestByName)), maps.Values(s.newestByName))
	slices.SortFunc(all, locatedVersion.compare)
	return all
}

func (p locatedVersion) compare(q locatedVersion) int {
	return cmp.Or(cmp.Compare(p.id, q.id), cmp.Compare(p.version, q.version))
}

// hasVersion reports whether the compacted log will contain this version of an entry. These are the versions with which
// the new log begins, and all versions from kept changes.
func (s *compactionSurvey) hasVersion(id, version uint64) bool {
	_, ok := slices.BinarySearchFunc(
		s.initialVersions,
		locatedVersion{id: id, version: version},
		locatedVersion.compare,
	)
	return ok || version > s.lastDroppedChange
}
