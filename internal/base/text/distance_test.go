// Edit distance.

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
		{"kitten", "sitting", 3}, // k→s, e→i, +g
		{"abcd", "acbd", 1},      // one swap
		{"ca", "abc", 3},         // 2 if the swapped could be parted again
		{"日本", "本日", 1},
		{strings.Repeat("a", 99) + "xy", strings.Repeat("a", 99) + "yx", 1}, // longer than the buffer
	}
	for _, tt := range tests {
		if got := EditDistance([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("EditDistance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
