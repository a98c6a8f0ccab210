// Packs a context into a budget that is never exceeded.

package prompt

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Margin is what an estimate of tokens is multiplied by, in hundredths, before
// it is held against a budget that must not be exceeded: the lowest estimate
// measured was 0.79 of the true count (see the table at the estimator), and
// 1/0.79 is 1.266.
const Margin = 127

// Room returns how many estimated tokens surely fit into a budget.
func Room(budget int) int { return int(int64(budget) * 100 / Margin) }

// maxShortened is how many parts are tried for the room that whole ones left.
const maxShortened = 20

// Pack counts the parts and keeps the context within a budget, which must be
// above 0. Unlike [Context.Fit] it never exceeds it, not even by what the
// estimate may be too low:
//
//  1. Pinned parts go in, in their order; one that does not fit is made shorter,
//     or else left out.
//  2. The others go in whole, in their order; one that does not fit is passed
//     over, and those after it may fit.
//  3. What room is left goes to the first that was passed over and can be made
//     shorter.
//
// What is in stays in the order of the parts.
func (c *Context) Pack(budget int) {
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Role == "" {
			p.Role = System
		}
		p.Tokens = Tokens(p.Text)
	}
	c.Budget, c.Tokens = budget, 0
	k := &packer{Context: c, room: Room(budget), in: make([]bool, len(c.Parts))}
	for i, p := range c.Parts {
		if p.Pinned && !k.take(i) {
			k.squeeze(i)
		}
	}
	var over []int
	for i, p := range c.Parts {
		if !p.Pinned && !k.take(i) {
			over = append(over, i)
		}
	}
	shortened := false
	for n, i := range over {
		if shortened || n >= maxShortened {
			p := c.Parts[i]
			c.Cut = append(c.Cut, Cut{p.Name, p.Source, p.Tokens, "over the budget"})
			continue
		}
		k.squeeze(i)
		shortened = k.in[i]
	}
	kept := c.Parts[:0:0]
	for i, p := range c.Parts {
		if k.in[i] {
			kept = append(kept, p)
		}
	}
	c.Parts = kept
}

// packer is a context while its parts are chosen.
type packer struct {
	*Context
	room int    // tokens
	in   []bool // by part: it is in the context
}

// take puts a part in if there is room for all of it.
func (k *packer) take(i int) bool {
	p := &k.Parts[i]
	k.in[i] = p.Tokens <= k.room-k.Tokens
	if k.in[i] {
		k.Tokens += p.Tokens
	}
	return k.in[i]
}

// squeeze puts in what there is room for of a part.
func (k *packer) squeeze(i int) {
	p := &k.Parts[i]
	whole := p.Tokens
	if s := shorten(*p, k.room-k.Tokens); s != "" {
		p.Text, p.Tokens = s, Tokens(s)
		k.take(i)
	}
	if k.in[i] {
		k.Cut = append(k.Cut, Cut{p.Name, p.Source, whole - p.Tokens, "over the budget: made shorter"})
	} else {
		k.Cut = append(k.Cut, Cut{p.Name, p.Source, whole, "over the budget"})
	}
}

// Fence wraps s in backticks, at least three and one more than the longest run
// in s, so that no line of s can end the block.
func Fence(info, s string) string { return text.Fence(info, s) }

// Paragraphs returns the longest beginning of s that ends where a paragraph
// does and that fits accepts, and "" when there is none. Fits must accept each
// beginning of what it accepts.
func Paragraphs(s string, fits func(string) bool) string {
	var ends []int // where a paragraph ends, without the blank line
	for i := 0; i < len(s); {
		j := strings.Index(s[i:], "\n\n")
		if j < 0 {
			break
		}
		j += i
		if strings.TrimSpace(s[:j]) != "" {
			ends = append(ends, j)
		}
		for i = j; i < len(s) && s[i] == '\n'; i++ {
		}
	}
	lo, hi := 0, len(ends)
	for lo < hi {
		if mid := (lo + hi) / 2; fits(s[:ends[mid]]) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return ""
	}
	return s[:ends[lo-1]]
}
