// This file encodes and decodes the file of an entry: YAML front matter, followed by the content. People read these
// files in pull requests.

package team

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// The keys of the front matter. Labels without a key of their own are listed under keyLabels.
const (
	keyName         = "name"
	keyAliases      = "aliases"
	keyProject      = "project"
	keyTags         = "tags"
	keyRelatedFiles = "related_files"
	keyLabels       = "labels"
	keyCreated      = "created"
	// number of line ends at the content's beginning, which a person's editor might remove
	keyLeadingLineEnds  = "lines_before"
	keyTrailingLineEnds = "lines_after" // number of line ends at the end of the entry's content
)

const lineEndChars = "\r\n"

// labelKeys lists the keys in the front matter of a team file whose values are labels. Each element has such a key, and
// the label key of these labels.
var labelKeys = []struct{ key, label string }{
	{keyProject, oxbow.LabelProject}, {keyTags, oxbow.LabelTag}, {keyRelatedFiles, oxbow.LabelFile},
}

// FormatEntry returns the text of an entry's file. Equal entries always have equal texts. An entry that YAML cannot
// represent is written in the format of package mdtree.
func FormatEntry(e oxbow.Entry) string {
	if !isWrittenAsYAML(&e) {
		return mdtree.FormatEntry(e)
	}
	var b strings.Builder
	b.WriteString("---\n")
	writeKey(&b, keyName, e.Name)
	if len(e.Aliases) > 0 {
		writeList(&b, keyAliases, e.Aliases)
	}
	values := map[string][]string{}
	for _, l := range oxbow.SortLabels(slices.Clone(e.Labels)) {
		key, value := keyLabels, l.String()
		for _, k := range labelKeys {
			if l.Key == k.label {
				key, value = k.key, l.Value
			}
		}
		values[key] = append(values[key], value)
	}
	for _, key := range []string{keyProject, keyTags, keyRelatedFiles, keyLabels} {
		switch {
		case key == keyProject && len(values[key]) == 1:
			writeKey(&b, key, values[key][0])
		case len(values[key]) > 0:
			writeList(&b, key, values[key])
		}
	}
	if !e.Created.IsZero() {
		b.WriteString(keyCreated + ": " + e.Created.UTC().Format(time.RFC3339Nano) + "\n")
	}
	text := strings.Trim(e.Content, lineEndChars)
	before, after, _ := strings.Cut(e.Content, text)
	if text == "" {
		before, after = e.Content, ""
	}
	if before != "" {
		writeKey(&b, keyLeadingLineEnds, before)
	}
	if after != "" {
		writeKey(&b, keyTrailingLineEnds, after)
	}
	b.WriteString("---\n")
	if text != "" {
		b.WriteString("\n" + text + "\n")
	}
	return b.String()
}

// isWrittenAsYAML reports whether YAML front matter can represent the entry exactly.
func isWrittenAsYAML(e *oxbow.Entry) bool {
	year := e.Created.UTC().Year()
	texts := append([]string{e.Name, e.Content}, e.Aliases...)
	for _, l := range e.Labels {
		texts = append(texts, l.Key, l.Value)
	}
	return year >= 0 && year <= 9999 &&
		!slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
}

func writeKey(b *strings.Builder, key, value string) {
	b.WriteString(key + ": " + formatYAMLScalar(value) + "\n")
}

func writeList(b *strings.Builder, key string, values []string) {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = formatYAMLScalar(v)
	}
	b.WriteString(key + ": [" + strings.Join(quoted, ", ") + "]\n")
}

// formatYAMLScalar returns s as a YAML scalar, with quotation marks if they are necessary.
func formatYAMLScalar(s string) string {
	if frontmatter.NeedsNoQuotes(s) {
		return s
	}
	return strconv.Quote(s)
}

// parseText parses an entry's file with front matter. ok is false if the text lacks front matter. A key that oxbow
// does not know is converted to labels. If a value cannot be a label, it becomes a paragraph before the content, and
// notes says so.
func parseText(text string) (e oxbow.Entry, notes []string, ok bool, err error) {
	data, body, ok := frontmatter.SplitFrontMatter(strings.TrimPrefix(text, "\ufeff"))
	if !ok {
		return e, nil, false, nil
	}
	r := &teamFileReader{MappingReader: frontmatter.MappingReader{FirstLine: 2}}
	switch top := r.ReadMapping(data); {
	case top == nil || top.Line == 0:
	case top.Kind != yaml.MappingNode:
		r.AddNodeDiagnostic(top, "is %s; write lines such as name: deploy", frontmatter.DescribeKind(top))
	default:
		r.readKeys(top)
	}
	r.entry.Labels = oxbow.SortLabels(r.entry.Labels)
	r.entry.Content = r.lineEndsBeforeContent + strings.Trim(
		strings.Join(append(r.paragraphs, strings.Trim(body, lineEndChars)), "\n\n"),
		lineEndChars,
	) + r.lineEndsAfterContent
	var errs []error
	for _, d := range r.Diagnostics {
		errs = append(errs, fmt.Errorf("has a mistake in line %d: %s", d.Line, d.Text))
	}
	return r.entry, r.notes, true, errors.Join(errs...)
}

// teamFileReader reads the front matter of an entry's file.
type teamFileReader struct {
	frontmatter.MappingReader
	entry                                       oxbow.Entry
	lineEndsBeforeContent, lineEndsAfterContent string
	notes                                       []string
	// values that cannot be written as labels in the file, and become paragraphs before the content
	paragraphs []string
}

func (r *teamFileReader) readKeys(top *yaml.Node) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		k, v := top.Content[i], top.Content[i+1]
		if seen[k.Value] {
			r.AddNodeDiagnostic(k, "the key %s is there twice; keep one", frontmatter.ShortenValue(k.Value))
			continue
		}
		seen[k.Value] = true
		if !frontmatter.IsNull(v) {
			r.readKnownKey(k, v)
		}
	}
}

func (r *teamFileReader) readKnownKey(k, v *yaml.Node) {
	for _, l := range labelKeys {
		if k.Value != l.key {
			continue
		}
		for _, n := range r.valueNodes(k, v) {
			r.addLabel(n, oxbow.Label{Key: l.label, Value: n.Value})
		}
		return
	}
	switch k.Value {
	case keyName:
		r.entry.Name = r.readSingleValue(k, v)
	case keyAliases:
		for _, n := range r.valueNodes(k, v) {
			r.entry.Aliases = append(r.entry.Aliases, n.Value)
		}
	case keyLabels:
		for _, n := range r.valueNodes(k, v) {
			l, err := oxbow.ParseLabel(n.Value)
			if err != nil {
				r.AddNodeDiagnostic(n, "%v", err)
				continue
			}
			r.addLabel(n, l)
		}
	case keyCreated:
		r.readCreationTime(k, v)
	case keyLeadingLineEnds:
		r.lineEndsBeforeContent = r.readLineEnds(k, v)
	case keyTrailingLineEnds:
		r.lineEndsAfterContent = r.readLineEnds(k, v)
	default:
		r.readUnknownKey(k, v)
	}
}

// maxUnknownKeyLabels limits the labels that are made from front matter keys that oxbow does not know. No such label is
// added if the entry has this many labels already. The remaining labels are reserved for oxbow.
const maxUnknownKeyLabels = oxbow.MaxLabels / 2

// readUnknownKey converts a YAML key that oxbow does not know to labels of the entry, in the same way as the import of
// Markdown files. A value that cannot be a label becomes a paragraph of the text. Empty values, nulls, and the kind of
// a note are skipped.
func (r *teamFileReader) readUnknownKey(k, v *yaml.Node) {
	for _, p := range frontmatter.FlattenProperty(k.Value, v) {
		for _, n := range p.ValueNodes {
			l := oxbow.Label{Key: frontmatter.MakeLabelKey(p.Name), Value: strings.TrimSpace(n.Value)}
			isNote := l.Key == "kind" && l.Value == oxbow.Note.String()
			switch {
			case l.Value == "" || frontmatter.IsNull(n) || isNote:
			case l.Check() == nil && len(r.entry.Labels) < maxUnknownKeyLabels:
				r.entry.Labels = append(r.entry.Labels, l)
			default:
				r.keepValueAsParagraph(p.Name, n.Value, "cannot be a label")
			}
		}
	}
}

// keepValueAsParagraph keeps a front matter value that cannot become a label. The value will be a paragraph before the
// entry's content. The function also adds a note with the reason.
func (r *teamFileReader) keepValueAsParagraph(key, value, reason string) {
	r.paragraphs = append(r.paragraphs, key+": "+strings.TrimSpace(value))
	r.notes = append(r.notes, fmt.Sprintf("has the key %q with %q, which %s and is kept with the text",
		frontmatter.ShortenValue(key), frontmatter.ShortenValue(value), reason))
}

func (r *teamFileReader) addLabel(n *yaml.Node, l oxbow.Label) {
	if err := l.Check(); err != nil {
		r.AddNodeDiagnostic(n, "%v", err)
		return
	}
	r.entry.Labels = append(r.entry.Labels, l)
}

// readSingleValue returns the value of a key that must have a single value. Otherwise it records a mistake and returns
// "".
func (r *teamFileReader) readSingleValue(keyNode, valueNode *yaml.Node) string {
	if valueNode.Kind != yaml.ScalarNode {
		r.AddNodeDiagnostic(
			valueNode,
			"%s is %s; write a single value",
			keyNode.Value,
			frontmatter.DescribeKind(valueNode),
		)
		return ""
	}
	return valueNode.Value
}

// valueNodes returns the elements of v, the value of the key k, which must be a list of single values. It treats a
// single value as a list with one element. For any other value, it records a mistake and returns nil.
func (r *teamFileReader) valueNodes(k, v *yaml.Node) []*yaml.Node {
	if v.Kind == yaml.ScalarNode {
		return []*yaml.Node{v}
	}
	isScalar := func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode }
	if v.Kind != yaml.SequenceNode || slices.ContainsFunc(v.Content, func(n *yaml.Node) bool { return !isScalar(n) }) {
		r.AddNodeDiagnostic(v, "%s is not a list of words; write a list such as [a, b]", k.Value)
		return nil
	}
	return v.Content
}

func (r *teamFileReader) readCreationTime(keyNode, valueNode *yaml.Node) {
	s := r.readSingleValue(keyNode, valueNode)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			r.entry.Created = t.UTC()
			return
		}
	}
	r.keepValueAsParagraph(keyCreated, s, "is not a date such as 2026-04-18T09:30:00Z")
}

func (r *teamFileReader) readLineEnds(k, v *yaml.Node) string {
	s := r.readSingleValue(k, v)
	if strings.Trim(s, lineEndChars) != "" || len(s) > maxContentBytes {
		r.AddNodeDiagnostic(v, "%s is not a list of line ends such as \"\\n\\n\"; take the line out", k.Value)
		return ""
	}
	return s
}
