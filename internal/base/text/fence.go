// This file quotes a text in a Markdown code block.

package text

import "strings"

// FenceCode returns s in a Markdown code block with the given info string. The fence has at least three backticks, and
// more than the longest run of backticks in s, so that no line in s can end the block.
func FenceCode(info, s string) string {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	f := strings.Repeat("`", max(3, longest+1))
	end := "\n"
	if s == "" || strings.HasSuffix(s, "\n") {
		end = ""
	}
	return f + info + "\n" + s + end + f + "\n"
}
