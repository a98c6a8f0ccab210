// This file implements an index of the lines in a text, with which blocks are found quickly.

package annotate

// lineIndex is a text in which blocks are searched for, with an index of its lines.
type lineIndex struct {
	lines    []string
	interner *lineInterner // assigns equal numbers to equal lines, in this text and in other versions of the file
	ids      []int32       // for each line, the number that interner assigned to it
	postings linePositions // for each line number, the positions at which it occurs in ids

	// Positions of the lines by their numbers without white space; nil until first needed.
	cachedBarePostings *linePositions
	cachedWordBag      *wordBag // compares words; nil until first needed

	enclosingIndexes []int32 // for each line, the index of the line that encloses it; nil until first needed
}

// newLineIndex returns an index of the lines. Other texts may share the interner.
func newLineIndex(in *lineInterner, lines []string) *lineIndex {
	ids := in.lineIDs.LineIDs(lines)
	return &lineIndex{lines: lines, interner: in, ids: ids, postings: newLinePositions(ids, len(in.lineIDs))}
}

// barePostings returns where each line occurs in the text if white space is ignored. The index is the number of the
// line's text without white space.
func (p *lineIndex) barePostings() linePositions {
	if p.cachedBarePostings == nil {
		at := newLinePositions(p.interner.bareLineIDsOf(p.ids, p.lines), len(p.interner.bareLineIDs))
		p.cachedBarePostings = &at
	}
	return *p.cachedBarePostings
}

// newWordBag returns a word counter that compares the words of a block with the words in a window, which is a movable
// range of the text's lines. The window is empty at first. The index has only one such counter, so the counter that an
// earlier call returned becomes invalid.
func (p *lineIndex) newWordBag(block []string) *wordBag {
	if p.cachedWordBag == nil {
		p.cachedWordBag = newWordBag(p.lines, p.ids, p.interner)
	}
	p.cachedWordBag.setComparedBlock(block)
	return p.cachedWordBag
}

// enclosingLine returns the index of the line that encloses the line with index lineNo, or -1 if no line does.
func (p *lineIndex) enclosingLine(lineNo int) int {
	if p.enclosingIndexes == nil {
		p.enclosingIndexes = enclosingLines(p.lines)
	}
	return int(p.enclosingIndexes[lineNo])
}

// enclosingLines returns, for each line, the index of its enclosing line, or -1 without such a line. The enclosing
// line is the nearest line above that is less indented and contains a letter or digit. A blank line has the same
// enclosing line as the next line.
func enclosingLines(lines []string) []int32 {
	type open struct {
		line  int32
		depth int
	}
	var stack []open // lines that may enclose the line that is examined next, each indented deeper than the one before
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

// bareLineSet returns the set of the lines with indexes from to to-1, without their white space.
func (p *lineIndex) bareLineSet(from, to int) map[string]bool {
	set := map[string]bool{}
	for _, l := range p.lines[max(0, min(from, len(p.lines))):max(0, min(to, len(p.lines)))] {
		set[removeLineSpace(l)] = true
	}
	return set
}
