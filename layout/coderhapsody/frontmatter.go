// This file reads and edits the YAML front matter of an entry in a log, line by line. Lines that are not changed stay
// the same byte for byte, including comments and unknown keys.

package coderhapsody

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/profile"
)

// frontMatterValues is decoded front matter.
type frontMatterValues struct {
	name            string
	time, updated   time.Time
	kind            *oxbow.Kind
	aliases         []string
	labels          []oxbow.Label
	summarizedFiles []string

	// values in the front matter, by label key, in the form in which labelValues returns the values of an entry's
	// labels
	valuesByLabelKey map[string][]string
}

// frontMatterReader decodes front matter and collects the mistakes in the front matter.
type frontMatterReader struct{ frontmatter.MappingReader }

// readFrontMatter decodes the YAML front matter of an entry in a log file. A mistake is returned as
// [profile.Diagnostics]. firstLine is the line number of data's first line. fileDay is the file's day, which completes
// times without a date. Unknown keys are ignored.
func readFrontMatter(file, data string, firstLine int, fileDay time.Time) (frontMatterValues, error) {
	top, err := profile.FrontMatter(file, []byte(data), firstLine)
	if err != nil {
		return frontMatterValues{}, err
	}
	return decodeFrontMatter(top, file, firstLine, fileDay)
}

// decodeFrontMatter returns the values in front matter, which is a YAML mapping of keys to values. For the other
// arguments, see readFrontMatter.
func decodeFrontMatter(mapping *yaml.Node, file string, firstLine int, fileDay time.Time) (frontMatterValues, error) {
	r := &frontMatterReader{frontmatter.MappingReader{File: file, FirstLine: firstLine}}
	m := frontMatterValues{valuesByLabelKey: map[string][]string{}}
	seen := map[string]int{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		k, v := mapping.Content[i], mapping.Content[i+1]
		if !slices.Contains(frontMatterKeys, k.Value) {
			continue
		}
		if line := seen[k.Value]; line > 0 {
			r.AddNodeDiagnostic(k, "%s is given twice; it stands in line %d too", k.Value, line)
			continue
		}
		seen[k.Value] = k.Line + firstLine - 1
		r.decodeKey(&m, k.Value, v, fileDay)
	}
	m.labels = oxbow.SortLabels(m.labels)
	for _, vs := range m.valuesByLabelKey {
		slices.Sort(vs)
	}
	if len(r.Diagnostics) > 0 {
		return m, profile.Diagnostics(r.Diagnostics)
	}
	return m, nil
}

func (r *frontMatterReader) decodeKey(m *frontMatterValues, key string, v *yaml.Node, fileDay time.Time) {
	if frontmatter.IsNull(v) {
		return // ignore a front matter key without a value, such as "tags:"
	}
	label := func(as string) {
		for _, n := range r.valueNodes(key, v) {
			m.valuesByLabelKey[key] = append(m.valuesByLabelKey[key], n.Value)
			l := oxbow.Label{Key: as, Value: n.Value}
			if err := l.Check(); err != nil {
				r.AddNodeDiagnostic(n, "%v", err)
				continue
			}
			m.labels = append(m.labels, l)
		}
	}
	switch key {
	case frontMatterKeyName:
		m.name = r.singleValue(key, v)
		if m.name != "" {
			if err := oxbow.CheckName(m.name); err != nil {
				r.AddNodeDiagnostic(v, "%v", err)
			}
		}
	case frontMatterKeyTime:
		m.time = r.parseTime(key, v, fileDay)
	case frontMatterKeyUpdated:
		m.updated = r.parseTime(key, v, fileDay)
	case frontMatterKeyKind:
		k, err := oxbow.ParseKind(r.singleValue(key, v))
		if err != nil {
			r.AddNodeDiagnostic(v, "%v", err)
			return
		}
		m.kind = &k
	case frontMatterKeyAliases:
		for _, n := range r.valueNodes(key, v) {
			m.aliases = append(m.aliases, n.Value)
		}
	case frontMatterKeySummarizedLogs:
		for _, n := range r.valueNodes(key, v) {
			m.summarizedFiles = append(m.summarizedFiles, n.Value)
		}
	case frontMatterKeyProject:
		label(oxbow.LabelProject)
	case frontMatterKeyTags:
		label(oxbow.LabelTag)
	case frontMatterKeyFiles:
		label(oxbow.LabelFile)
	case frontMatterKeyConfidence:
		if v.Kind != yaml.ScalarNode {
			r.singleValue(key, v)
			return
		}
		label(oxbow.LabelConfidence)
	case frontMatterKeyProcess, frontMatterKeyPinned:
		switch s := r.singleValue(key, v); s {
		case "true", "false":
			m.valuesByLabelKey[key] = []string{s}
			m.labels = append(m.labels, oxbow.Label{Key: key, Value: s})
		default:
			r.AddNodeDiagnostic(v, "%s is %q; write true or false", key, s)
		}
	case frontMatterKeyLabels:
		for _, n := range r.valueNodes(key, v) {
			l, err := oxbow.ParseLabel(n.Value)
			if err != nil {
				r.AddNodeDiagnostic(n, "%v", err)
				continue
			}
			m.valuesByLabelKey[key] = append(m.valuesByLabelKey[key], l.String())
			m.labels = append(m.labels, l)
		}
	}
}

// singleValue returns the value of a key that must have a single value. If the key has a list or another structure,
// singleValue adds a diagnostic and returns "".
func (r *frontMatterReader) singleValue(key string, v *yaml.Node) string {
	if v.Kind != yaml.ScalarNode {
		r.AddNodeDiagnostic(v, "%s is not a single value; write one", key)
		return ""
	}
	return v.Value
}

// valueNodes returns the values of a key. A single value counts as a list of one value.
func (r *frontMatterReader) valueNodes(key string, v *yaml.Node) []*yaml.Node {
	if v.Kind == yaml.ScalarNode {
		return []*yaml.Node{v}
	}
	if v.Kind != yaml.SequenceNode {
		r.AddNodeDiagnostic(v, "%s is a mapping; write a list such as [a, b]", key)
		return nil
	}
	var values []*yaml.Node
	for _, n := range v.Content {
		if n.Kind != yaml.ScalarNode {
			r.AddNodeDiagnostic(n, "a value of %s is a list or a mapping; write words", key)
			continue
		}
		values = append(values, n)
	}
	return values
}

// parseTime parses the value of a key as a time, and returns it in UTC. The value may have a time zone, such as
// 2026-04-18T14:02:03Z. If a date or a time lacks a zone, it is in the time zone of fileDay, which is the day of the
// file. If the value is only a time of day, such as 14:02, it is a time on this day. For any other value, parseTime
// reports a mistake and returns the zero time.
func (r *frontMatterReader) parseTime(key string, v *yaml.Node, fileDay time.Time) time.Time {
	s := r.singleValue(key, v)
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC()
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, fileDay.Location()); err == nil {
			return t.UTC()
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return time.Date(
				fileDay.Year(),
				fileDay.Month(),
				fileDay.Day(),
				t.Hour(),
				t.Minute(),
				t.Second(),
				0,
				fileDay.Location(),
			).UTC()
		}
	}
	r.AddNodeDiagnostic(v, "%s is %q; write a time such as 2026-04-18T14:02:03Z, or 14:02", key, s)
	return time.Time{}
}

// formatTime formats a time for front matter.
func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// frontMatterLabelKeys are the keys whose values are labels.
var frontMatterLabelKeys = []string{
	frontMatterKeyProject,
	frontMatterKeyTags,
	frontMatterKeyFiles,
	frontMatterKeyConfidence,
	frontMatterKeyProcess,
	frontMatterKeyPinned,
	frontMatterKeyLabels,
}

// labelValues returns the values that represent the labels in an entry's front matter. The keys of the map are front
// matter keys, and the values of a key are in order. The front matter has keys for only some labels, such as tags. All
// other labels are under frontMatterKeyLabels, in the form key:value.
func labelValues(labels []oxbow.Label) map[string][]string {
	vs := map[string][]string{}
	count := map[string]int{}
	for _, l := range labels {
		count[l.Key]++
	}
	for _, l := range oxbow.SortLabels(labels) {
		switch {
		case l.Key == oxbow.LabelProject:
			vs[frontMatterKeyProject] = append(vs[frontMatterKeyProject], l.Value)
		case l.Key == oxbow.LabelTag:
			vs[frontMatterKeyTags] = append(vs[frontMatterKeyTags], l.Value)
		case l.Key == oxbow.LabelFile:
			vs[frontMatterKeyFiles] = append(vs[frontMatterKeyFiles], l.Value)
		case l.Key == oxbow.LabelConfidence:
			vs[frontMatterKeyConfidence] = []string{l.Value}
		case (l.Key == frontMatterKeyProcess || l.Key == frontMatterKeyPinned) && count[l.Key] == 1 &&
			(l.Value == "true" || l.Value == "false"):
			vs[l.Key] = []string{l.Value}
		default:
			vs[frontMatterKeyLabels] = append(vs[frontMatterKeyLabels], l.String())
		}
	}
	slices.Sort(vs[frontMatterKeyLabels])
	return vs
}

func quoteIfNeeded(s string) string {
	if frontmatter.NeedsNoQuotes(s) {
		return s
	}
	return strconv.Quote(s)
}

// formatKey returns the front matter line or lines for a key, with line ends. oldNode is the key's present value in
// the file, or nil. A list is written in the style of oldNode.
func formatKey(key string, values []string, oldNode *yaml.Node) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = quoteIfNeeded(v)
		if slices.Contains(
			[]string{
				frontMatterKeyTime,
				frontMatterKeyUpdated,
				frontMatterKeyConfidence,
				frontMatterKeyProcess,
				frontMatterKeyPinned,
			},
			key,
		) {
			words[i] = v // the value needs no quotes
		}
	}
	single := slices.Contains(
		[]string{
			frontMatterKeyName,
			frontMatterKeyTime,
			frontMatterKeyUpdated,
			frontMatterKeyKind,
			frontMatterKeyConfidence,
			frontMatterKeyProcess,
			frontMatterKeyPinned,
		},
		key,
	) ||
		(key == frontMatterKeyProject && len(values) == 1 && (oldNode == nil || oldNode.Kind == yaml.ScalarNode))
	remark := ""
	if oldNode != nil && oldNode.LineComment != "" {
		remark = " " + oldNode.LineComment
	}
	switch {
	case single:
		return key + ": " + words[0] + remark + "\n"
	case oldNode != nil && oldNode.Kind == yaml.SequenceNode && oldNode.Style&yaml.FlowStyle == 0 &&
		len(oldNode.Content) > 0:
		return key + ":\n  - " + strings.Join(words, "\n  - ") + "\n"
	}
	return key + ": [" + strings.Join(words, ", ") + "]" + remark + "\n"
}

// newFrontMatter returns front matter with these values. It does not include the lines with three dashes.
func newFrontMatter(values map[string][]string) string {
	var b strings.Builder
	for _, k := range frontMatterKeys {
		if len(values[k]) > 0 {
			b.WriteString(formatKey(k, values[k], nil))
		}
	}
	return b.String()
}

// editFrontMatter returns the YAML text data in which the keys in newValues have the new values. A key without values
// is removed. The lines of all other keys stay unchanged. editFrontMatter returns an error if data is not valid YAML,
// or if the whole mapping is in braces.
func editFrontMatter(data, lineEnd string, newValues map[string][]string) (string, error) {
	top, err := profile.FrontMatter("", []byte(data), 1)
	if err != nil {
		return "", err
	}
	if len(top.Content) > 0 && top.Style&yaml.FlowStyle != 0 {
		return "", &oxbow.InvalidError{
			Field:  "front matter",
			Reason: "stands in braces, which is not edited; write one key a line",
		}
	}
	return frontmatter.EditKeys(data, lineEnd, top, frontMatterKeys, func(key string, old *yaml.Node) (string, bool) {
		values, given := newValues[key]
		if len(values) == 0 {
			return "", given
		}
		return formatKey(key, values, old), given
	}), nil
}
