// Following a block through the comparison of an older version of the text with
// the text as it is now.

package annotate

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// oldText is an older version of a file.
type oldText struct {
	lines []string
	ids   []int32 // of the lines
}

// oldVersion is an older version, and what became of its lines.
type oldVersion struct {
	*oldText
	mapper *diff.Mapper
	to     []int      // the line map, see [diff.Mapper.Map]; nil until it is needed
	bareTo []int      // the same for [oldVersion.bareAt], as far as it was asked
	taken  []bool     // by index in the new text, which lines came from the old text; likewise
	index  *lineIndex // of the old text; likewise
}

// compare maps the old lines to the lines of the index.
func (f *oldVersion) compare(p *lineIndex) {
	if f.to != nil {
		return
	}
	f.to = f.mapper.Map(f.ids, p.ids)
	f.bareTo = slices.Clone(f.to)
	f.taken = make([]bool, len(p.lines))
	for _, t := range f.to {
		if t >= 0 {
			f.taken[t] = true
		}
	}
}

// bareAt returns what became of an old line, also when it differs in white space
// only, and a number below 0 for none. Between two lines that the map has kept,
// lines are compared without their white space, when one of them is asked for.
func (f *oldVersion) bareAt(p *lineIndex, at int) int {
	if f.bareTo[at] != -1 {
		return f.bareTo[at]
	}
	i, end, j, to := f.gap(p, at, at)
	old, now := p.in.bares(f.ids[i:end], f.lines[i:end]), p.in.bares(p.ids[j:to], p.lines[j:to])
	for k, t := range f.mapper.Map(old, now) {
		f.bareTo[i+k] = noLine
		if t >= 0 {
			f.bareTo[i+k] = j + t
		}
	}
	return f.bareTo[at]
}

// gap returns the old lines from and to, with those around that the map has not
// kept, and where in the new text such lines may be: half-open, as to is.
func (f *oldVersion) gap(p *lineIndex, from, to int) (first, last, lo, hi int) {
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

// noLine is what became of a line that was looked for and not found.
const noLine = -2

// find places one annotation in the text, which has that blob name.
func (p *lineIndex) find(r *Record, blob string, old *oldVersion) match {
	if len(r.Block) == 0 || (r.Span.Len() == 0 && len(p.lines) == 0) {
		return notFound
	}
	holds := func(lines []string) bool { // a sidecar can claim a blob that does not hold its block
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

// byDiff follows the block through what became of the old text.
func (p *lineIndex) byDiff(r *Record, f *oldVersion) match {
	f.compare(p)
	if m := f.remains(p, r.Span, false); m.placing != Lost {
		return m
	}
	// A block that was moved stands where the new text has lines of its own, and
	// brings its surroundings along; when it came alone, most of them must
	// be there, as when two lines change places. A block of several lines is
	// known by itself.
	if m := p.byText(r, f.taken); m.placing != Lost {
		near := p.sharedContext(r, m.span)
		if (near >= .65 || (near >= .5 && f.movedWith(p, r.Span, m.span))) && !f.contested(p, r, m.span) {
			return m
		}
	}
	if m := p.byUniqueText(r); m.placing != Lost && r.Span.Len() > 1 && !f.contested(p, r, m.span) {
		return m
	}
	if m := f.remains(p, r.Span, true); m.placing != Lost {
		return m
	}
	return p.byRewording(r, f)
}

// kept is what the line map has kept of a block.
type kept struct {
	first, last int     // lines of the new text, from 0; -1 for none
	head, tail  int     // lines of the block before and after those
	lines       int     // of the block that stand there, white space aside
	share       float64 // of the letters of the block that do
	whole       bool    // all of it stands in one piece, unchanged
}

// remainder returns what is left of a block where the line map leads.
func (f *oldVersion) remainder(p *lineIndex, was Span) kept {
	k := kept{first: -1, last: -1}
	from, to := was.First-1, was.Last
	exact := 0
	got := 0
	all := 0
	for i := from; i < to; i++ {
		n := letters(f.lines[i])
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

// Least shares of the letters of a block that must be left: braces may happen to
// stand in that order.
const (
	leastKept = .3
	halfKept  = .5 // where the words are not similar, unless half of the lines are left
)

// remains finds what the line map has kept of a block, when that is all of it or
// much; with half, also when its words are less similar than [similar].
func (f *oldVersion) remains(p *lineIndex, was Span, half bool) match {
	k := f.remainder(p, was)
	n := was.Len()
	if k.whole {
		m := match{Span{k.first + 1, k.last + 1}, Tracked, .99, "followed through the changes of the file since"}
		if m.span == was {
			m.placing = Exact
		}
		if !f.firm(was) {
			m.confidence = doubtful
			m.how += "; it is short, and the lines around it are others"
		}
		return m
	}
	if k.lines == 0 || k.share < leastKept || k.last-k.first >= 4*n+20 {
		return notFound
	}
	m := f.stretch(p, was, k)
	if m.confidence >= similar {
		return m
	}
	if half && n > 1 && (k.share >= halfKept || 2*k.lines >= n) {
		m.confidence = max(m.confidence, k.share*similar)
		return m
	}
	return notFound
}

// stretch returns the lines around what is left of a block that are most similar
// to it: up to what stood next to it, and up to as many as it had there.
func (f *oldVersion) stretch(p *lineIndex, was Span, k kept) match {
	from := was.First - 1
	to := was.Last
	n := was.Len()
	above, below := 0, len(p.lines) // between the lines that the map has kept around the block
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
	case from > 0 && f.bareAt(p, from-1) >= 0: // all in between is of the block
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
				best = match{Span{lo + 1, hi}, Edited, same, "followed through the changes of the file since, which changed the block too"}
			}
		}
	}
	return best
}

// Bounds of [oldVersion.firm].
const (
	firmLetters = 30 // letters of a block and the lines that came along with it
	doubtful    = .6 // confidence in a block that has fewer
)

// firm reports whether a block that the line map has kept whole is known by itself,
// or came along with lines around it that are.
func (f *oldVersion) firm(was Span) bool {
	from, to := was.First-1, was.Last
	n := letters(f.lines[from:to]...)
	along := func(i, step int) {
		for k := 0; k < Context && i >= 0 && i < len(f.to) && i-step >= 0 && f.to[i] >= 0 && f.to[i] == f.to[i-step]+step; k++ {
			n += letters(f.lines[i])
			i += step
		}
	}
	along(from-1, -1)
	along(to, 1)
	return n >= firmLetters || len(f.lines) < 2*Context
}

// movedWith reports whether the block came to the span in a run of lines that
// the old text lost and the new text got, indents aside: of two or more, and
// telling.
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
	return hi-lo > 1 && letters(f.lines[o+lo:o+hi]...) >= tellingBlock
}

// contested reports whether a place belongs as well, or better, to another copy of
// the block that is gone from the old text, as when several copies have become one.
// Of copies that fit equally, all may be there when the new text has as many.
func (f *oldVersion) contested(p *lineIndex, r *Record, now Span) bool {
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

// Bounds of what a block is compared with.
const (
	maxRun    = 1000 // lines of a run that came along
	maxRivals = 100  // lines whose similarity is compared with that of the block

	fewLetters    = 20  // letters of a line that any line of its kind is similar to
	littleContext = .25 // share of the context that says nothing of such a line
	sameWords     = .95 // similarity of a line of which only signs or white space changed
)

// byRewording finds what took the block's place, as it may be a new wording of
// it: not when it is more similar to other lines that are gone from there, nor when
// a line of few letters has lost its surroundings, too.
func (p *lineIndex) byRewording(r *Record, f *oldVersion) match {
	was := r.Span
	from, to := was.First-1, was.Last
	a, b, lo, hi := f.gap(p, from, to)
	m := p.mostSimilar(f.lines[from:to], lo, hi, lo)
	if m.placing != Lost && was.Len() == 1 && m.confidence < sameWords && letters(f.lines[from]) < fewLetters && p.sharedContext(r, m.span) < littleContext {
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
