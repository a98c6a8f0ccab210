// This file contains exported functions that read and write the text of an entry's file. They are for other packages
// that store each entry in a file. The package comment describes the format.

package mdtree

import (
	"errors"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// ParseEntry parses the file of an entry. Fields that the file does not specify are zero, including
// the name. The warnings describe parts of the file that were ignored.
func ParseEntry(text string) (e oxbow.Entry, warnings []string, err error) {
	p, err := parseEntry(text)
	return oxbow.Entry{Name: p.name, Content: p.content, Aliases: p.aliases, Labels: p.labels,
		Created: p.created}, p.warnings, err
}

// FormatEntry returns the text of an entry's file, which includes the name. Equal entries have
// equal files.
func FormatEntry(e oxbow.Entry) string {
	return string(entryText{Entry: &e, includesName: true}.appendFileText(nil))
}

// ErrConflictMarkers is returned for a file with a merge conflict that nobody has resolved yet.
var ErrConflictMarkers = errors.New(
	"has git's conflict markers: choose what is right, and take the lines <<<<<<<, ======= and >>>>>>> out",
)

// HasConflictMarkers reports whether the text contains lines that start with git's three conflict
// markers, in their order.
func HasConflictMarkers(text string) bool {
	if !strings.Contains(text, "<<<<<<<") {
		return false
	}
	lines := []string{"<<<<<<<", "=======", ">>>>>>>"}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, lines[0]) {
			lines = lines[1:]
			if len(lines) == 0 {
				return true
			}
		}
	}
	return false
}
