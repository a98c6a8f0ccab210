// This file reads bundles of the Open Knowledge Format, version 0.2. A bundle is a directory of concepts, which are
// Markdown files with a type in their front matter. A file named index.md or log.md is not a concept.

package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/vfs"
)

// These are the front matter keys that correspond to a field of an entry. All other keys become labels, so that an
// export can write the key again.
const (
	conceptTypeKey      = "type"
	conceptTitleKey     = "title"
	conceptTagsKey      = "tags"
	conceptAliasesKey   = "aliases"
	conceptGeneratedKey = "generated"
	conceptTimestampKey = "timestamp" // The format had this key in version 0.1.
	// An entry has properties that the Open Knowledge Format cannot store. Exports of oxbow write these properties
	// below this key.
	oxbowPropertiesKey = "oxbow"
)

// fallbackLabelKey is a label key for front matter keys that are not valid as label keys. The label's value is a JSON
// object with the front matter key and its value.
const fallbackLabelKey = "okf"

// okfHeader contains the properties of an entry that an oxbow export writes in the front matter below the key "oxbow".
// Files from other programs do not have this key.
type okfHeader struct {
	Created time.Time `yaml:"created"`
	Updated time.Time `yaml:"updated"`
	Kind    string    `yaml:"kind"`
	// keys that the export computed from the entry; an import ignores them
	ComputedKeys []string `yaml:"derived"`
	// labels of the entry that cannot be front matter keys of their own, because the Open Knowledge Format gives these
	// keys another meaning
	Labels map[string][]string `yaml:"labels"`
}

// readConcept reads a concept, which is a Markdown file in the Open Knowledge Format, and yields the concept as one
// item. If oxbow exported the concept, the item is equal to the exported entry. Otherwise the concept's path becomes an
// alias of the entry. If the file does not begin with valid front matter or is too long, readConcept yields an error
// and then reads the file as Markdown. If the concept cannot be converted to an item, readConcept yields only an error.
func readConcept(r *bufio.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		b, err := io.ReadAll(io.LimitReader(r, maxMarkdownBytes+1))
		if err != nil {
			yield(Item{}, fmt.Errorf("reading %s: %w", inputName, err))
			return
		}
		data, body, hasFront := frontmatter.SplitFrontMatter(string(b))
		var doc yaml.Node
		mayBeConcept := hasFront && len(b) <= maxMarkdownBytes
		if !mayBeConcept || !decodeMapping(data, &doc) {
			if !yield(Item{}, newItemError(lineRef(inputName, 1), errNotConcept)) {
				return
			}
			// Read the file as Markdown, so that its text is kept in any case.
			ReadMarkdown(bytes.NewReader(b), inputName, o)(yield)
			return
		}
		it, err := convertConcept(doc.Content[0], body, inputName, o)
		if err != nil {
			yield(Item{}, newItemError(lineRef(inputName, 1), err))
			return
		}
		yieldItem(yield, it)
	}
}

// errNotConcept is returned for a file that has no front matter although it is in a bundle. A bundle is a directory of
// concepts, which are Markdown files with front matter. The text of the file is imported as Markdown.
var errNotConcept = errors.New(
	"is no concept of OKF, because its front matter is missing or is not YAML; it is read as " +
		"plain Markdown",
)

// convertConcept converts a concept to an item. frontMatter is the concept's front matter, and body is the concept's
// text. If oxbow exported the concept, the item has the labels, the kind and the times of the exported entry. Otherwise
// the path of the concept becomes an alias.
func convertConcept(frontMatter *yaml.Node, body, inputName string, o *ReadOptions) (Item, error) {
	it := Item{Position: lineRef(inputName, 1), Origin: inputName}
	var own okfHeader
	isOwn := false
	for key, value := range mappingPairs(frontMatter) {
		mayBeOwn := key.Value == oxbowPropertiesKey && value.Kind == yaml.MappingNode
		if mayBeOwn && value.Decode(&own) == nil {
			isOwn = true
		}
	}
	for key, value := range mappingPairs(frontMatter) {
		if key.Value != oxbowPropertiesKey && !slices.Contains(own.ComputedKeys, key.Value) {
			it.applyConceptKey(key.Value, value)
		}
		isFirstTime := key.Value == conceptTimestampKey && it.Entry.Updated.IsZero()
		if key.Value == conceptGeneratedKey || isFirstTime {
			it.Entry.Updated = parseOKFTime(value, o)
		}
	}
	body = strings.TrimPrefix(body, "\n")
	body = strings.TrimSuffix(body, "\n")
	// it.Entry.Content now contains the front matter values that cannot become labels. Append these values to the text
	// of the file.
	it.Entry.Content = body + it.Entry.Content
	title, _ := titleFromFileName(inputName)
	if it.Entry.Name == "" {
		it.Entry.Name = title
	}
	if !isOwn {
		it.Entry.Created = it.Entry.Updated
		id := strings.TrimSuffix(strings.TrimPrefix(inputName, o.orDefault().root+"/"), path.Ext(inputName))
		it.Entry.Aliases = tidyAliases(it.Entry.Name, append(it.Entry.Aliases, makeValidName(id, oxbow.MaxName)))
		return it, nil
	}
	// Clear the origin, so that the item gets no label with the origin. The label is not needed, because oxbow exported
	// this file. A later import recognizes the entry by its name and dates.
	it.Origin = ""
	it.Entry.Created = own.Created.UTC()
	it.Entry.Updated = own.Updated.UTC()
	for key, values := range own.Labels {
		for _, v := range values {
			it.Entry.Labels = append(it.Entry.Labels, oxbow.Label{Key: key, Value: v})
		}
	}
	kind, err := parseKind(own.Kind)
	it.Entry.Kind = kind
	return it, err
}

// decodeMapping decodes front matter into doc. It reports whether data is a mapping.
func decodeMapping(data string, doc *yaml.Node) bool {
	return yaml.Unmarshal([]byte(data), doc) == nil && len(doc.Content) > 0 &&
		doc.Content[0].Kind == yaml.MappingNode
}

// mappingPairs yields the keys and values of a mapping.
func mappingPairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(*yaml.Node, *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// parseOKFTime returns the time in a node. The node contains either a time, or a mapping in which the key "at" has the
// time. For any other node, parseOKFTime returns the zero time.
func parseOKFTime(n *yaml.Node, o *ReadOptions) time.Time {
	if n.Kind == yaml.MappingNode {
		for key, value := range mappingPairs(n) {
			if key.Value == "at" {
				return parseOKFTime(value, o)
			}
		}
	}
	t, err := parseDate(n.Value, o.location())
	if err != nil {
		return time.Time{}
	}
	return t
}

// applyConceptKey sets the entry's field that corresponds to a key in the front matter. The key conceptTitleKey sets
// the name, and conceptTypeKey sets the kind if its value is a valid kind. The values of all other keys, and of keys
// with unsuitable values, are passed to applyOKFValue, which adds aliases or labels.
func (it *Item) applyConceptKey(key string, value *yaml.Node) {
	values := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		values = value.Content
	}
	isScalar := value.Kind == yaml.ScalarNode
	switch {
	case key == conceptTitleKey && isScalar:
		it.Entry.Name = makeValidName(value.Value, oxbow.MaxName)
		return
	case key == conceptTypeKey && isScalar:
		if kind, err := oxbow.ParseKind(value.Value); err == nil {
			it.Entry.Kind = kind
			return
		}
	}
	for _, v := range values {
		it.applyOKFValue(key, v)
	}
}

// applyOKFValue adds one value of a front matter key to the entry, as an alias or a label.
func (it *Item) applyOKFValue(key string, v *yaml.Node) {
	switch {
	case frontmatter.IsNull(v):
	case key == conceptAliasesKey && v.Kind == yaml.ScalarNode && oxbow.CheckName(v.Value) == nil:
		it.Entry.Aliases = append(it.Entry.Aliases, v.Value)
	case key == conceptTagsKey && v.Kind == yaml.ScalarNode:
		for _, tag := range oxbow.SplitTags(v.Value) {
			it.addConceptLabel(oxbow.LabelTag, key, tag)
		}
	case v.Kind == yaml.ScalarNode:
		it.addConceptLabel(key, key, v.Value)
	default:
		it.addConceptLabel(key, key, nodeToJSON(v))
	}
}

// addConceptLabel adds a label with the key labelKey and the given value to the item. If value is empty,
// addConceptLabel does nothing.
//
// If the label is not valid, or if only programs may set it, addConceptLabel instead adds a label with the key
// fallbackLabelKey, which is okf. The value of this label is a JSON object with originalKey and value. If this label is
// too long, or if the entry has maxHeaderLabels labels, addConceptLabel writes originalKey and value below the entry's
// text and adds a warning.
func (it *Item) addConceptLabel(labelKey, originalKey, value string) {
	l := oxbow.Label{Key: labelKey, Value: value}
	if value == "" {
		return
	}
	isProgram := isLabelSetByProgram(l) || isImportLabel(l) || l.Key == oxbow.LabelVerified ||
		l.Key == oxbow.LabelPersonal
	if l.Check() != nil || isProgram {
		l = oxbow.Label{
			Key:   fallbackLabelKey,
			Value: fmt.Sprintf("{%s:%s}", quoteJSONText(originalKey), jsonOrText(value)),
		}
	}
	if l.Check() != nil || len(it.Entry.Labels) >= maxHeaderLabels {
		it.Entry.Content += "\n\n" + originalKey + ": " + value
		it.Warnings = append(it.Warnings,
			fmt.Sprintf("%s: %s is kept with the text, because it is too long for a label", it.Position, originalKey))
		return
	}
	it.Entry.Labels = append(it.Entry.Labels, l)
}

// jsonOrText returns the text value in the form of JSON. If the text is a JSON object or array, jsonOrText returns the
// text unchanged. Otherwise it returns the text as a JSON string.
func jsonOrText(value string) string {
	if isJSONCollection(value) {
		return value
	}
	return string(quoteJSONText(value))
}

// isJSONCollection reports whether the value is a JSON object or array.
func isJSONCollection(value string) bool {
	return (strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[")) && json.Valid([]byte(value))
}

// nodeToJSON returns a YAML node as JSON. The members of mappings and lists keep the order of the file. Numbers,
// booleans and null are not quoted if their text is valid JSON. Any other scalar becomes a JSON string.
func nodeToJSON(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for key, value := range mappingPairs(n) {
			parts = append(parts, string(quoteJSONText(key.Value))+":"+nodeToJSON(value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case yaml.SequenceNode:
		for _, value := range n.Content {
			parts = append(parts, nodeToJSON(value))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	isPlainJSON := slices.Contains([]string{"!!int", "!!float", "!!bool", "!!null"}, n.ShortTag())
	if isPlainJSON && json.Valid([]byte(n.Value)) {
		return n.Value
	}
	return string(quoteJSONText(n.Value))
}

// isBundleIndex reports whether the front matter of the text contains the key okf_version. A directory whose index has
// this key is an OKF bundle.
func isBundleIndex(text []byte) bool {
	data, _, ok := frontmatter.SplitFrontMatter(string(text))
	return ok && strings.Contains(data, "okf_version:")
}

// maxSampledFiles limits how many files in a directory are sampled to recognize a bundle, which is a directory of
// Markdown files in the Open Knowledge Format. The front matter of the sampled files is read.
const maxSampledFiles = 20

// isConceptBundle reports whether a directory is an OKF bundle (a directory of Markdown files, each with a type in its
// front matter) although its index lacks okf_version. It reads a sample of the files in the directory and its
// subdirectories. Each file in the sample must have a type. At least one file must name its generator in generated.by.
func isConceptBundle(fsys vfs.FS, dir string) bool {
	isGenerated := false
	for _, file := range findSampleConceptFiles(fsys, dir) {
		head, err := vfs.ReadFile(fsys, file, maxMarkdownBytes)
		if err != nil {
			return false
		}
		data, _, _ := frontmatter.SplitFrontMatter(string(head))
		var front struct {
			Type      string `yaml:"type"`
			Generated struct {
				By string `yaml:"by"`
			} `yaml:"generated"`
		}
		if yaml.Unmarshal([]byte(data), &front) != nil || front.Type == "" {
			return false
		}
		isGenerated = isGenerated || front.Generated.By != ""
	}
	return isGenerated
}

// findSampleConceptFiles returns at most maxSampledFiles files that may be concepts. It searches the directory dir and
// the directories directly below it, except hidden directories.
func findSampleConceptFiles(fsys vfs.FS, dir string) (files []string) {
	list, err := fsys.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, d := range list {
		below := path.Join(dir, d.Name())
		all = append(all, below)
		if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			continue
		}
		// Ignore the error. A directory that cannot be read counts as a directory without files.
		names, _ := fsys.ReadDir(below)
		for _, name := range names {
			all = append(all, path.Join(below, name.Name()))
		}
	}
	for _, file := range all {
		if path.Ext(file) == ".md" && checkConceptFile(file) == nil && len(files) < maxSampledFiles {
			files = append(files, file)
		}
	}
	return files
}

// checkConceptFile returns nil if the file contains a concept, the unit of text that becomes an entry. It returns an
// error for index.md, which is derived from the concepts, for log.md, which contains the history of the concepts, and
// for each file that is not Markdown.
func checkConceptFile(file string) error {
	switch base := path.Base(file); {
	case base == "index.md":
		return errIgnoredFile
	case base == "log.md":
		return &skippedError{"was passed over: it is the log of the bundle, and no concept"}
	case formatByExtension(base) != Markdown:
		return errOtherExtension
	}
	return nil
}
