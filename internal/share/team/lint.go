// This file finds problems in team files. It needs neither git nor a home, and the repository need not be trusted.

package team

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Finding is a problem in a team file.
type Finding struct {
	File    string // name of the file ("" if the problem concerns the directory)
	Problem string
	Mend    string
}

// File is a team file with the entry that it contains.
type File struct {
	Name  string // name of the file in the directory
	Entry oxbow.Entry
}

// LintFiles reads all team files in a directory. It returns the entries in the order of the file names, and a finding
// for each problem. Files that are not meant to be entries are ignored. It fails if the directory cannot be read.
func LintFiles(dir string) (files []File, findings []Finding, err error) {
	t := &Tree{path: filepath.Clean(dir)}
	if fi, err := os.Lstat(dir); err == nil && !fi.IsDir() {
		return nil, nil, fmt.Errorf(
			"reading team files: %s is not a directory of its own, and no link is followed here",
			dir,
		)
	}
	d, err := vfs.Dir(t.path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading team files: %w", err)
	}
	defer d.Close()
	entries, err := d.ReadDir(".")
	if err != nil {
		return nil, nil, fmt.Errorf("reading team files: %w", err)
	}
	l := &fileLinter{dir: d, fileByEntryName: map[string]string{}}
	for _, e := range entries {
		if name := e.Name(); name == settingsFile {
			l.lintSettings(t)
		} else {
			l.lintFile(e)
		}
	}
	if n := len(l.files); n > maxTeamFiles {
		l.addFinding("", "remove what is done with", "there are %d entries; more than %d are not read", n, maxTeamFiles)
	}
	return l.files, l.findings, nil
}

type fileLinter struct {
	dir             *vfs.OS
	fileByEntryName map[string]string // by the name of an entry, the file that contains it
	files           []File
	findings        []Finding
}

func (l *fileLinter) addFinding(file, remedy, format string, args ...any) {
	l.findings = append(l.findings, Finding{file, fmt.Sprintf(format, args...), remedy})
}

func (l *fileLinter) lintSettings(t *Tree) {
	text, err := t.readTeamFile(settingsFile)
	if err == nil {
		_, err = parseSettings(settingsFile, text)
	}
	if err != nil {
		l.addFinding(
			settingsFile,
			"mend the line; oxbow team init writes the file where it is missing",
			"%s",
			strings.ReplaceAll(err.Error(), "\n", "; "),
		)
	}
}

// lintFile checks a file that contains an entry, or that was probably meant to contain one.
func (l *fileLinter) lintFile(d os.DirEntry) {
	name := d.Name()
	switch {
	case !strings.EqualFold(filepath.Ext(name), fileExtension) || strings.EqualFold(name, "README.md"):
		return
	case !d.Type().IsRegular():
		l.addFinding(
			name,
			"remove it, or put a file in its place",
			"is not a regular file; no link is followed, and it is not read",
		)
		return
	case !isEntryFile(name):
		l.addFinding(
			name,
			"rename it like the other files of entries, such as deploy-01ARZ3NDEKTSV4RRFFQ69G5FAV.md",
			"is not read, because its name does not end in a ULID and .md",
		)
		return
	}
	b, err := vfs.ReadFile(l.dir, name, maxFileBytes)
	if err != nil {
		l.addFinding(name, "shorten or mend the file", "cannot be read: %v", err)
		return
	}
	text := string(b)
	if reason := mdtree.InvalidTextReason(text); reason != "" {
		l.addFinding(name, "write it again as text", "%s", reason)
		return
	}
	e, notes, err := parseEntry(text)
	if err != nil {
		l.addFinding(name, "mend the file; git log shows what it was", "%v", err)
		return
	}
	for _, n := range notes {
		l.addFinding(name, "mend or remove that part", "%s", n)
	}
	l.lintEntry(name, e)
}

// lintEntry checks the entry that a file contains.
func (l *fileLinter) lintEntry(name string, e oxbow.Entry) {
	if first, twice := l.fileByEntryName[e.Name]; twice {
		l.addFinding(
			name,
			"put into one file what is right, and remove the other; until then a reviewed one counts before others, "+
				"else the first",
			"says %q, which %s says too",
			e.Name,
			first,
		)
	} else {
		l.fileByEntryName[e.Name] = name
	}
	if err := Check(e); err != nil {
		l.addFinding(name, "shorten or mend the entry", "%v", err)
	}
	if owner := e.Values(threeway.LabelConflict); len(owner) > 0 {
		l.addFinding(
			name,
			"keep what is right, and take the label conflict away",
			"a merge left two versions of its %s",
			strings.Join(owner, " and its "),
		)
	}
	l.files = append(l.files, File{name, e})
}
