// What stands before an action: one line.

package inject

import "github.com/oxbow-memory/oxbow/internal/base/text"

// Line joins parts on one line after a head, as many as [actionTokens] hold, of which
// the first is cut to fit, and returns how many it holds; "" for none.
func Line(head string, parts []string) (line string, held int) {
	const fence = 12 // tokens
	fits := func(s string) bool { return text.EstimateTokens(s)+fence <= actionTokens }
	for i, p := range parts {
		next := head + p
		if i > 0 {
			next = line + " | " + p
		}
		for size := len(p); i == 0 && !fits(next) && size > 0; {
			size = size * 3 / 4
			next = head + text.Clip(p, size)
		}
		if !fits(next) {
			break
		}
		line, held = next, i+1
	}
	return line, held
}
