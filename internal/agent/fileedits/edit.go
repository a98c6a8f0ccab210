// This file creates edits from line ranges of a file's content.

package fileedits

import "github.com/oxbow-memory/oxbow/internal/code/annotate"

// lineRange is a range of lines in a file's content after an edit.
type lineRange struct {
	// The first line's number, from 1, and the number of lines. If lines were only removed, firstLine is the line after
	// them, and lineCount is not used.
	firstLine, lineCount int
	isRemoval            bool // The edit only removed lines and inserted none.
}

// editsInRanges returns a copy of the edit e for each line range in the text content. If a range describes a removal,
// the returned edit covers the line before the removed lines and the line after them. A range without any such line is
// skipped.
func (e Edit) editsInRanges(content string, ranges []lineRange) []Edit {
	lines := annotate.SplitLines([]byte(content))
	var out []Edit
	for _, s := range ranges {
		at := e
		at.NumberInCall = len(out)
		at.IsRemovalOnly = s.isRemoval
		at.Content = []byte(content)
		first, last := s.firstLine, s.firstLine+s.lineCount-1
		if s.isRemoval {
			first, last = s.firstLine-1, s.firstLine
		}
		first, last = max(first, 1), min(last, len(lines))
		if last < first {
			// The agent removed all lines, so the file contains no line to which the removal could be attached.
			continue
		}
		at.Span = annotate.LineSpan{First: first, Last: last}
		at.NewLines = lines[first-1 : last]
		at.LinesBefore = lines[max(0, first-1-annotate.ContextLines) : first-1]
		at.LinesAfter = lines[last:min(len(lines), last+annotate.ContextLines)]
		out = append(out, at)
	}
	return out
}

// findChangedRange returns a list with the smallest line range of newText that contains all differences from oldText.
// The list is empty if the texts are equal.
func findChangedRange(oldText, newText string) []lineRange {
	a, b := annotate.SplitLines([]byte(oldText)), annotate.SplitLines([]byte(newText))
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	switch n := len(b) - i - j; {
	case n > 0:
		return []lineRange{{firstLine: i + 1, lineCount: n}}
	case len(a)-i-j > 0:
		return []lineRange{{firstLine: i + 1, isRemoval: true}}
	}
	return nil
}
