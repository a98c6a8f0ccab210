// Tests of the merge that keeps both texts of a conflict.

package threeway

import (
	"slices"
	"testing"
)

func TestCutConflicts(t *testing.T) {
	side := []string{"a", conflictOpen, "b", conflictOr, conflictClose, conflictOr, conflictOpen, "c"}
	out, kept := replaceConflicts(side)
	if !slices.Equal(out, []string{"a", placeholder, conflictOr, conflictOpen, "c"}) || len(kept) != 1 ||
		len(kept[0]) != 2 {
		t.Errorf("replaceConflicts() = %q, %q", out, kept)
	}
}
