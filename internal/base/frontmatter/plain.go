// This file implements a fast path for simple front matter, which is the usual case. It returns the same nodes as the
// YAML decoder, which takes ten times as long.

package frontmatter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxListValues is the maximum number of values in a list that the fast path parses.
const maxListValues = 1000

// reservedWords contains unquoted words that YAML 1.1 or 1.2 does not read as text.
var reservedWords = []string{"", "null", "true", "false", "yes", "no", "on", "off", "y", "n"}

// NeedsNoQuotes reports whether a value needs no quotes: YAML reads it without quotes as the same text.
func NeedsNoQuotes(s string) bool {
	for i, c := range s {
		switch {
		case (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'):
		case i > 0 && ((c >= '0' && c <= '9') || strings.ContainsRune(" ._/@+-", c)):
		case c > 0x7f && (unicode.IsLetter(c) || (i > 0 && unicode.IsDigit(c))):
		default:
			return false
		}
	}
	return !slices.Contains(reservedWords, strings.ToLower(s)) && !strings.HasSuffix(s, " ")
}

// isLiteral reports whether the fast path can parse an unquoted value: it is a bare word, a boolean, a number or a
// time. It returns false for null.
func isLiteral(s string) bool {
	switch {
	case s == "true", s == "false", NeedsNoQuotes(s):
		return true
	case s == "", s[0] < '0', s[0] > '9', s[len(s)-1] == ':':
		return false
	}
	return strings.Trim(s, "0123456789.:-TZ+") == ""
}

// isUnquotedKey reports whether a key is a bare word of at most 100 bytes.
func isUnquotedKey(key string) bool {
	return len(key) <= 100 && NeedsNoQuotes(key)
}

// readPlainMapping returns the same mapping as the YAML decoder, but only if data is simple. In simple data, each line
// contains an unquoted key, a colon, a space and a value. The value is a literal (an unquoted word, a boolean, a number
// or a time) or a list of unquoted words in brackets. Otherwise readPlainMapping returns nil.
func readPlainMapping(data string) *yaml.Node {
	if data == "" {
		return nil
	}
	top := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
	line := 0
	for text := range strings.SplitSeq(strings.TrimSuffix(data, "\n"), "\n") {
		line++
		key, value, ok := strings.Cut(text, ": ")
		if !ok || !isUnquotedKey(key) {
			return nil
		}
		column := utf8.RuneCountInString(key) + 3
		v := scalarNode(value, line, column)
		if value[:min(1, len(value))] == "[" {
			v = parsePlainList(value, line, column)
		} else if !isLiteral(value) {
			v = nil
		}
		if v == nil {
			return nil
		}
		top.Content = append(top.Content, scalarNode(key, line, 1), v)
	}
	return top
}

// parsePlainList parses a list of bare words in brackets. It returns nil if the text is not such a list.
func parsePlainList(text string, line, column int) *yaml.Node {
	inner, ok := strings.CutSuffix(text[1:], "]")
	words := strings.Split(inner, ", ")
	if !ok || len(words) > maxListValues {
		return nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle, Line: line, Column: column,
		Content: make([]*yaml.Node, len(words))}
	column++
	for i, w := range words {
		if !NeedsNoQuotes(w) {
			return nil
		}
		list.Content[i] = scalarNode(w, line, column)
		column += utf8.RuneCountInString(w) + 2
	}
	return list
}

// scalarNode returns a node for a value. Its tag is not set, because the ShortTag method derives the tag from the
// value.
func scalarNode(value string, line, column int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: value, Line: line, Column: column}
}
