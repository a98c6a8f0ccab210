// This file judges the lines that a search printed.

package origin

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// raiseForSearch raises the level to the highest level among the searched files and the files with lines in the
// output. A printed line without a file name may come from any file in a searched directory, so it makes the level at
// least LevelUnvouched.
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

// A line with at most maxUnnamedWords words does not need a file name, because a search also prints counts and file
// names.
const maxUnnamedWords = 5

// searchLines collects the files from which a search printed lines.
type searchLines struct {
	dir        string
	isFile     map[string]bool // whether a file with this name exists, for the names that were checked before
	files      []string        // files from which the search printed lines
	hasUnnamed bool            // The search printed a line that names no file.
}

// contextSeparator matches the line number between the name and the text in a context line NAME-LINE-TEXT.
var contextSeparator = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-[0-9]+-`) })

// addLine determines the file from which a line was printed. A line has the form NAME:LINE:TEXT, NAME:TEXT or
// NAME-LINE-TEXT. A line that consists only of a file name contains no text of the file, so its file is not recorded.
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

// A file name is searched for in the first maxFileName bytes of a line.
const maxFileName = 400

// recordIfFile records that the search printed a line of a file, if a file with this name exists. It reports whether
// the file exists.
func (l *searchLines) recordIfFile(name string) bool {
	isFile := l.hasFile(name)
	if isFile && !slices.Contains(l.files, name) {
		l.files = append(l.files, name)
	}
	return isFile
}

// hasFile reports whether a file with this name exists in the searched directory.
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
