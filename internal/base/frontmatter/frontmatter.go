// Strict reading of a YAML mapping. Anchors, aliases, tags, merge keys and
// several documents are refused: they hide what a file says.

// Package frontmatter reads and edits the YAML head of a text: a mapping of
// plain values and lists, between lines of three dashes. Every mistake is
// reported with its line and column; an edit keeps all other lines.
package frontmatter

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"go.yaml.in/yaml/v3"
)

// Limits of what is read.
const (
	MaxBytes = 64 << 10
	maxLines = 500 // of a head; a "---" without an end near it is a rule
	maxDepth = 4   // lists and mappings inside of each other
)

// Diagnostic is one mistake in a file.
type Diagnostic struct {
	File   string
	Line   int // from 1; 0 when it is about the whole file
	Column int // from 1; 0 when unknown
	Text   string
}

func (d Diagnostic) String() string {
	switch {
	case d.Line == 0:
		return d.File + ": " + d.Text
	case d.Column == 0:
		return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Column, d.Text)
}

// Cut splits a text at its head: data is what is between the first line, "---",
// and the next line of "---" or "...". Body is the text after that line. Ok is
// false, and body the text, when there is no head.
func Cut(text string) (data, body string, ok bool) {
	open, rest, found := strings.Cut(text, "\n")
	if !found || strings.TrimRight(open, " \t\r") != "---" {
		return "", text, false
	}
	start, at := len(open)+1, len(open)+1
	for range maxLines {
		if rest == "" {
			break
		}
		line, after, _ := strings.Cut(rest, "\n")
		if s := strings.TrimRight(line, " \t\r"); s == "---" || s == "..." {
			return text[start:at], after, true
		}
		at, rest = len(text)-len(after), after
	}
	return "", text, false
}

// Reader reads one mapping and collects its mistakes. It may be embedded by a
// reader of the values.
type Reader struct {
	File  string
	First int // line of the file that the YAML begins with, from 1; 0 when it is the file
	Found []Diagnostic
}

// Add reports a mistake at a node; nil means the whole file.
func (r *Reader) Add(n *yaml.Node, format string, args ...any) {
	d := Diagnostic{Text: fmt.Sprintf(format, args...)}
	if n != nil {
		d.Line, d.Column = n.Line, n.Column
	}
	r.add(d)
}

func (r *Reader) add(d Diagnostic) {
	d.File = r.File
	if r.First > 0 {
		d.Line = max(d.Line, 1) + r.First - 1
	}
	r.Found = append(r.Found, d)
}

// decodeError matches an error of the YAML decoder.
var decodeError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`) })

// Read returns the only value of the data: of no value, an empty mapping at line
// 0. Nil means that mistakes were found. Lines of nodes count from 1 in data.
func (r *Reader) Read(data string) *yaml.Node {
	if len(data) > MaxBytes {
		r.Add(nil, "has %d bytes; the most is %d", len(data), MaxBytes)
		return nil
	}
	if n := readPlain(data); n != nil {
		return n
	}
	if valid, _, bad := strings.Cut(strings.ToValidUTF8(data, "\xff"), "\xff"); bad {
		r.add(Diagnostic{Line: 1 + strings.Count(valid, "\n"), Text: "is not UTF-8 text"})
		return nil
	}
	d := yaml.NewDecoder(strings.NewReader(data))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) || (err == nil && (len(doc.Content) == 0 || IsNull(doc.Content[0]))) {
		return &yaml.Node{Kind: yaml.MappingNode}
	}
	if err == nil {
		err = d.Decode(&second)
		if err == nil {
			r.Add(&second, "begins a second document; there can be one only")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		m := Diagnostic{Text: "is not YAML: " + err.Error()}
		if g := decodeError().FindStringSubmatch(err.Error()); g != nil {
			m.Line, _ = strconv.Atoi(g[1])
			m.Text = "is not YAML: " + strings.TrimSpace(g[2])
		}
		r.add(m)
		return nil
	}
	if top := doc.Content[0]; r.plain(top, 1) {
		return top
	}
	return nil
}

// plain reports what is refused in a node and below it.
func (r *Reader) plain(n *yaml.Node, depth int) bool {
	found := len(r.Found)
	switch {
	case depth > maxDepth:
		r.Add(n, "is nested more than %d deep", maxDepth)
		return false
	case n.Kind == yaml.AliasNode:
		r.Add(n, "*%s is an alias, which is refused here; write the value out", n.Value)
		return false
	}
	if n.Anchor != "" {
		r.Add(n, "&%s is an anchor, which is refused here; write the value where it is needed", n.Anchor)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		r.Add(n, "%s is a tag, which is refused here; write the plain value", n.Tag)
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) > maxList {
		r.Add(n, "is a list of %d; the most is %d", len(n.Content), maxList)
		return false
	}
	for _, c := range n.Content {
		r.plain(c, depth+1)
	}
	return len(r.Found) == found
}

// IsNull reports whether a node is an empty value.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// Describe names the kind of a node in words.
func Describe(n *yaml.Node) string {
	switch {
	case IsNull(n):
		return "empty"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return "the single value " + strconv.Quote(Clip(n.Value))
}

// Clip shortens a value for a message.
func Clip(s string) string { return text.Clip(s, 40) }
