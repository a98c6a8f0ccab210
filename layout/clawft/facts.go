// MEMORY.md as facts: cutting it into those that can be removed, and joining those
// that stay.

package clawft

import (
	"slices"
	"strings"
)

// unitKind says what a unit is.
type unitKind uint8

const (
	aParagraph unitKind = iota
	anItem              // of a list, with what is indented below it
	aNamed              // an entry with a comment above it
	aHeading            // one or more lines
	aLead               // the lines above a list, in the same paragraph
)

// unit is a piece of the text. What is between two of them is blank lines.
type unit struct {
	kind       unitKind
	start, end int // the last line end not included
	text       string
	// the headings that it stands below, outermost first, and the lead of its list, with " / " between
	under string
	level int   // of a heading, 1 to 6
	group int   // the paragraph that it is of, without headings above
	mark  *mark // of a named one

	gone  bool   // it is taken out
	short string // what stands for it when it is shortened
	also  *mark  // what the comment above it is to say, when that changed
}

// isFact reports whether the unit is one that can be taken out, and no part of the
// frame that others stand in.
func (u *unit) isFact() bool { return u.kind != aHeading && u.kind != aLead }

// kept reports whether a person said that the unit must stay.
func (u *unit) kept() bool { return u.mark != nil && slices.Contains(u.mark.Labels, "tag:keep") }

// bullet returns the bytes of a line before a list item's text: its indentation
// and the whole of it with the sign. Sign is 0 when the line begins no item.
func bullet(line string) (indent, sign int) {
	rest := strings.TrimLeft(line, " \t")
	indent = len(line) - len(rest)
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	switch {
	case rest == "":
		return 0, 0
	case digits == 0 && strings.ContainsRune("-*+", rune(rest[0])):
		digits = 1
	case digits > 0 && digits <= 9 && digits < len(rest) && (rest[digits] == '.' || rest[digits] == ')'):
		digits++
	default:
		return 0, 0
	}
	if after := rest[digits:]; after == "" || (after[0] != ' ' && after[0] != '\t') {
		return 0, 0
	}
	return indent, indent + digits
}

// cutUnits returns the units of a text.
func cutUnits(text string) []unit {
	c := unitCutter{text: text, fences: fencing{text: text}}
	for _, it := range cutItems(text) {
		c.group++
		if it.mark != nil {
			c.units = append(
				c.units,
				unit{kind: aNamed, start: it.start, end: it.end, text: it.content, under: c.under(), group: c.group,
					mark: it.mark},
			)
			continue
		}
		c.cut(it.start, it.end)
	}
	return c.units
}

// unitCutter cuts a text into units.
type unitCutter struct {
	text   string
	fences fencing
	units  []unit
	above  []unit // the headings that are open
	group  int    // the current paragraph

	now   unit   // the unit that is being read; start is -1 between units
	outer int    // indentation of the items of a list, -1 outside of one
	lead  string // of the list
}

// under returns the open headings.
func (c *unitCutter) under() string {
	names := make([]string, len(c.above))
	for i, h := range c.above {
		names[i] = strings.TrimSpace(strings.Trim(strings.TrimSpace(h.text), "#"))
	}
	return strings.Join(names, " / ")
}

// flush ends the current unit.
func (c *unitCutter) flush() {
	if c.now.start >= 0 {
		c.now.text = c.text[c.now.start:c.now.end]
		c.units = append(c.units, c.now)
	}
	c.now = unit{start: -1}
}

// cut cuts an entry without a comment, from start up to end.
func (c *unitCutter) cut(start, end int) {
	c.now = unit{start: -1}
	c.outer = -1
	c.lead = ""
	for at := start; at < end; {
		stop, next := lineAt(c.text, at)
		line := c.text[at:stop]
		if isBlank(line) {
			c.flush()
			c.group, at = c.group+1, next
			continue
		}
		indent, sign := bullet(line)
		if after := c.fences.end(at); after > 0 && after <= end {
			stop = after
			_, next = lineAt(c.text, stop)
			sign = 0
		}
		first := c.now.start < 0
		switch {
		case headingLevel(line) > 0 && (first || c.now.kind == aHeading):
			c.heading(at, stop, line)
			at = next
			continue
		case sign > 0 && (c.outer < 0 || indent <= c.outer):
			c.endLead()
			c.flush()
			c.outer = indent
			c.begin(anItem, at)
		case first:
			c.begin(aParagraph, at)
		}
		c.now.end = stop
		at = next
	}
	c.flush()
}

// begin begins a unit.
func (c *unitCutter) begin(kind unitKind, at int) {
	c.now = unit{kind: kind, start: at, under: c.under(), group: c.group}
	if c.lead != "" {
		c.now.under = c.lead
	}
}

// endLead makes the lines above the first item of a list its lead.
func (c *unitCutter) endLead() {
	if c.now.start < 0 || c.outer >= 0 {
		return
	}
	c.now.kind = aLead
	c.lead = strings.TrimRight(strings.Join(strings.Fields(c.text[c.now.start:c.now.end]), " "), ":")
	if c.now.under != "" {
		c.lead = c.now.under + " / " + c.lead
	}
}

// heading adds a heading, which closes those of its level and below.
func (c *unitCutter) heading(start, end int, line string) {
	c.flush()
	level := headingLevel(line)
	for len(c.above) > 0 && c.above[len(c.above)-1].level >= level {
		c.above = c.above[:len(c.above)-1]
	}
	u := unit{kind: aHeading, start: start, end: end, text: line, under: c.under(), level: level, group: c.group}
	c.units, c.above = append(c.units, u), append(c.above, u)
}

// fact returns what the unit says, without the sign of a list.
func (u *unit) fact() string {
	if u.kind == anItem {
		if _, sign := bullet(u.text); sign > 0 {
			return strings.TrimSpace(u.text[sign:])
		}
	}
	return strings.TrimSpace(u.text)
}

// settle takes out headings and leads whose facts are all gone.
func settle(units []unit) {
	for i := range units {
		u := &units[i]
		if u.isFact() {
			continue
		}
		had, has := false, false
		for j := i + 1; j < len(units); j++ {
			v := &units[j]
			if (u.kind == aHeading && v.kind == aHeading && v.level <= u.level) ||
				(u.kind == aLead && v.group != u.group) {
				break
			}
			if v.isFact() {
				had, has = true, has || !v.gone
			}
		}
		u.gone = had && !has
	}
}

// join returns the text without the units that are gone, and with those that are
// shortened or have another comment as they are to be.
func join(text string, units []unit) string {
	if len(units) == 0 {
		return text
	}
	eol := eolOf(text)
	var b strings.Builder
	b.WriteString(text[:units[0].start])
	var last *unit
	for i := range units {
		u := &units[i]
		if u.gone {
			continue
		}
		if last != nil {
			b.WriteString(between(text, units, last, i, eol))
		}
		b.WriteString(u.print(text, eol))
		last = u
	}
	if last == nil {
		return text[:units[0].start]
	}
	b.WriteString(text[units[len(units)-1].end:])
	return b.String()
}

// between returns what stands between a unit and unit i, which follows it.
func between(text string, units []unit, last *unit, i int, eol string) string {
	if last == &units[i-1] || last.group == units[i].group {
		return text[units[i-1].end:units[i].start]
	}
	for i > 0 && units[i-1].group == units[i].group {
		i--
	}
	space := text[units[i-1].end:units[i].start]
	if strings.Count(space, "\n") < 2 {
		return eol + eol
	}
	return space
}

// print returns the unit as it is to stand in the text.
func (u *unit) print(text, eol string) string {
	if u.short == "" && u.also == nil {
		return text[u.start:u.end]
	}
	m := u.mark
	if u.also != nil {
		m = u.also
	}
	body := text[u.start:u.end]
	if u.mark != nil {
		// The first line is the comment that is to be replaced.
		_, next := lineAt(text, u.start)
		body = text[min(next, u.end):u.end]
	}
	if u.short != "" {
		body = strings.ReplaceAll(u.short, "\n", eol)
		if m != nil {
			m = &mark{Name: m.Name, Aliases: m.Aliases, Labels: m.Labels, Created: m.Created, more: m.more}
		}
	}
	if m == nil {
		return body
	}
	return m.line() + eol + body
}
