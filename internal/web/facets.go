// This file counts the labels of the found entries. It shows them as links that add a filter to the query.

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

// facet is a group of filters. For each filter, it contains the number of entries that the query would find with it,
// or 0 if these were not counted.
type facet struct {
	title  string
	counts map[string]int // numbers by filter, such as project:oxbow
}

// maxFacetValues is the maximum number of filters that are shown for a facet. The filters with the largest numbers are
// shown.
const maxFacetValues = 8

// maxCountedList is the maximum length of a list whose entries are read to count their labels.
const maxCountedList = 2000

// facetsOfHits counts the labels of search hits.
func facetsOfHits(hits []verb.Entry) []facet {
	project := facet{"Project", map[string]int{}}
	tag := facet{"Tag", map[string]int{}}
	kind := facet{"Kind", map[string]int{}}
	by := facet{"Written by", map[string]int{}}
	trust := facet{"Trust", map[string]int{}}
	for _, e := range hits {
		for _, v := range e.Labels[oxbow.LabelProject] {
			project.counts[filterTerm("project", v)]++
		}
		for _, v := range e.Labels[oxbow.LabelTag] {
			tag.counts[filterTerm("tag", v)]++
		}
		kind.counts[filterTerm("kind", e.Kind)]++
		if e.Source.Actor != "" {
			by.counts[filterTerm("by", e.Source.Actor)]++
		}
		for _, k := range []string{oxbow.LabelTaint, oxbow.LabelSuspect, oxbow.LabelQuarantine} {
			if len(e.Labels[k]) > 0 {
				trust.counts["has:"+k]++
			}
		}
	}
	return []facet{project, tag, kind, by, trust}
}

// facetsOfList counts the labels of the listed entries if this is fast: for the whole memory, the store knows the
// numbers, and a short list is read completely. For a longer list, the filters have no numbers.
func (c *pageRequest) facetsOfList(q string, list verb.ListOut) ([]facet, error) {
	fs := []facet{{"Project", map[string]int{}}, {"Tag", map[string]int{}}, {"Kind", map[string]int{}},
		{"Written by", map[string]int{"by:person": 0, "by:agent": 0, "by:import": 0}},
		{"Trust", map[string]int{"has:taint": 0, "has:quarantine": 0}}}
	if list.Total == 0 {
		return nil, nil
	}
	if q == "" {
		// Stats returns an error if the browser only sees a part of the memory; then there are no numbers
		if st, err := maintenance.Stats(c.ctx, c.workspace, maintenance.StatsIn{}); err == nil {
			for i, counts := range []map[string]int{st.Projects, st.Tags, st.Kinds} {
				for v, n := range counts {
					fs[i].counts[filterTerm([]string{"project", "tag", "kind"}[i], v)] = n
				}
			}
			return fs, nil
		}
	}
	if list.Total > maxCountedList {
		return fs, nil
	}
	labels, err := labels.ListLabels(c.ctx, c.workspace, labels.LabelsIn{Filter: q})
	if err != nil {
		return nil, err
	}
	for _, l := range labels.Labels {
		if i := slices.Index([]string{oxbow.LabelProject, oxbow.LabelTag}, l.Key); i >= 0 {
			fs[i].counts[filterTerm(l.Key, l.Value)] = l.Entries
		}
	}
	return fs, nil
}

// filterTerm returns a filter as it is written in a query.
func filterTerm(key, value string) string { return key + ":" + page.QuoteValue(value) }

// facetLists shows the filters as links. If the query already contains a filter, its link removes the filter.
func facetLists(f findResult) g.Node {
	var out g.Group
	for i, fc := range f.facets {
		terms := slices.SortedFunc(maps.Keys(fc.counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(fc.counts[b], fc.counts[a]), strings.Compare(a, b))
		})
		var rows g.Group
		for _, t := range terms[:min(len(terms), maxFacetValues)] {
			rows = append(rows, facetLink(f.query, t, fc.counts[t]))
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

func facetLink(query, t string, count int) g.Node {
	_, shown, _ := strings.Cut(t, ":")
	if w, err := strconv.Unquote(shown); err == nil {
		shown = w
	}
	if rest, has := removeFilter(query, t); has {
		return h.Li(h.A(
			h.Href(page.Root+page.FindPath(rest)),
			h.Aria("current", "true"),
			page.IsolatedText(shown),
			h.Span(h.Class("key"), h.Text(" ×")),
			h.Span(h.Class("hidden"), h.Text(" (remove this filter)")),
		))
	}
	return h.Li(h.A(h.Href(page.Root+page.FindPath(strings.TrimSpace(query+" "+
		t))), page.IsolatedText(shown)), g.If(count > 0, h.Span(h.Class("dim"), h.Textf(" %d", count))))
}

// removeFilter removes filter t from a query, and reports whether the query had it.
func removeFilter(query, t string) (rest string, had bool) {
	i := strings.Index(" "+query+" ", " "+t+" ")
	if i < 0 {
		return query, false
	}
	return strings.TrimSpace(query[:i] + strings.TrimPrefix(query[i+len(t):], " ")), true
}
