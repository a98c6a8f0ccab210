// This file cleans and colours text for the screen.

package tui

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/screen"
)

// safe makes a text safe to show, on one line.
func safe(s string) string {
	return screen.Clean(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s))
}

// oneLine is like safe, but also joins consecutive spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(screen.Clean(s)), " ") }

// paint returns s in a colour. If code is "", it returns s unchanged.
func paint(code, s string) string {
	if code == "" || s == "" {
		return s
	}
	return code + s + screen.Plain
}
