// FuseRankings combines two rankings into one. This file compares its results with rankings that were calculated by
// hand.

package ranking

import (
	"strings"
	"testing"
)

func TestFuse(t *testing.T) {
	for _, tt := range []struct {
		a, b, want string
	}{
		// The sum of a is 1/61 + 1/62, of c 1/63 + 1/61, of b 1/62, and of d 1/64.
		{"a b c d", "c a", "a c b d"},
		// The sum of x is 1/61 + 1/63 = .03227, of y 1/62 + 1/61 = .03252, and of z 1/63 + 1/62 = .03200.
		{"x y z", "y z x", "y x z"},
		// The first and the last rank together are worth more than two middle ranks: 1/61 + 1/63 > 2/62.
		{"a b c", "c b a", "a c b"},
		{"a b", "", "a b"},
		{"", "b a", "b a"},
		{"", "", ""},
		// Elements with equal sums are in the order of the first ranking that contains them.
		{"a b", "c d", "a c b d"},
	} {
		if got, _ := FuseRankings(strings.Fields(tt.a), strings.Fields(tt.b)); strings.Join(got, " ") != tt.want {
			t.Errorf("FuseRankings(%s; %s) = %v, want %s", tt.a, tt.b, got, tt.want)
		}
	}
}
