// This file tests the sessions in README.md and docs. It runs their commands, and compares the output with the pages.

package cli

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updatePages = flag.Bool("update-pages", false, "write what the commands print into README.md and docs")

// pageBlock matches a part of a page that runs commands. Such a part is a session in a fence of three or four
// backticks with the word console, or an HTML comment. A comment begins with "run" and contains commands, or consists
// of "serve" and starts a server.
var pageBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$|^````console\n(.*?)^````$|" +
	"^<!-- run\n(.*?)^-->$|^<!-- (serve) -->$")

// outputSkip is a line in the expected output of a session. It stands for any number of lines in the real output.
const outputSkip = "…"

// volatile contains patterns for the parts of an output that differ from run to run, with their replacements.
var volatile = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)`), "TIMESTAMP"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "DATE"},
	{regexp.MustCompile(`\b\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{7,}\b`), "HEX"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "HEX"},
	{regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b`), "ULID"},
	{regexp.MustCompile(`\b(now|\d+ ?(ms|s|m|h|d))\b`), "AGE"},
	{regexp.MustCompile(`[\d.]+ (bytes|kB|MB|GB)\b`), "SIZE"},
	{regexp.MustCompile(`curl/[\d.]+`), "curl"},
	// The turns of sessions contain the project's path. Its length differs between runs and changes their scores.
	{regexp.MustCompile(`\d+\.\d\d · history`), "SCORE · history"},
	{regexp.MustCompile(`(\d\.\d{4})\d+`), "$1"}, // The last digits depend on the processor.
	{regexp.MustCompile(`"next":"[^"]*"`), "CURSOR"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

// stableOutput replaces the parts of an output that differ from run to run.
func stableOutput(s string) string {
	for _, v := range volatile {
		s = v.pattern.ReplaceAllString(s, v.replacement)
	}
	lines := strings.Split(strings.Trim(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// matchesOutput reports whether the argument output equals the argument shown, the output in a page. It ignores
// differences that stableOutput removes from both. A line "…" in shown matches any number of lines, also none.
func matchesOutput(shown, output string) bool {
	var pattern strings.Builder
	pattern.WriteString("^")
	for line := range strings.SplitSeq(stableOutput(shown), "\n") {
		if strings.TrimSpace(line) == outputSkip {
			pattern.WriteString(`(?s:.*?\n)??`)
			continue
		}
		pattern.WriteString(regexp.QuoteMeta(line) + "\n")
	}
	pattern.WriteString("$")
	return regexp.MustCompile(pattern.String()).MatchString(stableOutput(output) + "\n")
}

// shownCommand is a command in a session, with the output that the page shows.
type shownCommand struct {
	line   string
	output string
}

// parseSession splits a session into its commands. A line that begins with a prompt begins a command. A command that
// ends in a backslash continues on the next line.
func parseSession(session string) (all []shownCommand) {
	continued := false
	for line := range strings.Lines(session) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			all = append(all, shownCommand{line: command})
		case len(all) == 0:
			continue
		case continued:
			all[len(all)-1].line += line
		default:
			all[len(all)-1].output += line
			continue
		}
		continued = strings.HasSuffix(strings.TrimRight(line, "\n"), `\`)
	}
	return all
}

// pageShell is the shell of a person who types the commands of a documentation page. It has an empty home directory.
type pageShell struct {
	dir  string // home directory, which the output shows as /home/ada
	wd   string
	port string // port of the server, which the output shows as 8333
}

func newPageShell(t *testing.T) *pageShell {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return &pageShell{dir: dir, wd: dir, port: port}
}

func (s *pageShell) command(line string) *exec.Cmd {
	line = strings.ReplaceAll(line, ":8333", ":"+s.port)
	// Save the working directory and the variables for the next command.
	cmd := exec.Command("sh", "-c", "set -a; test ! -f \"$HOME/.vars\" || . \"$HOME/.vars\"\n"+line+
		"\nstatus=$?; pwd >\"$HOME/.wd\"; export -p >\"$HOME/.vars\"; exit $status")
	cmd.Dir = s.wd
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasPrefix(name, "OXBOW_"), strings.HasPrefix(name, "XDG_"), strings.HasPrefix(name, "GIT_"):
		case name == "NO_COLOR", name == "EDITOR", name == "VISUAL":
		default:
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "PWD="+s.wd, "HOME="+s.dir, "USER=ada", "TZ=UTC", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org")
	return cmd
}

// run runs a command line, and returns its output. It replaces the test's directory, the path of oxbow and the server's
// port by those that the documentation page shows.
func (s *pageShell) run(t *testing.T, line string) string {
	t.Helper()
	out, err := s.command(line).CombinedOutput()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	if wd, err := os.ReadFile(filepath.Join(s.dir, ".wd")); err == nil {
		s.wd = strings.TrimSpace(string(wd))
	}
	shown := strings.ReplaceAll(string(out), s.dir, "/home/ada")
	if program, err := exec.LookPath("oxbow"); err == nil {
		shown = strings.ReplaceAll(shown, program, "/usr/local/bin/oxbow")
	}
	return strings.ReplaceAll(shown, ":"+s.port, ":8333")
}

// serve starts a server in the working directory and waits until it answers.
func (s *pageShell) serve(t *testing.T) {
	t.Helper()
	cmd := s.command("exec oxbow serve --http 127.0.0.1:8333")
	messages, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	lines := bufio.NewScanner(messages)
	for lines.Scan() {
		if strings.Contains(lines.Text(), ":"+s.port) {
			go func() {
				for lines.Scan() {
				}
			}()
			return
		}
	}
	t.Fatal("oxbow serve ended before it said its address")
}

// TestPageSessions tests that the commands in the sessions of README.md and docs print the output that the pages show.
func TestPageSessions(t *testing.T) {
	t.Parallel()
	notRaced(t)
	if _, err := exec.LookPath("sh"); err != nil || filepath.Separator != '/' {
		t.Skip("the pages are written for a Unix shell")
	}
	commands := 0
	for name, text := range pages(t) {
		if !pageBlock.MatchString(text) {
			continue
		}
		commands += strings.Count(text, "\n$ ")
		t.Run(strings.TrimSuffix(name, ".md"), func(t *testing.T) {
			for _, program := range []string{"curl", "git"} {
				if _, err := exec.LookPath(program); err != nil && strings.Contains(text, program+" ") {
					t.Skipf("%s uses %s, which is not installed", name, program)
				}
			}
			shell := newPageShell(t)
			updated := pageBlock.ReplaceAllStringFunc(text, func(block string) string {
				parts := pageBlock.FindStringSubmatch(block)
				switch {
				case parts[4] != "":
					shell.serve(t)
					return block
				case parts[3] != "":
					shell.run(t, parts[3])
					return block
				}
				var session strings.Builder
				for _, c := range parseSession(parts[1] + parts[2]) {
					output := shell.run(t, c.line)
					if matchesOutput(c.output, output) {
						output = c.output
					} else if !*updatePages {
						t.Errorf("%s: %s prints\n%s\nand the page shows\n%s", name, c.line, output, c.output)
					}
					if output != "" && !strings.HasSuffix(output, "\n") {
						output += "\n"
					}
					fmt.Fprintf(&session, "$ %s%s", c.line, output)
				}
				fence := "```"
				if strings.Contains(session.String(), "\n```") {
					fence = "````" // Use a longer fence, because the output contains fences.
				}
				return fence + "console\n" + session.String() + fence
			})
			if *updatePages && updated != text {
				writePage(t, name, updated)
			}
		})
	}
	if commands < 100 {
		t.Errorf("the pages show %d commands, want at least 100", commands)
	}
}

func writePage(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join(repository, "docs", name)
	if name == "README.md" {
		file = filepath.Join(repository, name)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMatchesOutput(t *testing.T) {
	for _, c := range []struct {
		shown, output string
		want          bool
	}{
		{"", "", true},
		{"forgot a\n", "forgot a\n", true},
		{"forgot a\n", "forgot b\n", false},
		{"forgot a\n", "forgot a\nforgot b\n", false},
		{"  2  2026-11-28 12:21  person\n", "    2  2027-01-02 00:01  person\n", true},
		{"…\nlast\n", "first\nlast\n", true},
		{"first\n…\n", "first\n", true},
		{"first\n…\nlast\n", "first\nmore\n", false},
	} {
		if got := matchesOutput(c.shown, c.output); got != c.want {
			t.Errorf("matchesOutput(%q, %q) = %t, want %t", c.shown, c.output, got, c.want)
		}
	}
}
