// This file converts records of other programs to items. A field of a record is treated like the front matter key with
// the same name, so that an unknown field becomes a label.

package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// errDeleted is returned for a record that its program marks as deleted. The report lists the record among the notes
// and not among the problems.
var errDeleted = errors.New("was passed over: it is deleted in the program that wrote it")

// errRecordWithoutMemory is returned for a record that only describes other records, such as a session without a
// summary. Such a record is skipped and does not appear in the report.
var errRecordWithoutMemory = errors.New("is no memory")

// programExportFormat specifies how records are read from an export of another memory program.
type programExportFormat struct {
	format        Format
	jsonListNames documentListNames

	// convert returns the item for a record. If the record contains nothing to import, it returns an error such as
	// errDeleted.
	convert func(o locatedJSONObject, opts *ReadOptions) (Item, error)
}

// readRecords converts each record (JSON object) that another program has exported to an item. It skips records for
// which the function convert returns errRecordWithoutMemory, because they are not memories. It yields an error for a
// record that cannot be converted, and continues with the next record. Any other error ends the sequence.
func (p programExportFormat) readRecords(
	objects iter.Seq2[locatedJSONObject, error],
	o *ReadOptions,
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for rec, err := range objects {
			var it Item
			if err == nil {
				it, err = p.convert(rec, o)
				if err == errRecordWithoutMemory {
					continue
				}
				err = rec.itemError(err)
			}
			if err != nil {
				if !yield(Item{}, err) || !isItemError(err) {
					return
				}
			} else if !yieldItem(yield, it) {
				return
			}
		}
	}
}

// recordForm says how the fields in a program's records become the parts of an item.
type recordForm struct {
	format Format
	// Fields that together identify a record. The last field is the record's own ID. The fields before it, such as the
	// session's ID, become the beginning of the whole ID.
	idFields   []string
	textFields []string // fields whose texts become the content, joined as paragraphs

	// frontMatterKeyByField maps other fields to the front matter key with the same meaning. A field that is mapped to
	// "" is omitted, because it has a meaning only within the program. A field that is not in the map keeps its name.
	frontMatterKeyByField map[string]string
}

// toItem converts a record to an item. The text fields of the record become the content, and all other known fields
// become the name, the times and the labels. If the record has no text, the error is errFileWithoutText.
func (f recordForm) toItem(o locatedJSONObject, opts *ReadOptions) (Item, error) {
	it := Item{Position: o.position, Origin: string(f.format)}
	var paragraphs []string
	for _, name := range f.textFields {
		s, err := o.fields.textValue(name)
		if err != nil {
			return it, err
		}
		s = strings.TrimSpace(s)
		if s != "" {
			paragraphs = append(paragraphs, s)
		}
	}
	id, err := f.recordID(o.fields)
	if err != nil {
		return it, err
	}
	h := readHeader(f.frontMatterKeys(o), o.position, withUTCLocation(opts))
	it.Entry = h.entry
	it.UnknownKeyLabels = h.unknownKeyLabels
	it.Warnings = h.warnings
	it.Entry.Content = strings.TrimRight(h.textAboveContent(), "\n")
	for _, p := range paragraphs {
		it.appendText(p)
	}
	if it.Entry.Content == "" {
		return it, errFileWithoutText
	}
	it.Entry.Name = deriveMissingName(it.Entry.Name, it.Entry.Content)
	it.ID = makeValidName(id, oxbow.MaxName)
	return it, nil
}

// recordID returns the ID of a record. The ID joins the values of the fields in f.idFields with slashes. Only the last
// of these fields must be present. If it is missing, recordID returns "". The fields before it contain the ID of the
// record's session, because a number in the last field is unique only within one database.
func (f recordForm) recordID(o jsonObject) (string, error) {
	var parts []string
	last := ""
	for _, name := range f.idFields {
		var err error
		last, err = o.textOrNumber(name)
		if err != nil {
			return "", err
		}
		if last != "" {
			parts = append(parts, last)
		}
	}
	if last == "" {
		return "", nil
	}
	return strings.Join(parts, "/"), nil
}

// appendText appends a paragraph to the content.
func (it *Item) appendText(paragraph string) {
	if paragraph == "" {
		return
	}
	if it.Entry.Content != "" {
		it.Entry.Content += "\n\n"
	}
	it.Entry.Content += paragraph
}

// deriveMissingName returns the name. For an empty name, it returns a name made from the content.
func deriveMissingName(name, content string) string {
	if name != "" {
		return name
	}
	return text.DeriveName(content)
}

// withUTCLocation returns options with UTC as the time zone, because databases write dates in UTC without a time zone.
func withUTCLocation(o *ReadOptions) *ReadOptions {
	opts := o.orDefault()
	opts.Location = time.UTC
	return &opts
}

// frontMatterKeys returns fields of a record as front matter keys. It leaves out the field with the ID, the fields with
// the text, and the fields that f.frontMatterKeyByField lists with an empty name.
func (f recordForm) frontMatterKeys(o locatedJSONObject) []frontMatterKey {
	keys := make([]frontMatterKey, 0, len(o.fields))
	line := lineOfRef(o.position)
	for _, fd := range o.fields {
		name, isListed := f.frontMatterKeyByField[fd.key]
		isID := len(f.idFields) > 0 && fd.key == f.idFields[len(f.idFields)-1]
		isIgnored := isListed && name == ""
		isText := slices.Contains(f.textFields, fd.key)
		isUsed := isID || isText
		if isUsed || isIgnored {
			continue
		}
		if !isListed {
			name = fd.key
		}
		keys = appendJSONKeys(keys, name, fd.rawValue, line)
	}
	return keys
}

// lineOfRef returns the line number in a reference file:line.
func lineOfRef(position string) int {
	line, _ := strconv.Atoi(
		strings.TrimPrefix(position[len(fileOfRef(position)):], ":"),
	) // Without a line number, line is 0.
	return line
}

// appendJSONKeys converts the JSON value in the argument raw to front matter keys, and returns the slice keys extended
// by these keys. The argument name is the name of the value. A scalar or a list becomes one key. An object becomes one
// key for each of its members, and the key is named after the object and the member, such as owner.name. If the object
// itself is named metadata, its members get their own names without "metadata." before them. Objects in a list become
// keys of their own, which follow the key of the list.
func appendJSONKeys(keys []frontMatterKey, name string, raw json.RawMessage, line int) []frontMatterKey {
	k := frontMatterKey{name: name, normalizedKey: frontmatter.FoldKeySpelling(name), line: line}
	switch raw[0] {
	case '{':
		member := ""
		isKey := false
		for part := range rawjson.EachElement(raw) {
			isKey = !isKey
			if isKey {
				member = rawjson.UnquoteString(part)
				continue
			}
			if k.normalizedKey != "metadata" {
				member = name + "." + member
			}
			keys = appendJSONKeys(keys, member, part, line)
		}
		return keys
	case '[':
		k.isList = true
		var nested []frontMatterKey
		for part := range rawjson.EachElement(raw) {
			for _, sub := range appendJSONKeys(nil, name, part, line) {
				if sub.normalizedKey == k.normalizedKey {
					k.values = append(k.values, sub.values...)
				} else {
					nested = append(nested, sub)
				}
			}
		}
		return append(append(keys, k), nested...)
	}
	s := string(raw)
	if raw[0] == '"' {
		s = rawjson.UnquoteString(raw)
	}
	if strings.IndexByte(s, 0) >= 0 {
		k.err = fmt.Errorf("%s: %w: %s", k.name, errInvalidEscapes, truncateAndQuote(s))
	} else if s != "" && s != "null" {
		k.values = []string{s}
	}
	return append(keys, k)
}

// addLabel adds a label to the item. It ignores an empty value. If the label is invalid or the item already has
// maxHeaderLabels labels, addLabel appends the key and the value to the item's text instead.
func (it *Item) addLabel(key, value string) {
	l := oxbow.Label{Key: key, Value: strings.Join(strings.Fields(value), " ")}
	switch {
	case l.Value == "":
	case l.Check() != nil || len(it.Entry.Labels) >= maxHeaderLabels:
		it.appendText(key + ": " + value)
	default:
		it.Entry.Labels = append(it.Entry.Labels, l)
	}
}

// hasTextField reports whether the object has one of the fields and its value is a string.
func hasTextField(o jsonObject, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		raw, ok := o.rawValue(key)
		return ok && raw[0] == '"'
	})
}

// missingTextFieldError returns the error for a record without the field that should contain its text.
func missingTextFieldError(key string) error {
	return fmt.Errorf("has no text in the field %s", truncateAndQuote(key))
}

// quoteJSONText returns a text as a JSON string.
func quoteJSONText(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`) // A string can always be encoded, so this is not reached.
	}
	return b
}
