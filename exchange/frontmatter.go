// This file holds the reading of front matter: the flat part of YAML that
// people write above a Markdown text.

package exchange

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxFront is the most lines that front matter may have; a "---" without an
// end near it is a rule, not front matter.
const maxFront = 500

// frontKey is one key of front matter with what was written behind it.
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

// parseFront reads the front matter that text begins with: lines between one of
// "---" and one of "---" or "...". It returns its keys and the bytes and lines
// it takes; none (0 bytes) when the text begins otherwise. What is between the
// two lines must begin with a key, be a comment, or be empty.
//
// Values are plain, 'single' or "double" quoted, [lists, of, those], lists of
// "- value" lines, and the block forms | and >.
func parseFront(text string) (keys []frontKey, size, count int) {
	var ls []string
	rest := text
	closed := false
	for n := 0; n <= maxFront && rest != ""; n++ {
		l, after, _ := strings.Cut(rest, "\n")
		rest = after
		l = strings.TrimRight(l, " \t\r")
		if n == 0 {
			if l != "---" {
				return nil, 0, 0
			}
			continue
		}
		if l == "---" || l == "..." {
			closed = true
			break
		}
		ls = append(ls, l)
	}
	if !closed {
		return nil, 0, 0
	}
	for i := 0; i < len(ls); {
		l := ls[i]
		if l == "" || strings.HasPrefix(strings.TrimSpace(l), "#") {
			i++
			continue
		}
		k, v, ok := cutKey(l)
		if !ok {
			if len(keys) == 0 {
				return nil, 0, 0 // text between two rules
			}
			keys = append(keys, frontKey{line: i + 2, err: fmt.Errorf("line %s is not key: value", short(l))})
			i++
			continue
		}
		// All that is indented below, or a list, belongs to the key.
		j := i + 1
		for j < len(ls) && (ls[j] == "" || ls[j][0] == ' ' || ls[j][0] == '\t' || isBullet(ls[j])) {
			j++
		}
		fk := frontKey{key: k, line: i + 2}
		fk.values, fk.list, fk.err = frontValue(v, ls[i+1:j])
		if fk.err != nil {
			fk.values = nil
			fk.err = fmt.Errorf("%s: %w: %s", k, fk.err, short(strings.Join(ls[i:j], "\n")))
		}
		keys = append(keys, fk)
		i = j
	}
	return keys, len(text) - len(rest), len(ls) + 2
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

// frontValue reads what is written behind a key, and the lines below it.
func frontValue(v string, below []string) (values []string, list bool, err error) {
	if v != "" && (v[0] == '|' || v[0] == '>') && strings.Trim(v[1:], "+-") == "" {
		return []string{blockText(v[0] == '>', below)}, false, nil
	}
	v = strings.TrimSpace(cutComment(v))
	if v == "" {
		for _, l := range below {
			l = strings.TrimSpace(cutComment(strings.TrimSpace(l)))
			switch {
			case l == "":
				continue
			case !isBullet(l):
				return nil, false, errNested
			}
			item := strings.TrimSpace(l[1:])
			if _, _, nested := cutKey(item); nested || strings.HasPrefix(item, "[") || strings.HasPrefix(item, "{") || isBullet(item) {
				return nil, false, errNested
			}
			s, err := scalar(item)
			if err != nil {
				return nil, false, err
			}
			if s != "" {
				values = append(values, s)
			}
			list = true
		}
		return values, list, nil
	}
	// A value may go on in the lines below it; they join with spaces.
	for _, l := range below {
		if l = strings.TrimSpace(l); l != "" {
			v += " " + l
		}
	}
	switch v[0] {
	case '[':
		values, err = inlineList(v)
		return values, true, err
	case '{', '&', '*', '!', '|', '>', '%', '@', '`':
		return nil, false, errNested
	}
	s, err := scalar(v)
	if err != nil || s == "" {
		return nil, false, err
	}
	return []string{s}, false, nil
}

// blockText joins the lines of a block scalar, without their common indent;
// folded makes one paragraph of neighbouring lines.
func blockText(folded bool, ls []string) string {
	indent := -1
	for _, l := range ls {
		if n := len(l) - len(strings.TrimLeft(l, " \t")); l != "" && (indent < 0 || n < indent) {
			indent = n
		}
	}
	var b strings.Builder
	for i, l := range ls {
		if l != "" {
			l = l[indent:]
		}
		switch {
		case i == 0:
		case !folded || l == "":
			b.WriteByte('\n')
		case ls[i-1] != "":
			b.WriteByte(' ')
		}
		b.WriteString(l)
	}
	return strings.TrimSpace(b.String())
}

// cutComment cuts a " # comment" off a value, outside quotes.
func cutComment(v string) string {
	if v == "" || v[0] == '#' {
		return ""
	}
	var quote byte
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" [,", v[i-1]) >= 0):
			quote = c
		case c == '#' && (v[i-1] == ' ' || v[i-1] == '\t'):
			return v[:i]
		}
	}
	return v
}

// inlineList reads [a, "b, c", 'd'].
func inlineList(v string) ([]string, error) {
	inner, ok := strings.CutSuffix(v[1:], "]")
	if !ok {
		return nil, errors.New("list is not closed")
	}
	var vs []string
	add := func(s string) error {
		s = strings.TrimSpace(s)
		if s != "" && strings.IndexByte("[{", s[0]) >= 0 {
			return errNested
		}
		s, err := scalar(s)
		if err == nil && s != "" {
			vs = append(vs, s)
		}
		return err
	}
	start, quote := 0, byte(0)
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.TrimSpace(inner[start:i]) == "":
			quote = c
		case c == ',':
			if err := add(inner[start:i]); err != nil {
				return nil, err
			}
			start = i + 1
		}
	}
	if quote != 0 {
		return nil, errors.New("quote is not closed")
	}
	return vs, add(inner[start:])
}

// scalar reads one value; null and ~ are "".
func scalar(v string) (string, error) {
	switch {
	case v == "" || v == "~" || v == "null":
		return "", nil
	case v[0] == '\'':
		if len(v) < 2 || v[len(v)-1] != '\'' || strings.Contains(strings.ReplaceAll(v[1:len(v)-1], "''", ""), "'") {
			return "", errors.New("quote is not closed")
		}
		return strings.ReplaceAll(v[1:len(v)-1], "''", "'"), nil
	case v[0] == '"':
		s, err := strconv.Unquote(strings.ReplaceAll(v, `\/`, `/`))
		if err != nil {
			return "", errors.New("quote is not closed, or has an unknown escape")
		}
		if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
			return "", errors.New("escapes make no text")
		}
		return s, nil
	}
	return v, nil
}
