// This file defines a model's context and the parts of a context.

// Package prompt builds the text that a model is shown before it begins, which is called the model's context. A
// context consists of ordered parts, each with its source, and lists the parts that were left out. Dialects (memory
// layouts) and profiles choose the parts. This package counts the tokens of the parts, and shortens and prints the
// parts.
package prompt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Role says where a part is placed in the model's input.
type Role string

// The possible roles of a part.
const (
	RoleSystem Role = "system" // the part belongs to the system prompt
	// the text is placed before the user's newest message in the model's input, but is not stored in the conversation
	RoleUser Role = "user"
)

// Part is a piece of a context.
type Part struct {
	Name   string `json:"name"`             // kind of text, such as "identity" or "recall"
	Source string `json:"source,omitempty"` // file or entry from which the text comes
	Role   Role   `json:"role"`             // "" means RoleSystem
	Text   string `json:"text"`             // exact text, including blank lines and headers
	Tokens int    `json:"tokens"`           // estimated number of tokens, set by FitToBudget and PackIntoBudget
	Reason string `json:"why,omitempty"`    // reason why this text is in the context

	// IsPinned is set for a part that the layout promises to include always. FitToBudget never leaves it out.
	// PackIntoBudget leaves it out only if even a shortened version does not fit.
	IsPinned bool `json:"pinned,omitempty"`
	// Shorten returns a shorter version of Text, or "" if that is impossible. The version has about the given number
	// of tokens or fewer, and ends where a paragraph ends. If Shorten is nil, the text cannot be shortened.
	Shorten func(tokens int) string `json:"-"`

	hasTextAroundBody bool // WithFrame made this part
	// for a part made by WithFrame: the text before and after the body, which is never shortened
	textBeforeBody, textAfterBody string
}

// OmittedText describes a text that was left out because the budget was too small.
type OmittedText struct {
	Name   string `json:"name"`
	Source string `json:"source,omitempty"`
	// number of tokens that the model does not see: all tokens of a text that was left out, or the removed tokens of a
	// text that was shortened
	Tokens int    `json:"tokens"`
	Reason string `json:"why"`
}

// Context is the text that a model is shown before it begins, with the reason for each part.
type Context struct {
	Parts        []Part        `json:"parts"`
	OmittedTexts []OmittedText `json:"cut,omitempty"`
	Budget       int           `json:"budget,omitempty"` // maximum number of tokens (0 means unlimited)
	Tokens       int           `json:"tokens"`           // estimated number of tokens in all parts
}

// Add appends parts to the context. It ignores a part without a text, so that a layout can add a file that may not
// exist.
func (c *Context) Add(parts ...Part) {
	for _, p := range parts {
		if p.Text != "" {
			c.Parts = append(c.Parts, p)
		}
	}
}

// Text returns the texts of all parts, one after another. Blank lines are not added, because the parts contain them.
func (c Context) Text() string { return c.roleText("") }

// RoleText returns the texts of all parts with role r, one after another.
func (c Context) RoleText(r Role) string { return c.roleText(r) }

func (c Context) roleText(r Role) string {
	var b strings.Builder
	for _, p := range c.Parts {
		if r == "" || cmp.Or(p.Role, RoleSystem) == r {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Manifest describes the context for a person. It returns a line for each part, with the tokens, the quoted source and
// the reason for including the part. A line for each part that was cut or left out follows.
func (c Context) Manifest() string {
	var b strings.Builder
	for _, p := range c.Parts {
		fmt.Fprintf(&b, "in   %7d  %s%s\n", p.Tokens, p.Name, describeSource(p.Source, p.Reason))
	}
	for _, k := range c.OmittedTexts {
		fmt.Fprintf(&b, "cut  %7d  %s%s\n", k.Tokens, k.Name, describeSource(k.Source, k.Reason))
	}
	return b.String()
}

func describeSource(source, reason string) string {
	if source != "" {
		source = " " + strconv.Quote(source)
	}
	if reason != "" {
		reason = ": " + reason
	}
	return source + reason
}

// FitToBudget estimates the tokens of each part, and keeps the context within the budget. A budget of 0 means
// unlimited. Pinned parts are always included and are counted first. Other parts are included in order if they fit. A
// part that does not fit is shortened if possible, and otherwise left out. Later parts may still fit. FitToBudget is
// deterministic. If the pinned parts alone exceed the budget, Tokens is larger than Budget afterwards.
func (c *Context) FitToBudget(tokenBudget int) {
	c.Budget, c.Tokens = tokenBudget, 0
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Role == "" {
			p.Role = RoleSystem
		}
		p.Tokens = EstimateTokens(p.Text)
		if p.IsPinned {
			c.Tokens += p.Tokens
		}
	}
	var kept []Part
	for _, p := range c.Parts {
		if !p.IsPinned {
			if left := tokenBudget - c.Tokens; tokenBudget > 0 && p.Tokens > left {
				whole := p.Tokens
				p.Text = shortenPart(p, left)
				p.Tokens = EstimateTokens(p.Text)
				c.OmittedTexts = append(
					c.OmittedTexts,
					OmittedText{p.Name, p.Source, whole - p.Tokens, "over the budget"},
				)
				if p.Text == "" {
					continue
				}
			}
			c.Tokens += p.Tokens
		}
		kept = append(kept, p)
	}
	c.Parts = kept
}

// shortenPart returns part p, shortened to at most the given number of tokens, or "" if p cannot be shortened.
func shortenPart(p Part, tokens int) string {
	if p.Shorten == nil || tokens <= 0 {
		return ""
	}
	if s := p.Shorten(tokens); EstimateTokens(s) <= tokens {
		return s
	}
	return ""
}

// EstimateTokens estimates the number of tokens in s. The estimate is usually too high. The comment of
// [text.EstimateTokens] contains a table of the error for several kinds of text.
func EstimateTokens(s string) int { return text.EstimateTokens(s) }
