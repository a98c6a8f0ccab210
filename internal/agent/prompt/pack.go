// This file packs a context into a token budget that is never exceeded.

package prompt

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// EstimateFactorPercent corrects token estimates, which may be too low. An estimate is multiplied by this percentage
// before it is compared with a budget that must not be exceeded. The lowest measured estimate was 0.79 of the true
// count (see the table at the estimator), and 1/0.79 is 1.266.
const EstimateFactorPercent = 127

// MaxEstimateWithinBudget returns the largest token estimate of a text that certainly fits into the budget.
func MaxEstimateWithinBudget(tokenBudget int) int {
	return int(int64(tokenBudget) * 100 / EstimateFactorPercent)
}

// maxShortenAttempts is the maximum number of context parts that PackIntoBudget tries to shorten after the parts that
// fit completely were included. Each attempt costs time.
const maxShortenAttempts = 20

// PackIntoBudget counts the tokens of the parts and keeps the context within the budget, which must be
// positive. Unlike [Context.FitToBudget], PackIntoBudget never exceeds the budget, even if the token estimate is too
// low:
//
//  1. Pinned parts are included in their order. If a pinned part does not fit, it is shortened, or
//     left out if that is impossible.
//  2. Other parts are included in order if they fit completely. Parts after a part that did not
//     fit may still fit.
//  3. The remaining room goes to the first part that did not fit and can be shortened.
//
// The included parts stay in their order.
func (c *Context) PackIntoBudget(tokenBudget int) {
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Role == "" {
			p.Role = RoleSystem
		}
		p.Tokens = EstimateTokens(p.Text)
	}
	c.Budget, c.Tokens = tokenBudget, 0
	k := &contextPacker{
		Context:         c,
		remainingTokens: MaxEstimateWithinBudget(tokenBudget),
		isIncluded:      make([]bool, len(c.Parts)),
	}
	for i, p := range c.Parts {
		if p.IsPinned && !k.includeWholeContextPart(i) {
			k.includeShortenedContextPart(i)
		}
	}
	var over []int
	for i, p := range c.Parts {
		if !p.IsPinned && !k.includeWholeContextPart(i) {
			over = append(over, i)
		}
	}
	shortened := false
	for n, i := range over {
		if shortened || n >= maxShortenAttempts {
			p := c.Parts[i]
			c.OmittedTexts = append(c.OmittedTexts, OmittedText{p.Name, p.Source, p.Tokens, "over the budget"})
			continue
		}
		k.includeShortenedContextPart(i)
		shortened = k.isIncluded[i]
	}
	kept := c.Parts[:0:0]
	for i, p := range c.Parts {
		if k.isIncluded[i] {
			kept = append(kept, p)
		}
	}
	c.Parts = kept
}

// contextPacker is the state of one call to PackIntoBudget.
type contextPacker struct {
	*Context
	remainingTokens int    // remaining budget, in estimated tokens
	isIncluded      []bool // isIncluded[i] is set if Parts[i] is in the final context
}

// includeWholeContextPart includes part i and returns true if the whole part fits into the remaining budget.
func (k *contextPacker) includeWholeContextPart(i int) bool {
	p := &k.Parts[i]
	k.isIncluded[i] = p.Tokens <= k.remainingTokens-k.Tokens
	if k.isIncluded[i] {
		k.Tokens += p.Tokens
	}
	return k.isIncluded[i]
}

// includeShortenedContextPart shortens the text of part i, which does not fit completely, and includes the shortened
// part. If the text cannot be shortened enough, the part is left out. In both cases, an element with the number of
// omitted tokens is added to k.OmittedTexts.
func (k *contextPacker) includeShortenedContextPart(i int) {
	p := &k.Parts[i]
	whole := p.Tokens
	if s := shortenPart(*p, k.remainingTokens-k.Tokens); s != "" {
		p.Text, p.Tokens = s, EstimateTokens(s)
		k.includeWholeContextPart(i)
	}
	if k.isIncluded[i] {
		k.OmittedTexts = append(
			k.OmittedTexts,
			OmittedText{p.Name, p.Source, whole - p.Tokens, "over the budget: made shorter"},
		)
	} else {
		k.OmittedTexts = append(k.OmittedTexts, OmittedText{p.Name, p.Source, whole, "over the budget"})
	}
}

// FenceText returns s in a fenced Markdown code block with the given info string. The fence has at least three
// backticks, and more backticks than any sequence of backticks in s, so that s cannot end the block.
func FenceText(language, s string) string { return text.FenceCode(language, s) }

// FitParagraphs returns the longest beginning of s that ends before a blank line, and for which the function fits
// returns true. It returns "" if there is no such beginning. If fits returns true for a text, it must also return true
// for every beginning of this text.
func FitParagraphs(s string, fits func(string) bool) string {
	var ends []int // offsets in s at which a paragraph ends, before the blank lines
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
