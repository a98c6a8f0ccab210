// This file tests that a completion never runs a part of the command line.

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// activeWords contains words that create the file ran if a shell evaluates them.
var activeWords = []string{"$(touch ran)", "`touch ran`", "x;touch ran;", "x&touch ran&", "x|touch ran", ">ran",
	"<(touch ran)", "x\ntouch ran"}

// completers contains for each shell a script that completes a command line and prints the offered words. ORIGIN
// stands for oxbow's completion script, and WORD for the word before the one that is completed.
var completers = map[string]string{
	"bash": `_get_comp_words_by_ref() { cur="${COMP_WORDS[COMP_CWORD]}"; prev="${COMP_WORDS[COMP_CWORD-1]}"; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
__ltrim_colon_completions() { :; }
compopt() { :; }
oxbow() { printf 'walrus\n:4\n'; }
source "$ORIGIN"
COMP_WORDS=(oxbow get "$WORD" ''); COMP_CWORD=3; COMP_LINE="oxbow get $WORD "; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
__start_oxbow
printf '%s\n' "${COMPREPLY[@]}"
`,
	"zsh": `compdef() { :; }
oxbow() { printf 'walrus\n:4\n'; }
_describe() { print -l -- $completions; }
source "$ORIGIN"
words=(oxbow get "$WORD" ''); CURRENT=4
_oxbow
`,
	"fish": `function oxbow; printf 'walrus\n:4\n'; end
source $ORIGIN
complete -C "oxbow get $WORD "
`,
}

func TestTabRunsNothing(t *testing.T) {
	for shell, script := range completers {
		t.Run(shell, func(t *testing.T) {
			testenv.RequireProgram(t, shell, "install "+shell)
			w := newWorld(t)
			origin := filepath.Join(t.TempDir(), "script")
			status, text, stderr := w.run(t, "completion", shell)
			if err := os.WriteFile(origin, []byte(text), 0o600); err != nil || status != 0 {
				t.Fatal(status, stderr, err)
			}
			complete := func(word string) (offered string, hasRun bool) {
				dir := t.TempDir()
				cmd := exec.Command(shell, "-c", script)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "ORIGIN="+origin, "WORD="+word, "HOME="+dir)
				out, err := cmd.CombinedOutput()
				if err != nil && shell == "bash" {
					t.Logf("%s with %q: %v", shell, word, err)
				}
				_, err = os.Stat(filepath.Join(dir, "ran"))
				return string(out), err == nil
			}
			if offered, _ := complete("'a name'"); !strings.Contains(offered, "walrus") {
				t.Errorf("after an ordinary word, walrus is not offered but %q", offered)
			}
			for _, word := range activeWords {
				if offered, hasRun := complete(word); hasRun {
					t.Errorf("a Tab after %q runs it, and offers %q", word, offered)
				}
			}
		})
	}
}

// TestIsActive tests that hasShellSyntax returns true for words that a shell would execute or interpret if the words
// were inserted without quotes.
func TestIsActive(t *testing.T) {
	for word, want := range map[string]bool{"walrus": false, "deploy (2)": false, "project:a": false, "it's": false,
		"$(touch x)": true, "`x`": true, "a;b": true, "a\nb": true, "a\x1bb": true} {
		if hasShellSyntax(word) != want {
			t.Errorf("hasShellSyntax(%q) = %t, want %t", word, !want, want)
		}
	}
}
