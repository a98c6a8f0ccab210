// This file decodes only the requested fields of a JSON object.

package clientfile

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

// eachField calls f with each key and value of the object that b begins with. Both are passed undecoded and unchecked.
// eachField returns false if the object is not complete.
func eachField(b []byte, f func(key, value []byte)) bool {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i++; ; {
		i = skipSpace(b, i)
		if i < len(b) && b[i] == '}' {
			return true
		}
		if i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
		}
		if i >= len(b) || b[i] != '"' {
			return false
		}
		end := stringEnd(b, i)
		if end < 0 {
			return false
		}
		key := b[i+1 : end-1]
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return false
		}
		from := skipSpace(b, i+1)
		i = valueEnd(b, from)
		if i <= from {
			return false
		}
		f(key, b[from:i:i])
	}
}

// DecodeObject decodes the JSON object at the beginning of b into the struct that target points to. Like
// json.Unmarshal, it finds the struct's fields by the names in their json tags. If a key of the object has no field in
// the struct, the key's value is skipped instead of being decoded. If a value has the wrong type, a bool or int field
// is set to zero, and any other field stays unchanged. A field of type json.RawMessage shares memory with b.
// DecodeObject returns false if b does not begin with a complete object.
func DecodeObject(b []byte, target any) bool {
	return decodeObjectValue(b, reflect.ValueOf(target).Elem())
}

// decodeArray decodes the JSON array in b into the slice that target points to. It returns false if b does not begin
// with "[", or if decoding fails.
func decodeArray(b []byte, target any) bool {
	return len(b) > 0 && b[0] == '[' && decodeValue(b, reflect.ValueOf(target).Elem())
}

// decodeObjectValue is like [DecodeObject] for a reflect.Value of a struct type.
func decodeObjectValue(b []byte, target reflect.Value) bool {
	names := fieldNames(target.Type())
	return eachField(b, func(key, value []byte) {
		for i, name := range names {
			if string(key) == name {
				decodeValue(value, target.Field(i))
				return
			}
		}
	})
}

// fieldNameCache maps each struct type to the names in its json tags.
var fieldNameCache sync.Map

// fieldNames returns the names in the json tags of a struct type's fields, in the order of the fields.
func fieldNames(t reflect.Type) []string {
	if names, ok := fieldNameCache.Load(t); ok {
		return names.([]string)
	}
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	fieldNameCache.Store(t, names)
	return names
}

// decodeValue decodes the JSON value into target. It returns false if the value's JSON type does not fit the Go type of
// target, or if a number or time is malformed. A bool becomes true if the value is true, and otherwise false. An array
// element that does not fit becomes a zero value and does not change the result.
func decodeValue(value []byte, target reflect.Value) bool {
	switch at := target.Addr().Interface().(type) {
	case *json.RawMessage:
		*at = value
		return true
	case *time.Time:
		return value[0] == '"' && at.UnmarshalJSON(value) == nil
	}
	switch kind := target.Kind(); {
	case kind == reflect.String && value[0] == '"':
		s := rawjson.UnquoteString(value)
		if !utf8.ValidString(s) {
			s = strings.ToValidUTF8(s, "\ufffd")
		}
		target.SetString(s)
	case kind == reflect.Bool:
		target.SetBool(string(bytes.TrimSpace(value)) == "true")
	case kind == reflect.Struct && value[0] == '{':
		return decodeObjectValue(value, target)
	case kind == reflect.Slice && value[0] == '[':
		eachElement(value, func(one []byte) {
			e := reflect.New(target.Type().Elem()).Elem()
			decodeValue(one, e)
			target.Set(reflect.Append(target, e))
		})
	case kind == reflect.Pointer:
		if e := reflect.New(target.Type().Elem()); decodeValue(value, e.Elem()) {
			target.Set(e)
		}
	case kind == reflect.Int:
		n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
		target.SetInt(int64(n))
		return err == nil
	default:
		return false
	}
	return true
}

// eachElement calls f with each element of the array that b begins with. It stops before the first incomplete element.
func eachElement(b []byte, f func(value []byte)) {
	for i := 1; i < len(b); i++ {
		from := skipSpace(b, i)
		i = valueEnd(b, from)
		if i <= from {
			return
		}
		f(b[from:i:i])
		i = skipSpace(b, i)
		if i >= len(b) || b[i] != ',' {
			return
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	return i
}

// stringEnd returns the offset after the JSON string that begins at i. It returns -1 if the string is not complete.
func stringEnd(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n + 1
		slashes := 0
		for b[i-2-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// valueEnd returns the offset after the JSON value that begins at i. It returns -1 if the value is not complete.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			if i < 0 {
				return -1
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',':
			if depth == 0 {
				return i
			}
			i++
		default:
			i++
			continue
		}
		if depth == 0 && valueEndsAt(b, i) {
			return i
		}
	}
	return -1
}

// valueEndsAt reports whether a value outside of objects and arrays ends at byte i. This is so after the byte that
// closes a string, an object or an array, and at the end of b.
func valueEndsAt(b []byte, i int) bool {
	if i == len(b) {
		return true
	}
	switch b[i-1] {
	case '"', '}', ']':
		return true
	}
	return false
}

// contentTexts returns the texts in a message's content, which is a string or an array of parts. If partTypes are
// given, it returns only the texts of parts with these types.
func contentTexts(content json.RawMessage, partTypes ...string) []string {
	if len(content) > 0 && content[0] == '"' {
		var s string
		decodeValue(content, reflect.ValueOf(&s).Elem())
		return []string{s}
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	decodeArray(content, &parts)
	var all []string
	for _, p := range parts {
		isWanted := len(partTypes) == 0 || slices.Contains(partTypes, p.Type)
		if isWanted && p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return all
}

// ContentText returns the texts in a message's content, separated by newlines. The content is a JSON string or an array
// of parts. If types are given, ContentText returns only the texts from the parts that have one of these types.
func ContentText(content json.RawMessage, types ...string) string {
	return strings.Join(contentTexts(content, types...), "\n")
}

// attachmentText returns the names of the attachments in a message's JSON content, such as "[image]", separated by
// spaces. If a prompt consists only of attachments, the names are used as the prompt's text, so that the prompt is not
// lost.
func attachmentText(content json.RawMessage) string {
	return strings.Join(attachmentNames(content), " ")
}

// countAttachments returns the number of attachments in a message's content.
func countAttachments(content json.RawMessage) int { return len(attachmentNames(content)) }

// attachmentNames returns a name such as "[image]" or "[file]" for each attachment in a message's content.
func attachmentNames(content json.RawMessage) (names []string) {
	var parts []struct {
		Type   string          `json:"type"`
		Inline json.RawMessage `json:"inlineData"`
		File   json.RawMessage `json:"fileData"`
	}
	decodeArray(content, &parts)
	for _, p := range parts {
		switch p.Type {
		case "image", "document", "file", "audio", "video":
			names = append(names, "["+p.Type+"]")
		case "input_image", "local_image", "image_url":
			names = append(names, "[image]")
		case "audio_url", "input_audio":
			names = append(names, "[audio]")
		case "video_url":
			names = append(names, "[video]")
		case "input_file", "binary":
			names = append(names, "[file]")
		case "":
			if p.Inline != nil || p.File != nil {
				names = append(names, "[file]")
			}
		}
	}
	return names
}

// maxObjectSearches limits how often LastJSONObject tries to decode an object in an incomplete line. Each try begins
// at another position in the line.
const maxObjectSearches = 1000

// SplitJSONObjects splits a line into its JSON objects. A line contains several objects if a client was stopped before
// it wrote the newline, or if two processes wrote at once. The result rest is the text of the line that is in no
// complete object. For example, rest is an incomplete object at the end of the line, or an incomplete object before the
// last object. If the line does not begin with "{", SplitJSONObjects returns the line as the only element of objects.
func SplitJSONObjects(line []byte) (objects [][]byte, rest []byte) {
	isOne := len(line) > 0 && line[len(line)-1] == '}' && !bytes.Contains(line, []byte("}{")) &&
		bytes.IndexByte(line, 0) < 0
	if isOne || !bytes.HasPrefix(line, []byte("{")) {
		return [][]byte{line}, nil
	}
	if valueEnd(line, 0) == len(line) {
		return [][]byte{line}, nil
	}
	text := line
	for len(text) > 0 && text[0] == '{' {
		end := valueEnd(text, 0)
		if end <= 0 || !json.Valid(text[:end]) {
			break
		}
		objects = append(objects, text[:end:end])
		text = bytes.TrimLeft(text[end:], " \t\r\n\x00")
	}
	if last := LastJSONObject(text); last != nil {
		return append(objects, last), text[:len(text)-len(last)]
	}
	return objects, text
}

// LastJSONObject returns the JSON object with which the line ends. It is used if the line begins with an incomplete
// object, because the client was interrupted while it wrote that object. LastJSONObject returns nil if the line does
// not end with a complete JSON object. It examines at most maxObjectSearches places at which an object may begin.
func LastJSONObject(line []byte) []byte {
	for at, n := 1, 0; at < len(line) && n < maxObjectSearches; n++ {
		next := bytes.Index(line[at:], []byte(`{"`))
		if next < 0 {
			break
		}
		at += next
		if json.Valid(line[at:]) {
			return line[at:]
		}
		at++
	}
	return nil
}
