// This file parses the filter language.

package query

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/syntax"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// ParseFilter parses a filter. See [TimeFilter] for the keys "after", "since", "before", "until" and "on". Errors match
// [oxbow.ErrInvalid] and suggest a correction.
//
// If the filter language does not know a key, as in customer:acme, the term selects entries by their labels with this
// key. But if the key looks like a misspelling of a known key, such as projct, ParseFilter returns an error that names
// the known key.
//
// A key is a misspelling if it differs from the known key by one typing error: a missing, additional or wrong letter,
// or two swapped neighbours. Two errors count for a known key of ten letters or more. For a known key of three or four
// letters, the first letter must be right. A known key of two letters cannot be misspelt.
//
// To select entries by a label whose key looks like a misspelling, write the key in quotes: "tax":vat. In quotes, a
// synonym such as tags, type or path is not replaced by the known key either.
func ParseFilter(s string, now time.Time) (oxbow.Filter, error) {
	var f oxbow.Filter
	for _, w := range splitWords(s) {
		t, err := parseFilterTerm(w)
		if err != nil {
			return oxbow.Filter{}, err
		}
		if err := t.addToFilter(&f, now); err != nil {
			return oxbow.Filter{}, err
		}
	}
	return f, nil
}

// term is one condition of a filter, such as tag:infra.
type term struct {
	key, value string
	isNegated  bool
	isQuoted   bool // the key was written in quotes
}

// parseTerm parses a word such as -tag:x. ok is false if the word does not have the form of a term.
func parseTerm(word string) (t term, ok bool) {
	word, t.isNegated = strings.CutPrefix(word, "-")
	t.key, t.value, ok = strings.Cut(word, ":")
	if !ok || !syntax.IsLabelKey(t.key) {
		return term{}, false
	}
	t.key = syntax.CanonicalKey(t.key)
	return t, true
}

// quotedKeyLen returns the length of a quoted key with which s starts, including both quote characters. It returns 0
// if s does not start with a quotation that is followed by a colon.
func quotedKeyLen(s string) int {
	if !strings.HasPrefix(s, `"`) {
		return 0
	}
	n := quotationLen(s)
	if !strings.HasPrefix(s[n:], ":") {
		return 0
	}
	return n
}

// parseFilterTerm parses a word of a filter. Its key may be any label key, with or without quotes.
func parseFilterTerm(word string) (term, error) {
	rest, not := strings.CutPrefix(word, "-")
	if n := quotedKeyLen(rest); n > 0 {
		key, err := strconv.Unquote(rest[:n])
		if err != nil || !syntax.IsLabelKey(key) {
			return term{}, invalidError(
				"filter",
				text.TruncateWithEllipsis(word, 60),
				"begins with no label key in quotes, such as \"project\"",
			)
		}
		return term{key, rest[n+1:], not, true}, nil
	}
	t, ok := parseTerm(word)
	if !ok {
		return term{}, invalidError("filter", text.TruncateWithEllipsis(word, 60), describeBadTerm(rest))
	}
	if near := syntax.NearestKey(t.key); near != "" {
		return term{}, invalidError("filter key", text.TruncateWithEllipsis(t.key, 40),
			fmt.Sprintf(
				"is not known; did you mean %s? (labels of that very key are %q:%s)",
				near,
				t.key,
				text.TruncateWithEllipsis(t.value, 40),
			))
	}
	return t, nil
}

// describeBadTerm says why a word cannot be parsed as a term. The text completes a sentence in an error message.
// The word must be without its minus sign.
func describeBadTerm(word string) string {
	key, _, hasColon := strings.Cut(strings.ToLower(word), ":")
	if hasColon && syntax.IsKnownKey(key) {
		return "has no lower-case key; write " + key + ":"
	}
	reason := "is not key:value, such as project:vtt or -tag:draft"
	if near := syntax.NearestKey(key); near != "" {
		return reason + "; did you mean " + near + "?"
	}
	return reason + `; a value with spaces has quotes, and a shell needs more around them: 'name:"exact name"'`
}

// addToFilter adds the condition of the term to the filter f. A date is relative to the time now. If the value of the
// term is not allowed for its key, addToFilter returns an error.
func (t term) addToFilter(f *oxbow.Filter, now time.Time) error {
	values, err := splitValues(t.key, t.value)
	if err != nil {
		return err
	}
	switch {
	case isTimeKey(t.key) && (!t.isQuoted || slices.Contains(syntax.NonLabelKeys, t.key)):
		bounds, err := t.timeRange(values, now)
		if err == nil {
			*f = f.And(bounds)
		}
		return err
	case t.key == "id":
		return invalidError("filter", "id", "is no filter; use name:")
	}
	for _, v := range values {
		if err := checkFilterValue(t.key, v); err != nil {
			return err
		}
	}
	f.Terms = append(f.Terms, oxbow.Term{Key: t.key, Values: values, Not: t.isNegated})
	return nil
}

// timeRange returns the time range of a term whose key is a time key.
func (t term) timeRange(values []string, now time.Time) (oxbow.Filter, error) {
	if t.isNegated {
		return oxbow.Filter{}, invalidError("filter", "-"+t.key, "cannot be negated; use after: and before:")
	}
	if len(values) != 1 {
		return oxbow.Filter{}, invalidError("filter", t.key+":"+t.value, "takes one date")
	}
	return TimeFilter(t.key, values[0], now)
}

var actorNames = []string{string(oxbow.Person), string(oxbow.Agent), string(oxbow.Program), string(oxbow.Imported)}

// checkFilterValue returns an error if a term with this key cannot have this value.
func checkFilterValue(key, value string) error {
	switch key {
	case "kind":
		if _, err := oxbow.ParseKind(value); err != nil {
			var kinds []string
			for _, k := range oxbow.Kinds() {
				kinds = append(kinds, k.String())
			}
			return invalidError(
				"kind",
				text.TruncateWithEllipsis(value, 40),
				fmt.Sprintf(`is not one of %s (labels of the key type are "type":%s)`,
					strings.Join(kinds, ", "), syntax.QuoteValue(text.TruncateWithEllipsis(value, 40))),
			)
		}
	case "by":
		if !slices.Contains(actorNames, value) {
			return invalidError("by", value, "is not one of "+strings.Join(actorNames, ", "))
		}
	case "trust":
		if !slices.Contains(oxbow.Trusts(), oxbow.Trust(value)) {
			return invalidError(
				"trust",
				text.TruncateWithEllipsis(value, 40),
				fmt.Sprintf("is not one of %v", oxbow.Trusts()),
			)
		}
	case "name", "door":
		err := oxbow.CheckName(value)
		if inv, ok := errors.AsType[*oxbow.InvalidError](err); ok {
			inv.Field = key
		}
		return err
	case "has":
		if !syntax.IsLabelKey(value) {
			return invalidError("has", value, "is not a label key, such as project")
		}
	default:
		return oxbow.Label{Key: key, Value: value}.Check()
	}
	return nil
}

// splitValues splits a list of values, which are words or quoted words separated by commas.
func splitValues(key, valueList string) ([]string, error) {
	var vs []string
	for {
		v, rest, err := cutFirstValue(key, valueList)
		if err != nil {
			return nil, err
		}
		if v == "" {
			return nil, invalidError("filter", key+":", "has no value")
		}
		vs = append(vs, v)
		if rest == "" {
			return vs, nil
		}
		valueList = rest[1:] // skip the comma before the next value
	}
}

// cutFirstValue returns the first value of a list, and the rest after this value. The rest is empty or begins with a
// comma.
func cutFirstValue(key, valueList string) (v, rest string, err error) {
	if !strings.HasPrefix(valueList, `"`) {
		n := strings.IndexByte(valueList, ',')
		if n < 0 {
			n = len(valueList)
		}
		return valueList[:n], valueList[n:], nil
	}
	q, err := strconv.QuotedPrefix(valueList)
	if err != nil {
		return "", "", invalidError(
			key,
			text.TruncateWithEllipsis(valueList, 60),
			"has an unclosed or badly escaped quote",
		)
	}
	v, err = strconv.Unquote(q)
	if err != nil {
		return "", "", invalidError(key, text.TruncateWithEllipsis(valueList, 60), "has a badly escaped quote")
	}
	rest = valueList[len(q):]
	if rest != "" && rest[0] != ',' {
		return "", "", invalidError(
			key,
			text.TruncateWithEllipsis(rest, 60),
			"follows a quoted value; put a comma or a space between",
		)
	}
	return v, rest, nil
}
