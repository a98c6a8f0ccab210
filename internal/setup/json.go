// This file edits JSON files that people edit as well. The files may contain comments and trailing commas. An edit
// changes only the bytes of the value that it edits.

package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonDocument is the text of a JSON file. Edits replace ranges of its bytes.
type jsonDocument struct {
	text []byte
	root hujson.Value
	// text of the file before parsing, if the file contained only white space and comments (otherwise nil)
	originalText []byte
}

// parseJSON parses a text whose root must be an object. If the text contains only white space and comments, parseJSON
// appends an empty object, and stores the text without this object in originalText, so that the text can be restored.
func parseJSON(text []byte) (*jsonDocument, error) {
	d := &jsonDocument{}
	err := d.replaceText(text)
	if err != nil && d.replaceText(slices.Concat(text, []byte("\n{}\n"))) == nil {
		d.originalText = append([]byte{}, text...)
		text = bytes.TrimRight(text, " \t\r\n")
		if len(text) > 0 {
			text = append(slices.Clone(text), lineEnding(d.originalText)...)
		}
		return d, d.replaceText(append(slices.Clone(text), "{}\n"...))
	}
	return d, err
}

// textBytes returns the text after all edits. If the original text contained only white space and comments, and the
// document is still an empty object, textBytes returns the original text.
func (d *jsonDocument) textBytes() []byte {
	if c, _ := parseContents(&d.root); d.originalText != nil && len(c.parts) == 0 {
		return d.originalText
	}
	return d.text
}

// replaceText replaces the text of the document. If the new text is not valid JSON with an object at the root, it
// returns an error and keeps the old text.
func (d *jsonDocument) replaceText(text []byte) error {
	root, err := hujson.Parse(append(slices.Clone(text), '\n')) // The added newline ends a comment in the last line.
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return errors.New("line 1, column 1: it holds no object")
	}
	d.text, d.root = text, root
	return nil
}

// replaceRange replaces the bytes d.text[from:to] by the argument text.
func (d *jsonDocument) replaceRange(from, to int, text string) error {
	return d.replaceText(slices.Concat(d.text[:from], []byte(text), d.text[to:]))
}

// findMember returns the member of an object with this name, and the member's index. The index is -1 if the member is
// missing. If there are several, it returns the last, because clients use the last.
func findMember(v *hujson.Value, name string) (*hujson.Value, int) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, -1
	}
	for i := len(o.Members) - 1; i >= 0; i-- {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &o.Members[i].Value, i
		}
	}
	return nil, -1
}

// findValue returns the value at a path of names, or nil if the value is missing.
func (d *jsonDocument) findValue(path ...string) *hujson.Value {
	v := &d.root
	for _, name := range path {
		v, _ = findMember(v, name)
		if v == nil {
			return nil
		}
	}
	return v
}

// valueAt is like findValue, but also returns nil if the value is null.
func (d *jsonDocument) valueAt(path ...string) *hujson.Value {
	if v := d.findValue(path...); v != nil && !isNull(v) {
		return v
	}
	return nil
}

func isNull(v *hujson.Value) bool { return v.Value.Kind() == 'n' }

// toStandardJSON returns a value as JSON without comments and trailing commas.
func toStandardJSON(v *hujson.Value) json.RawMessage {
	c := v.Clone()
	c.BeforeExtra, c.AfterExtra = nil, nil
	c.Standardize()
	return json.RawMessage(c.Pack())
}

// decodeAt decodes the JSON value at a path of the document. The argument to is a pointer to the variable that receives
// the decoded value. decodeAt returns false if the value is missing or has another type.
func (d *jsonDocument) decodeAt(to any, path ...string) bool {
	v := d.valueAt(path...)
	return v != nil && json.Unmarshal(toStandardJSON(v), to) == nil
}

// encodeJSON encodes a value as JSON on a single line.
func encodeJSON(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // Encoding cannot fail for the values that this package encodes.
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// sameJSON reports whether two JSON texts represent the same value.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// lineEnding returns the line ending that a text uses, which is the ending of its first line.
func lineEnding(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// indentUnit returns the white space for one level of indentation. This is the indentation of the root's first member,
// or two spaces if that member is not indented.
func (d *jsonDocument) indentUnit() string {
	if o := d.root.Value.(*hujson.Object); len(o.Members) > 0 {
		if space, ok := lineIndent(o.Members[0].Name.BeforeExtra); ok && space != "" {
			return space
		}
	}
	return "  "
}

// lineIndent returns the white space after the last line ending in extra. It returns false if extra contains no line
// ending.
func lineIndent(extra hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 {
		return "", false
	}
	rest := extra[i+1:]
	return string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))]), true
}

// indentAt returns the indentation of the line that contains an offset.
func (d *jsonDocument) indentAt(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// renderValue formats a value that is inserted in a line with the given indentation. It uses several lines if
// isMultiline is set.
func (d *jsonDocument) renderValue(value any, indent string, isMultiline bool) string {
	b := encodeJSON(value)
	if !isMultiline {
		return string(b)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, indent, d.indentUnit()); err != nil {
		panic(err)
	}
	return strings.ReplaceAll(out.String(), "\n", lineEnding(d.text))
}

// jsonContents describes an object's members or the elements of a list, so that they can be edited.
type jsonContents struct {
	value                     *hujson.Value
	parts                     []jsonContentPart
	extraBeforeClosingBracket hujson.Extra // white space and comments before the closing bracket
	hasTrailingComma          bool         // a comma follows the last member or element
}

// jsonContentPart is one member of a JSON object, or one element of a JSON list.
type jsonContentPart struct {
	startOffset, endOffset int          // byte range of the member or element in the file, including its value
	spaceBefore            hujson.Extra // white space and comments before the part
	commaOffset            int          // offset of the comma after the member or element, if there is one
}

func parseContents(v *hujson.Value) (c jsonContents, ok bool) {
	c.value = v
	add := func(first, last *hujson.Value) {
		c.parts = append(
			c.parts,
			jsonContentPart{
				first.StartOffset,
				last.EndOffset,
				first.BeforeExtra,
				last.EndOffset + len(last.AfterExtra),
			},
		)
	}
	switch x := v.Value.(type) {
	case *hujson.Object:
		for i := range x.Members {
			add(&x.Members[i].Name, &x.Members[i].Value)
		}
		c.extraBeforeClosingBracket, c.hasTrailingComma = x.AfterExtra, len(x.Members) > 0 &&
			x.Members[len(x.Members)-1].Value.AfterExtra != nil
	case *hujson.Array:
		for i := range x.Elements {
			add(&x.Elements[i], &x.Elements[i])
		}
		c.extraBeforeClosingBracket, c.hasTrailingComma = x.AfterExtra, len(x.Elements) > 0 &&
			x.Elements[len(x.Elements)-1].AfterExtra != nil
	default:
		return c, false
	}
	return c, true
}

// addMember appends a member to an object. If the name is "", it appends an element to a list.
func (d *jsonDocument) addMember(v *hujson.Value, name string, value any) error {
	c, _ := parseContents(v)
	switch kind := v.Value.Kind(); {
	case name != "" && kind != '{':
		return errors.New("it is no object")
	case name == "" && kind != '[':
		return errors.New("it is no list")
	}
	lines := bytes.IndexByte(d.text, '\n') >= 0
	indent := d.indentAt(v.StartOffset) + d.indentUnit()
	if len(c.parts) > 0 {
		indent, lines = lineIndent(c.parts[0].spaceBefore)
	} else if v == &d.root {
		lines = true
	}
	from, pos := d.insertionOffsets(c)
	close := v.EndOffset - 1 // offset of the bracket that ends the object or list
	isKept := string(d.text[from:pos])
	// If the line before the new part ends with a // comment, insert the new part in a line of its own. Otherwise the
	// part would become text of the comment.
	if strings.Contains(isKept[strings.LastIndexByte(isKept, '\n')+1:], "//") && !lines {
		lines, indent = true, d.indentAt(v.StartOffset)+d.indentUnit()
	}
	entry := d.renderValue(value, indent, lines)
	if name != "" {
		entry = string(encodeJSON(name)) + choose(lines || bytes.Contains(d.text, []byte(`": `)), ": ", ":") + entry
	}
	if lines {
		entry = lineEnding(d.text) + indent + entry
	}
	switch {
	case len(c.parts) == 0:
		if lines {
			entry += lineEnding(d.text) + d.indentAt(v.StartOffset)
		}
		return d.replaceRange(pos, close, entry)
	case c.hasTrailingComma: // A comma follows the last member or element, so put a comma after the new one as well.
		return d.replaceRange(pos, pos, addLeadingSpace(entry, lines)+",")
	}
	return d.replaceRange(from, pos, ","+isKept+addLeadingSpace(entry, lines))
}

// insertionOffsets returns where a new last part can be inserted into c, which is an object or a list. Both results are
// offsets in d.text. from is the offset after the last part and its comma, if it has one, or after the opening bracket
// if c is empty. The result to is the offset after the comments that follow from. If there are no comments, it is equal
// to from.
func (d *jsonDocument) insertionOffsets(c jsonContents) (from, to int) {
	close := c.value.EndOffset - 1 // offset of the bracket that ends the object or list
	from = c.value.StartOffset + 1
	if n := len(c.parts); n > 0 && c.hasTrailingComma {
		from = close - len(c.extraBeforeClosingBracket)
	} else if n > 0 {
		from = c.parts[n-1].endOffset
	}
	return from, from + len(bytes.TrimRight(d.text[from:close], " \t\r\n"))
}

// addLeadingSpace adds a space before a new member or element, unless it begins a new line.
func addLeadingSpace(entry string, isMultiline bool) string {
	if isMultiline {
		return entry
	}
	return " " + entry
}

// removePart removes part i of an object or a list, with its comma and white space. It keeps comments.
func (d *jsonDocument) removePart(v *hujson.Value, i int) error {
	c, _ := parseContents(v)
	p := c.parts[i]
	from := p.startOffset - (len(p.spaceBefore) - len(bytes.TrimRight(p.spaceBefore, " \t\r\n")))
	kept := string(d.text[p.endOffset:p.commaOffset]) // comments between the value and its comma, which are kept
	if strings.TrimSpace(kept) == "" {
		kept = ""
	}
	switch last := i == len(c.parts)-1; {
	case !last || c.hasTrailingComma:
		return d.replaceRange(from, p.commaOffset+1, kept)
	// The part to remove is the last in the object or list, so also remove the comma after the previous part.
	case i > 0:
		comma := c.parts[i-1].commaOffset
		return d.replaceRange(comma, p.endOffset, string(d.text[comma+1:from]))
	default:
		end := p.endOffset
		if strings.TrimSpace(string(d.text[v.StartOffset+1:from])) == "" &&
			strings.TrimSpace(string(d.text[p.endOffset:v.EndOffset-1])) == "" {
			from, end = v.StartOffset+1, v.EndOffset-1
		}
		return d.replaceRange(from, end, "")
	}
}

// setValue sets the value at a path, and creates missing objects on the path. If the existing value is equal, its text
// is kept.
func (d *jsonDocument) setValue(value any, path ...string) error {
	v := &d.root
	for i, name := range path {
		next, _ := findMember(v, name)
		switch {
		case next == nil:
			for j := len(path) - 1; j > i; j-- {
				value = fields{{path[j], value}}
			}
			return addPathToError(path[:i], d.addMember(v, name, value))
		case i < len(path)-1 && isNull(next):
			for j := len(path) - 1; j > i; j-- {
				value = fields{{path[j], value}}
			}
			return d.replaceValue(next, value)
		case i == len(path)-1:
			return d.replaceValue(next, value)
		}
		v = next
	}
	return nil
}

// addPathToError adds the path of a value to an error about this value.
func addPathToError(path []string, err error) error {
	if err == nil || len(path) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", strings.Join(path, "."), err)
}

func (d *jsonDocument) replaceValue(v *hujson.Value, value any) error {
	if sameJSON(encodeJSON(value), toStandardJSON(v)) {
		return nil
	}
	lines := bytes.IndexByte(d.text[v.StartOffset:v.EndOffset], '\n') >= 0
	return d.replaceRange(v.StartOffset, v.EndOffset, d.renderValue(value, d.indentAt(v.StartOffset), lines))
}

// removeValue removes the member at a path, if there is one.
func (d *jsonDocument) removeValue(path ...string) error {
	parent := d.valueAt(path[:len(path)-1]...)
	if parent == nil {
		return nil
	}
	_, i := findMember(parent, path[len(path)-1])
	if i < 0 {
		return nil
	}
	return d.removePart(parent, i)
}

// removeEmptyParents removes the object or list at a path if it is empty. Then it removes each parent on the path that
// has become empty. It stops at the first value that is not empty, or for which docWithoutOxbow contains an object or
// list. If the value is null in docWithoutOxbow, it is replaced by null and not removed.
func (d *jsonDocument) removeEmptyParents(docWithoutOxbow *jsonDocument, path ...string) error {
	for ; len(path) > 0; path = path[:len(path)-1] {
		v := d.valueAt(path...)
		if v == nil {
			continue
		}
		if !d.isEmptyValue(v) || docWithoutOxbow.valueAt(path...) != nil {
			return nil
		}
		if docWithoutOxbow.findValue(path...) != nil {
			return d.replaceValue(v, nil)
		}
		if err := d.removeValue(path...); err != nil {
			return err
		}
	}
	return nil
}

// isEmptyValue reports whether v is an object or a list without parts and without comments.
func (d *jsonDocument) isEmptyValue(v *hujson.Value) bool {
	c, ok := parseContents(v)
	if !ok || len(c.parts) > 0 {
		return false
	}
	return !bytes.ContainsAny(d.text[v.StartOffset:v.EndOffset], "/#")
}

// fields is a JSON object. Its members are encoded in the order of the slice.
type fields []field

type field struct {
	name  string
	value any
}

func (f fields) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, encodeJSON(m.name)...), ':'), encodeJSON(m.value)...)
	}
	return append(b, '}'), nil
}

// elementAt returns element i of a list.
func elementAt(v *hujson.Value, i int) *hujson.Value {
	return &v.Value.(*hujson.Array).Elements[i]
}

// indentedJSON returns the indented JSON text of a value, as file content.
func indentedJSON(value any) string {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}
