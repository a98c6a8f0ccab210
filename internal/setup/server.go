// This file describes the entries in clients' files that start a program as a server or hook.

package setup

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// programName is the name of oxbow's executable, and also the server's name in clients' files.
const programName = "oxbow"

// A Server is an entry that starts a program. There are three forms of the command: a word with a
// separate list of arguments, a list that includes the arguments, or a line for a shell.
type Server struct {
	Command     any               `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	Environment map[string]string `json:"environment"` // name of Env in opencode's files
	Bash        string            `json:"bash"`        // name of a shell line in Copilot's files
}

// Argv returns the command and its arguments.
func (s Server) Argv() []string {
	switch c := s.Command.(type) {
	case string:
		return append([]string{c}, s.Args...)
	case []any:
		var argv []string
		for _, a := range c {
			word, _ := a.(string)
			argv = append(argv, word)
		}
		return argv
	}
	return nil
}

// ownPrograms recognizes the programs that are oxbow.
type ownPrograms struct {
	paths     []string // programs that are running now or that setup wrote into files, whatever their names are
	isWindows bool     // paths are compared without regard to case
}

// oxbowName matches the names under which oxbow is installed, such as oxbow and oxbow-1.2.
var oxbowName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + programName + `([-_.]?v?[0-9].*)?$`)
})

// isOxbow reports whether a path leads to oxbow, with the path syntax of any system. A program with another name
// counts as oxbow if the program is running now, or if setup wrote this path.
func (own ownPrograms) isOxbow(path string) bool {
	base := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	if oxbowName().MatchString(strings.TrimSuffix(base, ".exe")) {
		return true
	}
	return slices.ContainsFunc(own.paths, func(p string) bool {
		isSame := p == path || (own.isWindows && strings.EqualFold(p, path))
		return isSame || (filepath.IsAbs(path) && filepath.IsAbs(p) && sameFile(p, path))
	})
}

// sameFile reports whether two paths lead to the same file.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	fa, aerr := os.Stat(a)
	fb, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(fa, fb)
}

// isServerEntry reports whether the entry starts oxbow as a server.
func (own ownPrograms) isServerEntry(s Server) bool {
	argv := s.Argv()
	return len(argv) > 1 && own.isOxbow(argv[0]) && slices.Contains(argv[1:], "mcp")
}

// isHookEntry reports whether the entry is oxbow's hook for that client.
func (own ownPrograms) isHookEntry(s Server, client string) bool {
	argv := s.Argv()
	if line, ok := s.Command.(string); ok && len(s.Args) == 0 {
		argv = splitCommandLine(strings.TrimSuffix(line, exitOneSuffix))
	} else if s.Command == nil {
		argv = splitCommandLine(s.Bash)
	}
	i := slices.Index(argv, "hook")
	return i > 0 && i == len(argv)-2 && own.isOxbow(argv[0]) && argv[i+1] == client
}

// splitCommandLine splits the command line of a hook that [commandLine] wrote for any shell.
func splitCommandLine(line string) (all []string) {
	line = strings.ReplaceAll(strings.TrimPrefix(line, "& "), `'\''`, escapedQuote)
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	for i, w := range all {
		all[i] = strings.ReplaceAll(w, escapedQuote, "'")
	}
	return all
}

// escapedQuote represents an escaped quote while splitCommandLine splits a line.
const escapedQuote = "\x00"

// shellKind is a shell that runs the command line of a hook.
type shellKind int

const (
	posixShell shellKind = iota
	cmdShell
	powerShell
)

// exitOneSuffix follows a hook's command for Gemini CLI, which refuses the prompt if a hook ends with a status
// above 1. A shell has such a status if the program is gone. PowerShell has the status 1, with which the client
// warns.
const exitOneSuffix = " || exit 1"

// commandLine quotes a command for a shell.
func commandLine(sh shellKind, argv []string) string {
	if sh == posixShell {
		quoted := make([]string, len(argv))
		for i, w := range argv {
			quoted[i] = text.PosixQuote(w)
		}
		return strings.Join(quoted, " ")
	}
	line, call := "", ""
	for i, w := range argv {
		if i > 0 {
			line += " "
		}
		switch {
		case strings.Trim(w, `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:\/`) == "":
			line += w
		case sh == powerShell:
			line += "'" + strings.ReplaceAll(w, "'", "''") + "'"
			call = chooseIf(i == 0, "& ", call)
		default:
			line += `"` + w + `"` // paths on Windows cannot contain quotes
		}
	}
	return call + line
}

// Home returns the home that the command line or the environment specifies, or "".
func (s Server) Home() string {
	home := cmp.Or(s.Env["OXBOW_HOME"], s.Environment["OXBOW_HOME"])
	argv := s.Argv()
	for i, a := range argv {
		if v, ok := strings.CutPrefix(a, "--home="); ok {
			home = v
		} else if a == "--home" && i+1 < len(argv) {
			home = argv[i+1]
		}
	}
	return home
}
