// This file judges what git prints.

package reading

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	// gitOwn are commands of git that print its own words, names, or text of tracked files.
	gitOwn = []string{"status", "add", "rm", "mv", "commit", "init", "config", "branch", "checkout", "switch", "restore", "reset", "rev-parse", "symbolic-ref", "remote", "tag",
		"push", "ls-files", "check-ignore", "worktree", "gc", "fsck", "update-index", "write-tree", "merge-base", "describe", "count-objects", "hash-object", "rev-list",
		"clean", "sparse-checkout", "version", "--version", "help", "blame", "annotate", "grep", "bisect", "update-ref", "var", "lfs"}

	// gitHistory are commands that print commits: they are the agent's own if all commits
	// that are named were made here.
	gitHistory = []string{"log", "show", "reflog", "shortlog", "whatchanged", "cherry", "cherry-pick", "revert", "stash", "format-patch", "range-diff", "notes", "merge", "rebase"}
)

// commitHash finds the hashes of commits at the beginnings of lines that git prints.
var commitHash = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[*|\\/ ]*(?:commit )?([0-9a-f]{7,64})\b`)
})

// git judges a command of git.
func (s *shell) git(args []string, what string) {
	dir := s.dir
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		option := args[0]
		args = args[1:]
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, option) && len(args) > 0 {
			if option == "-C" || option == "--git-dir" || option == "--work-tree" {
				s.changeDir(args[:1])
				s.read([]string{"."}, what) // outside of the project it is another repository
			}
			args = args[1:]
		}
	}
	defer func() { s.dir = dir }()
	if len(args) == 0 {
		return
	}
	command, rest := args[0], args[1:]
	switch {
	case command == "diff" || command == "diff-index" || command == "diff-files":
		s.gitDiff(rest, what)
	case command == "grep" && len(operands(rest)) > 1 && !s.areThere(operands(rest)[1:]):
		s.j.raise(Foreign, what) // of another revision
	case slices.Contains(gitOwn, command):
	case slices.Contains(gitHistory, command):
		if command == "show" && isOwnBlob(operands(rest)) {
			return
		}
		if command == "show" && slices.ContainsFunc(operands(rest), func(a string) bool { return strings.Contains(a, ":") }) {
			s.j.raise(Foreign, what)
			return
		}
		if command == "stash" && (len(rest) == 0 || slices.Contains([]string{"push", "pop", "apply", "drop", "list", "save", "clear", "show"}, rest[0])) {
			return // of the working tree
		}
		if (command == "merge" || command == "rebase" || command == "cherry-pick" || command == "revert") && slices.ContainsFunc(rest, func(a string) bool { return a == "--abort" || a == "--continue" || a == "--quit" }) {
			return
		}
		s.gitCommits(what)
	default: // pull, fetch, clone, cat-file, archive, submodule, ls-remote and others
		s.j.raise(Foreign, what)
	}
}

// gitCommits judges the commits that were printed.
func (s *shell) gitCommits(what string) {
	found := commitHash().FindAllStringSubmatch(s.printed, -1)
	if len(found) == 0 && strings.TrimSpace(s.printed) != "" {
		s.j.raise(Foreign, what)
	}
	for _, m := range found {
		if !s.j.tree.isOwnCommit(m[1]) {
			s.j.raise(Foreign, what)
			return
		}
	}
}

// gitDiff judges a diff: that of the working tree, the index and the last commit is the
// agent's own.
func (s *shell) gitDiff(args []string, what string) {
	for _, a := range args {
		if a == "--" {
			return
		}
		isOwn := strings.HasPrefix(a, "-") || a == "HEAD" || s.there(a)
		if !isOwn || a == "--no-index" {
			s.j.raise(Foreign, what)
			return
		}
	}
}

// isOwnBlob reports whether all operands of git show are files of the last commit or of
// the index.
func isOwnBlob(operands []string) bool {
	return len(operands) > 0 && !slices.ContainsFunc(operands, func(a string) bool {
		rev, file, ok := strings.Cut(a, ":")
		return !ok || rev != "HEAD" && rev != "" || isForeignDir(file)
	})
}

// areThere reports whether all of some names are files that are there.
func (s *shell) areThere(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !s.there(n) })
}
