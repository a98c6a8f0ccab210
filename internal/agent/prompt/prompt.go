// What a context is made of.

// Package prompt is what a memory puts before a model: parts in order, each
// with where it came from, and an account of what was left out. The recipes
// that choose the parts are those of the dialects and of profiles; this package
// counts, cuts and prints.
package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Role says to whom a part is addressed in the conversation.
type Role string

// The roles.
const (
	System Role = "system" // it belongs to the system prompt
	User   Role = "user"   // it goes before the newest message, and is not kept
)

// Part is one piece of a context.
type Part struct {
	Name   string `json:"name"`             // what it is, such as "identity" or "recall"
	Source string `json:"source,omitempty"` // the file or the entry that it came from
	Role   Role   `json:"role"`             // System when empty
	Text   string `json:"text"`             // its exact bytes, with the blank lines and headers around it
	Tokens int    `json:"tokens"`           // an estimate, set by Fit and Pack
	Why    string `json:"why,omitempty"`    // why it is there, for who asks

	// Pinned parts are never left out: those that the layout promises to be
	// there always.
	Pinned bool `json:"pinned,omitempty"`
	// Short, when it is not nil, makes the part smaller: it returns at most
	// about so many tokens of it, ending where a paragraph ends, or "".
	Short func(tokens int) string `json:"-"`

	isFramed      bool   // made by Framed
	before, after string // of a framed part: what is around its body
}

// Cut is what a budget kept out.
type Cut struct {
	Name   string `json:"name"`
	Source string `json:"source,omitempty"`
	Tokens int    `json:"tokens"` // kept out; of a part that was made shorter, the difference
	Why    string `json:"why"`
}

// Context is what stands before the model, and why.
type Context struct {
	Parts  []Part `json:"parts"`
	Cut    []Cut  `json:"cut,omitempty"`
	Budget int    `json:"budget,omitempty"` // tokens; 0 for no bound
	Tokens int    `json:"tokens"`           // an estimate of all parts together
}

// Add appends parts with text; one without is left out without a word, as a
// layout does with a file that is not there.
func (c *Context) Add(parts ...Part) {
	for _, p := range parts {
		if p.Text != "" {
			c.Parts = append(c.Parts, p)
		}
	}
}

// Text returns the parts, one after the other. They bring their own blank
// lines.
func (c Context) Text() string { return c.of("") }

// Of returns the parts of one role, one after the other.
func (c Context) Of(r Role) string { return c.of(r) }

func (c Context) of(r Role) string {
	var b strings.Builder
	for _, p := range c.Parts {
		if role := p.Role; r == "" || role == r || (role == "" && r == System) {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Manifest returns a line for each part, with its tokens, its source and why it
// is there, and then one for each that a budget kept out. Sources are quoted.
func (c Context) Manifest() string {
	var b strings.Builder
	for _, p := range c.Parts {
		fmt.Fprintf(&b, "in   %7d  %s%s\n", p.Tokens, p.Name, details(p.Source, p.Why))
	}
	for _, k := range c.Cut {
		fmt.Fprintf(&b, "cut  %7d  %s%s\n", k.Tokens, k.Name, details(k.Source, k.Why))
	}
	return b.String()
}

func details(source, why string) string {
	if source != "" {
		source = " " + strconv.Quote(source)
	}
	if why != "" {
		why = ": " + why
	}
	return source + why
}

// Fit counts the parts and keeps the context within a budget of tokens; 0 means
// that there is none. Pinned parts stay, and count first. The others stay in
// their order as long as they fit; the first that does not is made shorter if
// it can be, and else left out; those after it may still fit. Fit is
// deterministic. A budget that the pinned parts break is not kept: Tokens is
// then above Budget.
func (c *Context) Fit(budget int) {
	c.Budget, c.Tokens = budget, 0
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Role == "" {
			p.Role = System
		}
		p.Tokens = Tokens(p.Text)
		if p.Pinned {
			c.Tokens += p.Tokens
		}
	}
	var kept []Part
	for _, p := range c.Parts {
		if !p.Pinned {
			if left := budget - c.Tokens; budget > 0 && p.Tokens > left {
				whole := p.Tokens
				p.Text = shorten(p, left)
				p.Tokens = Tokens(p.Text)
				c.Cut = append(c.Cut, Cut{p.Name, p.Source, whole - p.Tokens, "over the budget"})
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

// shorten returns what fits of a part that can be made shorter, or "".
func shorten(p Part, tokens int) string {
	if p.Short == nil || tokens <= 0 {
		return ""
	}
	if s := p.Short(tokens); Tokens(s) <= tokens {
		return s
	}
	return ""
}

// Tokens returns about how many tokens a model sees in s, rather too many than
// too few; see the table at the estimator for how far off it may be.
func Tokens(s string) int { return text.EstimateTokens(s) }
