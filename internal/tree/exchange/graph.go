// This file reads the knowledge graph of the MCP memory server.

package exchange

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
)

// graph is the knowledge graph of an MCP memory server's file.
type graph struct {
	nodes  []node
	byName map[string]int // index of the first node with that name
	edges  []edge
	size   int // size of the texts, in bytes
}

type node struct {
	name, typ, where string
	observations     []string
	relations        []string
	warnings         []string
}

type edge struct {
	from, to, typ, where string
	warnings             []string
}

var errGraphSize = fmt.Errorf("the knowledge graph has more than %d MiB of text; cut the file", maxGraph>>20)

// add adds a line of the file, of type entity or relation.
func (g *graph) add(typ string, o object, where string) error {
	need := func(key string) (s string, err error) {
		s, err = o.text(key)
		if err == nil && s == "" {
			err = fmt.Errorf("%s has no %s", typ, key)
		}
		// Count 64 bytes in addition to each string, for its headers.
		g.size += len(s) + 64
		return s, err
	}
	var err error
	if typ == "relation" {
		e := edge{where: where}
		e.from, err = need(o.firstKey("from", "from_entity"))
		if err != nil {
			return err
		}
		e.to, err = need(o.firstKey("to", "to_entity"))
		if err != nil {
			return err
		}
		e.typ, err = need("relationType")
		if err != nil {
			return err
		}
		e.warnings = leftOut(
			where,
			o.others([]string{"type", "from", "to", "from_entity", "to_entity", "relationType"}),
		)
		g.edges = append(g.edges, e)
		return g.checkSize()
	}
	n := node{where: where}
	n.name, err = need("name")
	if err != nil {
		return err
	}
	n.typ, err = o.text("entityType")
	if err != nil {
		return err
	}
	if raw, ok := o.get("observations"); ok {
		n.observations, err = observationTexts(raw)
		if err != nil {
			return err
		}
	}
	for _, s := range n.observations {
		g.size += len(s) + 64
	}
	n.warnings = leftOut(where, o.others([]string{"type", "name", "entityType", "observations"}))
	if g.byName == nil {
		g.byName = make(map[string]int)
	}
	if _, ok := g.byName[n.name]; !ok {
		g.byName[n.name] = len(g.nodes)
	}
	g.nodes = append(g.nodes, n)
	return g.checkSize()
}

// observationTexts returns the texts of observations. Forks of the memory server write an
// observation as an object. Its text is the member text or content, and the other members
// follow in parentheses.
func observationTexts(raw json.RawMessage) (texts []string, err error) {
	if raw[0] != '[' {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	for item := range rawjson.Elements(raw) {
		var members map[string]any
		if item[0] != '{' || json.Unmarshal(item, &members) != nil {
			text, err := asText("each of observations", item)
			if err != nil {
				return nil, err
			}
			texts = append(texts, text)
			continue
		}
		text, rest := "", []string{}
		for _, key := range slices.Sorted(maps.Keys(members)) {
			if s, ok := members[key].(string); ok && text == "" && (key == "text" || key == "content") {
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
	return texts, nil
}

func (g *graph) checkSize() error {
	if g.size > maxGraph {
		return errGraphSize
	}
	return nil
}

// items yields a note for each entity, in the order of the file. Before the notes, it yields an
// error for each relation whose entity does not exist.
func (g *graph) items(ref string, yield func(Item, error) bool) {
	for _, e := range g.edges {
		i, ok := g.byName[e.from]
		if !ok {
			err := fmt.Errorf(
				"relation %s → %s is from %s, which is no entity of this file",
				quoteShort(e.typ),
				quoteShort(e.to),
				quoteShort(e.from),
			)
			if !yield(Item{}, problem(e.where, err)) {
				return
			}
			continue
		}
		g.nodes[i].relations = append(g.nodes[i].relations, e.typ+" → "+e.to)
		g.nodes[i].warnings = append(g.nodes[i].warnings, e.warnings...)
	}
	for _, n := range g.nodes {
		it := Item{Ref: n.where, Origin: ref, Warnings: n.warnings}
		it.Entry = oxbow.Entry{Name: n.name, Content: bulletList(slices.Concat(n.observations, n.relations))}
		for _, tag := range oxbow.SplitTags(n.typ) {
			if tag == "" {
				continue
			}
			l := oxbow.Label{Key: oxbow.LabelTag, Value: tag}
			if err := l.Check(); err != nil {
				it.Warnings = append(it.Warnings, n.where+": entityType is no tag: "+err.Error())
			} else {
				it.Entry.Labels = append(it.Entry.Labels, l)
			}
		}
		if !yieldItem(yield, it) {
			return
		}
	}
}

// bulletList formats the texts as a Markdown list. Further lines of a text are indented.
func bulletList(texts []string) string {
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
