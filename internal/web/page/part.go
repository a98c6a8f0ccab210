// Parts of pages: notices, badges, labels, a row of a list, and links to entries.

package page

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// Root is the path that all pages are below.
const Root = "/ui/"

// mark is the sign of the program: a river and the bend that it left.
func mark() g.Node {
	return g.Raw(`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M2 7c5 0 6 3 10 3s5-3 10-3" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"/><path d="M7 15c0 6 10 6 10 0" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"/></svg>`)
}

// Notice is a box that says something with what to do about it: error, warn or note.
func Notice(kind, text, remedy string) g.Node {
	return h.Div(h.Class("notice "+kind), g.If(kind == "error", h.Role("alert")),
		h.P(h.Text(text)), g.If(remedy != "", h.P(h.Class("remedy"), h.Text(remedy))))
}

// Notes are the notes of an answer, nothing where there are none.
func Notes(ns []verb.Note) g.Node {
	return g.Map(ns, func(n verb.Note) g.Node { return Notice("note", Said(n), "") })
}

// Empty stands in the place of a list that has nothing, and says why.
func Empty(text string, why []verb.Note, next ...g.Node) g.Node {
	return h.Div(h.Class("empty"), h.P(h.Text(text)), g.Map(why, func(n verb.Note) g.Node { return h.P(h.Class("dim"), h.Text(Said(n))) }), g.Group(next))
}

// Section is a part of a page under a heading, with an id to link to.
func Section(id, title string, body ...g.Node) g.Node {
	return h.Section(h.ID(id), h.Aria("labelledby", id+"-title"), h.H2(h.ID(id+"-title"), h.Text(title)), g.Group(body))
}

// EntryPath is the path of an entry's page, below [Root]. The names that a browser
// would take for steps in the path get a space, which no name ends with: the pages
// take it away.
func EntryPath(name string) string {
	if name == "." || name == ".." {
		name += " "
	}
	return "entries/" + url.PathEscape(name)
}

// EntryLink links to an entry by its name.
func EntryLink(name string) g.Node {
	return h.A(h.Href(Root+EntryPath(name)), Isolated(name))
}

// FindPath is the path of a search, below [Root].
func FindPath(query string) string { return "find?" + url.Values{"q": {query}}.Encode() }

// When shows a moment with its exact time.
func When(now, t time.Time) g.Node {
	if t.IsZero() {
		return nil
	}
	return h.Time(h.DateTime(t.UTC().Format(time.RFC3339)), h.Title(t.In(now.Location()).Format("Monday, 2 January 2006, 15:04:05 MST")), h.Text(ago(now, t)))
}

// Badge is a word about a thing. What it means is said when it is pointed at.
func Badge(kind, text, means string) g.Node {
	return h.Span(h.Class("badge "+kind), g.If(means != "", h.Title(means)), h.Text(text))
}

// TrustBadge warns of an entry that no model is shown by itself.
func TrustBadge(trust string) g.Node {
	switch oxbow.Trust(trust) {
	case oxbow.TrustTainted:
		return Badge("warn", "held back", "Its agent had read texts of others before it wrote this. No model is shown it by itself until you approve it.")
	case oxbow.TrustQuarantined:
		return Badge("error", "quarantined", "It looks like an instruction to a model. No model is shown it until you approve it.")
	}
	return nil
}

// shownLabels are the keys of labels that pages show as chips, in their order. The
// others are for programs.
var shownLabels = []string{oxbow.LabelProject, oxbow.LabelTag, oxbow.LabelFile}

// Chips are the labels of an entry, each a link to what has it too.
func Chips(labels map[string][]string) g.Node {
	var out []g.Node
	for _, k := range shownLabels {
		for _, v := range labels[k] {
			out = append(out, h.Li(h.A(h.Class("chip "+k), h.Href(Root+FindPath(k+":"+Quoted(v))), h.Span(h.Class("key"), h.Text(k+" ")), Isolated(v))))
		}
	}
	if out == nil {
		return nil
	}
	return h.Ul(h.Class("chips"), h.Aria("label", "Labels"), g.Group(out))
}

// Quoted is a value as a filter takes it.
func Quoted(v string) string {
	if strings.ContainsAny(v, " \t\",") || v == "" {
		return strconv.Quote(v)
	}
	return v
}

// Row is an entry in a list: its name, how it begins, and who wrote it when. Of a hit
// the words of the query are marked.
func Row(now time.Time, e verb.Entry, more ...g.Node) g.Node {
	return h.Li(h.Class("row"), rowBody(now, e), g.Group(more))
}

// ChoiceRow is [Row] with a box to tick: a field "name" of the form around the list.
func ChoiceRow(now time.Time, e verb.Entry, more ...g.Node) g.Node {
	return h.Li(h.Class("row choice"),
		h.Input(h.Type("checkbox"), h.Name("name"), h.Value(e.Name), h.Aria("label", "Choose "+Visible(e.Name))),
		h.Div(h.Class("row"), rowBody(now, e), g.Group(more)))
}

func rowBody(now time.Time, e verb.Entry) g.Node {
	return g.Group{
		h.Div(h.Class("head"), h.H3(h.A(h.Href(Root+EntryPath(e.Name)), Marked(e.Name, e.Words))), TrustBadge(e.Trust), g.If(e.Kind != "note", Badge("", e.Kind, ""))),
		g.If(e.Snippet != "", h.P(h.Class("snippet"), Marked(e.Snippet, e.Words))),
		h.Div(h.Class("meta"), Chips(e.Labels), h.Span(h.Text(Writer(e.Source)), h.Text(", "), When(now, Moment(e.Updated)))),
	}
}

// Writer names who wrote something, as pages say it.
func Writer(s verb.Source) string {
	switch oxbow.Actor(s.By) {
	case oxbow.Person:
		return "a person"
	case oxbow.Agent:
		if s.Agent != "" {
			return Visible(s.Agent)
		}
		if s.Client != "" {
			return Visible(s.Client)
		}
		return "an agent"
	case oxbow.Imported:
		return "an import"
	case "":
		return "unknown"
	}
	return s.By
}

// DidWhat says in one sentence what a change did.
func DidWhat(ch verb.Change) string {
	if len(ch.Entries) == 0 {
		return fmt.Sprintf("Change %d.", ch.Seq)
	}
	verbs := map[string]string{"add": "Added", "update": "Changed", "label": "Relabelled", "alias": "Changed the aliases of", "remove": "Forgot", "restore": "Brought back"}
	first := ch.Entries[0]
	verbWord := verbs[first.Verb]
	if len(ch.Reverts) > 0 {
		verbWord = "Undid a change of"
	}
	if verbWord == "" {
		verbWord = Sentence(first.Verb)
	}
	s := verbWord + " " + strconv.Quote(Visible(first.Name))
	if n := len(ch.Entries) - 1; n > 0 {
		s += " and " + Plural(n, "other")
	}
	return s + "."
}

// Hidden are fields of a form that no person fills in, a name and a value each.
func Hidden(pairs ...string) g.Node {
	var out g.Group
	for p := range slices.Chunk(pairs, 2) {
		out = append(out, h.Input(h.Type("hidden"), h.Name(p[0]), h.Value(p[1])))
	}
	return out
}

// Button is a form of one button that posts to a path below [Root].
func Button(action, class, text string, fields ...string) g.Node {
	return h.Form(h.Class("one"), h.Method("post"), h.Action(Root+action), Hidden(fields...), h.Button(h.Class(class), h.Text(text)))
}

// Pager leads to the pages before and after that of a URL, by an offset in its query.
func Pager(u *url.URL, offset, next, size int) g.Node {
	at := func(offset int, rel, text string) g.Node {
		q := u.Query()
		q.Del("done")
		q.Del("said")
		q.Set("offset", strconv.Itoa(offset))
		return h.A(h.Rel(rel), h.Href(u.EscapedPath()+"?"+q.Encode()), h.Text(text))
	}
	if offset == 0 && next == 0 {
		return nil
	}
	return h.Nav(h.Class("pager"), h.Aria("label", "Pages"),
		g.If(offset > 0, at(max(0, offset-size), "prev", "Newer")), g.If(next > 0, at(next, "next", "Older")))
}

// Table is rows under heads; it scrolls by itself where it is wide.
func Table(heads []string, rows ...g.Node) g.Node {
	return h.Div(h.Class("wide"), h.TabIndex("0"), h.Role("region"), h.Aria("label", "Table"), h.Table(
		h.THead(h.Tr(g.Map(heads, func(s string) g.Node { return h.Th(h.Attr("scope", "col"), h.Text(s)) }))), h.TBody(rows...)))
}

// Meter shows a share of 100 as a bar, with the same in words.
func Meter(share int, text string) g.Node {
	return h.Div(h.Class("meter"), h.El("meter", h.Min("0"), h.Max("100"), h.Value(fmt.Sprint(share)), h.Aria("label", text)), h.Span(h.Class("hint"), h.Text(text)))
}
