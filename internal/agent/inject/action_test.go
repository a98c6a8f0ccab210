// This file tests the line of text that an agent is shown before it acts. The line must stay within the limit of
// tokens.

package inject

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

func TestLine(t *testing.T) {
	word := strings.Repeat("word ", 30)
	for _, tt := range []struct {
		name  string
		parts []string
		held  int
	}{
		{"none", nil, 0},
		{"one", []string{"a"}, 1},
		{"all fit", []string{"a", "b", "c"}, 3},
		{"some fit", []string{word, word, word, word, word, word}, 3},
		{"the first is cut", []string{strings.Repeat(word, 20), "b"}, 2},
		{"without spaces", []string{strings.Repeat("語", 2000)}, 1},
	} {
		line, held := JoinPartsWithinTokenLimit("Head: ", tt.parts)
		if n := text.EstimateTokens(line); held != tt.held || n+12 > maxShownTokensBeforeAction ||
			(line != "") != (tt.held > 0) ||
			(held > 0 && !strings.HasPrefix(line, "Head: "+tt.parts[0][:1])) {
			t.Errorf("%s: %d parts in %d tokens: %s", tt.name, held, n, line)
		}
	}
}
