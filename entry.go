// The entry, its kind and its limits.

package oxbow

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// Limits of what one entry may hold. They bound memory and keep a record
// readable; a store may have narrower ones.
const (
	MaxName    = 256     // bytes of a name or an alias
	MaxContent = 4 << 20 // bytes of content
	MaxAliases = 64      // aliases of one entry
	MaxLabels  = 256     // labels of one entry
)

// Kind says what sort of thing an entry is. The set is closed.
type Kind uint8

// The kinds. The numbers are part of the file format and never change.
const (
	Note    Kind = iota // what an agent or a person chose to remember
	Archive             // the output of a compaction
	Journal             // one moment of a daily log
	World               // a fact that all agents share
	History             // a summary of a past session
	Handoff             // a task passed from one session to the next
	endKind
)

var kindNames = [...]string{"note", "archive", "journal", "world", "history", "handoff"}

// Kinds returns all kinds in order of their number.
func Kinds() []Kind {
	ks := make([]Kind, endKind)
	for i := range ks {
		ks[i] = Kind(i)
	}
	return ks
}

// String returns the kind's word, such as "note".
func (k Kind) String() string {
	if k < endKind {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ParseKind returns the kind of that word, or an error matching [ErrInvalid]
// that lists the words there are.
func ParseKind(s string) (Kind, error) {
	if i := slices.Index(kindNames[:], s); i >= 0 {
		return Kind(i), nil
	}
	return 0, &InvalidError{Field: "kind", Value: s,
		Reason: "is not one of " + strings.Join(kindNames[:], ", ")}
}

// MarshalText returns the kind's word.
func (k Kind) MarshalText() ([]byte, error) {
	if k >= endKind {
		return nil, &InvalidError{Field: "kind", Value: k.String(), Reason: "is unknown"}
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText sets the kind from its word.
func (k *Kind) UnmarshalText(b []byte) error {
	v, err := ParseKind(string(b))
	if err != nil {
		return err
	}
	*k = v
	return nil
}

// Entry is one thing remembered. Entries handed out by a store are shared and
// must not be changed; use [Entry.Clone] first.
type Entry struct {
	ID      uint64    // given by the store, from 1 up, never used twice
	Name    string    // unique in its store, at most [MaxName] bytes
	Kind    Kind      // fixed for the life of the entry
	Content string    // Markdown, at most [MaxContent] bytes
	Aliases []string  // other names to find it by, in the order given
	Labels  []Label   // sorted by key, then value, without repeats
	Created time.Time // when the entry was first remembered, UTC
	Updated time.Time // when its current version was written, UTC
	Version uint64    // sequence number of the change that wrote this version
	Source  Source    // who wrote this version
}

// Clone returns a copy that shares nothing with e.
func (e Entry) Clone() Entry {
	e.Aliases = slices.Clone(e.Aliases)
	e.Labels = slices.Clone(e.Labels)
	return e
}

// Label returns the first value of the label, and whether there is one.
func (e Entry) Label(key string) (string, bool) {
	for _, l := range e.Labels {
		if l.Key == key {
			return l.Value, true
		}
	}
	return "", false
}

// Values returns the values of all labels of that key, sorted.
func (e Entry) Values(key string) []string {
	var vs []string
	for _, l := range e.Labels {
		if l.Key == key {
			vs = append(vs, l.Value)
		}
	}
	return vs
}

// CheckName reports, as an error matching [ErrInvalid], why a name cannot be
// used: it is empty, longer than [MaxName] bytes, not UTF-8, holds a control
// character, or begins or ends with a space. Slashes, dots and any script are
// fine: a name is never a path.
func CheckName(name string) error { return checkWord("name", name) }

// CheckContent reports, as an error matching [ErrInvalid], why a content
// cannot be kept: it is not UTF-8, holds a NUL, or is longer than
// [MaxContent] bytes. It may be empty.
func CheckContent(content string) error {
	switch {
	case len(content) > MaxContent:
		return &InvalidError{Field: "content",
			Reason: "is longer than the " + text.Bytes(MaxContent) + " that one entry may hold; split it, or keep the file and remember its path"}
	case !utf8.ValidString(content):
		return &InvalidError{Field: "content", Reason: fmt.Sprintf("is not UTF-8 text (byte %d); convert it first, for example with iconv -t UTF-8", text.BadUTF8(content))}
	case strings.IndexByte(content, 0) >= 0:
		return &InvalidError{Field: "content", Reason: fmt.Sprintf("holds a NUL: this looks like a binary file, not text (byte %d)", strings.IndexByte(content, 0))}
	}
	return nil
}

// checkWord checks what names, aliases and label values have in common.
func checkWord(field, s string) error {
	switch {
	case s == "":
		return &InvalidError{Field: field, Reason: "is empty"}
	case len(s) > MaxName:
		return &InvalidError{Field: field, Value: text.Clip(s, 40),
			Reason: fmt.Sprintf("has %d bytes; the most is %d", len(s), MaxName)}
	case !utf8.ValidString(s):
		return &InvalidError{Field: field, Value: text.Clip(s, 40), Reason: "is not UTF-8"}
	case strings.TrimSpace(s) != s:
		return &InvalidError{Field: field, Value: s, Reason: "begins or ends with white space"}
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		return &InvalidError{Field: field, Value: text.Clip(s, 40),
			Reason: fmt.Sprintf("holds a control character at byte %d", i)}
	}
	return nil
}
