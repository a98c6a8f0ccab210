// This file is the page Ask: how recall ranks entries for a query, what a hook would do with
// it, and why a given entry is not among the hits.

package web

import (
	"fmt"
	"slices"
	"strconv"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// askHits is the number of hits that the page explains.
const askHits = 8

func ask(c *call) (reply, error) {
	q := c.value("q")
	project := c.value("project")
	missed := c.value("why")
	s := screen{
		title:   "Ask",
		navPath: "ask",
		lead: h.P(
			h.Class("lead"),
			h.Text(
				"How the memory answers: the ranking term by term, and whether hooks would speak up. Nothing is "+
					"recorded.",
			),
		),
	}
	s.body = []g.Node{
		page.Ask(
			"ask",
			"Ask",
			h.Div(h.Class("field grow"), page.Field("q", "Question", q, h.Required())),
			page.Field("project", "Project", project),
			page.Field("why", "Why not this entry?", missed, h.Placeholder("its name")),
		),
	}
	if q == "" {
		return s, nil
	}
	limit := askHits
	in := verb.RecallIn{Query: q, Narrowing: verb.Narrowing{Project: project}, Explain: true, Limit: &limit}
	out, err := verb.Recall(c.ctx, c.work, in)
	if err != nil {
		s.body, s.status = append(s.body, errorInPage(err)), failed(err).status
		return s, nil
	}
	if missed != "" {
		s.body = append(s.body, page.Section("why-not", "Why not "+page.Visible(missed)+"?", c.whyNot(in, out, missed)))
	}
	s.body = append(
		s.body,
		page.Section("ranking", "The ranking", ranking(out)),
		page.Section("gate", "Would hooks speak up?", c.gate(q, project)),
	)
	return s, nil
}

// ranking lists the hits, each with the contribution of every query term to its score.
func ranking(out verb.RecallOut) g.Node {
	if len(out.Hits) == 0 {
		return page.Empty("Nothing fits.", out.Why)
	}
	return g.Group{page.Notes(out.Notes), h.Ol(h.Class("rows"), g.Map(out.Hits, func(e verb.Entry) g.Node {
		return h.Li(h.Class("row"),
			h.Div(
				h.Class("head"),
				h.H3(page.EntryLink(e.Name)),
				page.Badge("", fmt.Sprintf("%.2f", e.Score), "the score; higher is better"),
				page.TrustBadge(e.Trust),
			),
			h.P(h.Class("snippet"), page.Isolated(e.Snippet)), scoreTable(e))
	}))}
}

// scoreTable shows how a score adds up, or nil if the entry has no explanation.
func scoreTable(e verb.Entry) g.Node {
	x := e.Explanation
	if x == nil {
		return nil
	}
	var rows []g.Node
	for _, t := range x.Terms {
		word := t.Term
		if t.Word != "" && t.Word != t.Term {
			word = t.Word + " (" + t.Term + ")"
		}
		rows = append(
			rows,
			h.Tr(
				h.Td(page.Isolated(word)),
				figure("%.2f", t.Score),
				figure("%.1f", t.TF),
				h.Td(h.Class("number"), h.Text(strconv.Itoa(t.DF)+" of "+strconv.Itoa(x.Entries))),
				figure("%.2f", t.IDF),
			),
		)
	}
	return h.Details(
		h.Summary(h.Text("Term by term")),
		page.Table([]string{"Term", "Gave", "Times", "In entries", "Rarity"}, rows...),
		h.P(
			h.Class("hint"),
			h.Textf("%s. Its length is %.0f, the mean %.0f.", page.Visible(x.Formula), x.Length, x.AvgLen),
		),
	)
}

func figure(format string, f float64) g.Node {
	return h.Td(h.Class("number"), h.Text(fmt.Sprintf(format, f)))
}

// gate shows what a hook would do if the question were a prompt.
func (c *call) gate(q, project string) g.Node {
	out, err := injection.Inject(c.ctx, c.work, injection.InjectIn{Prompt: q, Project: project, Explain: true})
	if err != nil {
		return errorInPage(err)
	}
	says := map[string]string{
		"payload": "Yes: the sentences that answer it would stand before the model.",
		"pointer": "A little: one line that names the entries.",
	}[out.Answer]
	if says == "" {
		says = "No: with this prompt a model gets nothing by itself."
	}
	return g.Group{h.P(h.Text(says)), g.Map(out.Why, func(n verb.Note) g.Node {
		return h.P(h.Class("dim"), h.Text(page.Said(n)))
	}),
		g.If(out.Text != "", h.Pre(h.Class("text"), page.Isolated(out.Text))), gateTable(out)}
}

// gateTable lists the units that the gate considered, each with its strength and its floor.
func gateTable(out injection.InjectOut) g.Node {
	var rows []g.Node
	for _, a := range out.Accounts {
		link := page.EntryLink(a.Name)
		if a.In == "sessions" {
			link = h.A(h.Href(page.Root+page.TurnPath(a.Name)), page.Isolated(a.Name))
		}
		rows = append(
			rows,
			h.Tr(
				figure("%.2f", a.G),
				figure("%.2f", float64(a.Floor)),
				h.Td(link),
				h.Td(h.Class("number"), h.Text(strconv.Itoa(a.Matched))),
				h.Td(h.Text(string(a.Answer))),
				h.Td(page.Isolated(a.Why)),
			),
		)
	}
	if rows == nil {
		return nil
	}
	return page.Table([]string{"Strength", "Floor", "Entry or turn", "Words", "Answer", "Because"}, rows...)
}

// whyNot explains why the named entry is not among the hits.
func (c *call) whyNot(in verb.RecallIn, shown verb.RecallOut, name string) g.Node {
	e, err := verb.Get(c.ctx, c.work, verb.GetIn{Name: name, Bare: true})
	if err != nil {
		return errorInPage(err)
	}
	at := func(hits []verb.Entry) int {
		return slices.IndexFunc(hits, func(h verb.Entry) bool { return h.Name == e.Name })
	}
	if i := at(shown.Hits); i >= 0 {
		return h.P(h.Textf("It is number %d of the hits below.", i+1))
	}
	if oxbow.Trust(e.Trust) == oxbow.TrustQuarantined {
		return h.P(h.Text("It is in quarantine: no search by words finds it until a person approves it."))
	}
	all := oxbow.MaxLimit
	in.Limit = &all
	out, err := verb.Recall(c.ctx, c.work, in)
	if err != nil {
		return errorInPage(err)
	}
	if i := at(out.Hits); i >= 0 {
		last := shown.Hits[len(shown.Hits)-1]
		return g.Group{
			h.P(h.Textf(
				"It is number %d, with a score of %.2f; the last of those below has %.2f.",
				i+1,
				out.Hits[i].Score,
				last.Score,
			)),
			scoreTable(out.Hits[i]),
		}
	}
	limit := 1
	alone := verb.RecallIn{Query: in.Query, Filter: "name:" + strconv.Quote(e.Name), Limit: &limit}
	out, err = verb.Recall(c.ctx, c.work, alone)
	if err != nil {
		return errorInPage(err)
	}
	if len(out.Hits) > 0 {
		return h.P(h.Text("Its words fit. The project, or a filter of the question, leaves it out."))
	}
	return g.Group{h.P(h.Text("It holds none of the words of the question, or not one that must be there.")),
		h.P(h.Class("hint"), h.Text("An alias with the word that people use makes it found.")),
		h.P(page.EntryLink(e.Name))}
}
