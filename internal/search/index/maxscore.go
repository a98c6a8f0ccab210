// This file implements MaxScore, a search that finds only the best documents. It skips
// documents whose maximum possible score is too low.

package index

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// best adds the view's best documents to the heap. It processes terms in descending order of their
// maximum contribution to a score. A posting is skipped if it cannot help a document to become one
// of the best. This is so if the posting's impact (an upper bound of its contribution), plus the
// maximum contributions of all weaker terms, is below the lowest of the best scores so far. The
// search ends when even all remaining terms together cannot reach that score (MaxScore by Turtle
// and Flood, 1995).
//
// Until then, scores are estimates in single precision, divided by the query's norm. Bounds
// have slack for rounding errors. Finally, the scores of the remaining candidates are
// computed in double precision over all terms in order, so that they are identical to the
// scores from scan.
//
// best returns false, without changing the heap, if adding up all postings is better. This
// is so for a small view, for weights outside of single precision, or if too many
// candidates are not accepted.
func (v *view) best(q *query, ask *Query, best *topK) (done bool) {
	if !(q.norm > leastNorm && q.norm < mostNorm) {
		return false
	}
	for i := range q.cursors {
		if q.cursors[i].part < leastPart {
			return false
		}
	}
	postings := q.countPostings()
	b := maxScore{query: q, view: v, ask: ask, limit: best.limit, budget: postings / worthOfRefusal, size: firstBatch}
	b.slack = 1 - float32(len(q.terms)+roundings)*(1.0/(1<<22))
	b.c0, b.c1 = max(float32(q.s.rest), tiny), float32(q.s.slope)
	b.near, b.kept = q.near[:0], q.kept[:0]
	for _, r := range best.heap {
		b.push(float32(r.score / q.norm))
	}
	b.threshold = max(b.threshold, b.boundOfTenBest()*b.slack)
	switch {
	case b.hasFewCandidates(postings):
		b.scoreAllCandidates()
	case postings <= fewPostings && len(v.lens) <= 2*window:
		return false // adding up so few postings is faster than choosing among them
	default:
		b.allTerms()
	}
	q.near, q.kept = b.near, b.kept
	if b.budget < 0 {
		return false
	}
	b.rescore(best)
	return true
}

// Estimates in single precision are possible if each term contributes at least leastPart of
// the query's norm, and the norm is between leastNorm and mostNorm.
const (
	leastPart = 1e-20
	leastNorm = 1e-280
	mostNorm  = 1e280
	tiny      = 1e-30 // added to document lengths to avoid 0/0
	roundings = 16    // maximum number of rounding errors in a term's contribution
)

// keepsScores reports whether the search accepts every document and multiplies no score by a
// factor.
func (b *maxScore) keepsScores() bool {
	return b.filter.acceptsAll && b.ask.Accept == nil && b.ask.Factor == nil
}

// boundOfTenBest returns a score that at least ten documents of the view reach by their
// strongest term. It returns 0 if the search wants more than ten documents, or if some of
// the ten might not be hits. Because impacts are rounded up, it uses the next lower value.
// It lowers the result if document lengths count more now than when the impacts were
// computed.
func (b *maxScore) boundOfTenBest() float32 {
	v, least := b.view, 0.0
	if b.limit > ten {
		return 0
	}
	if v.gone > 0 || !b.keepsScores() {
		return 0
	}
	for i := range b.cursors {
		if c := &b.cursors[i]; c.cols != nil {
			least = max(least, float64(c.part)*float64(c.cols.tenth-1)/impactSteps)
		}
	}
	if b.s.slope > v.slope {
		least *= v.slope / b.s.slope
	}
	return float32(least)
}

// firstBatch is the size of the first batch of candidates (documents that might be among the best).
// Batches grow up to batchSize. The first batches are small, because each batch raises the
// threshold, so that later batches skip more postings.
const firstBatch = 32

// fewPostings is the number of postings that can be added up faster than a MaxScore search
// can start.
const fewPostings = 400

// worthOfRefusal is the number of postings that can be added up in the time that the search needs
// for a candidate that is then refused.
const worthOfRefusal = 32

// strongFrom is the minimum number of postings for which a term's strongest postings, with
// at least 7/8 of the largest impact, are processed first. This raises the threshold for
// the rest.
const strongFrom = 512

// maxScore is the state of a search.
type maxScore struct {
	*query
	view  *view
	ask   *Query
	limit int

	threshold float32        // minimum estimate of a candidate (never decreases)
	slack     float32        // factor below 1 by which an estimate may be lower than the score
	near      []uint32       // the largest estimates so far as float bits, ascending, at most limit
	kept      []keptDocument // candidates that reached the threshold
	c0, c1    float32        // the k of a candidate is c0 + c1·dl
	size      int            // size of the next batch
	budget    int            // number of candidates that may still be refused before the search gives up
}

// allTerms processes the terms in order.
func (b *maxScore) allTerms() {
	for place, i := range b.order {
		c := &b.cursors[i]
		if b.rest[place] < float64(b.threshold) || b.budget < 0 {
			return
		}
		switch w := c.cols; {
		case w == nil:
			b.scoreList(c, place)
		case w.bits != nil && b.filter.part < bothShare:
			b.scoreFiltered(c, place)
		default:
			above := impactSteps + 1
			if strong := int(c.most/c.unit) * 7 / 8; len(w.docs) > strongFrom && strong > b.minImpact(c, place) {
				b.scoreColumns(c, place, strong, above)
				above = strong
			}
			b.scoreColumns(c, place, b.minImpact(c, place), above)
		}
		b.size = batchSize
	}
}

// minImpact returns the lowest impact at which a posting of the term can reach the threshold. If no
// posting can reach the threshold, the result is above impactSteps.
func (b *maxScore) minImpact(c *cursor, place int) int {
	need := math.Ceil((float64(b.threshold) - b.rest[place+1]) / c.unit)
	return int(min(max(need, 1), impactSteps+1))
}

// bothShare is a fraction of all documents. If fewer documents meet the query's
// conditions, it is faster to look up which of these documents have the term than to
// compare impacts.
const bothShare = 0.15

// candidate returns the candidate for a posting of the term.
func (b *maxScore) candidate(c *cursor, doc uint32, tf uint16) candidate {
	f, k := float32(tf), b.c0+b.c1*float32(b.view.lens[doc])
	return candidate{doc, c.part * f / (f + k), k}
}

func (b *maxScore) scoreList(c *cursor, place int) {
	n, minImpact := 0, b.minImpact(c, place)
	for _, p := range c.list {
		if int(p.impact) >= minImpact && b.filter.accepts(p.doc) {
			b.batch[n] = b.candidate(c, p.doc, p.tf)
			n++
		}
	}
	b.complete(place, b.batch[:n])
}

const (
	everyByte = 0x0101010101010101
	topBits   = 0x80 * everyByte

	// multiplying by gatherBits moves the lowest bits of all bytes to the highest byte
	gatherBits = 0x0102040810204080
)

// scoreColumns processes the postings with an impact of at least minImpact and below above.
func (b *maxScore) scoreColumns(c *cursor, place, minImpact, above int) {
	w := c.cols
	upper, end := uint32(0), w.upTo(0)
	unit := float32(w.unit)
	docs := w.docs
	tfs := w.tfs
	dense := w.dense
	lens := b.view.lens
	part := c.part
	c0 := b.c0
	c1 := b.c1
	all := b.filter.acceptsAll
	for i := 0; i < len(w.impacts) && minImpact < above &&
		b.budget >= 0; minImpact = max(minImpact, b.minImpact(c, place)) {
		n := 0
		n, i = b.reach(w.impacts, i, minImpact, above)
		left := 0
		for _, x := range b.batch[:n] {
			at := int(x.doc)
			for at >= end {
				upper += 1 << 16
				end = w.upTo(upper)
			}
			doc, f := upper|uint32(docs[at]), float32(0)
			if !all && !b.filter.hasBit(doc) {
				continue
			}
			if dense == nil {
				f = float32(tfs[at])
			} else {
				f = float32(dense[doc])
				if f == largeTF {
					f = float32(w.largeTF(doc))
				} else {
					f *= unit
				}
			}
			k := c0 + c1*float32(lens[doc])
			b.batch[left] = candidate{doc, part * f / (f + k), k}
			left++
		}
		batch := b.batch[:left]
		if b.filter.late != nil { // Outside of the loop above, because the loop is faster if it is small.
			batch = slices.DeleteFunc(batch, func(c candidate) bool { return !b.filter.isInTime(c.doc) })
		}
		b.size = min(2*b.size, batchSize)
		b.complete(place, batch)
	}
}

// reach collects the indexes of the impacts from minImpact up to, but not including, above. It
// starts at index i and stops when the batch is full. It returns the number of collected indexes
// and the next index.
//
// One addition compares eight impacts: it overflows into the top bit of each byte whose impact is
// at least minImpact. reach first collects the blocks that have such an impact, without a branch
// that depends on impacts. Few blocks have such an impact, so a branch would be mispredicted.
func (b *maxScore) reach(impacts []uint8, i, minImpact, above int) (n, next int) {
	var blocks [64]int32
	low, high := uint64(0x80-minImpact)*everyByte, uint64(0x80-above)*everyByte
	le := binary.LittleEndian
	for i < len(impacts) {
		found := 0
		for end := min(i+len(blocks)*impactBlock, len(impacts)); i < end; i += impactBlock {
			some := impacts[i : i+impactBlock]
			set := ((le.Uint64(some) + low) | (le.Uint64(some[8:]) + low) | (le.Uint64(
				some[16:],
			) + low) | (le.Uint64(some[24:]) + low)) & topBits
			blocks[found%len(blocks)] = int32(i)
			found += int((set | -set) >> 63)
		}
		for _, at := range blocks[:found] {
			some, set := impacts[at:at+impactBlock], uint64(0)
			for j := 0; j < impactBlock; j += 8 {
				eight := le.Uint64(some[j:])
				set |= ((eight + low) &^ (eight + high) & topBits >> 7 * gatherBits) >> 56 << j
			}
			for ; set != 0; set &= set - 1 {
				b.batch[n].doc = uint32(at) + uint32(bits.TrailingZeros64(set))
				n++
			}
			if n >= b.size {
				return n, int(at) + impactBlock
			}
		}
	}
	return n, i
}

// scoreFiltered is like scoreColumns, for conditions that few documents meet. It examines
// only documents that meet the conditions and have the term.
func (b *maxScore) scoreFiltered(c *cursor, place int) {
	n := 0
	for i, set := range b.filter.set {
		for set &= c.cols.bits[i]; set != 0 && b.budget >= 0; set &= set - 1 {
			doc := uint32(64*i + bits.TrailingZeros64(set))
			if !b.filter.isInTime(doc) {
				continue
			}
			b.batch[n] = b.candidate(c, doc, c.cols.tf(doc))
			n++
			if n == batchSize {
				b.complete(place, b.batch[:n])
				n = 0
			}
		}
	}
	b.complete(place, b.batch[:n])
}

// complete adds the contributions of the terms after place to the candidates. It drops the
// candidates that cannot reach the threshold, and offers the remaining candidates.
func (b *maxScore) complete(place int, candidates []candidate) {
	for next := place + 1; next < len(b.order) && len(candidates) > 0; next++ {
		if need := b.threshold - float32(b.rest[next]); need > 0 {
			left := 0
			for _, x := range candidates {
				candidates[left] = x
				left += 1 - int(math.Float32bits(x.sum-need)>>31)
			}
			candidates = candidates[:left]
		}
		b.cursors[b.order[next]].addTo(candidates)
	}
	for _, x := range candidates {
		if x.sum >= b.threshold {
			b.offer(place, x)
		}
	}
}

// addTo adds the contributions of the term to the candidates.
func (c *cursor) addTo(candidates []candidate) {
	part, w := c.part, c.cols
	switch {
	case w == nil:
		for i := range candidates {
			x := &candidates[i]
			if at := c.find(x.doc); c.list[at].doc == x.doc {
				f := float32(c.list[at].tf)
				x.sum += part * f / (f + x.k)
			}
		}
	case w.dense != nil:
		dense, unit := w.dense, float32(w.unit)
		for i := range candidates {
			x := &candidates[i]
			f := float32(dense[x.doc])
			if f == largeTF {
				f = float32(w.largeTF(x.doc))
			} else {
				f *= unit
			}
			x.sum += part * f / (f + x.k)
		}
	case w.bits != nil:
		all := w.bits
		starts := w.starts
		tfs := w.tfs
		for i := range candidates {
			x := &candidates[i]
			word := x.doc / 64
			if set, bit := all[word], x.doc%64; set>>bit&1 != 0 {
				f := float32(tfs[int(starts[word])+bits.OnesCount64(set&(1<<bit-1))])
				x.sum += part * f / (f + x.k)
			}
		}
	default:
		docs := w.docs
		starts := w.starts
		shift := w.shift
		for i := range candidates {
			x := &candidates[i]
			slot, low := x.doc>>shift, uint16(x.doc)
			if at, ok := findLow(docs, starts[slot], starts[slot+1], low); ok {
				f := float32(w.tfs[at])
				x.sum += part * f / (f + x.k)
			}
		}
	}
}

// offer keeps a candidate if the document is not deleted, is accepted, and was not found
// already by a term before place.
func (b *maxScore) offer(place int, x candidate) {
	if b.view.isDeleted(x.doc) {
		return
	}
	for _, i := range b.order[:max(place, 0)] {
		if b.cursors[i].tf(x.doc) > 0 {
			return
		}
	}
	if b.ask.Accept != nil && !b.ask.Accept(b.view.ids.at(x.doc)) {
		b.budget--
		return
	}
	if b.ask.Factor != nil { // a refused candidate stays refused, because a factor never increases a score
		x.sum *= float32(b.ask.Factor(b.view.ids.at(x.doc)))
		if x.sum < b.threshold {
			return
		}
	}
	b.kept = append(b.kept, keptDocument{doc: x.doc, sum: x.sum})
	b.push(x.sum)
}

// push adds an estimate to the largest estimates, and raises the threshold. It always
// processes the whole list, to avoid unpredictable branches.
func (b *maxScore) push(sum float32) {
	bits := math.Float32bits(sum) // the bits of non-negative floats have the same order as the floats
	if len(b.near) < b.limit {
		b.near = slices.Insert(b.near, 0, 0)
	} else if bits <= b.near[0] {
		return
	}
	near := b.near
	for i := 1; i < len(near); i++ {
		near[i-1] = min(near[i], bits)
		bits = max(near[i], bits)
	}
	near[len(near)-1] = bits
	if len(near) == b.limit {
		b.threshold = max(b.threshold, math.Float32frombits(near[0])*b.slack)
	}
}

// rescore computes the exact scores of the candidates that were kept, and adds the best candidates
// to the heap. It processes one term after the other for all candidates, so that it reads memory in
// order.
func (b *maxScore) rescore(best *topK) {
	n, rest := 0, max(b.s.rest, leastRest)
	for _, x := range b.kept {
		if x.sum >= b.threshold {
			b.kept[n] = keptDocument{doc: x.doc, k: rest + float64(b.s.slope*float64(b.view.lens[x.doc]))}
			n++
		}
	}
	some := b.kept[:n]
	for i := range b.cursors {
		b.cursors[i].rescore(some)
	}
	for i := range some {
		x := &some[i]
		r := rankedHit{x.score, b.view, x.doc}
		if b.ask.Factor != nil {
			r.score *= b.ask.Factor(r.id())
		}
		if r.score >= best.least && best.wouldKeep(r) {
			best.add(r)
		}
	}
}

// leastRest replaces a rest of 0, so that a term with TF 0 contributes 0 and not NaN. It is
// too small to change any other score.
const leastRest = 1e-300

// rescore adds the contributions of the term to the candidates. It is scale.score, inlined
// by hand.
func (c *cursor) rescore(docs []keptDocument) {
	gain := c.gain
	switch w := c.cols; {
	case w == nil:
		for i := range docs {
			x := &docs[i]
			if at := c.find(x.doc); c.list[at].doc == x.doc {
				f := float64(c.list[at].tf)
				x.score += float64(gain*f) / (f + x.k)
			}
		}
	case w.dense != nil:
		for i := range docs {
			x := &docs[i]
			f := float64(w.denseTF(x.doc))
			x.score += float64(gain*f) / (f + x.k)
		}
	default:
		for i := range docs {
			x := &docs[i]
			if at, ok := w.find(x.doc); ok {
				f := float64(w.tfs[at])
				x.score += float64(gain*f) / (f + x.k)
			}
		}
	}
}

// hasFewCandidates reports whether so few documents meet the conditions that examining all these
// documents is faster than processing the postings.
func (b *maxScore) hasFewCandidates(postings int) bool {
	w := &b.filter
	return !w.acceptsAll && w.n*fewShare <= len(b.view.lens) && w.n*len(b.cursors) <= postings*lookUpWorth
}

// scoreAllCandidates scores the documents that meet the conditions, and no others.
func (b *maxScore) scoreAllCandidates() {
	n := 0
	complete := func() {
		for i := range b.batch[:n] {
			x := &b.batch[i]
			x.sum, x.k = 0, b.c0+b.c1*float32(b.view.lens[x.doc])
		}
		b.complete(-1, b.batch[:n])
		n = 0
	}
	for i, set := range b.filter.set {
		for ; set != 0 && b.budget >= 0; set &= set - 1 {
			doc := uint32(64*i + bits.TrailingZeros64(set))
			if !b.filter.isInTime(doc) {
				continue
			}
			b.batch[n].doc = doc
			n++
			if n == batchSize {
				complete()
			}
		}
	}
	complete()
}
