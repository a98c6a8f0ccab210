// This file searches an index for the words of a prepared query.

package ranking

import (
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// Hit is an item that a search found.
type Hit struct {
	Item  Item
	Score float64
}

// Search returns the hits of a plan, best first. If scores are equal, the item with the newer version comes first,
// then the item with the lower ID.
func (v *View) Search(p *Plan, limit int) []Hit {
	found := v.findBestDocuments(p, limit)
	hits := make([]Hit, 0, len(found))
	for i := range found {
		if it := v.hitItem(&found[i]); it != nil { // skip a document whose item cannot be read
			hits = append(hits, Hit{it, found[i].Score})
		}
	}
	return hits
}

// SearchIDs returns the IDs of the hits that Search would return, in the same order. It reads only the items that are
// needed to rank the hits.
func (v *View) SearchIDs(p *Plan, limit int) []uint64 {
	found := v.findBestDocuments(p, limit)
	ids := make([]uint64, len(found))
	for i, h := range found {
		ids[i] = h.ID
	}
	return ids
}

// findBestDocuments returns the documents with the highest scores for a plan, best first.
func (v *View) findBestDocuments(p *Plan, limit int) []index.Hit {
	if len(p.indexQuery.Terms) == 0 {
		return nil
	}
	r, lookup := v.scorer, p.indexQuery
	lookup.Limit = limit
	// earlier queries found dialogues, so this query probably needs more candidates: fetch them at once
	if r.hasDialogueHits.Load() {
		lookup.Limit = candidateCount(limit)
	}
	found := v.searcher.Search(lookup)
	if r.queryAnalyzer != nil {
		p.foundDialogueKinds = v.findDialogueKinds(p, found[:min(len(found), limit, maxHitsCheckedForDialogue)])
		speaks := p.foundDialogueKinds != hitDialogueKinds{}
		if speaks && lookup.Limit < candidateCount(limit) {
			lookup.Limit = candidateCount(limit)
			found = v.searcher.Search(lookup)
		}
		if speaks {
			found = v.rescoreDialogues(p, found, limit)
		}
		if r.hasDialogueHits.Load() != speaks {
			r.hasDialogueHits.Store(speaks)
		}
	}
	return found[:min(len(found), limit)]
}

// NewestHits returns hits for the documents that meet the conditions of the plan p, which has no search terms. The hits
// are sorted by the time of the item's last change, the newest first. At most limit hits are returned. Documents whose
// item cannot be read are skipped.
func (v *View) NewestHits(p *Plan, limit int) []Hit {
	var hits []Hit
	for _, id := range v.NewestIDs(p, limit) {
		if it := v.findItem(id); it != nil { // skip a document whose item cannot be read
			hits = append(hits, Hit{Item: it})
		}
	}
	return hits
}

// NewestIDs returns the IDs of the items that NewestHits returns, in the same order.
func (v *View) NewestIDs(p *Plan, limit int) []uint64 {
	v.MarkSeedScanIncomplete(p)
	lookup := p.indexQuery
	// The index for the simple ranking Seed omits the keywords of a document that has no words. So it cannot tell
	// whether such a document meets conditions about keywords. Check all conditions with acceptDocument.
	if p.isForSeedRanking {
		lookup = index.Query{AcceptDocument: p.acceptDocument}
	}
	lookup.Limit = limit
	return v.searcher.NewestIDs(lookup)
}

// CountHits returns how many documents contain at least one word of the plan p and meet the conditions of the query
// filter. If the plan has no words, all documents that meet the conditions are counted.
//
// If the plan has no words and belongs to the ranking named Seed, filter is ignored, because the index of this ranking
// lacks keywords. Instead, the function acceptDocument decides which documents are counted. It must check the same
// conditions as filter. If it is nil, all documents are counted.
func (v *View) CountHits(p *Plan, filter index.Query, acceptDocument func(id uint64) bool) int {
	if !p.HasNoWords {
		filter.Terms = p.indexQuery.Terms
		return v.searcher.CountHits(filter)
	}
	if p.isForSeedRanking { // for the ranking Seed, call acceptDocument: the index lacks keywords (see NewestIDs)
		filter = index.Query{AcceptDocument: acceptDocument}
	}
	return v.searcher.CountDocuments(filter)
}
