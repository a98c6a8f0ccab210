// Labels that name what an entry was made from.

package lineage

import (
	"strconv"
	"strings"
)

// Label is the key of the labels that name what a version was made from: NAME@SEQ
// for a version of an entry, the name of a turn for one of a session. Programs write
// it; no caller of a verb gives or removes it.
const Label = "from"

// Source returns the value of the label for a version of an entry.
func Source(name string, version uint64) string {
	return name + "@" + strconv.FormatUint(version, 10)
}

// ParseSource reads what Source makes. The name of a turn is no version.
func ParseSource(s string) (name string, version uint64, ok bool) {
	i := strings.LastIndexByte(s, '@')
	if i <= 0 {
		return "", 0, false
	}
	version, err := strconv.ParseUint(s[i+1:], 10, 64)
	if err != nil || version == 0 || Source(s[:i], version) != s {
		return "", 0, false
	}
	return s[:i], version, true
}
