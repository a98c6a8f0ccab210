// This file implements the page Context. It shows the exact text that a model would receive, and the entries that
// exceed the budget.

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

// These are the events at which oxbow adds memory to the context of a model.
const (
	contextEventSessionStart = "session start"
	contextEventPrompt       = "prompt"
	contextEventProfile      = "profile"
)

func contextPage(c *pageRequest) (pageReply, error) {
	event := c.formValue("event")
	if event == "" {
		event = contextEventSessionStart
	}
	profiles, err := profiles.ListProfiles(c.ctx, c.workspace, profiles.ProfilesIn{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range profiles.Profiles {
		if !p.IsHidden {
			names = append(names, p.Name)
		}
	}
	s := pageWithNavigation{
		title:   "Context",
		navPath: "context",
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text(
				"The exact text that oxbow would show an agent now. It is the same for all clients. Nothing is "+
					"recorded.",
			),
		),
	}
	s.bodyNodes = []g.Node{page.QueryForm(
		"context",
		"Show",
		page.SelectField(
			"event",
			"When",
			event,
			"",
			[]string{contextEventSessionStart, contextEventPrompt, contextEventProfile},
		),
		page.InputField("project", "Project", c.formValue("project"), h.Placeholder("none")),
		page.SelectField("profile", "Profile", c.formValue("profile"), "everything", names),
		page.InputField(
			"tokens",
			"Maximum tokens",
			c.formValue("tokens"),
			h.Type("number"),
			h.Min("1"),
			h.Placeholder("default"),
		),
		h.Div(h.Class("field grow"), page.InputField("prompt", "Prompt or task", c.formValue("prompt"))),
	)}
	show := map[string]func() (g.Node, error){contextEventPrompt: c.promptContextSection,
		contextEventProfile: c.profileContextSection}[event]
	if show == nil {
		show = c.sessionStartSection
	}
	got, err := show()
	if err != nil {
		got = renderErrorInPage(err)
	}
	s.bodyNodes = append(s.bodyNodes, got)
	return s, nil
}

func (c *pageRequest) sessionStartSection() (g.Node, error) {
	out, err := injection.BuildSessionStartBlock(
		c.ctx,
		c.workspace,
		injection.SessionStartIn{Project: c.formValue("project"), MaxTokens: c.formNumber("tokens", 0)},
	)
	if err != nil {
		return nil, err
	}
	return g.Group{
		contextSection(
			out.Text,
			out.TokenCount,
			"No note is pinned or approved yet, so a session begins without notes.",
		),
		sessionStartNotesTable(out.Entries),
		g.Iff(out.Text != "" && out.SelectedDocuments != nil, func() g.Node {
			return selectedEntriesTable(verb.SelectionOut{Selection: out.SelectedDocuments})
		}),
	}, nil
}

// sessionStartNotesTable lists the notes in the text for a new session. It shows a reason for each.
func sessionStartNotesTable(notes []injection.SessionStartEntry) g.Node {
	if len(notes) == 0 {
		return nil
	}
	var rows []g.Node
	for _, n := range notes {
		rows = append(rows, contextPartRow(n.Tokens, "entry", n.Name, n.Reason))
	}
	return page.Section(
		"notes",
		"Which notes it contains, and why",
		page.Table([]string{"Tokens", "What", "Why"}, rows...),
	)
}

func (c *pageRequest) profileContextSection() (g.Node, error) {
	out, err := profiles.SelectEntries(
		c.ctx,
		c.workspace,
		profiles.SelectEntriesIn{
			Profile:   c.formValue("profile"),
			Query:     c.formValue("prompt"),
			MaxTokens: c.formNumber("tokens", 0),
		},
	)
	if err != nil {
		return nil, err
	}
	edit := g.Node(nil)
	if name := c.formValue("profile"); name != "" {
		edit = h.P(h.A(h.Href(page.RootPath+"profiles/"+
			name), h.Text("Show the profile")))
	}
	return g.Group{
		edit,
		contextSection(out.Text, out.Context.Tokens, "The profile selects nothing."),
		selectedEntriesTable(out),
	}, nil
}

func (c *pageRequest) promptContextSection() (g.Node, error) {
	if c.formValue("prompt") == "" {
		return page.EmptyNotice("Enter a prompt above.", nil), nil
	}
	out, err := injection.Inject(
		c.ctx,
		c.workspace,
		injection.InjectIn{Prompt: c.formValue("prompt"), Project: c.formValue("project"), Explain: true},
	)
	if err != nil {
		return nil, err
	}
	if out.Text == "" {
		return page.EmptyNotice("For this prompt, oxbow shows nothing.", out.SilenceReasons, hookAnswerTable(out)), nil
	}
	return g.Group{contextSection(out.Text, out.Tokens, ""), page.Section("why", "Why", hookAnswerTable(out))}, nil
}

// contextSection shows the text that a model receives. If the text is empty, it shows emptyReason.
func contextSection(text string, tokens int, emptyReason string) g.Node {
	if text == "" {
		return page.EmptyNotice(emptyReason, nil)
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
				session.InsertedTagName,
				session.InsertedTagName,
			),
		),
		h.Pre(h.Class("text"), h.TabIndex("0"), page.IsolatedText(text)),
	)
}

// selectedEntriesTable lists the entries in a selection, and the entries that exceed the budget.
func selectedEntriesTable(out verb.SelectionOut) g.Node {
	var in, cut []g.Node
	for _, p := range out.Context.Parts {
		in = append(in, contextPartRow(p.Tokens, p.Name, p.Source, p.Reason))
	}
	for _, p := range out.Context.OmittedTexts {
		cut = append(cut, contextPartRow(p.Tokens, p.Name, p.Source, p.Reason))
	}
	return g.Group{
		g.Map(out.Notes, func(n string) g.Node { return page.Notice("note", page.MakeSentence(n), "") }),
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

func contextPartRow(tokens int, name, source, reason string) g.Node {
	what := page.IsolatedText(name)
	switch {
	case name == "entry" && !strings.HasSuffix(source, " more entries"):
		what = page.EntryLink(source)
	case source != "":
		what = g.Group{page.IsolatedText(name + " "), page.IsolatedText(source)}
	}
	return h.Tr(h.Td(h.Class("number"), h.Text(strconv.Itoa(tokens))), h.Td(what), h.Td(page.IsolatedText(reason)))
}
