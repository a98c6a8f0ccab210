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
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// maxFields bounds the fields of one object: no format has that many, and
// their names are compared with each other.
const maxFields = 64

// errDocument ends the reading of a file that is JSON, but not one object a
// line.
var errDocument = errors.New("is one JSON document over several lines; it takes one object a line, as jq -c '.[]' writes them")

// line is one line of a file; its bytes are good until the next is read.
type line struct {
	text []byte
	num  int
}

// lines yields the lines of r that are not blank. A line longer than
// [MaxLine], or not UTF-8, is an [*ItemError], and the lines after it follow.
func lines(r io.Reader, ref string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		var buf []byte
		for num := 1; ; num++ {
			data, rest, err := readLine(br, buf[:0])
			buf = data
			if num == 1 {
				data = bytes.TrimPrefix(data, []byte("\uFEFF"))
			}
			data = bytes.TrimSpace(data)
			var bad error
			switch {
			case rest > 0:
				bad = fmt.Errorf("line of %d bytes is longer than the %d that are read", len(buf)+rest, MaxLine)
			case !utf8.Valid(data):
				bad = fmt.Errorf("is not UTF-8 at byte %d of the line", text.BadUTF8(string(data)))
			}
			switch {
			case err != nil && err != io.EOF:
				yield(line{num: num}, fmt.Errorf("reading %s: %w", at(ref, num), err))
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

// readLine appends one line to buf, at most [MaxLine] bytes of it, and returns
// how many more bytes the line had.
func readLine(br *bufio.Reader, buf []byte) (text []byte, rest int, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if n := MaxLine - len(buf); len(bytes.TrimSuffix(part, []byte("\n"))) > n {
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
	if i := loneSurrogate(b); i >= 0 {
		return nil, fmt.Errorf("has half a character (a lone surrogate) at byte %d of the line", i)
	}
	if !json.Valid(b) {
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
	parts := elements(b)
	o := make(object, 0, len(parts)/2)
	for i := 0; i < len(parts); i += 2 {
		key := unquote(parts[i])
		if o.has(key) {
			return nil, fmt.Errorf("field %s is given twice", short(key))
		}
		if len(o) == maxFields {
			return nil, fmt.Errorf("has more than %d fields", maxFields)
		}
		o = append(o, field{key, parts[i+1]})
	}
	return o, nil
}

// elements returns the elements of an array, or the keys and values of an object,
// that is valid JSON.
func elements(b []byte) (parts []json.RawMessage) {
	for i := 1; ; {
		for strings.IndexByte(" \t\r\n,:", b[i]) >= 0 {
			i++
		}
		from, depth := i, 0
		for depth > 0 || i == from || strings.IndexByte(" \t\r\n,:]}", b[i]) < 0 {
			switch b[i] {
			case '"':
				for i++; b[i] != '"'; i++ {
					if b[i] == '\\' {
						i++
					}
				}
			case '[', '{':
				depth++
			case ']', '}':
				if depth--; depth < 0 {
					return parts
				}
			}
			i++
		}
		parts = append(parts, b[from:i:i])
	}
}

// unquote returns the text of a string that is valid JSON, and UTF-8.
func unquote(raw []byte) (s string) {
	var b []byte
	for rest := raw[1 : len(raw)-1]; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 && b == nil {
			return string(rest)
		} else if i < 0 {
			return string(append(b, rest...))
		}
		c := strings.IndexByte(`"\/bfnrt`, rest[i+1])
		if c < 0 { // \u
			_ = json.Unmarshal(raw, &s)
			return s
		}
		if b == nil {
			b = make([]byte, 0, len(rest))
		}
		b, rest = append(append(b, rest[:i]...), "\"\\/\b\f\n\r\t"[c]), rest[i+2:]
	}
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
				if o.fields, err = parseLine(l.text); err != nil {
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
	return string(text) == "{" || string(text) == "[" || len(text) > 0 && text[0] == '['
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

// loneSurrogate returns the offset of the first \u escape that is half of a
// surrogate pair without its other half, or -1.
func loneSurrogate(b []byte) int {
	unit := func(i int) (uint64, bool) {
		if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
			return 0, false
		}
		u, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
		return u, err == nil
	}
	for i := 0; i < len(b); {
		j := bytes.IndexByte(b[i:], '\\')
		if j < 0 {
			return -1
		}
		i += j
		if i+2 >= len(b) || b[i+1] != 'u' || b[i+2]|0x20 != 'd' { // D800 to DFFF, mostly none
			i += 2 // a \u and its digits hold no further backslash
			continue
		}
		switch u, ok := unit(i); {
		case !ok || u < 0xD800:
			i += 2
		default:
			low, ok := unit(i + 6)
			if u >= 0xDC00 || !ok || low < 0xDC00 || low > 0xDFFF {
				return i
			}
			i += 12
		}
	}
	return -1
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
	return unquote(raw), nil
}

func asList(key string, raw json.RawMessage) (ss []string, err error) {
	if raw[0] != '[' {
		return nil, fmt.Errorf("%s must be a list of strings, not %s", key, short(string(raw)))
	}
	for _, p := range elements(raw) {
		s, err := asText("each of "+key, p)
		if err != nil {
			return nil, err
		}
		ss = append(ss, s)
	}
	return ss, nil
}
