// This file reads the YAML of a profile, node by node, so that every mistake is
// told with its line and the word that was perhaps meant. What YAML can do
// beyond lists and mappings of plain values (anchors, aliases, tags, merge
// keys, several documents) has no place in a profile and is refused: a reader
// must be able to tell what a file says.

package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// The limits of a profile's file.
const (
	MaxFile  = 64 << 10 // bytes
	maxDepth = 4        // lists and mappings inside of each other
	maxList  = 1000     // values of one list
)

// Diagnostic is one thing that is wrong in a file.
type Diagnostic struct {
	File   string
	Line   int // from 1; 0 when it is about the whole file
	Column int // from 1; 0 when unknown
	Text   string
}

func (m Diagnostic) String() string {
	switch {
	case m.Line == 0:
		return m.File + ": " + m.Text
	case m.Column == 0:
		return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Text)
}

// Diagnostics is all that is wrong in a file, in order of lines. It matches
// [oxbow.ErrInvalid].
type Diagnostics []Diagnostic

func (ms Diagnostics) Error() string {
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

// Is reports whether target is [oxbow.ErrInvalid].
func (Diagnostics) Is(target error) bool { return target == oxbow.ErrInvalid }

// Parse reads a profile. File is its path as people know it; its base name
// without ending is the profile's name. Dates are read in the zone, nil meaning
// UTC. The error is [Diagnostics].
func Parse(file string, data []byte, zone *time.Location) (*Profile, error) {
	if zone == nil {
		zone = time.UTC
	}
	r := &reader{file: file, zone: zone, p: &Profile{File: file, lines: map[string]int{}}}
	if n := r.root(data); n != nil {
		r.profile(n)
	}
	if r.p.Name == "" {
		r.p.Name = baseName(file)
		if err := CheckName(r.p.Name); err != nil && len(r.wrong) == 0 {
			r.add(nil, "the file's %v", err)
		}
	}
	if len(r.wrong) > 0 {
		slices.SortStableFunc(r.wrong, func(a, b Diagnostic) int {
			return 1000*(a.Line-b.Line) + a.Column - b.Column
		})
		return nil, r.wrong
	}
	return r.p, nil
}

// baseName returns the name that a file gives to its profile.
func baseName(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	return strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
}

type reader struct {
	file  string
	front bool // it is the front matter of another text, not a profile
	zone  *time.Location
	p     *Profile
	wrong Diagnostics
}

func (r *reader) add(n *yaml.Node, format string, args ...any) {
	m := Diagnostic{File: r.file, Text: fmt.Sprintf(format, args...)}
	if n != nil {
		m.Line, m.Column = n.Line, n.Column
	}
	r.wrong = append(r.wrong, m)
}

// yamlTrouble is how the YAML reader words an error.
var yamlTrouble = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// root returns the mapping at the top, or nil after a mistake.
func (r *reader) root(data []byte) *yaml.Node {
	if len(data) > MaxFile {
		r.add(nil, "has %d bytes; the most is %d", len(data), MaxFile)
		return nil
	}
	if !utf8.Valid(data) {
		line := 1
		for b := data; len(b) > 0; {
			c, n := utf8.DecodeRune(b)
			if c == utf8.RuneError && n <= 1 {
				break
			}
			if c == '\n' {
				line++
			}
			b = b[n:]
		}
		r.wrong = append(r.wrong, Diagnostic{File: r.file, Line: line, Text: "is not UTF-8 text"})
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && (len(doc.Content) == 0 || isNull(doc.Content[0])) {
		if r.front {
			return &yaml.Node{Kind: yaml.MappingNode}
		}
		r.add(nil, "is empty; a profile has at least a description or an include")
		return nil
	}
	if err == nil {
		if err = d.Decode(&second); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			r.add(&second, "begins a second document; there can be one only")
			return nil
		}
	}
	if err != nil {
		m := Diagnostic{File: r.file, Text: "is not YAML: " + err.Error()}
		if g := yamlTrouble.FindStringSubmatch(err.Error()); g != nil {
			m.Line, _ = strconv.Atoi(g[1])
			m.Text = "is not YAML: " + strings.TrimSpace(g[2])
		}
		r.wrong = append(r.wrong, m)
		return nil
	}
	top := doc.Content[0]
	if !r.plain(top, 1) {
		return nil
	}
	if top.Kind != yaml.MappingNode && r.front {
		r.add(top, "is %s; front matter is lines such as \"project: …\"", shape(top))
		return nil
	}
	if top.Kind != yaml.MappingNode {
		r.add(top, "is %s; a profile is lines such as \"description: …\" and \"include:\"", shape(top))
		return nil
	}
	return top
}

// plain refuses what has no place in a profile, wherever it stands.
func (r *reader) plain(n *yaml.Node, depth int) bool {
	ok := true
	refuse := func(format string, args ...any) {
		ok = false
		r.add(n, format, args...)
	}
	switch {
	case depth > maxDepth:
		refuse("is nested more than %d deep", maxDepth)
		return false
	case n.Kind == yaml.AliasNode:
		refuse("*%s is an alias, which is refused here; write the value out", n.Value)
		return false
	}
	if n.Anchor != "" {
		refuse("&%s is an anchor, which is refused here; write the value where it is needed", n.Anchor)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		refuse("%s is a tag, which is refused here; write the plain value", n.Tag)
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) > maxList {
		refuse("is a list of %d; the most is %d", len(n.Content), maxList)
		return false
	}
	for _, c := range n.Content {
		ok = r.plain(c, depth+1) && ok
	}
	return ok
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// shape names a node in words.
func shape(n *yaml.Node) string {
	switch {
	case isNull(n):
		return "empty"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return "the single value " + strconv.Quote(clip(n.Value))
}

func clip(s string) string {
	if len(s) <= 40 {
		return s
	}
	return strings.ToValidUTF8(s[:40], "") + "…"
}

// Keys of a profile, and other words that people write for them.
var (
	topKeys    = []string{"name", "description", "extends", "include", "exclude", "always_include", "max_tokens", "process"}
	choiceKeys = []string{"projects", "tags", "kinds", "related_files", "date_range", "entries"}
	otherWords = map[string]string{
		"title": "name", "inherits": "extends", "base": "extends", "parents": "extends", "budget": "max_tokens",
		"tokens": "max_tokens", "documents": "always_include", "always": "always_include", "files": "related_files",
		"dates": "date_range", "labels": "tags", "names": "entries", "memories": "entries", "types": "kinds",
		"filter": "include", "omit": "exclude", "skip": "exclude", "about": "description",
	}
)

// each calls fn for the keys of a mapping. Unknown and repeated ones are
// mistakes.
func (r *reader) each(n *yaml.Node, where string, known []string, fn func(key string, k, v *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			r.add(k, "%s cannot be a key", shape(k))
			continue
		}
		key := k.Value
		if line := seen[key]; line > 0 {
			r.add(k, "%s is given twice; it stands in line %d too", key, line)
			continue
		}
		seen[key] = k.Line
		if !slices.Contains(known, key) {
			r.unknown(k, where, known)
			continue
		}
		fn(key, k, v)
	}
}

func (r *reader) unknown(k *yaml.Node, where string, known []string) {
	key := k.Value
	what := "unknown key " + strconv.Quote(clip(key))
	if where != "" {
		what += " in " + where
	}
	norm := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	near := text.Near(norm, slices.Values(known), 1)
	switch other := otherWords[norm]; {
	case key == "<<":
		r.add(k, "<< merges another mapping, which is refused here; use extends")
	case slices.Contains(known, other):
		r.add(k, "%s; did you mean %s?", what, other)
	case len(near) > 0:
		r.add(k, "%s; did you mean %s?", what, near[0])
	case where == "" && slices.Contains(choiceKeys, norm):
		r.add(k, "%s; it belongs below include or exclude", what)
	case where != "" && slices.Contains(topKeys, norm):
		r.add(k, "%s; it stands at the top, not below %s", what, where)
	default:
		r.add(k, "%s; there are %s", what, strings.Join(known, ", "))
	}
}

func (r *reader) profile(n *yaml.Node) {
	p := r.p
	r.each(n, "", topKeys, func(key string, k, v *yaml.Node) {
		p.lines[key] = k.Line
		switch key {
		case "name":
			p.Name = r.name(v)
		case "description":
			p.Description = r.word(key, v)
			if len(p.Description) > 1000 {
				r.add(v, "description has %d bytes; the most is 1000", len(p.Description))
			}
		case "extends":
			if v.Kind == yaml.ScalarNode && !isNull(v) {
				v = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v}, Line: v.Line, Column: v.Column}
			}
			p.Extends = r.list(key, v, false, CheckName)
		case "include":
			p.Include = r.choice(key, v)
		case "exclude":
			p.Exclude = r.choice(key, v)
		case "always_include":
			p.Always = r.list(key, v, true, checkDocument)
		case "max_tokens":
			p.MaxTokens = r.number(key, v)
		case "process":
			p.Process = r.truth(key, v)
		}
	})
}

func (r *reader) name(v *yaml.Node) string {
	name := r.word("name", v)
	if name == "" {
		return baseName(r.file)
	}
	if err := CheckName(name); err != nil {
		r.add(v, "%v", err)
	} else if base := baseName(r.file); base != name {
		r.add(v, "name %q is not that of the file, %q; make them the same", name, clip(base))
	}
	return name
}

// word returns a single value.
func (r *reader) word(key string, v *yaml.Node) string {
	if v.Kind != yaml.ScalarNode || isNull(v) {
		r.add(v, "%s is %s; write one value", key, shape(v))
		return ""
	}
	return strings.TrimSpace(v.Value)
}

// list returns the values of a list, each once.
func (r *reader) list(key string, v *yaml.Node, mayBeEmpty bool, check func(string) error) []string {
	if v.Kind != yaml.SequenceNode {
		if v.Kind == yaml.ScalarNode && !isNull(v) {
			r.add(v, "%s is %s; write a list: [%s]", key, shape(v), clip(v.Value))
		} else {
			r.add(v, "%s is %s; write a list such as [a, b]", key, shape(v))
		}
		return nil
	}
	if len(v.Content) == 0 && !mayBeEmpty {
		r.add(v, "%s is an empty list; leave it out, or name something", key)
	}
	values := []string{}
	for _, item := range v.Content {
		if item.Kind != yaml.ScalarNode || isNull(item) {
			r.add(item, "a value of %s is %s; write words", key, shape(item))
			continue
		}
		if err := check(item.Value); err != nil {
			r.add(item, "%v", err)
			continue
		}
		if slices.Contains(values, item.Value) {
			r.add(item, "%s holds %q twice", key, clip(item.Value))
			continue
		}
		values = append(values, item.Value)
		r.p.lines[key+"."+item.Value] = item.Line
	}
	return values
}

// checkDocument reports why a path cannot be a document: it must stay inside of
// where the profile is from.
func checkDocument(p string) error {
	switch {
	case p == "":
		return &oxbow.InvalidError{Field: "always_include", Reason: "holds an empty path"}
	case path.IsAbs(p) || strings.HasPrefix(p, "~") || len(p) > 1 && p[1] == ':':
		return &oxbow.InvalidError{Field: "always_include", Value: clip(p), Reason: "is not relative; paths begin where the profile's home or project does"}
	case strings.Contains(p, `\`):
		return &oxbow.InvalidError{Field: "always_include", Value: clip(p), Reason: "holds a backslash; write slashes"}
	case !fs.ValidPath(p) || p == ".":
		return &oxbow.InvalidError{Field: "always_include", Value: clip(p), Reason: "does not stay inside the profile's home or project; leave out . and .."}
	}
	return nil
}

func (r *reader) number(key string, v *yaml.Node) int {
	n, err := strconv.Atoi(strings.ReplaceAll(v.Value, "_", ""))
	if v.Kind != yaml.ScalarNode || err != nil || n < 1 || n > min(maxMaxTokens, math.MaxInt32) {
		r.add(v, "%s is %s; write a whole number from 1 to %d", key, shape(v), maxMaxTokens)
		return 0
	}
	return n
}

func (r *reader) truth(key string, v *yaml.Node) *bool {
	b, err := strconv.ParseBool(v.Value)
	if v.Kind != yaml.ScalarNode || err != nil || v.Value != "true" && v.Value != "false" {
		r.add(v, "%s is %s; write true or false", key, shape(v))
		return nil
	}
	return &b
}

func (r *reader) choice(where string, v *yaml.Node) *Choice {
	if v.Kind != yaml.MappingNode {
		r.add(v, "%s is %s; below it stand %s", where, shape(v), strings.Join(choiceKeys, ", "))
		return nil
	}
	if len(v.Content) == 0 {
		r.add(v, "%s is empty; leave it out, or say what", where)
	}
	c := &Choice{}
	label := func(key string) func(string) error {
		return func(s string) error { return oxbow.CheckLabel(oxbow.Label{Key: key, Value: s}) }
	}
	r.each(v, where, choiceKeys, func(key string, k, v *yaml.Node) {
		full := where + "." + key
		r.p.lines[full] = k.Line
		switch key {
		case "projects":
			c.Projects = r.list(full, v, false, label(oxbow.LabelProject))
		case "tags":
			c.Tags = r.list(full, v, false, label(oxbow.LabelTag))
		case "kinds":
			c.Kinds = r.list(full, v, false, checkKind)
		case "related_files":
			c.RelatedFiles = r.list(full, v, false, label(oxbow.LabelFile))
		case "entries":
			c.Entries = r.list(full, v, false, oxbow.CheckName)
		case "date_range":
			c.From, c.To = r.dates(full, v)
		}
	})
	return c
}

func checkKind(s string) error {
	_, err := oxbow.ParseKind(s)
	if err == nil {
		return nil
	}
	var kinds []string
	for _, k := range oxbow.Kinds() {
		kinds = append(kinds, k.String())
	}
	if near := text.Near(s, slices.Values(kinds), 1); len(near) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, near[0])
	}
	return err
}

// date is a day, a month, a year or a moment: what does not depend on when the
// profile is read.
var date = regexp.MustCompile(`^\d{4}(-\d{2}(-\d{2}([Tt ][0-9:.]+([Zz]|[+-]\d{2}:\d{2})?)?)?)?$`)

func (r *reader) dates(key string, v *yaml.Node) (from, to time.Time) {
	if v.Kind != yaml.SequenceNode || len(v.Content) != 2 {
		r.add(v, "%s is not a list of two dates, the first and the last day; write [2026-04-18, 2026-05-01]", key)
		return from, to
	}
	ok := true
	read := func(n *yaml.Node) (time.Time, time.Time) {
		if isNull(n) {
			return time.Time{}, time.Time{}
		}
		if n.Kind == yaml.ScalarNode && date.MatchString(n.Value) {
			f, err := oxbow.ParseFilter("on:"+strconv.Quote(n.Value), time.Unix(0, 0).In(r.zone))
			if err == nil && !f.After.IsZero() {
				return f.After, f.Before
			}
		}
		ok = false
		r.add(n, "%s holds %s, which is no date such as 2026-04-18, 2026-04 or 2026", key, shape(n))
		return time.Time{}, time.Time{}
	}
	from, _ = read(v.Content[0])
	_, to = read(v.Content[1])
	switch {
	case !ok:
	case from.IsZero() && to.IsZero():
		r.add(v, "%s is open on both sides; leave it out", key)
	case !from.IsZero() && !to.IsZero() && !from.Before(to):
		r.add(v, "%s ends before it begins; the first day stands first", key)
	}
	return from, to
}
