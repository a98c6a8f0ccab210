// This file finds where one block of lines stands in a text of which no older
// version is known: by the block's text with its context, then by what is alike.

package annotate

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Placing says how an annotation was placed.
type Placing string

const (
	Exact   Placing = "exact"   // same text, same place
	Moved   Placing = "moved"   // same text, found elsewhere by itself and its context
	Tracked Placing = "tracked" // same text, followed through the comparison with the old file, or through a rename
	Edited  Placing = "edited"  // similar text: look before you rely on it
	Lost    Placing = "lost"    // the lines are gone
)

// spot is where a block was found.
type spot struct {
	span   Span
	placed Placing
	sure   float64 // 0 to 1
	how    string
}

var gone = spot{placed: Lost}

// page is a text to find blocks in.
type page struct {
	lines []string
	lex   *lexicon // may know lines that do not stand here
	num   []int32  // of the lines
	at    places   // of these

	bare *places // of the lines without their white space; nil until it is needed
	bag  *bag    // likewise

	parents []int32 // of each line the one that it stands in; made when needed
}

func newPage(lines []string) *page { return newPageIn(newLexicon(), lines) }

// newPageIn is newPage with a lexicon that other pages share.
func newPageIn(lex *lexicon, lines []string) *page {
	num := lex.in.Lines(lines)
	return &page{lines: lines, lex: lex, num: num, at: placesOf(num, len(lex.in))}
}

// bares returns where lines stand, by the number of each without white space.
func (p *page) bares() places {
	if p.bare == nil {
		bare := make([]int32, len(p.num))
		for i, n := range p.num {
			bare[i] = p.lex.bareOf(n, p.lines[i])
		}
		at := placesOf(bare, len(p.lex.bares))
		p.bare = &at
	}
	return *p.bare
}

// letters counts what makes a line tell itself apart: letters and digits.
func letters(lines ...string) int {
	n := 0
	for _, l := range lines {
		for i := 0; i < len(l); i++ {
			if c := l[i]; c < utf8.RuneSelf {
				n += int(asciiLetter[c])
				continue
			}
			for _, r := range l[i:] {
				if isLetter(r) {
					n++
				}
			}
			break
		}
	}
	return n
}

// asciiLetter is 1 for letters and digits of ASCII.
var asciiLetter = func() (t [utf8.RuneSelf]uint8) {
	for r := range rune(utf8.RuneSelf) {
		if isLetter(r) {
			t[r] = 1
		}
	}
	return t
}()

// bounds for what counts as telling; see docs/annotations.md.
const (
	telling      = 40 // letters of a line that is found by its text without any context
	tellingBlock = 30 // the same of two lines or more

	nearContext = .34 // share of the context that a block needs otherwise
	scopeWeight = 1.5 // of the lines that a block stands in; the lines next to it weigh 1 each
	similar     = .5  // least similarity of edited text
	similarLine = .6  // the same for a single line, which has few words
)

// byText finds the block where its text stands unchanged and no line is taken,
// which is by index; nil means that none is. strict wants the text once, and
// telling.
func (p *page) byText(r *Record, strict bool, taken []bool) spot {
	n := len(r.Block) + r.Cut
	if n == 0 || n > len(p.lines) {
		return gone
	}
	head := r.Block
	var tail []string
	if r.Cut > 0 {
		head, tail = r.Block[:len(r.Block)/2], r.Block[len(r.Block)/2:]
	}
	// The rarest line says where to look.
	rare, least := 0, -1
	for i, l := range head {
		id, ok := p.lex.in[l]
		if !ok {
			return gone
		}
		if c := len(p.at.of(id)); least < 0 || c < least {
			rare, least = i, c
		}
	}
	type candidate struct {
		first   int
		context float64
		far     int
	}
	var best []candidate
	for _, at := range p.at.of(p.lex.in[head[rare]]) {
		first := int(at) - rare
		if first < 0 || first+n > len(p.lines) || !slices.Equal(p.lines[first:first+len(head)], head) ||
			!slices.Equal(p.lines[first+n-len(tail):first+n], tail) ||
			r.Cut > 0 && HashLines(p.lines[first:first+n]) != r.Hash ||
			taken != nil && slices.Contains(taken[first:first+n], true) {
			continue
		}
		far := first - (r.Span.First - 1)
		best = append(best, candidate{first, p.context(r, first, n), max(far, -far)})
	}
	if len(best) == 0 || strict && len(best) > 1 {
		return gone
	}
	slices.SortFunc(best, func(a, b candidate) int {
		switch {
		case a.context > b.context:
			return -1
		case a.context < b.context:
			return 1
		}
		return a.far - b.far
	})
	c := best[0]
	most := letters(r.Block...)
	tells := most >= telling || n > 1 && most >= tellingBlock
	if !tells && c.context < nearContext || strict && !tells || len(best) > 1 && c.context < nearContext {
		return gone
	}
	sure := .8 + .18*c.context
	how := "by its text and " + share(c.context) + " of the lines around it"
	if len(best) > 1 && best[1].context == c.context {
		sure = .6
		how += "; other places are as good, and this one is the nearest"
	} else if len(best) > 1 {
		sure = min(sure, .7+.3*(c.context-best[1].context))
	}
	s := spot{Span{c.first + 1, c.first + n}, Moved, sure, how}
	if s.span == r.Span {
		s.placed = Exact
	}
	return s
}

func share(f float64) string {
	switch {
	case f >= .99:
		return "all"
	case f >= .5:
		return "most"
	case f > 0:
		return "some"
	}
	return "none"
}

// context returns how much of the lines around a record stands around the block
// that begins at line first, from 0: 1 is all. Nearer lines weigh more, and the
// beginning and the end of the file count as lines.
func (p *page) context(r *Record, first, n int) float64 {
	got, all := 0.0, 0.0
	line := func(w float64, want []string, k int, at int) {
		w /= float64(k + 1)
		all += w
		in := at >= 0 && at < len(p.lines)
		if k < len(want) && in && p.lines[at] == want[k] || k >= len(want) && !in {
			got += w
		}
	}
	before := slices.Clone(r.Before)
	slices.Reverse(before)
	for k := range Context {
		line(1, before, k, first-1-k)
		line(1, r.After, k, first+n+k)
	}
	if len(r.Scope) > 0 {
		same, of := p.inScope(r, first)
		got, all = got+scopeWeight*float64(same)/float64(of), all+scopeWeight
	}
	return got / all
}

// within looks for the lines most like the block among those from lo to hi.
// Of windows that are as like, the one counts that has more lines of the block
// in their order, then the one nearest to want.
func (p *page) within(block []string, lo, hi, want int) spot {
	n := len(block)
	if hi <= lo || hi-lo > 8*n+40 {
		return gone
	}
	least := similar
	if n == 1 {
		least = similarLine
	}
	best, most := gone, -1 // most is -1 until it is needed
	bag := p.newBag(block)
	for _, size := range []int{n, n + n/3 + 1, max(1, n-n/3)} {
		for at := lo; at == lo || at+size <= hi; at++ {
			end := min(at+size, hi)
			same := bag.alike(at, end)
			if same < least || same < best.sure {
				continue
			}
			here := spot{Span{at + 1, end}, Edited, same, "similar lines stand in its place"}
			if same > best.sure {
				best, most = here, -1
				continue
			}
			if most < 0 {
				most = inOrder(block, p.lines[best.span.First-1:best.span.Last])
			}
			kept := inOrder(block, p.lines[at:end])
			if kept > most || kept == most && end-at == best.span.Len() && apart(at, want) < apart(best.span.First-1, want) {
				best, most = here, kept
			}
		}
	}
	return best
}

func apart(a, b int) int { return max(a-b, b-a) }

// inOrder counts lines that the two have in common at the same distance from
// the beginning of either, white space aside.
func inOrder(a, b []string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] || bareLine(a[i]) == bareLine(b[i]) {
			n++
		}
	}
	return n
}

// byLikeness finds lines that are like the block: each line of the block and of
// its context, without white space, votes for a place, and the best places are
// compared.
func (p *page) byLikeness(r *Record) spot {
	bares := p.bares()
	votes := map[int]float64{}
	vote := func(lines []string, shift int) {
		for i, l := range lines {
			b := bareLine(l)
			if letters(b) < 3 {
				continue
			}
			id, ok := p.lex.bares[b]
			if !ok {
				continue
			}
			at := bares.of(id)
			if len(at) > 20 {
				continue
			}
			for _, a := range at {
				votes[int(a)-i-shift] += 1 / float64(len(at))
			}
		}
	}
	n := len(r.Block) + r.Cut
	vote(r.Before, -len(r.Before))
	vote(r.After, n)
	if r.Cut > 0 {
		half := len(r.Block) / 2
		vote(r.Block[:half], 0)
		vote(r.Block[half:], half+r.Cut)
	} else {
		vote(r.Block, 0)
	}
	places := make([]int, 0, len(votes))
	for at := range votes {
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b int) int {
		switch {
		case votes[a] > votes[b]:
			return -1
		case votes[a] < votes[b]:
			return 1
		}
		return a - b
	})
	best := gone
	for _, at := range places[:min(len(places), 4)] {
		lo, hi := max(0, at-2), min(len(p.lines), at+n+2)
		if hi <= lo {
			continue
		}
		if r.Cut > 0 { // too long to slide along
			if same := p.newBag(r.Block).alike(lo, hi); same >= similar && same > best.sure {
				best = spot{Span{lo + 1, hi}, Edited, same, "similar lines stand there"}
			}
			continue
		}
		if s := p.within(r.Block, lo, hi, at); s.sure > best.sure {
			s.how = "similar lines stand there"
			best = s
		}
	}
	if best.placed == Edited && letters(r.Block...) < telling && p.nearby(r, best.span) < nearContext {
		return gone // there is little to go by, and its place is another
	}
	best.sure *= .9 // nothing but likeness speaks for it
	if best.placed == Edited && best.sure < similar {
		return gone
	}
	return best
}

func bareLine(l string) string { return strings.Join(strings.Fields(l), "") }
