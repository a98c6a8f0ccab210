// An index of the lines of a text, to find blocks in.

package annotate

import (
	"slices"
	"strings"
)

// lineIndex is a text to find blocks in.
type lineIndex struct {
	lines    []string
	in       *interner // may know lines that do not stand here
	ids      []int32   // of the lines
	postings postings  // of the ids

	bare *postings // of the lines without their white space; nil until they are needed
	bag  *wordBag  // likewise

	enclosers []int32 // of each line the line that it stands in; likewise
}

// newLineIndex returns the index of a text. The interner may be shared with
// other texts.
func newLineIndex(in *interner, lines []string) *lineIndex {
	ids := in.lines.Lines(lines)
	return &lineIndex{lines: lines, in: in, ids: ids, postings: postingsOf(ids, len(in.lines))}
}

// barePostings returns where lines stand, by their number without white space.
func (p *lineIndex) barePostings() postings {
	if p.bare == nil {
		at := postingsOf(p.in.bares(p.ids, p.lines), len(p.in.bareLines))
		p.bare = &at
	}
	return *p.bare
}

// newWordBag returns the bag of a block, with a window of no lines. The index
// has one bag: the bag returned before must no longer be used.
func (p *lineIndex) newWordBag(block []string) *wordBag {
	if p.bag == nil {
		p.bag = newWordBag(p.lines, p.ids, p.in)
	}
	p.bag.reset(block)
	return p.bag
}

// enclosing returns the index of the line that the line with that index stands
// in, and -1 for none.
func (p *lineIndex) enclosing(at int) int {
	if p.enclosers == nil {
		p.enclosers = enclosersOf(p.lines)
	}
	return int(p.enclosers[at])
}

// enclosersOf returns, for each line, the nearest line above that is less
// indented and has a letter or digit, and -1 for none. A blank line stands where
// the next line does.
func enclosersOf(lines []string) []int32 {
	type open struct {
		line  int32
		depth int
	}
	var stack []open // each deeper than the one below it
	out := make([]int32, len(lines))
	for i, l := range lines {
		d := indent(l)
		if d < 0 {
			continue
		}
		k := len(stack)
		for k > 0 && stack[k-1].depth >= d {
			k--
		}
		out[i] = -1
		if k > 0 {
			out[i] = stack[k-1].line
		}
		if letters(l) > 0 {
			stack = append(stack[:k], open{int32(i), d})
		}
	}
	next := int32(-1)
	for i := len(lines) - 1; i >= 0; i-- {
		if indent(lines[i]) < 0 {
			out[i] = next
		}
		next = out[i]
	}
	return out
}

// sharedScope returns how many of the lines that a record stood in the line with
// that index, from 0, stands in, and of how many. Indents do not count.
func (p *lineIndex) sharedScope(r *Record, first int) (same, of int) {
	if len(r.Scope) == 0 || first >= len(p.lines) {
		return 0, len(r.Scope)
	}
	at := p.enclosing(first)
	for n := 0; at >= 0 && n < maxScope && first-at <= maxScopeFar; n++ {
		l := strings.TrimSpace(p.lines[at])
		for _, s := range r.Scope {
			if strings.TrimSpace(s) == l {
				same++
				break
			}
		}
		at = p.enclosing(at)
	}
	return min(same, len(r.Scope)), len(r.Scope)
}

// sharedContext returns which share of the lines around a record, and of those that it
// stood in, are around a span and what that stands in; white space aside, and
// in any order of the three on each side.
func (p *lineIndex) sharedContext(r *Record, s Span) float64 {
	got, all := 0, 0
	side := func(want []string, from, to int) {
		have := p.bareSet(from, to)
		for _, l := range want {
			if b := bareLine(l); b != "" {
				all++
				if have[b] {
					got++
				}
			}
		}
	}
	side(r.Before, s.First-1-Context, s.First-1)
	side(r.After, s.Last, s.Last+Context)
	same, of := p.sharedScope(r, s.First-1)
	got, all = got+same, all+of
	if all == 0 {
		return 0
	}
	return float64(got) / float64(all)
}

// bareSet returns the lines from one index to another, without their white space.
func (p *lineIndex) bareSet(from, to int) map[string]bool {
	set := map[string]bool{}
	for _, l := range p.lines[max(0, min(from, len(p.lines))):max(0, min(to, len(p.lines)))] {
		set[bareLine(l)] = true
	}
	return set
}

// scopeWeight is the weight of the lines that a block stands in; the lines next to
// it weigh 1 each.
const scopeWeight = 1.5

// contextScore returns how much of the lines around a record stands around the block
// that begins at line first, from 0: 1 is all. Nearer lines weigh more, and the
// beginning and the end of the file count as lines.
func (p *lineIndex) contextScore(r *Record, first, n int) float64 {
	got, all := 0.0, 0.0
	line := func(w float64, want []string, k int, at int) {
		w /= float64(k + 1)
		all += w
		in := at >= 0 && at < len(p.lines)
		if (k < len(want) && in && p.lines[at] == want[k]) || (k >= len(want) && !in) {
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
		same, of := p.sharedScope(r, first)
		got, all = got+scopeWeight*float64(same)/float64(of), all+scopeWeight
	}
	return got / all
}
