// This file is the page Context: the exact bytes that a model would receive, and the entries
// for which the budget had no room.

package web

import (
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// The events at which oxbow adds memory to a model's context.
const (
	eventStart   = "session start"
	eventPrompt  = "prompt"
	eventProfile = "profile"
)

func showContext(c *call) (reply, error) {
	event := c.value("event")
	if event == "" {
		event = eventStart
	}
	profiles, err := profiles.ListProfiles(c.ctx, c.work, profiles.ProfilesIn{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range profiles.Profiles {
		if !p.Hidden {
			names = append(names, p.Name)
		}
	}
	s := screen{
		title:   "Context",
		navPath: "context",
		lead: h.P(
			h.Class("lead"),
			h.Text(
				"The exact text that oxbow would show an agent now. It is the same for all clients. Nothing is "+
					"recorded.",
			),
		),
	}
	s.body = []g.Node{page.Ask("context", "Show",
		page.Choice("event", "When", event, "", []string{eventStart, eventPrompt, eventProfile}),
		page.Field("project", "Project", c.value("project"), h.Placeholder("none")),
		page.Choice("profile", "Profile", c.value("profile"), "everything", names),
		page.Field(
			"tokens",
			"Maximum tokens",
			c.value("tokens"),
			h.Type("number"),
			h.Min("1"),
			h.Placeholder("default"),
		),
		h.Div(h.Class("field grow"), page.Field("prompt", "Prompt or task", c.value("prompt"))))}
	show := map[string]func() (g.Node, error){eventPrompt: c.atPrompt, eventProfile: c.ofProfile}[event]
	if show == nil {
		show = c.atStart
	}
	got, err := show()
	if err != nil {
		got = errorInPage(err)
	}
	s.body = append(s.body, got)
	return s, nil
}

func (c *call) atStart() (g.Node, error) {
	out, err := injection.Start(
		c.ctx,
		c.work,
		injection.StartIn{Project: c.value("project"), Budget: c.number("tokens", 0)},
	)
	if err != nil {
		return nil, err
	}
	return g.Group{
		contextBytes(
			out.Text,
			out.Tokens,
			"No note is pinned or approved yet, so a session begins without notes.",
		),
		startNotes(out.Entries),
		g.Iff(out.Text != "" && out.Selection != nil, func() g.Node {
			return selectionTable(verb.SelectionOut{Selection: out.Selection})
		}),
	}, nil
}

// startNotes lists the notes in the block of a new session, each with a reason.
func startNotes(notes []injection.StartEntry) g.Node {
	if len(notes) == 0 {
		return nil
	}
	var rows []g.Node
	for _, n := range notes {
		rows = append(rows, partRow(n.Tokens, "entry", n.Name, n.Why))
	}
	return page.Section(
		"notes",
		"Which notes it contains, and why",
		page.Table([]string{"Tokens", "What", "Why"}, rows...),
	)
}

func (c *call) ofProfile() (g.Node, error) {
	out, err := profiles.Select(
		c.ctx,
		c.work,
		profiles.SelectIn{Profile: c.value("profile"), Query: c.value("prompt"), Budget: c.number("tokens", 0)},
	)
	if err != nil {
		return nil, err
	}
	edit := g.Node(nil)
	if name := c.value("profile"); name != "" {
		edit = h.P(h.A(h.Href(page.Root+"profiles/"+
			name), h.Text("Show the profile")))
	}
	return g.Group{
		edit,
		contextBytes(out.Text, out.Context.Tokens, "The profile selects nothing."),
		selectionTable(out),
	}, nil
}

func (c *call) atPrompt() (g.Node, error) {
	if c.value("prompt") == "" {
		return page.Empty("Enter a prompt above.", nil), nil
	}
	out, err := injection.Inject(
		c.ctx,
		c.work,
		injection.InjectIn{Prompt: c.value("prompt"), Project: c.value("project"), Explain: true},
	)
	if err != nil {
		return nil, err
	}
	if out.Text == "" {
		return page.Empty("For this prompt, oxbow shows nothing.", out.Why, gateTable(out)), nil
	}
	return g.Group{contextBytes(out.Text, out.Tokens, ""), page.Section("why", "Why", gateTable(out))}, nil
}

// contextBytes shows the text that a model receives. If it is empty, the page shows
// noneReason instead.
func contextBytes(text string, tokens int, noneReason string) g.Node {
	if text == "" {
		return page.Empty(noneReason, nil)
	}
	return page.Section(
		"bytes",
		"What the agent gets",
		h.P(
			h.Class("hint"),
			h.Textf(
				"%d bytes, about %d tokens, between the lines <%s> and </%s>.",
				len(text),
				tokens,
				session.Fence,
				session.Fence,
			),
		),
		h.Pre(h.Class("text"), h.TabIndex("0"), page.Isolated(text)),
	)
}

// selectionTable lists the entries in a selection, and the entries for which the budget had
// no room.
func selectionTable(out verb.SelectionOut) g.Node {
	var in, cut []g.Node
	for _, p := range out.Context.Parts {
		in = append(in, partRow(p.Tokens, p.Name, p.Source, p.Why))
	}
	for _, p := range out.Context.Cut {
		cut = append(cut, partRow(p.Tokens, p.Name, p.Source, p.Why))
	}
	return g.Group{
		g.Map(out.Notes, func(n string) g.Node { return page.Notice("note", page.Sentence(n), "") }),
		g.If(
			len(in) > 0,
			page.Section("in", "What was included, and why", page.Table([]string{"Tokens", "What", "Why"}, in...)),
		),
		page.Section(
			"cut",
			"What did not fit into the budget",
			g.If(len(cut) == 0, h.P(h.Class("dim"), h.Text("Nothing. Everything fits."))),
			g.If(len(cut) > 0, page.Table([]string{"Tokens", "What", "Why"}, cut...)),
		)}
}

func partRow(tokens int, name, source, why string) g.Node {
	what := page.Isolated(name)
	switch {
	case name == "entry" && !strings.HasSuffix(source, " more entries"):
		what = page.EntryLink(source)
	case source != "":
		what = g.Group{page.Isolated(name + " "), page.Isolated(source)}
	}
	return h.Tr(h.Td(h.Class("number"), h.Text(strconv.Itoa(tokens))), h.Td(what), h.Td(page.Isolated(why)))
}
