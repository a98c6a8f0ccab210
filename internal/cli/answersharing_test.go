// This file compares the answers of further commands with golden files. These commands need a server, a damaged file,
// a dump, a file of another program, or team files.

package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharingCommands contains the command lines that the test runs, in this order. The word URL stands for the address of
// a server. The words write, append and damage are not commands of oxbow: they write a file, append to a file, and
// change a byte in a file.
var sharingCommands = [][]string{
	{"push", "URL", "--token-file", "token", "--dry-run"}, {"push", "URL", "--token-file", "token"}, {"push"},
	{"pull", "URL", "--token-file", "token", "--home", "other"}, {"pull", "--home", "other"}, {"remote"},
	{"remember", "deploy", "We ship on Tuesdays.", "--home", "other", "-q"},
	{"remember", "deploy", "We ship on Sundays.", "-q"}, {"push"},
	{"push", "--home", "other"}, {"pull", "--home", "other", "--dry-run"}, {"pull", "--home", "other"},
	{"remote", "forget", "URL", "--dry-run"}, {"remote", "forget", "URL"},

	{"inject", "off"}, {"inject", "off"}, {"inject", "status"}, {"inject", "on"}, {"inject", "on"},

	{"dump", "notes"}, {"load", "notes"},
	{"write", "notes/stray.md", "Soup.\n"}, {"write", "notes/notes/tea.md", "# Tea\n\nGreen.\n"},
	{"append", "notes/notes/deploy.md", "Never at night.\n"}, {"remember", "rules", "Spaces.", "-q"},
	{"load", "notes", "--dry-run"}, {"load", "notes"}, {"load", "notes"},

	{"write", "vault/one.md", "# One\n\nThe first note.\n"}, {"write", "vault/none.bin", "x"},
	{"import", "vault", "--dry-run"}, {"import", "vault"}, {"import", "vault"},
	{"convert", "crab", "--to", "crabtalk"}, {"convert", "crab", "--to", "crabtalk", "--adapt", "--dry-run"},
	{"remember", "ship", "We ship on Tuesdays.", "--project", "harbor", "-q"},
	{"remember", "ships", "We ship on Tuesdays.", "--project", "harbor", "-q"},
	{"consolidate", "--dry-run"}, {"consolidate"},
	{"remember", "key", "the key is AKIAQ3EGSDPPX4NZLPWX", "--allow-secret", "-q"}, {"scan"},
	{"scan", "--fix", "--dry-run"}, {"scan", "--fix", "--yes"},
	{"fix"}, {"profile", "new", "lore", "--tag", "none"}, {"profile", "tokens", "lore"},
	{"profile", "diff", "lore", "ops"},
	{"session", "import"}, {"why", "--diff"},

	{"team", "trust"}, {"team", "init", "--dry-run"}, {"team", "init"}, {"team", "share", "ship", "--dry-run"},
	{"write", ".oxbow/team/00000000000000000000000001.md", "no front matter\n"},
	{"team", "status"}, {"team", "check"}, {"team", "trust", "--list"}, {"team", "trust", "--forget"},
	{"team", "trust", "--dry-run"},

	{"recover"}, {"damage", "other/memory.oxbow", "We ship on Tuesdays."}, {"recover", "--home", "other"},
	{"recover", "--home", "other", "--replace"}, {"recover", "--home", "other", "--accept"},
}

func TestAnswersOfSharing(t *testing.T) {
	for _, mode := range []struct {
		name     string
		terminal bool
		flags    []string
	}{
		{"terminal", true, nil}, {"pipe", false, nil}, {"quiet", false, []string{"--quiet"}},
		{"json", false, []string{"--json"}},
	} {
		t.Run(mode.name, func(t *testing.T) {
			w := answersWorld(t)
			w.env.TerminalWidth = 80
			w.write(t, "token", "a-long-secret-of-ada\n")
			w.write(t, "tokens", "ada  a-long-secret-of-ada  rw  tenant=acme\n")
			for _, name := range []string{"token", "tokens"} {
				if err := os.Chmod(filepath.Join(w.dir, name), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := &street{world: w, links: map[string]string{}}
			s.serve(t, "serve", "--home", filepath.Join(w.dir, "srv"), "--tokens", filepath.Join(w.dir, "tokens"),
				"--http", "127.0.0.1:0")
			var b strings.Builder
			for _, args := range sharingCommands {
				switch args[0] {
				case "write":
					w.write(t, args[1], args[2])
					continue
				case "append":
					old, err := os.ReadFile(filepath.Join(w.dir, args[1]))
					if err != nil {
						t.Fatal(err)
					}
					w.write(t, args[1], string(old)+args[2])
					continue
				case "damage":
					damageFile(t, filepath.Join(w.dir, args[1]), args[2])
					continue
				}
				typed := make([]string, len(args))
				for i, arg := range args {
					typed[i] = strings.ReplaceAll(arg, "URL", s.url)
				}
				w.env.IsStdoutTerminal = mode.terminal
				status, out, errs := w.run(t, append(typed, mode.flags...)...)
				fmt.Fprintf(&b, "\n$ oxbow %q\n%s", args, visible(out))
				if errs != "" {
					fmt.Fprintf(&b, "--- standard error\n%s", visible(errs))
				}
				if status != 0 {
					fmt.Fprintf(&b, "--- status %d\n", status)
				}
			}
			goldenAnswers(t, w, "sharing-"+mode.name+".txt", b.String())
			w.env.IsStdoutTerminal = false
			w.must(t, "check")
		})
	}
}

// damageFile changes the first byte of the place at which a text occurs in a file.
func damageFile(t *testing.T, file, text string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(b, []byte(text))
	if i < 0 {
		t.Fatalf("%s does not contain %q", file, text)
	}
	b[i] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
