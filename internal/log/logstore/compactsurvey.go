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

// survey collects the data for a compaction.
type survey struct {
	ctx      context.Context
	drops    dropFunc
	horizon  uint64          // the last dropped change, or the base
	chain    [32]byte        // chain of the log at the horizon
	versions int             // number of versions up to the horizon
	isFrozen bool            // the horizon was reached
	base     []placedVersion // the entries at the horizon, by ID
	first    *body           // the data of the base besides entries

	live map[nameKey]placedVersion // until endSurvey: the newest versions of the entries
	last []placedVersion           // after endSurvey: the same versions, by ID (equal to base if no change is kept)
	gone map[nameKey]uint64        // names that were removed after the horizon, with the changes that removed them
	ids  *state                    // op IDs and the next ID
	kept []int64                   // offsets of the changes after the horizon

	hasGroup bool // the base contains a record with a large group of entries

	tell func(progress.State)
	size int64 // size of the log in bytes
}

func newSurvey(ctx context.Context, log *wal.Log, drops dropFunc) *survey {
	h := log.Header()
	return &survey{ctx: ctx, drops: drops, horizon: h.Base, chain: h.Chain,
		live: map[nameKey]placedVersion{}, gone: map[nameKey]uint64{}, ids: newState(),
		tell: progress.Reporter(ctx), size: max(1, log.Size())}
}

// applyRecord implements applier.
func (s *survey) applyRecord(r *wal.Record, v *body) ([]store.Delta, error) {
	s.tell(progress.State{Unit: progress.Bytes, Done: r.Offset, Part: float64(r.Offset) / float64(s.size) / 2})
	if r.Type == typeChange {
		if !s.isFrozen && !s.drops(r) {
			s.freezeHorizon()
		}
		if s.isFrozen {
			s.kept = append(s.kept, r.Offset)
		} else {
			s.horizon, s.chain = r.Seq, r.Chain
		}
	}
	s.hasGroup = s.hasGroup || (r.Type == wal.Base && isLargeGroup(v.ops))
	for _, p := range v.ops {
		e := p.entry
		s.ids.nextID = max(s.ids.nextID, e.ID+1)
		switch key := hashName(e.Name); {
		case p.isErased:
		case p.verb == store.VerbRemove:
			delete(s.live, key)
			if s.isFrozen {
				s.gone[key] = r.Seq
			}
		default:
			s.live[key] = placedVersion{e.ID, cmp.Or(e.Version, r.Seq), r.Offset}
			delete(s.gone, key)
			if !s.isFrozen {
				s.versions++
			}
		}
	}
	s.ids.rememberOpIDs(r.Seq, v)
	return nil, s.ctx.Err()
}

// freezeHorizon records the current entries as those at the horizon.
func (s *survey) freezeHorizon() {
	s.isFrozen = true
	s.first = &body{nextID: s.ids.nextID, seen: s.ids.seenIDs()}
	s.base = s.byID()
}

// endSurvey ends the survey after the last change. It converts the entry map to rows, which need a
// third of the memory.
func (s *survey) endSurvey() {
	if s.isFrozen {
		s.last = s.byID()
	} else {
		s.freezeHorizon()
		s.last = s.base
	}
	s.live = nil
}

// byID returns the current entries by ID.
func (s *survey) byID() []placedVersion {
	all := slices.AppendSeq(make([]placedVersion, 0, len(s.live)), maps.Values(s.live))
	slices.SortFunc(all, placedVersion.compare)
	return all
}

func (p placedVersion) compare(q placedVersion) int {
	return cmp.Or(cmp.Compare(p.id, q.id), cmp.Compare(p.version, q.version))
}

// hasVersion reports whether the compacted log has this version, in its base or in a later change.
func (s *survey) hasVersion(id, version uint64) bool {
	_, ok := slices.BinarySearchFunc(s.base, placedVersion{id: id, version: version}, placedVersion.compare)
	return ok || version > s.horizon
}
