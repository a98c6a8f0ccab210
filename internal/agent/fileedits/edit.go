// This file creates edits from line ranges of a content.

package fileedits

import "github.com/oxbow-memory/oxbow/internal/code/annotate"

// stretch is a range of lines in a file after an edit.
type stretch struct {
	first, n int  // first is the line number, from 1 (n is 0 if lines were only removed before it)
	gone     bool // lines were only removed
}

// editsFrom returns an edit for each stretch of a content.
func (e Edit) editsFrom(content string, stretches []stretch) []Edit {
	lines := annotate.SplitLines([]byte(content))
	var out []Edit
	for _, s := range stretches {
		at := e
		at.N = len(out)
		at.Gone = s.gone
		at.Content = []byte(content)
		first, last := s.first, s.first+s.n-1
		if s.gone {
			first, last = s.first-1, s.first
		}
		first, last = max(first, 1), min(last, len(lines))
		if last < first {
			continue // the file is empty now
		}
		at.Span = annotate.Span{First: first, Last: last}
		at.Block = lines[first-1 : last]
		at.Before = lines[max(0, first-1-annotate.Context) : first-1]
		at.After = lines[last:min(len(lines), last+annotate.Context)]
		out = append(out, at)
	}
	return out
}

// stretchBetween returns the smallest stretch that contains all differences between two contents, or none
// if they are equal.
func stretchBetween(old, now string) []stretch {
	a, b := annotate.SplitLines([]byte(old)), annotate.SplitLines([]byte(now))
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
		return []stretch{{first: i + 1, n: n}}
	case len(a)-i-j > 0:
		return []stretch{{first: i + 1, gone: true}}
	}
	return nil
}
