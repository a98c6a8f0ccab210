// This file determines which files a command line reads and writes, and whether they may contain text by others.

package origin

import (
	"path/filepath"
	"slices"
	"strings"
)

// unknownWordValue represents a word whose value is known only when the command runs, such as the output of another
// command.
const unknownWordValue = "\x00"

// shellState is the shell's state while the statements of a command line are judged one by one.
type shellState struct {
	verdict           *toolCallVerdictState
	currentDir        string              // current directory, or "" if it is not known
	assignedVariables map[string][]string // possible values of each variable that the command line assigns
	commandOutput     string              // the text that the whole command line printed
	// number of nested command lines, such as 2 while the argument of sh -c is examined
	nestingDepth int
	isPiped      bool // The standard input is the output of another program.

	mayUseOtherRepo bool // Git may use another repository or another output format.
}

// program is a program and its arguments. An argument whose value is not known is unknownWordValue.
type program struct {
	name            string // file name of the program without its directory
	args            []string
	fullCommandText string // all words of the command, joined to one text
}

// recordPrintedFiles records that the command under examination printed the given files. If a file is less trusted than
// the rest of the command's output, the output gets the trust level of the file. If the name of a file is unknown, the
// output counts as text by others (TrustLevelForeignText). cause is the part of the command that printed the files.
func (s *shellState) recordPrintedFiles(files []string, cause string) {
	s.verdict.raiseTrustLevelForReadFiles(s.currentDir, s.resolveFileArguments(files), cause)
	if slices.Contains(files, unknownWordValue) {
		s.verdict.raiseTrustLevel(TrustLevelForeignText, cause)
	}
}

// raiseTrustLevelForFiles records who may have written the files that a program searches. The least trusted file
// determines the trust level of the command's output.
func (s *shellState) raiseTrustLevelForFiles(files []string, cause string) {
	if slices.Contains(files, unknownWordValue) {
		s.verdict.raiseTrustLevel(TrustLevelForeignText, cause)
	}
	s.verdict.raiseTrustLevelForSearch(s.currentDir, s.resolveFileArguments(files), s.commandOutput, cause)
}

// highestFileTrustLevel returns the trust level of the least trusted file, which is the highest level. It changes
// nothing in s: the levels are collected in a temporary verdict, and s.verdict still contains the trust level of the
// whole command.
func (s *shellState) highestFileTrustLevel(files []string) TrustLevel {
	apart := toolCallVerdictState{Machine: s.verdict.Machine, tree: s.verdict.tree}
	t := *s
	t.verdict = &apart
	t.recordPrintedFiles(files, "")
	return apart.highestTrustLevel
}

// resolveFileArguments returns the names of the files to which a shell command's words refer. If a word is a pattern
// such as *.go, the matching files are returned instead of the word. If no file matches, the word itself is returned.
//
// The prefix "?" marks a word that may not be a file name. This prefix is removed, and the word is omitted if its file
// does not exist. Empty words, the word "-", and words whose value is unknown are also omitted.
func (s *shellState) resolveFileArguments(words []string) (files []string) {
	for _, w := range words {
		isOptional := strings.HasPrefix(w, "?") && len(w) > 1
		w = strings.TrimPrefix(w, "?")
		isNoFile := w == "" || w == "-"
		if isNoFile || w == unknownWordValue {
			continue
		}
		filePath := w
		if !filepath.IsAbs(filePath) && s.currentDir != "" {
			filePath = filepath.Join(s.currentDir, filePath)
		}
		if strings.ContainsAny(w, "*?[") {
			if found, err := filepath.Glob(filePath); err == nil && len(found) > 0 {
				files = append(files, found...)
				continue
			}
		}
		if isOptional && !pathExists(filePath) {
			continue
		}
		files = append(files, w)
	}
	return files
}

// hasFile reports whether a file exists. A relative name is resolved in the current directory.
func (s *shellState) hasFile(name string) bool {
	return (filepath.IsAbs(name) && pathExists(name)) ||
		(s.currentDir != "" && pathExists(filepath.Join(s.currentDir, name)))
}

// hasFiles reports whether all files exist.
func (s *shellState) hasFiles(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !s.hasFile(n) })
}

// recordWrittenFiles records the files that a command writes. isAgentText says that the written text is the agent's
// own.
func (s *shellState) recordWrittenFiles(files []string, isAgentText bool) {
	if isAgentText {
		s.recordAbsolutePaths(files, s.verdict.recordFilesWithAgentText)
	} else {
		s.recordAbsolutePaths(files, s.verdict.recordFilesWithNonAgentText)
	}
}

// recordFileWithNonAgentText records a file into which a command writes text that is not the agent's own.
func (s *shellState) recordFileWithNonAgentText(file string) {
	s.recordAbsolutePaths([]string{file}, s.verdict.recordFilesWithNonAgentText)
}

// recordAbsolutePaths converts the files to absolute paths and passes them to the function record. Devices such as
// /dev/null are skipped.
func (s *shellState) recordAbsolutePaths(files []string, record func(paths ...string)) {
	if s.currentDir == "" {
		return
	}
	for _, f := range s.resolveFileArguments(files) {
		if !isDevice(f) {
			record(absolutePaths(s.currentDir, []string{f})...)
		}
	}
}

// changeDir sets s.currentDir to the directory to which the shell command cd would change. The list args contains the
// arguments of cd. If the new directory is unknown, s.currentDir becomes "".
func (s *shellState) changeDir(args []string) {
	rest := findOperands(args)
	switch {
	case len(rest) == 0:
		s.currentDir = s.homeDir()
	case rest[0] == unknownWordValue || rest[0] == "-":
		s.currentDir = ""
	case filepath.IsAbs(rest[0]):
		s.currentDir = filepath.Clean(rest[0])
	case s.currentDir != "":
		s.currentDir = filepath.Join(s.currentDir, rest[0])
	}
}

// homeDir returns the person's home directory, or the missing directory /nowhere if it is not known.
func (s *shellState) homeDir() string {
	if s.verdict.Getenv != nil {
		if h := s.verdict.Getenv("HOME"); h != "" {
			return h
		}
	}
	return "/nowhere"
}

// findOperands returns the arguments that are not options.
func findOperands(args []string) (operands []string) {
	hasEnded := false
	for _, a := range args {
		switch {
		case a == "--" && !hasEnded:
			hasEnded = true
		case hasEnded || !strings.HasPrefix(a, "-") || a == "-":
			operands = append(operands, a)
		}
	}
	return operands
}
