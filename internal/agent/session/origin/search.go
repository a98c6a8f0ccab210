// This file judges the output of a search.

package origin

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// raiseForSearch raises the level to the highest level among the searched files and directories and
// the files with lines in the output. A line without a file name may be from any file of a
// searched directory, so it is unvouched.
func (j *verdictState) raiseForSearch(dir string, paths []string, output, cause string) {
	j.raiseForReadFiles(dir, paths, cause)
	hasDir := slices.ContainsFunc(absolutePaths(dir, paths), isDir)
	if !hasDir || j.highestLevel == LevelForeign {
		return
	}
	l := searchLines{dir: dir, isFile: map[string]bool{}}
	for line := range strings.Lines(output) {
		l.addLine(strings.TrimSpace(line))
	}
	j.raiseForReadFiles(dir, l.files, cause)
	if l.hasUnnamed {
		j.raiseLevel(LevelUnvouched, cause)
	}
}

// maxUnnamedWords is the maximum number of words in a line that needs no file name, because a search
// also prints counts and file names.
const maxUnnamedWords = 5

// searchLines collects the files in the lines of a search.
type searchLines struct {
	dir        string
	isFile     map[string]bool // results of earlier checks by name
	files      []string        // files whose lines were printed
	hasUnnamed bool            // some lines contain no file name
}

// contextSeparator matches the separator after the name in a context line, NAME-LINE-TEXT.
var contextSeparator = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-[0-9]+-`) })

// addLine finds the file of a line, which has the form NAME:LINE:TEXT, NAME:TEXT or NAME-LINE-TEXT. A
// line that is only a file name contains no text of the file.
func (l *searchLines) addLine(line string) {
	if line == "" || l.hasFile(line) {
		return
	}
	for i, c := range line {
		if c == ':' && l.recordIfFile(line[:i]) {
			return
		}
		if i > maxFileName {
			break
		}
	}
	for _, at := range contextSeparator().FindAllStringIndex(line, 3) {
		if l.recordIfFile(line[:at[0]]) {
			return
		}
	}
	l.hasUnnamed = l.hasUnnamed || len(strings.Fields(line)) > maxUnnamedWords
}

// maxFileName is the number of bytes that are searched for a file name at the start of a line.
const maxFileName = 400

// recordIfFile reports whether a file with the name exists. If so, it records that a line of the file
// was printed.
func (l *searchLines) recordIfFile(name string) bool {
	isFile := l.hasFile(name)
	if isFile && !slices.Contains(l.files, name) {
		l.files = append(l.files, name)
	}
	return isFile
}

// hasFile reports whether a file with the name exists.
func (l *searchLines) hasFile(name string) bool {
	isFile, ok := l.isFile[name]
	if !ok {
		filePath := name
		if !filepath.IsAbs(name) {
			filePath = filepath.Join(l.dir, name)
		}
		isFile = name != "" && len(name) <= maxFileName && pathExists(filePath)
		l.isFile[name] = isFile
	}
	return isFile
}
