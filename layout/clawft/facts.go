// This file splits MEMORY.md into facts that can be removed, and assembles the text from the remaining facts.

package clawft

import (
	"slices"
	"strings"
)

// markdownUnitKind is the kind of a piece of MEMORY.md, such as a paragraph, a list item or a heading.
type markdownUnitKind uint8

const (
	markdownParagraph  markdownUnitKind = iota
	markdownListItem                    // An item of a list, including the indented lines below it.
	markdownNamedEntry                  // An entry that has oxbow's comment with the entry's name above it.
	markdownHeading                     // One or more lines that are headings.
	// The piece is the text before the first item of a list, in the same paragraph.
	markdownListIntroduction
)

// markdownUnit is a piece of MEMORY.md, such as a paragraph, a list item or a heading. Between two pieces are only
// blank lines.
type markdownUnit struct {
	kind       markdownUnitKind
	start, end int // byte range of the piece in the text, without the line break at the end
	sourceText string
	// texts of the headings above this piece, outermost first, and then the text before the list that contains it,
	// joined by " / "
	headingPath    string
	levelOfHeading int // level of a heading, 1 to 6
	// Number of the paragraph that contains the unit. Headings above a paragraph belong to it.
	paragraphNumber int
	// oxbow's comment above this piece, with the entry's name and labels (nil without a comment)
	comment *entryComment

	isRemoved       bool          // This piece will be left out of the new text.
	replacementText string        // shorter text that replaces the piece's text ("" if it was not shortened)
	newComment      *entryComment // comment that replaces oxbow's comment above the piece (nil if it did not change)
}

// isRemovableFact reports whether the unit is a fact, which can be removed. Headings and the introduction of a list are
// not facts.
func (u *markdownUnit) isRemovableFact() bool {
	return u.kind != markdownHeading && u.kind != markdownListIntroduction
}

// hasKeepTag reports whether the unit must not be removed, because a person gave it the label tag:keep.
func (u *markdownUnit) hasKeepTag() bool {
	return u.comment != nil && slices.Contains(u.comment.Labels, "tag:keep")
}

// bulletWidths returns two lengths in bytes for a line that begins a list item. The result indentWidth is the length of
// the white space before the list marker. The result markerEnd is this length plus the length of the marker. If the
// line does not begin a list item, both results are 0.
func bulletWidths(line string) (indentWidth, markerEnd int) {
	rest := strings.TrimLeft(line, " \t")
	indentWidth = len(line) - len(rest)
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
	return indentWidth, indentWidth + digits
}

// splitMarkdownUnits splits the text of MEMORY.md into headings, paragraphs, list items, and entries with a comment.
func splitMarkdownUnits(text string) []markdownUnit {
	c := markdownUnitSplitter{text: text, fences: codeFenceFinder{text: text}}
	for _, it := range splitItems(text) {
		c.paragraphNumber++
		if it.comment != nil {
			c.finishedUnits = append(
				c.finishedUnits,
				markdownUnit{
					kind:            markdownNamedEntry,
					start:           it.start,
					end:             it.end,
					sourceText:      it.content,
					headingPath:     c.headingPath(),
					paragraphNumber: c.paragraphNumber,
					comment:         it.comment,
				},
			)
			continue
		}
		c.splitRangeIntoUnits(it.start, it.end)
	}
	return c.finishedUnits
}

// markdownUnitSplitter splits a Markdown text into headings, paragraphs and list items, which are called units. It
// contains the state after the lines that were read so far.
type markdownUnitSplitter struct {
	text            string
	fences          codeFenceFinder
	finishedUnits   []markdownUnit
	headings        []markdownUnit // headings of the sections that contain the line that is being read
	paragraphNumber int            // number of the current paragraph

	currentUnit      markdownUnit // piece of text that is being read (start is -1 between two pieces)
	listIndent       int          // indentation of the items in the present list (-1 outside a list)
	listIntroduction string       // text before the first item of the present list ("" outside a list)
}

// headingPath returns the headings of the sections that contain the line that is being read, joined by " / ".
func (c *markdownUnitSplitter) headingPath() string {
	names := make([]string, len(c.headings))
	for i, h := range c.headings {
		names[i] = strings.TrimSpace(strings.Trim(strings.TrimSpace(h.sourceText), "#"))
	}
	return strings.Join(names, " / ")
}

// endUnit ends the unit that is being read and adds it to c.finishedUnits. If no unit is being read, it adds nothing.
func (c *markdownUnitSplitter) endUnit() {
	if c.currentUnit.start >= 0 {
		c.currentUnit.sourceText = c.text[c.currentUnit.start:c.currentUnit.end]
		c.finishedUnits = append(c.finishedUnits, c.currentUnit)
	}
	c.currentUnit = markdownUnit{start: -1}
}

// splitRangeIntoUnits splits c.text[start:end] into paragraphs, list items and headings, and adds them to
// c.finishedUnits. The range must contain exactly one entry, and the entry must not have a comment by oxbow.
func (c *markdownUnitSplitter) splitRangeIntoUnits(start, end int) {
	c.currentUnit = markdownUnit{start: -1}
	c.listIndent = -1
	c.listIntroduction = ""
	for at := start; at < end; {
		stop, next := lineBounds(c.text, at)
		line := c.text[at:stop]
		if isBlank(line) {
			c.endUnit()
			c.paragraphNumber, at = c.paragraphNumber+1, next
			continue
		}
		indent, sign := bulletWidths(line)
		if after := c.fences.blockEnd(at); after > 0 && after <= end {
			stop = after
			_, next = lineBounds(c.text, stop)
			sign = 0
		}
		first := c.currentUnit.start < 0
		switch {
		case headingLevel(line) > 0 && (first || c.currentUnit.kind == markdownHeading):
			c.addHeading(at, stop, line)
			at = next
			continue
		case sign > 0 && (c.listIndent < 0 || indent <= c.listIndent):
			c.endListIntroduction()
			c.endUnit()
			c.listIndent = indent
			c.beginUnit(markdownListItem, at)
		case first:
			c.beginUnit(markdownParagraph, at)
		}
		c.currentUnit.end = stop
		at = next
	}
	c.endUnit()
}

// beginUnit sets c.currentUnit to a new unit (a paragraph or a list item) that begins at the byte offset in the text.
// The unit records the headings above it. In a list with an introduction, it also records the introduction.
func (c *markdownUnitSplitter) beginUnit(kind markdownUnitKind, offset int) {
	c.currentUnit = markdownUnit{
		kind:            kind,
		start:           offset,
		headingPath:     c.headingPath(),
		paragraphNumber: c.paragraphNumber,
	}
	if c.listIntroduction != "" {
		c.currentUnit.headingPath = c.listIntroduction
	}
}

// endListIntroduction is called before each item of a list. If the item is the first one, and a text directly precedes
// it, this text becomes the introduction of the list: c.currentUnit gets the kind markdownListIntroduction, and
// c.listIntroduction is set. In all other cases, endListIntroduction does nothing.
func (c *markdownUnitSplitter) endListIntroduction() {
	if c.currentUnit.start < 0 || c.listIndent >= 0 {
		return
	}
	c.currentUnit.kind = markdownListIntroduction
	c.listIntroduction = strings.TrimRight(
		strings.Join(strings.Fields(c.text[c.currentUnit.start:c.currentUnit.end]), " "),
		":",
	)
	if c.currentUnit.headingPath != "" {
		c.listIntroduction = c.currentUnit.headingPath + " / " + c.listIntroduction
	}
}

// addHeading adds a heading. It ends the preceding headings that have the same or a deeper level.
func (c *markdownUnitSplitter) addHeading(start, end int, line string) {
	c.endUnit()
	level := headingLevel(line)
	for len(c.headings) > 0 && c.headings[len(c.headings)-1].levelOfHeading >= level {
		c.headings = c.headings[:len(c.headings)-1]
	}
	u := markdownUnit{
		kind:            markdownHeading,
		start:           start,
		end:             end,
		sourceText:      line,
		headingPath:     c.headingPath(),
		levelOfHeading:  level,
		paragraphNumber: c.paragraphNumber,
	}
	c.finishedUnits, c.headings = append(c.finishedUnits, u), append(c.headings, u)
}

// textWithoutListMarker returns the text of the unit without white space at both ends. For a list item, it also omits
// the list marker, such as "- ".
func (u *markdownUnit) textWithoutListMarker() string {
	if u.kind == markdownListItem {
		if _, sign := bulletWidths(u.sourceText); sign > 0 {
			return strings.TrimSpace(u.sourceText[sign:])
		}
	}
	return strings.TrimSpace(u.sourceText)
}

// removeEmptyHeadings marks headings as removed if all facts under them were removed. It does the same for texts that
// introduce a list if all facts in the list were removed. A heading or text that never had a fact under it is kept.
func removeEmptyHeadings(units []markdownUnit) {
	for i := range units {
		u := &units[i]
		if u.isRemovableFact() {
			continue
		}
		had, has := false, false
		for j := i + 1; j < len(units); j++ {
			v := &units[j]
			isNextHeading := u.kind == markdownHeading && v.kind == markdownHeading &&
				v.levelOfHeading <= u.levelOfHeading
			isNextGroup := u.kind == markdownListIntroduction && v.paragraphNumber != u.paragraphNumber
			if isNextHeading || isNextGroup {
				break
			}
			if v.isRemovableFact() {
				had, has = true, has || !v.isRemoved
			}
		}
		u.isRemoved = had && !has
	}
}

// joinMarkdownUnits returns the text without the removed units (pieces of the text). A unit that was shortened, or that
// has a new comment, is written in its new form (see formatUnit).
func joinMarkdownUnits(text string, units []markdownUnit) string {
	if len(units) == 0 {
		return text
	}
	eol := lineEnding(text)
	var b strings.Builder
	b.WriteString(text[:units[0].start])
	var last *markdownUnit
	for i := range units {
		u := &units[i]
		if u.isRemoved {
			continue
		}
		if last != nil {
			b.WriteString(spaceBetweenUnits(text, units, last, i, eol))
		}
		b.WriteString(u.formatUnit(text, eol))
		last = u
	}
	if last == nil {
		return text[:units[0].start]
	}
	b.WriteString(text[units[len(units)-1].end:])
	return b.String()
}

// spaceBetweenUnits returns the white space to write between two units (pieces of the original text). The first unit is
// previousUnit, and the second unit is units[nextIndex]. All units between them were removed. If no unit was removed,
// or if both units are in the same paragraph, the result is the original white space before the second unit. Otherwise
// the result contains at least one blank line. The parameter eol is the line ending of the text.
func spaceBetweenUnits(
	text string,
	units []markdownUnit,
	previousUnit *markdownUnit,
	nextIndex int,
	eol string,
) string {
	if previousUnit == &units[nextIndex-1] || previousUnit.paragraphNumber == units[nextIndex].paragraphNumber {
		return text[units[nextIndex-1].end:units[nextIndex].start]
	}
	for nextIndex > 0 && units[nextIndex-1].paragraphNumber == units[nextIndex].paragraphNumber {
		nextIndex--
	}
	space := text[units[nextIndex-1].end:units[nextIndex].start]
	if strings.Count(space, "\n") < 2 {
		return eol + eol
	}
	return space
}

// formatUnit returns the text that is written to the file for this piece. If the piece was shortened, this is the
// shortened text. If the piece has a comment by oxbow, the comment is in the line before the text.
func (u *markdownUnit) formatUnit(text, eol string) string {
	if u.replacementText == "" && u.newComment == nil {
		return text[u.start:u.end]
	}
	m := u.comment
	if u.newComment != nil {
		m = u.newComment
	}
	body := text[u.start:u.end]
	if u.comment != nil {
		// Skip the first line of the piece, which is the old comment.
		_, next := lineBounds(text, u.start)
		body = text[min(next, u.end):u.end]
	}
	if u.replacementText != "" {
		body = strings.ReplaceAll(u.replacementText, "\n", eol)
		if m != nil {
			m = &entryComment{
				Name:        m.Name,
				Aliases:     m.Aliases,
				Labels:      m.Labels,
				Created:     m.Created,
				unknownKeys: m.unknownKeys,
			}
		}
	}
	if m == nil {
		return body
	}
	return m.encode() + eol + body
}
