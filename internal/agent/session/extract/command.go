// This file examines command lines.

package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Patterns for parts of a command line without influence on its effect, such as the directory,
// limits for output, and some flags.
var (
	leadingCdPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^cd (?:"[^"]*"|'[^']*'|[^ ;&|]+) ?(?:&&|;) ?`)
	})
	outputFilterPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			` ?(?:2>&1|2>/dev/null|>/dev/null|&>/dev/null|\|& ?cat|\| ?(?:tail|head)(?: -n)?(?: ?-?[0-9]+)?|\| ?tee [^ |]+|; ?echo (?:"[^"]*"|[^ ]*\$\?[^ ]*)|\|\| true)$`,
		)
	})
	ignoredFlagsPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(` (?:-count=1|-v|--color=\S+|--no-color|--?timeout[= ]\S+|--silent|-q|--quiet)\b`)
	})
)

// NormalizeCommand returns a single-line command without parts that do not change its effect. These are the
// directory dir in paths, a leading cd, redirections and filters of the output, and some flags.
func NormalizeCommand(line, dir string) string {
	if dir != "" {
		line = strings.ReplaceAll(line, dir+"/", "")
	}
	for {
		short := strings.TrimSpace(
			outputFilterPattern().ReplaceAllString(leadingCdPattern().ReplaceAllString(line, ""), ""),
		)
		if short == line || short == "" {
			break
		}
		line = short
	}
	return ignoredFlagsPattern().ReplaceAllString(line, "")
}

// printingPrograms are programs that print something and change nothing.
var printingPrograms = []string{
	"ls",
	"cat",
	"head",
	"tail",
	"grep",
	"rg",
	"find",
	"sed",
	"awk",
	"wc",
	"pwd",
	"which",
	"echo",
	"tree",
	"less",
	"stat",
	"file",
	"du",
	"df",
	"env",
	"printenv",
	"type",
	"whoami",
	"date",
	"cd",
	"nl",
	"jq",
	"sort",
	"uniq",
	"diff",
	"Get-Content",
	"Get-ChildItem",
	"dir",
}

var printingGitCommands = []string{
	"status",
	"diff",
	"log",
	"show",
	"branch",
	"blame",
	"ls-files",
	"remote",
	"rev-parse",
	"grep",
}

// IsPrintOnly reports whether a single-line command only prints something.
func IsPrintOnly(line string) bool {
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("|;&", r) }) {
		w := strings.Fields(part)
		if len(w) == 0 {
			continue
		}
		if strings.HasPrefix(w[0], ">") || isDigits(w[0]) { // such as the 1 of 2>&1
			continue
		}
		isEdit := w[0] == "sed" && strings.Contains(part, " -i")
		withoutErrors := strings.ReplaceAll(strings.ReplaceAll(part, "2>", ""), ">/dev/null", "")
		if isEdit || strings.Contains(withoutErrors, ">") {
			return false
		}
		if !slices.Contains(printingPrograms, w[0]) &&
			!(w[0] == "git" && len(w) > 1 && slices.Contains(printingGitCommands, w[1])) {
			return false
		}
	}
	return true
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
