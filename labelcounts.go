// This file counts labels without reading entries.

package oxbow

import (
	"cmp"
	"context"
	"maps"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// LabelCounts returns the number of entries for each label whose key isWanted accepts. It reads the index and the
// snapshot, but no entries. ok is false if the counts cannot be determined in this way, so that the caller must read
// the entries. The reasons are that the memory has no index yet, that its store is not a plain log, that it uses
// [RankSeed], or that the index lacks the values of a wanted key.
func (m *Memory) LabelCounts(
	ctx context.Context,
	isWanted func(key string) bool,
) (counts map[Label]int, ok bool, err error) {
	d, isLog := m.store.(*logstore.DB)
	hasIndex := m.searcher.Load() != nil || m.hasIndexFile()
	// labels are in the index for RankOxbow, but the index for RankSeed has only words
	hasKeywords := cmp.Or(m.opts.Ranking, RankOxbow) == RankOxbow
	if !isLog || !hasIndex || !hasKeywords {
		return nil, false, nil
	}
	for v, err := range m.views(ctx, Query{}) {
		if err != nil {
			return nil, false, err
		}
		counts = map[Label]int{}
		for key := range v.KeywordCounts("has") {
			if !isWanted(key) {
				continue
			}
			values, ok, err := v.countLabelValues(ctx, d, key)
			if err != nil || !ok {
				return nil, false, err
			}
			for value, n := range values {
				counts[Label{Key: key, Value: value}] = n
			}
		}
	}
	return counts, true, nil
}

// countLabelValues returns how many entries have each value of a label key. ok is false if neither the index nor the
// log's snapshot has the values.
func (v *rankedView) countLabelValues(
	ctx context.Context,
	d *logstore.DB,
	key string,
) (counts map[string]int, ok bool, err error) {
	if !isIndexedAsKeyword(key) {
		return d.CountSnapshotLabels(ctx, key)
	}
	return maps.Collect(v.KeywordCounts(key)), true, nil
}
