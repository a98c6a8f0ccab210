// This file parses a YAML mapping strictly. It rejects anchors, aliases, tags, merge keys and multiple documents,
// because people tend to overlook or misunderstand these features.

// Package frontmatter reads and edits a text's YAML front matter. Front matter is a mapping with
// plain values and lists, enclosed by two lines "---". The parser reports the line and column of
// each mistake. Edits preserve all other lines.
package frontmatter

import (
	"cmp"
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

// Limits of a file's front matter, which is the YAML block between "---" lines at the beginning.
const (
	MaxFrontMatterBytes = 64 << 10
	// Maximum number of lines; if no end follows within them, the first "---" is a horizontal rule.
	maxFrontMatterLines = 500
	defaultMaxNesting   = 4 // default maximum nesting of lists and mappings
)

// A Diagnostic describes a mistake in a file.
type Diagnostic struct {
	File   string
	Line   int // line number from 1 (0 if the mistake concerns the whole file)
	Column int // column number from 1 (0 if unknown)
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

// SplitFrontMatter splits a text into front matter and body. The first line must be "---". data contains the lines
// between this line and the next line "---" or "...". body is the text after that line. If the text lacks front
// matter, ok is false and body is the whole text.
func SplitFrontMatter(text string) (data, body string, ok bool) {
	firstLine, rest, found := strings.Cut(text, "\n")
	if !found || strings.TrimRight(firstLine, " \t\r") != "---" {
		return "", text, false
	}
	start, end := len(firstLine)+1, len(firstLine)+1
	for range maxFrontMatterLines {
		if rest == "" {
			break
		}
		line, after, _ := strings.Cut(rest, "\n")
		if s := strings.TrimRight(line, " \t\r"); s == "---" || s == "..." {
			return text[start:end], after, true
		}
		end, rest = len(text)-len(after), after
	}
	return "", text, false
}

// A MappingReader reads a mapping and collects its mistakes. It may be embedded in a type that reads the
// mapping's values.
type MappingReader struct {
	File        string
	FirstLine   int // number of the first YAML line in the file, from 1 (0 if the whole file is YAML)
	MaxDepth    int // maximum nesting of lists and mappings (0 means 4)
	Diagnostics []Diagnostic
}

// AddNodeDiagnostic records a mistake at a node. If n is nil, the mistake concerns the whole file.
func (r *MappingReader) AddNodeDiagnostic(n *yaml.Node, format string, args ...any) {
	d := Diagnostic{Text: fmt.Sprintf(format, args...)}
	if n != nil {
		d.Line, d.Column = n.Line, n.Column
	}
	r.addDiagnostic(d)
}

func (r *MappingReader) addDiagnostic(d Diagnostic) {
	d.File = r.File
	if r.FirstLine > 0 {
		d.Line = max(d.Line, 1) + r.FirstLine - 1
	}
	r.Diagnostics = append(r.Diagnostics, d)
}

// decodeErrorPattern matches an error message of the YAML decoder. The message may contain a line number, which is the
// first submatch. The rest of the message is the second submatch.
var decodeErrorPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)
})

// ReadMapping parses the YAML text data as a mapping. If data has mistakes, ReadMapping adds a diagnostic about each
// mistake to r, and returns nil. If data contains no value, the result is an empty mapping. The nodes of the result
// have line numbers that count from 1 at the beginning of data.
func (r *MappingReader) ReadMapping(data string) *yaml.Node {
	if len(data) > MaxFrontMatterBytes {
		r.AddNodeDiagnostic(nil, "has %d bytes; the most is %d", len(data), MaxFrontMatterBytes)
		return nil
	}
	if n := readPlainMapping(data); n != nil {
		return n
	}
	if valid, _, bad := strings.Cut(strings.ToValidUTF8(data, "\xff"), "\xff"); bad {
		r.addDiagnostic(Diagnostic{Line: 1 + strings.Count(valid, "\n"), Text: "is not UTF-8 text"})
		return nil
	}
	d := yaml.NewDecoder(strings.NewReader(data))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	isEmpty := errors.Is(err, io.EOF)
	if err == nil {
		isEmpty = len(doc.Content) == 0 || IsNull(doc.Content[0])
	}
	if isEmpty {
		return &yaml.Node{Kind: yaml.MappingNode}
	}
	if err == nil {
		err = d.Decode(&second)
		if err == nil {
			r.AddNodeDiagnostic(&second, "begins a second document; there can be one only")
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		m := Diagnostic{Text: "is not YAML: " + err.Error()}
		if g := decodeErrorPattern().FindStringSubmatch(err.Error()); g != nil {
			m.Line, _ = strconv.Atoi(g[1])
			m.Text = "is not YAML: " + strings.TrimSpace(g[2])
		}
		r.addDiagnostic(m)
		return nil
	}
	if top := doc.Content[0]; r.checkNode(top, 1) {
		return top
	}
	return nil
}

// checkNode checks a node and its children for features that are forbidden: aliases, anchors, tags, long lists, and
// deep nesting. It records a diagnostic for each of these, and returns false if there is at least one. The argument
// depth is the nesting level of n, which is 1 for the outermost node.
func (r *MappingReader) checkNode(n *yaml.Node, depth int) bool {
	found := len(r.Diagnostics)
	switch {
	case depth > cmp.Or(r.MaxDepth, defaultMaxNesting):
		r.AddNodeDiagnostic(n, "is nested more than %d deep", cmp.Or(r.MaxDepth, defaultMaxNesting))
		return false
	case n.Kind == yaml.AliasNode:
		r.AddNodeDiagnostic(n, "*%s is an alias, which is refused here; write the value out", n.Value)
		return false
	}
	if n.Anchor != "" {
		r.AddNodeDiagnostic(n, "&%s is an anchor, which is refused here; write the value where it is needed", n.Anchor)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		r.AddNodeDiagnostic(n, "%s is a tag, which is refused here; write the plain value", n.Tag)
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) > maxListValues {
		r.AddNodeDiagnostic(n, "is a list of %d; the most is %d", len(n.Content), maxListValues)
		return false
	}
	for _, c := range n.Content {
		r.checkNode(c, depth+1)
	}
	return len(r.Diagnostics) == found
}

// IsNull reports whether a node is an empty value (null).
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// DescribeKind describes a node for a message, for example as "a list".
func DescribeKind(n *yaml.Node) string {
	switch {
	case IsNull(n):
		return "empty"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return "the single value " + strconv.Quote(ShortenValue(n.Value))
}

// ShortenValue shortens a value so that it can be quoted in a message.
func ShortenValue(s string) string { return text.TruncateWithEllipsis(s, 40) }
