// This file composes the line that a hook shows before an agent edits a file or runs a command.

package inject

import "github.com/oxbow-memory/oxbow/internal/base/text"

// JoinPartsWithinTokenLimit returns a line that begins with lineHead, followed by parts from the beginning of the list
// parts, separated by " | ". It adds parts until the next part does not fit. Together with the tags around the line,
// the line has at most [maxShownTokensBeforeAction] tokens. If the first part is too long, it is shortened. The result
// partCount is the number of parts in the line. If no part fits, JoinPartsWithinTokenLimit returns "" and 0.
func JoinPartsWithinTokenLimit(lineHead string, parts []string) (line string, partCount int) {
	const fence = 12 // size of the tags that the hook puts around the line, in tokens
	fits := func(s string) bool { return text.EstimateTokens(s)+fence <= maxShownTokensBeforeAction }
	for i, p := range parts {
		next := lineHead + p
		if i > 0 {
			next = line + " | " + p
		}
		for size := len(p); i == 0 && !fits(next) && size > 0; {
			size = size * 3 / 4
			next = lineHead + text.TruncateWithEllipsis(p, size)
		}
		if !fits(next) {
			break
		}
		line, partCount = next, i+1
	}
	return line, partCount
}
