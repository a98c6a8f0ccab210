// Package syntax spells filters and labels: which words are keys, which near
// misses of one, and what must be quoted. The root writes by it, and package
// query reads.
package syntax

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// keys are the known keys: of labels, and of the conditions that are none.
var keys = []string{"project", "tag", "file", "confidence",
	"kind", "name", "by", "door", "has", "trust", "after", "before", "on"}

// Reserved are the words that cannot be label keys.
var Reserved = []string{"kind", "name", "by", "door", "after", "before", "on", "id", "has", "trust"}

// synonyms are other words for known keys.
var synonyms = map[string]string{
	"tags": "tag", "projects": "project", "files": "file", "path": "file",
	"type": "kind", "since": "after", "until": "before", "date": "on",
}

// Canonical returns the known key that key stands for, else key itself.
func Canonical(key string) string {
	if k, ok := synonyms[key]; ok {
		return k
	}
	return key
}

// IsKnown reports whether key is a known key or a synonym of one.
func IsKnown(key string) bool { return slices.Contains(keys, Canonical(key)) }

// IsLabelKey reports whether key has the form of a label key: a lower-case
// ASCII letter, then letters, digits, - or _, at most 64 bytes in all.
func IsLabelKey(key string) bool {
	if key == "" || len(key) > 64 || key[0] < 'a' || key[0] > 'z' {
		return false
	}
	return !strings.ContainsFunc(key, func(c rune) bool {
		return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
	})
}

// Nearest returns the known key that key is probably a misspelling of, or ""
// if key is known itself or no known key is near. Near is one typing error, two
// for keys of ten letters or more. Keys of two letters have no misspellings,
// those of three or four only such as begin with the same letter.
func Nearest(key string) string {
	if IsKnown(key) || slices.Contains(Reserved, key) {
		return ""
	}
	for _, k := range keys {
		most := 1
		switch n := len(k); {
		case n < 3, n < 5 && !strings.HasPrefix(key, k[:1]):
			continue
		case n >= 10:
			most = 2
		}
		if max(len(key)-len(k), len(k)-len(key)) <= most && text.Distance([]byte(key), []byte(k)) <= most {
			return k
		}
	}
	return ""
}

// QuoteKey returns the key of a label as a filter must spell it, in quotes if it
// would else be read as another key or as a misspelling.
func QuoteKey(key string) string {
	if Canonical(key) != key || Nearest(key) != "" {
		return strconv.Quote(key)
	}
	return key
}

// QuoteValue returns v as a value, in quotes if needed.
func QuoteValue(v string) string {
	if v != "" && !strings.ContainsFunc(v, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || r == ',' || r == '\\' || !unicode.IsPrint(r)
	}) {
		return v
	}
	return strconv.Quote(v)
}
