// This file makes text safe for the screen and colours it.

package tui

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// escapeLine returns s on one line, without characters that could control the terminal.
func escapeLine(s string) string {
	return termtext.EscapeHarmfulRunes(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s))
}

// joinLines is like escapeLine, but also replaces each run of white space by one space.
func joinLines(s string) string {
	return strings.Join(strings.Fields(termtext.EscapeHarmfulRunes(s)), " ")
}

// styleText returns s in the color that the string code sets. The string code is an escape sequence of the terminal. If
// code or s is "", styleText returns s unchanged.
func styleText(code, s string) string {
	if code == "" || s == "" {
		return s
	}
	return code + s + termtext.ResetStyle
}
