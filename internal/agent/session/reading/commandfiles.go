// This file judges the files that a command line names.

package reading

import (
	"path/filepath"
	"slices"
	"strings"
)

// unknownWord stands for a word whose value is not known before the command runs.
const unknownWord = "\x00"

// shell is a command line while it is judged.
type shell struct {
	j       *judge
	dir     string              // the current directory; "" if it is not known
	vars    map[string][]string // values of variables that the command line assigned
	printed string              // what the whole command line printed
	nested  int                 // how many command lines contain this one
	isPiped bool                // the standard input is the output of the program before

	isGitMoved bool // git may work in another repository, or print in a format of its own
}

// program is a program and its arguments. An argument whose value is not known is
// unknownWord.
type program struct {
	name string // without its directory
	args []string
	what string // the words as one text
}

// read judges files that a program reads. A name that begins with a question mark counts
// only if the file exists.
func (s *shell) read(files []string, what string) {
	s.j.readFiles(s.dir, s.filesOf(files), what)
	if slices.Contains(files, unknownWord) {
		s.j.raise(Foreign, what)
	}
}

// search judges files and directories that a program searches.
func (s *shell) search(files []string, what string) {
	if slices.Contains(files, unknownWord) {
		s.j.raise(Foreign, what)
	}
	s.j.searchFiles(s.dir, s.filesOf(files), s.printed, what)
}

// levelOf returns the level of files without raising that of the command.
func (s *shell) levelOf(files []string) Level {
	apart := judge{Machine: s.j.Machine, tree: s.j.tree}
	t := *s
	t.j = &apart
	t.read(files, "")
	return apart.level
}

// filesOf returns the files that words name. It expands patterns.
func (s *shell) filesOf(words []string) (files []string) {
	for _, w := range words {
		isOptional := strings.HasPrefix(w, "?") && len(w) > 1
		w = strings.TrimPrefix(w, "?")
		if w == unknownWord || w == "" || w == "-" {
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
		if isOptional && !exists(filePath) {
			continue
		}
		files = append(files, w)
	}
	return files
}

// hasFile reports whether a file exists. A relative name is below the current directory.
func (s *shell) hasFile(name string) bool {
	return (filepath.IsAbs(name) && exists(name)) || (s.dir != "" && exists(filepath.Join(s.dir, name)))
}

// hasFiles reports whether all files exist.
func (s *shell) hasFiles(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !s.hasFile(n) })
}

// write notes files into which a command writes: the agent's own text, or other text.
func (s *shell) write(files []string, isOwn bool) {
	if s.dir == "" {
		return
	}
	for _, f := range s.filesOf(files) {
		if !isDevice(f) {
			s.j.wrote(isOwn, absolute(s.dir, []string{f})...)
		}
	}
}

// changeDir follows cd.
func (s *shell) changeDir(args []string) {
	rest := operands(args)
	switch {
	case len(rest) == 0:
		s.dir = s.home()
	case rest[0] == unknownWord || rest[0] == "-":
		s.dir = ""
	case filepath.IsAbs(rest[0]):
		s.dir = filepath.Clean(rest[0])
	case s.dir != "":
		s.dir = filepath.Join(s.dir, rest[0])
	}
}

// home returns the person's home directory.
func (s *shell) home() string {
	if s.j.Getenv != nil {
		if h := s.j.Getenv("HOME"); h != "" {
			return h
		}
	}
	return "/nowhere"
}

// operands returns the arguments that are no options.
func operands(args []string) (rest []string) {
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
