// This file determines whether a program reads text by others. It examines the files, directories, addresses and
// packages that the program reads.

package origin

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// isInProjectDir reports whether the current directory is in the project. Directories with code by third parties, such
// as node_modules, do not count as part of the project. If the project has a git working tree, other working trees
// inside the project do not count either.
func (s *shellState) isInProjectDir() bool {
	if s.currentDir == "" || s.currentDir == s.verdict.tree.workingDir {
		return s.currentDir == s.verdict.tree.workingDir
	}
	rel, isInside := s.verdict.tree.projectPath(s.verdict.tree.resolveLinks(s.currentDir))
	return isInside && !isThirdPartyCodeDir(rel) && (s.verdict.tree.worktree == nil || s.isInWorkingTree())
}

// namesOnlyProjectData reports whether an argument of a build program names only data of the project. It decides as
// follows:
//
//   - An address must not be on another machine.
//   - A file must not be in a directory with code by third parties, and must not contain text that somebody else wrote.
//   - An untracked file of the project is accepted, because most untracked files are results of an earlier build.
//   - A directory of the project, and an argument that names no existing file, are accepted.
func (s *shellState) namesOnlyProjectData(arg string) bool {
	if strings.Contains(arg, "://") {
		return !isRemoteAddress(arg)
	}
	var judged []string
	for _, f := range absolutePaths(s.currentDir, s.resolveFileArguments([]string{"?" + strings.TrimSuffix(arg,
		"/...")})) {
		real := s.verdict.tree.resolveLinks(f)
		rel, isInside := s.verdict.tree.projectPath(real)
		switch {
		case isDevice(f):
		case isInside && isThirdPartyCodeDir(rel):
			return false
		case isInside && (isDir(real) || s.isUntrackedFile(rel)):
		default:
			judged = append(judged, real)
		}
	}
	return s.verdict.tree.trustLevelOfPaths(judged, s.verdict.Machine) != TrustLevelForeignText
}

// isUntrackedFile reports whether a file of the project is not tracked by git.
func (s *shellState) isUntrackedFile(rel string) bool {
	if s.verdict.tree.worktree == nil {
		return true
	}
	tracked, err := s.verdict.tree.worktree.TrackedNames(rel)
	return err == nil && !tracked[rel]
}

// nonInputOptionPattern matches the names of options whose values are not files to read, such as output files, excluded
// files, test names and image names.
var nonInputOptionPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)^-[oBdtk]$|^--?[\w-]*(?:out|profile|report|cache|junit|log|trace|cover|html|temp|tmp|` +
			`target|dest|tag|label|run|grep|filter|exclude|include|ignore|skip|omit|glob|colou?r|type|format)[\w-]*$`,
	)
})

// inputFiles returns the arguments that may be files to read: the operands and the values of options. It leaves out
// the values of options that match [nonInputOptionPattern].
func (p *program) inputFiles() (all []string) {
	before := ""
	for _, a := range p.args {
		isOption := strings.HasPrefix(a, "-")
		name, value, hasValue := strings.Cut(a, "=")
		switch {
		case isOption && hasValue && !nonInputOptionPattern().MatchString(name):
			all = append(all, value)
		case !isOption && !nonInputOptionPattern().MatchString(before):
			all = append(all, a)
		}
		before = ""
		if isOption && !hasValue {
			before = name
		}
	}
	return all
}

// findOptionValueFiles returns the option values that may be file names. It finds a value in two forms of an option:
// --file=NAME and -fNAME. In the form -fNAME, the value begins at the first period, slash or tilde in the argument: the
// value of -I./include is ./include. Without such a character, there is no value. Values with wildcards are skipped,
// and so are options that match nonInputOptionPattern.
//
// Each result has the prefix "?". The prefix tells the caller to ignore the name if no such file exists.
func findOptionValueFiles(args []string) (files []string) {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") || a == "-" {
			continue
		}
		name, value, hasValue := strings.Cut(a, "=")
		if i := strings.IndexAny(a, "./~"); i > 1 && !strings.HasPrefix(a, "--") {
			hasValue, name = true, a[:2]
			value = a[i:]
		}
		isPattern := strings.ContainsAny(value, "*?[")
		if !hasValue || isPattern {
			continue
		}
		if !nonInputOptionPattern().MatchString(name) {
			files = append(files, "?"+value)
		}
	}
	return files
}

// markAsOptionalFiles puts the prefix "?" before each argument. The prefix means that the argument is ignored if no
// file has this name.
func markAsOptionalFiles(operands []string) (files []string) {
	for _, a := range operands {
		files = append(files, "?"+a)
	}
	return files
}

// readsOtherProjectMemory reports whether an oxbow command reads a memory that does not belong to the project. The
// option --home or the variable OXBOW_HOME names the memory's directory. If both are missing, oxbow uses the nearest
// memory at or above the current directory. The result is then true if the command line has changed the current
// directory, for example with cd, and the new directory has a different nearest memory.
func (s *shellState) readsOtherProjectMemory(args []string) bool {
	for i, a := range args {
		name, value, hasValue := strings.Cut(a, "=")
		if name != "--home" {
			continue
		}
		if !hasValue && i+1 < len(args) {
			value = args[i+1]
		}
		return !s.isProjectDir(value)
	}
	if values, ok := s.assignedVariables["OXBOW_HOME"]; ok {
		return slices.ContainsFunc(values, func(v string) bool { return v != "" && !s.isProjectDir(v) })
	}
	return s.currentDir != s.verdict.tree.workingDir &&
		findNearestHome(s.currentDir) != findNearestHome(s.verdict.tree.workingDir)
}

// isProjectDir reports whether the directory dir is in the project. Directories with code by third parties, such as
// node_modules, do not count as part of the project. isProjectDir returns false if dir is unknown, or if dir is
// relative to a current directory that is unknown.
func (s *shellState) isProjectDir(dir string) bool {
	// A relative path is not known if the current directory is not known.
	isRelative := s.currentDir == "" &&
		!filepath.IsAbs(dir)
	if isRelative || dir == unknownWordValue {
		return false
	}
	rel, isInside := s.verdict.tree.projectPath(
		s.verdict.tree.resolveLinks(absolutePaths(s.currentDir, []string{dir})[0]),
	)
	return isInside && !isThirdPartyCodeDir(rel)
}

// findNearestHome returns the nearest directory .oxbow in a directory or its parents, or "" if such a directory does
// not exist.
func findNearestHome(dir string) string {
	for dir != "" {
		if home := filepath.Join(dir, ".oxbow"); isDir(home) {
			return home
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// areProjectOrStandardPackages reports whether all packages in an invocation of the command "go" belong to the project
// or to the standard library. The parameter names contains the packages' names.
func (s *shellState) areProjectOrStandardPackages(names []string) bool {
	module := s.verdict.tree.goModulePath()
	return !slices.ContainsFunc(names, func(n string) bool {
		host, _, hasPath := strings.Cut(n, "/")
		isPath := hasPath && strings.Contains(host, ".") && !strings.HasPrefix(n, ".") && !path.IsAbs(n)
		isOwn := module != "" && (n == module || strings.HasPrefix(n, module+"/"))
		return n == "all" || (isPath && !isOwn && !s.hasFile(n))
	})
}

// goModulePath returns the path of the Go module at the project's root, or "".
func (t *projectTree) goModulePath() string {
	// Ignore the error: without a file go.mod, the module path is "".
	b, _ := os.ReadFile(filepath.Join(t.root, "go.mod"))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "module "); ok {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return ""
}

// isInWorkingTree reports whether the current directory is in the project's working tree, and not in a nested working
// tree.
func (s *shellState) isInWorkingTree() bool {
	if s.currentDir == "" || s.verdict.tree.worktree == nil {
		return false
	}
	if s.currentDir == s.verdict.tree.workingDir {
		return true
	}
	w, ok := git.FindWorktree(s.currentDir)
	return ok && s.verdict.tree.resolveLinks(w.Root()) == s.verdict.tree.root
}

// isRemoteAddress reports whether a word of a command is an address on another machine.
func isRemoteAddress(word string) bool {
	if strings.HasPrefix(word, "-") {
		return false
	}
	_, address, hasScheme := strings.Cut(word, "://")
	if !hasScheme {
		address = word
	}
	address, _, _ = strings.Cut(address, "/")
	host := address[strings.LastIndex(address, "@")+1:]
	if strings.HasPrefix(host, ":") || strings.HasPrefix(host, "[::1]") {
		return false
	}
	host, _, _ = strings.Cut(host, ":")
	isLoopback := strings.HasPrefix(host, "127.") && strings.Trim(host, "0123456789.") == ""
	if isLoopback || slices.Contains([]string{"localhost", "0.0.0.0"}, host) {
		return false
	}
	return hasScheme || strings.Contains(host, ".") || (host != "" && !strings.ContainsAny(word, "{[=,"))
}
