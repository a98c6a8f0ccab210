// This file reads the arguments of a call as models write them: strictly where
// a guess could be wrong, and kindly where it could not.

package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// readArgs reads one JSON object into the struct that v points to.
//
// Understood beside the parameters' own names are those in [Param.Also], and
// either spelling with capitals or dashes (maxTokens, max-tokens). A number or
// a truth value may be written as a string, a number where a word is wanted,
// and one item where a list is; a comma never splits one. Null, "" and [] mean
// "not given". All else is an error that matches [oxbow.ErrInvalid] and says
// what would be right: a name that is not known, one parameter given twice, a
// wrong type, text that is not UTF-8.
func readArgs(verb string, params []Param, args json.RawMessage, v any) error {
	if args = bytes.TrimSpace(args); len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	// Decoding would replace what is not UTF-8 without a word.
	if !utf8.Valid(args) {
		return bad("arguments", "", "are not UTF-8 text; convert them first")
	}
	members, err := cutObject(args)
	if err != nil {
		return err
	}
	fields := map[string]json.RawMessage{}
	given := map[string]string{}
	for _, m := range members {
		p, ok := findParam(params, m.key)
		if !ok {
			return unknownParam(verb, params, m.key)
		}
		if first, dup := given[p.Name]; dup {
			if first == m.key {
				return bad("parameter", m.key, "is given twice")
			}
			return bad("parameter", m.key, "means the same as "+first+", which is given too; give only "+p.Name)
		}
		given[p.Name] = m.key
		value, err := convert(p, m)
		if err != nil {
			return err
		}
		if value != nil {
			fields[p.Name] = value
		}
	}
	for _, p := range params {
		if _, ok := fields[p.Name]; p.Required && !ok {
			if _, empty := given[p.Name]; empty {
				return bad(p.Name, "", "is empty; "+lowerFirst(p.Usage))
			}
			return bad("parameter", p.Name, "is missing; "+lowerFirst(p.Usage))
		}
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("reading arguments: %w", err)
	}
	if err := json.Unmarshal(whole, v); err != nil {
		return bad("arguments", "", "do not fit: "+err.Error())
	}
	return nil
}

func bad(field, value, reason string) error {
	if len(value) > 60 {
		value = strings.ToValidUTF8(value[:60], "") + "…"
	}
	return &oxbow.InvalidError{Field: field, Value: value, Reason: strings.TrimSuffix(reason, ".")}
}

// member is one key and its value, as written.
type member struct {
	key   string
	value json.RawMessage
}

// cutObject cuts a JSON object into its members, repeats among them.
func cutObject(b []byte) ([]member, error) {
	notObject := func(why string) error {
		return bad("arguments", "", "are not one JSON object such as {\"query\":\"…\"}: "+why)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	t, err := d.Token()
	if err != nil {
		return nil, notObject(jsonTrouble(err))
	}
	if t != json.Delim('{') {
		return nil, notObject("they begin with " + strconv.Quote(string(b[:1])))
	}
	var ms []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, notObject(jsonTrouble(err))
		}
		m := member{key: t.(string)} // the decoder gives nothing else here
		if err := d.Decode(&m.value); err != nil {
			return nil, notObject(jsonTrouble(err))
		}
		ms = append(ms, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, notObject(jsonTrouble(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, notObject("something follows the object")
	}
	return ms, nil
}

func jsonTrouble(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "they end too early"
	}
	return err.Error()
}

// findParam returns the parameter that a key means.
func findParam(params []Param, key string) (Param, bool) {
	for _, k := range []string{key, snake(key)} {
		for _, p := range params {
			if p.Name == k || slices.Contains(p.Also, k) {
				return p, true
			}
		}
	}
	return Param{}, false
}

// snake writes maxTokens and max-tokens as max_tokens.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '-':
			r = '_'
		case unicode.IsUpper(r):
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unknownParam(verb string, params []Param, key string) error {
	var names []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	reason := "is not known to " + verb
	if near := text.Near(snake(key), slices.Values(names), 1); len(near) > 0 {
		reason += "; did you mean " + near[0] + "?"
	} else {
		reason += ";"
	}
	return bad("parameter", key, reason+" it takes "+strings.Join(names, ", "))
}

// convert returns the value as the parameter's struct field wants it, or nil
// for one that means "not given".
func convert(p Param, m member) (json.RawMessage, error) {
	raw := bytes.TrimSpace(m.value)
	if string(raw) == "null" {
		return nil, nil
	}
	if !p.Repeatable {
		return item(p, m.key, raw)
	}
	list := []json.RawMessage{raw}
	switch {
	case raw[0] == '[':
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, bad("arguments", "", err.Error())
		}
	case bytes.HasPrefix(raw, []byte(`"[`)):
		// A list that was encoded twice, as some models do.
		var s string
		var inner []json.RawMessage
		if json.Unmarshal(raw, &s) == nil && json.Unmarshal([]byte(s), &inner) == nil {
			list = inner
		}
	}
	items := []json.RawMessage{}
	for _, r := range list {
		v, err := item(p, m.key, bytes.TrimSpace(r))
		if err != nil {
			return nil, err
		}
		if v != nil {
			items = append(items, v)
		}
	}
	if len(items) == 0 {
		return nil, nil
	}
	return json.Marshal(items)
}

// item converts one value.
func item(p Param, key string, raw json.RawMessage) (json.RawMessage, error) {
	var s string
	quoted := len(raw) > 0 && raw[0] == '"'
	if quoted {
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, bad("arguments", "", err.Error())
		}
		if lostRune(raw, s) {
			return nil, bad(p.Name, "", `holds half of a surrogate pair (\ud800 to \udfff), which is no character`)
		}
		if s == "" {
			return nil, nil
		}
	} else {
		s = string(raw)
	}
	number := !quoted && len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
	truth := s == "true" || s == "false"

	switch p.Type {
	case "string":
		switch {
		case number && key == "id":
			return nil, bad("id", s, "is a number; entries are called by name: give the entry's "+p.Name)
		case !quoted && !number:
			return nil, wrongType(p, raw)
		}
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, s) {
			reason := "is not one of " + strings.Join(p.Enum, ", ")
			if near := text.Near(s, slices.Values(p.Enum), 1); len(near) > 0 {
				reason += "; did you mean " + near[0] + "?"
			}
			return nil, bad(p.Name, s, reason)
		}
		return json.Marshal(s)
	case "boolean":
		if !truth {
			return nil, wrongType(p, raw)
		}
		return json.RawMessage(s), nil
	case "integer":
		n, ok := wholeNumber(s)
		if !ok || !quoted && !number {
			return nil, wrongType(p, raw)
		}
		if n < 0 && p.Name != "limit" && p.Name != "max_tokens" && p.Name != "count" && p.Name != "offset" {
			return nil, bad(p.Name, s, "is less than 0")
		}
		return json.RawMessage(strconv.FormatInt(n, 10)), nil
	case "number":
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || !quoted && !number {
			return nil, wrongType(p, raw)
		}
		return json.Marshal(f)
	}
	panic("tool: parameter " + p.Name + " of type " + p.Type)
}

// wholeNumber reads 5, 5.0 and 1e3, and nothing beyond what a JSON number
// keeps exactly (2⁵³) unless it is written in digits alone.
func wholeNumber(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// lostRune reports whether decoding put U+FFFD where none was written.
func lostRune(raw []byte, s string) bool {
	if !strings.ContainsRune(s, utf8.RuneError) {
		return false
	}
	written := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return strings.Count(s, "\uFFFD") > written
}

func wrongType(p Param, raw []byte) error {
	want := map[string]string{"string": "a string", "boolean": "true or false",
		"integer": "a whole number", "number": "a number"}[p.Type]
	if p.Repeatable {
		want = map[string]string{"string": "a list of strings", "integer": "a list of whole numbers"}[p.Type]
	}
	have := "a number"
	switch raw[0] {
	case '{':
		have = "an object"
	case '[':
		have = "a list"
	case '"':
		have = "a string"
	case 't', 'f':
		have = "true or false"
	case 'n':
		have = "null"
	}
	return bad("parameter", p.Name, fmt.Sprintf("wants %s, not %s (%s)", want, have, clip(string(raw), 40)))
}

// clip cuts s to at most n bytes, at a rune boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// lowerFirst makes a sentence the second half of one.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
