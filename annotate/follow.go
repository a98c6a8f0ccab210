// This file finds where one block of lines stands in a text of which the version
// that the block is from is known: by comparing the two.

package annotate

import "github.com/oxbow-memory/oxbow/internal/diff"

// followed is an old text, and what became of its lines.
type followed struct {
	*oldText
	diff  *diff.Mapper
	to    []int  // see [diff.Mapper.Map]; nil until it is needed
	taken []bool // by index in the new text, which lines came from the old one; likewise
}

// compare fills in what became of the lines on the page.
func (f *followed) compare(p *page) {
	if f.to != nil {
		return
	}
	f.to = f.diff.Map(f.num, p.num)
	f.taken = make([]bool, len(p.lines))
	for _, t := range f.to {
		if t >= 0 {
			f.taken[t] = true
		}
	}
}

// byDiff follows the block through what became of the old text.
func (p *page) byDiff(r *Record, f *followed) spot {
	f.compare(p)
	old, m := f.lines, f.to
	from, to := r.Span.First-1, r.Span.Last
	first, last, kept, keptLetters, allLetters := -1, -1, 0, 0, 0
	for i := from; i < to; i++ {
		n := letters(old[i])
		allLetters += n
		if m[i] < 0 {
			continue
		}
		if first < 0 {
			first = m[i]
		}
		last = m[i]
		kept++
		keptLetters += n
	}
	n := to - from
	if kept == n && last-first == n-1 {
		s := spot{Span{first + 1, last + 1}, Tracked, .99, "followed through the changes of the file since"}
		if s.span == r.Span {
			s.placed = Exact
		}
		return s
	}
	// What is left may be braces that happen to stand in that order.
	if kept > 0 && (allLetters == 0 || float64(keptLetters) >= .3*float64(allLetters)) && last-first < 4*n+20 {
		lo, hi := first, last+1
		if m[from] < 0 && from > 0 && m[from-1] >= 0 {
			lo = max(m[from-1]+1, first-2*n)
		}
		if m[to-1] < 0 && to < len(m) && m[to] >= 0 {
			hi = min(m[to], last+1+2*n)
		}
		same := p.newBag(old[from:to]).alike(lo, hi)
		if same >= similar {
			return spot{Span{lo + 1, hi}, Edited, same, "followed through the changes of the file since, which changed the block too"}
		}
	}
	// A block that was moved stands where the new text has lines of its own, and
	// brings its surroundings along; when it came alone, most of them must
	// be there, as when two lines change places. One of several lines is known
	// by itself.
	if s := p.byText(r, false, f.taken); s.placed != Lost {
		if near := p.nearby(r, s.span); near >= .65 || near >= .5 && f.movedWith(p, r.Span, s.span) {
			return s
		}
	}
	if s := p.byText(r, true, nil); s.placed != Lost && n > 1 {
		return s
	}
	return p.byRewording(r.Span, f)
}

// movedWith reports whether the block came to the span in a run of lines that
// the old text lost and the new one got, indents aside: of two or more, and
// telling.
func (f *followed) movedWith(p *page, was, now Span) bool {
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

const maxRun = 1000 // lines

// byRewording finds what took the block's place, as it may be a new wording of
// it: not when it is rather one of other lines that are gone from there.
func (p *page) byRewording(was Span, f *followed) spot {
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
	s := p.within(f.lines[from:to], lo, hi, lo)
	if s.placed == Lost || b-a > maxRivals {
		return s
	}
	for i := a; i+was.Len() <= b; i++ {
		if i+was.Len() <= from || i >= to {
			if p.newBag(f.lines[i:i+was.Len()]).alike(s.span.First-1, s.span.Last) > s.sure {
				return gone
			}
		}
	}
	return s
}

// maxRivals bounds the lines whose likeness is compared with that of a block.
const maxRivals = 100
