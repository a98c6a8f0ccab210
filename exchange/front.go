// Lenient reading of front matter: a value that cannot be read costs its own
// key, not the head.

package exchange

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/frontmatter"
)

// frontKey is one key of front matter with its values.
type frontKey struct {
	key    string // in lower case, with _ for -
	line   int    // from 1
	values []string
	list   bool
	err    error // why the value could not be read; values is empty then
}

// value returns the key's only value, or "".
func (k frontKey) value() string {
	if len(k.values) == 1 {
		return k.values[0]
	}
	return ""
}

// parseFront returns the keys of the text's front matter, and the bytes and
// lines that it takes: none (0 bytes) when the text has no front matter, or one
// that begins with something else than a key.
func parseFront(text string) (keys []frontKey, size, count int) {
	data, body, ok := frontmatter.Cut(text)
	if !ok {
		return nil, 0, 0
	}
	var lines []string
	for l := range strings.Lines(data) {
		lines = append(lines, strings.TrimRight(l, " \t\r\n"))
	}
	for i := 0; i < len(lines); {
		l := lines[i]
		if l == "" || strings.HasPrefix(strings.TrimSpace(l), "#") {
			i++
			continue
		}
		key, value, ok := cutKey(l)
		if !ok {
			if len(keys) == 0 {
				return nil, 0, 0 // text between two rules
			}
			keys = append(keys, frontKey{line: i + 2, err: fmt.Errorf("line %s is not key: value", short(l))})
			i++
			continue
		}
		// Indented lines and items of a list belong to the key.
		end := i + 1
		for end < len(lines) && (lines[end] == "" || lines[end][0] == ' ' || lines[end][0] == '\t' || isBullet(lines[end])) {
			end++
		}
		k := frontKey{key: key, line: i + 2}
		if k.values, k.list, k.err = frontValue(value, lines[i+1:end]); k.err != nil {
			k.values, k.err = nil, fmt.Errorf("%s: %w: %s", key, k.err, short(strings.Join(lines[i:end], "\n")))
		}
		keys = append(keys, k)
		i = end
	}
	return keys, len(text) - len(body), len(lines) + 2
}

// cutKey cuts "Key: value". The key is a word without quotes.
func cutKey(l string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(l, ":")
	if !ok || key == "" || value != "" && value[0] != ' ' && value[0] != '\t' {
		return "", "", false
	}
	for _, r := range key {
		if r <= ' ' || strings.ContainsRune("\"'[]{}#,&*!|>%@`", r) {
			return "", "", false
		}
	}
	return strings.ReplaceAll(strings.ToLower(key), "-", "_"), strings.TrimSpace(value), true
}

func isBullet(l string) bool { return l == "-" || strings.HasPrefix(l, "- ") }

var errNested = errors.New("nested values and this form of a value are not read")

// frontValue reads the value of a key, on its line and the lines below.
func frontValue(value string, below []string) (values []string, list bool, err error) {
	var r frontmatter.Reader
	top := r.Read("k: " + value + "\n" + strings.Join(below, "\n"))
	if top == nil {
		return looseValues(value, below, r.Found[0].Text)
	}
	v := top.Content[1]
	nodes := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		nodes, list = v.Content, true
	}
	for _, n := range nodes {
		s := n.Value
		switch {
		case n.Kind != yaml.ScalarNode:
			return nil, false, errNested
		case strings.IndexByte(s, 0) >= 0:
			return nil, false, errors.New("escapes make no text")
		case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			s = strings.TrimSpace(s)
		}
		if s != "" && !frontmatter.IsNull(n) {
			values = append(values, s)
		}
	}
	return values, list, nil
}

// looseValues reads what people write and YAML refuses: a text with ": " in it,
// and items such as *.md and #tag. Why is the mistake to YAML.
func looseValues(value string, below []string, why string) (values []string, list bool, err error) {
	var items []string
	switch whole := joinLines(value, below); {
	case value == "":
		for _, l := range below {
			if l = joinLines(l, nil); l != "" && !isBullet(l) {
				return nil, false, errNested
			}
			items = append(items, strings.TrimPrefix(l, "-"))
		}
	case value[0] == '[' && strings.HasSuffix(whole, "]"):
		items = strings.Split(whole[1:len(whole)-1], ",")
	case strings.IndexByte("[\"'", value[0]) >= 0:
		return nil, false, errors.New(why)
	case strings.IndexByte("{&*!|>%@`", value[0]) >= 0:
		return nil, false, errNested
	default:
		return []string{whole}, false, nil
	}
	for _, item := range items {
		if item, err = looseItem(strings.TrimSpace(item)); err != nil {
			return nil, false, err
		}
		if item != "" {
			values = append(values, item)
		}
	}
	return values, true, nil
}

// looseItem reads one item of a list; null and ~ are "".
func looseItem(item string) (string, error) {
	if item == "" || item == "~" || item == "null" {
		return "", nil
	}
	if _, _, nested := cutKey(item); nested || isBullet(item) || item[0] == '[' || item[0] == '{' {
		return "", errNested
	}
	if item[0] == '"' || item[0] == '\'' {
		one, _, err := frontValue(item, nil)
		return strings.Join(one, ""), err
	}
	return item, nil
}

// joinLines joins the lines of a value with spaces, without a comment on the
// first.
func joinLines(value string, below []string) string {
	value, _, _ = strings.Cut(value, " #")
	value = strings.TrimSpace(value)
	for _, l := range below {
		if l = strings.TrimSpace(l); l != "" {
			value += " " + l
		}
	}
	return value
}
