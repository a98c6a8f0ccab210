// This file declares the context and its parts.

// Package prompt builds the text that a model is shown before it begins, which is called its context.
// A context has parts in order, each with its source, and a list of parts that were left out. Dialects and profiles
// choose the parts, and this package counts, cuts and prints them.
package prompt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Role is the position of a part in the model's input.
type Role string

// The values of Role.
const (
	RoleSystem Role = "system" // the part belongs to the system prompt
	RoleUser   Role = "user"   // the part goes before the newest message and is not stored in the conversation
)

// Part is a piece of a context.
type Part struct {
	Name   string `json:"name"`             // kind of part, such as "identity" or "recall"
	Source string `json:"source,omitempty"` // file or entry from which the part comes
	Role   Role   `json:"role"`             // "" means RoleSystem
	Text   string `json:"text"`             // exact text, including blank lines and headers
	Tokens int    `json:"tokens"`           // estimate, set by FitToBudget and PackIntoBudget
	Reason string `json:"why,omitempty"`    // reason why the part is included

	// IsPinned parts are never left out. They are parts that the layout promises to include always.
	IsPinned bool `json:"pinned,omitempty"`
	// Short, if not nil, returns a shorter version of the part, or "". The version has about
	// the given number of tokens or fewer, and ends at a paragraph's end.
	Shorten func(tokens int) string `json:"-"`

	isFramed                 bool   // the part was made by WithFrame
	framePrefix, frameSuffix string // for a framed part: the text around its body
}

// OmittedText is text that was left out because of the budget.
type OmittedText struct {
	Name   string `json:"name"`
	Source string `json:"source,omitempty"`
	Tokens int    `json:"tokens"` // number of tokens left out (for a shortened part, the difference)
	Reason string `json:"why"`
}

// Context is the text that is put before the model, and the reasons for it.
type Context struct {
	Parts        []Part        `json:"parts"`
	OmittedTexts []OmittedText `json:"cut,omitempty"`
	Budget       int           `json:"budget,omitempty"` // in tokens (0 means unlimited)
	Tokens       int           `json:"tokens"`           // estimate for all parts
}

// Add appends the parts that have a text. Empty parts are ignored, so that a layout can add a file
// that does not exist.
func (c *Context) Add(parts ...Part) {
	for _, p := range parts {
		if p.Text != "" {
			c.Parts = append(c.Parts, p)
		}
	}
}

// Text returns the concatenated parts. Blank lines are included in the parts.
func (c Context) Text() string { return c.roleText("") }

// RoleText returns the concatenated parts with that role.
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

// Manifest returns a line for each part with the part's tokens, the source and the reason for
// including the part, then a line for each part that was cut. Sources are quoted.
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

func describeSource(source, why string) string {
	if source != "" {
		source = " " + strconv.Quote(source)
	}
	if why != "" {
		why = ": " + why
	}
	return source + why
}

// FitToBudget counts the parts' tokens and keeps the context within the budget. 0 means unlimited.
// Pinned parts are always included and are counted first. Other parts are included in order if
// they fit. A part that does not fit is shortened if possible, and otherwise left out. Later
// parts may still fit. FitToBudget is deterministic. If the pinned parts exceed the budget, Tokens is
// larger than Budget afterwards.
func (c *Context) FitToBudget(budget int) {
	c.Budget, c.Tokens = budget, 0
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
			if left := budget - c.Tokens; budget > 0 && p.Tokens > left {
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

// shortenPart returns at most tokens tokens of a part, or "" if the part cannot be shortened.
func shortenPart(p Part, tokens int) string {
	if p.Shorten == nil || tokens <= 0 {
		return ""
	}
	if s := p.Shorten(tokens); EstimateTokens(s) <= tokens {
		return s
	}
	return ""
}

// EstimateTokens estimates the number of tokens in s. It tends to overestimate. The table at the estimator
// shows the error.
func EstimateTokens(s string) int { return text.EstimateTokens(s) }
