// This file judges the lines that a search printed.

package reading

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// searchFiles raises the level to that of the files and directories that were searched, and
// of the files whose lines the output has. A line of a directory without the name of its
// file may be of any file.
func (j *judge) searchFiles(dir string, paths []string, output, what string) {
	j.readFiles(dir, paths, what)
	hasDir := slices.ContainsFunc(absolute(dir, paths), isDir)
	if !hasDir || j.level == Foreign {
		return
	}
	l := searchLines{dir: dir, isFile: map[string]bool{}}
	for line := range strings.Lines(output) {
		l.add(strings.TrimSpace(line))
	}
	j.readFiles(dir, l.files, what)
	if l.hasUnnamed {
		j.raise(Unvouched, what)
	}
}

// maxUnnamed is how many words of a line need no name of a file: a search also prints
// counts and names of files.
const maxUnnamed = 5

// searchLines are the lines that a search printed.
type searchLines struct {
	dir        string
	isFile     map[string]bool // names that were looked for
	files      []string        // the files whose lines were printed
	hasUnnamed bool            // there are lines of which the file is not known
}

// context finds the end of the name in a line of context: NAME-LINE-TEXT.
var context = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-[0-9]+-`) })

// add finds the file of a line: NAME:LINE:TEXT, NAME:TEXT, or NAME-LINE-TEXT. A line that is
// the name of a file has no text.
func (l *searchLines) add(line string) {
	if line == "" || l.find(line, false) {
		return
	}
	for i, c := range line {
		if c == ':' && l.find(line[:i], true) {
			return
		}
		if i > maxName {
			break
		}
	}
	for _, at := range context().FindAllStringIndex(line, 3) {
		if l.find(line[:at[0]], true) {
			return
		}
	}
	l.hasUnnamed = l.hasUnnamed || len(strings.Fields(line)) > maxUnnamed
}

// maxName is the bytes in which the name of a file is looked for.
const maxName = 400

// find reports whether a file has the name. With text says that a line of it was printed.
func (l *searchLines) find(name string, withText bool) bool {
	isFile, ok := l.isFile[name]
	if !ok {
		filePath := name
		if !filepath.IsAbs(name) {
			filePath = filepath.Join(l.dir, name)
		}
		isFile = name != "" && len(name) <= maxName && exists(filePath)
		l.isFile[name] = isFile
	}
	if isFile && withText && !slices.Contains(l.files, name) {
		l.files = append(l.files, name)
	}
	return isFile
}
