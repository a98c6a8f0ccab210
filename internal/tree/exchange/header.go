// This file converts the keys in front matter to the fields and labels of entries.

package exchange

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// noteHeader contains the values from front matter, which apply to all entries of a file.
type noteHeader struct {
	entry       oxbow.Entry // Name is "" if the front matter lacks a name.
	description string
	// Texts "key: value" for the values in front matter that cannot become labels. They are kept as paragraphs of the
	// content.
	paragraphs       []string
	warnings         []string
	unknownKeyLabels []oxbow.Label // labels made from keys that no field of an entry corresponds to

	inputName string
	opts      *ReadOptions
	seenKeys  map[string]bool // keys of the front matter that were already read, to notice a key that occurs twice
}

// headerField is a front matter key that corresponds to a field of an entry.
type headerField struct {
	key              string
	allowsManyValues bool // The key may have several values.
	setValue         func(*noteHeader, frontMatterKey)
}

// headerFields lists the front matter keys that set a field of an entry, such as its name. All other keys become
// labels.
var headerFields = []headerField{
	{"name", false, (*noteHeader).setName},
	{"title", false, (*noteHeader).setName},
	{"description", false, func(h *noteHeader, k frontMatterKey) { h.description = strings.TrimSpace(k.value()) }},
	{"tags", true, (*noteHeader).addTags},
	{"aliases", true, (*noteHeader).addAliases},
	{"project", true, func(h *noteHeader, k frontMatterKey) { h.addLabels(k, oxbow.LabelProject, k.values...) }},
	{"related_files", true, func(h *noteHeader, k frontMatterKey) { h.addLabels(k, oxbow.LabelFile, k.values...) }},
	{"confidence", false, (*noteHeader).setConfidence},
	{"created", false, (*noteHeader).setCreationTime},
	{"date", false, (*noteHeader).setCreationTime},
	{"kind", false, (*noteHeader).setKind},
	// If the value is not a kind of entries, such as fact, setType adds a label with the value.
	{"type", false, (*noteHeader).setType},
}

// readHeader converts the keys of front matter. Values that it cannot use become warnings.
func readHeader(keys []frontMatterKey, inputName string, o *ReadOptions) noteHeader {
	h := noteHeader{inputName: inputName, opts: o, seenKeys: make(map[string]bool)}
	for _, k := range keys {
		h.applyFrontMatterKey(k)
	}
	h.entry.Aliases = tidyAliases(h.entry.Name, h.entry.Aliases)
	return h
}

// addSecondFrontMatter adds the values of a second block of front matter, with which the content begins. This block is
// not removed from the content. If both blocks have a value for the same key, the value in the first block is used.
func (h *noteHeader) addSecondFrontMatter(keys []frontMatterKey) {
	second := readHeader(keys, h.inputName, h.opts)
	e := &h.entry
	e.Name = cmp.Or(e.Name, second.entry.Name)
	if e.Created.IsZero() {
		e.Created = second.entry.Created
	}
	if !h.seenKeys["kind"] && !h.seenKeys["type"] {
		e.Kind = second.entry.Kind
	}
	e.Aliases = tidyAliases(e.Name, append(e.Aliases, second.entry.Aliases...))
	e.Aliases = e.Aliases[:min(len(e.Aliases), oxbow.MaxAliases)]
	room := max(0, maxHeaderLabels-len(e.Labels))
	e.Labels = append(e.Labels, second.entry.Labels[:min(room, len(second.entry.Labels))]...)
	h.unknownKeyLabels = append(h.unknownKeyLabels, second.unknownKeyLabels...)
}

// applyFrontMatterKey sets the entry's field that corresponds to the front matter key k (see headerFields). If no field
// corresponds to the key, its values become labels. Comments, and values that are not valid for the field, are kept as
// paragraphs. Invalid values also cause a warning.
func (h *noteHeader) applyFrontMatterKey(k frontMatterKey) {
	if twin, ok := usualKeyBySpelling[k.normalizedKey]; ok {
		k.normalizedKey = twin
	}
	if k.err != nil {
		h.addWarning(k, "front matter is kept with the text: %v", k.err)
	}
	if k.rawLines != "" {
		h.addRawLines(k.rawLines)
	}
	if k.comment != "" {
		h.addRawLines(k.name + ": " + strings.TrimSpace(strings.Join(k.values, ", ")+" "+k.comment))
	}
	if len(k.values) == 0 {
		h.warnEmptyKey(k)
		return
	}
	for _, f := range headerFields {
		if f.key != k.normalizedKey {
			continue
		}
		switch {
		case h.seenKeys[k.normalizedKey] && !f.allowsManyValues:
			h.addWarning(
				k,
				"%s is given twice; the first is used, and %s is kept with the text",
				k.name,
				truncateAndQuote(strings.Join(k.values, ", ")),
			)
			h.addParagraph(k, strings.Join(k.values, ", "))
		case !f.allowsManyValues && len(k.values) != 1:
			h.addWarning(
				k,
				"%s takes one value; %s is kept with the text",
				k.name,
				truncateAndQuote(strings.Join(k.values, ", ")),
			)
			h.addParagraph(k, strings.Join(k.values, ", "))
		default:
			h.seenKeys[k.normalizedKey] = true
			f.setValue(h, k)
		}
		return
	}
	if near := findMisspeltField(k.normalizedKey); near != "" && !h.seenKeys[k.normalizedKey] {
		h.addWarning(k, "key %s is kept as a label; did you mean %s?", truncateAndQuote(k.name), near)
	}
	h.seenKeys[k.normalizedKey] = true
	at := len(h.entry.Labels)
	h.addLabels(k, frontmatter.MakeLabelKey(k.normalizedKey), k.values...)
	h.unknownKeyLabels = append(h.unknownKeyLabels, h.entry.Labels[at:]...)
}

// findMisspeltField returns a key in headerFields that differs from key only by one typing error, or "".
func findMisspeltField(key string) string {
	const shortest = 3 // A front matter key with fewer letters could be mistaken for a misspelt form of too many keys.
	if len(key) < shortest {
		return ""
	}
	for _, f := range headerFields {
		if mayDifferByOneTypingError(key, f.key) && text.EditDistance([]byte(key), []byte(f.key)) == 1 {
			return f.key
		}
	}
	return ""
}

// mayDifferByOneTypingError is a fast test of two words, which saves most computations of the edit distance. If
// mayDifferByOneTypingError returns false, the words differ by more than one typing error. One typing error changes at
// most two adjacent bytes. Therefore the bytes before the error must be equal in both words, and the bytes after the
// error must be equal too.
func mayDifferByOneTypingError(a, b string) bool {
	shorter := min(len(a), len(b))
	if max(len(a), len(b))-shorter > 1 {
		return false
	}
	start := 0
	for start < shorter && a[start] == b[start] {
		start++
	}
	end := 0
	for end < shorter-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return start+end >= shorter-2
}

// warnEmptyKey adds a warning if the key k has no value, because such a key cannot become a label. For the keys in
// headerFields, such as tags, it adds no warning, because an empty key of this kind has the same effect as a missing
// key.
func (h *noteHeader) warnEmptyKey(k frontMatterKey) {
	isField := slices.ContainsFunc(headerFields, func(f headerField) bool { return f.key == k.normalizedKey })
	if k.isEmpty && !isField {
		h.addWarning(k, "property %s has no value, so it is left out", truncateAndQuote(k.name))
	}
}

// addParagraph keeps a front matter value that cannot become a label. The key and the value are put above the text of
// the file's first entry.
func (h *noteHeader) addParagraph(k frontMatterKey, value string) {
	h.paragraphs = append(h.paragraphs, k.name+": "+value)
}

// addRawLines keeps lines of front matter unchanged above the text. A comment is escaped, because Markdown would show
// it as a heading.
func (h *noteHeader) addRawLines(raw string) {
	if strings.HasPrefix(raw, "#") {
		raw = `\` + raw
	}
	h.paragraphs = append(h.paragraphs, raw)
}

func (h *noteHeader) addWarning(k frontMatterKey, format string, args ...any) {
	h.warnings = append(h.warnings, fmt.Sprintf("%s: %s", lineRef(h.inputName, k.line), fmt.Sprintf(format, args...)))
}

// setName sets the entry's name to the value of the key k, which is a name or a title in the front matter. If the entry
// already has a different name, setName makes one of the two values an alias: if k is the key "name", its value becomes
// the name, and the earlier name becomes an alias. Otherwise the value of k becomes an alias. If the value is too long,
// setName shortens it, adds a warning, and adds the whole value to the entry's text.
func (h *noteHeader) setName(k frontMatterKey) {
	e := &h.entry
	name := makeValidName(k.value(), oxbow.MaxName)
	if len(name) < len(strings.TrimSpace(k.value())) && len(k.value()) > oxbow.MaxName {
		h.addWarning(
			k,
			"%s has %d bytes; the most is %d, so it is cut, and the whole is kept with the text",
			k.normalizedKey,
			len(k.value()),
			oxbow.MaxName,
		)
		h.addParagraph(k, k.value())
	}
	switch {
	case e.Name == "":
		e.Name = name
	case e.Name != name && k.normalizedKey == "name":
		e.Name, e.Aliases = name, append(e.Aliases, e.Name)
	case e.Name != name:
		e.Aliases = append(e.Aliases, name)
	}
}

func (h *noteHeader) addTags(k frontMatterKey) {
	tags := k.values
	if !k.isList {
		tags = []string{k.value()}
	}
	for _, t := range oxbow.SplitTags(tags...) {
		h.addLabels(k, oxbow.LabelTag, strings.TrimPrefix(t, "#"))
	}
}

func (h *noteHeader) addAliases(k frontMatterKey) {
	for _, v := range k.values {
		if err := oxbow.CheckName(v); err != nil {
			h.addWarning(k, "an alias is kept with the text: %v", err)
			h.addParagraph(k, v)
			continue
		}
		if len(h.entry.Aliases) == oxbow.MaxAliases {
			h.addWarning(
				k,
				"alias %s is kept with the text: an entry has at most %d",
				truncateAndQuote(v),
				oxbow.MaxAliases,
			)
			h.addParagraph(k, v)
			continue
		}
		h.entry.Aliases = append(h.entry.Aliases, v)
	}
}

// addLabels adds a label for each value. If a value has several lines, the label contains them as one line, and the
// value is also kept as a paragraph. A value that is not allowed in a label, for example because it is too long, is
// kept only as a paragraph.
func (h *noteHeader) addLabels(sourceKey frontMatterKey, labelKey string, values ...string) {
	for _, v := range values {
		l := oxbow.Label{Key: labelKey, Value: strings.Join(strings.Fields(v), " ")}
		if l.Value == "" {
			continue
		}
		if l.Check() != nil || len(h.entry.Labels) >= maxHeaderLabels {
			h.addParagraph(sourceKey, v)
			continue
		}
		if strings.Contains(strings.TrimSpace(v), "\n") {
			h.addParagraph(sourceKey, v)
		}
		h.entry.Labels = append(h.entry.Labels, l)
	}
}

func (h *noteHeader) setConfidence(k frontMatterKey) {
	c, err := strconv.ParseFloat(k.value(), 64)
	if err != nil || !(c >= 0 && c <= 1) {
		h.addWarning(
			k,
			"confidence %s is kept with the text: it is not a number from 0 to 1",
			truncateAndQuote(k.value()),
		)
		h.addParagraph(k, k.value())
		return
	}
	h.entry.Labels = append(h.entry.Labels, oxbow.Confidence(c))
}

// setCreationTime sets the creation time. If the front matter has the keys created and date, created is used.
func (h *noteHeader) setCreationTime(k frontMatterKey) {
	t, err := parseDate(k.value(), h.opts.location())
	switch {
	case err != nil:
		h.addWarning(k, "%s is kept with the text: %v", k.name, err)
		h.addParagraph(k, k.value())
	case h.entry.Created.IsZero() || k.normalizedKey == "created":
		h.entry.Created = t
	}
}

func (h *noteHeader) setKind(k frontMatterKey) {
	kind, err := parseKind(k.value())
	if err != nil {
		h.addWarning(k, "kind is kept with the text: %v", err)
		h.addParagraph(k, k.value())
		return
	}
	h.entry.Kind = kind
}

// setType sets the kind of the entry to the value of the front matter key "type". Many programs use this key for types
// of their own. Therefore a value that is not a kind becomes a label. The value also becomes a label if the front
// matter has the key "kind" before.
func (h *noteHeader) setType(k frontMatterKey) {
	if kind, err := oxbow.ParseKind(k.value()); err == nil && !h.seenKeys["kind"] {
		h.entry.Kind = kind
		return
	}
	h.addLabels(k, "type", k.value())
}

// tidyAliases returns the aliases without repetitions and without the name.
func tidyAliases(name string, aliases []string) []string {
	var out []string
	seen := map[string]bool{name: true}
	for _, a := range aliases {
		if !seen[a] {
			seen[a] = true
			out = append(out, a)
		}
	}
	return out
}
