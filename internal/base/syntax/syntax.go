// Package syntax defines how filters and labels are written: the keys that have a meaning, their common misspellings,
// and quotation. The root package uses it to format filters, and package query to parse filters.
package syntax

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// knownFilterKeys contains the keys that have a meaning in a filter: common label keys, and keys of other conditions.
var knownFilterKeys = []string{"project", "tag", "file", "confidence",
	"kind", "name", "by", "door", "has", "trust", "after", "before", "on"}

// NonLabelKeys contains the keys of conditions that cannot be used as label keys.
var NonLabelKeys = []string{"kind", "name", "by", "door", "after", "before", "on", "id", "has", "trust"}

// untilFilterKey is a word that people may use as a filter key, but that is also allowed as a label key. In an earlier
// version it was a synonym of a filter key, so memories may contain labels with this key. Its misspellings are not
// recognized, because similar words such as util are likely label keys.
const untilFilterKey = "until"

// keySynonyms maps a word that people may type to the known key that it means.
var keySynonyms = map[string]string{
	"tags": "tag", "projects": "project", "files": "file", "path": "file",
	"type": "kind", "since": "after", "date": "on",
}

// CanonicalKey returns the known key if key is a synonym of one. Otherwise it returns key unchanged.
func CanonicalKey(key string) string {
	if k, ok := keySynonyms[key]; ok {
		return k
	}
	return key
}

// IsKnownKey reports whether key has a meaning in a filter, as a known key or as a synonym.
func IsKnownKey(key string) bool {
	return slices.Contains(knownFilterKeys, CanonicalKey(key)) || key == untilFilterKey
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

// NearestKey returns the known key that was probably meant if key is misspelt. It returns "" if key is itself known,
// or is not similar to a known key. A key with fewer than ten letters may have one typing error, and a longer key two.
// In keys of three or four letters, the first letter must be correct. The misspellings of keys with two letters are
// not recognized.
func NearestKey(key string) string {
	if IsKnownKey(key) || slices.Contains(NonLabelKeys, key) {
		return ""
	}
	for _, k := range knownFilterKeys {
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

// QuoteKey returns a label key as it is written in a filter. It quotes the key if a filter would read the unquoted key
// as another key or as a misspelling.
func QuoteKey(key string) string {
	if isMisreadAsFilterKey(key) {
		return strconv.Quote(key)
	}
	return key
}

// isMisreadAsFilterKey reports whether a filter would misread a key that is written without quotes. The filter would
// read it as a different key, or report it as a misspelling.
func isMisreadAsFilterKey(key string) bool {
	return CanonicalKey(key) != key || NearestKey(key) != "" || key == untilFilterKey
}

// QuoteValue returns a value as it is written in a filter, with quotation marks if necessary.
func QuoteValue(v string) string {
	if v != "" && !strings.ContainsFunc(v, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || r == ',' || r == '\\' || !unicode.IsPrint(r)
	}) {
		return v
	}
	return strconv.Quote(v)
}
