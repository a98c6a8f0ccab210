// Texts made safe to show, and colours.

package tui

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/screen"
)

// safe makes a text safe to show, and one line.
func safe(s string) string {
	return screen.Clean(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s))
}

// oneLine is safe without wide gaps.
func oneLine(s string) string { return strings.Join(strings.Fields(screen.Clean(s)), " ") }

// paint shows s in a colour, "" for none.
func paint(code, s string) string {
	if code == "" || s == "" {
		return s
	}
	return code + s + screen.Plain
}
