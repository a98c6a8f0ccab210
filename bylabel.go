// This file holds which entries have a label, so that a filter that few pass
// need not be put to all.

package oxbow

import (
	"maps"
	"slices"
)

// byLabel is the IDs, rising, of the entries that have a label. The kind of an
// entry is there as a label of the key kind, which no label can have.
type byLabel map[Label][]uint64

const kindKey = "kind"

func (b byLabel) add(e *Entry) {
	b.each(e, func(l Label, ids []uint64) []uint64 {
		if n := len(ids); n == 0 || ids[n-1] < e.ID {
			return append(ids, e.ID)
		}
		i, found := slices.BinarySearch(ids, e.ID)
		if found {
			return ids // it has the label twice
		}
		return slices.Insert(ids, i, e.ID)
	})
}

func (b byLabel) remove(e *Entry) {
	b.each(e, func(l Label, ids []uint64) []uint64 {
		if i, found := slices.BinarySearch(ids, e.ID); found {
			return slices.Delete(ids, i, i+1)
		}
		return ids
	})
}

// each sets the IDs of each label of an entry to what fn makes of them.
func (b byLabel) each(e *Entry, fn func(l Label, ids []uint64) []uint64) {
	set := func(l Label) {
		if ids := fn(l, b[l]); len(ids) > 0 {
			b[l] = ids
		} else {
			delete(b, l)
		}
	}
	set(Label{kindKey, e.Kind.String()})
	for _, l := range e.Labels {
		set(l)
	}
}

// lookedUp reports whether a term asks for what byLabel has.
func (t Term) lookedUp() bool {
	return !t.Not && t.Key != LabelConfidence && (t.Key == kindKey || !isReserved(t.Key))
}

// among returns IDs, each once, that have all the entries that the filter may
// select among them; nil when it cannot say. They must not be changed.
func (s *shelf) among(f Filter) []uint64 {
	if s.late || !slices.ContainsFunc(f.Terms, Term.lookedUp) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.labels == nil {
		s.labels = byLabel{}
		for _, id := range slices.Sorted(maps.Keys(s.docs)) {
			s.labels.add(s.docs[id])
		}
	}
	var best []uint64
	least := -1
	for _, t := range f.Terms {
		if !t.lookedUp() {
			continue
		}
		n := 0
		for _, v := range t.Values {
			n += len(s.labels[Label{t.Key, v}])
		}
		if least >= 0 && n >= least {
			continue
		}
		least = n
		switch len(t.Values) {
		case 1:
			best = s.labels[Label{t.Key, t.Values[0]}]
		default:
			best = nil
			for _, v := range t.Values {
				best = append(best, s.labels[Label{t.Key, v}]...)
			}
			slices.Sort(best)
			best = slices.Compact(best)
		}
	}
	if best == nil {
		best = []uint64{} // nobody has it
	}
	return best
}
