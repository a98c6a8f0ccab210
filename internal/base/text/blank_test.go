// This file tests LimitWhiteSpace, which limits the amount of consecutive white space in a stream.

package text

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestLimitBlank reads white space of several lengths between the tokens of a document, with short and long reads.
func TestLimitBlank(t *testing.T) {
	for _, length := range []int{0, 1, 4096, maxBlankBytes, 3 * maxBlankBytes} {
		for _, isShort := range []bool{false, true} {
			document := "[1," + strings.Repeat(" \n", length/2) + "2]"
			var r io.Reader = strings.NewReader(document)
			if isShort {
				r = iotest.HalfReader(r)
			}
			var got []int
			err := json.NewDecoder(LimitWhiteSpace(r)).Decode(&got)
			// LimitWhiteSpace fails only at the read after the limit, so more white space can be read
			isTooLong := length > 2*maxBlankBytes
			if (err != nil) != isTooLong {
				t.Errorf("%d bytes of white space, short reads %t: the error is %v", length, isShort, err)
			}
			if err == nil && len(got) != 2 {
				t.Errorf("%d bytes of white space: read %v", length, got)
			}
		}
	}
	got, err := io.ReadAll(
		LimitWhiteSpace(strings.NewReader(strings.Repeat(strings.Repeat(" ", maxBlankBytes/2)+"x", 8))),
	)
	if err != nil || len(got) != 8*(maxBlankBytes/2+1) {
		t.Errorf("white space with words between was limited: %d bytes, %v", len(got), err)
	}
}
