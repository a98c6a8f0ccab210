// This file determines who wrote the lines that a search program, such as grep, printed.

package origin

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// raiseTrustLevelForSearch records who may have written the text in the output of a search. The output may contain text
// from the searched files. If a directory was searched, it may also contain text from the files that the output names.
// The least trusted of these files determines the output's trust level. A printed line without a file name may come
// from any file in a searched directory. With such a line, the level is at least TrustLevelUnvouchedText.
func (j *toolCallVerdictState) raiseTrustLevelForSearch(dir string, paths []string, output, cause string) {
	j.raiseTrustLevelForReadFiles(dir, paths, cause)
	hasDir := slices.ContainsFunc(absolutePaths(dir, paths), isDir)
	if !hasDir || j.highestTrustLevel == TrustLevelForeignText {
		return
	}
	l := searchOutput{baseDir: dir, isFileByName: map[string]bool{}}
	for line := range strings.Lines(output) {
		l.addLine(strings.TrimSpace(line))
	}
	j.raiseTrustLevelForReadFiles(dir, l.printedFiles, cause)
	if l.hasLineWithoutFileName {
		j.raiseTrustLevel(TrustLevelUnvouchedText, cause)
	}
}

// maxWordsInLineWithoutFile is a maximum number of words. An output line without a file name is accepted if it has at
// most this many words, because so short a line may be a count that the search program itself wrote. A longer line
// contains text of an unknown file.
const maxWordsInLineWithoutFile = 5

// searchOutput collects the files from which a search printed lines.
type searchOutput struct {
	baseDir                string
	isFileByName           map[string]bool // cache that maps a file name to whether the file exists
	printedFiles           []string        // files whose lines occur in the output of the search program
	hasLineWithoutFileName bool            // The search printed a line that names no file.
}

// contextLineSeparator matches the line number in a line NAME-LINE-TEXT. Search programs such as grep print such lines
// as the context of a hit.
var contextLineSeparator = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-[0-9]+-`) })

// addLine determines the file from which a line was printed, and records this file. A line has the form NAME:LINE:TEXT,
// NAME:TEXT or NAME-LINE-TEXT. If the line consists only of a file name, the line contains no text from the file, so
// addLine does not record the file. If a line with more than maxWordsInLineWithoutFile words names no file, addLine
// sets hasLineWithoutFileName.
func (l *searchOutput) addLine(line string) {
	if line == "" || l.hasFile(line) {
		return
	}
	for i, c := range line {
		if c == ':' && l.recordIfFile(line[:i]) {
			return
		}
		if i > maxFileNameBytes {
			break
		}
	}
	for _, at := range contextLineSeparator().FindAllStringIndex(line, 3) {
		if l.recordIfFile(line[:at[0]]) {
			return
		}
	}
	l.hasLineWithoutFileName = l.hasLineWithoutFileName || len(strings.Fields(line)) > maxWordsInLineWithoutFile
}

// A file name is searched for in the first maxFileNameBytes bytes of a line.
const maxFileNameBytes = 400

// recordIfFile records that a search program printed a line from the named file. It only acts if such a file exists,
// and otherwise returns false.
func (l *searchOutput) recordIfFile(name string) bool {
	isFile := l.hasFile(name)
	if isFile && !slices.Contains(l.printedFiles, name) {
		l.printedFiles = append(l.printedFiles, name)
	}
	return isFile
}

// hasFile reports whether the file name exists. A relative name is a name in l.baseDir, the directory in which the
// search program ran. hasFile caches the result in l.isFileByName.
func (l *searchOutput) hasFile(name string) bool {
	isFile, ok := l.isFileByName[name]
	if !ok {
		filePath := name
		if !filepath.IsAbs(name) {
			filePath = filepath.Join(l.baseDir, name)
		}
		isFile = name != "" && len(name) <= maxFileNameBytes && pathExists(filePath)
		l.isFileByName[name] = isFile
	}
	return isFile
}
