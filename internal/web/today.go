// This file implements the start page. It shows recent changes, decisions that a person must make, and what models
// were shown since yesterday. It arranges the results of several verbs in two columns. Therefore it does not render
// the reports of the verbs one after another.

package web

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"time"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	maxRecentEntries = 12 // number of newest entries on the page Today
	maxRecentChanges = 50 // number of newest changes among which the changes since yesterday are counted
)

func todayPage(c *pageRequest) (pageReply, error) {
	limit := maxRecentEntries
	list, err := verb.ListEntries(c.ctx, c.workspace, verb.ListIn{Limit: &limit})
	if err != nil {
		return nil, err
	}
	if list.Total == 0 {
		return pageWithNavigation{
			title:               "Today",
			reloadsLiveElements: true,
			descriptionLine:     h.P(h.Class("lead"), h.Text("The memory is empty.")),
			bodyNodes: []g.Node{
				h.Div(h.ID("live"), h.Attr("data-live", ""), c.agentEditsSection(), c.emptyMemoryPage()),
			},
		}, nil
	}
	return pageWithNavigation{
		title:               "Today",
		reloadsLiveElements: true,
		descriptionLine: h.P(h.Class("lead"), h.Text(page.CountWithNoun(list.Total, "entry")+
			".")),
		bodyNodes: []g.Node{h.Div(h.ID("live"), h.Attr("data-live", ""),
			c.agentEditsSection(),
			c.pendingDecisionsNotice(),
			h.Div(h.Class("entry"),
				h.Div(h.Class("column"), page.Section("written", "Newest entries",
					h.Ul(h.Class("rows"), h.Attr("data-keys", ""), g.Map(list.Entries, func(e verb.Entry) g.Node {
						return page.EntryRow(c.pageViewer(), e)
					})),
					h.P(
						h.Class("meta"),
						h.A(h.Href(page.RootPath+page.FindPagePath("")), h.Text("All entries")),
						g.If(c.mayWrite(), h.A(h.Href(page.RootPath+"new"), h.Text("Remember something"))),
					))),
				h.Aside(
					h.Aria("label", "Since yesterday"),
					c.changesSinceYesterday(),
					c.hookTextsSinceYesterday(),
					h.P(h.Class("meta"), h.A(h.Href(page.RootPath+
						"settings"), h.Text("Health")), h.A(h.Href(page.RootPath+
						"numbers"), h.Text("Numbers"))),
				))),
		},
	}, nil
}

// pendingDecisionsNotice says how many proposals and held entries wait for a decision. It returns nil if nothing waits.
func (c *pageRequest) pendingDecisionsNotice() g.Node {
	n := c.countPendingDecisions()
	if n == 0 {
		return nil
	}
	return h.P(h.Class("callout"), h.A(h.Href(page.RootPath+"inbox"), h.Text(page.CountWithNoun(n, "thing")+
		" to decide")))
}

// changesSinceYesterday shows the number of changes since yesterday for each actor.
func (c *pageRequest) changesSinceYesterday() g.Node {
	limit := maxRecentChanges
	out, err := verb.ListHistory(c.ctx, c.workspace, verb.HistoryIn{Limit: &limit})
	if err != nil {
		return nil
	}
	since := c.now.AddDate(0, 0, -1)
	by := map[string]int{}
	actors := map[string]string{}
	all := 0
	for _, ch := range out.Changes {
		if page.ParseTime(ch.Time).Before(since.Truncate(time.Second)) {
			break
		}
		who := c.pageViewer().WriterName(ch.Source)
		by[who] = by[who] + 1
		actors[who] = ch.Source.Actor
		all = all + 1
	}
	if all == 0 {
		return page.Section("who", "Since yesterday", h.P(h.Class("dim"), h.Text("Nothing was changed.")))
	}
	more := map[bool]string{true: " or more"}[all == maxRecentChanges]
	return page.Section(
		"who",
		"Since yesterday",
		h.Ul(h.Class("list"), g.Map(sortKeysByCount(by), func(who string) g.Node {
			return h.Li(h.A(h.Href(page.RootPath+"log?"+
				url.Values{
					"by": {actors[who]},
				}.Encode()), page.IsolatedText(who)), h.Text(": "+page.CountWithNoun(by[who], "change")+
				more))
		})),
	)
}

// sortKeysByCount returns the keys in order of their counts, the highest first.
func sortKeysByCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// hookTextsSinceYesterday returns a section about the texts that hooks have shown to agents since yesterday. For each
// client, it shows the number of texts and of their tokens. It also shows how many of all texts the agents used. It
// returns nil if there were no such texts, or if they cannot be listed.
func (c *pageRequest) hookTextsSinceYesterday() g.Node {
	most := oxbow.MaxLimit
	out, err := injection.ListInjections(c.ctx, c.workspace, injection.InjectedIn{Since: "1d", Limit: &most})
	if err != nil || out.Total.Injections == 0 {
		return nil
	}
	times, tokens := map[string]int{}, map[string]int{}
	for _, i := range out.Injections {
		times[i.Client]++
		tokens[i.Client] += i.TokenCount
	}
	return page.Section(
		"shown",
		"Shown to agents",
		h.Ul(h.Class("list"), g.Map(sortKeysByCount(times), func(client string) g.Node {
			return h.Li(
				page.IsolatedText(client),
				h.Textf(": %s, %d tokens", page.CountWithNoun(times[client], "time"), tokens[client]),
			)
		})), h.P(h.Class("dim"), h.Textf("Agents used a shown entry %s.", page.CountWithNoun(out.Total.UsedInjections,
			"time"))),
	)
}

// emptyMemoryPage is the start page of an empty memory.
func (c *pageRequest) emptyMemoryPage() g.Node {
	step := func(title string, body ...g.Node) g.Node {
		return h.Li(h.Class("row"), h.H2(h.Class("small"), h.Text(title)), h.P(body...))
	}
	return h.Ol(h.Class("empty rows"),
		g.If(
			c.mayWrite(),
			step("Write a first note", h.Text("What would you tell a new colleague first? "), h.A(h.Href(page.RootPath+
				"new"), h.Text("Write a note")), h.Text(". It appears on this page, and you can change it at any "+
				"time.")),
		),
		step(
			"Connect your agents",
			h.Text("Run "),
			h.Code(h.Text("oxbow setup")),
			h.Text(
				" in a terminal. Your agents then find your notes, and store what they learn.",
			),
		),
		step(
			"Or look at a sample",
			h.Code(h.Text("oxbow demo --ui")),
			h.Text(" shows the sample memory of a small team. It is deleted when you stop the command."),
		))
}
