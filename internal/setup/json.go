// Edits of JSON files that people write, too: comments and trailing commas are
// allowed, and every byte that an edit does not need stays.

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

// document is a JSON text that is edited by byte ranges.
type document struct {
	text []byte
	root hujson.Value
	was  []byte // the text as it was given, where it holds no value
}

// parseJSON reads a text whose root is an object. A text of nothing but white
// space and comments is taken for an empty object.
func parseJSON(text []byte) (*document, error) {
	d := &document{}
	err := d.put(text)
	if err != nil && d.put(slices.Concat(text, []byte("\n{}\n"))) == nil {
		d.was = append([]byte{}, text...)
		text = bytes.TrimRight(text, " \t\r\n")
		if len(text) > 0 {
			text = append(slices.Clone(text), newline(d.was)...)
		}
		return d, d.put(append(slices.Clone(text), "{}\n"...))
	}
	return d, err
}

// bytes returns the text.
func (d *document) bytes() []byte {
	if c, _ := contents(&d.root); d.was != nil && len(c.parts) == 0 {
		return d.was
	}
	return d.text
}

// put makes text the document's.
func (d *document) put(text []byte) error {
	root, err := hujson.Parse(append(slices.Clone(text), '\n')) // the end of a comment
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return errors.New("line 1, column 1: it holds no object")
	}
	d.text, d.root = text, root
	return nil
}

// splice replaces bytes of the text.
func (d *document) splice(from, to int, with string) error {
	return d.put(slices.Concat(d.text[:from], []byte(with), d.text[to:]))
}

// member returns the member of that name, the last one as clients read it, and its
// index; -1 for none.
func member(v *hujson.Value, name string) (*hujson.Value, int) {
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

// find returns the value of a path of names, nil for none.
func (d *document) find(path ...string) *hujson.Value {
	v := &d.root
	for _, name := range path {
		v, _ = member(v, name)
		if v == nil {
			return nil
		}
	}
	return v
}

// at returns the value of a path of names, nil for none and for null.
func (d *document) at(path ...string) *hujson.Value {
	if v := d.find(path...); v != nil && !isNull(v) {
		return v
	}
	return nil
}

func isNull(v *hujson.Value) bool { return v.Value.Kind() == 'n' }

// plain returns a value as standard JSON.
func plain(v *hujson.Value) json.RawMessage {
	c := v.Clone()
	c.BeforeExtra, c.AfterExtra = nil, nil
	c.Standardize()
	return json.RawMessage(c.Pack())
}

// decode decodes the value of a path, and reports whether there is one that fits.
func (d *document) decode(to any, path ...string) bool {
	v := d.at(path...)
	return v != nil && json.Unmarshal(plain(v), to) == nil
}

// encode writes a value as JSON in one line.
func encode(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // values of this package have a form in JSON
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// sameJSON reports whether two texts of JSON mean the same.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// newline returns the line end of a text: that of its first line.
func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// unit returns the indentation of one level: that of the root's first member.
func (d *document) unit() string {
	if o := d.root.Value.(*hujson.Object); len(o.Members) > 0 {
		if space, ok := lineIndent(o.Members[0].Name.BeforeExtra); ok && space != "" {
			return space
		}
	}
	return "  "
}

// lineIndent returns the white space after the last line end of what stands before
// a value, and whether there is a line end.
func lineIndent(extra hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 {
		return "", false
	}
	rest := extra[i+1:]
	return string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))]), true
}

// indentAt returns the white space at the begin of the line of an offset.
func (d *document) indentAt(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// render writes a value for a place whose line is indented so; in one line where
// the lines around are.
func (d *document) render(value any, indent string, lines bool) string {
	b := encode(value)
	if !lines {
		return string(b)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, indent, d.unit()); err != nil {
		panic(err)
	}
	return strings.ReplaceAll(out.String(), "\n", newline(d.text))
}

// inside is what an edit needs to know of an object or a list.
type inside struct {
	v     *hujson.Value
	parts []part
	extra hujson.Extra // before the closing bracket
	comma bool         // the last part has a comma, too
}

// part is a member of an object, or an element of a list.
type part struct {
	from, end int          // from its first byte to the one after its value
	before    hujson.Extra // white space and comments before it
	sep       int          // where its comma is, if it has one
}

func contents(v *hujson.Value) (c inside, ok bool) {
	c.v = v
	add := func(first, last *hujson.Value) {
		c.parts = append(c.parts, part{first.StartOffset, last.EndOffset, first.BeforeExtra, last.EndOffset + len(last.AfterExtra)})
	}
	switch x := v.Value.(type) {
	case *hujson.Object:
		for i := range x.Members {
			add(&x.Members[i].Name, &x.Members[i].Value)
		}
		c.extra, c.comma = x.AfterExtra, len(x.Members) > 0 && x.Members[len(x.Members)-1].Value.AfterExtra != nil
	case *hujson.Array:
		for i := range x.Elements {
			add(&x.Elements[i], &x.Elements[i])
		}
		c.extra, c.comma = x.AfterExtra, len(x.Elements) > 0 && x.Elements[len(x.Elements)-1].AfterExtra != nil
	default:
		return c, false
	}
	return c, true
}

// add puts a member, or for the name "" an element, at the end of an object or a
// list.
func (d *document) add(v *hujson.Value, name string, value any) error {
	c, _ := contents(v)
	switch kind := v.Value.Kind(); {
	case name != "" && kind != '{':
		return errors.New("it is no object")
	case name == "" && kind != '[':
		return errors.New("it is no list")
	}
	lines := bytes.IndexByte(d.text, '\n') >= 0
	indent := d.indentAt(v.StartOffset) + d.unit()
	if len(c.parts) > 0 {
		indent, lines = lineIndent(c.parts[0].before)
	} else if v == &d.root {
		lines = true
	}
	from, at := d.gap(c)
	close := v.EndOffset - 1 // of the bracket
	kept := string(d.text[from:at])
	if strings.Contains(kept[strings.LastIndexByte(kept, '\n')+1:], "//") && !lines { // a comment ends with its line
		lines, indent = true, d.indentAt(v.StartOffset)+d.unit()
	}
	entry := d.render(value, indent, lines)
	if name != "" {
		entry = string(encode(name)) + cond(lines || bytes.Contains(d.text, []byte(`": `)), ": ", ":") + entry
	}
	if lines {
		entry = newline(d.text) + indent + entry
	}
	switch {
	case len(c.parts) == 0:
		if lines {
			entry += newline(d.text) + d.indentAt(v.StartOffset)
		}
		return d.splice(at, close, entry)
	case c.comma: // and another after the entry
		return d.splice(at, at, spaced(entry, lines)+",")
	}
	return d.splice(from, at, ","+kept+spaced(entry, lines))
}

// gap returns where the last part and its comma end, and where the comments end
// that follow it.
func (d *document) gap(c inside) (from, to int) {
	close := c.v.EndOffset - 1 // of the bracket
	from = c.v.StartOffset + 1
	if n := len(c.parts); n > 0 && c.comma {
		from = close - len(c.extra)
	} else if n > 0 {
		from = c.parts[n-1].end
	}
	return from, from + len(bytes.TrimRight(d.text[from:close], " \t\r\n"))
}

// spaced puts a space before an entry that stands in the line of the one before it.
func spaced(entry string, lines bool) string {
	if lines {
		return entry
	}
	return " " + entry
}

// cut takes the part of that index out of an object or a list, with the comma and
// the white space that go with it. Comments stay.
func (d *document) cut(v *hujson.Value, i int) error {
	c, _ := contents(v)
	p := c.parts[i]
	from := p.from - (len(p.before) - len(bytes.TrimRight(p.before, " \t\r\n")))
	kept := string(d.text[p.end:p.sep]) // comments between the value and its comma
	if strings.TrimSpace(kept) == "" {
		kept = ""
	}
	switch last := i == len(c.parts)-1; {
	case !last || c.comma:
		return d.splice(from, p.sep+1, kept)
	case i > 0: // the comma before it goes
		comma := c.parts[i-1].sep
		return d.splice(comma, p.end, string(d.text[comma+1:from]))
	default:
		end := p.end
		if strings.TrimSpace(string(d.text[v.StartOffset+1:from])) == "" && strings.TrimSpace(string(d.text[p.end:v.EndOffset-1])) == "" {
			from, end = v.StartOffset+1, v.EndOffset-1
		}
		return d.splice(from, end, "")
	}
}

// set makes value the value of a path, and makes the objects above it. A value
// that means the same stays as it is written.
func (d *document) set(value any, path ...string) error {
	v := &d.root
	for i, name := range path {
		next, _ := member(v, name)
		switch {
		case next == nil:
			for j := len(path) - 1; j > i; j-- {
				value = fields{{path[j], value}}
			}
			return inPath(path[:i], d.add(v, name, value))
		case i < len(path)-1 && isNull(next):
			for j := len(path) - 1; j > i; j-- {
				value = fields{{path[j], value}}
			}
			return d.replace(next, value)
		case i == len(path)-1:
			return d.replace(next, value)
		}
		v = next
	}
	return nil
}

// inPath says which value of a file an error is about.
func inPath(path []string, err error) error {
	if err == nil || len(path) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", strings.Join(path, "."), err)
}

// replace makes value the value that stands at v.
func (d *document) replace(v *hujson.Value, value any) error {
	if sameJSON(encode(value), plain(v)) {
		return nil
	}
	lines := bytes.IndexByte(d.text[v.StartOffset:v.EndOffset], '\n') >= 0
	return d.splice(v.StartOffset, v.EndOffset, d.render(value, d.indentAt(v.StartOffset), lines))
}

// remove takes out the member of a path, if there is one.
func (d *document) remove(path ...string) error {
	above := d.at(path[:len(path)-1]...)
	if above == nil {
		return nil
	}
	_, i := member(above, path[len(path)-1])
	if i < 0 {
		return nil
	}
	return d.cut(above, i)
}

// prune takes out the object or list of a path when it is empty and was not there
// in base, then those above it. What was null there is null again.
func (d *document) prune(base *document, path ...string) error {
	for ; len(path) > 0; path = path[:len(path)-1] {
		v := d.at(path...)
		if v == nil {
			continue
		}
		if c, ok := contents(v); !ok || len(c.parts) > 0 || bytes.ContainsAny(d.text[v.StartOffset:v.EndOffset], "/#") || base.at(path...) != nil {
			return nil
		}
		if base.find(path...) != nil {
			return d.replace(v, nil)
		}
		if err := d.remove(path...); err != nil {
			return err
		}
	}
	return nil
}

// fields is an object of JSON whose members have an order.
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
		b = append(append(append(b, encode(m.name)...), ':'), encode(m.value)...)
	}
	return append(b, '}'), nil
}

// element returns an element of a list.
func element(v *hujson.Value, i int) *hujson.Value {
	return &v.Value.(*hujson.Array).Elements[i]
}

// lines writes a value as the text of a file.
func lines(value any) string {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}
