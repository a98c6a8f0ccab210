// This file counts the labels of the found entries. It shows the labels as links that add a filter to the query.

package web

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// filterFacet is a group of filters. For each filter, it contains the number of entries that the query would find with
// the filter, or 0 if these were not counted.
type filterFacet struct {
	title          string
	countsByFilter map[string]int // number of entries that each filter selects, such as the filter project:oxbow
}

// maxFacetValues is the maximum number of filters that are shown for a facet, which is a property such as the project
// or the tag. The filters with the most entries are shown.
const maxFacetValues = 8

// maxCountedListEntries is the maximum length of a list whose entries are read to count their labels.
const maxCountedListEntries = 2000

// facetsOfHits counts the search hits for each filter that can narrow the search: by project, tag, kind, author, and
// signs of distrust (taint, suspect and quarantine labels).
func facetsOfHits(hits []verb.Entry) []filterFacet {
	project := filterFacet{"Project", map[string]int{}}
	tag := filterFacet{"Tag", map[string]int{}}
	kind := filterFacet{"Kind", map[string]int{}}
	by := filterFacet{"Written by", map[string]int{}}
	trust := filterFacet{"Trust", map[string]int{}}
	for _, e := range hits {
		for _, v := range e.Labels[oxbow.LabelProject] {
			project.countsByFilter[formatFilterTerm("project", v)]++
		}
		for _, v := range e.Labels[oxbow.LabelTag] {
			tag.countsByFilter[formatFilterTerm("tag", v)]++
		}
		kind.countsByFilter[formatFilterTerm("kind", e.Kind)]++
		if e.Source.Actor != "" {
			by.countsByFilter[formatFilterTerm("by", e.Source.Actor)]++
		}
		for _, k := range []string{oxbow.LabelTaint, oxbow.LabelSuspect, oxbow.LabelQuarantine} {
			if len(e.Labels[k]) > 0 {
				trust.countsByFilter["has:"+k]++
			}
		}
	}
	return []filterFacet{project, tag, kind, by, trust}
}

// facetsOfList returns filters that narrow the list of entries that a query selects. They are grouped into facets:
// project, tag, kind, author and trust. The result is nil if the list is empty.
//
// If the query is empty, the facets contain all projects, tags and kinds, with the numbers of entries that the store
// has counted. For any other query, and if the browser sees only a part of the memory, facetsOfList reads the entries
// of the list, and the facets contain their projects and tags with numbers. If the list has more than
// maxCountedListEntries entries, it does not read them, and the facets contain only the filters for author and trust.
// The filters for author and trust never have numbers.
func (c *pageRequest) facetsOfList(query string, list verb.ListOut) ([]filterFacet, error) {
	fs := []filterFacet{{"Project", map[string]int{}}, {"Tag", map[string]int{}}, {"Kind", map[string]int{}},
		{"Written by", map[string]int{"by:person": 0, "by:agent": 0, "by:import": 0}},
		{"Trust", map[string]int{"has:taint": 0, "has:quarantine": 0}}}
	if list.Total == 0 {
		return nil, nil
	}
	if query == "" {
		// Stats returns an error if the browser only sees a part of the memory; then the numbers are missing
		if st, err := maintenance.Stats(c.ctx, c.workspace, maintenance.StatsIn{}); err == nil {
			for i, counts := range []map[string]int{st.Projects, st.Tags, st.EntriesPerKind} {
				for v, n := range counts {
					fs[i].countsByFilter[formatFilterTerm([]string{"project", "tag", "kind"}[i], v)] = n
				}
			}
			return fs, nil
		}
	}
	if list.Total > maxCountedListEntries {
		return fs, nil
	}
	labels, err := labels.ListLabels(c.ctx, c.workspace, labels.ListLabelsIn{Filter: query})
	if err != nil {
		return nil, err
	}
	for _, l := range labels.Labels {
		if i := slices.Index([]string{oxbow.LabelProject, oxbow.LabelTag}, l.Key); i >= 0 {
			fs[i].countsByFilter[formatFilterTerm(l.Key, l.Value)] = l.EntryCount
		}
	}
	return fs, nil
}

// formatFilterTerm returns a filter as it is written in a query.
func formatFilterTerm(key, value string) string { return key + ":" + page.QuoteValue(value) }

// renderFilterLists shows the filters as links. If the query already contains a filter, its link removes the filter.
func renderFilterLists(f findResult) g.Node {
	var out g.Group
	for i, fc := range f.facets {
		terms := slices.SortedFunc(maps.Keys(fc.countsByFilter), func(a, b string) int {
			return cmp.Or(cmp.Compare(fc.countsByFilter[b], fc.countsByFilter[a]), strings.Compare(a, b))
		})
		var rows g.Group
		for _, t := range terms[:min(len(terms), maxFacetValues)] {
			rows = append(rows, filterLink(f.query, t, fc.countsByFilter[t]))
		}
		if rows != nil {
			id := "facet-" + strconv.Itoa(i)
			out = append(
				out,
				h.Section(
					h.Class("facet"),
					h.Aria("labelledby", id),
					h.H2(h.Class("small"), h.ID(id), h.Text(fc.title)),
					h.Ul(rows),
				),
			)
		}
	}
	return out
}

func filterLink(query, filter string, count int) g.Node {
	_, shown, _ := strings.Cut(filter, ":")
	if w, err := strconv.Unquote(shown); err == nil {
		shown = w
	}
	if rest, has := removeFilter(query, filter); has {
		return h.Li(h.A(
			h.Href(page.RootPath+page.FindPagePath(rest)),
			h.Aria("current", "true"),
			page.IsolatedText(shown),
			h.Span(h.Class("key"), h.Text(" ×")),
			h.Span(h.Class("hidden"), h.Text(" (remove this filter)")),
		))
	}
	return h.Li(h.A(h.Href(page.RootPath+page.FindPagePath(strings.TrimSpace(query+" "+
		filter))), page.IsolatedText(shown)), g.If(count > 0, h.Span(h.Class("dim"), h.Textf(" %d", count))))
}

// removeFilter removes a filter from a query, and reports whether the query had it.
func removeFilter(query, filter string) (rest string, hadFilter bool) {
	i := strings.Index(" "+query+" ", " "+filter+" ")
	if i < 0 {
		return query, false
	}
	return strings.TrimSpace(query[:i] + strings.TrimPrefix(query[i+len(filter):], " ")), true
}
