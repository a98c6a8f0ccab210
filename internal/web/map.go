// This file implements the page Map. It shows entries, labels and files as a graph and as a list.

package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	maxEntryMapEntries = 60  // maximum number of entries on a map
	maxEntryMapNodes   = 150 // maximum number of entries, labels and files that a map shows as nodes
	// maximum number of other entries on the map of a single entry; they have a label or a file in common with it
	maxEntryMapNeighbours = 30
)

// labelKeysOnEntryMap are the keys of the labels that a map shows as nodes, with lines to the entries that have them.
var labelKeysOnEntryMap = []string{oxbow.LabelProject, oxbow.LabelTag, oxbow.LabelFile}

func entryMapPage(c *pageRequest) (pageReply, error) {
	name, query := c.formValue("name"), c.formValue("q")
	entries, more, err := c.findEntryMapEntries(name, query)
	if err != nil {
		return nil, err
	}
	s := pageWithNavigation{
		title:   "Map",
		navPath: "map",
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text("Entries with the projects, tags and files that they share. Each is a link."),
		),
	}
	s.bodyNodes = []g.Node{
		page.QueryForm(
			"map",
			"Show",
			page.InputField("name", "Around this entry", name, h.Placeholder("the whole memory")),
			h.Div(h.Class("field grow"), page.InputField("q", "Filter", query, h.Placeholder("project:… tag:…"))),
		),
	}
	if len(entries) == 0 {
		s.bodyNodes = append(s.bodyNodes, page.EmptyNotice("There is nothing to draw.", nil))
		return s, nil
	}
	graph := entryLabelGraph(entries, name)
	s.bodyNodes = append(
		s.bodyNodes,
		page.DrawGraph(graph, "Map of "+page.CountWithNoun(len(entries), "entry")),
		h.Ul(
			h.Class("legend"),
			h.Li(h.Text("entry")),
			h.Li(h.Class("project"), h.Text("project")),
			h.Li(h.Class("tag"), h.Text("tag")),
			h.Li(h.Class("file"), h.Text("file")),
		),
		g.If(
			more,
			h.P(
				h.Class("hint"),
				h.Text("Only the newest entries are drawn. Use a filter or the name of an entry to see others."),
			),
		),
		page.Section(
			"list",
			"The same entries as a list",
			h.Ul(h.Class("rows"), g.Map(entries, func(e verb.Entry) g.Node {
				return h.Li(
					h.Class("row"),
					h.Div(
						h.Class("head"),
						h.H3(page.EntryLink(e.Name)),
						h.A(h.Class("meta"), h.Href(page.RootPath+entryMapPath(e.Name)), h.Text("map around it")),
					),
					h.Div(h.Class("meta"), page.LabelChips(e.Labels)),
				)
			})),
		),
	)
	return s, nil
}

func entryMapPath(name string) string { return "map?" + url.Values{"name": {name}}.Encode() }

// findEntryMapEntries returns the entries to show on the page Map. If name is "", these are the newest entries that the
// query selects. Otherwise these are the entry with this name, and entries that match the query and share a label or a
// file with it. hasMore is true if some entries were left out because there are too many.
func (c *pageRequest) findEntryMapEntries(name, query string) (all []verb.Entry, hasMore bool, err error) {
	limit := maxEntryMapEntries
	if name == "" {
		out, err := verb.ListEntries(c.ctx, c.workspace, verb.ListIn{Filter: query, Limit: &limit})
		return out.Entries, out.Total > len(out.Entries), err
	}
	e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true})
	if err != nil {
		return nil, false, err
	}
	all, seen := []verb.Entry{e.Entry}, map[string]bool{e.Name: true}
	limit = maxEntryMapNeighbours
	// Add entries that share a file with e first, and entries that share only a project last, because there may be too
	// many.
	for _, key := range slices.Backward(labelKeysOnEntryMap) {
		for _, v := range e.Labels[key] {
			out, err := verb.ListEntries(
				c.ctx,
				c.workspace,
				verb.ListIn{Filter: strings.TrimSpace(key + ":" + strconv.Quote(v) +
					" " + query), Limit: &limit},
			)
			if err != nil {
				return nil, false, err
			}
			for _, o := range out.Entries {
				hasMore = hasMore || len(all) > maxEntryMapNeighbours
				if !seen[o.Name] && len(all) <= maxEntryMapNeighbours {
					seen[o.Name], all = true, append(all, o)
				}
			}
		}
	}
	return all, hasMore, nil
}

// entryLabelGraph returns a graph of entries and their labels. Each entry and each label is a node, and a line connects
// each entry with its labels. If middleEntry is not "", the first element of entries must be the entry with this name,
// which becomes the center.
//
// A label that only one entry has is left out, unless the center has it. If the graph would have more than
// maxEntryMapNodes nodes, the labels with the fewest entries are left out.
func entryLabelGraph(entries []verb.Entry, middleEntry string) (out page.Graph) {
	count, names := map[string]int{}, []string{}
	each := func(e verb.Entry, fn func(key, value string)) {
		for _, k := range labelKeysOnEntryMap {
			for _, v := range e.Labels[k] {
				fn(k, v)
			}
		}
	}
	own := map[string]bool{}
	for i, e := range entries {
		each(e, func(k, v string) {
			count[k+":"+v]++
			if count[k+":"+v] == 1 {
				names = append(names, k+":"+v)
			}
			own[k+":"+v] = own[k+":"+v] || (i == 0 && middleEntry != "")
		})
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	at := map[string]int{}
	for i, e := range entries {
		out.Nodes = append(
			out.Nodes,
			page.GraphNode{
				Kind:     "entry",
				Text:     e.Name,
				Path:     page.EntryPath(e.Name),
				IsCenter: i == 0 && middleEntry != "",
			},
		)
	}
	for _, n := range names {
		if len(out.Nodes) >= maxEntryMapNodes {
			break
		}
		if key, value, _ := strings.Cut(n, ":"); count[n] > 1 || own[n] {
			at[n] = len(out.Nodes)
			out.Nodes = append(out.Nodes, page.GraphNode{Kind: key, Text: value, Path: page.FindPagePath(key + ":" +
				strconv.Quote(value)), Weight: count[n]})
		}
	}
	for i, e := range entries {
		each(e, func(k, v string) {
			if to, ok := at[k+":"+v]; ok {
				out.Edges = append(out.Edges, [2]int{i, to})
			}
		})
	}
	return out
}
