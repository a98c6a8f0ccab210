// This file reads the arguments of a call as models write them. It is lenient if the meaning is
// clear, and strict if a guess could be wrong.

package verb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// readArgs reads a JSON object into the struct in.
//
// A key may be a parameter's name, a name in [Param.Also], or one of these names with capitals or
// dashes (maxTokens, max-tokens). A number or a boolean may be written as a string, a string as a
// number, and a list with a single item as that item. An item is never split at commas. Null, []
// and "" mean that the argument is absent, except that "" is a value if [Param.Empty] is set. The
// key wait_for_previous is ignored.
//
// In other cases, the error matches [oxbow.ErrInvalid] and explains the correct form. These cases
// are an unknown key, a repeated parameter, a wrong type, and text that is not UTF-8.
func readArgs(verb string, params []Param, args json.RawMessage, in reflect.Value) error {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	// Check this first, because decoding silently replaces bytes that are not UTF-8.
	if !utf8.Valid(args) {
		return InvalidValue("arguments", "", "are not UTF-8 text; convert them first")
	}
	members, err := cutObject(args)
	if err != nil {
		return err
	}
	given := map[string]string{} // key in the object, by parameter name
	filled := map[string]bool{}
	for _, m := range members {
		p, ok := findParam(params, m.key)
		if !ok && strings.HasPrefix(snake(m.key), "wait_for_previous") {
			continue // ignore this key, which Gemini CLI and similar clients add to every tool for their own use
		}
		if !ok {
			return unknownParam(verb, params, m.key)
		}
		if first, dup := given[p.Name]; dup {
			if first == m.key {
				return InvalidValue("parameter", m.key, "is given twice")
			}
			return InvalidValue("parameter", m.key, "means the same as "+first+", which is given too; give only "+
				p.Name)
		}
		given[p.Name] = m.key
		filled[p.Name], err = decode(p, m, in)
		if err != nil {
			return err
		}
	}
	for _, p := range params {
		if !p.Required || filled[p.Name] {
			continue
		}
		if _, empty := given[p.Name]; empty {
			return InvalidValue(p.Name, "", "is empty; "+lowerFirst(p.Usage))
		}
		return InvalidValue("parameter", p.Name, "is missing; "+lowerFirst(p.Usage))
	}
	return nil
}

// member is a key and its value in JSON.
type member struct {
	key   string
	value json.RawMessage
}

// cutObject splits a JSON object into its members, including repeated keys.
func cutObject(b []byte) ([]member, error) {
	notObject := func(why string) error {
		return InvalidValue("arguments", "", "are not one JSON object such as {\"query\":\"…\"}: "+why)
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
		m := member{key: t.(string)} // the decoder returns only strings here
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

// findParam returns the parameter for a key.
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

// snake converts a name such as maxTokens or max-tokens to max_tokens.
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
	if near := text.FindSimilar(snake(key), slices.Values(names), 1); len(near) > 0 {
		reason += "; did you mean " + near[0] + "?"
	} else {
		reason += ";"
	}
	return InvalidValue("parameter", key, reason+" it takes "+strings.Join(names, ", "))
}

// decode stores the value of a member in the parameter's field. It returns false if the value means
// that the argument is absent.
func decode(p Param, m member, in reflect.Value) (filled bool, err error) {
	raw := bytes.TrimSpace(m.value)
	if string(raw) == "null" {
		return false, nil
	}
	list := []json.RawMessage{raw}
	if p.Repeatable {
		list, err = decodeList(raw)
		if err != nil {
			return false, err
		}
	}
	for _, r := range list {
		s, err := readScalar(p, bytes.TrimSpace(r))
		if err != nil {
			return false, err
		}
		if s.text == "" && !p.Empty {
			continue
		}
		v, err := coercions[p.Type](p, m.key, s)
		if err != nil {
			return false, err
		}
		p.setField(in, v)
		filled = true
	}
	return filled, nil
}

// decodeList returns the items of a list. The list may be encoded twice, as some models do, or be a
// single item.
func decodeList(raw json.RawMessage) (list []json.RawMessage, err error) {
	switch {
	case raw[0] == '[':
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, InvalidValue("arguments", "", err.Error())
		}
		return list, nil
	case bytes.HasPrefix(raw, []byte(`"[`)):
		var s string
		if json.Unmarshal(raw, &s) == nil && json.Unmarshal([]byte(s), &list) == nil {
			return list, nil
		}
	}
	return []json.RawMessage{raw}, nil
}

// scalar is a single JSON value.
type scalar struct {
	raw  string // value as JSON
	text string // value without quotes
	form form
}

// form is the kind of a JSON value, in words for errors.
type form string

const (
	formString form = "a string"
	formNumber form = "a number"
	formBool   form = "true or false"
	formObject form = "an object"
	formList   form = "a list"
	formNull   form = "null"
)

func argumentForm(raw []byte) form {
	switch raw[0] {
	case '{':
		return formObject
	case '[':
		return formList
	case '"':
		return formString
	case 't', 'f':
		return formBool
	case 'n':
		return formNull
	}
	return formNumber
}

func readScalar(p Param, raw json.RawMessage) (scalar, error) {
	s := scalar{raw: string(raw), text: string(raw), form: argumentForm(raw)}
	if s.form != formString {
		return s, nil
	}
	if err := json.Unmarshal(raw, &s.text); err != nil {
		return s, InvalidValue("arguments", "", err.Error())
	}
	if lostRune(raw, s.text) {
		return s, InvalidValue(p.Name, "", `holds half of a surrogate pair (\ud800 to \udfff), which is no character`)
	}
	return s, nil
}

// coercions convert a scalar to the type of a parameter's field: string, bool, int64 or float64.
// The key is the name that the caller wrote.
var coercions = map[string]func(p Param, key string, s scalar) (any, error){
	"string": toString, "boolean": toBool, "integer": toInteger, "number": toNumber,
}

// Set stores a word of a command line in the struct that in points to, or appends it if the field
// is a list. An empty word means that the argument is absent, unless [Param.Empty] is set.
func (p Param) Set(in any, word string) error {
	s := scalar{raw: strconv.Quote(word), text: word, form: formString}
	switch {
	case word == "" && !p.Empty:
		return nil
	case p.Type == "integer":
		s.form = formNumber
	case p.Type == "boolean":
		s.form = formBool
	}
	v, err := coercions[p.Type](p, p.Name, s)
	if err == nil {
		p.setField(reflect.ValueOf(in).Elem(), v)
	}
	return err
}

// setField sets the parameter's field in a struct. If the field is a list, the value is appended.
func (p Param) setField(in reflect.Value, value any) {
	f := in.FieldByIndex(p.index)
	switch f.Kind() {
	case reflect.Slice:
		f.Set(reflect.Append(f, reflect.ValueOf(value).Convert(f.Type().Elem())))
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		f.Elem().Set(reflect.ValueOf(value).Convert(f.Type().Elem()))
	default:
		f.Set(reflect.ValueOf(value).Convert(f.Type()))
	}
}

func toString(p Param, key string, s scalar) (any, error) {
	switch {
	case s.form == formNumber && key == "id":
		return nil, InvalidValue("id", s.text, "is a number; entries are called by name: give the entry's "+p.Name)
	case s.form != formString && s.form != formNumber:
		return nil, wrongType(p, s)
	case len(p.Enum) == 0 || slices.Contains(p.Enum, s.text):
		return s.text, nil
	}
	reason := "is not one of " + strings.Join(p.Enum, ", ")
	if near := text.FindSimilar(s.text, slices.Values(p.Enum), 1); len(near) > 0 {
		reason += "; did you mean " + near[0] + "?"
	}
	return nil, InvalidValue(p.Name, s.text, reason)
}

func toBool(p Param, _ string, s scalar) (any, error) {
	if s.text != "true" && s.text != "false" {
		return nil, wrongType(p, s)
	}
	return s.text == "true", nil
}

// signed lists the parameters that may be negative when the arguments are parsed, because the verbs of these
// parameters report a negative number with a better error.
var signed = []string{"limit", "max_tokens", "count", "offset"}

func toInteger(p Param, _ string, s scalar) (any, error) {
	n, ok := wholeNumber(s.text)
	if !ok || (s.form != formString && s.form != formNumber) {
		return nil, wrongType(p, s)
	}
	if n < 0 && !slices.Contains(signed, p.Name) {
		return nil, InvalidValue(p.Name, s.text, "is less than 0")
	}
	return n, nil
}

func toNumber(p Param, _ string, s scalar) (any, error) {
	f, err := strconv.ParseFloat(s.text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || (s.form != formString && s.form != formNumber) {
		return nil, wrongType(p, s)
	}
	return f, nil
}

// wholeNumber parses an integer such as 5, 5.0 or 1e3. A number that is not written as plain
// digits must be at most 2⁵³, because larger numbers are not exact in JSON. It returns false for
// everything else.
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

// lostRune reports whether decoding inserted U+FFFD for invalid text.
func lostRune(raw []byte, s string) bool {
	if !strings.ContainsRune(s, utf8.RuneError) {
		return false
	}
	written := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return strings.Count(s, "\uFFFD") > written
}

func wrongType(p Param, s scalar) error {
	want := map[string]string{"string": "a string", "boolean": "true or false",
		"integer": "a whole number", "number": "a number"}[p.Type]
	if p.Repeatable {
		want = map[string]string{"string": "a list of strings", "integer": "a list of whole numbers"}[p.Type]
	}
	return InvalidValue("parameter", p.Name, fmt.Sprintf("wants %s, not %s (%s)", want, s.form, text.Clip(s.raw, 40)))
}
