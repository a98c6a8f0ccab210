// This file reads JSON documents, such as an array of records or an object with several lists of
// records, one record at a time.

package exchange

import (
	"bufio"
	"bytes"
	"cmp"
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

// documentLists contains the names of the lists in a program's documents.
type documentLists struct {
	read    []string // lists whose records are yielded
	tables  []string // lists whose records are yielded, unless the object is a record itself
	ignored []string // members that contain nothing to import, such as settings of the export
}

// documentObjects yields the records in JSON documents: the elements of an array, and the elements
// of the lists in an object. An object without such a list is itself a record, so that a file with
// an object on each line has a record on each line. For a value that is not a record, and for a
// list with an unknown name, which is not imported, documentObjects yields an [*ItemError]. If a
// document is damaged, it yields the records before the damage, and an ItemError.
func documentObjects(r io.Reader, ref string, lists documentLists) iter.Seq2[objectAt, error] {
	return func(yield func(objectAt, error) bool) {
		br := bufio.NewReaderSize(r, headSize)
		if bom, _ := br.Peek(3); string(bom) == "\uFEFF" {
			_, _ = br.Discard(3) // the bytes were peeked, so discarding them cannot fail
		}
		lines := &lineCounter{r: br, line: 1}
		d := &documentReader{ref: ref, lists: lists, lines: lines, yield: yield}
		d.dec = json.NewDecoder(lines)
		d.readAll()
	}
}

// documentReader is the state of [documentObjects].
type documentReader struct {
	ref   string
	lists documentLists
	lines *lineCounter
	dec   *json.Decoder
	yield func(objectAt, error) bool

	done bool // the caller wants no more records, or the rest cannot be read
}

// readAll reads the values of the input.
func (d *documentReader) readAll() {
	for !d.done {
		tok, err := d.token()
		switch {
		case d.done || err == io.EOF:
			return
		case err != nil:
			d.fail(err)
		case tok == json.Delim('['):
			d.readList("")
		case tok == json.Delim('{'):
			d.readObject()
		default:
			where := at(d.ref, d.lines.lineAt(d.dec.InputOffset()))
			err = fmt.Errorf("is not a JSON object or array, but %s", quoteShort(fmt.Sprint(tok)))
			d.give(objectAt{}, problem(where, err))
		}
	}
}

// token returns the next token. The size of a token is limited.
func (d *documentReader) token() (json.Token, error) {
	d.lines.left = maxLine
	return d.dec.Token()
}

// fail yields an error, and ends the reading.
func (d *documentReader) fail(err error) {
	d.done = true
	where := at(d.ref, d.lines.nextLine(d.dec.InputOffset()))
	syn, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("is not JSON: it ends too early; what comes before was read")
	case isSyntax:
		err = fmt.Errorf("is not JSON: %w; what comes before was read", syn)
	case errors.Is(err, errLongRecord):
	default:
		d.yield(objectAt{}, fmt.Errorf("reading %s: %w", where, err))
		return
	}
	d.yield(objectAt{}, problem(where, err))
}

// readList reads the records of a list whose opening bracket was read.
func (d *documentReader) readList(list string) {
	for num := 1; !d.done && d.dec.More(); num++ {
		raw, line := d.value()
		if d.done {
			return
		}
		o := objectAt{list: list, num: num, text: raw, where: at(d.ref, line)}
		var err error
		o.fields, err = parseRecord(raw)
		d.give(o, o.problem(err))
	}
	if !d.done {
		if _, err := d.token(); err != nil { // the closing bracket
			d.fail(err)
		}
	}
}

// readObject reads an object whose opening brace was read.
func (d *documentReader) readObject() {
	o := objectAt{where: at(d.ref, d.lines.lineAt(d.dec.InputOffset()))}
	hasList := false
	var bad error
	for !d.done && d.dec.More() {
		key, err := d.token()
		if err != nil {
			d.fail(err)
			return
		}
		name, _ := key.(string)
		if slices.Contains(d.lists.read, name) {
			hasList = true
			d.readMember(name)
		} else {
			bad = cmp.Or(bad, d.readField(&o, name))
		}
	}
	if d.done {
		return
	}
	if _, err := d.token(); err != nil { // the closing brace
		d.fail(err)
	} else if hasList {
		d.reportUnread(o)
	} else {
		d.give(o, o.problem(bad))
	}
}

// readField reads a member that is not one of the lists to read, and adds it to the object. The rows of a
// table are yielded instead. It returns an error if the member cannot be a field.
func (d *documentReader) readField(o *objectAt, name string) error {
	raw, line := d.value()
	switch {
	case d.done:
		return nil
	case slices.Contains(d.lists.tables, name) && isTable(raw):
		d.giveRows(name, raw, line)
		return nil
	case len(o.fields) >= maxFields:
		return fmt.Errorf("has more than %d fields", maxFields)
	case o.fields.hasKey(name):
		return fmt.Errorf("field %s is given twice", quoteShort(name))
	}
	o.fields = append(o.fields, field{name, raw})
	return checkText(raw)
}

// isTable reports whether a value is a list of objects.
func isTable(raw json.RawMessage) bool {
	if raw[0] != '[' {
		return false
	}
	for first := range rawjson.EachElement(raw) {
		return first[0] == '{'
	}
	return false
}

// giveRows yields the records of a list that was read as a whole.
func (d *documentReader) giveRows(list string, raw json.RawMessage, line int) {
	num := 0
	for row := range rawjson.EachElement(raw) {
		num++
		if d.done {
			return
		}
		o := objectAt{list: list, num: num, text: row, where: at(d.ref, line)}
		var err error
		o.fields, err = parseRecord(row)
		d.give(o, o.problem(err))
	}
}

// readMember reads a member of the document that should be a list of records.
func (d *documentReader) readMember(name string) {
	tok, err := d.token()
	switch {
	case err != nil:
		d.fail(err)
	case tok == json.Delim('['):
		d.readList(name)
	case tok == json.Delim('{'):
		d.fail(fmt.Errorf("%s is not a list", name))
	case tok != nil:
		where := at(d.ref, d.lines.lineAt(d.dec.InputOffset()))
		d.give(objectAt{}, problem(where, fmt.Errorf("%s is not a list", name)))
	}
}

// reportUnread yields an error for each further list of an object with lists.
func (d *documentReader) reportUnread(o objectAt) {
	for _, f := range o.fields {
		isReported := f.raw[0] == '[' && !slices.Contains(d.lists.ignored, f.key)
		if d.done || !isReported {
			continue
		}
		n := 0
		for range rawjson.EachElement(f.raw) {
			n++
		}
		if n > 0 {
			err := fmt.Errorf("%s of the list %s %s left out, because oxbow does not know it",
				text.Count(n, "record", "records"), quoteShort(f.key), wasOrWere(n))
			d.give(objectAt{}, problem(o.where, err))
		}
	}
}

func wasOrWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func (d *documentReader) give(o objectAt, err error) {
	if err != nil {
		o = objectAt{}
	}
	if !d.yield(o, err) {
		d.done = true
	}
}

// value returns the next value, and the line on which it begins. If the value cannot be read, it
// yields an error and ends the reading.
func (d *documentReader) value() (raw json.RawMessage, line int) {
	d.lines.left = maxLine
	if err := d.dec.Decode(&raw); err != nil {
		d.fail(err)
		return nil, 0
	}
	end := d.dec.InputOffset()
	return raw, d.lines.lineAt(end - int64(len(raw)))
}

// parseRecord parses a JSON object that the decoder has already validated.
func parseRecord(raw []byte) (object, error) {
	if err := checkText(raw); err != nil {
		return nil, err
	}
	return parseObject(raw)
}

// checkText returns an error if a JSON value contains text that encoding/json would replace.
func checkText(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("is not UTF-8")
	}
	if rawjson.LoneSurrogate(raw) >= 0 {
		return errors.New("has half a character (a lone surrogate)")
	}
	return nil
}

// problem returns an [*ItemError] for the record, or nil if err is nil.
func (o objectAt) problem(err error) error {
	switch {
	case err == nil:
		return nil
	case o.list != "":
		err = fmt.Errorf("record %d of %s: %w", o.num, o.list, err)
	case o.num > 0:
		err = fmt.Errorf("record %d: %w", o.num, err)
	}
	return problem(o.where, err)
}

// errLongRecord is returned for a record that is too long to be read.
var errLongRecord = fmt.Errorf("has more than the %d MiB of one record that are read", maxLine>>20)

// lineCounter is a reader that finds the number of the line at an offset. It fails after left
// bytes.
type lineCounter struct {
	r       io.Reader
	left    int
	pending []byte // bytes that were read and whose lines are not counted yet
	from    int64  // offset of pending
	line    int    // line at from
}

func (c *lineCounter) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLongRecord
	}
	n, err := c.r.Read(p)
	c.left -= n
	c.pending = append(c.pending, p[:n]...)
	return n, err
}

// lineAt returns the line at an offset, which must not be less than in the last call.
func (c *lineCounter) lineAt(offset int64) int {
	n := min(max(int(offset-c.from), 0), len(c.pending))
	c.line += bytes.Count(c.pending[:n], []byte("\n"))
	c.pending = c.pending[n:]
	c.from += int64(n)
	return c.line
}

// nextLine returns the line on which the next value begins after an offset.
func (c *lineCounter) nextLine(offset int64) int {
	line := c.lineAt(offset)
	rest := bytes.TrimLeft(c.pending, ", \t\r\n")
	return line + bytes.Count(c.pending[:len(c.pending)-len(rest)], []byte("\n"))
}

// jsonHead describes the beginning of a JSON document, which may be cut off.
type jsonHead struct {
	isArray bool
	keys    []string            // keys in the object, or in the first array element
	lists   map[string][]string // for each list in the object, the keys of its first element
}

// readJSONHead reads the beginning of a document. ok is false if the text does not begin with an
// object or an array of objects.
func readJSONHead(head []byte) (h jsonHead, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(head))
	tok, err := dec.Token()
	if err != nil {
		return h, false
	}
	h.lists = map[string][]string{}
	switch tok {
	case json.Delim('['):
		h.isArray = true
		h.keys = firstKeys(dec)
		return h, h.keys != nil
	case json.Delim('{'):
	default:
		return h, false
	}
	for dec.More() {
		tok, err := dec.Token()
		key, isKey := tok.(string)
		if err != nil || !isKey {
			break
		}
		h.keys = append(h.keys, key)
		var raw json.RawMessage
		rest := bytes.TrimLeft(head[dec.InputOffset():], ": \t\r\n")
		if bytes.HasPrefix(rest, []byte("[")) {
			h.lists[key] = objectKeys(json.NewDecoder(bytes.NewReader(rest[1:])))
		}
		if dec.Decode(&raw) != nil {
			break
		}
	}
	return h, true
}

// firstKeys returns the keys of an array's first element. The opening bracket must have been
// read.
func firstKeys(dec *json.Decoder) []string {
	if !dec.More() {
		return nil
	}
	return objectKeys(dec)
}

// objectKeys returns the keys of an object, which may be cut off. It returns nil for another value.
func objectKeys(dec *json.Decoder) []string {
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil
	}
	keys := []string{}
	for dec.More() {
		tok, err := dec.Token()
		key, isKey := tok.(string)
		if err != nil || !isKey {
			break
		}
		keys = append(keys, key)
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
	}
	return keys
}

// hasAll reports whether the keys contain all the words.
func hasAll(keys []string, words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(keys, w) })
}

// hasAny reports whether the keys contain one of the words.
func hasAny(keys []string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(keys, w) })
}

// unknownDocument returns the error for a JSON document that no known program writes.
func unknownDocument(h jsonHead) error {
	what := "is a JSON document"
	if h.isArray {
		what = "is a JSON array of objects"
	}
	keys := h.keys
	if len(keys) > 8 {
		keys = append(slices.Clone(keys[:8]), "…")
	}
	if len(keys) == 0 {
		what += " without keys"
	} else {
		what += " whose keys are " + strings.Join(keys, ", ")
	}
	return errors.New(what + ", which is the format of no known program. " + howToConvert)
}

// howToConvert tells the user to which simple form every text can be converted.
const howToConvert = `Lines such as {"name":"…","content":"…"} can always be imported`
