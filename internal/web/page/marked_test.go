// What of a text is shown.

package page

import (
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// Pages show what a terminal escapes, and leave what emoji and scripts need.
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
