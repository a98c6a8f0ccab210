// This file edits TOML files. An edit replaces a range of bytes, so that all other bytes stay unchanged.

package setup

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlDocument is the text of a TOML file. Edits replace ranges of its bytes.
type tomlDocument struct {
	text          []byte
	expressions   []tomlExpression
	decodedValues map[string]any
}

// tomlExpression is a line or several lines in a TOML file: the header of a table, or a key with its value.
type tomlExpression struct {
	isHeader bool
	path     []string // path to the table or key from the root (without indexes for arrays of tables)
	// this part of the TOML file is a header such as [[name]], with which an element of an array of tables begins
	isArray                bool
	startOffset, endOffset int // byte range of the header, or of the key with its value, including the last line ending
	valueStart             int // offset at which the value of a key begins
	valueEnd               int // offset at which the value ends
}

func parseTOML(text []byte) (*tomlDocument, error) {
	t := &tomlDocument{}
	return t, t.replaceText(text)
}

func (t *tomlDocument) replaceText(text []byte) error {
	value := map[string]any{}
	if err := toml.Unmarshal(text, &value); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return fmt.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return err
	}
	var p unstable.Parser
	p.Reset(text)
	var lines []tomlExpression
	var under []string
	for p.NextExpression() {
		n := p.Expression()
		var keys []string
		e := tomlExpression{
			isHeader:    n.Kind != unstable.KeyValue,
			isArray:     n.Kind == unstable.ArrayTable,
			startOffset: -1,
		}
		for k := n.Key(); k.Next(); {
			keys = append(keys, string(k.Node().Data))
			if e.startOffset < 0 {
				e.startOffset = int(k.Node().Raw.Offset)
			}
			e.valueStart = int(k.Node().Raw.Offset + k.Node().Raw.Length)
		}
		e.valueEnd = e.valueStart
		if e.isHeader {
			under, e.path = keys, keys
		} else {
			e.path = slices.Concat(under, keys)
			e.valueEnd = int(n.Raw.Offset + n.Raw.Length)
			e.valueStart += 1 + bytes.IndexByte(text[e.valueStart:e.valueEnd], '=')
			e.valueStart += len(text[e.valueStart:e.valueEnd]) - len(bytes.TrimLeft(text[e.valueStart:e.valueEnd],
				" \t"))
		}
		e.startOffset = bytes.LastIndexByte(text[:e.startOffset], '\n') + 1
		e.endOffset = lineEnd(text, e.valueEnd)
		lines = append(lines, e)
	}
	t.text = text
	t.expressions = lines
	t.decodedValues = value
	return p.Error()
}

// lineEnd returns the offset after the line that contains offset pos.
func lineEnd(text []byte, pos int) int {
	if i := bytes.IndexByte(text[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(text)
}

func (t *tomlDocument) replaceRange(from, to int, text string) error {
	return t.replaceText(slices.Concat(t.text[:from], []byte(text), t.text[to:]))
}

// valueAt returns the decoded value at a path, or nil if none exists.
func (t *tomlDocument) valueAt(path ...string) any {
	var v any = t.decodedValues
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// hasPath reports whether the TOML table or key is at the given path or below it.
func (e *tomlExpression) hasPath(path []string) bool {
	return len(e.path) >= len(path) && slices.Equal(e.path[:len(path)], path)
}

// setFields sets fields of the table at a path. A missing table is added. Other fields of the table are kept.
func (t *tomlDocument) setFields(wantedFields fields, path ...string) error {
	if t.valueAt(path...) == nil {
		return t.addFields(wantedFields, path)
	}
	for _, f := range wantedFields {
		if reflect.DeepEqual(tomlDecodedValue(f.value), t.valueAt(slices.Concat(path, []string{f.name})...)) {
			continue
		}
		if err := t.setField(f, path); err != nil {
			return err
		}
	}
	return nil
}

// addFields appends a new table with these fields to the text.
func (t *tomlDocument) addFields(want fields, path []string) error {
	nl := lineEnding(t.text)
	var b strings.Builder
	if n := len(t.text); n > 0 {
		if t.text[n-1] != '\n' {
			b.WriteString(nl)
		}
		b.WriteString(nl)
	}
	b.WriteString("[" + strings.Join(tomlKeys(path), ".") + "]" + nl)
	for _, f := range want {
		b.WriteString(quoteTOMLKey(f.name) + " = " + tomlValue(f.value) + nl)
	}
	if err := t.replaceRange(len(t.text), len(t.text), b.String()); err != nil {
		return fmt.Errorf(
			"[%s] cannot be added to what is there: write %s as tables with headers of their own",
			strings.Join(path, "."),
			path[0],
		)
	}
	return nil
}

// setField sets one field of the table at a path. A new field is inserted after the table's last field. setField adds
// a missing table. It fails if an array of tables has the path.
func (t *tomlDocument) setField(f field, path []string) error {
	fullPath, last := slices.Concat(path, []string{f.name}), -1
	for i, e := range t.expressions {
		switch {
		case e.isArray && e.hasPath(path):
			return fmt.Errorf("[[%s]] is a list", strings.Join(path, "."))
		case !e.isHeader && slices.Equal(e.path, fullPath):
			return t.replaceRange(e.valueStart, e.valueEnd, tomlValue(f.value))
		case e.isHeader && slices.Equal(e.path, path), last >= 0 && !e.isHeader &&
			slices.Equal(e.path[:len(e.path)-1], path) && last == i-1:
			last = i
		}
	}
	if last < 0 {
		return t.addFields(fields{f}, path)
	}
	pos, before := t.expressions[last].endOffset, ""
	if t.text[pos-1] != '\n' {
		before = lineEnding(t.text)
	}
	return t.replaceRange(pos, pos, before+quoteTOMLKey(f.name)+" = "+tomlValue(f.value)+lineEnding(t.text))
}

// removeTable removes the table or the key at a path, and all tables below the path. It also removes the empty line
// before each removed header. It keeps comments.
func (t *tomlDocument) removeTable(path ...string) error {
	for i := len(t.expressions) - 1; i >= 0; i-- {
		e := t.expressions[i]
		if !e.hasPath(path) {
			continue
		}
		from := e.startOffset
		if parent := bytes.LastIndexByte(t.text[:max(from-1, 0)], '\n') + 1; e.isHeader &&
			len(bytes.TrimSpace(t.text[parent:from])) == 0 {
			from = parent
		}
		if err := t.replaceRange(from, e.endOffset, ""); err != nil {
			return err
		}
	}
	return nil
}

// tomlDecodedValue converts a value to the type that the TOML decoder uses, so that the value can be compared with a
// decoded value.
func tomlDecodedValue(v any) any {
	switch v := v.(type) {
	case []string:
		list := []any{}
		for _, s := range v {
			list = append(list, s)
		}
		return list
	case int:
		return int64(v)
	}
	return v
}

func tomlKeys(path []string) []string {
	keys := make([]string, len(path))
	for i, k := range path {
		keys[i] = quoteTOMLKey(k)
	}
	return keys
}

func quoteTOMLKey(key string) string {
	bare := key != "" && strings.IndexFunc(key, func(r rune) bool {
		return !((r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') || r == '_' || r == '-')
	}) < 0
	if bare {
		return key
	}
	return tomlValue(key)
}

// tomlValue formats a value as TOML. The JSON encoding of a string is also valid TOML, except for the character DEL.
func tomlValue(v any) string {
	switch v := v.(type) {
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = tomlValue(s)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return strings.ReplaceAll(string(encodeJSON(v)), "\x7f", `\u007F`)
}
