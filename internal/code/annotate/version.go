// This file finds a block by comparing an older version of the text with the present text.

package annotate

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// oldText is an older version of a file.
type oldText struct {
	lines []string
	ids   []int32 // numbers of the lines
}

// oldVersion is an older version of a file, compared with the present text.
type oldVersion struct {
	*oldText
	mapper *diff.Mapper
	to     []int      // for each old line, its new index; see [diff.Mapper.Map]; nil until it is needed
	bareTo []int      // like to, but ignoring white space; filled in by [oldVersion.bareAt] as needed
	taken  []bool     // for each new line, whether it comes from the old text (nil until it is needed)
	index  *lineIndex // index of the old text (nil until it is needed)
}

// mapLines maps the old lines to the lines of p.
func (f *oldVersion) mapLines(p *lineIndex) {
	if f.to != nil {
		return
	}
	f.to = f.mapper.MapLines(f.ids, p.ids)
	f.bareTo = slices.Clone(f.to)
	f.taken = make([]bool, len(p.lines))
	for _, t := range f.to {
		if t >= 0 {
			f.taken[t] = true
		}
	}
}

// bareAt returns the new index of an old line, ignoring white space, or a negative number if
// there is none. Lines between two unchanged lines are compared without white space when one of
// their indexes is first needed.
func (f *oldVersion) bareAt(p *lineIndex, index int) int {
	if f.bareTo[index] != -1 {
		return f.bareTo[index]
	}
	i, end, j, to := f.extendToGap(p, index, index)
	old, now := p.in.bareNumbers(f.ids[i:end], f.lines[i:end]), p.in.bareNumbers(p.ids[j:to], p.lines[j:to])
	for k, t := range f.mapper.MapLines(old, now) {
		f.bareTo[i+k] = noLine
		if t >= 0 {
			f.bareTo[i+k] = j + t
		}
	}
	return f.bareTo[index]
}

// extendToGap extends the range from the old index from to to by the adjacent lines that have no new index.
// It returns the extended range, and the range of the new text in which these lines may be. Ranges
// exclude their end.
func (f *oldVersion) extendToGap(p *lineIndex, from, to int) (first, last, lo, hi int) {
	for from > 0 && f.to[from-1] < 0 {
		from--
	}
	for to < len(f.to) && f.to[to] < 0 {
		to++
	}
	lo, hi = 0, len(p.lines)
	if from > 0 {
		lo = f.to[from-1] + 1
	}
	if to < len(f.to) {
		hi = f.to[to]
	}
	return from, to, lo, hi
}

// noLine marks an old line that was searched for and not found.
const noLine = -2

// find finds an annotation's block in the text. blob is the text's blob name.
func (p *lineIndex) find(r *Record, blob string, old *oldVersion) match {
	if len(r.Block) == 0 || (r.Span.Len() == 0 && len(p.lines) == 0) {
		return notFound
	}
	holds := func(lines []string) bool { // a sidecar may contain a blob name that does not match its block
		return r.Span.Len() > 0 && r.Span.Last <= len(lines) && hashLines(lines[r.Span.First-1:r.Span.Last]) == r.Hash
	}
	if r.Blob != "" && r.Blob == blob && holds(p.lines) {
		return match{r.Span, Exact, 1, "the file is as it was then"}
	}
	m := notFound
	if old != nil && holds(old.lines) {
		m = p.byDiff(r, old)
	} else {
		m = p.byText(r, nil)
		if m.placing == Lost {
			m = p.bySimilarity(r)
		}
	}
	if m.placing == Edited && p.sharedLetters(r.Block, m.span) < leastKept {
		m.confidence *= alikeOnly
		m.how += ", in other words"
	}
	return m
}

// byDiff finds the block by comparison with the old text.
func (p *lineIndex) byDiff(r *Record, f *oldVersion) match {
	f.mapLines(p)
	if m := f.findRemains(p, r.Span); m.placing != Lost {
		return m
	}
	// A block that was moved is among the added lines, together with its context. If only the block
	// was moved, most of its context must be there, too, as when two lines were swapped. Otherwise,
	// a block of several lines is accepted if its text is distinctive.
	if m := p.byText(r, f.taken); m.placing != Lost {
		near := p.sharedContext(r, m.span)
		if (near >= .65 || (near >= .5 && f.movedWith(p, r.Span, m.span))) && !f.isContested(p, r, m.span) {
			return m
		}
	}
	if m := p.byUniqueText(r); m.placing != Lost && r.Span.Len() > 1 && !f.isContested(p, r, m.span) {
		return m
	}
	if m := f.findHalf(p, r.Span); m.placing != Lost {
		return m
	}
	return p.byRewording(r, f)
}

// keptLines describes the unchanged lines of a block.
type keptLines struct {
	first, last int     // first and last unchanged line, as indexes in the new text (-1 if there are none)
	head, tail  int     // number of block lines before and after the unchanged lines
	lines       int     // number of unchanged lines, ignoring white space
	share       float64 // share of the block's letters in unchanged lines
	whole       bool    // the whole block is unchanged and contiguous
}

// unchangedLines returns the unchanged lines of the block at was.
func (f *oldVersion) unchangedLines(p *lineIndex, was Span) keptLines {
	k := keptLines{first: -1, last: -1}
	from, to := was.First-1, was.Last
	exact := 0
	got := 0
	all := 0
	for i := from; i < to; i++ {
		n := countLetters(f.lines[i])
		all += n
		t := f.bareAt(p, i)
		if t < 0 {
			continue
		}
		if k.first < 0 {
			k.first, k.head = t, i-from
		}
		k.last, k.tail = t, to-1-i
		k.lines++
		got += n
		if f.to[i] >= 0 {
			exact++
		}
	}
	k.whole = exact == to-from && k.last-k.first == exact-1
	k.share = 1
	if all > 0 {
		k.share = float64(got) / float64(all)
	}
	return k
}

// Minimum shares of the block's letters that must be unchanged. Lines with few letters, such as
// braces, may occur in the same order by accident.
const (
	leastKept = .3
	halfKept  = .5 // if the words are not similar, unless half of the lines are unchanged
)

// findRemains finds a block of which all or many lines are unchanged and whose words are similar.
func (f *oldVersion) findRemains(p *lineIndex, was Span) match {
	m, isSimilar := f.extendUnchanged(p, was, f.unchangedLines(p, was))
	if !isSimilar {
		return notFound
	}
	return m
}

// findHalf is like findRemains, but if half of the block is unchanged, the similarity of its words
// may be less than [similar].
func (f *oldVersion) findHalf(p *lineIndex, was Span) match {
	k := f.unchangedLines(p, was)
	m, isSimilar := f.extendUnchanged(p, was, k)
	if isSimilar || m.placing == Lost {
		return m
	}
	n := was.Len()
	if n > 1 && (k.share >= halfKept || 2*k.lines >= n) {
		m.confidence = max(m.confidence, k.share*similar)
		return m
	}
	return notFound
}

// extendUnchanged returns the block that contains the unchanged lines, or notFound if these are too
// few. It reports whether the words of the block are similar to the old ones.
func (f *oldVersion) extendUnchanged(p *lineIndex, was Span, k keptLines) (m match, isSimilar bool) {
	if k.whole {
		m := match{Span{k.first + 1, k.last + 1}, Tracked, .99, "followed through the changes of the file since"}
		if m.span == was {
			m.placing = Exact
		}
		if !f.isDistinctiveBlock(was) {
			m.confidence = doubtful
			m.how += "; it is short, and the lines around it are others"
		}
		return m, true
	}
	if k.lines == 0 || k.share < leastKept || k.last-k.first >= 4*was.Len()+20 {
		return notFound, false
	}
	m = f.extendToSimilar(p, was, k)
	return m, m.confidence >= similar
}

// extendToSimilar extends a block's unchanged lines to the most similar range of lines. The
// range ends at the unchanged lines before and after the block, or contains as many additional
// lines as the block had.
func (f *oldVersion) extendToSimilar(p *lineIndex, was Span, k keptLines) match {
	from := was.First - 1
	to := was.Last
	n := was.Len()
	above, below := 0, len(p.lines) // limits: the unchanged lines before and after the block
	for i := from - 1; i >= 0; i-- {
		if t := f.bareAt(p, i); t >= 0 {
			above = t + 1
			break
		}
	}
	for i := to; i < len(f.bareTo); i++ {
		if t := f.bareAt(p, i); t >= 0 {
			below = t
			break
		}
	}
	los, his := []int{k.first}, []int{k.last + 1}
	switch {
	case k.head == 0:
	case from > 0 && f.bareAt(p, from-1) >= 0: // all lines in between belong to the block
		los[0] = max(above, k.first-2*n)
	default:
		los = append(los, max(above, k.first-k.head))
	}
	switch {
	case k.tail == 0:
	case to < len(f.bareTo) && f.bareAt(p, to) >= 0:
		his[0] = min(below, k.last+1+2*n)
	default:
		his = append(his, min(below, k.last+1+k.tail))
	}
	best := notFound
	bag := p.newWordBag(f.lines[from:to])
	for _, lo := range los {
		for _, hi := range his {
			if same := bag.similarity(lo, hi); best.placing == Lost || same >= best.confidence {
				best = match{
					Span{lo + 1, hi},
					Edited,
					same,
					"followed through the changes of the file since, which changed the block too",
				}
			}
		}
	}
	return best
}

// Limits of [oldVersion.isDistinctiveBlock].
const (
	firmLetters = 30 // number of letters in a block and in the unchanged lines next to it
	doubtful    = .6 // confidence in a block with fewer letters
)

// isDistinctiveBlock reports whether an unchanged block is distinctive, alone or together with the unchanged
// lines next to it.
func (f *oldVersion) isDistinctiveBlock(was Span) bool {
	from, to := was.First-1, was.Last
	n := countLetters(f.lines[from:to]...)
	along := func(i, step int) {
		for k := 0; k < Context && i >= 0 && i < len(f.to) && i-step >= 0 && f.to[i] >= 0 &&
			f.to[i] == f.to[i-step]+step; k++ {
			n += countLetters(f.lines[i])
			i += step
		}
	}
	along(from-1, -1)
	along(to, 1)
	return n >= firmLetters || len(f.lines) < 2*Context
}

// movedWith reports whether the block was moved to the span as part of a distinctive group of at
// least two lines that the old text lost and the new text gained. White space is ignored.
func (f *oldVersion) movedWith(p *lineIndex, was, now Span) bool {
	o, n := was.First-1, now.First-1
	same := func(k int) bool {
		i, j := o+k, n+k
		return i >= 0 && i < len(f.lines) && j >= 0 && j < len(p.lines) && f.to[i] < 0 && !f.taken[j] &&
			bareLine(f.lines[i]) == bareLine(p.lines[j])
	}
	lo, hi := 0, now.Len()
	for hi-lo < maxRun && same(lo-1) {
		lo--
	}
	for hi-lo < maxRun && same(hi) {
		hi++
	}
	return hi-lo > 1 && countLetters(f.lines[o+lo:o+hi]...) >= tellingBlock
}

// isContested reports whether the span may instead belong to another copy of the block that the old
// text lost, for example if several copies were merged into one. If copies match equally well,
// there is no conflict if the new text has as many copies.
func (f *oldVersion) isContested(p *lineIndex, r *Record, now Span) bool {
	if f.index == nil {
		f.index = newLineIndex(p.in, f.lines)
	}
	score := p.contextScore(r, now.First-1, now.Len())
	equal := 1
	for _, c := range f.index.candidates(r, nil) {
		copied := Record{Span: Span{c.first + 1, c.first + now.Len()}}
		if copied.Span == r.Span || f.to[c.first] >= 0 || !copied.SetLines(f.lines) {
			continue
		}
		switch s := p.contextScore(&copied, now.First-1, now.Len()); {
		case s > score:
			return true
		case s == score:
			equal++
		}
	}
	if equal == 1 {
		return false
	}
	for _, c := range p.candidates(r, f.taken) {
		if c.context == score {
			equal--
		}
	}
	return equal > 0
}

// Limits for the comparison of blocks.
const (
	maxRun    = 1000 // number of lines in a group that was moved
	maxRivals = 100  // number of lines that are compared with the block

	fewLetters    = 20  // a line with fewer letters is similar to many other lines
	littleContext = .25 // share of the context below which such a line is not accepted
	sameWords     = .95 // similarity of a line in which only punctuation or white space changed
)

// byRewording finds lines that replaced the block and may be a new version of it. It finds none if
// these lines are more similar to other deleted lines, or if the block is a short line whose
// context has changed, too.
func (p *lineIndex) byRewording(r *Record, f *oldVersion) match {
	was := r.Span
	from, to := was.First-1, was.Last
	a, b, lo, hi := f.extendToGap(p, from, to)
	m := p.mostSimilar(f.lines[from:to], lo, hi, lo)
	if m.placing != Lost && was.Len() == 1 && m.confidence < sameWords && countLetters(f.lines[from]) < fewLetters &&
		p.sharedContext(r, m.span) < littleContext {
		return notFound
	}
	if m.placing == Lost || b-a > maxRivals {
		return m
	}
	for i := a; i+was.Len() <= b; i++ {
		if i+was.Len() <= from || i >= to {
			if p.newWordBag(f.lines[i:i+was.Len()]).similarity(m.span.First-1, m.span.Last) > m.confidence {
				return notFound
			}
		}
	}
	return m
}
