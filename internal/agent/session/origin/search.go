// This file judges the output of a search.

package origin

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// searchFiles raises the level to the highest level among the searched files and directories and
// the files with lines in the output. A line without a file name may be from any file of a
// searched directory, so it is unvouched.
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

// maxUnnamed is the maximum number of words in a line that needs no file name, because a search
// also prints counts and file names.
const maxUnnamed = 5

// searchLines collects the files in the lines of a search.
type searchLines struct {
	dir        string
	isFile     map[string]bool // results of earlier checks by name
	files      []string        // files whose lines were printed
	hasUnnamed bool            // some lines contain no file name
}

// context matches the separator after the name in a context line, NAME-LINE-TEXT.
var context = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-[0-9]+-`) })

// add finds the file of a line, which has the form NAME:LINE:TEXT, NAME:TEXT or NAME-LINE-TEXT. A
// line that is only a file name contains no text of the file.
func (l *searchLines) add(line string) {
	if line == "" || l.find(line) {
		return
	}
	for i, c := range line {
		if c == ':' && l.findPrinted(line[:i]) {
			return
		}
		if i > maxName {
			break
		}
	}
	for _, at := range context().FindAllStringIndex(line, 3) {
		if l.findPrinted(line[:at[0]]) {
			return
		}
	}
	l.hasUnnamed = l.hasUnnamed || len(strings.Fields(line)) > maxUnnamed
}

// maxName is the number of bytes that are searched for a file name at the start of a line.
const maxName = 400

// findPrinted reports whether a file with the name exists. If so, it records that a line of the file
// was printed.
func (l *searchLines) findPrinted(name string) bool {
	isFile := l.find(name)
	if isFile && !slices.Contains(l.files, name) {
		l.files = append(l.files, name)
	}
	return isFile
}

// find reports whether a file with the name exists.
func (l *searchLines) find(name string) bool {
	isFile, ok := l.isFile[name]
	if !ok {
		filePath := name
		if !filepath.IsAbs(name) {
			filePath = filepath.Join(l.dir, name)
		}
		isFile = name != "" && len(name) <= maxName && pathExists(filePath)
		l.isFile[name] = isFile
	}
	return isFile
}
