// This file explains results on the page Find, if the user asks for it: how recall ranks entries for a query, which
// texts a hook would show for the query, and why an entry is not among the hits.

package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// redirectOldAskPage answers requests for the page Ask, which earlier versions had, so that bookmarks still work. It
// redirects the browser to the page Find, which explains how the same query is ranked.
func redirectOldAskPage(c *pageRequest) (pageReply, error) {
	q := c.formValue("q")
	if project := c.formValue("project"); project != "" {
		q = strings.TrimSpace(q + " " + oxbow.LabelProject + ":" + page.QuoteValue(project))
	}
	return redirectReply{path: explanationPath(q, c.formValue("why"))}, nil
}

// explanationPath returns the path at which Find explains the query. If missedEntry is not empty, the page also
// explains why that entry is not among the hits.
func explanationPath(query, missedEntry string) string {
	v := url.Values{"q": {query}, "explain": {"1"}}
	if missedEntry != "" {
		v.Set("why", missedEntry)
	}
	return "find?" + v.Encode()
}

// explanationLink returns a link to the page that explains the results of a query. It returns nil if the present page
// already shows the explanation.
func (c *pageRequest) explanationLink(query string) g.Node {
	if c.formValue("explain") != "" {
		return nil
	}
	return h.P(h.A(h.Href(page.RootPath+explanationPath(query, "")), h.Text("Explain these results")))
}

// explanationSection explains why a query finds the shown hits. It returns nil if the address does not ask for an
// explanation.
func (c *pageRequest) explanationSection(query string, shownHits []verb.Entry) g.Node {
	if c.formValue("explain") == "" {
		return nil
	}
	missed := c.formValue("why")
	return h.Section(
		h.Class("explanation"),
		h.Aria("labelledby", "explanation-title"),
		h.Div(h.Class("head"), h.H2(h.ID("explanation-title"), h.Text("How these results were ranked")),
			h.A(h.Href(page.RootPath+page.FindPagePath(query)), h.Text("Close"))),
		h.P(
			h.Class("hint"),
			h.Text("Each result shows how much each word contributes to its score. This search is not recorded."),
		),
		h.H3(h.Text("Would oxbow show this to an agent unasked?")),
		c.previewHookAddition(query, ""),
		h.H3(h.Text("Is an entry missing?")),
		page.QueryForm("find", "Why not?", page.HiddenFields("q", query, "explain", "1"),
			page.InputField("why", "Name of the entry", missed, h.Required())),
		g.Iff(missed != "", func() g.Node {
			limit := len(shownHits) + 1
			in := verb.RecallIn{Query: query, Explain: true, Limit: &limit}
			return c.explainMissingEntry(in, shownHits, missed)
		}),
	)
}

// scoreTable returns a table with the parts of a score, or nil for an entry without an explanation.
func scoreTable(e verb.Entry) g.Node {
	x := e.Explanation
	if x == nil {
		return nil
	}
	var rows []g.Node
	for _, t := range x.Terms {
		word := t.Term
		if t.QueryWord != "" && t.QueryWord != t.Term {
			word = t.QueryWord + " (" + t.Term + ")"
		}
		rows = append(
			rows,
			h.Tr(
				h.Td(page.IsolatedText(word)),
				numberCell("%.2f", t.Score),
				numberCell("%.1f", t.TF),
				h.Td(h.Class("number"), h.Text(strconv.Itoa(t.DF)+" of "+strconv.Itoa(x.Entries))),
				numberCell("%.2f", t.IDF),
			),
		)
	}
	return h.Details(
		h.Summary(h.Textf("Score %.2f, word by word", e.Score)),
		page.Table([]string{"Word", "Score", "Times", "In entries", "Rarity"}, rows...),
		h.P(
			h.Class("hint"),
			h.Textf("%s. Its length is %.0f, the mean %.0f.", page.VisibleText(x.Formula), x.Length, x.AvgLen),
		),
	)
}

func numberCell(format string, f float64) g.Node {
	return h.Td(h.Class("number"), h.Text(fmt.Sprintf(format, f)))
}

// previewHookAddition shows what a hook would add to a prompt that consists of the words in query. It says whether the
// agent would get text. If not, it lists the reasons. It also shows the text, and a table of the entries that the hook
// would examine.
func (c *pageRequest) previewHookAddition(query, project string) g.Node {
	out, err := injection.Inject(c.ctx, c.workspace, injection.InjectIn{Prompt: query, Project: project, Explain: true})
	if err != nil {
		return renderErrorInPage(err)
	}
	says := map[string]string{
		"payload": "Yes. For a prompt with these words, the agent gets the matching sentences.",
		"pointer": "Partly. The agent gets one line that names the entries.",
	}[out.Answer]
	if says == "" {
		says = "No. For a prompt with these words, the agent gets nothing unless it searches."
	}
	return g.Group{h.P(h.Text(says)), g.Map(out.SilenceReasons, func(n verb.Note) g.Node {
		return h.P(h.Class("dim"), h.Text(page.NoteSentence(n)))
	}),
		g.If(out.Text != "", h.Pre(h.Class("text"), page.IsolatedText(out.Text))), hookAnswerTable(out)}
}

// hookAnswerTexts maps each kind of answer that a hook can give to a prompt to a phrase. The phrase says what an agent
// gets of an entry: "payload" means sentences of the entry, "pointer" means only its name, and "silence" means nothing.
var hookAnswerTexts = map[string]string{"payload": "sentences", "pointer": "the name", "silence": "nothing"}

// hookAnswerTable lists the entries and session turns that might be given to the agent because of its prompt. For
// each, it shows how strongly the text answers the prompt, and how strong it would have to be.
func hookAnswerTable(out injection.InjectOut) g.Node {
	var rows []g.Node
	for _, a := range out.EntryDecisions {
		link := page.EntryLink(a.Name)
		if a.SourceKind == "sessions" {
			link = h.A(h.Href(page.RootPath+page.TurnPath(a.Name)), page.IsolatedText(a.Name))
		}
		rows = append(
			rows,
			h.Tr(
				numberCell("%.2f", a.Strength),
				numberCell("%.2f", float64(a.MinStrength)),
				h.Td(link),
				h.Td(h.Class("number"), h.Text(strconv.Itoa(a.MatchedWordCount))),
				h.Td(h.Text(hookAnswerTexts[string(a.AnswerKind)])),
				h.Td(page.IsolatedText(a.NotShownReason)),
			),
		)
	}
	if rows == nil {
		return nil
	}
	return page.Table([]string{"Strength", "Floor", "Entry or turn", "Words", "Agent gets", "Because"}, rows...)
}

// explainMissingEntry says why the entry with the given name is not among the shown hits. The argument in contains the
// query that found these hits. If the entry is on another page of hits, explainMissingEntry says its place.
func (c *pageRequest) explainMissingEntry(in verb.RecallIn, shown []verb.Entry, name string) g.Node {
	e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true})
	if err != nil {
		return renderErrorInPage(err)
	}
	at := func(hits []verb.Entry) int {
		return slices.IndexFunc(hits, func(h verb.Entry) bool { return h.Name == e.Name })
	}
	if i := at(shown); i >= 0 {
		return h.P(h.Textf("It is result %d below.", i+1))
	}
	if oxbow.Trust(e.TrustLevel) == oxbow.TrustQuarantined {
		return h.P(h.Text("It is in quarantine. A search does not find it until a person approves it."))
	}
	all := oxbow.MaxLimit
	in.Limit = &all
	out, err := verb.Recall(c.ctx, c.workspace, in)
	if err != nil {
		return renderErrorInPage(err)
	}
	if i := at(out.Hits); i >= 0 {
		return g.Group{
			h.P(h.Textf("It is result %d with a score of %.2f, on another page.", i+1, out.Hits[i].Score)),
			scoreTable(out.Hits[i]),
		}
	}
	limit := 1
	words, err := c.extractQueryWords(in.Query)
	if err != nil {
		return renderErrorInPage(err)
	}
	alone := verb.RecallIn{Query: words, Filter: "name:" + strconv.Quote(e.Name), Limit: &limit}
	out, err = verb.Recall(c.ctx, c.workspace, alone)
	if err != nil {
		return renderErrorInPage(err)
	}
	if len(out.Hits) > 0 {
		return h.P(h.Text("Its words match, but a filter of the query excludes it."))
	}
	return g.Group{h.P(h.Text("It contains none of the words of the query, or lacks a word that the query requires.")),
		h.P(h.Class("hint"), h.Text("If you search for it by another word, add that word as an alias.")),
		h.P(page.EntryLink(e.Name))}
}

// extractQueryWords returns the words of a query, without its filters.
func (c *pageRequest) extractQueryWords(query string) (string, error) {
	ctx, m, err := c.workspace.OpenMemory(c.ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return "", err
	}
	parsed, err := m.ParseQuery(ctx, oxbow.Query{Text: query})
	if err != nil {
		return "", err
	}
	var words []string
	for _, t := range parsed.Terms {
		words = append(words, t.Word)
	}
	return wordsWithoutOperators(strings.Join(words, " ")), nil
}
