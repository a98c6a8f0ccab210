// This file builds the parts of pages: notices, badges, labels, list rows, and links to entries.

package page

import (
	"cmp"
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

// RootPath is the URL path of oxbow's web pages. The paths of all pages begin with it.
const RootPath = "/ui/"

// logo returns the logo, which shows a river and an oxbow lake.
func logo() g.Node {
	return g.Raw(
		`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M2 7c5 0 6 3 10 3s5-3 10-3" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"/><path d="M7 15c0 6 10 6 10 0" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"/></svg>`,
	)
}

// Notice is a box with a message and its remedy. kind is "error", "warn" or "note".
func Notice(kind, text, remedy string) g.Node {
	return h.Div(h.Class("notice "+kind), g.If(kind == "error", h.Role("alert")),
		h.P(h.Text(text)), g.If(remedy != "", h.P(h.Class("remedy"), h.Text(remedy))))
}

// NoteList shows the notes in the result of a verb.
func NoteList(ns []verb.Note) g.Node {
	return g.Map(ns, func(n verb.Note) g.Node { return Notice("note", NoteSentence(n), "") })
}

// EmptyNotice is shown in place of an empty list. It says why the list is empty.
func EmptyNotice(text string, why []verb.Note, next ...g.Node) g.Node {
	return h.Div(h.Class("empty"), h.P(h.Text(text)), g.Map(why, func(n verb.Note) g.Node {
		return h.P(h.Class("dim"), h.Text(NoteSentence(n)))
	}), g.Group(next))
}

// Section is a part of a page with a heading. Links can lead to its ID.
func Section(id, title string, body ...g.Node) g.Node {
	return h.Section(
		h.ID(id),
		h.Aria("labelledby", id+"-title"),
		h.H2(h.ID(id+"-title"), h.Text(title)),
		g.Group(body),
	)
}

// EntryPath returns the path of an entry's page, relative to [RootPath]. A space is appended to the names "." and
// "..", because browsers would resolve them as steps in the path. The pages remove this space, because no name ends
// with a space.
func EntryPath(name string) string {
	if name == "." || name == ".." {
		name += " "
	}
	return "entries/" + url.PathEscape(name)
}

// EntryLink is a link to an entry. Its text is the entry's name.
func EntryLink(name string) g.Node {
	return h.A(h.Href(RootPath+EntryPath(name)), IsolatedText(name))
}

// FindPagePath returns the path to the page with the results of a search, relative to [RootPath].
func FindPagePath(query string) string { return "find?" + url.Values{"q": {query}}.Encode() }

// RelativeTime shows the time t relative to the time now, for example "5 minutes ago". The exact time is the tooltip.
// If t is zero, the result is nil.
func RelativeTime(now, t time.Time) g.Node {
	if t.IsZero() {
		return nil
	}
	return h.Time(
		h.DateTime(t.UTC().Format(time.RFC3339)),
		h.Title(t.In(now.Location()).Format("Monday, 2 January 2006, 15:04:05 MST")),
		h.Text(relativeTimeText(now, t)),
	)
}

// EntryDate returns the time of an entry's last change. For an imported entry, it returns the date that the entry had
// before the import.
func EntryDate(e verb.Entry) time.Time {
	if e.Source.Actor == string(oxbow.Imported) {
		return ParseTime(e.Created)
	}
	return ParseTime(e.Updated)
}

// Badge is a short label. tooltip explains it.
func Badge(kind, text, tooltip string) g.Node {
	return h.Span(h.Class("badge "+kind), g.If(tooltip != "", h.Title(tooltip)), h.Text(text))
}

// TrustBadge returns a badge that warns about an entry with the level of trust [oxbow.TrustTainted], which is shown
// only to agents that ask for it, or [oxbow.TrustQuarantined], which agents do not see. For other levels of trust, it
// returns nil.
func TrustBadge(trust string) g.Node {
	switch oxbow.Trust(trust) {
	case oxbow.TrustTainted:
		return Badge(
			"warn",
			"held back",
			"Before it wrote this, the agent had read texts by others. Agents are not shown it unasked until you "+
				"approve it.",
		)
	case oxbow.TrustQuarantined:
		return Badge(
			"error",
			"quarantined",
			"It looks like an instruction to a model. Agents do not see it until you approve it.",
		)
	}
	return nil
}

// shownLabelKeys are the keys of the labels that pages show, in the order in which they are shown. Other labels are
// useful only to programs.
var shownLabelKeys = []string{oxbow.LabelProject, oxbow.LabelTag, oxbow.LabelFile}

// LabelChips shows those labels of an entry whose keys are in shownLabelKeys. Each label links to the entries with the
// same label. LabelChips returns nil if there is no such label.
func LabelChips(labels map[string][]string) g.Node {
	var out []g.Node
	for _, k := range shownLabelKeys {
		for _, v := range labels[k] {
			out = append(out, h.Li(h.A(h.Class("chip "+
				k), h.Href(RootPath+FindPagePath(k+":"+QuoteValue(v))), h.Span(h.Class("key"), h.Text(k+" ")),
				IsolatedText(v))))
		}
	}
	if out == nil {
		return nil
	}
	return h.Ul(h.Class("chips"), h.Aria("label", "Labels"), g.Group(out))
}

// QuoteValue returns a value as it must be written in a query, in quotes if necessary.
func QuoteValue(v string) string {
	if strings.ContainsAny(v, " \t\",") || v == "" {
		return strconv.Quote(v)
	}
	return v
}

// EntryRow shows an entry in a list: the name, the beginning of the text, the author and the time. In a search hit,
// the words of the query are highlighted.
func EntryRow(v Viewer, e verb.Entry, more ...g.Node) g.Node {
	return h.Li(h.Class("row"), entryRowBody(v, e), g.Group(more))
}

// EntryChoiceRow is like [EntryRow], but has a checkbox. The checkbox is the field "name" of the form around the list.
func EntryChoiceRow(v Viewer, e verb.Entry, more ...g.Node) g.Node {
	return h.Li(h.Class("row choice"),
		h.Input(h.Type("checkbox"), h.Name("name"), h.Value(e.Name), h.Aria("label", "Choose "+VisibleText(e.Name))),
		h.Div(h.Class("row"), entryRowBody(v, e), g.Group(more)))
}

func entryRowBody(v Viewer, e verb.Entry) g.Node {
	return g.Group{
		h.Div(
			h.Class("head"),
			h.H3(h.A(h.Href(RootPath+EntryPath(e.Name)), HighlightedText(e.Name, e.MatchedWords))),
			TrustBadge(e.TrustLevel),
			g.If(e.Kind != "note", Badge("", e.Kind, "")),
		),
		g.If(e.Snippet != "", h.P(h.Class("snippet"), HighlightedText(StripMarkdown(e.Snippet), e.MatchedWords))),
		h.Div(
			h.Class("meta"),
			LabelChips(e.Labels),
			h.Span(h.Text(v.WriterName(e.Source)), h.Text(", "), RelativeTime(v.Now, EntryDate(e))),
		),
	}
}

// Viewer describes the person who looks at a page.
type Viewer struct {
	Now             time.Time // present time, in the time zone in which dates are shown
	Actor           oxbow.Actor
	HasSeveralUsers bool // other people may use the same memory
}

// WriterName says who wrote something. A change by a person is called the viewer's own only if nobody else uses the
// memory, because the memory does not record which person made a change.
func (v Viewer) WriterName(s verb.Source) string {
	switch oxbow.Actor(s.Actor) {
	case oxbow.Person:
		if v.Actor == oxbow.Person && !v.HasSeveralUsers {
			return "you"
		}
		return "a person"
	case oxbow.Agent:
		if s.Agent != "" {
			return VisibleText(s.Agent)
		}
		if s.Client != "" {
			return VisibleText(s.Client)
		}
		return "an agent"
	case oxbow.Imported:
		return "an import"
	case "":
		return "unknown"
	}
	return s.Actor
}

// DescribeChange describes a change in one sentence.
func DescribeChange(ch verb.Change) string {
	if len(ch.Entries) == 0 {
		return fmt.Sprintf("Change %d.", ch.Seq)
	}
	s := VerbForChange(ch) + " " + strconv.Quote(VisibleText(ch.Entries[0].Name))
	if n := len(ch.Entries) - 1; n > 0 {
		s += " and " + CountWithNoun(n, "other")
	}
	return s + "."
}

// VerbForChange returns the verb that describes a change's effect on the first entry, such as "Added".
func VerbForChange(ch verb.Change) string {
	if len(ch.RevertedSeqs) > 0 {
		return "Undid a change of"
	}
	verbs := map[string]string{"add": "Added", "update": "Changed", "label": "Relabelled",
		"alias": "Changed the aliases of", "remove": "Forgot", "restore": "Brought back"}
	first := ch.Entries[0]
	return cmp.Or(verbs[first.Verb], strings.TrimSuffix(MakeSentence(first.Verb), "."))
}

// HiddenFields returns hidden form fields. namesAndValues alternates between a name and a value.
func HiddenFields(namesAndValues ...string) g.Node {
	var out g.Group
	for p := range slices.Chunk(namesAndValues, 2) {
		out = append(out, h.Input(h.Type("hidden"), h.Name(p[0]), h.Value(p[1])))
	}
	return out
}

// PostButton is a form with only a button. action is the path to which it posts, relative to [RootPath].
func PostButton(action, class, text string, fields ...string) g.Node {
	return h.Form(
		h.Class("one"),
		h.Method("post"),
		h.Action(RootPath+action),
		HiddenFields(fields...),
		h.Button(h.Class(class), h.Text(text)),
	)
}

// Pager returns links to the previous and the next page of a list. The list is sorted from new to old. The parameters
// offset and next are the positions of this page and the next page in the list, and size is the number of items on a
// page. Each link has the query parameters of u, but with the offset of its page.
func Pager(u *url.URL, offset, next, size int) g.Node {
	return pager(u, offset, next, size, "Newer", "Older")
}

// RankedPager is like [Pager], for a list with the best result first.
func RankedPager(u *url.URL, offset, nextOffset, size int) g.Node {
	return pager(u, offset, nextOffset, size, "Better", "Further")
}

func pager(u *url.URL, offset, nextOffset, size int, previousLabel, nextLabel string) g.Node {
	at := func(offset int, rel, text string) g.Node {
		q := u.Query()
		q.Del("done")
		q.Del("said")
		q.Set("offset", strconv.Itoa(offset))
		return h.A(h.Rel(rel), h.Href(u.EscapedPath()+"?"+q.Encode()), h.Text(text))
	}
	if offset == 0 && nextOffset == 0 {
		return nil
	}
	return h.Nav(
		h.Class("pager"),
		h.Aria("label", "Pages"),
		g.If(
			offset > 0,
			at(max(0, offset-size), "prev", previousLabel),
		),
		g.If(nextOffset > 0, at(nextOffset, "next", nextLabel)),
	)
}

// Table shows rows below the heads of the columns. A wide table scrolls horizontally.
func Table(heads []string, rows ...g.Node) g.Node {
	return h.Div(h.Class("wide"), h.TabIndex("0"), h.Role("region"), h.Aria("label", "Table"), h.Table(
		h.THead(h.Tr(g.Map(heads, func(s string) g.Node {
			return h.Th(h.Attr("scope", "col"), h.Text(s))
		}))), h.TBody(rows...)))
}

// PercentageMeter shows a percentage as a bar, and as text.
func PercentageMeter(percentage int, text string) g.Node {
	return h.Div(
		h.Class("meter"),
		h.El("meter", h.Min("0"), h.Max("100"), h.Value(fmt.Sprint(percentage)), h.Aria("label", text)),
		h.Span(h.Class("hint"), h.Text(text)),
	)
}
