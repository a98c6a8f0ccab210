// This file decodes the arguments of a call. It accepts unusual forms, which models often write, if the meaning is
// clear. It refuses an argument if a guess could be wrong.

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

// Arguments are the arguments of a call, in the order in which the caller wrote them. A key may occur
// several times.
type Arguments []Argument

// Argument is one argument of a call. Key is the name of a parameter as the caller wrote it.
type Argument struct {
	Key   string
	Value json.RawMessage
}

// ParseArguments decodes the members of a JSON object. It returns nil if object is empty or null. The error matches
// [oxbow.ErrInvalid].
func ParseArguments(object json.RawMessage) (Arguments, error) {
	object = bytes.TrimSpace(object)
	if len(object) == 0 || string(object) == "null" {
		return nil, nil
	}
	// Check this first, because the decoder replaces invalid bytes without an error.
	if !utf8.Valid(object) {
		return nil, InvalidValue("arguments", "", "are not UTF-8 text; convert them first")
	}
	notObject := func(why string) error {
		return InvalidValue("arguments", "", "are not one JSON object such as {\"query\":\"…\"}: "+why)
	}
	d := json.NewDecoder(bytes.NewReader(object))
	t, err := d.Token()
	if err != nil {
		return nil, notObject(jsonErrorText(err))
	}
	if t != json.Delim('{') {
		return nil, notObject("they begin with " + strconv.Quote(string(object[:1])))
	}
	var args Arguments
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, notObject(jsonErrorText(err))
		}
		a := Argument{Key: t.(string)} // In an object, the decoder returns a string as the key.
		if err := d.Decode(&a.Value); err != nil {
			return nil, notObject(jsonErrorText(err))
		}
		args = append(args, a)
	}
	if _, err := d.Token(); err != nil {
		return nil, notObject(jsonErrorText(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, notObject("something follows the object")
	}
	return args, nil
}

// readArgs decodes the arguments of a call, and stores their values in the struct in. The list params describes the
// parameters: each belongs to a field of this struct. The argument verb is the verb's name, for messages. Before a text
// is stored, it is replaced by the result of screenText for this text.
//
// A key may be a parameter's name, a name in [Param.OtherNames], or one of these names with capitals or dashes
// (maxTokens, max-tokens). A number or a boolean may be written as a string, a string as a number, and a list with a
// single item as that item. An item is never split at commas. The values null, [] and "" mean that the argument is
// absent, except that "" is a value if [Param.AllowsEmpty] is set. The key wait_for_previous is ignored.
//
// readArgs returns an error if a key is unknown, a parameter is repeated, a required parameter is absent, a value has
// the wrong type, or a text is not valid Unicode. The error matches [oxbow.ErrInvalid] and explains the correct form.
func readArgs(verb string, params []Param, args Arguments, screenText func(string) string, in reflect.Value) error {
	// map from the name of each passed parameter to the key that the caller used for the parameter
	given := map[string]string{}
	filled := map[string]bool{}
	for _, a := range args {
		p, ok := findParam(params, a.Key)
		if !ok && strings.HasPrefix(toSnakeCase(a.Key), "wait_for_previous") {
			// Gemini CLI and similar clients add the key wait_for_previous to the arguments of every tool for their
			// own use.
			continue
		}
		if !ok {
			return unknownParamError(verb, params, a.Key)
		}
		if err := p.checkNotRepeated(a.Key, given); err != nil {
			return err
		}
		items, err := p.parseItems(a.Value)
		if err != nil {
			return err
		}
		for _, raw := range items {
			s := argumentValue{rawJSON: string(raw), text: string(raw), jsonKind: jsonKindOf(raw)}
			if s.jsonKind == jsonString {
				if err := json.Unmarshal(raw, &s.text); err != nil {
					return InvalidValue("arguments", "", err.Error())
				}
				if hasReplacedRune(raw, s.text) {
					const half = `holds half of a surrogate pair (\ud800 to \udfff), which is no character`
					return InvalidValue(p.Name, "", half)
				}
				if clean := screenText(s.text); clean != s.text {
					s.rawJSON, s.text = strconv.Quote(clean), clean
				}
			}
			if s.text == "" && !p.AllowsEmpty {
				continue
			}
			if err := p.storeScalar(in, a.Key, s); err != nil {
				return err
			}
			filled[p.Name] = true
		}
	}
	return checkRequiredParams(params, given, filled)
}

// checkNotRepeated returns an error if the call has used the parameter p before, with the same key or with another of
// its names. Otherwise it stores key in the map usedKeyByParam, under p.Name. This map contains the key that the call
// used for each parameter.
func (p Param) checkNotRepeated(key string, usedKeyByParam map[string]string) error {
	first, isRepeated := usedKeyByParam[p.Name]
	switch {
	case !isRepeated:
		usedKeyByParam[p.Name] = key
		return nil
	case first == key:
		return InvalidValue("parameter", key, "is given twice")
	}
	return InvalidValue("parameter", key, "means the same as "+first+", which is given too; give only "+p.Name)
}

// checkRequiredParams returns an error if a required parameter has no value. The keys of usedKeyByParam are the
// parameters that the call contains, even if their values are empty. The keys of hasValueByParam are the parameters
// with a value that is not empty. The error tells whether the parameter is empty or missing.
func checkRequiredParams(params []Param, usedKeyByParam map[string]string, hasValueByParam map[string]bool) error {
	for _, p := range params {
		if !p.Required || hasValueByParam[p.Name] {
			continue
		}
		if _, isEmpty := usedKeyByParam[p.Name]; isEmpty {
			return InvalidValue(p.Name, "", "is empty; "+lowerFirstLetter(p.Usage))
		}
		return InvalidValue("parameter", p.Name, "is missing; "+lowerFirstLetter(p.Usage))
	}
	return nil
}

func jsonErrorText(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "they end too early"
	}
	return err.Error()
}

// findParam returns the parameter to which a key belongs.
func findParam(params []Param, key string) (Param, bool) {
	for _, k := range []string{key, toSnakeCase(key)} {
		for _, p := range params {
			if p.Name == k || slices.Contains(p.OtherNames, k) {
				return p, true
			}
		}
	}
	return Param{}, false
}

// toSnakeCase converts a name such as maxTokens or max-tokens to the form max_tokens.
func toSnakeCase(s string) string {
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

func unknownParamError(verb string, params []Param, key string) error {
	var names []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	reason := "is not known to " + verb
	if near := text.FindSimilar(toSnakeCase(key), slices.Values(names), 1); len(near) > 0 {
		reason += "; did you mean " + near[0] + "?"
	} else {
		reason += ";"
	}
	return InvalidValue("parameter", key, reason+" it takes "+strings.Join(names, ", "))
}

// parseItems returns the values in an argument of a call. For a repeatable parameter, the values are the items of a
// list. Some models encode the list twice or pass a single item, and parseItems accepts both. For any other parameter,
// parseItems returns the argument as the only value. If the argument is null, it returns no values.
func (p Param) parseItems(value json.RawMessage) (items []json.RawMessage, err error) {
	value = bytes.TrimSpace(value)
	switch {
	case string(value) == "null":
		return nil, nil
	case p.Repeatable && value[0] == '[':
		if err := json.Unmarshal(value, &items); err != nil {
			return nil, InvalidValue("arguments", "", err.Error())
		}
		return items, nil
	case p.Repeatable && bytes.HasPrefix(value, []byte(`"[`)):
		var s string
		if json.Unmarshal(value, &s) == nil && json.Unmarshal([]byte(s), &items) == nil {
			for i := range items {
				items[i] = bytes.TrimSpace(items[i])
			}
			return items, nil
		}
	}
	return []json.RawMessage{value}, nil
}

// argumentValue is a JSON value that is neither a list nor an object.
type argumentValue struct {
	rawJSON  string // the value as JSON
	text     string // the value as text, without quotation marks
	jsonKind jsonValueKind
}

// jsonValueKind is the kind of a JSON value. Its text is used in error messages.
type jsonValueKind string

const (
	jsonString jsonValueKind = "a string"
	jsonNumber jsonValueKind = "a number"
	jsonBool   jsonValueKind = "true or false"
	jsonObject jsonValueKind = "an object"
	jsonList   jsonValueKind = "a list"
	jsonNull   jsonValueKind = "null"
)

func jsonKindOf(raw []byte) jsonValueKind {
	switch raw[0] {
	case '{':
		return jsonObject
	case '[':
		return jsonList
	case '"':
		return jsonString
	case 't', 'f':
		return jsonBool
	case 'n':
		return jsonNull
	}
	return jsonNumber
}

// SetField parses a word of a command line, and stores the value in the parameter's field of a struct. The argument
// target is a pointer to the struct. If the field is a list, the value is appended. An empty word means that the
// argument is absent, unless [Param.AllowsEmpty] is set. SetField returns an error if the word has the wrong form for
// the type of the parameter.
func (p Param) SetField(target any, word string) error {
	s := argumentValue{rawJSON: strconv.Quote(word), text: word, jsonKind: jsonString}
	switch {
	case word == "" && !p.AllowsEmpty:
		return nil
	case p.Type == "integer":
		s.jsonKind = jsonNumber
	case p.Type == "boolean":
		s.jsonKind = jsonBool
	}
	return p.storeScalar(reflect.ValueOf(target).Elem(), p.Name, s)
}

// storeScalar converts a value to the type of the parameter, and sets the parameter's field in a struct. If the field
// is a list, the value is appended. key is the name that the caller wrote, for error messages.
func (p Param) storeScalar(target reflect.Value, key string, s argumentValue) error {
	var value any
	var err error
	switch p.Type {
	case "string":
		value, err = s.text, p.checkString(key, s)
	case "boolean":
		value, err = s.text == "true", p.checkBool(s)
	case "integer":
		value, err = p.parseInteger(s)
	case "number":
		value, err = p.parseNumber(s)
	}
	if err != nil {
		return err
	}
	f := target.FieldByIndex(p.fieldIndex)
	switch f.Kind() {
	case reflect.Slice:
		f.Set(reflect.Append(f, reflect.ValueOf(value).Convert(f.Type().Elem())))
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
		f.Elem().Set(reflect.ValueOf(value).Convert(f.Type().Elem()))
	default:
		f.Set(reflect.ValueOf(value).Convert(f.Type()))
	}
	return nil
}

// checkString returns an error if s is not a valid value for the parameter p, whose type is string. The parameter may
// have a list of permitted values (p.Enum). JSON numbers are also accepted, unless the caller named the parameter "id":
// that caller expects that entries have numbers.
func (p Param) checkString(key string, s argumentValue) error {
	switch {
	case s.jsonKind == jsonNumber && key == "id":
		return InvalidValue("id", s.text, "is a number; entries are called by name: give the entry's "+p.Name)
	case s.jsonKind != jsonString && s.jsonKind != jsonNumber:
		return wrongTypeError(p, s)
	case len(p.Enum) == 0 || slices.Contains(p.Enum, s.text):
		return nil
	}
	reason := "is not one of " + strings.Join(p.Enum, ", ")
	if near := text.FindSimilar(s.text, slices.Values(p.Enum), 1); len(near) > 0 {
		reason += "; did you mean " + near[0] + "?"
	}
	return InvalidValue(p.Name, s.text, reason)
}

func (p Param) checkBool(argument argumentValue) error {
	if argument.text != "true" && argument.text != "false" {
		return wrongTypeError(p, argument)
	}
	return nil
}

// nonNegativeParams lists parameters that must not be negative. For these parameters, this file accepts a negative
// number, and the verb refuses it with a better error message.
var nonNegativeParams = []string{"limit", "max_tokens", "count", "offset"}

func (p Param) parseInteger(s argumentValue) (int64, error) {
	n, ok := parseWholeNumber(s.text)
	if !ok || !s.mayBeNumber() {
		return 0, wrongTypeError(p, s)
	}
	if n < 0 && !slices.Contains(nonNegativeParams, p.Name) {
		return 0, InvalidValue(p.Name, s.text, "is less than 0")
	}
	return n, nil
}

func (p Param) parseNumber(s argumentValue) (float64, error) {
	f, err := strconv.ParseFloat(s.text, 64)
	if err != nil || !s.mayBeNumber() {
		return 0, wrongTypeError(p, s)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, wrongTypeError(p, s)
	}
	return f, nil
}

// mayBeNumber reports whether the value is a number, or a string that may contain one.
func (s argumentValue) mayBeNumber() bool {
	return s.jsonKind == jsonString || s.jsonKind == jsonNumber
}

// parseWholeNumber parses an integer such as 5, 5.0 or 1e3. If the text has a decimal point or an exponent, the number
// must not exceed 2⁵³, because a floating-point number above 2⁵³ may be inexact. parseWholeNumber returns false for all
// other texts.
func parseWholeNumber(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	isExact := err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53
	if !isExact {
		return 0, false
	}
	return int64(f), true
}

// hasReplacedRune reports whether the JSON decoder has replaced invalid text in raw by the character U+FFFD. raw is the
// JSON string, and s is the decoded text. An example of invalid text is half of a surrogate pair. hasReplacedRune does
// not count the characters U+FFFD that raw itself contains.
func hasReplacedRune(raw []byte, s string) bool {
	if !strings.ContainsRune(s, utf8.RuneError) {
		return false
	}
	written := bytes.Count(raw, []byte("\uFFFD")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return strings.Count(s, "\uFFFD") > written
}

func wrongTypeError(p Param, s argumentValue) error {
	want := map[string]string{"string": "a string", "boolean": "true or false",
		"integer": "a whole number", "number": "a number"}[p.Type]
	if p.Repeatable {
		want = map[string]string{"string": "a list of strings", "integer": "a list of whole numbers"}[p.Type]
	}
	return InvalidValue(
		"parameter",
		p.Name,
		fmt.Sprintf("wants %s, not %s (%s)", want, s.jsonKind, text.TruncateWithEllipsis(s.rawJSON, 40)),
	)
}
