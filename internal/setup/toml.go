// Edits of TOML files by byte ranges: every byte that an edit does not need stays.

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

// table is a TOML text that is edited by byte ranges.
type table struct {
	text  []byte
	lines []expression
	value map[string]any
}

// expression is a header of a table, or a key with its value.
type expression struct {
	header   bool
	path     []string // from the root; of an array of tables without the index
	array    bool     // of tables
	from, to int      // the lines that it stands on, the last line end included
	value    int      // offset of the value
	end      int      // and of what follows it
}

func parseTOML(text []byte) (*table, error) {
	t := &table{}
	return t, t.put(text)
}

func (t *table) put(text []byte) error {
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
	var lines []expression
	var under []string
	for p.NextExpression() {
		n := p.Expression()
		var keys []string
		e := expression{header: n.Kind != unstable.KeyValue, array: n.Kind == unstable.ArrayTable, from: -1}
		for k := n.Key(); k.Next(); {
			keys = append(keys, string(k.Node().Data))
			if e.from < 0 {
				e.from = int(k.Node().Raw.Offset)
			}
			e.value = int(k.Node().Raw.Offset + k.Node().Raw.Length)
		}
		e.end = e.value
		if e.header {
			under, e.path = keys, keys
		} else {
			e.path = slices.Concat(under, keys)
			e.end = int(n.Raw.Offset + n.Raw.Length)
			e.value += 1 + bytes.IndexByte(text[e.value:e.end], '=')
			e.value += len(text[e.value:e.end]) - len(bytes.TrimLeft(text[e.value:e.end], " \t"))
		}
		e.from = bytes.LastIndexByte(text[:e.from], '\n') + 1
		e.to = lineEnd(text, e.end)
		lines = append(lines, e)
	}
	t.text = text
	t.lines = lines
	t.value = value
	return p.Error()
}

// lineEnd returns the offset after the line of an offset.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

func (t *table) splice(from, to int, with string) error {
	return t.put(slices.Concat(t.text[:from], []byte(with), t.text[to:]))
}

// at returns the value of a path, nil for none.
func (t *table) at(path ...string) any {
	var v any = t.value
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// has reports whether an expression belongs to what path names.
func (e *expression) has(path []string) bool {
	return len(e.path) >= len(path) && slices.Equal(e.path[:len(path)], path)
}

// set makes the table of a path hold the fields; others that it has stay.
func (t *table) set(want fields, path ...string) error {
	if t.at(path...) == nil {
		return t.add(want, path)
	}
	for _, f := range want {
		if reflect.DeepEqual(normal(f.value), t.at(slices.Concat(path, []string{f.name})...)) {
			continue
		}
		if err := t.setOne(f, path); err != nil {
			return err
		}
	}
	return nil
}

// add puts a table at the end of the text.
func (t *table) add(want fields, path []string) error {
	nl := newline(t.text)
	var b strings.Builder
	if n := len(t.text); n > 0 {
		if t.text[n-1] != '\n' {
			b.WriteString(nl)
		}
		b.WriteString(nl)
	}
	b.WriteString("[" + strings.Join(tomlKeys(path), ".") + "]" + nl)
	for _, f := range want {
		b.WriteString(tomlKey(f.name) + " = " + tomlValue(f.value) + nl)
	}
	if err := t.splice(len(t.text), len(t.text), b.String()); err != nil {
		return fmt.Errorf("[%s] cannot be added to what is there: write %s as tables with headers of their own", strings.Join(path, "."), path[0])
	}
	return nil
}

// setOne makes a table that is there hold a field.
func (t *table) setOne(f field, path []string) error {
	full, last := slices.Concat(path, []string{f.name}), -1
	for i, e := range t.lines {
		switch {
		case e.array && e.has(path):
			return fmt.Errorf("[[%s]] is a list", strings.Join(path, "."))
		case !e.header && slices.Equal(e.path, full):
			return t.splice(e.value, e.end, tomlValue(f.value))
		case e.header && slices.Equal(e.path, path), last >= 0 && !e.header && slices.Equal(e.path[:len(e.path)-1], path) && last == i-1:
			last = i
		}
	}
	if last < 0 {
		return t.add(fields{f}, path)
	}
	at, before := t.lines[last].to, ""
	if t.text[at-1] != '\n' {
		before = newline(t.text)
	}
	return t.splice(at, at, before+tomlKey(f.name)+" = "+tomlValue(f.value)+newline(t.text))
}

// remove takes out the table of a path and those below it, with the empty line
// above each header. Comments stay.
func (t *table) remove(path ...string) error {
	for i := len(t.lines) - 1; i >= 0; i-- {
		e := t.lines[i]
		if !e.has(path) {
			continue
		}
		from := e.from
		if above := bytes.LastIndexByte(t.text[:max(from-1, 0)], '\n') + 1; e.header && len(bytes.TrimSpace(t.text[above:from])) == 0 {
			from = above
		}
		if err := t.splice(from, e.to, ""); err != nil {
			return err
		}
	}
	return nil
}

// normal returns a value as the decoder gives it.
func normal(v any) any {
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
		keys[i] = tomlKey(k)
	}
	return keys
}

func tomlKey(k string) string {
	bare := k != "" && strings.IndexFunc(k, func(r rune) bool {
		return !((r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') || r == '_' || r == '-')
	}) < 0
	if bare {
		return k
	}
	return tomlValue(k)
}

// tomlValue writes a value. JSON's strings are TOML's, but for DEL.
func tomlValue(v any) string {
	switch v := v.(type) {
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = tomlValue(s)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return strings.ReplaceAll(string(encode(v)), "\x7f", `\u007F`)
}
