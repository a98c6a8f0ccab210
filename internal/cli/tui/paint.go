// This file cleans and colours text for the screen.

package tui

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// cleanLine makes a text safe to show, on one line.
func cleanLine(s string) string {
	return termtext.ReplaceHarmful(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s))
}

// oneLine is like cleanLine, but also joins consecutive spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(termtext.ReplaceHarmful(s)), " ") }

// paint returns s in a colour. If code is "", it returns s unchanged.
func paint(code, s string) string {
	if code == "" || s == "" {
		return s
	}
	return code + s + termtext.ResetStyle
}
