// This file tests the edit distance.

package text

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"kitten", "sitting", 3}, // The errors are k→s, e→i and +g.
		{"abcd", "acbd", 1},      // The error is a swap.
		{"ca", "abc", 3},         // It would be 2 if "ca" could become "ac" and then get a b in the middle.
		{"日本", "本日", 1},
		// These texts are longer than the buffer on the stack.
		{strings.Repeat("a", 99) + "xy", strings.Repeat("a", 99) + "yx", 1},
	}
	for _, tt := range tests {
		if got := EditDistance([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("EditDistance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
