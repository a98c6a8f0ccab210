// This file composes the line that is shown before an action.

package inject

import "github.com/oxbow-memory/oxbow/internal/base/text"

// ActionLine returns head and as many parts as fit in [actionTokens], joined to a single line. partCount is
// the number of these parts. The first part is shortened if necessary. Without a part that fits, it
// returns "" and 0.
func ActionLine(head string, parts []string) (line string, partCount int) {
	const fence = 12 // tokens
	fits := func(s string) bool { return text.EstimateTokens(s)+fence <= actionTokens }
	for i, p := range parts {
		next := head + p
		if i > 0 {
			next = line + " | " + p
		}
		for size := len(p); i == 0 && !fits(next) && size > 0; {
			size = size * 3 / 4
			next = head + text.TruncateWithEllipsis(p, size)
		}
		if !fits(next) {
			break
		}
		line, partCount = next, i+1
	}
	return line, partCount
}
