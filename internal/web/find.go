// This file implements the page Find. It shows the entries that a query selects, or all entries, and links that add a
// filter to the query.

package web

import (
	"errors"
	"fmt"
	"maps"
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
	listPageSize = 25  // number of entries on a list page
	hitPageSize  = 20  // number of entries on a search page
	maxHits      = 200 // maximum number of hits on all pages for a search
)

// findResult is the result of a query on the page Find.
type findResult struct {
	query          string
	isListing      bool // the query lacks words, so that the entries are listed, newest first
	entries        []verb.Entry
	total          int // number of all entries that the query selects, also on other pages
	nextOffset     int // offset of the next page in the list
	hasMoreEntries bool
	facets         []filterFacet
	emptyReasons   []verb.Note
	similarNames   []string
	notes          []verb.Note
}

func findPage(c *pageRequest) (pageReply, error) {
	f, err := c.searchEntries(c.formValue("q"))
	s := pageWithNavigation{title: "Find", navPath: "find", reloadsLiveElements: true}
	// The query has an error, perhaps because the person is still typing a filter. Show the error in place of the
	// results.
	if errors.Is(err, oxbow.ErrInvalid) {
		s.bodyNodes = []g.Node{
			h.Div(h.ID("results"), h.Attr("data-count", "This query has an error."), errorNotice(err)),
		}
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	var link, explanation g.Node
	switch {
	case !f.isListing:
		link, explanation = c.explanationLink(f.query), c.explanationSection(f.query, f.entries)
	case f.total > 0 && c.actor == oxbow.Person:
		query := url.Values{"q": {f.query}}
		link = h.A(h.Href(page.RootPath+"transfer/export?"+query.Encode()), h.Attr("download", ""),
			h.Text("Export "+page.CountWithNoun(f.total, "entry")))
	}
	s.bodyNodes = []g.Node{h.Div(h.ID("results"), h.Attr("data-live", ""), h.Attr("data-count", f.countText()),
		h.Div(h.Class("head"), h.P(h.Class("lead"), h.Text(f.countText())), link),
		page.NoteList(f.notes), explanation,
		h.Div(
			h.Class("entry"),
			h.Div(h.Class("column"), c.resultList(f)),
			h.Aside(h.Aria("label", "Narrow it down"), renderFilterLists(f)),
		))}
	return s, nil
}

// searchEntries executes the query q. It first tries to list the entries that the query selects. If the query contains
// words, which the listing refuses with an [oxbow.InvalidError], it ranks the entries by the words instead.
func (c *pageRequest) searchEntries(q string) (findResult, error) {
	limit, offset := listPageSize, max(0, c.formNumber("offset", 0))
	list, err := verb.ListEntries(c.ctx, c.workspace, verb.ListIn{Filter: q, Limit: &limit, Offset: &offset})
	if err == nil {
		f := findResult{
			query:        q,
			isListing:    true,
			entries:      list.Entries,
			total:        list.Total,
			nextOffset:   list.NextOffset,
			emptyReasons: list.EmptyReasons,
			similarNames: list.SimilarNames,
		}
		f.facets, err = c.facetsOfList(q, list)
		return f, err
	}
	var wrong *oxbow.InvalidError
	if !errors.As(err, &wrong) {
		return findResult{}, err
	}
	offset = min(offset, maxHits-hitPageSize)
	limit = offset + hitPageSize
	out, err := verb.Recall(
		c.ctx,
		c.workspace,
		verb.RecallIn{Query: q, Limit: &limit, Explain: c.formValue("explain") != ""},
	)
	if err != nil {
		return findResult{}, err
	}
	f := findResult{
		query:          q,
		entries:        out.Hits[min(offset, len(out.Hits)):],
		total:          len(out.Hits),
		hasMoreEntries: out.HasMore,
		facets:         facetsOfHits(out.Hits),
		emptyReasons:   out.EmptyReasons,
		similarNames:   out.SimilarNames,
	}
	if out.HasMore && limit < maxHits {
		f.nextOffset = limit
	}
	for _, n := range out.Notes {
		if !n.RefersTo("limit") && !n.RefersTo("max_tokens") {
			f.notes = append(f.notes, n)
		}
	}
	return f, nil
}

// countText returns a text that says how many entries were found.
func (f findResult) countText() string {
	switch {
	case f.total == 0:
		return "Nothing was found."
	case f.isListing && f.query == "":
		return page.CountWithNoun(f.total, "entry") + ", the newest first."
	case f.isListing:
		return page.CountWithNoun(f.total, "entry") + " found, the newest first."
	case f.hasMoreEntries:
		return fmt.Sprintf("Results %d to %d, the best first. There are more.", f.total-len(f.entries)+1, f.total)
	}
	return page.CountWithNoun(f.total, "entry") + " found, the best first."
}

func (c *pageRequest) resultList(f findResult) g.Node {
	if f.total == 0 {
		return page.EmptyNotice(
			"Nothing was found.",
			f.emptyReasons,
			linkSimilarNames(f),
			g.If(f.query != "", h.P(h.A(h.Href(page.RootPath+
				"find"), h.Text("All entries")))),
			g.If(c.mayWrite(), h.P(h.A(h.Href(page.RootPath+"new"), h.Text("Remember something new")))),
		)
	}
	if len(f.entries) == 0 { // The requested page begins after the last result.
		return page.EmptyNotice("There are no results on this page.", f.emptyReasons)
	}
	withScores := c.formValue("explain") != ""
	rows := h.Ul(h.Class("rows"), h.Attr("data-keys", ""), g.Map(f.entries, func(e verb.Entry) g.Node {
		score := g.If(withScores, scoreTable(e))
		if !c.mayWrite() {
			return page.EntryRow(c.pageViewer(), e, score)
		}
		return page.EntryChoiceRow(c.pageViewer(), e, score)
	}))
	pager := page.Pager(c.r.URL, c.formNumber("offset", 0), f.nextOffset, listPageSize)
	if !f.isListing {
		pager = page.RankedPager(c.r.URL, c.formNumber("offset", 0), f.nextOffset, hitPageSize)
	}
	if !c.mayWrite() {
		return g.Group{rows, pager}
	}
	return g.Group{h.Form(h.Class("ticking"), h.Method("post"), h.Action(page.RootPath+"find/label"),
		page.HiddenFields("back", c.currentPath()), bulkActions(f), rows), pager}
}

// bulkActions shows the buttons that change the ticked entries, or all entries that the filters select.
func bulkActions(f findResult) g.Node {
	return h.FieldSet(h.Class("bulk"),
		h.Legend(h.Class("hidden"), h.Text("Change the ticked entries")),
		h.Div(h.Class("actions"),
			g.If(f.isListing, g.Group{page.HiddenFields("q", f.query), h.Label(h.Class("all"),
				h.Input(h.Type("checkbox"), h.Name("all"), h.Value("1"), h.Attr("data-all", "")),
				h.Text(" All "+page.CountWithNoun(f.total, "entry")))}),
			h.Label(h.Class("hidden"), h.For("label"), h.Text("Label")),
			h.Input(h.ID("label"), h.Name("label"), h.Placeholder("tag:rule"), h.AutoComplete("off"),
				h.Attr("list", "labels")),
			h.El("datalist", h.ID("labels"), g.Map(f.suggestedLabelTerms(), func(t string) g.Node {
				return h.Option(h.Value(page.VisibleText(t)))
			})),
			h.Button(h.Text("Add label")),
			h.Button(h.Name("off"), h.Value("1"), h.Text("Remove label")),
			h.Button(h.FormAction(page.RootPath+"find/forget"), h.Text("Forget"))))
}

// maxSuggestedLabels is the maximum number of labels that are suggested.
const maxSuggestedLabels = 100

// suggestedLabelTerms returns the projects and tags of the found entries, for suggestions. It returns at most
// maxSuggestedLabels terms.
func (f findResult) suggestedLabelTerms() (terms []string) {
	for _, fc := range f.facets {
		if fc.title != "Project" && fc.title != "Tag" {
			continue
		}
		for _, t := range slices.Sorted(maps.Keys(fc.countsByFilter)) {
			key, value, _ := strings.Cut(t, ":")
			if plain, err := strconv.Unquote(value); err == nil {
				value = plain
			}
			terms = append(terms, key+":"+value)
		}
	}
	return terms[:min(len(terms), maxSuggestedLabels)]
}

// linkSimilarNames returns links that search for names that are similar to the query's terms. If a name is a filter
// such as project:harbor, and the query already has a filter with the same key, the link replaces this filter in the
// query. Otherwise, the name replaces the whole query.
func linkSimilarNames(f findResult) g.Node {
	if len(f.similarNames) == 0 {
		return nil
	}
	return h.P(h.Text("Similar names: "), g.Group(g.Map(f.similarNames, func(n string) g.Node {
		to := n
		if key, _, ok := strings.Cut(n, ":"); ok {
			terms := strings.Fields(f.query)
			if i := slices.IndexFunc(terms, func(t string) bool { return strings.HasPrefix(t, key+":") }); i >= 0 {
				terms[i] = n
				to = strings.Join(terms, " ")
			}
		}
		return g.Group{h.A(h.Href(page.RootPath+page.FindPagePath(to)), page.IsolatedText(n)), h.Text(" ")}
	})))
}
