// Compares fused rankings with some worked out by hand.

package ranking

import (
	"strings"
	"testing"
)

func TestFuse(t *testing.T) {
	for _, tt := range []struct {
		a, b, want string
	}{
		// a is worth 1/61 + 1/62, c 1/63 + 1/61, b 1/62, d 1/64.
		{"a b c d", "c a", "a c b d"},
		// x is worth 1/61 + 1/63 = .03227, y 1/62 + 1/61 = .03252, z 1/63 + 1/62
		// = .03200.
		{"x y z", "y z x", "y x z"},
		// The ends gain more than the middle loses: 1/61 + 1/63 > 2/62.
		{"a b c", "c b a", "a c b"},
		{"a b", "", "a b"},
		{"", "b a", "b a"},
		{"", "", ""},
		// Equal worth: as met.
		{"a b", "c d", "a c b d"},
	} {
		if got, _ := FuseRankings(strings.Fields(tt.a), strings.Fields(tt.b)); strings.Join(got, " ") != tt.want {
			t.Errorf("FuseRankings(%s; %s) = %v, want %s", tt.a, tt.b, got, tt.want)
		}
	}
}
