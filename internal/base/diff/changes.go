// This file compares two texts line by line, and lists the common and the changed lines.

package diff

import (
	"iter"
	"strings"
)

// DiffLines yields the lines of both texts in order, each with a mark. The mark is ' ' for a line in both texts, '-'
// for a line only in before, and '+' for a line only in after.
func DiffLines(before, after string) iter.Seq2[byte, string] {
	return func(yield func(mark byte, line string) bool) {
		a, b := textLines(before), textLines(after)
		interner := LineNumberer{}
		j := 0
		for i, index := range new(LineMapper).MapEqualLines(interner.LineIDs(a), interner.LineIDs(b)) {
			if index < 0 {
				if !yield('-', a[i]) {
					return
				}
				continue
			}
			for ; j < index; j++ {
				if !yield('+', b[j]) {
					return
				}
			}
			if !yield(' ', a[i]) {
				return
			}
			j++
		}
		for ; j < len(b); j++ {
			if !yield('+', b[j]) {
				return
			}
		}
	}
}

func textLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
