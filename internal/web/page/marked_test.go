// This file tests how untrusted text is shown.

package page

import (
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// TestVisible tests that pages replace the same characters as terminals, but keep those that emoji and scripts need.
func TestVisible(t *testing.T) {
	for r := range rune(0xe1000) {
		if termtext.IsHarmful(r) && VisibleText(string(r)) == string(r) {
			t.Errorf("%U is hidden", r)
		}
	}
	for _, s := range []string{"a\tb\n", "👩\u200d💻", "می\u200cخواهم"} {
		if got := VisibleText(s); got != s {
			t.Errorf("Visible(%q) = %q", s, got)
		}
	}
}
