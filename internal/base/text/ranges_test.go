// This file tests the formatting of lists of numbers.

package text

import "testing"

func TestRanges(t *testing.T) {
	for _, tc := range []struct {
		numbers []uint64
		want    string
	}{
		{nil, ""},
		{[]uint64{7}, "7"},
		{[]uint64{2, 3}, "2, 3"},
		{[]uint64{2, 3, 4}, "2 to 4"},
		{[]uint64{1, 3, 4, 5, 9, 10, 12, 13, 14, 15}, "1, 3 to 5, 9, 10, 12 to 15"},
		{[]uint64{1<<64 - 2, 1<<64 - 1}, "18446744073709551614, 18446744073709551615"},
	} {
		if got := FormatRanges(tc.numbers); got != tc.want {
			t.Errorf("Ranges(%v) = %q, want %q", tc.numbers, got, tc.want)
		}
	}
}
