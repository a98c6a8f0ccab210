// The entry file for other packages, which keep one entry a file in places of
// their own. The package comment has the format.

package mdtree

import "github.com/oxbow-memory/oxbow"

// ParseEntry reads the file of an entry. Of what it does not say the fields are
// zero, the name, too. Warnings are of parts that are not read.
func ParseEntry(text string) (e oxbow.Entry, warnings []string, err error) {
	p, err := parseEntry(text)
	return oxbow.Entry{Name: p.name, Content: p.content, Aliases: p.aliases, Labels: p.labels, Created: p.created}, p.warnings, err
}

// FormatEntry returns the file of an entry, which holds its name. Equal entries
// have equal files.
func FormatEntry(e oxbow.Entry) string { return string(appendEntry(nil, &e, true)) }
