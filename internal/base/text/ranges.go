// This file formats lists of numbers.

package text

import (
	"strconv"
	"strings"
)

// FormatRanges formats sorted numbers as a list. Three or more consecutive numbers form a range, as in "2, 3, 7 to 9".
func FormatRanges(numbers []uint64) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		if end-i < 2 {
			end = i
			parts = append(parts, strconv.FormatUint(numbers[i], 10))
		} else {
			parts = append(parts, strconv.FormatUint(numbers[i], 10)+" to "+strconv.FormatUint(numbers[end], 10))
		}
		i = end + 1
	}
	return strings.Join(parts, ", ")
}
