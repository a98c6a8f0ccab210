// This file reads front matter, the header of a Markdown file, as people and programs write it. It also accepts values
// that YAML would cut or refuse, so that no value is lost. Examples are a text that contains " #" or ": ", nested
// lists and mappings, and a list of *.md or #tag.

package exchange

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// frontMatterKey is a key of front matter with its values. A nested mapping becomes several keys, such as owner.name.
type frontMatterKey struct {
	name          string // name of the key as it is written in the file
	normalizedKey string // name of the front matter key in lower case, with _ instead of - and spaces
	line          int    // number of the line in the file, from 1
	values        []string
	isList        bool   // the value is a list
	isEmpty       bool   // The key is without a value, or its value is null, "", [] or {}.
	comment       string // YAML comments that follow the key's value or are inside it, such as "# …"
	// lines that contain no key and value, or lines whose value has an error; if set, values is empty
	rawLines string
	err      error // reason why the value could not be read; if set, values is empty
}

// value returns the value of the key if there is exactly one, otherwise "".
func (k *frontMatterKey) value() string {
	if len(k.values) == 1 {
		return k.values[0]
	}
	return ""
}

// parseYAMLFrontMatter returns the keys in a text's front matter, which is the text between two lines "---". The list
// keys also contains comments, and lines that are not keys, which have an error. byteCount and lineCount are the size
// of the front matter, including the two lines "---". If the text has no front matter, all results are zero. Text
// between two lines "---" is front matter only if its first line is a key. Blank lines and comments before this key are
// ignored.
func parseYAMLFrontMatter(text string) (keys []frontMatterKey, byteCount, lineCount int) {
	data, body, ok := frontmatter.SplitFrontMatter(text)
	if !ok {
		return nil, 0, 0
	}
	var lines []string
	for l := range strings.Lines(data) {
		lines = append(lines, strings.TrimRight(l, " \t\r\n"))
	}
	hasKey := false
	for i := 0; i < len(lines); {
		l := lines[i]
		if l == "" {
			i++
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(l), "#") {
			keys = append(keys, frontMatterKey{line: i + 2, rawLines: strings.TrimSpace(l)})
			i++
			continue
		}
		name, value, ok := cutKey(l)
		if !ok {
			if !hasKey {
				return nil, 0, 0
			}
			keys = append(keys, frontMatterKey{
				line: i + 2, rawLines: l, err: fmt.Errorf("line %s is not key: value", truncateAndQuote(l))})
			i++
			continue
		}
		hasKey = true
		// Indented lines and list items belong to the value of the key.
		end := i + 1
		for end < len(lines) && (lines[end] == "" || lines[end][0] == ' ' || lines[end][0] == '\t' ||
			isBullet(lines[end])) {
			end++
		}
		k := frontMatterKey{name: name, line: i + 2}
		keys = append(keys, k.readNestedKeys(value, lines[i+1:end])...)
		i = end
	}
	if !hasKey && len(lines) > 0 {
		// The lines between the two "---" lines contain no key, only comments and blank lines. They are not front
		// matter, because a line such as "# Title" may be a Markdown heading between two horizontal rules.
		return nil, 0, 0
	}
	return keys, len(text) - len(body), len(lines) + 2
}

// textValueKeys lists the keys whose value is a text. Programs omit the quotes of such a text even if it contains a
// space and a "#". Therefore a "#" after a space does not begin a comment there.
var textValueKeys = []string{"name", "title", "description"}

// maxHeaderLabels is the maximum number of labels made from front matter. An entry needs room for more labels: origin
// labels, and tags in the text.
const maxHeaderLabels = oxbow.MaxLabels / 2

// usualKeyBySpelling maps other spellings of a key to the usual key. Obsidian used tag and alias until version 1.9,
// and its linter writes "date created".
var usualKeyBySpelling = map[string]string{
	"tag": "tags", "alias": "aliases", "created_at": "created", "createdat": "created", "date_created": "created",
}

// maxWordsInKey is the maximum number of words in a key, such as "date created". If more words precede a colon, the
// line is a sentence.
const maxWordsInKey = 3

// quotedKeyPattern matches a line that begins with a key in quotes.
var quotedKeyPattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^(?:"([^"\\]+)"|'([^']+)'):(.*)$`) },
)

// cutKey splits a line "Key: value". The key may be in quotes. ok is false if the line has another form.
func cutKey(line string) (name, value string, ok bool) {
	if m := quotedKeyPattern().FindStringSubmatch(line); m != nil {
		name = m[1] + m[2] // A key in quotes may contain a colon, so use the text between the quotes.
		value = m[3]
		ok = true
	} else {
		name, value, ok = strings.Cut(line, ":")
	}
	isApart := value == "" || value[0] == ' ' || value[0] == '\t'
	if !ok || !isApart {
		return "", "", false
	}
	name = strings.TrimRight(name, " ")
	for _, r := range name {
		if r < ' ' || strings.ContainsRune("\"'[]{}#,&*!|>%@`", r) {
			return "", "", false
		}
	}
	words := len(strings.Fields(name))
	if words == 0 || words > maxWordsInKey {
		return "", "", false
	}
	if name[0] == ' ' || isBullet(name) {
		return "", "", false
	}
	return name, strings.TrimSpace(value), true
}

func isBullet(l string) bool { return l == "-" || strings.HasPrefix(l, "- ") }

var (
	errInvalidEscapes = errors.New("its escapes make no text")
	errNoPlainValue   = errors.New("its lines are no plain YAML value, so they stay as they are")
)

// readNestedKeys parses the value of the front matter key k. It returns k with the values. If the value is a nested
// mapping, it returns a key for each member of the mapping. value is the text on the line of the key, and lines are
// the lines that continue the value.
func (k frontMatterKey) readNestedKeys(value string, lines []string) []frontMatterKey {
	k.normalizedKey = frontmatter.FoldKeySpelling(k.name)
	comment := ""
	if rest, end := cutComment(value); rest == "" || !slices.Contains(textValueKeys, k.normalizedKey) {
		value, comment = rest, end
	}
	var node *yaml.Node
	if isUnquotedText(value) {
		node = &yaml.Node{Kind: yaml.ScalarNode, Value: joinLines(value, lines)}
	} else {
		node = decodeValue(value, lines)
		if node == nil {
			node = decodeInvalidYAML(value, lines)
		}
		if node == nil {
			k.rawLines = strings.TrimRight(strings.TrimSpace(k.name+": "+value)+"\n"+strings.Join(lines, "\n"), " \n")
			k.err = fmt.Errorf("%s: %w", k.name, errNoPlainValue)
			return []frontMatterKey{k}
		}
	}
	keys := k.flattenNode(node)
	if len(keys) == 0 { // The mapping is empty.
		k.isEmpty = true
		keys = []frontMatterKey{k}
	}
	keys[0].comment = strings.TrimSpace(comment + " " + nodeComments(node))
	return keys
}

// nodeComments returns the comments in a decoded node, joined by spaces.
func nodeComments(n *yaml.Node) string {
	parts := []string{n.HeadComment, n.LineComment}
	for _, c := range n.Content {
		parts = append(parts, nodeComments(c))
	}
	parts = append(parts, n.FootComment)
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// isUnquotedText reports whether a front matter value is plain text, such as a word or a number. It returns false for
// an empty value, for a YAML null, and for a value that begins with a special character of YAML, such as a quotation
// mark or the bracket of a list. The caller must not pass plain text to a YAML parser, because the parser would cut the
// text at " #" and refuse a text that contains ": ".
func isUnquotedText(value string) bool {
	return value != "" && value != "~" && !strings.EqualFold(value, "null") &&
		!strings.ContainsRune("[{\"'|>&*!%@`", rune(value[0]))
}

// cutComment splits the value on a line from a comment that follows it. A comment begins with "# ". Other text after "
// #", such as #762 or #tag, belongs to the value.
func cutComment(value string) (rest, comment string) {
	if strings.HasPrefix(value, "# ") || value == "#" {
		return "", value
	}
	if value == "" || strings.ContainsRune("[{\"'|>", rune(value[0])) {
		// Return the whole line without looking for a comment. The value begins with a bracket, a quote, | or >, so
		// the YAML decoder finds the comment after the value.
		return value, ""
	}
	if before, after, ok := strings.Cut(value, " # "); ok {
		return strings.TrimSpace(before), "# " + strings.TrimSpace(after)
	}
	return value, ""
}

// maxFrontMatterNesting is the maximum depth of lists and mappings in front matter.
const maxFrontMatterNesting = 64

// decodeValue decodes a YAML value that may extend over several lines. The parameter firstLine is the text on the
// value's first line. The parameter followingLines contains the lines that follow. decodeValue returns nil if the text
// is not valid YAML. A text in followingLines that contains a # sign is put in quotes first, because YAML would read
// the rest of such a text as a comment. If the value begins with | or >, its lines are a block of text, so nothing is
// put in quotes.
func decodeValue(firstLine string, followingLines []string) *yaml.Node {
	r := frontmatter.MappingReader{MaxDepth: maxFrontMatterNesting}
	if !strings.HasPrefix(firstLine, "|") && !strings.HasPrefix(firstLine, ">") {
		followingLines = quoteTextsWithHashSign(followingLines)
	}
	top := r.ReadMapping("k: " + firstLine + "\n" + strings.Join(followingLines, "\n"))
	if top == nil {
		return nil
	}
	return top.Content[1]
}

// scalarStartPattern matches what precedes the text on a line of YAML: the indent, list markers, and the key in a
// nested mapping.
var scalarStartPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:- +)*(?:[^\s"'\[\]{}#,&*!|>%@` + "`" + `:-][^"'\[\]{}#:]*: +)?`)
})

// quoteTextsWithHashSign returns lines of YAML in which each plain text that contains " #" or begins with "#" is in
// quotes. Otherwise YAML would read the rest of the text as a comment. It does not change lines in a block of text,
// which begins with | or >.
func quoteTextsWithHashSign(lines []string) []string {
	out := slices.Clone(lines)
	blockIndent := -1 // indent of the line that begins the current YAML text block, or -1 outside a text block
	for i, line := range lines {
		// A text block consists of the lines after the block's first line that are empty or have a larger indent.
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		isIndented := line == "" || indent > blockIndent
		if blockIndent >= 0 && isIndented {
			continue
		}
		textStart := len(scalarStartPattern().FindString(line))
		blockIndent = -1
		if textStart < len(line) && strings.ContainsRune("|>", rune(line[textStart])) {
			blockIndent = indent
		}
		// Quote only a text that follows a list marker or a key on the same line. Any other line continues the value
		// of the previous line.
		if textStart > indent {
			out[i] = line[:textStart] + quoteTextWithHashSign(line[textStart:])
		}
	}
	return out
}

// quoteTextWithHashSign puts quotes around a plain text that contains " #" or begins with "#". A comment after the
// text stays outside of the quotes.
func quoteTextWithHashSign(text string) string {
	value, comment := cutComment(text)
	hasHash := strings.HasPrefix(value, "#") || strings.Contains(value, " #")
	if !hasHash || !isUnquotedText(value) {
		return text
	}
	quoted := "'" + strings.ReplaceAll(value, "'", "''") + "'"
	return strings.TrimRight(quoted+" "+comment, " ")
}

// flattenNode returns a key for each value in a node (see [frontmatter.FlattenProperty]).
func (k frontMatterKey) flattenNode(n *yaml.Node) []frontMatterKey {
	var keys []frontMatterKey
	properties := frontmatter.FlattenProperty(k.name, n)
	for i, p := range properties {
		hasNested := i+1 < len(properties) && strings.HasPrefix(properties[i+1].Name, p.Name+".")
		if len(p.ValueNodes) == 0 && hasNested {
			// The property is a list of mappings. Skip it, because each value in the mappings is a later element of
			// properties.
			continue
		}
		sub := k
		sub.name = p.Name
		sub.normalizedKey = frontmatter.FoldKeySpelling(p.Name)
		sub.isList = p.IsList
		sub.isEmpty = len(p.ValueNodes) == 0
		keys = append(keys, sub.readScalarNodes(p.ValueNodes)...)
	}
	return keys
}

// readScalarNodes adds the text of each node to the values of k, and returns k as the first element of the result. A
// node that contains a NUL character cannot be read. For each such node, readScalarNodes appends a copy of k that has
// no values and an error. If k is not a list and a node cannot be read, the result contains only these copies. An empty
// or null node adds no value. It sets k.isEmpty unless k is a list.
func (k frontMatterKey) readScalarNodes(nodes []*yaml.Node) []frontMatterKey {
	var unread []frontMatterKey
	for _, n := range nodes {
		s := n.Value
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			s = strings.TrimSpace(s)
		}
		switch {
		case strings.IndexByte(s, 0) >= 0:
			bad := k
			bad.values = nil
			bad.comment = ""
			bad.err = fmt.Errorf("%s: %w: %s", k.name, errInvalidEscapes, truncateAndQuote(s))
			bad.rawLines = k.name + ": " + strings.ReplaceAll(s, "\x00", `\0`)
			unread = append(unread, bad)
		case s == "" || frontmatter.IsNull(n):
			k.isEmpty = k.isEmpty || !k.isList
		default:
			k.values = append(k.values, s)
		}
	}
	if !k.isList && len(unread) > 0 {
		return unread
	}
	return append([]frontMatterKey{k}, unread...)
}

// decodeInvalidYAML reads a value that is not valid YAML, for example because of items such as *.md and #tag, an open
// quote, or an anchor. If the value has several lines that are not a list, it returns nil, because line breaks and
// indentation may have a meaning.
func decodeInvalidYAML(firstLine string, followingLines []string) *yaml.Node {
	whole := joinLines(firstLine, followingLines)
	list := &yaml.Node{Kind: yaml.SequenceNode}
	switch {
	case firstLine == "" && isList(followingLines):
		for _, l := range followingLines {
			l = strings.TrimSpace(l)
			if l != "" {
				list.Content = append(list.Content, invalidYAMLItemNode(strings.TrimPrefix(l, "-")))
			}
		}
		return list
	case strings.HasPrefix(firstLine, "[") && strings.HasSuffix(whole, "]") && !strings.ContainsAny(whole[1:], "[{"):
		for item := range strings.SplitSeq(whole[1:len(whole)-1], ",") {
			list.Content = append(list.Content, invalidYAMLItemNode(item))
		}
		return list
	}
	if whole != joinLines(firstLine, nil) {
		return nil
	}
	return textNode(whole)
}

// isList reports whether each line is blank or a list item.
func isList(lines []string) bool {
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if l != "" && !isBullet(l) {
			return false
		}
	}
	return len(lines) > 0
}

// invalidYAMLItemNode returns a node for an item of a list that is not valid YAML as a whole. If the item itself is
// valid, the node has the value that YAML reads. Otherwise it contains the item's text.
func invalidYAMLItemNode(item string) *yaml.Node {
	item, comment := cutComment(strings.TrimSpace(item))
	node := textNode(item)
	if !isUnquotedText(item) && item != "" {
		if n := decodeValue(item, nil); n != nil {
			node = n
		}
	}
	node.LineComment = strings.TrimSpace(node.LineComment + " " + comment)
	return node
}

// textNode returns a node that contains a text.
func textNode(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.ReplaceAll(s, "\x00", "")}
}

// joinLines returns the text firstLine followed by the lines that continue the text. The parts are separated by spaces.
// Blank lines are skipped.
func joinLines(firstLine string, followingLines []string) string {
	for _, l := range followingLines {
		l = strings.TrimSpace(l)
		if l != "" {
			firstLine = strings.TrimSpace(firstLine + " " + l)
		}
	}
	return firstLine
}
