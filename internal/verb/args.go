// Arguments of a call as models write them: read strictly where a guess could be
// wrong, leniently where it could not.

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

// readArgs reads one JSON object into a struct.
//
// Understood are, next to the parameters' own names, those in [Param.Also], and
// either spelling with capitals or dashes (maxTokens, max-tokens). A number or
// a truth value may be written as a string, a number where a word is wanted,
// and one item where a list is; a comma never splits one. Null, [] and, but for
// [Param.Empty], "" mean "not given". wait_for_previous is skipped. All else is an error that matches
// [oxbow.ErrInvalid] and says
// what would be right: a name that is not known, one parameter given twice, a
// wrong type, text that is not UTF-8.
func readArgs(verb string, params []Param, args json.RawMessage, in reflect.Value) error {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	// Decoding would replace what is not UTF-8 without a word.
	if !utf8.Valid(args) {
		return InvalidValue("arguments", "", "are not UTF-8 text; convert them first")
	}
	members, err := cutObject(args)
	if err != nil {
		return err
	}
	given := map[string]string{} // key by name
	filled := map[string]bool{}
	for _, m := range members {
		p, ok := findParam(params, m.key)
		if !ok && strings.HasPrefix(snake(m.key), "wait_for_previous") {
			continue // Gemini CLI and its kin add it to each tool, for themselves
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

// member is one key and its value, as written.
type member struct {
	key   string
	value json.RawMessage
}

// cutObject cuts a JSON object into its members, repeats among them.
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
	return InvalidValue("parameter", key, reason+" it takes "+strings.Join(names, ", "))
}

// decode puts the value of a member into the parameter's field. It reports false
// for a value that means "not given".
func decode(p Param, m member, in reflect.Value) (filled bool, err error) {
	raw := bytes.TrimSpace(m.value)
	if string(raw) == "null" {
		return false, nil
	}
	list := []json.RawMessage{raw}
	if p.Repeatable {
		list, err = items(raw)
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
		p.put(in, v)
		filled = true
	}
	return filled, nil
}

// items returns the items of a list, of one that was encoded twice, as some
// models do, or of the one item that stands for a list.
func items(raw json.RawMessage) (list []json.RawMessage, err error) {
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

// scalar is one value as it was written.
type scalar struct {
	raw  string // as JSON
	text string // without the quotes
	form form
}

// form is what JSON a value is.
type form string

const (
	formString form = "a string"
	formNumber form = "a number"
	formBool   form = "true or false"
	formObject form = "an object"
	formList   form = "a list"
	formNull   form = "null"
)

func formOf(raw []byte) form {
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
	s := scalar{raw: string(raw), text: string(raw), form: formOf(raw)}
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

// coercions make the value that the field of a parameter holds, by the
// parameter's type: string, bool, int64 or float64. The key is the name that
// was written.
var coercions = map[string]func(p Param, key string, s scalar) (any, error){
	"string": toString, "boolean": toBool, "integer": toInteger, "number": toNumber,
}

// Set puts a word of a command line into the struct that in points to, or adds
// it to a list there. An empty word means "not given", but for [Param.Empty].
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
		p.put(reflect.ValueOf(in).Elem(), v)
	}
	return err
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
	if near := text.Near(s.text, slices.Values(p.Enum), 1); len(near) > 0 {
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

// signed are the parameters whose verbs say themselves what is wrong with a
// number below 0.
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

func wrongType(p Param, s scalar) error {
	want := map[string]string{"string": "a string", "boolean": "true or false",
		"integer": "a whole number", "number": "a number"}[p.Type]
	if p.Repeatable {
		want = map[string]string{"string": "a list of strings", "integer": "a list of whole numbers"}[p.Type]
	}
	return InvalidValue("parameter", p.Name, fmt.Sprintf("wants %s, not %s (%s)", want, s.form, text.Clip(s.raw, 40)))
}
