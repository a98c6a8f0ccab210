// This file contains the hook scripts that setup writes for Cline.

package setup

import "strings"

// A hook script of Cline consists of clineHookStart, the command that reports the event, and clineHookEnd.
const (
	clineHookStart = "#!/bin/sh\n# Written by oxbow setup: reports this event to oxbow.\nanswer=$("
	clineHookEnd   = ")\n" + `[ -n "$answer" ] || answer='{"cancel":false}'` + "\n" + `printf '%s\n' "$answer"` + "\n"
)

// isClineHookScript reports whether a text is a hook script of Cline as setup writes it, with any command.
func isClineHookScript(text string) bool {
	rest, hasStart := strings.CutPrefix(text, clineHookStart)
	command, hasEnd := strings.CutSuffix(rest, clineHookEnd)
	return hasStart && hasEnd && !strings.Contains(command, "\n")
}
