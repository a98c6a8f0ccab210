// This file writes bundles of the Open Knowledge Format, version 0.2.

package exchange

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/vfs"
)

// reservedConceptKeys lists the keys of the format that cannot be written for a label with the same key, because they
// have another meaning.
var reservedConceptKeys = []string{
	conceptTypeKey,
	conceptTitleKey,
	conceptTagsKey,
	conceptAliasesKey,
	oxbowPropertiesKey,
}

// exportedConcept describes an exported Markdown file. Each export also writes index files, which list these files.
type exportedConcept struct {
	name, file, description string
	created, updated        time.Time
}

// ExportOKF writes the entries that match the filter f to dir, ordered by ID, and returns their number. The format is
// OKF. In this format, a directory tree is called a bundle, and each file with an entry is called a concept. ExportOKF
// writes each concept to a directory that is named after the entry's kind. [Read] reads the same entries from the
// bundle. The directory dir must be empty.
func ExportOKF(ctx context.Context, s oxbow.Store, f oxbow.Filter, dir vfs.FS) (int, error) {
	used := map[string]bool{}
	concepts := map[string][]exportedConcept{} // concepts, by directory
	n, tell := 0, progress.NewCountReporter(ctx, progress.UnitEntries)
	for e, err := range s.Entries(ctx, f) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return n, fmt.Errorf("exporting entries: %w", err)
		}
		tell(n, 0)
		c, err := writeConcept(dir, e, used)
		if err != nil {
			return n, fmt.Errorf("exporting entry %q: %w", e.Name, err)
		}
		concepts[path.Dir(c.file)] = append(concepts[path.Dir(c.file)], c)
		n++
	}
	return n, writeBundleIndexes(dir, concepts)
}

// writeConcept writes an entry as a Markdown file with front matter, which is called a concept in the Open Knowledge
// Format. The map usedPaths contains the paths of the files that were already written, in lower case. writeConcept
// chooses another path and adds it to the map.
func writeConcept(dir vfs.FS, e oxbow.Entry, usedPaths map[string]bool) (exportedConcept, error) {
	c := exportedConcept{name: e.Name, created: e.Created, updated: e.Updated}
	front, err := formatConceptFrontMatter(e, &c)
	if err != nil {
		return c, err
	}
	stem := text.MakeSlug(e.Name)
	if slices.Contains([]string{"", "index", "log"}, stem) {
		stem = strings.TrimPrefix(fmt.Sprintf("%s-%d", stem, e.ID), "-")
	}
	c.file = path.Join(e.Kind.String(), stem+".md")
	for i := 2; usedPaths[strings.ToLower(c.file)]; i++ {
		c.file = path.Join(e.Kind.String(), fmt.Sprintf("%s-%d.md", stem, i))
	}
	usedPaths[strings.ToLower(c.file)] = true
	if err := dir.MkdirAll(path.Dir(c.file), 0o700); err != nil {
		return c, err
	}
	return c, vfs.WriteFile(dir, c.file, []byte("---\n"+front+"---\n\n"+e.Content+"\n"), 0o600)
}

// formatConceptFrontMatter returns the front matter of an entry. It also sets the description of the concept c.
func formatConceptFrontMatter(e oxbow.Entry, c *exportedConcept) (string, error) {
	top := &yaml.Node{Kind: yaml.MappingNode}
	own := okfHeader{Created: e.Created.UTC(), Updated: e.Updated.UTC(), Kind: e.Kind.String()}
	own.Labels = map[string][]string{}
	values := map[string][]string{} // values of the labels that are written as keys of the front matter
	var keys []string
	for _, l := range e.Labels {
		switch {
		case l.IsLocal():
		case l.Key == fallbackLabelKey && isJSONCollection(l.Value):
			key, value := splitFallbackLabel(l.Value)
			if values[key] == nil {
				keys = append(keys, key)
			}
			values[key] = append(values[key], value)
		case needsOxbowSection(l):
			own.Labels[l.Key] = append(own.Labels[l.Key], l.Value)
		default:
			if values[l.Key] == nil {
				keys = append(keys, l.Key)
			}
			values[l.Key] = append(values[l.Key], l.Value)
		}
	}
	addTextKey(top, conceptTypeKey, conceptType(e, &own))
	addTextKey(top, conceptTitleKey, e.Name)
	addKeyWithValues(top, conceptAliasesKey, e.Aliases)
	addKeyWithValues(top, conceptTagsKey, values[oxbow.LabelTag])
	for _, key := range keys {
		if key != oxbow.LabelTag {
			addKeyWithValues(top, key, values[key])
		}
	}
	c.description = firstSentence(e.Content)
	if d := values["description"]; len(d) == 1 {
		c.description = d[0]
	} else if c.description != "" && !mappingHasKey(top, "description") {
		addTextKey(top, "description", c.description)
		own.ComputedKeys = append(own.ComputedKeys, "description")
	}
	addOriginAndTrustKeys(top, e, &own)
	node := &yaml.Node{}
	if err := node.Encode(own); err != nil {
		return "", err
	}
	appendPairs(top, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{newTextScalar(oxbowPropertiesKey), node}})
	b, err := yaml.Marshal(top)
	return string(b), err
}

// splitFallbackLabel splits the value of an okf label. Such a label stores a front matter key that is not valid as a
// label key, together with its value. The value is a JSON object with one member, such as {"key":"text"}. The result
// key is the member's key. The result memberValue is the member's value. A string value is unquoted, and any other
// value is returned as JSON.
func splitFallbackLabel(value string) (key, memberValue string) {
	isKey := true
	for part := range rawjson.EachElement([]byte(value)) {
		switch {
		case isKey && part[0] == '"':
			key = rawjson.UnquoteString(part)
		case part[0] == '"':
			memberValue = rawjson.UnquoteString(part)
		default:
			memberValue = string(part)
		}
		isKey = false
	}
	return key, memberValue
}

// needsOxbowSection reports whether a label must be written below oxbowPropertiesKey, because its key has another
// meaning in the format or only programs may set the label.
func needsOxbowSection(l oxbow.Label) bool {
	return slices.Contains(reservedConceptKeys, l.Key) || isLabelSetByProgram(l) || isImportLabel(l) ||
		l.Key == oxbow.LabelVerified ||
		l.Key == oxbow.LabelPersonal ||
		l.Key == fallbackLabelKey
}

// conceptType returns the type of the concept as which an entry is exported. If the entry is a note and header.Labels
// contains exactly one label with the key conceptTypeKey, the type is the value of this label. Otherwise the type is
// the kind of the entry. conceptType also adds conceptTypeKey to header.ComputedKeys, which lists the keys that the
// export computed.
func conceptType(e oxbow.Entry, header *okfHeader) string {
	types := header.Labels[conceptTypeKey]
	header.ComputedKeys = append(header.ComputedKeys, conceptTypeKey)
	if e.Kind == oxbow.Note && len(types) == 1 {
		return types[0]
	}
	return e.Kind.String()
}

// addOriginAndTrustKeys adds keys that tell other programs what oxbow knows about the origin of an entry and its
// trust. An import ignores these keys.
func addOriginAndTrustKeys(mapping *yaml.Node, e oxbow.Entry, header *okfHeader) {
	at := e.Updated.UTC().Format(time.RFC3339Nano)
	add := func(key string, by string) {
		if mappingHasKey(mapping, key) {
			return // Do not write the key again: it came from another program's file and was kept in a label.
		}
		pair := &yaml.Node{Kind: yaml.MappingNode}
		addTextKey(pair, "by", by)
		pair.Content = append(pair.Content, newTextScalar("at"), &yaml.Node{Kind: yaml.ScalarNode, Value: at})
		mapping.Content = append(mapping.Content, newTextScalar(key), pair)
		header.ComputedKeys = append(header.ComputedKeys, key)
	}
	add(conceptGeneratedKey, formatTextAuthor(e))
	switch {
	case e.TextBy() != oxbow.Person && slices.ContainsFunc(e.Labels, func(l oxbow.Label) bool {
		return l.Key == oxbow.LabelApproved
	}):
		add("verified", "human:owner")
	case len(e.Values(oxbow.LabelVerified)) > 0:
		add("verified", "process:"+e.Values(oxbow.LabelVerified)[0])
	}
	if !e.MayShow(oxbow.UnaskedByLabels) && !mappingHasKey(mapping, "status") {
		addTextKey(mapping, "status", "draft")
		header.ComputedKeys = append(header.ComputedKeys, "status")
	}
}

// formatTextAuthor returns the author of an entry's text in the Open Knowledge Format's notation, such as
// "human:owner".
func formatTextAuthor(e oxbow.Entry) string {
	switch by := e.TextBy(); by {
	case oxbow.Person:
		return "human:owner"
	case oxbow.Agent:
		claim := e.Source.Claimed
		if claim.Agent != "" {
			return "agent/" + claim.Agent
		}
		return "agent/unknown"
	default:
		return "process:" + string(by)
	}
}

// mappingHasKey reports whether a mapping has a key.
func mappingHasKey(mapping *yaml.Node, key string) bool {
	for k := range mappingPairs(mapping) {
		if k.Value == key {
			return true
		}
	}
	return false
}

func newTextScalar(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

func addTextKey(mapping *yaml.Node, key, value string) {
	mapping.Content = append(mapping.Content, newTextScalar(key), newTextScalar(value))
}

// okfListKeys contains the keys whose values are always written as lists.
var okfListKeys = []string{conceptTagsKey, conceptAliasesKey, "sources", "verified", "parameters"}

// addKeyWithValues adds a key with its values. One value is written as a scalar and several values as a list. For the
// keys in okfListKeys, there is always a list. A value that is JSON is written as a mapping or list.
func addKeyWithValues(top *yaml.Node, key string, values []string) {
	if len(values) == 0 {
		return
	}
	var nodes []*yaml.Node
	for _, v := range values {
		node := &yaml.Node{Kind: yaml.ScalarNode, Value: v}
		if isJSONCollection(v) {
			var doc yaml.Node
			if yaml.Unmarshal([]byte(v), &doc) == nil && len(doc.Content) == 1 {
				node = doc.Content[0]
				unquoteDates(node)
			}
		} else if isYAMLNullText(v) {
			node.Tag = "!!str"
		}
		nodes = append(nodes, node)
	}
	if len(nodes) == 1 && !slices.Contains(okfListKeys, key) {
		top.Content = append(top.Content, newTextScalar(key), nodes[0])
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Content: nodes}
	top.Content = append(top.Content, newTextScalar(key), list)
}

// unquoteDates removes the quotes around the dates and times in the node n and the nodes below it, because YAML writes
// dates without quotes. It also changes lists and mappings to the style with one item on each line.
func unquoteDates(n *yaml.Node) {
	n.Style &^= yaml.FlowStyle
	for _, sub := range n.Content {
		unquoteDates(sub)
	}
	_, timeErr := time.Parse(time.RFC3339, n.Value)
	_, dateErr := time.Parse(time.DateOnly, n.Value)
	isTime := timeErr == nil || dateErr == nil
	if isTime && n.Kind == yaml.ScalarNode {
		n.Style = 0
		n.Tag = "" // Without a tag, the YAML encoder determines the type from the value.
	}
}

// isYAMLNullText reports whether YAML would read the text as null.
func isYAMLNullText(s string) bool { return s == "~" || strings.EqualFold(s, "null") || s == "" }

func appendPairs(mapping, pairs *yaml.Node) {
	mapping.Content = append(mapping.Content, pairs.Content...)
}

// firstSentence returns the first sentence in the Markdown text content, without the Markdown characters at the start
// of the line, and shortened to 160 bytes. It reads only the first line with text. If the line does not contain the end
// of a sentence, it returns the whole line.
func firstSentence(content string) string {
	for line := range strings.Lines(content) {
		line = strings.Join(strings.Fields(strings.TrimLeft(line, "#>*-+ \t")), " ")
		if slices.Contains([]string{"", "```", "---"}, line) {
			continue
		}
		if i := strings.Index(line, ". "); i > 0 {
			line = line[:i+1]
		}
		return makeValidName(line, 160)
	}
	return ""
}

// writeBundleIndexes writes an index of each directory, the bundle's index, and the bundle's log.
func writeBundleIndexes(dir vfs.FS, concepts map[string][]exportedConcept) error {
	var top strings.Builder
	top.WriteString("---\nokf_version: \"0.2\"\n---\n\n# Contents\n\n")
	var all []exportedConcept
	for _, kind := range sortedKeys(concepts) {
		fmt.Fprintf(
			&top,
			"* [%s](%s/) - %s\n",
			kind,
			kind,
			text.FormatCount(len(concepts[kind]), "concept", "concepts"),
		)
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n", kind)
		for _, c := range concepts[kind] {
			fmt.Fprintf(&b, "* [%s](%s)", escapeLinkText(c.name), path.Base(c.file))
			if c.description != "" {
				fmt.Fprintf(&b, " - %s", c.description)
			}
			b.WriteByte('\n')
		}
		if err := vfs.WriteFile(dir, path.Join(kind, "index.md"), []byte(b.String()), 0o600); err != nil {
			return err
		}
		all = append(all, concepts[kind]...)
	}
	if err := vfs.WriteFile(dir, "index.md", []byte(top.String()), 0o600); err != nil {
		return err
	}
	return vfs.WriteFile(dir, "log.md", []byte(formatBundleLog(all)), 0o600)
}

// formatBundleLog returns a bundle's log, which lists the last change of each concept, newest first.
func formatBundleLog(all []exportedConcept) string {
	slices.SortStableFunc(all, func(a, b exportedConcept) int { return b.updated.Compare(a.updated) })
	var b strings.Builder
	b.WriteString("# Log\n")
	day := ""
	for _, c := range all {
		if d := c.updated.UTC().Format(time.DateOnly); d != day {
			day = d
			fmt.Fprintf(&b, "\n## %s\n", day)
		}
		word := "Update"
		if c.updated.Equal(c.created) {
			word = "Creation"
		}
		fmt.Fprintf(&b, "* **%s**: [%s](/%s)\n", word, escapeLinkText(c.name), c.file)
	}
	return b.String()
}

// escapeLinkText escapes a name for the text of a link.
func escapeLinkText(name string) string {
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(name)
}

func sortedKeys(m map[string][]exportedConcept) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
