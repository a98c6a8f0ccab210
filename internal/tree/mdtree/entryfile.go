// The entry file for other packages, which keep one entry a file in places of
// their own. The package comment has the format.

package mdtree

import (
	"errors"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// ParseEntry reads the file of an entry. Of what it does not say the fields are
// zero, the name, too. Warnings are of parts that are not read.
func ParseEntry(text string) (e oxbow.Entry, warnings []string, err error) {
	p, err := parseEntry(text)
	return oxbow.Entry{Name: p.name, Content: p.content, Aliases: p.aliases, Labels: p.labels, Created: p.created}, p.warnings, err
}

// FormatEntry returns the file of an entry, which holds its name. Equal entries
// have equal files.
func FormatEntry(e oxbow.Entry) string { return string(appendEntry(nil, &e, true)) }

// ErrConflictMarkers is returned for a file that git could not merge, and that nobody has merged
// by hand yet.
var ErrConflictMarkers = errors.New("has git's conflict markers: choose what is right, and take the lines <<<<<<<, ======= and >>>>>>> out")

// HasConflictMarkers reports whether lines of a text begin as those of a conflict of git do, in
// their order.
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
