// Lines of JSON, and the fields of an object.

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

// maxFields bounds the fields of one object: no format has that many, and
// their names are compared with each other.
const maxFields = 64

// maxBlank is the most bytes of blank lines in a row. A file with more is no text.
const maxBlank = 64 << 20

// errDocument ends the reading of a file that is JSON, but not one object a
// line.
var errDocument = errors.New("is one JSON document over several lines; it takes one object a line, as jq -c '.[]' writes them")

// line is one line of a file; its bytes are good until the next is read.
type line struct {
	text []byte
	num  int
}

// lines yields the lines of r that are not blank. A line longer than
// maxLine, or not UTF-8, is an [*ItemError], and the lines after it follow.
func lines(r io.Reader, ref string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
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
			var bad error
			switch {
			case rest > 0:
				bad = fmt.Errorf("line of %d bytes is longer than the %d that are read", len(buf)+rest, maxLine)
			case !utf8.Valid(data):
				bad = fmt.Errorf("is not UTF-8 at byte %d of the line", text.BadUTF8(string(data)))
			}
			switch {
			case err != nil && err != io.EOF:
				yield(line{num: num}, fmt.Errorf("reading %s: %w", at(ref, num), err))
				return
			case blank > maxBlank:
				yield(line{num: num}, fmt.Errorf("reading %s: more than %d bytes of blank lines follow each other", at(ref, num), maxBlank))
				return
			case bad != nil:
				if !yield(line{num: num}, problem(at(ref, num), bad)) {
					return
				}
			case len(data) > 0:
				if !yield(line{data, num}, nil) {
					return
				}
			}
			if err == io.EOF {
				return
			}
		}
	}
}

// readLine appends one line to buf, at most maxLine bytes of it, and returns
// how many more bytes the line had.
func readLine(br *bufio.Reader, buf []byte) (text []byte, rest int, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if n := maxLine - len(buf); len(bytes.TrimSuffix(part, []byte("\n"))) > n {
			rest += len(part) - n
			part = part[:n]
		}
		buf = append(buf, part...)
		if err != bufio.ErrBufferFull {
			return buf, rest, err
		}
	}
}

// field is one field of a JSON object, as it was written.
type field struct {
	key string
	raw json.RawMessage
}

// object is the fields of a JSON object, in their order.
type object []field

// parseLine reads one JSON object. What encoding/json would take in silence is
// refused: a field given twice, and half a surrogate pair, which would turn into
// another character. The fields are parts of b.
func parseLine(b []byte) (object, error) {
	if i := rawjson.LoneSurrogate(b); i >= 0 {
		return nil, fmt.Errorf("has half a character (a lone surrogate) at byte %d of the line", i)
	}
	if !rawjson.Valid(b) {
		if err := json.NewDecoder(bytes.NewReader(b)).Decode(new(json.RawMessage)); err != nil {
			return nil, badJSON(err)
		}
		return nil, errors.New("has more behind its JSON object")
	}
	return parseObject(b)
}

// parseObject splits a part of a line that is valid JSON.
func parseObject(b []byte) (object, error) {
	if b[0] != '{' {
		return nil, errors.New("is not a JSON object")
	}
	o, key := make(object, 0, 8), ""
	isKey := false
	for p := range rawjson.Elements(b) {
		isKey = !isKey
		if isKey {
			key = rawjson.Unquote(p)
			continue
		}
		if o.has(key) {
			return nil, fmt.Errorf("field %s is given twice", short(key))
		}
		if len(o) == maxFields {
			return nil, fmt.Errorf("has more than %d fields", maxFields)
		}
		o = append(o, field{key, p})
	}
	return o, nil
}

// located is an object and where it stands.
type located struct {
	fields object
	text   []byte // good until the next is read
	where  string
}

// objects yields the objects of lines of JSON. A line that is none is an
// [*ItemError]; a first one that begins a document over several lines ends it.
func objects(r io.Reader, ref string) iter.Seq2[located, error] {
	return func(yield func(located, error) bool) {
		first := true
		for l, err := range lines(r, ref) {
			begins := first
			first = false
			if err == nil && begins && isDocument(l.text) {
				yield(located{}, fmt.Errorf("reading %s: %w", ref, errDocument))
				return
			}
			o := located{text: l.text, where: at(ref, l.num)}
			if err == nil {
				o.fields, err = parseLine(l.text)
				if err != nil {
					err = problem(o.where, err)
				}
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// isDocument reports whether a line is the beginning of a JSON value that goes
// on in the next one.
func isDocument(text []byte) bool {
	return string(text) == "{" || string(text) == "[" || (len(text) > 0 && text[0] == '[')
}

func badJSON(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("is not JSON: it ends too early")
	}
	if syn, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("is not JSON: %w at byte %d of the line", err, syn.Offset)
	}
	return fmt.Errorf("is not JSON: %w", err)
}

func (o object) has(key string) bool {
	return slices.ContainsFunc(o, func(f field) bool { return f.key == key })
}

// get returns a field that is there and not null.
func (o object) get(key string) (json.RawMessage, bool) {
	for _, f := range o {
		if f.key == key {
			return f.raw, string(f.raw) != "null"
		}
	}
	return nil, false
}

// firstKey returns the first of the keys that is there, or else the first key.
func (o object) firstKey(keys ...string) string {
	for _, key := range keys {
		if o.has(key) {
			return key
		}
	}
	return keys[0]
}

// text returns a field that must be a string; an absent one is "".
func (o object) text(key string) (string, error) {
	raw, ok := o.get(key)
	if !ok {
		return "", nil
	}
	return asText(key, raw)
}

// list returns a field that must be a list of strings, or one string.
func (o object) list(key string) ([]string, error) {
	raw, ok := o.get(key)
	if !ok {
		return nil, nil
	}
	if raw[0] == '"' {
		s, err := asText(key, raw)
		return []string{s}, err
	}
	return asList(key, raw)
}

// others returns the names of the fields that are not among the known.
func (o object) others(known []string) []string {
	var ks []string
	for _, f := range o {
		if !slices.Contains(known, f.key) {
			ks = append(ks, f.key)
		}
	}
	return ks
}

// leftOut returns the warning that names fields an entry has no place for.
func leftOut(where string, fields []string) []string {
	if len(fields) == 0 {
		return nil
	}
	return []string{where + ": left out what an entry has no place for: " + strings.Join(fields, ", ")}
}

func asText(key string, raw json.RawMessage) (string, error) {
	if raw[0] != '"' {
		return "", fmt.Errorf("%s must be a string, not %s", key, short(string(raw)))
	}
	return rawjson.Unquote(raw), nil
}

func asList(key string, raw json.RawMessage) (ss []string, err error) {
	if raw[0] != '[' {
		return nil, fmt.Errorf("%s must be a list of strings, not %s", key, short(string(raw)))
	}
	for p := range rawjson.Elements(raw) {
		s, err := asText("each of "+key, p)
		if err != nil {
			return nil, err
		}
		ss = append(ss, s)
	}
	return ss, nil
}
