// Labels: pairs of key and value.

package oxbow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/syntax"
	"github.com/oxbow-memory/oxbow/internal/text"
)

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

// CheckLabel reports, as an error matching [ErrInvalid], why a label cannot be
// used. A key is a lower-case ASCII letter followed by letters, digits, - and
// _, at most 64 bytes, and no reserved word of the filter language; a value
// follows the rules of [CheckName], and a confidence is a
// number from 0 to 1.
func CheckLabel(l Label) error {
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
		if _, err := ParseConfidence(l.Value); err != nil {
			return err
		}
	}
	return nil
}

// ParseConfidence reads a confidence, a decimal number from 0 to 1.
func ParseConfidence(s string) (float64, error) {
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
	return l, CheckLabel(l)
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
		if err := CheckLabel(l); err != nil {
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
