// This file packs a context into a budget that is never exceeded.

package prompt

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Margin is the factor, in hundredths, by which a token estimate is multiplied before it is
// compared with a budget that must not be exceeded. The lowest measured estimate was 0.79 of the
// true count (see the table at the estimator), and 1/0.79 is 1.266.
const Margin = 127

// Room returns the largest estimate of tokens that certainly fits into the budget.
func Room(budget int) int { return int(int64(budget) * 100 / Margin) }

// maxShortened is the maximum number of parts that are tried for the remaining room.
const maxShortened = 20

// Pack counts the tokens of the parts and keeps the context within the budget, which must be
// positive. Unlike [Context.Fit], Pack never exceeds the budget, even if the token estimate is too
// low:
//
//  1. Pinned parts are included in their order. If a pinned part does not fit, it is shortened, or
//     left out if that is impossible.
//  2. Other parts are included in order if they fit completely. Parts after a part that did not
//     fit may still fit.
//  3. The remaining room goes to the first part that did not fit and can be shortened.
//
// The included parts stay in their order.
func (c *Context) Pack(budget int) {
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Role == "" {
			p.Role = System
		}
		p.Tokens = EstimateTokens(p.Text)
	}
	c.Budget, c.Tokens = budget, 0
	k := &packer{Context: c, room: Room(budget), in: make([]bool, len(c.Parts))}
	for i, p := range c.Parts {
		if p.Pinned && !k.takeWhole(i) {
			k.takeShortened(i)
		}
	}
	var over []int
	for i, p := range c.Parts {
		if !p.Pinned && !k.takeWhole(i) {
			over = append(over, i)
		}
	}
	shortened := false
	for n, i := range over {
		if shortened || n >= maxShortened {
			p := c.Parts[i]
			c.Cut = append(c.Cut, CutText{p.Name, p.Source, p.Tokens, "over the budget"})
			continue
		}
		k.takeShortened(i)
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

// packer is the state of Pack.
type packer struct {
	*Context
	room int    // in estimated tokens
	in   []bool // for each part, whether it is included
}

// takeWhole includes a part if all of it fits.
func (k *packer) takeWhole(i int) bool {
	p := &k.Parts[i]
	k.in[i] = p.Tokens <= k.room-k.Tokens
	if k.in[i] {
		k.Tokens += p.Tokens
	}
	return k.in[i]
}

// takeShortened includes a part, shortened to the remaining room if necessary.
func (k *packer) takeShortened(i int) {
	p := &k.Parts[i]
	whole := p.Tokens
	if s := shorten(*p, k.room-k.Tokens); s != "" {
		p.Text, p.Tokens = s, EstimateTokens(s)
		k.takeWhole(i)
	}
	if k.in[i] {
		k.Cut = append(k.Cut, CutText{p.Name, p.Source, whole - p.Tokens, "over the budget: made shorter"})
	} else {
		k.Cut = append(k.Cut, CutText{p.Name, p.Source, whole, "over the budget"})
	}
}

// Fence puts s into a Markdown code block. The fence has at least three backticks and one more than
// the longest sequence of backticks in s, so that s cannot end the block.
func Fence(info, s string) string { return text.Fence(info, s) }

// FitParagraphs returns the longest beginning of s that ends at a paragraph's end and for which fits
// returns true. It returns "" if no such beginning exists. If fits accepts a text, it must accept
// each beginning of the text.
func FitParagraphs(s string, fits func(string) bool) string {
	var ends []int // ends of paragraphs, without the blank lines
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
