// This file splits MEMORY.md into facts that can be removed, and joins the remaining facts.

package clawft

import (
	"slices"
	"strings"
)

// unitKind is the kind of a unit.
type unitKind uint8

const (
	aParagraph unitKind = iota
	anItem              // an item of a list, with the indented lines below it
	aNamed              // an entry with a comment above it
	aHeading            // one or more heading lines
	aLead               // the text before the first item of a list, in the same paragraph
)

// unit is a piece of the text. Between units there are only blank lines.
type unit struct {
	kind       unitKind
	start, end int // byte range, without the last line end
	text       string
	// headings above the unit, outermost first, and the lead of its list, separated by " / "
	under string
	level int   // level of a heading, 1 to 6
	group int   // number of the paragraph that contains the unit; headings above a paragraph belong to it
	mark  *mark // comment of a named entry

	gone  bool   // the unit is removed
	short string // shortened text of the unit
	also  *mark  // new comment for the unit, if it changed
}

// isFact reports whether the unit is a fact, which can be removed, and not a heading or a lead.
func (u *unit) isFact() bool { return u.kind != aHeading && u.kind != aLead }

// mustStay reports whether the unit must stay, because a person gave it the label tag:keep.
func (u *unit) mustStay() bool { return u.mark != nil && slices.Contains(u.mark.Labels, "tag:keep") }

// bullet returns the length of a line's indentation, and the length of the indentation with the
// list marker. The second length is 0 if the line does not begin a list item.
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
	after := rest[digits:]
	isMarker := after != "" && (after[0] == ' ' || after[0] == '\t')
	if !isMarker {
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
		c.splitAt(it.start, it.end)
	}
	return c.units
}

// unitCutter splits a text into units.
type unitCutter struct {
	text   string
	fences fencing
	units  []unit
	above  []unit // headings above the current position
	group  int    // number of the current paragraph

	now   unit   // current unit (start is -1 between units)
	outer int    // indentation of the list's items (-1 outside of a list)
	lead  string // lead of the list
}

// under returns the headings above the current position, joined by " / ".
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

// splitAt splits text[start:end], an entry without a comment, into units.
func (c *unitCutter) splitAt(start, end int) {
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
func (c *unitCutter) begin(kind unitKind, offset int) {
	c.now = unit{kind: kind, start: offset, under: c.under(), group: c.group}
	if c.lead != "" {
		c.now.under = c.lead
	}
}

// endLead ends the current unit, the lines above the first item of a list, and makes it the list's
// lead.
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

// heading adds a heading. It ends all earlier headings of the same or a deeper level.
func (c *unitCutter) heading(start, end int, line string) {
	c.flush()
	level := headingLevel(line)
	for len(c.above) > 0 && c.above[len(c.above)-1].level >= level {
		c.above = c.above[:len(c.above)-1]
	}
	u := unit{kind: aHeading, start: start, end: end, text: line, under: c.under(), level: level, group: c.group}
	c.units, c.above = append(c.units, u), append(c.above, u)
}

// fact returns the text of the unit. For a list item, the list marker is removed.
func (u *unit) fact() string {
	if u.kind == anItem {
		if _, sign := bullet(u.text); sign > 0 {
			return strings.TrimSpace(u.text[sign:])
		}
	}
	return strings.TrimSpace(u.text)
}

// settle removes each heading and lead below which all facts are removed.
func settle(units []unit) {
	for i := range units {
		u := &units[i]
		if u.isFact() {
			continue
		}
		had, has := false, false
		for j := i + 1; j < len(units); j++ {
			v := &units[j]
			isNextHeading := u.kind == aHeading && v.kind == aHeading && v.level <= u.level
			isNextGroup := u.kind == aLead && v.group != u.group
			if isNextHeading || isNextGroup {
				break
			}
			if v.isFact() {
				had, has = true, has || !v.gone
			}
		}
		u.gone = had && !has
	}
}

// join assembles the new text from the units. It leaves out removed units, and uses the shortened
// texts and new comments.
func join(text string, units []unit) string {
	if len(units) == 0 {
		return text
	}
	eol := lineEnding(text)
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

// between returns the text to write between the unit last and unit i, the next unit that is not
// removed.
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

// print returns the unit with its shortened text and new comment.
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
		// Skip the first line, which is the comment to be replaced.
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
