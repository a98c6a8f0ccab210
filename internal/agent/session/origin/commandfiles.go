// This file judges the files in a command line.

package origin

import (
	"path/filepath"
	"slices"
	"strings"
)

// unknownWord represents a word whose value is not known before the command runs.
const unknownWord = "\x00"

// shellState is the state in which a command line is judged.
type shellState struct {
	verdict *verdictState
	dir     string              // current directory ("" if not known)
	vars    map[string][]string // values of the assigned variables
	output  string              // output of the whole command line
	depth   int                 // number of command lines that contain this line
	isPiped bool                // whether the standard input is the output of another program

	mayUseOtherRepo bool // git may use another repository or format
}

// program is a program and its arguments. Unknown arguments are unknownWord.
type program struct {
	name string // without the directory
	args []string
	text string // all words as a text
}

// judgeReadFiles judges files that a program reads. A file with the prefix "?" counts only if it exists.
func (s *shellState) judgeReadFiles(files []string, cause string) {
	s.verdict.raiseForReadFiles(s.dir, s.resolveFiles(files), cause)
	if slices.Contains(files, unknownWord) {
		s.verdict.raiseLevel(LevelForeign, cause)
	}
}

// judgeSearch judges files and directories that a program searches.
func (s *shellState) judgeSearch(files []string, cause string) {
	if slices.Contains(files, unknownWord) {
		s.verdict.raiseLevel(LevelForeign, cause)
	}
	s.verdict.raiseForSearch(s.dir, s.resolveFiles(files), s.output, cause)
}

// fileLevel returns the files' level without raising the command's level.
func (s *shellState) fileLevel(files []string) Level {
	apart := verdictState{Machine: s.verdict.Machine, tree: s.verdict.tree}
	t := *s
	t.verdict = &apart
	t.judgeReadFiles(files, "")
	return apart.highestLevel
}

// resolveFiles returns the files that words name. It expands patterns.
func (s *shellState) resolveFiles(words []string) (files []string) {
	for _, w := range words {
		isOptional := strings.HasPrefix(w, "?") && len(w) > 1
		w = strings.TrimPrefix(w, "?")
		isNoFile := w == "" || w == "-"
		if isNoFile || w == unknownWord {
			continue
		}
		filePath := w
		if !filepath.IsAbs(filePath) && s.dir != "" {
			filePath = filepath.Join(s.dir, filePath)
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

// hasFile reports whether a file exists. Relative names are below the current directory.
func (s *shellState) hasFile(name string) bool {
	return (filepath.IsAbs(name) && pathExists(name)) || (s.dir != "" && pathExists(filepath.Join(s.dir, name)))
}

// hasFiles reports whether all files exist.
func (s *shellState) hasFiles(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !s.hasFile(n) })
}

// recordWrites records files into which a command writes the agent's own text or other text.
func (s *shellState) recordWrites(files []string, isOwn bool) {
	if isOwn {
		s.recordWritten(files, s.verdict.recordOwnFiles)
	} else {
		s.recordWritten(files, s.verdict.recordOtherFiles)
	}
}

// recordOtherWrite records a file into which a command writes text that is not the agent's own.
func (s *shellState) recordOtherWrite(file string) {
	s.recordWritten([]string{file}, s.verdict.recordOtherFiles)
}

// recordWritten calls record with the absolute paths of files, except devices.
func (s *shellState) recordWritten(files []string, record func(paths ...string)) {
	if s.dir == "" {
		return
	}
	for _, f := range s.resolveFiles(files) {
		if !isDevice(f) {
			record(absolutePaths(s.dir, []string{f})...)
		}
	}
}

// changeDir sets s.dir to the directory that cd with these arguments enters, or to "" if it is unknown.
func (s *shellState) changeDir(args []string) {
	rest := findOperands(args)
	switch {
	case len(rest) == 0:
		s.dir = s.homeDir()
	case rest[0] == unknownWord || rest[0] == "-":
		s.dir = ""
	case filepath.IsAbs(rest[0]):
		s.dir = filepath.Clean(rest[0])
	case s.dir != "":
		s.dir = filepath.Join(s.dir, rest[0])
	}
}

// homeDir returns the person's home directory, or /nowhere if it is not known.
func (s *shellState) homeDir() string {
	if s.verdict.Getenv != nil {
		if h := s.verdict.Getenv("HOME"); h != "" {
			return h
		}
	}
	return "/nowhere"
}

// findOperands returns the arguments that are not options.
func findOperands(args []string) (rest []string) {
	hasEnded := false
	for _, a := range args {
		switch {
		case a == "--" && !hasEnded:
			hasEnded = true
		case hasEnded || !strings.HasPrefix(a, "-") || a == "-":
			rest = append(rest, a)
		}
	}
	return rest
}
