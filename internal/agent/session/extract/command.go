// This file simplifies command lines, and recognizes commands that only print something.

package extract

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// These patterns match parts of a command line that do not change the command's effect: a leading cd, output filters,
// and some flags.
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

// NormalizeCommand removes from a single-line command the parts that do not change its effect, so that equal commands
// can be recognized. It removes a leading cd, redirections and filters of the output, and flags such as -v. It also
// shortens paths in the directory dir, if dir is not empty.
func NormalizeCommand(commandLine, dir string) string {
	if dir != "" {
		commandLine = strings.ReplaceAll(commandLine, dir+"/", "")
	}
	for {
		short := strings.TrimSpace(
			outputFilterPattern().ReplaceAllString(leadingCdPattern().ReplaceAllString(commandLine, ""), ""),
		)
		if short == commandLine || short == "" {
			break
		}
		commandLine = short
	}
	return ignoredFlagsPattern().ReplaceAllString(commandLine, "")
}

// printOnlyPrograms are programs that only print. sed is in the list, but sed -i is not accepted.
var printOnlyPrograms = []string{
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

var printOnlyGitCommands = []string{
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

// IsPrintOnlyCommand reports whether each part of a single-line command is a program that only prints. A command that
// redirects its output to a file is not accepted.
func IsPrintOnlyCommand(commandLine string) bool {
	for _, part := range strings.FieldsFunc(commandLine, func(r rune) bool { return strings.ContainsRune("|;&", r) }) {
		w := strings.Fields(part)
		if len(w) == 0 {
			continue
		}
		// This part is not a program but the rest of a redirection. For example, 2>&1 is split at the & into "2>" and
		// "1".
		if strings.HasPrefix(w[0], ">") || isDigits(w[0]) {
			continue
		}
		isEdit := w[0] == "sed" && strings.Contains(part, " -i")
		withoutErrors := strings.ReplaceAll(strings.ReplaceAll(part, "2>", ""), ">/dev/null", "")
		if isEdit || strings.Contains(withoutErrors, ">") {
			return false
		}
		if !slices.Contains(printOnlyPrograms, w[0]) &&
			!(w[0] == "git" && len(w) > 1 && slices.Contains(printOnlyGitCommands, w[1])) {
			return false
		}
	}
	return true
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
