// MaxScore: the search for the best alone. By what a posting gives at most,
// documents that cannot be among them are passed over.

package index

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// epsilon covers the rounding of sums of a few thousand terms, so that a bound
// never rejects what the exact sum would let in.
const epsilon = 1 - 1e-9

// best offers the documents of the view that may be among the best. The terms are
// gone through from the one that can give most to the one that can give least,
// and postings whose impact, with all that the weaker terms may give, does not
// reach the worst of the best so far are passed over. It ends when all the
// terms left together do not reach it (Turtle and Flood's MaxScore, 1995).
//
// The scores that are offered are added up over all terms in their order, so
// that they are those of scan to the last bit.
//
// It reports false when it is better to add up all postings: in a small view,
// or because too many candidates turn out not to be accepted. What it offered
// until then counts for nothing.
func (v *view) best(q *query, best *topK, offer func(number uint32, score float64) (accepted bool)) (done bool) {
	for len(q.batch.tfs) < len(q.order) {
		q.batch.tfs = append(q.batch.tfs, [batchSize]uint16{})
	}
	if q.rest[0] > math.MaxFloat64 {
		return false // weights so large that bounds tell nothing
	}
	b := maxScore{query: q, view: v, best: best, give: offer}
	postings := 0
	for i := range q.cursors {
		postings += q.cursors[i].count()
	}
	b.budget = postings / worthOfRefusal
	if b.few(postings) {
		b.among()
		return b.budget >= 0
	}
	if postings <= fewPostings && len(v.ids) <= 2*window {
		return false // to choose among so few would cost more
	}
	for place, i := range q.order {
		if q.rest[place] < b.threshold() {
			break
		}
		c := &q.cursors[i]
		if b.budget < 0 {
			return false
		}
		above := impactSteps + 1
		if c.count() > sampleFrom {
			// The strongest first: they lift the threshold for the others.
			if strong := c.strong(b.filter.part); strong > b.minImpact(c) {
				b.scoreTerm(c, strong, above)
				above = strong
			}
		}
		b.scoreTerm(c, b.minImpact(c), above)
	}
	return b.budget >= 0
}

// fewPostings are added up in less time than it takes to begin otherwise.
const fewPostings = 2000

// worthOfRefusal is how many postings can be added up in the time that a
// candidate takes which is not allowed.
const worthOfRefusal = 32

// Of a term with more than sampleFrom postings about so many are taken first.
const (
	sampleFrom  = 512
	strongFirst = 64
	samples     = 128
)

// strong returns an impact that about strongFirst postings of the term reach of
// documents that meet the conditions, which that part of all does.
func (t *postings) strong(part float64) int {
	var counts [impactSteps + 1]uint16
	n := t.count()
	step := n / samples
	for i := 0; i < n; i += step {
		if t.bitmap != nil {
			counts[t.bitmap.impacts[i]&impactSteps]++
		} else {
			counts[t.list[i].impact&impactSteps]++
		}
	}
	impact, left := impactSteps, max(int(min(strongFirst/part, float64(n)))/step, 1)
	for ; impact > 1; impact-- {
		if left -= int(counts[impact]); left <= 0 {
			break
		}
	}
	return impact
}

// maxScore is one search for the best.
type maxScore struct {
	*query
	view *view
	best *topK
	give func(number uint32, score float64) (accepted bool)

	budget int // refusals that may still come
}

// threshold returns what a bound has to reach.
func (b *maxScore) threshold() float64 { return b.best.least * epsilon }

// minImpact returns the least impact that a posting of the term needs.
func (b *maxScore) minImpact(c *cursor) int {
	threshold, rest := b.threshold(), b.rest[c.place+1]
	if rest >= threshold {
		return 1
	}
	enough := func(impact int) bool { return c.unit*float64(impact)+rest >= threshold }
	impact := int(min(max((threshold-rest)/c.unit, 1), impactSteps+1))
	for impact > 1 && enough(impact-1) {
		impact--
	}
	for impact <= impactSteps && !enough(impact) {
		impact++
	}
	return impact
}

// bothShare is the part of all documents that meets the conditions below which
// to look for those that hold a term is less work than to compare impacts.
const bothShare = 0.15

// pass takes the postings with an impact from minImpact to below above.
func (b *maxScore) scoreTerm(c *cursor, minImpact, above int) {
	if minImpact >= above {
		return
	}
	switch {
	case c.bitmap == nil:
		b.scoreList(c, minImpact, above)
	case b.filter.part < bothShare:
		b.scoreFiltered(c, minImpact, above)
	default:
		b.scoreBitmap(c, minImpact, above)
	}
	b.flush(c)
}

func (b *maxScore) scoreList(c *cursor, minImpact, above int) {
	k, tfs := &b.batch, &b.batch.tfs[c.place]
	for i := range c.list {
		p := &c.list[i]
		if int(p.impact) < minImpact || int(p.impact) >= above || !b.filter.contains(p.doc) {
			continue
		}
		k.docs[k.n], tfs[k.n] = p.doc, p.tf
		if k.n++; k.n == batchSize {
			b.flush(c)
			if minImpact = max(minImpact, b.minImpact(c)); minImpact >= above {
				return
			}
		}
	}
}

const (
	everyByte = 0x0101010101010101
	topBits   = 0x80 * everyByte
)

// scoreBitmap compares eight impacts at a time: those that reach the minImpact carry
// into the top bits of their bytes.
func (b *maxScore) scoreBitmap(c *cursor, minImpact, above int) {
	k, tfs, w := &b.batch, &b.batch.tfs[c.place], c.bitmap
	add := uint64(0x80-minImpact) * everyByte
	at, set, next := 0, w.words[0].bits(), 0 // next is the index of the lowest bit of set
	for i := 0; i < len(w.impacts); i += 8 {
		var eight uint64
		if i+8 <= len(w.impacts) {
			eight = binary.LittleEndian.Uint64(w.impacts[i:])
		} else {
			for j, v := range w.impacts[i:] {
				eight |= uint64(v) << (8 * j)
			}
		}
		for reach := (eight + add) & topBits; reach != 0; reach &= reach - 1 {
			index := i + bits.TrailingZeros64(reach)/8
			if int(w.impacts[index]) >= above {
				continue
			}
			for at+1 < len(w.words) && int(w.words[at+1].before) <= index {
				at++
				set, next = w.words[at].bits(), int(w.words[at].before)
			}
			for ; next < index; next++ {
				set &= set - 1
			}
			number := uint32(64*at + bits.TrailingZeros64(set))
			k.docs[k.n], tfs[k.n] = number, w.tfs[index]
			if !b.filter.contains(number) {
				continue
			}
			if k.n++; k.n == batchSize {
				b.flush(c)
				if minImpact = max(minImpact, b.minImpact(c)); minImpact >= above {
					return
				}
				add = uint64(0x80-minImpact) * everyByte
				// What is left of these eight is looked at once more than needed.
			}
		}
	}
}

// flush takes the batch, of documents that hold the term, through all weaker
// terms, and offers what is left.
func (b *maxScore) flush(c *cursor) {
	k := &b.batch
	n := k.n
	k.n = 0
	if n == 0 || b.budget < 0 {
		return
	}
	threshold := b.threshold()
	gain, rest, tfs := c.gain, b.rest[c.place+1], &k.tfs[c.place]
	left := 0
	for i, number := range k.docs[:n] {
		f, by := float64(tfs[i]), b.weight(number)
		sum := float64(gain*f) / (f + by)
		k.k[i], k.sums[i] = by, sum
		k.live[left] = uint8(i)
		left += 1 - int(math.Float64bits(sum+rest-threshold)>>63)
	}
	b.completeScores(c.place, left, threshold)
}

// weight returns k1·(1 − b + b·dl/avgdl) of a document, in sixteenths.
func (b *maxScore) weight(number uint32) float64 {
	by := b.s.rest + float64(b.s.slope*float64(b.view.lens[number]))
	if by == 0 {
		by = math.SmallestNonzeroFloat64 // lest nothing be divided by nothing; added to a tf it makes no difference
	}
	return by
}

// through takes the first of the live, which stronger terms than those from
// behind that place on have no more to give to, through those, and offers what
// is left.
func (b *maxScore) completeScores(place, left int, threshold float64) {
	k := &b.batch
	for next := place + 1; next < len(b.order) && left > 0; next++ {
		weaker := &b.cursors[b.order[next]]
		if weaker.bitmap != nil {
			b.probeBitmap(weaker, left)
		} else {
			b.probeList(weaker, left)
		}
		left = b.prune(weaker, left, threshold)
	}
	live := k.live[:left]
	if left > firstOffers {
		live = b.offerFirst(place, live)
	}
	for _, i := range live {
		if k.sums[i] >= b.threshold() {
			b.offer(place, int(i))
		}
	}
}

// Of more than firstOffers candidates those with the largest sums are offered
// first: the threshold that they make is too high for most of the others.
const firstOffers = 12

// offerFirst offers the best of the live and returns the others.
func (b *maxScore) offerFirst(place int, live []uint8) []uint8 {
	k := &b.batch
	best := live[:firstOffers] // by sum, falling
	for j := range live {
		i := live[j]
		at := min(j, firstOffers)
		for at > 0 && k.sums[best[at-1]] < k.sums[i] {
			at--
		}
		if at < firstOffers { // the last of the best changes postings with i
			live[j] = best[min(j, firstOffers-1)]
			copy(best[at+1:min(j+1, firstOffers)], best[at:])
			best[at] = i
		}
	}
	for _, i := range best {
		b.offer(place, int(i))
	}
	return live[firstOffers:]
}

// probeBitmap finds the term in the first of the live, adds what it gives, and
// returns how many stay alive. There are two loops without branches that depend
// on what is found, so that many look-ups wait for memory at once.
func (b *maxScore) probeBitmap(c *cursor, live int) {
	k, tfs, w := &b.batch, &b.batch.tfs[c.place], c.bitmap
	words, at := w.words, k.at[:live]
	for j, i := range k.live[:live] {
		number := k.docs[i]
		if int(number/64) >= len(words) {
			at[j] = 0
			continue
		}
		s := &words[number/64]
		set := s.bits()
		upTo := s.before + uint32(bits.OnesCount64(set<<(63-number%64)))
		at[j] = upTo * uint32(set>>(number%64)&1) // one more than the index, or 0
	}
	for j, i := range k.live[:live] {
		tf := w.tfs[max(at[j], 1)-1]
		if at[j] == 0 {
			tf = 0
		}
		tfs[i] = tf
	}
}

// probeList is probeBitmap for a list.
func (b *maxScore) probeList(c *cursor, live int) {
	k, tfs := &b.batch, &b.batch.tfs[c.place]
	for _, i := range k.live[:live] {
		tf := uint16(0)
		if at := c.find(k.docs[i]); at < len(c.list) && c.list[at].doc == k.docs[i] {
			tf = c.list[at].tf
		}
		tfs[i] = tf
	}
}

// prune adds what a term gives to the first of the live, and returns how many
// stay alive.
func (b *maxScore) prune(c *cursor, live int, threshold float64) (left int) {
	k, tfs, gain, rest := &b.batch, &b.batch.tfs[c.place], c.gain, b.rest[c.place+1]
	for _, i := range k.live[:live] {
		f := float64(tfs[i])
		sum := k.sums[i] + float64(gain*f)/(f+k.k[i])
		k.sums[i] = sum
		k.live[left] = i
		left += 1 - int(math.Float64bits(sum+rest-threshold)>>63)
	}
	return left
}

// offer puts a candidate among the best if it is alive, allowed and good enough.
// place is that of the strongest term that it is known to hold, -1 when all
// were looked up.
func (b *maxScore) offer(place, i int) {
	k, number := &b.batch, b.batch.docs[i]
	score := 0.0
	for j := range b.cursors {
		if o := &b.cursors[j]; o.place >= place {
			if f := float64(k.tfs[o.place][i]); f > 0 {
				score += float64(o.gain*f) / (f + k.k[i])
			}
		}
	}
	r := ranked{score: score, newer: b.view.updated[number], id: b.view.ids[number]}
	if score < b.best.least || !b.best.wants(r) || b.view.isDeleted(number) {
		return
	}
	for _, j := range b.order[:max(place, 0)] {
		if b.cursors[j].tf(number) > 0 {
			return // it was met there, with all that it has
		}
	}
	if !b.give(number, score) {
		b.budget--
	}
}

// few reports whether those that meet the conditions are so few that they alone
// should be looked at, all of them, among so many postings of the terms.
func (b *maxScore) few(postings int) bool {
	w := &b.filter
	return !w.all && w.n*fewShare <= len(b.view.ids) && w.n*len(b.cursors) <= postings*lookUpWorth
}

// among takes those that meet the conditions, and no others, through all terms.
func (b *maxScore) among() {
	k := &b.batch
	complete := func() {
		for i, number := range k.docs[:k.n] {
			k.k[i], k.sums[i], k.live[i] = b.weight(number), 0, uint8(i)
		}
		b.completeScores(-1, k.n, b.threshold())
		k.n = 0
	}
	for i, set := range b.filter.set {
		for ; set != 0 && b.budget >= 0; set &= set - 1 {
			k.docs[k.n] = uint32(64*i + bits.TrailingZeros64(set))
			if k.n++; k.n == batchSize {
				complete()
			}
		}
	}
	if b.budget >= 0 {
		complete()
	}
	k.n = 0
}

// scoreFiltered is scoreBitmap for conditions that few documents meet: it looks at
// those alone that hold the term.
func (b *maxScore) scoreFiltered(c *cursor, minImpact, above int) {
	k, tfs, w := &b.batch, &b.batch.tfs[c.place], c.bitmap
	for i := range w.words {
		s := &w.words[i]
		held := s.bits()
		for both := held & b.filter.set[i]; both != 0; both &= both - 1 {
			bit := bits.TrailingZeros64(both)
			index := int(s.before) + bits.OnesCount64(held&(1<<bit-1))
			if impact := int(w.impacts[index]); impact < minImpact || impact >= above {
				continue
			}
			k.docs[k.n], tfs[k.n] = uint32(64*i+bit), w.tfs[index]
			if k.n++; k.n == batchSize {
				b.flush(c)
				if minImpact = max(minImpact, b.minImpact(c)); minImpact >= above {
					return
				}
			}
		}
	}
}
