// This file says what lines stand in, such as a function: by their indents, so
// that it holds for many languages.

package annotate

import "strings"

// Bounds of [Scope].
const (
	maxScope    = 3    // lines
	maxScopeFar = 2000 // lines above the block that are looked at
)

// Scope returns the lines that the line with that index, from 0, stands in, from
// the inside out, at most three: each time the nearest line above that is less
// indented and has a letter or digit. For code these are such as an if, and the
// head of the function. A blank line stands where the next one does.
func Scope(lines []string, at int) []string {
	depth := -1
	for i := at; i < len(lines) && depth < 0; i++ {
		depth = indent(lines[i])
	}
	var out []string
	for i := at - 1; i >= max(0, at-maxScopeFar) && depth > 0 && len(out) < maxScope; i-- {
		if d := indent(lines[i]); d >= 0 && d < depth && letters(lines[i]) > 0 {
			out = append(out, lines[i])
			depth = d
		}
	}
	return out
}

// indent returns how far a line is indented, a tab as eight spaces, and -1 for a
// line without anything else.
func indent(l string) int {
	n := 0
	for i := range len(l) {
		switch l[i] {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return -1
}

// parent returns the index of the line that the line with that index stands in,
// and -1 for none.
func (p *page) parent(at int) int {
	if p.parents == nil {
		p.parents = make([]int32, len(p.lines))
		type open struct {
			line  int32
			depth int
		}
		var stack []open  // each deeper than the one below it
		next := int32(-1) // of the line below, for blank ones
		for i, l := range p.lines {
			d := indent(l)
			if d < 0 {
				p.parents[i] = -2
				continue
			}
			k := len(stack)
			for k > 0 && stack[k-1].depth >= d {
				k--
			}
			p.parents[i] = -1
			if k > 0 {
				p.parents[i] = stack[k-1].line
			}
			if letters(l) > 0 {
				stack = append(stack[:k], open{int32(i), d})
			}
		}
		for i := len(p.lines) - 1; i >= 0; i-- {
			if p.parents[i] == -2 {
				p.parents[i] = next
			}
			next = p.parents[i]
		}
	}
	return int(p.parents[at])
}

// inScope returns how many of the lines that a record stood in the line with
// that index, from 0, stands in, and of how many. Indents do not count.
func (p *page) inScope(r *Record, first int) (same, of int) {
	if len(r.Scope) == 0 || first >= len(p.lines) {
		return 0, len(r.Scope)
	}
	at := p.parent(first)
	for n := 0; at >= 0 && n < maxScope && first-at <= maxScopeFar; n++ {
		l := strings.TrimSpace(p.lines[at])
		for _, s := range r.Scope {
			if strings.TrimSpace(s) == l {
				same++
				break
			}
		}
		at = p.parent(at)
	}
	return min(same, len(r.Scope)), len(r.Scope)
}

// nearby returns which share of the lines around a record, and of those that it
// stood in, are around a span and what that stands in; white space aside, and
// in any order of the three on each side.
func (p *page) nearby(r *Record, s Span) float64 {
	got, all := 0, 0
	side := func(want []string, from, to int) {
		have := map[string]bool{}
		for _, l := range p.lines[max(0, min(from, len(p.lines))):max(0, min(to, len(p.lines)))] {
			have[bareLine(l)] = true
		}
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
	same, of := p.inScope(r, s.First-1)
	if got, all = got+same, all+of; all == 0 {
		return 0
	}
	return float64(got) / float64(all)
}
