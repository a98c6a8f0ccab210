// This file keeps statistics of the entries, so that they are known without reading all entries.

package logstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// entryTotals contains the number of entries for each kind, project and tag, and the size of all contents.
type entryTotals struct {
	contentBytes int64 // total size of the contents, in bytes
	// Number of entries for each kind, project and tag. The map's key is a label. For a kind, it is the label "kind"
	// with the kind's name, as in a filter.
	entryCountsByLabel map[store.Label]int
}

// addEntry adds countDelta to each count to which the entry belongs. countDelta is negative if the entry was removed.
func (s *entryTotals) addEntry(e *store.Entry, countDelta int) {
	s.addEntryCounts(e.Kind, e.Labels, len(e.Content), countDelta)
}

// addEntryCounts adds countDelta entries to the totals. All have this kind and these labels, and the content of each
// has size bytes. Of the labels, only projects and tags are counted.
func (s *entryTotals) addEntryCounts(kind store.Kind, labels []store.Label, size, countDelta int) {
	s.contentBytes += int64(countDelta * size)
	s.addLabelCount(store.Label{Key: "kind", Value: kind.String()}, countDelta)
	for _, l := range labels {
		if l.Key == store.LabelProject || l.Key == store.LabelTag {
			s.addLabelCount(l, countDelta)
		}
	}
}

func (s *entryTotals) addLabelCount(l store.Label, n int) {
	s.entryCountsByLabel[l] += n
	if s.entryCountsByLabel[l] == 0 {
		delete(s.entryCountsByLabel, l)
	}
}

// encode encodes the total content size and the label counts for the section of a snapshot file that contains them.
func (s *entryTotals) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(s.contentBytes))
	labels := slices.SortedFunc(maps.Keys(s.entryCountsByLabel), func(a, b store.Label) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	for _, l := range labels {
		b = keydir.AppendLengthAndText(keydir.AppendLengthAndText(b, l.Key), l.Value)
		b = binary.LittleEndian.AppendUint64(b, uint64(s.entryCountsByLabel[l]))
	}
	return b
}

// decodeEntryTotals decodes the section of a snapshot file that contains the entries' total content size and label
// counts.
func decodeEntryTotals(b []byte) (*entryTotals, error) {
	if len(b) < 8 {
		return nil, errUnusableSnapshot
	}
	s := &entryTotals{contentBytes: int64(binary.LittleEndian.Uint64(b)), entryCountsByLabel: map[store.Label]int{}}
	for b = b[8:]; len(b) > 0; {
		var l store.Label
		var err error
		l.Key, b, err = cutLengthPrefixedText(b)
		if err == nil {
			l.Value, b, err = cutLengthPrefixedText(b)
		}
		if err != nil || len(b) < 8 {
			return nil, errUnusableSnapshot
		}
		s.entryCountsByLabel[l], b = int(binary.LittleEndian.Uint64(b)), b[8:]
	}
	return s, nil
}

// computeEntryTotals computes the summary of the entries in the state.
func (st *state) computeEntryTotals() *entryTotals {
	s := &entryTotals{entryCountsByLabel: map[store.Label]int{}}
	if b := st.base; b != nil {
		base, err := decodeEntryTotals(b.tables.TableBytes(sectionEntryTotals))
		if err != nil {
			b.recordError(err)
			return s
		}
		s = base
		var labels labelsByNumber
		for row := range st.hiddenRows.all {
			number, size := b.labelSetNumberAndSize(row)
			kind, formLabels := labels.decodeLabelSet(b, number)
			s.addEntryCounts(kind, formLabels, int(size), -1)
		}
	}
	for _, e := range st.entriesNotInSnapshotByID {
		s.addEntry(e, 1)
	}
	return s
}

// CountSnapshotLabels returns, for each value of a label key, how many entries have it. It reads the labels from the
// snapshot, without reading entries. ok is false if snapshots do not contain labels with this key.
func (d *DB) CountSnapshotLabels(ctx context.Context, key string) (counts map[string]int, ok bool, err error) {
	if !slices.Contains(snapshotLabelKeys, key) {
		return nil, false, nil
	}
	err = d.withState(ctx, func(st *state) { counts = st.countLabelValues(key) })
	return counts, true, err
}

// countLabelValues returns how many entries have each value of a label key. The key must be one of the label keys that
// snapshots contain. It counts the entries in the base snapshot and the entries that are not in the snapshot.
func (st *state) countLabelValues(key string) map[string]int {
	counts := map[string]int{}
	for _, e := range st.entriesNotInSnapshotByID {
		for _, value := range e.Values(key) {
			counts[value]++
		}
	}
	if st.base == nil {
		return counts
	}
	forms := st.base.entryLabelSets()
	if !forms.mayHaveLabelKey(key) {
		return counts
	}
	var labels []store.Label
	for number, n := range st.countEntriesPerLabelSet() {
		text := forms.texts[number]
		if n == 0 || !strings.Contains(text, key) {
			continue
		}
		var err error
		labels, err = appendLabelSetLabels(labels[:0], text)
		if err != nil {
			st.base.recordError(err)
		}
		for _, l := range labels {
			if l.Key == key {
				counts[l.Value] += n
			}
		}
	}
	return counts
}

// countEntriesPerLabelSet counts the entries in the snapshot for each label set, which is a combination of a kind and
// labels. The snapshot numbers the label sets from 0. Element i of the result is the number of entries with label set
// i. An entry that was changed after the snapshot is not counted. If a row contains an invalid number of a label set,
// the row is skipped and the snapshot is recorded as damaged.
func (st *state) countEntriesPerLabelSet() []int {
	counts := make([]int, len(st.base.entryLabelSets().texts))
	row := 0
	st.base.tables.EachCachedPage(sectionEntrySummaries, func(heads []byte) {
		for ; len(heads) > 0; heads = heads[keydir.RowSize[sectionEntrySummaries]:] {
			number := int(binary.LittleEndian.Uint32(heads))
			switch {
			case number >= len(counts):
				st.base.recordLabelSetError(row)
			case !st.hiddenRows.hasBit(row):
				counts[number]++
			}
			row++
		}
	})
	return counts
}

// SummarizeEntries reads all entries to compute the statistics.
func SummarizeEntries(entries iter.Seq2[store.Entry, error]) (out store.Summary, err error) {
	sum := entryTotals{entryCountsByLabel: map[store.Label]int{}}
	for e, err := range entries {
		if err != nil {
			return store.Summary{}, err
		}
		out.Entries++
		extendCreationRange(&out, e.Created)
		sum.addEntry(&e, 1)
	}
	out.Content, out.Counts = sum.contentBytes, sum.entryCountsByLabel
	return out, nil
}

// extendCreationRange extends the range of creation times in s, so that it includes t.
func extendCreationRange(s *store.Summary, t time.Time) {
	if s.Oldest.IsZero() || t.Before(s.Oldest) {
		s.Oldest = t
	}
	if t.After(s.Newest) {
		s.Newest = t
	}
}
