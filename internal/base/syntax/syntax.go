// Package syntax defines how filters and labels are written, with the known keys, misspellings of
// keys, and quotation. The root package uses it to format filters, and package query to parse
// filters.
package syntax

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// knownKeys contains the known keys: common label keys, and the keys of other conditions.
var knownKeys = []string{"project", "tag", "file", "confidence",
	"kind", "name", "by", "door", "has", "trust", "after", "before", "on"}

// ReservedKeys contains the words that cannot be label keys.
var ReservedKeys = []string{"kind", "name", "by", "door", "after", "before", "on", "id", "has", "trust"}

// untilKey is a known key that is not reserved, because it was a synonym once, so that labels with this key
// may exist. It has no misspellings, because words such as util are likely label keys.
const untilKey = "until"

// keySynonyms maps other words to known keys.
var keySynonyms = map[string]string{
	"tags": "tag", "projects": "project", "files": "file", "path": "file",
	"type": "kind", "since": "after", "date": "on",
}

// CanonicalKey returns the known key for a synonym, or key itself.
func CanonicalKey(key string) string {
	if k, ok := keySynonyms[key]; ok {
		return k
	}
	return key
}

// IsKnownKey reports whether key is a known key or a synonym of a known key.
func IsKnownKey(key string) bool {
	return slices.Contains(knownKeys, CanonicalKey(key)) || key == untilKey
}

// IsLabelKey reports whether key has the form of a label key: a lower-case ASCII letter, followed
// by lower-case letters, digits, - or _. The maximum length is 64 bytes.
func IsLabelKey(key string) bool {
	if key == "" || len(key) > 64 {
		return false
	}
	if key[0] < 'a' || key[0] > 'z' {
		return false
	}
	return !strings.ContainsFunc(key, func(c rune) bool {
		return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
	})
}

// NearestKey returns the known key of which key is probably a misspelling. It returns "" if key is
// known or not similar to a known key. A key with fewer than ten letters is similar after one
// typing error, and a longer key after two. In keys of three or four letters, the first letter must
// be correct. Keys of two letters have no misspellings.
func NearestKey(key string) string {
	if IsKnownKey(key) || slices.Contains(ReservedKeys, key) {
		return ""
	}
	for _, k := range knownKeys {
		maxErrors := 1
		switch n := len(k); {
		case n < 3, n < 5 && !strings.HasPrefix(key, k[:1]):
			continue
		case n >= 10:
			maxErrors = 2
		}
		if max(len(key)-len(k), len(k)-len(key)) <= maxErrors &&
			text.EditDistance([]byte(key), []byte(k)) <= maxErrors {
			return k
		}
	}
	return ""
}

// QuoteKey returns a label key in the syntax of filters. It quotes the key if the unquoted text
// would be read as another key or as a misspelling.
func QuoteKey(key string) string {
	if wouldBeMisread(key) {
		return strconv.Quote(key)
	}
	return key
}

// wouldBeMisread reports whether a filter would read the unquoted key as another key or as a misspelling.
func wouldBeMisread(key string) bool {
	return CanonicalKey(key) != key || NearestKey(key) != "" || key == untilKey
}

// QuoteValue returns a value in the syntax of filters. It quotes the value if necessary.
func QuoteValue(v string) string {
	if v != "" && !strings.ContainsFunc(v, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || r == ',' || r == '\\' || !unicode.IsPrint(r)
	}) {
		return v
	}
	return strconv.Quote(v)
}
