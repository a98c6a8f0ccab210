// The codec between the name of a fact and the name of its file, without .md.

package duragent

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// worldMark begins the name of a fact whose file is called as the curated note
// or a moment of a day is.
const worldMark = "world/"

// reserved are the characters that the name of a file cannot hold on every
// system, and the one that begins their codes.
const reserved = `/\:*?"<>|%`

// stemOf returns the name of a fact's file. Most names are their own; reserved
// characters, and a dot that would hide the file or make it look like a conflict
// copy, are written as in a URL: "why?" is in why%3F.md.
func stemOf(name string) string {
	if own, ok := strings.CutPrefix(name, worldMark); ok && isOwn(own) {
		name = own
	}
	hide := -1
	if mdtree.IsConflict(name + ".md") {
		hide = strings.LastIndexByte(name, '.')
	}
	if hide < 0 && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, reserved) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; strings.IndexByte(reserved, c) >= 0 || (c == '.' && (i == 0 || i == hide)) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// nameOf returns the name of the fact in a file. What stemOf would write
// otherwise is taken as it stands: people name files as they like.
func nameOf(stem string) string {
	name := stem
	if n, ok := decode(stem); ok && stemOf(n) == stem {
		name = n
	}
	return factName(name)
}

// factName returns the name under which a fact of that name is kept.
func factName(name string) string {
	if isOwn(name) {
		return worldMark + name
	}
	return name
}

// decode replaces the codes in a stem, and reports whether all of them are ones.
func decode(stem string) (string, bool) {
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

// checkFact refuses a name that no fact's file can have.
func checkFact(name string) error {
	if strings.HasPrefix(name, agentsMark) {
		return &oxbow.InvalidError{
			Field:  "name",
			Value:  name,
			Reason: "begins as those of agents' own entries do in the backend oxbow",
		}
	}
	if n := len(stemOf(name)); n > maxTopic {
		return &oxbow.InvalidError{
			Field:  "name",
			Value:  name,
			Reason: fmt.Sprintf("needs %d bytes in the name of a file; the most is %d", n, maxTopic),
		}
	}
	return nil
}

const agentsMark = "agents/"

func agentMark(agent string) string { return agentsMark + agent + "/" }

// curated is the name of the note that is the agent's MEMORY.md.
const curated = "MEMORY"

// isOwn reports whether an entry of that name is the agent's own; the others
// are the world's.
func isOwn(name string) bool {
	_, _, _, day := parsePartName(name)
	return day || name == curated
}

// maxTopic bounds a topic in bytes, so that its file name, and that of the
// temporary file next to it, stay below the 255 that file systems take.
const maxTopic = 200
