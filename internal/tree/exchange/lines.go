// This file reads JSON lines, and the fields of JSON objects.

package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// maxObjectFields is the maximum number of fields in an object. No format has so many. The limit keeps the
// comparison of field names fast.
const maxObjectFields = 64

// maxBlankLineBytes is the maximum total length of consecutive blank lines. A file with more is not a text file.
const maxBlankLineBytes = 64 << 20

// errJSONDocument is returned if the input is one JSON document and not JSON lines.
var errJSONDocument = errors.New(
	"is one JSON document, and no lines of JSON. If you gave --from, leave it out or name the " +
		"program that wrote the file. Otherwise convert the entries to lines such as {\"name\":\"…\",\"content\":\"…\"}",
)

// numberedLine is a line of the input. Its text is valid until the next line is read.
type numberedLine struct {
	text   []byte
	number int
}

// scanLines yields the lines of r that are not blank. For a line that is not UTF-8 or longer than maxLineBytes,
// scanLines yields an [*ItemError] and continues. The sequence ends with an error if the file is in UTF-16, if reading
// fails, or if more than maxBlankLineBytes of blank lines follow each other.
func scanLines(r io.Reader, inputName string) iter.Seq2[numberedLine, error] {
	return func(yield func(numberedLine, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		var buf []byte
		blank := 0
		for num := 1; ; num++ {
			data, rest, err := readLine(br, buf[:0])
			buf = data
			if num == 1 {
				data = bytes.TrimPrefix(data, []byte("\uFEFF"))
			}
			data = bytes.TrimSpace(data)
			blank += len(buf) + rest
			if len(data) > 0 {
				blank = 0
			}
			bad := checkLineUTF8AndLength(data, len(buf), rest)
			switch {
			case num == 1 && isUTF16(data):
				yield(numberedLine{number: num}, newItemError(inputName, errUTF16))
				return
			case err != nil && err != io.EOF:
				yield(numberedLine{number: num}, fmt.Errorf("reading %s: %w", lineRef(inputName, num), err))
				return
			case blank > maxBlankLineBytes:
				yield(
					numberedLine{number: num},
					fmt.Errorf(
						"reading %s: more than %d bytes of blank lines follow each other",
						lineRef(inputName, num),
						maxBlankLineBytes,
					),
				)
				return
			case bad != nil:
				if !yield(numberedLine{number: num}, newItemError(lineRef(inputName, num), bad)) {
					return
				}
			case len(data) > 0:
				if !yield(numberedLine{data, num}, nil) {
					return
				}
			}
			if err == io.EOF {
				return
			}
		}
	}
}

// checkLineUTF8AndLength returns an error if a line of a file is longer than the limit maxLineBytes, or is not UTF-8.
// data contains the bytes of the line that were read. The argument readByteCount is the number of these bytes, before
// spaces were trimmed from data. skippedByteCount counts the bytes beyond the limit, which were skipped.
func checkLineUTF8AndLength(data []byte, readByteCount, skippedByteCount int) error {
	switch {
	case skippedByteCount > 0:
		return fmt.Errorf(
			"line of %d bytes is longer than the %d that are read",
			readByteCount+skippedByteCount,
			maxLineBytes,
		)
	case !utf8.Valid(data):
		return fmt.Errorf("is not UTF-8 at byte %d of the line", text.FirstInvalidUTF8(string(data)))
	}
	return nil
}

// readLine appends at most the first maxLineBytes bytes of a line to buf. skippedByteCount is how many more bytes the
// line has.
func readLine(br *bufio.Reader, buf []byte) (text []byte, skippedByteCount int, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if n := maxLineBytes - len(buf); len(bytes.TrimSuffix(part, []byte("\n"))) > n {
			skippedByteCount += len(part) - n
			part = part[:n]
		}
		buf = append(buf, part...)
		if err != bufio.ErrBufferFull {
			return buf, skippedByteCount, err
		}
	}
}

// jsonField is a field of a JSON object, with its unparsed value.
type jsonField struct {
	key      string
	rawValue json.RawMessage
}

// jsonObject contains the fields of a JSON object in the order in which they were written.
type jsonObject []jsonField

// parseLine parses a JSON object. Unlike encoding/json, it fails if a field is repeated, or if a string contains half
// of a surrogate pair, which encoding/json would replace by another character. The result refers to the memory of b.
func parseLine(b []byte) (jsonObject, error) {
	if i := rawjson.FindLoneSurrogate(b); i >= 0 {
		return nil, fmt.Errorf("has half a character (a lone surrogate) at byte %d of the line", i)
	}
	if !rawjson.Valid(b) {
		if err := json.NewDecoder(bytes.NewReader(b)).Decode(new(json.RawMessage)); err != nil {
			return nil, jsonError(err)
		}
		return nil, errors.New("has more behind its JSON object")
	}
	return parseObject(b)
}

// parseObject parses a JSON value that is known to be valid JSON. It returns an error if the value is not an object, if
// the object has more than maxObjectFields fields, or if a field is repeated. The result refers to the memory of b.
func parseObject(b []byte) (jsonObject, error) {
	if b[0] != '{' {
		return nil, errors.New("is not a JSON object")
	}
	o, key := make(jsonObject, 0, 8), ""
	isKey := false
	for p := range rawjson.EachElement(b) {
		isKey = !isKey
		if isKey {
			key = rawjson.UnquoteString(p)
			continue
		}
		if o.hasKey(key) {
			return nil, fmt.Errorf("field %s is given twice", truncateAndQuote(key))
		}
		if len(o) == maxObjectFields {
			return nil, fmt.Errorf("has more than %d fields", maxObjectFields)
		}
		o = append(o, jsonField{key, p})
	}
	return o, nil
}

// locatedJSONObject is an object with its place in the input.
type locatedJSONObject struct {
	fields       jsonObject
	text         []byte // text of the object, which is valid until the next object is read
	position     string
	listName     string // name of the JSON array that contains this object, or "" if none does
	numberInList int    // number of this object in the JSON array, from 1 (0 without an array)
}

// eachJSONObject yields the object in each line of the input. For a line that contains no object, it yields an
// [*ItemError]. If the first line begins a JSON document of several lines, it yields errJSONDocument and ends.
func eachJSONObject(r io.Reader, inputName string) iter.Seq2[locatedJSONObject, error] {
	return func(yield func(locatedJSONObject, error) bool) {
		first := true
		for l, err := range scanLines(r, inputName) {
			begins := first
			first = false
			mayBeDocument := err == nil && begins
			if mayBeDocument && isMultilineDocument(l.text) {
				yield(locatedJSONObject{}, fmt.Errorf("reading %s: %w", inputName, errJSONDocument))
				return
			}
			o := locatedJSONObject{text: l.text, position: lineRef(inputName, l.number)}
			if err == nil {
				o.fields, err = parseLine(l.text)
				if err != nil {
					err = newItemError(o.position, err)
				}
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// isMultilineDocument reports whether a file contains one large JSON document, and not a JSON object on each line. The
// argument is the first line of the file. isMultilineDocument returns true if the line is "{" or begins with "[".
func isMultilineDocument(text []byte) bool {
	return string(text) == "{" || string(text) == "[" || (len(text) > 0 && text[0] == '[')
}

func jsonError(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("is not JSON: it ends too early")
	}
	if syn, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("is not JSON: %w at byte %d of the line", err, syn.Offset)
	}
	return fmt.Errorf("is not JSON: %w", err)
}

func (o jsonObject) hasKey(key string) bool {
	return slices.ContainsFunc(o, func(f jsonField) bool { return f.key == key })
}

// rawValue returns the unparsed value of a field. It returns false if the object does not have the field or the value
// is null.
func (o jsonObject) rawValue(key string) (json.RawMessage, bool) {
	for _, f := range o {
		if f.key == key {
			return f.rawValue, string(f.rawValue) != "null"
		}
	}
	return nil, false
}

// firstPresentKey returns the first of the keys that the object has. Without such a key, the result is keys[0].
func (o jsonObject) firstPresentKey(keys ...string) string {
	for _, key := range keys {
		if o.hasKey(key) {
			return key
		}
	}
	return keys[0]
}

// textValue returns the string in the field with the given key. If the object has no such field, it returns "". If the
// value of the field is not a string, it returns an error.
func (o jsonObject) textValue(key string) (string, error) {
	raw, ok := o.rawValue(key)
	if !ok {
		return "", nil
	}
	return decodeText(key, raw)
}

// listValue returns the strings in the field with the given key, which must contain a list of strings. A single string
// counts as a list with one element. If the object has no such field, the result is nil.
func (o jsonObject) listValue(key string) ([]string, error) {
	raw, ok := o.rawValue(key)
	if !ok {
		return nil, nil
	}
	if raw[0] == '"' {
		s, err := decodeText(key, raw)
		return []string{s}, err
	}
	return decodeList(key, raw)
}

// otherFields returns the names of the object's fields that are not in known.
func (o jsonObject) otherFields(known []string) []string {
	var ks []string
	for _, f := range o {
		if !slices.Contains(known, f.key) {
			ks = append(ks, f.key)
		}
	}
	return ks
}

// withoutFields returns the object's fields whose names are not in the list excludedNames. The fields are copied, so
// that they do not keep the whole parsed text in memory.
func (o jsonObject) withoutFields(excludedNames ...string) jsonObject {
	var rest jsonObject
	for _, f := range o {
		if !slices.Contains(excludedNames, f.key) {
			rest = append(rest, jsonField{key: strings.Clone(f.key), rawValue: bytes.Clone(f.rawValue)})
		}
	}
	return rest
}

// omittedFieldsWarning returns a warning about the fields that an entry cannot store, or nothing without such fields.
func omittedFieldsWarning(position string, fields []string) []string {
	if len(fields) == 0 {
		return nil
	}
	return []string{position + ": left out what an entry has no place for: " + strings.Join(fields, ", ")}
}

func decodeText(key string, raw json.RawMessage) (string, error) {
	if raw[0] != '"' {
		return "", fmt.Errorf("%s must be a string, not %s", key, truncateAndQuote(string(raw)))
	}
	return rawjson.UnquoteString(raw), nil
}

func decodeList(key string, raw json.RawMessage) (ss []string, err error) {
	if raw[0] != '[' {
		return nil, fmt.Errorf("%s must be a list of strings, not %s", key, truncateAndQuote(string(raw)))
	}
	for p := range rawjson.EachElement(raw) {
		s, err := decodeText("each of "+key, p)
		if err != nil {
			return nil, err
		}
		ss = append(ss, s)
	}
	return ss, nil
}
