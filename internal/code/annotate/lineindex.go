// This file implements an index of the lines in a text, with which blocks are found quickly.

package annotate

// indexedText is a text in which blocks are searched for, with an index of its lines.
type indexedText struct {
	lines []string
	// assigns equal numbers to equal lines, in this text and in other versions of the file
	numberer        *lineAndWordNumberer
	lineIDs         []int32           // for each line, the number that numberer assigned to it
	lineOccurrences positionsByLineID // for each line number, the positions at which it occurs in lineIDs

	// Positions of the lines by their numbers without white space; nil until first needed.
	cachedSpacelessOccurrences *positionsByLineID
	cachedWordComparer         *blockWordComparer // compares words; nil until first needed

	enclosingLineIndexes []int32 // for each line, the index of the line that encloses it; nil until first needed
}

// newIndexedText returns an index of the given lines. The argument in assigns a number to each line. If a caller passes
// the same lineAndWordNumberer for several texts, equal lines have equal numbers in all of these texts.
func newIndexedText(in *lineAndWordNumberer, lines []string) *indexedText {
	ids := in.lineIDs.LineIDs(lines)
	return &indexedText{
		lines:           lines,
		numberer:        in,
		lineIDs:         ids,
		lineOccurrences: newPositionsByLineID(ids, len(in.lineIDs)),
	}
}

// lineOccurrencesIgnoringSpace returns the positions at which each line occurs in the text if white space is ignored.
// Lines that differ only in white space have the same number, and the result contains the positions for each number.
func (p *indexedText) lineOccurrencesIgnoringSpace() positionsByLineID {
	if p.cachedSpacelessOccurrences == nil {
		at := newPositionsByLineID(p.numberer.spacelessIDsOfLines(p.lineIDs, p.lines), len(p.numberer.spacelessLineIDs))
		p.cachedSpacelessOccurrences = &at
	}
	return *p.cachedSpacelessOccurrences
}

// newBlockWordComparer returns a comparer that compares the words of the block with the words in a window, which is a
// movable range of the text's lines. The window is empty at first. The text p has only one comparer. Therefore the
// result of an earlier call must not be used any more.
func (p *indexedText) newBlockWordComparer(block []string) *blockWordComparer {
	if p.cachedWordComparer == nil {
		p.cachedWordComparer = newBlockWordComparer(p.lines, p.lineIDs, p.numberer)
	}
	p.cachedWordComparer.setComparedBlock(block)
	return p.cachedWordComparer
}

// enclosingLineIndex returns the index of the line that encloses the line with index lineIndex, or -1 if no line does.
// The enclosing line is the nearest line above that is less indented and contains a letter or digit. A blank line has
// the same enclosing line as the next line.
func (p *indexedText) enclosingLineIndex(lineIndex int) int {
	if p.enclosingLineIndexes == nil {
		p.enclosingLineIndexes = findEnclosingLineIndexes(p.lines)
	}
	return int(p.enclosingLineIndexes[lineIndex])
}

// findEnclosingLineIndexes returns, for each line, the index of its enclosing line, or -1 without such a line. The
// enclosing line is the nearest line above that is less indented and contains a letter or digit. A blank line has the
// same enclosing line as the next line.
func findEnclosingLineIndexes(lines []string) []int32 {
	type open struct {
		line  int32
		depth int
	}
	var stack []open // possible enclosing lines of the next line, each indented deeper than the previous
	out := make([]int32, len(lines))
	for i, l := range lines {
		d := indentWidth(l)
		if d < 0 {
			continue
		}
		k := len(stack)
		for k > 0 && stack[k-1].depth >= d {
			k--
		}
		out[i] = -1
		if k > 0 {
			out[i] = stack[k-1].line
		}
		if countLetters(l) > 0 {
			stack = append(stack[:k], open{int32(i), d})
		}
	}
	next := int32(-1)
	for i := len(lines) - 1; i >= 0; i-- {
		if indentWidth(lines[i]) < 0 {
			out[i] = next
		}
		next = out[i]
	}
	return out
}

// spacelessLineSet returns a set of lines from the text, without their white space. The set contains the lines with the
// indexes i for which from <= i < to. Indexes outside the text are ignored.
func (p *indexedText) spacelessLineSet(from, to int) map[string]bool {
	set := map[string]bool{}
	for _, l := range p.lines[max(0, min(from, len(p.lines))):max(0, min(to, len(p.lines)))] {
		set[removeAllSpace(l)] = true
	}
	return set
}
