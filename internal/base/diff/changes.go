// This file lists the lines of two texts in one order.

package diff

import (
	"iter"
	"strings"
)

// Changes yields the lines of both texts in one order. The mark is ' ' for a line that both
// have, '-' for a line of the text before alone and '+' for a line of the text after alone.
func Changes(before, after string) iter.Seq2[byte, string] {
	return func(yield func(mark byte, line string) bool) {
		a, b := textLines(before), textLines(after)
		in := Interner{}
		j := 0
		for i, to := range new(Mapper).Map(in.Lines(a), in.Lines(b)) {
			if to < 0 {
				if !yield('-', a[i]) {
					return
				}
				continue
			}
			for ; j < to; j++ {
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
