// This file determines who wrote the text that a git command prints: the project or others.

package origin

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// gitOutputKind is the kind of output that a git command prints. gitOutputKinds lists commands with their kinds.
// Commands that gitOutputKinds does not list, such as pull, notes, shortlog, tag and cat-file, print text by other
// people.
type gitOutputKind int

const (
	gitOutputForeignText      gitOutputKind = iota
	gitOutputMessages                       // The command prints git's own messages, and names of files.
	gitOutputTrackedFileLines               // The command prints lines of tracked files.
	gitOutputDiff                           // The command prints changed lines of the working tree.
	gitOutputCommitList                     // The command prints the subject of each commit, next to the commit's hash.
	gitOutputLog                            // The command prints commits in a format that the caller can choose.
	gitOutputCommitsOrFiles                 // The command prints commits or files.
)

// gitOutputKinds lists the git commands whose output may be proved to be the project's own text.
var gitOutputKinds = sync.OnceValue(func() map[string]gitOutputKind {
	all := map[string]gitOutputKind{}
	for kind, names := range map[gitOutputKind]string{
		gitOutputMessages: `status add rm mv init config rev-parse symbolic-ref remote ls-files check-ignore gc fsck update-index
			write-tree merge-base count-objects hash-object clean sparse-checkout version --version restore update-ref`,
		gitOutputTrackedFileLines: `blame annotate grep`,
		gitOutputDiff:             `diff diff-index diff-files`,
		gitOutputCommitList:       `commit checkout switch reset worktree bisect branch stash merge rebase cherry-pick revert`,
		gitOutputLog:              `log reflog whatchanged`,
		gitOutputCommitsOrFiles:   `show`,
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = kind
		}
	}
	return all
})

// judgeGitTrust determines who may have written the text that a git command prints, and raises the trust level in
// s.verdict accordingly. A higher level means less trust. If the command does not run in the project's own working
// tree, the text counts as text by others (TrustLevelForeignText), because it is unknown which repository git reads.
func (s *shellState) judgeGitTrust(p program) {
	was := s.currentDir
	defer func() { s.currentDir = was }()
	args, ok := s.skipGitOptions(p.args)
	if !ok || s.mayUseOtherRepo {
		s.verdict.raiseTrustLevel(TrustLevelForeignText, p.fullCommandText)
		return
	}
	if !s.isInWorkingTree() {
		s.verdict.raiseTrustLevel(TrustLevelForeignText, p.fullCommandText)
		return
	}
	if len(args) == 0 {
		return
	}
	s.judgeCommandsRunByGit(args)
	// The arguments decide whose text is printed, except for git commit and for commands that print only messages.
	chooses := gitOutputKinds()[args[0]] != gitOutputMessages &&
		args[0] != "commit"
	isUnknown := chooses && slices.Contains(args, unknownWordValue)
	if isUnknown || !s.isProjectGitOutput(args[0], args[1:]) {
		if slices.Contains(gitTrackedFileCommands, args[0]) {
			s.verdict.raiseOutputTrustLevel(TrustLevelForeignText, p.fullCommandText)
			return
		}
		s.verdict.raiseTrustLevel(TrustLevelForeignText, p.fullCommandText)
	}
}

// judgeCommandsRunByGit judges the commands that git itself runs: the command in the arguments of git bisect run, and
// the commands after -x or --exec in the arguments of git rebase. It records in s.verdict who may have written the
// output of these commands.
func (s *shellState) judgeCommandsRunByGit(args []string) {
	if len(args) > 2 && slices.Equal(args[:2], []string{"bisect", "run"}) {
		s.judgeSimpleCommandTrust(args[2:])
	}
	for i, a := range args {
		name, value, hasValue := strings.Cut(a, "=")
		isExec := name == "-x" || name == "--exec"
		if !isExec || args[0] != "rebase" {
			continue
		}
		if !hasValue && i+1 < len(args) {
			value = args[i+1]
		}
		s.judgeShellLine(value)
	}
}

// gitTrackedFileCommands are the git commands that may print text by other people, but do not write it into untracked
// files. If they write files into the working tree, git tracks these files, so the files count as the project's own.
// Therefore only the printed text of these commands is treated as foreign.
var gitTrackedFileCommands = []string{
	"pull",
	"checkout",
	"switch",
	"merge",
	"rebase",
	"reset",
	"restore",
	"revert",
	"cherry-pick",
	"bisect",
	"stash",
	"fetch",
	"log",
	"show",
	"diff",
	"blame",
	"branch",
	"tag",
	"commit",
}

// skipGitOptions skips git's global options at the beginning of args, and returns the arguments that follow: the git
// command and its arguments. If the option -C is given, skipGitOptions changes the current directory of s. It returns
// false if an option is unknown.
func (s *shellState) skipGitOptions(args []string) (rest []string, ok bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--version" {
		switch {
		case args[0] == "-C" && len(args) > 1:
			s.changeDir(args[1:2])
			args = args[1:]
		case slices.Contains(
			[]string{"--no-pager", "-P", "--paginate", "-p", "--no-optional-locks", "--literal-pathspecs"},
			args[0],
		):
		default: // Give up, because this git option selects another repository, or settings that change the output.
			return nil, false
		}
		args = args[1:]
	}
	return args, true
}

// isProjectGitOutput reports whether the output of a git command is proved to be the project's own text.
func (s *shellState) isProjectGitOutput(command string, args []string) bool {
	switch gitOutputKinds()[command] {
	case gitOutputMessages:
		return command != "config" ||
			s.highestFileTrustLevel(
				append(markAsOptionalFiles(findOperands(args)), findOptionValueFiles(args)...),
			) == TrustLevelOwnText
	case gitOutputTrackedFileLines:
		return s.printsOnlyProjectLines(command, args)
	case gitOutputDiff:
		return s.isProjectWorkingTreeDiff(args)
	case gitOutputCommitList:
		showsRemote := command == "branch" &&
			(slices.Contains(args, "-r") || strings.Contains(s.commandOutput, "remotes/"))
		return !showsRemote && s.namesOnlyOwnCommits(commitHashPattern())
	case gitOutputLog:
		return s.isLocalGitLog(args)
	case gitOutputCommitsOrFiles:
		return areProjectFileOperands(findOperands(args)) ||
			(s.areLocalCommits(findOperands(args)) && s.isLocalGitLog(args))
	}
	return false
}

// printsOnlyProjectLines reports whether git blame or git grep printed only lines from the project's own files. Own
// files are tracked files that only the project's agents and people wrote. The argument args contains the arguments of
// the command. The result is false if an option makes git read other files. It is also false if an operand (except the
// pattern of git grep) is not a file.
func (s *shellState) printsOnlyProjectLines(command string, args []string) bool {
	names := findOperands(args)
	if command == "grep" {
		names = names[min(1, len(names)):]
	}
	readsOthers := slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return slices.Contains([]string{"--untracked", "--no-index", "--recurse-submodules", "--contents"}, name) ||
			strings.HasPrefix(a, "-O") || strings.HasPrefix(a, "--open-files-in-pager")
	})
	if readsOthers || !s.hasFiles(names) {
		return false
	}
	printed := searchOutput{baseDir: s.currentDir, isFileByName: map[string]bool{}}
	for line := range strings.Lines(s.commandOutput) {
		printed.addLine(strings.TrimSpace(line))
	}
	return s.highestFileTrustLevel(append(names, printed.printedFiles...)) == TrustLevelOwnText
}

// These patterns match parts of git's output: any commit hash, the hash that git log prints before each commit (also
// after graph lines), and a git note's title.
var (
	commitHashPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b([0-9a-f]{7,64})\b`) })
	logHashPattern    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^[^\w\n]*(?:o +)?(?:commit [^\w\n]*)?([0-9a-f]{7,64})\b`)
	})
	gitNoteTitlePattern = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[^\w\n]*Notes\b.*:$`) },
	)
)

// namesOnlyOwnCommits reports whether all commits in the output of a git command were made on this machine. The
// parameter hashPattern is a pattern that finds the commits in the output. The first group of the pattern matches a
// commit's hash.
func (s *shellState) namesOnlyOwnCommits(hashPattern *regexp.Regexp) bool {
	for _, m := range hashPattern.FindAllStringSubmatch(s.commandOutput, -1) {
		if !s.verdict.tree.isOwnCommit(m[1]) {
			return false
		}
	}
	return true
}

// logFormatsWithHash are the git log formats that print a commit's hash at the start of a line, so that text in a
// commit message cannot be mistaken for a hash.
var logFormatsWithHash = []string{"oneline", "short", "medium", "full", "fuller"}

// isLocalGitLog reports whether a run of git log or git show printed only commits that were made on this machine. args
// are the arguments of the run. The result is false if args choose a format that is not in logFormatsWithHash. With any
// other arguments, the result is true if the output is empty. If there is output, the result is true only if all these
// conditions are met:
//
//   - The output contains at least one hash of a commit.
//   - All hashes in the output belong to commits that were made on this machine.
//   - The output contains no git note.
//   - No git setting can change the format of the log.
func (s *shellState) isLocalGitLog(args []string) bool {
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		isFormat := strings.HasPrefix(name, "--pretty") || strings.HasPrefix(name, "--format")
		if isFormat && !slices.Contains(logFormatsWithHash, value) {
			return false
		}
	}
	isEmpty := strings.TrimSpace(s.commandOutput) == ""
	hasHash := logHashPattern().MatchString(s.commandOutput)
	return isEmpty ||
		(hasHash && !gitNoteTitlePattern().MatchString(s.commandOutput) && s.namesOnlyOwnCommits(logHashPattern()) &&
			!s.verdict.tree.canSettingsChangeLogFormat(s.verdict.Getenv))
}

// areLocalCommits reports whether all operands of git show name commits that can be regarded as made on this machine.
// It accepts HEAD, expressions for ancestors of HEAD such as HEAD~2, and the hashes (at least 7 characters) of commits
// that were made on this machine. It returns true without operands, because git then shows the last commit. A tag is
// not accepted, because a tag has a message of its own. Objects that are not commits are not accepted, because their
// text may look like a commit.
func (s *shellState) areLocalCommits(operands []string) bool {
	return !slices.ContainsFunc(operands, func(a string) bool {
		rest, isHead := strings.CutPrefix(a, "HEAD")
		isAncestor := isHead && strings.Trim(rest, "~^0123456789") == ""
		return !isAncestor && (len(a) < 7 || !s.verdict.tree.isOwnCommit(a))
	})
}

// areProjectFileOperands reports whether all operands of the command "git show" are files of the project. Such an
// operand has the form HEAD:FILE (a file in the last commit) or :FILE (a file in git's index). areProjectFileOperands
// returns false if the command has no operands.
func areProjectFileOperands(operands []string) bool {
	return len(operands) > 0 && !slices.ContainsFunc(operands, func(a string) bool {
		rev, file, ok := strings.Cut(a, ":")
		isStage := len(file) > 1 && file[1] == ':' // The operand names one side of a merge, as in :2:FILE.
		return !ok || (rev != "HEAD" && rev != "") || isStage || isThirdPartyCodeDir(file)
	})
}

// isProjectWorkingTreeDiff reports whether a git diff command compared only the working tree, the index and the last
// commit, and all files that changed are the project's own. A file is the project's own if only the project's agents
// and people wrote it. The argument args contains the command's arguments. The changed files are taken from the
// command's output. The result is false if an argument is not an option, HEAD or a file, or if the option --no-index is
// used.
func (s *shellState) isProjectWorkingTreeDiff(args []string) bool {
	for _, a := range args {
		if a == "--" {
			break
		}
		isKnown := strings.HasPrefix(a, "-") || a == "HEAD" || s.hasFile(a)
		if !isKnown || a == "--no-index" {
			return false
		}
	}
	var changed []string
	for line := range strings.Lines(s.commandOutput) {
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			changed = append(changed, strings.TrimSpace(name))
		}
	}
	return s.verdict.tree.trustLevelOfPaths(
		absolutePaths(s.verdict.tree.root, changed),
		s.verdict.Machine,
	) == TrustLevelOwnText
}
