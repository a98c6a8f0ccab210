// This file reads entries as JSON lines, which oxbow exports or which people and scripts write.

package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

// entryFields lists the keys that an entry in JSON may have.
var entryFields = []string{"id", "name", "kind", "content", "aliases", "labels", "created", "updated",
	"version", "source", "project", "tags", "related_files", "confidence"}

// keySynonyms maps keys that other programs use to the key that the user probably meant. It is used only in error
// messages.
var keySynonyms = map[string]string{
	"title": "name", "key": "name", "text": "content", "body": "content", "value": "content", "memory": "content",
	"type": "kind", "tag": "tags", "files": "related_files", "file": "related_files", "alias": "aliases",
	"label": "labels", "metadata": "labels", "date": "created", "created_at": "created", "updated_at": "updated",
}

// readJSONL reads JSON objects, such as the lines written by [Export]. The argument inputName is the name of the input.
// It appears in error messages and in the origins of the items.
//
// The keys "name" and "content" are required. The keys "kind" (default: note), "aliases", "created" and "labels" are
// optional. The value of "labels" is a list of {"key":…,"value":…} or an object such as
// {"project":"x","tag":["a","b"]}. The value of "updated" shows whether the item or the entry in the store is newer.
// The keys "id", "version" and "source" are ignored, because their values are valid only in the store that was
// exported. Labels can also be written as "project", "tags", "related_files" (a string or a list of strings) and
// "confidence" (a number from 0 to 1). Any other key is an error.
//
// The official MCP memory server writes a knowledge graph, which consists of entities and relations between them. Its
// lines are recognized because their key "type" has the value "entity" or "relation". An entity becomes a note. The
// content of the note lists the entity's observations, then its relations ("- works at → Acme"). The type of the entity
// becomes a tag. These notes are yielded after all other items. All texts of a knowledge graph together may have at
// most maxGraphBytes bytes.
func readJSONL(r io.Reader, inputName string) iter.Seq2[Item, error] {
	return readObjects(eachJSONObject(r, inputName), inputName)
}

// readObjects converts the JSON objects in lines to items, and yields the items. The objects have the form that
// [readJSONL] describes. They come from the lines of a file or from a JSON document. readObjects collects objects that
// describe the entities and relations of a knowledge graph. At the end, it yields a note for each entity.
func readObjects(lines iter.Seq2[locatedJSONObject, error], inputName string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var g knowledgeGraph
		for l, err := range lines {
			it := Item{Position: l.position}
			read := err == nil
			if read {
				if typ := graphRecordType(l); typ != "" {
					err = g.addGraphLine(typ, l.fields, l.position)
					if err == nil {
						continue
					}
				} else {
					it.Entry, err = parseEntry(l.fields)
				}
			}
			switch {
			case errors.Is(err, errGraphSize):
				err = fmt.Errorf("reading %s: %w", l.position, err)
			case err != nil && read:
				err = l.itemError(err)
			}
			if err != nil {
				if !yield(Item{}, err) || !isItemError(err) {
					return
				}
			} else if !yieldItem(yield, it) {
				return
			}
		}
		g.yieldEntityNotes(inputName, yield)
	}
}

// graphRecordType returns "entity" or "relation" if an object is a part of a knowledge graph, otherwise "".
func graphRecordType(o locatedJSONObject) string {
	switch o.listName {
	case "entities":
		return "entity"
	case "relations":
		return "relation"
	}
	if typ, _ := o.fields.textValue("type"); typ == "entity" || typ == "relation" {
		return typ
	}
	return ""
}

// parseEntry converts an object to an entry. The caller must check the name, the content and the labels.
func parseEntry(o jsonObject) (e oxbow.Entry, err error) {
	if others := o.otherFields(entryFields); len(others) > 0 {
		return e, newUnknownFieldError(others[0])
	}
	for _, key := range []string{"name", "content"} {
		if _, ok := o.rawValue(key); !ok {
			return e, fmt.Errorf("has no %s", key)
		}
	}
	e.Name, err = o.textValue("name")
	if err != nil {
		return e, err
	}
	e.Content, err = o.textValue("content")
	if err != nil {
		return e, err
	}
	kind, err := o.textValue("kind")
	if err != nil {
		return e, err
	}
	if kind != "" {
		e.Kind, err = parseKind(kind)
		if err != nil {
			return e, err
		}
	}
	if raw, ok := o.rawValue("aliases"); ok {
		e.Aliases, err = decodeList("aliases", raw)
		if err != nil {
			return e, err
		}
	}
	e.Labels, err = parseLabels(o)
	if err != nil {
		return e, err
	}
	e.Created, err = o.timeValue("created", nil)
	if err != nil {
		return e, err
	}
	e.Updated, err = o.timeValue("updated", nil)
	return e, err
}

// timeValue returns the value of a field that contains a date, or the zero time if the object does not have the field.
// loc is the time zone of a date that names no time zone (nil means UTC).
func (o jsonObject) timeValue(key string, loc *time.Location) (time.Time, error) {
	s, err := o.textValue(key)
	if err != nil || s == "" {
		return time.Time{}, err
	}
	t, err := parseDate(s, loc)
	if err != nil {
		return t, fmt.Errorf("%s: %w", key, err)
	}
	return t, nil
}

func newUnknownFieldError(key string) error {
	switch word, ok := keySynonyms[strings.ToLower(key)]; {
	case ok:
		return fmt.Errorf("field %s is unknown; did you mean %s?", truncateAndQuote(key), word)
	case key == "turns" || key == "messages" || key == "session_id":
		return fmt.Errorf("field %s is unknown in an entry; is this a chat log?", truncateAndQuote(key))
	}
	if h := nearestCandidateHint(key, entryFields); h != "" {
		return fmt.Errorf("field %s is unknown%s", truncateAndQuote(key), h)
	}
	return fmt.Errorf("field %s is unknown; there are %s", truncateAndQuote(key), strings.Join(entryFields, ", "))
}

// parseKind parses the name of a kind. If such a kind does not exist, the error suggests the most similar kind.
func parseKind(s string) (oxbow.Kind, error) {
	k, err := oxbow.ParseKind(s)
	if err != nil {
		var words []string
		for _, k := range oxbow.Kinds() {
			words = append(words, k.String())
		}
		return 0, fmt.Errorf("%w%s", err, nearestCandidateHint(s, words))
	}
	return k, nil
}

// parseLabels returns the labels of a JSON object. They come from the field "labels", which is an array or an object,
// and from other fields that become labels.
func parseLabels(o jsonObject) ([]oxbow.Label, error) {
	var ls []oxbow.Label
	if raw, ok := o.rawValue("labels"); ok {
		var err error
		switch raw[0] {
		case '[':
			ls, err = parseLabelList(raw)
		case '{':
			ls, err = parseLabelObject(raw)
		default:
			err = fmt.Errorf("labels must be a list or an object, not %s", truncateAndQuote(string(raw)))
		}
		if err != nil {
			return nil, err
		}
	}
	for _, f := range []struct{ field, key string }{
		{"project", oxbow.LabelProject}, {"tags", oxbow.LabelTag}, {"related_files", oxbow.LabelFile},
	} {
		vs, err := o.listValue(f.field)
		if err != nil {
			return nil, err
		}
		if f.key == oxbow.LabelTag {
			vs = oxbow.SplitTags(vs...)
		}
		for _, v := range vs {
			ls = append(ls, oxbow.Label{Key: f.key, Value: v})
		}
	}
	if raw, ok := o.rawValue("confidence"); ok {
		var c float64
		if err := json.Unmarshal(raw, &c); err != nil || !(c >= 0 && c <= 1) {
			return nil, fmt.Errorf("confidence must be a number from 0 to 1, not %s", truncateAndQuote(string(raw)))
		}
		ls = append(ls, oxbow.Confidence(c))
	}
	return ls, nil
}

func parseLabelList(raw json.RawMessage) ([]oxbow.Label, error) {
	var ls []oxbow.Label
	known := []string{"key", "value"}
	for p := range rawjson.EachElement(raw) {
		o, err := parseObject(p)
		if err != nil {
			return nil, fmt.Errorf("label %d %w", len(ls)+1, err)
		}
		if others := o.otherFields(known); len(others) > 0 {
			return nil, fmt.Errorf(
				"label %d has the unknown field %s%s",
				len(ls)+1,
				truncateAndQuote(others[0]),
				nearestCandidateHint(others[0], known),
			)
		}
		var l oxbow.Label
		l.Key, err = o.textValue("key")
		if err != nil {
			return nil, fmt.Errorf("label %d: %w", len(ls)+1, err)
		}
		l.Value, err = o.textValue("value")
		if err != nil {
			return nil, fmt.Errorf("label %d: %w", len(ls)+1, err)
		}
		ls = append(ls, l)
	}
	return ls, nil
}

func parseLabelObject(raw json.RawMessage) ([]oxbow.Label, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	var ls []oxbow.Label
	for _, f := range o {
		vs, err := jsonObject{f}.listValue(f.key)
		if err != nil {
			return nil, fmt.Errorf("label %w", err)
		}
		for _, v := range vs {
			ls = append(ls, oxbow.Label{Key: f.key, Value: v})
		}
	}
	return ls, nil
}
