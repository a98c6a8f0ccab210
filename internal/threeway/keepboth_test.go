// Tests of the merge that keeps both texts of a conflict.

package threeway

import (
	"slices"
	"testing"
)

func TestCutConflicts(t *testing.T) {
	side := []string{
		"a",
		conflictStartLine,
		"b",
		conflictMiddleLine,
		conflictEndLine,
		conflictMiddleLine,
		conflictStartLine,
		"c",
	}
	out, kept := replaceConflicts(side)
	if !slices.Equal(out, []string{"a", placeholderByte, conflictMiddleLine, conflictStartLine, "c"}) ||
		len(kept) != 1 ||
		len(kept[0]) != 2 {
		t.Errorf("replaceConflicts() = %q, %q", out, kept)
	}
}
