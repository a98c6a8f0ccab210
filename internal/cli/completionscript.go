// This file makes the completion scripts of cobra safe. The original scripts evaluate the command line's words at each
// press of Tab. A pasted $(command) would then run before the person presses Enter.

package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// A scriptEdit replaces a text that occurs exactly once in a completion script.
type scriptEdit struct{ oldText, newText string }

// scriptEditsByShell contains the changes to each shell's completion script. The changed script offers no
// completions for a line with a character that could run a command, expand a variable or redirect output. In any
// other line, only quotes, backslashes and file name patterns are evaluated. The script for fish needs no change,
// because fish splits the line into words itself.
var scriptEditsByShell = map[string][]scriptEdit{
	"bash": {{`    # Use eval to handle any environment variables and such
    out=$(eval "${requestComp}" 2>/dev/null)
`, `    # Only quotes are evaluated: a line that could run a command gets no completions.
    case "${requestComp}" in
        *['$` + "`" + `();&|<>']* | *$'\n'*) out=":4" ;;
        *) out=$(eval "${requestComp}" 2>/dev/null) ;;
    esac
`}},
	"zsh": {{`    # Use eval to handle any environment variables and such
    out=$(eval ${requestComp} 2>/dev/null)
`, `    # Only quotes are evaluated: a line that could run a command gets no completions.
    case "${requestComp}" in
        *['$` + "`" + `();&|<>']* | *$'\n'*) out=":4" ;;
        *) out=$(eval ${requestComp} 2>/dev/null) ;;
    esac
`}},
	"fish": {{`    set -l lastArg (string escape -- (commandline -ct))
`, `    set -l lastArg (commandline -ct | string unescape)
    test (count $lastArg) -gt 0; or set lastArg (commandline -ct)
`}, {`    set -l requestComp "OXBOW_ACTIVE_HELP=0 $args[1] __complete $args[2..-1] $lastArg"

    __oxbow_debug "Calling $requestComp"
    set -l results (eval $requestComp 2> /dev/null)
`, `    set -lx OXBOW_ACTIVE_HELP 0
    set -l results ($args[1] __complete $args[2..-1] "$lastArg" 2> /dev/null)
`}},
	"powershell": {{`    Invoke-Expression -OutVariable out "$RequestComp" 2>&1 | Out-Null
`, `    # Only quotes are evaluated: a line that could run a command gets no completions.
    if ($RequestComp -match '[$();&|<>{}\r\n]') {
        return
    }
    Invoke-Expression -OutVariable out "$RequestComp" 2>&1 | Out-Null
`}},
}

// writeCompletionScript writes the completion script for a shell to w.
func writeCompletionScript(root *cobra.Command, shell string, w io.Writer) error {
	var script bytes.Buffer
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&script, true)
	case "zsh":
		err = root.GenZshCompletion(&script)
	case "fish":
		err = root.GenFishCompletion(&script, true)
	case "powershell", "pwsh":
		shell = "powershell"
		err = root.GenPowerShellCompletionWithDesc(&script)
	default:
		return usageErrorf("it writes scripts for bash, zsh, fish and powershell", "unknown shell %q", shell)
	}
	if err != nil {
		return err
	}
	text := script.String()
	for _, e := range scriptEditsByShell[shell] {
		if strings.Count(text, e.oldText) != 1 {
			return fmt.Errorf("the script for %s cannot be made safe: this version of cobra writes another one", shell)
		}
		text = strings.Replace(text, e.oldText, e.newText, 1)
	}
	_, err = io.WriteString(w, text)
	return err
}
