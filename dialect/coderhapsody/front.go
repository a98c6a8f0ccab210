// This file reads and edits front matter. It is read by the strict reader of
// package profile, and edited line by line: what is not changed stays byte for
// byte as a person wrote it, unknown keys and comments too.

package coderhapsody

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
)

// matter is what front matter says.
type matter struct {
	name          string
	time, updated time.Time
	kind          *oxbow.Kind
	aliases       []string
	labels        []oxbow.Label
	covers        []string

	stands map[string][]string // under each key of labels, as labelValues would have it
}

// matterReader reads the values of one front matter and collects what is wrong.
type matterReader struct {
	file  string
	first int // line of the file that the YAML begins with
	wrong profile.Diagnostics
}

func (r *matterReader) bad(n *yaml.Node, format string, args ...any) {
	r.wrong = append(r.wrong, profile.Diagnostic{File: r.file, Line: n.Line + r.first - 1, Column: n.Column, Text: fmt.Sprintf(format, args...)})
}

// readMatter reads the YAML of a block. The error is [profile.Diagnostics]. Day
// is that of the file, for times of the day; unknown keys mean nothing here.
func readMatter(file, data string, first int, day time.Time) (matter, error) {
	if top := quickMapping(data); top != nil {
		if m, err := matterOf(top, file, first, day); err == nil {
			return m, nil
		}
	}
	top, err := profile.FrontMatter(file, []byte(data), first)
	if err != nil {
		return matter{}, err
	}
	return matterOf(top, file, first, day)
}

// matterOf reads a mapping.
func matterOf(top *yaml.Node, file string, first int, day time.Time) (matter, error) {
	r := &matterReader{file: file, first: first}
	m := matter{stands: map[string][]string{}}
	seen := map[string]int{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		k, v := top.Content[i], top.Content[i+1]
		if !slices.Contains(keys, k.Value) {
			continue
		}
		if line := seen[k.Value]; line > 0 {
			r.bad(k, "%s is given twice; it stands in line %d too", k.Value, line)
			continue
		}
		seen[k.Value] = k.Line + first - 1
		r.value(&m, k.Value, v, day)
	}
	m.labels = oxbow.SortLabels(m.labels)
	for _, vs := range m.stands {
		slices.Sort(vs)
	}
	if len(r.wrong) > 0 {
		return m, r.wrong
	}
	return m, nil
}

func (r *matterReader) value(m *matter, key string, v *yaml.Node, day time.Time) {
	if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null" {
		return // "tags:" with nothing behind it
	}
	label := func(as string) {
		for _, n := range r.list(key, v) {
			m.stands[key] = append(m.stands[key], n.Value)
			l := oxbow.Label{Key: as, Value: n.Value}
			if err := oxbow.CheckLabel(l); err != nil {
				r.bad(n, "%v", err)
				continue
			}
			m.labels = append(m.labels, l)
		}
	}
	switch key {
	case keyName:
		if m.name = r.one(key, v); m.name != "" {
			if err := oxbow.CheckName(m.name); err != nil {
				r.bad(v, "%v", err)
			}
		}
	case keyTime:
		m.time = r.when(key, v, day)
	case keyUpdated:
		m.updated = r.when(key, v, day)
	case keyKind:
		k, err := oxbow.ParseKind(r.one(key, v))
		if err != nil {
			r.bad(v, "%v", err)
			return
		}
		m.kind = &k
	case keyAliases:
		for _, n := range r.list(key, v) {
			m.aliases = append(m.aliases, n.Value)
		}
	case keyCovers:
		for _, n := range r.list(key, v) {
			m.covers = append(m.covers, n.Value)
		}
	case keyProject:
		label(oxbow.LabelProject)
	case keyTags:
		label(oxbow.LabelTag)
	case keyFiles:
		label(oxbow.LabelFile)
	case keyConfidence:
		if v.Kind != yaml.ScalarNode {
			r.one(key, v)
			return
		}
		label(oxbow.LabelConfidence)
	case keyProcess, keyPinned:
		switch s := r.one(key, v); s {
		case "true", "false":
			m.stands[key] = []string{s}
			m.labels = append(m.labels, oxbow.Label{Key: key, Value: s})
		default:
			r.bad(v, "%s is %q; write true or false", key, s)
		}
	case keyLabels:
		for _, n := range r.list(key, v) {
			l, err := oxbow.ParseLabel(n.Value)
			if err != nil {
				r.bad(n, "%v", err)
				continue
			}
			m.stands[key] = append(m.stands[key], l.String())
			m.labels = append(m.labels, l)
		}
	}
}

// one returns a single value.
func (r *matterReader) one(key string, v *yaml.Node) string {
	if v.Kind != yaml.ScalarNode {
		r.bad(v, "%s is not a single value; write one", key)
		return ""
	}
	return v.Value
}

// list returns the values of a list, or the one that stands there alone.
func (r *matterReader) list(key string, v *yaml.Node) []*yaml.Node {
	if v.Kind == yaml.ScalarNode {
		return []*yaml.Node{v}
	}
	if v.Kind != yaml.SequenceNode {
		r.bad(v, "%s is a mapping; write a list such as [a, b]", key)
		return nil
	}
	var values []*yaml.Node
	for _, n := range v.Content {
		if n.Kind != yaml.ScalarNode {
			r.bad(n, "a value of %s is a list or a mapping; write words", key)
			continue
		}
		values = append(values, n)
	}
	return values
}

// when reads a time: with a zone, or of the day's zone, or of the day itself.
func (r *matterReader) when(key string, v *yaml.Node, day time.Time) time.Time {
	s := r.one(key, v)
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC()
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, day.Location()); err == nil {
			return t.UTC()
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(), 0, day.Location()).UTC()
		}
	}
	r.bad(v, "%s is %q; write a time such as 2026-04-18T14:02:03Z, or 14:02", key, s)
	return time.Time{}
}

// formatTime writes a time as it is read back.
func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// labelKeys are the keys that labels stand under.
var labelKeys = []string{keyProject, keyTags, keyFiles, keyConfidence, keyProcess, keyPinned, keyLabels}

// labelValues returns what is to stand under each of labelKeys, in order.
func labelValues(labels []oxbow.Label) map[string][]string {
	vs := map[string][]string{}
	count := map[string]int{}
	for _, l := range labels {
		count[l.Key]++
	}
	for _, l := range oxbow.SortLabels(labels) {
		switch {
		case l.Key == oxbow.LabelProject:
			vs[keyProject] = append(vs[keyProject], l.Value)
		case l.Key == oxbow.LabelTag:
			vs[keyTags] = append(vs[keyTags], l.Value)
		case l.Key == oxbow.LabelFile:
			vs[keyFiles] = append(vs[keyFiles], l.Value)
		case l.Key == oxbow.LabelConfidence:
			vs[keyConfidence] = []string{l.Value}
		case (l.Key == keyProcess || l.Key == keyPinned) && count[l.Key] == 1 && (l.Value == "true" || l.Value == "false"):
			vs[l.Key] = []string{l.Value}
		default:
			vs[keyLabels] = append(vs[keyLabels], l.String())
		}
	}
	slices.Sort(vs[keyLabels])
	return vs
}

// isBare reports whether a value can stand without quotes and is read back as
// the same word.
func isBare(s string) bool {
	for i, c := range s {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || strings.ContainsRune(" ._/@+-", c)):
		case c > 0x7f && (unicode.IsLetter(c) || i > 0 && unicode.IsDigit(c)):
		default:
			return false
		}
	}
	switch strings.ToLower(s) {
	case "", "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	return !strings.HasSuffix(s, " ")
}

func word(s string) string {
	if isBare(s) {
		return s
	}
	return strconv.Quote(s)
}

// lineOf returns the line, or the lines, of a key, with their ends. Style is how
// a list stood there before, nil when it did not.
func lineOf(key string, values []string, style *yaml.Node) string {
	words := make([]string, len(values))
	for i, v := range values {
		if words[i] = word(v); slices.Contains([]string{keyTime, keyUpdated, keyConfidence, keyProcess, keyPinned}, key) {
			words[i] = v // of a form that needs no quotes
		}
	}
	single := slices.Contains([]string{keyName, keyTime, keyUpdated, keyKind, keyConfidence, keyProcess, keyPinned}, key) ||
		key == keyProject && len(values) == 1 && (style == nil || style.Kind == yaml.ScalarNode)
	remark := ""
	if style != nil && style.LineComment != "" {
		remark = " " + style.LineComment
	}
	switch {
	case single:
		return key + ": " + words[0] + remark + "\n"
	case style != nil && style.Kind == yaml.SequenceNode && style.Style&yaml.FlowStyle == 0 && len(style.Content) > 0:
		return key + ":\n  - " + strings.Join(words, "\n  - ") + "\n"
	}
	return key + ": [" + strings.Join(words, ", ") + "]" + remark + "\n"
}

// newMatter writes front matter, without its markers.
func newMatter(vs map[string][]string) string {
	var b strings.Builder
	for _, k := range keys {
		if len(vs[k]) > 0 {
			b.WriteString(lineOf(k, vs[k], nil))
		}
	}
	return b.String()
}

// editMatter returns the YAML with other values under some keys: all of want,
// where no values take the key away. Lines of other keys stay.
func editMatter(data, eol string, want map[string][]string) (string, error) {
	top, err := profile.FrontMatter("", []byte(data), 1)
	if err != nil {
		return "", err
	}
	var lines []string
	for l := range strings.Lines(data) {
		lines = append(lines, l)
	}
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += eol
	}
	type place struct{ from, to int } // lines
	at := map[string]place{}
	node := map[string]*yaml.Node{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		k, v := top.Content[i], top.Content[i+1]
		to := len(lines)
		if i+2 < len(top.Content) {
			to = top.Content[i+2].Line - 1
		}
		if v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
			// Remarks and empty lines before the next key are not this one's.
			for to > k.Line && (strings.TrimSpace(lines[to-1]) == "" || strings.HasPrefix(strings.TrimSpace(lines[to-1]), "#")) {
				to--
			}
		}
		if _, twice := at[k.Value]; !twice {
			at[k.Value], node[k.Value] = place{k.Line - 1, to}, v
		}
	}
	if len(top.Content) > 0 && top.Style&yaml.FlowStyle != 0 {
		return "", &oxbow.InvalidError{Field: "front matter", Reason: "stands in braces, which is not edited; write one key a line"}
	}
	put := make([]string, len(lines)+1) // what is put before each line
	gone := make([]bool, len(lines))
	for n, k := range keys {
		values, given := want[k]
		if !given {
			continue
		}
		text := ""
		if len(values) > 0 {
			text = lineOf(k, values, node[k])
		}
		if eol != "\n" {
			text = strings.ReplaceAll(text, "\n", eol)
		}
		if p, ok := at[k]; ok {
			for i := p.from; i < p.to; i++ {
				gone[i] = true
			}
			put[p.from] += text
			continue
		}
		behind := 0
		for _, before := range keys[:n] {
			if p, ok := at[before]; ok {
				behind = max(behind, p.to)
			}
		}
		put[behind] += text
	}
	var b strings.Builder
	for i := range put {
		b.WriteString(put[i])
		if i < len(lines) && !gone[i] {
			b.WriteString(lines[i])
		}
	}
	return b.String(), nil
}
