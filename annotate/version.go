// Following a block through the comparison of an older version of the text with
// the text as it is now.

package annotate

import "github.com/oxbow-memory/oxbow/internal/diff"

// oldText is an older version of a file.
type oldText struct {
	lines []string
	ids   []int32 // of the lines
}

// oldVersion is an older version, and what became of its lines.
type oldVersion struct {
	*oldText
	mapper *diff.Mapper
	to     []int  // the line map, see [diff.Mapper.Map]; nil until it is needed
	taken  []bool // by index in the new text, which lines came from the old text; likewise
}

// compare maps the old lines to the lines of the index.
func (f *oldVersion) compare(p *lineIndex) {
	if f.to != nil {
		return
	}
	f.to = f.mapper.Map(f.ids, p.ids)
	f.taken = make([]bool, len(p.lines))
	for _, t := range f.to {
		if t >= 0 {
			f.taken[t] = true
		}
	}
}

// find places one annotation in the text, which has that blob name.
func (p *lineIndex) find(r *Record, blob string, old *oldVersion) match {
	if len(r.Block) == 0 || r.Span.Len() == 0 && len(p.lines) == 0 {
		return notFound
	}
	holds := func(lines []string) bool { // a sidecar can claim a blob that does not hold its block
		return r.Span.Len() > 0 && r.Span.Last <= len(lines) && HashLines(lines[r.Span.First-1:r.Span.Last]) == r.Hash
	}
	if r.Blob != "" && r.Blob == blob && holds(p.lines) {
		return match{r.Span, Exact, 1, "the file is as it was then"}
	}
	if old != nil && holds(old.lines) {
		return p.byDiff(r, old)
	}
	if m := p.byText(r, nil); m.placing != Lost {
		return m
	}
	return p.bySimilarity(r)
}

// byDiff follows the block through what became of the old text.
func (p *lineIndex) byDiff(r *Record, f *oldVersion) match {
	f.compare(p)
	if m := f.remains(p, r.Span); m.placing != Lost {
		return m
	}
	// A block that was moved stands where the new text has lines of its own, and
	// brings its surroundings along; when it came alone, most of them must
	// be there, as when two lines change places. A block of several lines is
	// known by itself.
	if m := p.byText(r, f.taken); m.placing != Lost {
		if near := p.sharedContext(r, m.span); near >= .65 || near >= .5 && f.movedWith(p, r.Span, m.span) {
			return m
		}
	}
	if m := p.byUniqueText(r); m.placing != Lost && r.Span.Len() > 1 {
		return m
	}
	return p.byRewording(r.Span, f)
}

// remains finds what the line map has kept of a block, when that is all of it or
// much.
func (f *oldVersion) remains(p *lineIndex, was Span) match {
	from, to := was.First-1, was.Last
	first, last, kept, keptLetters, allLetters := -1, -1, 0, 0, 0
	for i := from; i < to; i++ {
		n := letters(f.lines[i])
		allLetters += n
		if f.to[i] < 0 {
			continue
		}
		if first < 0 {
			first = f.to[i]
		}
		last = f.to[i]
		kept++
		keptLetters += n
	}
	n := to - from
	if kept == n && last-first == n-1 {
		m := match{Span{first + 1, last + 1}, Tracked, .99, "followed through the changes of the file since"}
		if m.span == was {
			m.placing = Exact
		}
		return m
	}
	// What is left may be braces that happen to stand in that order.
	if kept == 0 || allLetters > 0 && float64(keptLetters) < .3*float64(allLetters) || last-first >= 4*n+20 {
		return notFound
	}
	lo, hi := first, last+1
	if f.to[from] < 0 && from > 0 && f.to[from-1] >= 0 {
		lo = max(f.to[from-1]+1, first-2*n)
	}
	if f.to[to-1] < 0 && to < len(f.to) && f.to[to] >= 0 {
		hi = min(f.to[to], last+1+2*n)
	}
	if same := p.newWordBag(f.lines[from:to]).similarity(lo, hi); same >= similar {
		return match{Span{lo + 1, hi}, Edited, same, "followed through the changes of the file since, which changed the block too"}
	}
	return notFound
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

// Bounds of what a block is compared with.
const (
	maxRun    = 1000 // lines of a run that came along
	maxRivals = 100  // lines whose similarity is compared with that of the block
)

// byRewording finds what took the block's place, as it may be a new wording of
// it: not when it is more similar to other lines that are gone from there.
func (p *lineIndex) byRewording(was Span, f *oldVersion) match {
	from, to := was.First-1, was.Last
	a, b := from, to // the lines that are gone, and those around that are gone, too
	for a > 0 && f.to[a-1] < 0 {
		a--
	}
	for b < len(f.to) && f.to[b] < 0 {
		b++
	}
	lo, hi := 0, len(p.lines)
	if a > 0 {
		lo = f.to[a-1] + 1
	}
	if b < len(f.to) {
		hi = f.to[b]
	}
	m := p.mostSimilar(f.lines[from:to], lo, hi, lo)
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
