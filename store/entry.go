// This file defines entries, the kinds of entries, labels, and the limits for sizes.

package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/syntax"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// These are the limits for an entry. They limit the memory that an entry needs and keep log records readable. A store
// may have lower limits.
const (
	MaxName    = 256     // maximum number of bytes in a name or an alias
	MaxContent = 4 << 20 // maximum number of bytes in the content
	MaxAliases = 64      // maximum number of aliases
	MaxLabels  = 256     // maximum number of labels
)

// Kind is the kind of an entry. Only the constants below are kinds.
type Kind uint8

// These are the kinds. Their numbers are part of the file format and never change.
const (
	Note    Kind = iota // written by an agent or a person to be remembered
	Archive             // a summary that replaced a session's context when the context was compacted
	Journal             // an entry in a daily log
	World               // a fact about the world, which all agents share
	History             // a summary of what happened in a past session
	Handoff             // a task that a session leaves for the next session
	kindCount
)

var kindNames = [...]string{"note", "archive", "journal", "world", "history", "handoff"}

// Kinds returns all kinds of entries in the order of their numbers.
func Kinds() []Kind {
	ks := make([]Kind, kindCount)
	for i := range ks {
		ks[i] = Kind(i)
	}
	return ks
}

// Valid reports whether k is in the result of [Kinds].
func (k Kind) Valid() bool { return k < kindCount }

// String returns the name of the kind, such as "note".
func (k Kind) String() string {
	if k.Valid() {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ParseKind returns the kind with this name, such as "note". For any other name, it returns an error that matches
// [ErrInvalid] and lists the names.
func ParseKind(s string) (Kind, error) {
	if i := slices.Index(kindNames[:], s); i >= 0 {
		return Kind(i), nil
	}
	return 0, &InvalidError{Field: "kind", Value: s,
		Reason: "is not one of " + strings.Join(kindNames[:], ", ")}
}

// MarshalText returns the name of the kind.
func (k Kind) MarshalText() ([]byte, error) {
	if !k.Valid() {
		return nil, &InvalidError{Field: "kind", Value: k.String(), Reason: "is unknown"}
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText sets the kind to the one with this name.
func (k *Kind) UnmarshalText(b []byte) error {
	v, err := ParseKind(string(b))
	if err != nil {
		return err
	}
	*k = v
	return nil
}

// An Entry is a text that a memory remembers, such as a note, with a name and labels. A store
// returns the same entries to several callers, so callers must not change an entry. Use
// [Entry.Clone] to get a copy that may be changed.
type Entry struct {
	ID      uint64    // number that the store assigned, from 1; it is never used again
	Name    string    // unique in its store, at most [MaxName] bytes
	Kind    Kind      // fixed for the life of the entry
	Content string    // Markdown text of at most [MaxContent] bytes
	Aliases []string  // other names of the entry, in the order in which the writer listed them
	Labels  []Label   // sorted by key, then value, without duplicates
	Created time.Time // time when the entry was first written, in UTC
	Updated time.Time // time when this version was written, in UTC
	Version uint64    // sequence number of the change that wrote this version
	Source  Source    // author and origin of this version
}

// Clone returns a copy that shares no memory with e.
func (e Entry) Clone() Entry {
	e.Aliases = slices.Clone(e.Aliases)
	e.Labels = slices.Clone(e.Labels)
	return e
}

// Label returns the first value of the label with this key. It returns false if the entry
// does not have the label.
func (e Entry) Label(key string) (string, bool) {
	for _, l := range e.Labels {
		if l.Key == key {
			return l.Value, true
		}
	}
	return "", false
}

// Values returns the values of all labels with this key, ordered as in e.Labels.
func (e Entry) Values(key string) []string {
	var vs []string
	for _, l := range e.Labels {
		if l.Key == key {
			vs = append(vs, l.Value)
		}
	}
	return vs
}

// Confidence returns how sure the author of the entry was, from 0 to 1. It returns false if the entry lacks the label
// confidence.
func (e Entry) Confidence() (float64, bool) {
	s, _ := e.Label(LabelConfidence)
	f, err := parseConfidence(s)
	return f, err == nil
}

// CheckName returns an error matching [ErrInvalid] if a name is not allowed. A name must be
// UTF-8 text with 1 to [MaxName] bytes. It must not contain control characters, or begin or
// end with white space. Slashes, dots and characters of any script are allowed, because a
// name is never used as a path.
func CheckName(name string) error { return checkNameText("name", name) }

// CheckContent returns an error matching [ErrInvalid] if a content is not allowed. A
// content must be UTF-8 text of at most [MaxContent] bytes without a NUL byte. It may be
// empty.
func CheckContent(content string) error {
	switch {
	case len(content) > MaxContent:
		return &InvalidError{Field: "content",
			Reason: "is longer than the " + text.FormatBytes(MaxContent) +
				" that one entry may hold; split it, or keep the file and remember its path"}
	case !utf8.ValidString(content):
		return &InvalidError{
			Field: "content",
			Reason: fmt.Sprintf(
				"is not UTF-8 text (byte %d); convert it first, for example with iconv -t UTF-8",
				text.FirstInvalidUTF8(content),
			),
		}
	case strings.IndexByte(content, 0) >= 0:
		return &InvalidError{
			Field: "content",
			Reason: fmt.Sprintf(
				"holds a NUL: this looks like a binary file, not text (byte %d)",
				strings.IndexByte(content, 0),
			),
		}
	}
	return nil
}

// checkNameText checks the rules that apply to names, aliases and label values. field is the name of the field in the
// error.
func checkNameText(field, s string) error {
	switch {
	case s == "":
		return &InvalidError{Field: field, Reason: "is empty"}
	case len(s) > MaxName:
		return &InvalidError{Field: field, Value: text.TruncateWithEllipsis(s, 40),
			Reason: fmt.Sprintf("has %d bytes; the most is %d", len(s), MaxName)}
	case !utf8.ValidString(s):
		return &InvalidError{Field: field, Value: text.TruncateWithEllipsis(s, 40), Reason: "is not UTF-8"}
	case strings.TrimSpace(s) != s:
		return &InvalidError{Field: field, Value: s, Reason: "begins or ends with white space"}
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		return &InvalidError{Field: field, Value: text.TruncateWithEllipsis(s, 40),
			Reason: fmt.Sprintf("holds a control character at byte %d", i)}
	}
	return nil
}

// Is reports whether two labels have the same key and the same value. Values that differ only in their Unicode
// composition are the same.
func (l Label) Is(other Label) bool { return l.Key == other.Key && SameName(l.Value, other.Value) }

// These label keys have a fixed meaning. Callers may use any other keys.
const (
	LabelProject    = "project"    // the project that the entry belongs to
	LabelTag        = "tag"        // a word by which the entry's author classifies the entry
	LabelFile       = "file"       // path of a related file, relative to its project
	LabelConfidence = "confidence" // how sure the writer was, from 0 to 1

	// LabelFileBlob is written by programs. The value is the Git blob hash that a related
	// file had when the entry was written, a space, and the file's path. Recall does not
	// search these values.
	LabelFileBlob = "file-blob"
)

// A Label is a key and a value attached to an entry. An entry may have several labels with
// the same key.
type Label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// String returns the label in the syntax that [ParseLabel] reads, such as project:vtt or tag:"two words". The result
// can also be used as a filter that selects entries with the label. An exception are labels with a key that the filter
// language reserves, such as type. In a filter, the key of such a label must be in quotes.
func (l Label) String() string { return l.Key + ":" + syntax.QuoteValue(l.Value) }

// Check returns an error matching [ErrInvalid] if the label is not allowed. A key is a
// lower-case ASCII letter followed by letters, digits, - or _, at most 64 bytes in all, and
// must not be a reserved word of the filter language. A value follows the rules of
// [CheckName]. A confidence must be a number from 0 to 1.
func (l Label) Check() error {
	if !syntax.IsLabelKey(l.Key) {
		return &InvalidError{Field: "label key", Value: text.TruncateWithEllipsis(l.Key, 40),
			Reason: "is not a lower-case letter followed by letters, digits, - or _ (at most 64)"}
	}
	if slices.Contains(syntax.NonLabelKeys, l.Key) {
		return &InvalidError{Field: "label key", Value: l.Key,
			Reason: "is a word of the filter language; choose another"}
	}
	if checkNameText("label", l.Value) != nil {
		// Build the text with the label's key only now, because the text is needed only for the error.
		return checkNameText("label "+l.Key, l.Value)
	}
	if l.Key == LabelConfidence {
		_, err := parseConfidence(l.Value)
		return err
	}
	return nil
}

// parseConfidence parses a decimal number from 0 to 1.
func parseConfidence(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	isDecimal := err == nil && !strings.ContainsAny(s, "xX_")
	if !isDecimal || !isValidConfidence(f) {
		return 0, &InvalidError{
			Field:  "confidence",
			Value:  text.TruncateWithEllipsis(s, 40),
			Reason: "is not a number from 0 to 1",
		}
	}
	return f, nil
}

// isValidConfidence reports whether f is from 0 to 1. It returns false for NaN.
func isValidConfidence(f float64) bool {
	return f >= 0 && f <= 1
}

// Confidence returns the label for a confidence f from 0 to 1.
func Confidence(f float64) Label {
	return Label{LabelConfidence, strconv.FormatFloat(f, 'f', -1, 64)}
}

// ParseLabel parses key:value. Key and value may each be quoted. Errors match [ErrInvalid].
func ParseLabel(s string) (Label, error) {
	key, value, ok := strings.Cut(s, ":")
	if !ok {
		return Label{}, &InvalidError{
			Field:  "label",
			Value:  text.TruncateWithEllipsis(s, 40),
			Reason: "has no colon; write key:value",
		}
	}
	for _, p := range []*string{&key, &value} {
		if strings.HasPrefix(*p, `"`) {
			v, err := strconv.Unquote(*p)
			if err != nil {
				return Label{}, &InvalidError{
					Field:  "label",
					Value:  text.TruncateWithEllipsis(s, 40),
					Reason: "has an unclosed or badly escaped quote",
				}
			}
			*p = v
		}
	}
	l := Label{key, value}
	return l, l.Check()
}

// SplitTags splits each string at its commas and returns the trimmed, non-empty parts as
// tags. A string without such a part becomes the tag "", which is invalid.
//
// A tag must not contain a comma, because an unquoted comma in a filter means "or", and a
// filter could therefore not find the tag.
func SplitTags(list ...string) []string {
	var tags []string
	for _, s := range list {
		before := len(tags)
		for t := range strings.SplitSeq(s, ",") {
			t = strings.TrimSpace(t)
			if t != "" {
				tags = append(tags, t)
			}
		}
		if len(tags) == before {
			tags = append(tags, "")
		}
	}
	return tags
}

// SortLabels returns a sorted copy of the labels, by key, then by value, without
// duplicates.
func SortLabels(ls []Label) []Label {
	if len(ls) == 0 {
		return nil
	}
	ls = slices.Clone(ls)
	slices.SortFunc(ls, compareLabels)
	return slices.Compact(ls)
}

func compareLabels(a, b Label) int {
	if c := strings.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return strings.Compare(a.Value, b.Value)
}

// checkLabels checks the labels of an entry. At most one label may be a confidence.
func checkLabels(ls []Label) error {
	if len(ls) > MaxLabels {
		return &InvalidError{Field: "labels", Value: strconv.Itoa(len(ls)),
			Reason: fmt.Sprintf("are more than the %d that one entry may carry", MaxLabels)}
	}
	n := 0
	for _, l := range ls {
		if err := l.Check(); err != nil {
			return err
		}
		if l.Key == LabelConfidence {
			n++
		}
	}
	if n > 1 {
		return &InvalidError{Field: "confidence", Reason: "is given more than once"}
	}
	return nil
}
