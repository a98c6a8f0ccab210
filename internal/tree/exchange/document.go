// This file reads JSON documents that contain many records. It keeps only one record in memory at a time.

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

// documentListNames says which lists in a program's documents contain records.
type documentListNames struct {
	recordListNames []string // names of JSON arrays whose elements are records to import
	// Names of other lists whose elements are records. They are read only if the JSON object that contains the lists
	// is not a record itself.
	tableListNames   []string
	ignoredListNames []string // names of members without anything to import, such as the export's settings
}

// documentObjects yields the records in JSON documents, which it reads from r. If a document is an array, its elements
// are the records. If a document is an object, it may have members whose names are in the argument lists. The elements
// of these members are the records. An object without such members is a record itself, as in a file with an object on
// each line.
//
// documentObjects yields an [*ItemError] for a value that is not a record. It also yields an ItemError for a list with
// an unknown name, and does not read this list. If a document is damaged, documentObjects yields the records before the
// damage and then an ItemError.
func documentObjects(r io.Reader, inputName string, lists documentListNames) iter.Seq2[locatedJSONObject, error] {
	return func(yield func(locatedJSONObject, error) bool) {
		br := bufio.NewReaderSize(r, peekSize)
		if bom, _ := br.Peek(3); string(bom) == "\uFEFF" {
			_, _ = br.Discard(3) // The bytes were peeked, so discarding them cannot fail.
		}
		lines := &lineCounter{r: br, line: 1}
		d := &documentReader{inputName: inputName, listNames: lists, lines: lines, yield: yield}
		d.dec = json.NewDecoder(lines)
		d.readAllValues()
	}
}

// documentReader is the state of [documentObjects].
type documentReader struct {
	inputName string
	listNames documentListNames
	lines     *lineCounter
	dec       *json.Decoder
	yield     func(locatedJSONObject, error) bool

	isDone bool // The caller has enough records, or the rest of the input cannot be read.
}

// readAllValues reads all JSON values that follow each other in the input, and yields their records.
func (d *documentReader) readAllValues() {
	for !d.isDone {
		tok, err := d.readToken()
		switch {
		case d.isDone || err == io.EOF:
			return
		case err != nil:
			d.yieldError(err)
		case tok == json.Delim('['):
			d.readList("")
		case tok == json.Delim('{'):
			d.readObject()
		default:
			where := lineRef(d.inputName, d.lines.lineAt(d.dec.InputOffset()))
			err = fmt.Errorf("is not a JSON object or array, but %s", truncateAndQuote(fmt.Sprint(tok)))
			d.yieldObject(locatedJSONObject{}, newItemError(where, err))
		}
	}
}

// readToken returns the next token of the JSON text. The size of a token is limited.
func (d *documentReader) readToken() (json.Token, error) {
	d.lines.remainingBytes = maxLineBytes
	return d.dec.Token()
}

// yieldError yields an error and ends the reading.
func (d *documentReader) yieldError(err error) {
	d.isDone = true
	where := lineRef(d.inputName, d.lines.nextValueLine(d.dec.InputOffset()))
	syn, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("is not JSON: it ends too early; what comes before was read")
	case isSyntax:
		err = fmt.Errorf("is not JSON: %w; what comes before was read", syn)
	case errors.Is(err, errRecordTooLong):
	default:
		d.yield(locatedJSONObject{}, fmt.Errorf("reading %s: %w", where, err))
		return
	}
	d.yield(locatedJSONObject{}, newItemError(where, err))
}

// readList yields the records in a list. The caller has read the opening bracket.
func (d *documentReader) readList(listName string) {
	for num := 1; !d.isDone && d.dec.More(); num++ {
		raw, line := d.readValue()
		if d.isDone {
			return
		}
		o := locatedJSONObject{listName: listName, numberInList: num, text: raw, position: lineRef(d.inputName, line)}
		var err error
		o.fields, err = parseValidObject(raw)
		d.yieldObject(o, o.itemError(err))
	}
	if !d.isDone {
		if _, err := d.readToken(); err != nil { // Read the bracket that closes the JSON list.
			d.yieldError(err)
		}
	}
}

// readObject reads a JSON object after its opening brace, which the caller has already read. It yields the records in
// the members that d.listNames.recordListNames names. If the object has such a member, readObject also yields an error
// for each other list that is not imported. Otherwise the object itself is a record, and readObject yields the object.
func (d *documentReader) readObject() {
	o := locatedJSONObject{position: lineRef(d.inputName, d.lines.lineAt(d.dec.InputOffset()))}
	hasList := false
	var bad error
	for !d.isDone && d.dec.More() {
		key, err := d.readToken()
		if err != nil {
			d.yieldError(err)
			return
		}
		name, _ := key.(string)
		if slices.Contains(d.listNames.recordListNames, name) {
			hasList = true
			d.readListMember(name)
		} else {
			bad = cmp.Or(bad, d.readField(&o, name))
		}
	}
	if d.isDone {
		return
	}
	if _, err := d.readToken(); err != nil { // Read the closing brace.
		d.yieldError(err)
	} else if hasList {
		d.reportUnreadLists(o)
	} else {
		d.yieldObject(o, o.itemError(bad))
	}
}

// readField reads the value of the member with the given name and adds the member to the object o. If the value is a
// list of objects and its name is in d.listNames.tableListNames, readField instead yields each element of the list as a
// record. It returns an error if the object has too many fields, if it already has a field with this name, or if the
// value contains text that checkJSONText refuses.
func (d *documentReader) readField(o *locatedJSONObject, name string) error {
	raw, line := d.readValue()
	switch {
	case d.isDone:
		return nil
	case slices.Contains(d.listNames.tableListNames, name) && isTable(raw):
		d.yieldTableRows(name, raw, line)
		return nil
	case len(o.fields) >= maxObjectFields:
		return fmt.Errorf("has more than %d fields", maxObjectFields)
	case o.fields.hasKey(name):
		return fmt.Errorf("field %s is given twice", truncateAndQuote(name))
	}
	o.fields = append(o.fields, jsonField{name, raw})
	return checkJSONText(raw)
}

// isTable reports whether a value is a list whose first element is an object. It returns false for an empty list.
func isTable(raw json.RawMessage) bool {
	if raw[0] != '[' {
		return false
	}
	for first := range rawjson.EachElement(raw) {
		return first[0] == '{'
	}
	return false
}

// yieldTableRows yields each element of the list raw as a record. The argument line is the line on which the list
// begins. It becomes the position of each record.
func (d *documentReader) yieldTableRows(listName string, raw json.RawMessage, line int) {
	num := 0
	for row := range rawjson.EachElement(raw) {
		num++
		if d.isDone {
			return
		}
		o := locatedJSONObject{listName: listName, numberInList: num, text: row, position: lineRef(d.inputName, line)}
		var err error
		o.fields, err = parseValidObject(row)
		d.yieldObject(o, o.itemError(err))
	}
}

// readListMember reads the value of a document's member, which must be a list, and yields the records in the list. If
// the value is null, it is ignored. If the value is not a list, readListMember yields an error. After an object or
// invalid JSON, reading ends.
func (d *documentReader) readListMember(name string) {
	tok, err := d.readToken()
	switch {
	case err != nil:
		d.yieldError(err)
	case tok == json.Delim('['):
		d.readList(name)
	case tok == json.Delim('{'):
		d.yieldError(fmt.Errorf("%s is not a list", name))
	case tok != nil:
		where := lineRef(d.inputName, d.lines.lineAt(d.dec.InputOffset()))
		d.yieldObject(locatedJSONObject{}, newItemError(where, fmt.Errorf("%s is not a list", name)))
	}
}

// reportUnreadLists yields an error for each JSON array in the object o that is not imported and has elements. The
// error contains the number of elements that are left out. Arrays whose names are in d.listNames.ignoredListNames are
// not reported. reportUnreadLists stops if d.isDone is set.
func (d *documentReader) reportUnreadLists(o locatedJSONObject) {
	for _, f := range o.fields {
		isReported := f.rawValue[0] == '[' && !slices.Contains(d.listNames.ignoredListNames, f.key)
		if d.isDone || !isReported {
			continue
		}
		n := 0
		for range rawjson.EachElement(f.rawValue) {
			n++
		}
		if n > 0 {
			err := fmt.Errorf("%s of the list %s %s left out, because oxbow does not know it",
				text.FormatCount(n, "record", "records"), truncateAndQuote(f.key), wasOrWere(n))
			d.yieldObject(locatedJSONObject{}, newItemError(o.position, err))
		}
	}
}

func wasOrWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func (d *documentReader) yieldObject(o locatedJSONObject, err error) {
	if err != nil {
		o = locatedJSONObject{}
	}
	if !d.yield(o, err) {
		d.isDone = true
	}
}

// readValue returns the next value and the line on which it begins. If the value cannot be read, readValue yields an
// error and ends the reading.
func (d *documentReader) readValue() (raw json.RawMessage, line int) {
	d.lines.remainingBytes = maxLineBytes
	if err := d.dec.Decode(&raw); err != nil {
		d.yieldError(err)
		return nil, 0
	}
	end := d.dec.InputOffset()
	return raw, d.lines.lineAt(end - int64(len(raw)))
}

// parseValidObject parses a JSON value whose syntax was already checked. It returns an error if the value is not an
// object, or if checkJSONText finds text that encoding/json would change, such as invalid UTF-8.
func parseValidObject(raw []byte) (jsonObject, error) {
	if err := checkJSONText(raw); err != nil {
		return nil, err
	}
	return parseObject(raw)
}

// checkJSONText returns an error if a JSON value contains text that encoding/json would change, such as invalid UTF-8.
func checkJSONText(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("is not UTF-8")
	}
	if rawjson.FindLoneSurrogate(raw) >= 0 {
		return errors.New("has half a character (a lone surrogate)")
	}
	return nil
}

// itemError returns an [*ItemError] with the position of the record, or nil if err is nil.
func (o locatedJSONObject) itemError(err error) error {
	switch {
	case err == nil:
		return nil
	case o.listName != "":
		err = fmt.Errorf("record %d of %s: %w", o.numberInList, o.listName, err)
	case o.numberInList > 0:
		err = fmt.Errorf("record %d: %w", o.numberInList, err)
	}
	return newItemError(o.position, err)
}

// errRecordTooLong is returned for a record that is longer than maxLineBytes.
var errRecordTooLong = fmt.Errorf("has more than the %d MiB of one record that are read", maxLineBytes>>20)

// lineCounter is a reader that can tell the line number at a byte offset. When it has read as many bytes as the field
// remainingBytes allows, it returns an error, so that a record cannot use too much memory.
type lineCounter struct {
	r                  io.Reader
	remainingBytes     int
	pendingBuffer      []byte // memory for pendingBytes, which each Read uses again
	pendingBytes       []byte // bytes that were read but whose lines are not counted yet
	pendingBytesOffset int64  // offset of the first byte in pendingBytes, from the input's beginning
	line               int    // number of the line that contains the byte at pendingBytesOffset
}

func (c *lineCounter) Read(p []byte) (int, error) {
	if c.remainingBytes <= 0 {
		return 0, errRecordTooLong
	}
	n, err := c.r.Read(p)
	c.remainingBytes -= n
	c.pendingBuffer = append(append(c.pendingBuffer[:0], c.pendingBytes...), p[:n]...)
	c.pendingBytes = c.pendingBuffer
	return n, err
}

// lineAt returns the line number at an offset. The offset must not be lower than in an earlier call.
func (c *lineCounter) lineAt(offset int64) int {
	n := min(max(int(offset-c.pendingBytesOffset), 0), len(c.pendingBytes))
	c.line += bytes.Count(c.pendingBytes[:n], []byte("\n"))
	c.pendingBytes = c.pendingBytes[n:]
	c.pendingBytesOffset += int64(n)
	return c.line
}

// nextValueLine returns the number of the line on which the next value after an offset begins.
func (c *lineCounter) nextValueLine(offset int64) int {
	line := c.lineAt(offset)
	rest := bytes.TrimLeft(c.pendingBytes, ", \t\r\n")
	return line + bytes.Count(c.pendingBytes[:len(c.pendingBytes)-len(rest)], []byte("\n"))
}

// jsonHead describes the beginning of a JSON document. The rest may be missing.
type jsonHead struct {
	isArray bool
	keys    []string // keys of the object, or the first object in the array
	// for each list in the document's first object, by name: the keys of the list's first element
	elementKeysByListName map[string][]string
}

// readJSONHead reads the beginning of a JSON document. ok is false if the text begins with neither an object nor an
// array with objects.
func readJSONHead(head []byte) (h jsonHead, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(head))
	tok, err := dec.Token()
	if err != nil {
		return h, false
	}
	h.elementKeysByListName = map[string][]string{}
	switch tok {
	case json.Delim('['):
		h.isArray = true
		h.keys = firstElementKeys(dec)
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
			h.elementKeysByListName[key] = objectKeys(json.NewDecoder(bytes.NewReader(rest[1:])))
		}
		if dec.Decode(&raw) != nil {
			break
		}
	}
	return h, true
}

// firstElementKeys returns the keys of the first element in an array. The caller has read the opening bracket.
func firstElementKeys(dec *json.Decoder) []string {
	if !dec.More() {
		return nil
	}
	return objectKeys(dec)
}

// objectKeys returns the keys of an object, even if its end is missing. It returns nil for another value.
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

// containsAll reports whether keys contains all of the words.
func containsAll(keys []string, words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(keys, w) })
}

// containsAny reports whether keys, a JSON object's keys, contains at least one of the words.
func containsAny(keys []string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(keys, w) })
}

// unknownDocumentError returns the error for a JSON document in an unknown format. The error names its keys.
func unknownDocumentError(h jsonHead) error {
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
	return errors.New(what + ", which is the format of no known program. " + conversionHint)
}

// conversionHint tells the user to which simple format any text can be converted.
const conversionHint = `Lines such as {"name":"…","content":"…"} can always be imported`
