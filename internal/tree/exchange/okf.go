// This file reads bundles of the Open Knowledge Format, version 0.2: directories of Markdown files, each
// with front matter that has a type. A file named index.md or log.md is no concept.

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

// The keys of front matter that have a field in an entry. All other keys become labels. The form of such a label
// allows an export to write the key again unchanged.
const (
	okfType      = "type"
	okfTitle     = "title"
	okfTags      = "tags"
	okfAliases   = "aliases"
	okfGenerated = "generated"
	okfTimestamp = "timestamp" // of version 0.1
	okfOxbowKey  = "oxbow"     // keys that an oxbow export adds
)

// okfLabel is the label key for front matter keys that no label can have. The value is a JSON
// object with the key.
const okfLabel = "okf"

// okfHeader is the part of the front matter that only oxbow's exports have.
type okfHeader struct {
	Created time.Time `yaml:"created"`
	Updated time.Time `yaml:"updated"`
	Kind    string    `yaml:"kind"`
	// keys that the export computed from the entry, so that an import ignores them
	Derived []string            `yaml:"derived"`
	Labels  map[string][]string `yaml:"labels"` // labels whose keys have another meaning in the format
}

// readOKF reads a concept as a single entry. A concept in an oxbow export becomes the entry that
// was exported. In another bundle, the concept's path is an alias.
func readOKF(r *bufio.Reader, ref string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		b, err := io.ReadAll(io.LimitReader(r, maxMarkdown+1))
		if err != nil {
			yield(Item{}, fmt.Errorf("reading %s: %w", ref, err))
			return
		}
		data, body, hasFront := frontmatter.SplitFrontMatter(string(b))
		var doc yaml.Node
		mayBeConcept := hasFront && len(b) <= maxMarkdown
		if !mayBeConcept || !isMapping(data, &doc) {
			if !yield(Item{}, newItemError(lineRef(ref, 1), errNoConcept)) {
				return
			}
			// read the file as Markdown, so that the text is kept in any case
			ReadMarkdown(bytes.NewReader(b), ref, o)(yield)
			return
		}
		it, err := okfItem(doc.Content[0], body, ref, o)
		if err != nil {
			yield(Item{}, newItemError(lineRef(ref, 1), err))
			return
		}
		yieldItem(yield, it)
	}
}

// errNoConcept is returned for a file of a bundle that has no front matter. The file's text is
// imported as ordinary Markdown.
var errNoConcept = errors.New(
	"is no concept of OKF, because its front matter is missing or is not YAML; it is read as " +
		"plain Markdown",
)

// okfItem converts a concept, which has the front matter front and the text body. If oxbow exported the concept, the
// item has the labels, kind and times of the exported entry. Otherwise the concept's path becomes an alias.
func okfItem(front *yaml.Node, body, ref string, o *ReadOptions) (Item, error) {
	it := Item{Ref: lineRef(ref, 1), Origin: ref}
	var own okfHeader
	isOwn := false
	for key, value := range mappingPairs(front) {
		mayBeOwn := key.Value == okfOxbowKey && value.Kind == yaml.MappingNode
		if mayBeOwn && value.Decode(&own) == nil {
			isOwn = true
		}
	}
	for key, value := range mappingPairs(front) {
		if key.Value != okfOxbowKey && !slices.Contains(own.Derived, key.Value) {
			it.applyOKF(key.Value, value)
		}
		isFirstTime := key.Value == okfTimestamp && it.Entry.Updated.IsZero()
		if key.Value == okfGenerated || isFirstTime {
			it.Entry.Updated = okfTime(value, o)
		}
	}
	body = strings.TrimPrefix(body, "\n")
	body = strings.TrimSuffix(body, "\n")
	it.Entry.Content = body + it.Entry.Content // values that cannot be a label come before the text
	title, _ := fileTitle(ref)
	if it.Entry.Name == "" {
		it.Entry.Name = title
	}
	if !isOwn {
		it.Entry.Created = it.Entry.Updated
		id := strings.TrimSuffix(strings.TrimPrefix(ref, o.orDefault().root+"/"), path.Ext(ref))
		it.Entry.Aliases = tidyAliases(it.Entry.Name, append(it.Entry.Aliases, cleanName(id, oxbow.MaxName)))
		return it, nil
	}
	it.Origin = "" // clear the origin, because an exported entry is recognized by its name and dates
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

// isMapping decodes front matter, and reports whether it is a mapping.
func isMapping(data string, doc *yaml.Node) bool {
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

// okfTime returns the time in generated.at, or a time itself. It returns the zero time for other values.
func okfTime(n *yaml.Node, o *ReadOptions) time.Time {
	if n.Kind == yaml.MappingNode {
		for key, value := range mappingPairs(n) {
			if key.Value == "at" {
				return okfTime(value, o)
			}
		}
	}
	t, err := parseDate(n.Value, o.location())
	if err != nil {
		return time.Time{}
	}
	return t
}

// applyOKF sets the part of the entry that a front matter key describes.
func (it *Item) applyOKF(key string, value *yaml.Node) {
	values := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		values = value.Content
	}
	isScalar := value.Kind == yaml.ScalarNode
	switch {
	case key == okfTitle && isScalar:
		it.Entry.Name = cleanName(value.Value, oxbow.MaxName)
		return
	case key == okfType && isScalar:
		if kind, err := oxbow.ParseKind(value.Value); err == nil {
			it.Entry.Kind = kind
			return
		}
	}
	for _, v := range values {
		it.applyOKFValue(key, v)
	}
}

// applyOKFValue sets the part of the entry that a key's value describes.
func (it *Item) applyOKFValue(key string, v *yaml.Node) {
	switch {
	case frontmatter.IsNull(v):
	case key == okfAliases && v.Kind == yaml.ScalarNode && oxbow.CheckName(v.Value) == nil:
		it.Entry.Aliases = append(it.Entry.Aliases, v.Value)
	case key == okfTags && v.Kind == yaml.ScalarNode:
		for _, tag := range oxbow.SplitTags(v.Value) {
			it.addOKFLabel(oxbow.LabelTag, key, tag)
		}
	case v.Kind == yaml.ScalarNode:
		it.addOKFLabel(key, key, v.Value)
	default:
		it.addOKFLabel(key, key, nodeJSON(v))
	}
}

// addOKFLabel adds a value as a label. A key that no label can have, or that only programs may set, is stored in a
// label with the key okf. A value that is too long is put below the text.
func (it *Item) addOKFLabel(labelKey, key, value string) {
	l := oxbow.Label{Key: labelKey, Value: value}
	if value == "" {
		return
	}
	isProgram := isStamp(l) || isImportMark(l) || l.Key == oxbow.LabelVerified || l.Key == oxbow.LabelPersonal
	if l.Check() != nil || isProgram {
		l = oxbow.Label{Key: okfLabel, Value: fmt.Sprintf("{%s:%s}", quotedText(key), jsonOrText(value))}
	}
	if l.Check() != nil || len(it.Entry.Labels) >= maxHeaderLabels {
		it.Entry.Content += "\n\n" + key + ": " + value
		it.Warnings = append(it.Warnings,
			fmt.Sprintf("%s: %s is kept with the text, because it is too long for a label", it.Ref, key))
		return
	}
	it.Entry.Labels = append(it.Entry.Labels, l)
}

// jsonOrText returns a value that is JSON unchanged, and another value as a JSON string.
func jsonOrText(value string) string {
	if isJSONCollection(value) {
		return value
	}
	return string(quotedText(value))
}

// isJSONCollection reports whether the value is a JSON object or array.
func isJSONCollection(value string) bool {
	return (strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[")) && json.Valid([]byte(value))
}

// nodeJSON returns a mapping or a list as JSON, in the order of the file. Numbers and booleans stay as they
// are.
func nodeJSON(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for key, value := range mappingPairs(n) {
			parts = append(parts, string(quotedText(key.Value))+":"+nodeJSON(value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case yaml.SequenceNode:
		for _, value := range n.Content {
			parts = append(parts, nodeJSON(value))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	isPlainJSON := slices.Contains([]string{"!!int", "!!float", "!!bool", "!!null"}, n.ShortTag())
	if isPlainJSON && json.Valid([]byte(n.Value)) {
		return n.Value
	}
	return string(quotedText(n.Value))
}

// isOKFIndex reports whether the index of a directory says that the directory is a bundle.
func isOKFIndex(text []byte) bool {
	data, _, ok := frontmatter.SplitFrontMatter(string(text))
	return ok && strings.Contains(data, "okf_version:")
}

// maxSampled is the number of files by whose front matter a bundle is recognized.
const maxSampled = 20

// isOKFBundle reports whether the files below a directory are concepts, although its index has no okf_version. Each
// file in the directory and in its subdirectories must have a type, and one must say who generated it.
func isOKFBundle(fsys vfs.FS, dir string) bool {
	isGenerated := false
	for _, file := range sampleConcepts(fsys, dir) {
		head, err := vfs.ReadFile(fsys, file, maxMarkdown)
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

// sampleConcepts returns at most maxSampled files that may be concepts, from a directory and its subdirectories.
func sampleConcepts(fsys vfs.FS, dir string) (files []string) {
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
		names, _ := fsys.ReadDir(below) // an unreadable directory has no concepts
		for _, name := range names {
			all = append(all, path.Join(below, name.Name()))
		}
	}
	for _, file := range all {
		if path.Ext(file) == ".md" && checkOKFFile(file) == nil && len(files) < maxSampled {
			files = append(files, file)
		}
	}
	return files
}

// checkOKFFile returns nil for a concept. An index is derived from the concepts, and a log is their history.
func checkOKFFile(file string) error {
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
