// The entry, its kind, its labels and their limits.

package store

import (
	"cmp"
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

// Valid reports whether k is one of [Kinds].
func (k Kind) Valid() bool { return k < endKind }

// String returns the kind's word, such as "note".
func (k Kind) String() string {
	if k.Valid() {
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
	if !k.Valid() {
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

// Confidence returns how sure the writer was, from 0 to 1, and whether the entry
// says it.
func (e Entry) Confidence() (float64, bool) {
	s, _ := e.Label(LabelConfidence)
	f, err := parseConfidence(s)
	return f, err == nil
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

// Is reports whether two labels are the same, whatever their Unicode composition.
func (l Label) Is(other Label) bool { return l.Key == other.Key && SameName(l.Value, other.Value) }

// The label keys that every door knows. Other keys may be used freely.
const (
	LabelProject    = "project"    // what the entry belongs to
	LabelTag        = "tag"        // a free word
	LabelFile       = "file"       // a related file, relative to its project
	LabelConfidence = "confidence" // how sure the writer was, 0 to 1

	// LabelFileBlob is written by programs: git's name of the content that a
	// related file had when the entry was written, a space, and the file. It
	// is not searched.
	LabelFileBlob = "file-blob"
)

// Label is a key and a value tied to an entry. An entry may carry several
// labels of one key.
type Label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// String returns the label as [ParseLabel] reads it, such as project:vtt or
// tag:"two words". As a filter it selects by the label, except for keys such as
// type, which a filter must quote.
func (l Label) String() string { return l.Key + ":" + syntax.QuoteValue(l.Value) }

// Check reports, as an error matching [ErrInvalid], why the label cannot be
// used. A key is a lower-case ASCII letter followed by letters, digits, - and
// _, at most 64 bytes, and no reserved word of the filter language; a value
// follows the rules of [CheckName], and a confidence is a
// number from 0 to 1.
func (l Label) Check() error {
	if !syntax.IsLabelKey(l.Key) {
		return &InvalidError{Field: "label key", Value: text.Clip(l.Key, 40),
			Reason: "is not a lower-case letter followed by letters, digits, - or _ (at most 64)"}
	}
	if slices.Contains(syntax.Reserved, l.Key) {
		return &InvalidError{Field: "label key", Value: l.Key,
			Reason: "is a word of the filter language; choose another"}
	}
	if err := checkWord("label "+l.Key, l.Value); err != nil {
		return err
	}
	if l.Key == LabelConfidence {
		_, err := parseConfidence(l.Value)
		return err
	}
	return nil
}

// parseConfidence reads a confidence, a decimal number from 0 to 1.
func parseConfidence(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= 1) || strings.ContainsAny(s, "xX_") {
		return 0, &InvalidError{Field: "confidence", Value: text.Clip(s, 40), Reason: "is not a number from 0 to 1"}
	}
	return f, nil
}

// Confidence returns the label that says how sure the writer was, f being from
// 0 to 1.
func Confidence(f float64) Label {
	return Label{LabelConfidence, strconv.FormatFloat(f, 'f', -1, 64)}
}

// ParseLabel reads key:value, both quoted or not. Errors match [ErrInvalid].
func ParseLabel(s string) (Label, error) {
	key, value, ok := strings.Cut(s, ":")
	if !ok {
		return Label{}, &InvalidError{Field: "label", Value: text.Clip(s, 40), Reason: "has no colon; write key:value"}
	}
	for _, p := range []*string{&key, &value} {
		if strings.HasPrefix(*p, `"`) {
			v, err := strconv.Unquote(*p)
			if err != nil {
				return Label{}, &InvalidError{Field: "label", Value: text.Clip(s, 40), Reason: "has an unclosed or badly escaped quote"}
			}
			*p = v
		}
	}
	l := Label{key, value}
	return l, l.Check()
}

// SplitTags returns the tags of a list in which each string may name several tags, separated by
// commas, as "a, b" does. A filter reads a comma as "or", so that no filter would find a tag
// with a comma unless it is quoted. A string without a tag becomes the tag "", which is invalid.
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

// SortLabels returns the labels sorted by key, then value, without repeats.
// The result shares nothing with the argument.
func SortLabels(ls []Label) []Label {
	if len(ls) == 0 {
		return nil
	}
	ls = slices.Clone(ls)
	slices.SortFunc(ls, compareLabels)
	return slices.Compact(ls)
}

func compareLabels(a, b Label) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value))
}

// checkLabels checks the labels of one entry together.
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
