// This file describes the entries in clients' files that start a program as a server or as a hook.

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

// programName is the name of oxbow's executable. It is also the name of oxbow's MCP server in clients' files.
const programName = "oxbow"

// A Server is an entry in a client's file that starts a program. The command has three possible forms: a word with a
// separate argument list, a list that contains the arguments, or a line for a shell.
type Server struct {
	Command any               `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	// the environment in opencode's files, which use another name for Env
	Environment map[string]string `json:"environment"`
	BashCommand string            `json:"bash"` // a shell line in Copilot's files
}

// Argv returns the command and its arguments as separate words.
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

// oxbowPrograms recognizes the programs that count as oxbow.
type oxbowPrograms struct {
	paths     []string // paths of the running program and the programs in setup's records, whatever their names are
	isWindows bool     // compare paths without regard to case
}

// oxbowNamePattern matches the names under which oxbow is installed, such as oxbow and oxbow-1.2.
var oxbowNamePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + programName + `([-_.]?v?[0-9].*)?$`)
})

// isOxbow reports whether the path is the path of an oxbow program. The path may have the syntax of any operating
// system. It counts as an oxbow program if its file name is a name of oxbow, or if own.paths contains the path or
// another path to the same file. own.paths contains the running program and the programs whose paths setup wrote into
// files.
func (own oxbowPrograms) isOxbow(path string) bool {
	base := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	if oxbowNamePattern().MatchString(strings.TrimSuffix(base, ".exe")) {
		return true
	}
	return slices.ContainsFunc(own.paths, func(p string) bool {
		isSame := p == path || (own.isWindows && strings.EqualFold(p, path))
		return isSame || (filepath.IsAbs(path) && filepath.IsAbs(p) && sameFile(p, path))
	})
}

// sameFile reports whether two paths are equal or lead to the same existing file.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	fa, aerr := os.Stat(a)
	fb, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(fa, fb)
}

// isServerEntry reports whether the entry starts oxbow as an MCP server.
func (own oxbowPrograms) isServerEntry(s Server) bool {
	argv := s.Argv()
	return len(argv) > 1 && own.isOxbow(argv[0]) && slices.Contains(argv[1:], "mcp")
}

// isHookEntry reports whether the entry is oxbow's hook for the client.
func (own oxbowPrograms) isHookEntry(s Server, client string) bool {
	argv := s.Argv()
	if line, ok := s.Command.(string); ok && len(s.Args) == 0 {
		argv = splitCommandLine(strings.TrimSuffix(line, failOnErrorSuffix))
	} else if s.Command == nil {
		argv = splitCommandLine(s.BashCommand)
	}
	i := slices.Index(argv, "hook")
	return i > 0 && i == len(argv)-2 && own.isOxbow(argv[0]) && argv[i+1] == client
}

// splitCommandLine returns the words of a command line. The line must have been written by [commandLine], for any
// shell.
func splitCommandLine(line string) (all []string) {
	line = strings.ReplaceAll(strings.TrimPrefix(line, "& "), `'\''`, escapedQuotePlaceholder)
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
		all[i] = strings.ReplaceAll(w, escapedQuotePlaceholder, "'")
	}
	return all
}

// escapedQuotePlaceholder stands for an escaped quotation mark while splitCommandLine splits a line.
const escapedQuotePlaceholder = "\x00"

// shellKind is the kind of shell that runs a hook's command line.
type shellKind int

const (
	shellKindPOSIX shellKind = iota
	shellKindCmd
	shellKindPowerShell
)

// failOnErrorSuffix is appended to a hook's command for Gemini CLI, which refuses the prompt if a hook exits with a
// status above 1. A shell exits with such a status if the program does not exist. With the suffix, the status is 1,
// and Gemini CLI only warns. PowerShell exits with 1 anyway.
const failOnErrorSuffix = " || exit 1"

// commandLine returns a command as a line for a shell, with the necessary quotation marks.
func commandLine(sh shellKind, argv []string) string {
	if sh == shellKindPOSIX {
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
		case sh == shellKindPowerShell:
			line += "'" + strings.ReplaceAll(w, "'", "''") + "'"
			call = choose(i == 0, "& ", call)
		default:
			line += `"` + w + `"` // On Windows, paths cannot contain quotation marks.
		}
	}
	return call + line
}

// Home returns the memory directory that the server's command line or environment specifies, or "" if they specify
// none. The flag --home takes precedence over the environment variable OXBOW_HOME.
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
