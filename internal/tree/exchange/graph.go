// This file reads the knowledge graph of the MCP memory server.

package exchange

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

// knowledgeGraph is the knowledge graph in a file of the MCP memory server.
type knowledgeGraph struct {
	nodes           []graphNode
	nodeIndexByName map[string]int // for each name, the index in nodes of the first node with this name
	edges           []graphEdge
	textBytes       int // total size of the texts in nodes and edges, in bytes
}

type graphNode struct {
	name, entityType, position string
	observations               []string
	relations                  []string
	// JSON members of the entity that the official MCP memory server does not write, but other programs do
	additionalFields jsonObject
}

type graphEdge struct {
	fromName, toName, relationType, position string
	// "key: value" for each member that the official memory server does not write
	additionalFields []string
}

// These are the names that JSON members have in the descriptions of relations (sourceEntityKeys, targetEntityKeys and
// relationKeys) and entities (entityTypeKeys). The official memory server writes the first name in each list. Its forks
// write the other names.
var (
	sourceEntityKeys = []string{"from", "from_entity", "fromEntity", "source"}
	targetEntityKeys = []string{"to", "to_entity", "toEntity", "target"}
	relationKeys     = []string{"relationType", "relation_type", "relation"}
	entityTypeKeys   = []string{"entityType", "entity_type"}
)

var errGraphSize = fmt.Errorf("the knowledge graph has more than %d MiB of text; cut the file", maxGraphBytes>>20)

// addGraphLine adds the object o to the graph. The object becomes a relation if typ is "relation", and otherwise an
// entity. The argument position is the object's position, for messages. addGraphLine fails if a required field is
// missing or empty, or if the graph becomes too large.
func (g *knowledgeGraph) addGraphLine(typ string, o jsonObject, position string) error {
	need := func(key string) (s string, err error) {
		s, err = o.textValue(key)
		if err == nil && s == "" {
			err = fmt.Errorf("%s has no %s", typ, key)
		}
		// Add 64 bytes for each string, because of its header in memory.
		g.textBytes += len(s) + 64
		return s, err
	}
	if typ == "relation" {
		return g.addRelation(o, position, need)
	}
	name, err := need("name")
	if err != nil {
		return err
	}
	n := graphNode{name: name, position: position}
	typeKey := o.firstPresentKey(entityTypeKeys...)
	n.entityType, err = o.textValue(typeKey)
	if err != nil {
		return err
	}
	if raw, ok := o.rawValue("observations"); ok {
		n.observations = observationTexts(raw)
	}
	for _, s := range n.observations {
		g.textBytes += len(s) + 64
	}
	n.additionalFields = o.withoutFields("type", "name", typeKey, "observations")
	for _, f := range n.additionalFields {
		g.textBytes += len(f.key) + len(f.rawValue) + 64
	}
	if g.nodeIndexByName == nil {
		g.nodeIndexByName = make(map[string]int)
	}
	if _, ok := g.nodeIndexByName[n.name]; !ok {
		g.nodeIndexByName[n.name] = len(g.nodes)
	}
	g.nodes = append(g.nodes, n)
	return g.checkSize()
}

// addRelation adds a relation between two entities, which it reads from the JSON object o. requiredField must return
// the value of a field of o, or an error if the field is empty.
func (g *knowledgeGraph) addRelation(
	o jsonObject,
	position string,
	requiredField func(key string) (string, error),
) (err error) {
	e := graphEdge{position: position}
	from, to := o.firstPresentKey(sourceEntityKeys...), o.firstPresentKey(targetEntityKeys...)
	relation := o.firstPresentKey(relationKeys...)
	e.fromName, err = requiredField(from)
	if err != nil {
		return err
	}
	e.toName, err = requiredField(to)
	if err != nil {
		return err
	}
	e.relationType, err = requiredField(relation)
	if err != nil {
		return err
	}
	for _, f := range o.withoutFields("type", from, to, relation) {
		if s := memberText(f.rawValue); s != "" {
			e.additionalFields = append(e.additionalFields, f.key+": "+s)
			g.textBytes += len(f.key) + len(s) + 64
		}
	}
	g.edges = append(g.edges, e)
	return g.checkSize()
}

// observationTexts returns the texts of an entity's observations. An observation is usually a string, which is returned
// as it is. Other values, such as numbers, are returned as JSON. Null is skipped.
//
// In forks of the memory server, an observation may be an object. Its text is the string in the object's member
// "content", or in the member "text" if "content" is missing or empty. The remaining members follow in parentheses.
func observationTexts(raw json.RawMessage) (texts []string) {
	if raw[0] != '[' {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	for item := range rawjson.EachElement(raw) {
		var members map[string]any
		if item[0] != '{' || json.Unmarshal(item, &members) != nil {
			if text := memberText(item); text != "" || string(item) == `""` {
				texts = append(texts, text)
			}
			continue
		}
		text, rest := "", []string{}
		for _, key := range slices.Sorted(maps.Keys(members)) {
			s, ok := members[key].(string)
			isText := ok && (key == "text" || key == "content")
			if isText && text == "" {
				text = s
			} else if members[key] != nil {
				rest = append(rest, fmt.Sprintf("%s: %v", key, members[key]))
			}
		}
		if len(rest) > 0 {
			text = strings.TrimSpace(text + " (" + strings.Join(rest, ", ") + ")")
		}
		texts = append(texts, text)
	}
	return texts
}

func (g *knowledgeGraph) checkSize() error {
	if g.textBytes > maxGraphBytes {
		return errGraphSize
	}
	return nil
}

// yieldEntityNotes yields a note for each entity of the knowledge graph, in the order of the file. Before the notes, it
// yields an error for each relation whose source entity (fromName) does not exist. It does not check the target entity
// (toName), whose name becomes part of the note's text.
func (g *knowledgeGraph) yieldEntityNotes(ref string, yield func(Item, error) bool) {
	for _, e := range g.edges {
		i, ok := g.nodeIndexByName[e.fromName]
		if !ok {
			err := fmt.Errorf(
				"relation %s → %s is from %s, which is no entity of this file",
				truncateAndQuote(e.relationType),
				truncateAndQuote(e.toName),
				truncateAndQuote(e.fromName),
			)
			if !yield(Item{}, newItemError(e.position, err)) {
				return
			}
			continue
		}
		text := e.relationType + " → " + e.toName
		if len(e.additionalFields) > 0 {
			text += " (" + strings.Join(e.additionalFields, ", ") + ")"
		}
		g.nodes[i].relations = append(g.nodes[i].relations, text)
	}
	for _, n := range g.nodes {
		if !yieldItem(yield, n.toItem(ref)) {
			return
		}
	}
}

// toItem returns the note for an entity.
func (n *graphNode) toItem(inputName string) Item {
	it := Item{Position: n.position, Origin: inputName}
	it.Entry = oxbow.Entry{Name: n.name}
	texts := slices.Concat(n.observations, n.relations)
	addLabel := func(key, value string) {
		l := oxbow.Label{Key: frontmatter.MakeLabelKey(key), Value: value}
		if l.Check() != nil || len(it.Entry.Labels) >= maxHeaderLabels {
			texts = append(texts, key+": "+value)
			return
		}
		it.Entry.Labels = append(it.Entry.Labels, l)
	}
	for _, tag := range oxbow.SplitTags(n.entityType) {
		if tag != "" {
			addLabel(oxbow.LabelTag, tag)
		}
	}
	for _, f := range n.additionalFields {
		value := memberText(f.rawValue)
		if usualKeyBySpelling[frontmatter.FoldKeySpelling(f.key)] == "created" {
			if t, err := parseDate(value, nil); err == nil {
				it.Entry.Created = t
				continue
			}
		}
		if value != "" {
			addLabel(f.key, value)
		}
	}
	it.Entry.Content = formatBulletList(texts)
	return it
}

// memberText returns the value of a member as text, or "" for null and for an empty string.
func memberText(raw json.RawMessage) string {
	switch {
	case raw[0] == '"':
		return rawjson.UnquoteString(raw)
	case string(raw) == "null":
		return ""
	}
	return string(raw)
}

// formatBulletList returns the texts as a Markdown list. If a text has several lines, those after the first are
// indented.
func formatBulletList(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("- ")
		b.WriteString(strings.ReplaceAll(t, "\n", "\n  "))
	}
	return b.String()
}
