// This file reads front matter as people and programs write it. It accepts values that YAML
// would cut or refuse, so that no value is lost. Examples are a text with " #" or ": " in
// it, nested lists and mappings, and lists of *.md or #tag.

package exchange

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// frontKey is a key of front matter with its values. A nested mapping becomes several
// keys, such as owner.name.
type frontKey struct {
	name    string // as the file spells it
	key     string // in lower case, with _ for - and spaces
	line    int    // line of the file, from 1
	values  []string
	list    bool   // the value is a list
	comment string // a comment after the value, "# …", that was left out
	err     error  // why the value could not be read (if set, values is empty)
}

// value returns the key's only value, or "".
func (k *frontKey) value() string {
	if len(k.values) == 1 {
		return k.values[0]
	}
	return ""
}

// parseFront returns the keys of the text's front matter, and how many bytes and lines it
// has. Without front matter, the size is 0. Text between two rules is not front matter if
// its first line is not a key.
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
		name, value, ok := cutKey(l)
		if !ok {
			if len(keys) == 0 {
				return nil, 0, 0
			}
			keys = append(keys, frontKey{line: i + 2, err: fmt.Errorf("line %s is not key: value", quoteShort(l))})
			i++
			continue
		}
		// Indented lines and the items of a list belong to the key.
		end := i + 1
		for end < len(lines) && (lines[end] == "" || lines[end][0] == ' ' || lines[end][0] == '\t' ||
			isBullet(lines[end])) {
			end++
		}
		k := frontKey{name: name, line: i + 2}
		keys = append(keys, k.readKeys(value, lines[i+1:end])...)
		i = end
	}
	return keys, len(text) - len(body), len(lines) + 2
}

// maxKeyWords is the most words of a key, such as "date created". A line with more words
// before its colon is a sentence.
const maxKeyWords = 3

// quotedKey matches a key in quotes, and the rest of its line.
var quotedKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:"([^"\\]+)"|'([^']+)')(:.*)$`) })

// cutKey splits "Key: value". The key may have quotes around it.
func cutKey(l string) (name, value string, ok bool) {
	if m := quotedKey().FindStringSubmatch(l); m != nil {
		l = m[1] + m[2] + m[3]
	}
	name, value, ok = strings.Cut(l, ":")
	if !ok || (value != "" && value[0] != ' ' && value[0] != '\t') {
		return "", "", false
	}
	name = strings.TrimRight(name, " ")
	for _, r := range name {
		if r < ' ' || strings.ContainsRune("\"'[]{}#,&*!|>%@`", r) {
			return "", "", false
		}
	}
	if n := len(strings.Fields(name)); n == 0 || n > maxKeyWords || name[0] == ' ' || isBullet(name) {
		return "", "", false
	}
	return name, strings.TrimSpace(value), true
}

// normalizeKey returns the spelling of a key that all its variants share.
func normalizeKey(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return '_'
		}
		return unicode.ToLower(r)
	}, name)
}

func isBullet(l string) bool { return l == "-" || strings.HasPrefix(l, "- ") }

var errNoText = errors.New("its escapes make no text")

// readKeys returns the keys that a value represents. This is k with its values, or a key
// for each value in a nested mapping. The value begins on the key's own line and continues
// below.
func (k frontKey) readKeys(value string, lines []string) []frontKey {
	k.key = normalizeKey(k.name)
	value, k.comment = cutComment(value)
	if k.comment != "" && value == "" && strings.TrimSpace(strings.Join(lines, "")) != "" {
		k.comment = "" // this is a remark about the lines below, as in "tags: # all of them"
	}
	var node *yaml.Node
	if isPlain(value) {
		node = &yaml.Node{Kind: yaml.ScalarNode, Value: joinLines(value, lines)}
	} else {
		node = decodeValue(value, lines)
		if node == nil {
			node = decodeLoosely(value, lines)
		}
	}
	return k.flattenNode(node)
}

// isPlain reports whether a value is text without quotes, which YAML would cut at " #" and
// refuse with ": " in it. The nulls of YAML are not text.
func isPlain(value string) bool {
	return value != "" && value != "~" && !strings.EqualFold(value, "null") &&
		!strings.ContainsRune("[{\"'|>&*!%@`", rune(value[0]))
}

// cutComment separates the value on a line from a comment after it. A comment begins with
// "# ". Other text after " #", such as #762 or #tag, belongs to the value.
func cutComment(value string) (rest, comment string) {
	if strings.HasPrefix(value, "# ") || value == "#" {
		return "", value
	}
	if value == "" || strings.ContainsRune("[{\"'|>", rune(value[0])) {
		return value, "" // the decoder finds the comment after brackets, quotes and the head of a block
	}
	if before, after, ok := strings.Cut(value, " # "); ok {
		return strings.TrimSpace(before), "# " + strings.TrimSpace(after)
	}
	return value, ""
}

// decodeValue reads a value as YAML. It returns nil if the value is not valid
// YAML.
func decodeValue(value string, lines []string) *yaml.Node {
	var r frontmatter.Reader
	if !strings.HasPrefix(value, "|") && !strings.HasPrefix(value, ">") {
		lines = quoteHashes(lines)
	}
	top := r.Read("k: " + value + "\n" + strings.Join(lines, "\n"))
	if top == nil {
		return nil
	}
	return top.Content[1]
}

// scalarStart matches the part of a block's line before the text: the indent, list
// markers, and the key of a nested mapping.
var scalarStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:- +)*(?:[^\s"'\[\]{}#,&*!|>%@` + "`" + `:-][^"'\[\]{}#:]*: +)?`)
})

// quoteHashes puts quotes around plain texts that contain " #" or begin with "#", so that
// YAML does not take the rest for a comment. Blocks of text (| and >) are not changed.
func quoteHashes(lines []string) []string {
	out := make([]string, len(lines))
	inBlock, blockIndent := false, 0
	for i, l := range lines {
		out[i] = l
		indent := len(l) - len(strings.TrimLeft(l, " \t"))
		if inBlock && (l == "" || indent > blockIndent) {
			continue
		}
		start := len(scalarStart().FindString(l))
		inBlock, blockIndent = start < len(l) && strings.ContainsRune("|>", rune(l[start])), indent
		value, _ := cutComment(l[start:])
		if start > indent && isPlain(value) && (strings.HasPrefix(value, "#") || strings.Contains(value, " #")) {
			out[i] = l[:start] + "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
	}
	return out
}

// flattenNode returns the keys and values of a node. Nested lists are joined to a single
// list, and a mapping becomes a key for each of its values, such as owner.name. The values
// below metadata are keys without that prefix, because Claude Code nests type there, which
// other programs write at the top.
func (k frontKey) flattenNode(n *yaml.Node) []frontKey {
	switch n.Kind {
	case yaml.MappingNode:
		var keys []frontKey
		for i := 0; i+1 < len(n.Content); i += 2 {
			sub := k
			sub.name = k.name + "." + n.Content[i].Value
			if k.key == "metadata" {
				sub.name = n.Content[i].Value
			}
			sub.key = normalizeKey(sub.name)
			keys = append(keys, sub.flattenNode(n.Content[i+1])...)
		}
		return keys
	case yaml.SequenceNode:
		k.list = true
		var nested []frontKey
		ofItem := k
		for _, item := range n.Content {
			for _, sub := range ofItem.flattenNode(item) {
				if sub.key != k.key {
					nested = append(nested, sub)
					continue
				}
				k.values = append(k.values, sub.values...)
				if sub.err != nil {
					k.err = sub.err
				}
			}
		}
		if k.err != nil {
			k.values = nil
		}
		return append([]frontKey{k}, nested...)
	}
	s := n.Value
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		s = strings.TrimSpace(s)
	}
	if strings.IndexByte(s, 0) >= 0 {
		k.err = fmt.Errorf("%s: %w: %s", k.name, errNoText, quoteShort(s))
	} else if s != "" && !frontmatter.IsNull(n) {
		k.values = append(k.values, s)
	}
	return []frontKey{k}
}

// decodeLoosely reads a value that YAML refuses: items such as *.md and #tag, an open quote,
// anchors. In any case, the value's text is kept.
func decodeLoosely(value string, lines []string) *yaml.Node {
	whole := joinLines(value, lines)
	list := &yaml.Node{Kind: yaml.SequenceNode}
	switch {
	case value == "" && isList(lines):
		for _, l := range lines {
			l = strings.TrimSpace(l)
			if l != "" {
				list.Content = append(list.Content, looseItem(strings.TrimPrefix(l, "-")))
			}
		}
		return list
	case strings.HasPrefix(value, "[") && strings.HasSuffix(whole, "]") && !strings.ContainsAny(whole[1:], "[{"):
		for item := range strings.SplitSeq(whole[1:len(whole)-1], ",") {
			list.Content = append(list.Content, looseItem(item))
		}
		return list
	}
	return textNode(whole)
}

// isList reports whether all lines are items of a list or blank.
func isList(lines []string) bool {
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if l != "" && !isBullet(l) {
			return false
		}
	}
	return len(lines) > 0
}

// looseItem returns the node for a list item.
func looseItem(item string) *yaml.Node {
	item, _ = cutComment(strings.TrimSpace(item))
	if !isPlain(item) && item != "" {
		if n := decodeValue(item, nil); n != nil {
			return n
		}
	}
	return textNode(item)
}

// textNode returns a node of a text.
func textNode(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.ReplaceAll(s, "\x00", "")}
}

// joinLines joins the lines of a value with spaces.
func joinLines(value string, lines []string) string {
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if l != "" {
			value = strings.TrimSpace(value + " " + l)
		}
	}
	return value
}
