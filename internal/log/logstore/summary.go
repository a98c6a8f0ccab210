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

// entrySummary contains the number of entries for each kind, project and tag, and the size of all contents.
type entrySummary struct {
	contentBytes int64 // total size of the contents, in bytes
	// number of entries for each kind, project and tag, by the label that a filter would use
	counts map[store.Label]int
}

// addEntry adds n to each count to which the entry belongs. n is negative if the entry was removed.
func (s *entrySummary) addEntry(e *store.Entry, n int) {
	s.addHead(e.Kind, e.Labels, len(e.Content), n)
}

// addHead counts an entry n times. The entry has this kind, these labels and a content of size bytes.
func (s *entrySummary) addHead(kind store.Kind, labels []store.Label, size, n int) {
	s.contentBytes += int64(n * size)
	s.addLabelCount(store.Label{Key: "kind", Value: kind.String()}, n)
	for _, l := range labels {
		if l.Key == store.LabelProject || l.Key == store.LabelTag {
			s.addLabelCount(l, n)
		}
	}
}

func (s *entrySummary) addLabelCount(l store.Label, n int) {
	s.counts[l] += n
	if s.counts[l] == 0 {
		delete(s.counts, l)
	}
}

// encode encodes the total content size and the label counts for the section of a snapshot file that contains them.
func (s *entrySummary) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(s.contentBytes))
	labels := slices.SortedFunc(maps.Keys(s.counts), func(a, b store.Label) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	for _, l := range labels {
		b = keydir.AppendText(keydir.AppendText(b, l.Key), l.Value)
		b = binary.LittleEndian.AppendUint64(b, uint64(s.counts[l]))
	}
	return b
}

// decodeSummary decodes the section of a snapshot file that contains the total content size and the label counts of
// the entries.
func decodeSummary(b []byte) (*entrySummary, error) {
	if len(b) < 8 {
		return nil, errUnusableSnapshot
	}
	s := &entrySummary{contentBytes: int64(binary.LittleEndian.Uint64(b)), counts: map[store.Label]int{}}
	for b = b[8:]; len(b) > 0; {
		var l store.Label
		var err error
		l.Key, b, err = cutPrefixedText(b)
		if err == nil {
			l.Value, b, err = cutPrefixedText(b)
		}
		if err != nil || len(b) < 8 {
			return nil, errUnusableSnapshot
		}
		s.counts[l], b = int(binary.LittleEndian.Uint64(b)), b[8:]
	}
	return s, nil
}

// computeSummary computes the summary of the entries in the state.
func (st *state) computeSummary() *entrySummary {
	s := &entrySummary{counts: map[store.Label]int{}}
	if b := st.base; b != nil {
		base, err := decodeSummary(b.tables.TableBytes(sectionSums))
		if err != nil {
			b.recordError(err)
			return s
		}
		s = base
		var labels formLabels
		for row := range st.hiddenRows.all {
			number, size := b.formAndSize(row)
			kind, formLabels := labels.decodeForm(b, number)
			s.addHead(kind, formLabels, int(size), -1)
		}
	}
	for _, e := range st.changedByID {
		s.addEntry(e, 1)
	}
	return s
}

// CountFormLabels returns, for each value of a label key, how many entries have it. It reads the labels from the
// snapshot, without reading entries. ok is false if snapshots do not contain labels with this key.
func (d *DB) CountFormLabels(ctx context.Context, key string) (counts map[string]int, ok bool, err error) {
	if !slices.Contains(snapshotLabelKeys, key) {
		return nil, false, nil
	}
	err = d.withState(ctx, func(st *state) { counts = st.countFormLabels(key) })
	return counts, true, err
}

// countFormLabels counts the entries for each value of a label key that snapshots have.
func (st *state) countFormLabels(key string) map[string]int {
	counts := map[string]int{}
	for _, e := range st.changedByID {
		for _, value := range e.Values(key) {
			counts[value]++
		}
	}
	if st.base == nil {
		return counts
	}
	forms := st.base.entryForms()
	if !forms.mayHaveLabel(key) {
		return counts
	}
	var labels []store.Label
	for number, n := range st.countForms() {
		text := forms.texts[number]
		if n == 0 || !strings.Contains(text, key) {
			continue
		}
		var err error
		labels, err = appendFormLabels(labels[:0], text)
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

// countForms counts the entries in the snapshot that have the same kind and labels. The result contains the count for
// each such combination, by its number in the snapshot. Entries that were changed after the snapshot are not counted.
func (st *state) countForms() []int {
	counts := make([]int, len(st.base.entryForms().texts))
	row := 0
	st.base.tables.EachCachedPage(sectionHeads, func(heads []byte) {
		for ; len(heads) > 0; heads = heads[keydir.RowSize[sectionHeads]:] {
			number := int(binary.LittleEndian.Uint32(heads))
			switch {
			case number >= len(counts):
				st.base.recordFormError(row)
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
	sum := entrySummary{counts: map[store.Label]int{}}
	for e, err := range entries {
		if err != nil {
			return store.Summary{}, err
		}
		out.Entries++
		extendRange(&out, e.Created)
		sum.addEntry(&e, 1)
	}
	out.Content, out.Counts = sum.contentBytes, sum.counts
	return out, nil
}

// extendRange extends the range of creation times in s, so that it includes t.
func extendRange(s *store.Summary, t time.Time) {
	if s.Oldest.IsZero() || t.Before(s.Oldest) {
		s.Oldest = t
	}
	if t.After(s.Newest) {
		s.Newest = t
	}
}
