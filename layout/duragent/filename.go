// This file converts between a fact's name and the stem of its file, which is the file name without .md.

package duragent

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// worldFactPrefix is put before the name of a fact that all agents share, if an agent's own entry could have the same
// name. Such names are the name of the agent's curated note, and the entry names in the agent's daily logs.
const worldFactPrefix = "world/"

// reservedChars contains the characters that some file systems do not allow in file names, and the
// percent sign, which begins an encoded character.
const reservedChars = `/\:*?"<>|%`

// factFileStem returns the stem of the file for a fact. It is usually the name itself. Reserved characters are encoded
// as in a URL, for example "why?" as why%3F. A dot is encoded if it would hide the file or make the file look like a
// conflict copy.
func factFileStem(name string) string {
	if own, ok := strings.CutPrefix(name, worldFactPrefix); ok && isAgentsOwnEntry(own) {
		name = own
	}
	hide := -1
	if mdtree.IsConflictCopy(name + ".md") {
		hide = strings.LastIndexByte(name, '.')
	}
	isPlain := !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, reservedChars)
	if hide < 0 && isPlain {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		hidesDot := c == '.' && (i == 0 || i == hide)
		if hidesDot || strings.IndexByte(reservedChars, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// decodeName returns the name of the fact in a file with this stem. It decodes characters that factFileStem has
// encoded, such as %3F. If factFileStem would give the decoded name another stem, a person has named the file, and
// decodeName uses the stem itself as the name.
func decodeName(fileStem string) string {
	name := fileStem
	if n, ok := decodePercents(fileStem); ok && factFileStem(n) == fileStem {
		name = n
	}
	return factName(name)
}

// factName returns the entry name of a fact that all agents share. If an entry of a single agent could have the same
// name, worldFactPrefix is put before the name.
func factName(name string) string {
	if isAgentsOwnEntry(name) {
		return worldFactPrefix + name
	}
	return name
}

// decodePercents decodes characters such as %2F in a file name without its extension. It returns false if a percent
// sign does not begin an encoded character.
func decodePercents(stem string) (string, bool) {
	parts := strings.Split(stem, "%")
	for i, p := range parts[1:] {
		if len(p) < 2 {
			return "", false
		}
		c, err := strconv.ParseUint(p[:2], 16, 7)
		if err != nil {
			return "", false
		}
		parts[i+1] = string(rune(c)) + p[2:]
	}
	return strings.Join(parts, ""), true
}

// checkFactName returns an error if no fact can have this name: if the name is too long for a file, or if it begins
// with agentsPrefix.
func checkFactName(name string) error {
	if strings.HasPrefix(name, agentsPrefix) {
		return &oxbow.InvalidError{
			Field:  "name",
			Value:  name,
			Reason: "begins as those of agents' own entries do in the backend oxbow",
		}
	}
	if n := len(factFileStem(name)); n > maxTopicBytes {
		return &oxbow.InvalidError{
			Field:  "name",
			Value:  name,
			Reason: fmt.Sprintf("needs %d bytes in the name of a file; the most is %d", n, maxTopicBytes),
		}
	}
	return nil
}

const agentsPrefix = "agents/"

func agentPrefix(agent string) string { return agentsPrefix + agent + "/" }

// curatedNoteName is the name of the note in the agent's file MEMORY.md.
const curatedNoteName = "MEMORY"

// isAgentsOwnEntry reports whether the entry with this name belongs to the agent alone. These are the entries for
// single days, and the note MEMORY. All other entries are facts about the world, which all agents share.
func isAgentsOwnEntry(name string) bool {
	_, _, _, day := parseDayEntryName(name)
	return day || name == curatedNoteName
}

// maxTopicBytes is the maximum length of a topic in bytes. This limit keeps the file's name, and the longer name of
// the temporary file, within the 255 bytes that file systems allow.
const maxTopicBytes = 200
