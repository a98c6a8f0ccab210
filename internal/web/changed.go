// This file shows the texts that a person wrote and an agent changed later. Each text has buttons to keep the change or
// to restore the person's text.

package web

import (
	"cmp"
	"context"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// maxShownChangedEntries is the maximum number of entries in the section that lists the person's texts which agents
// changed.
const maxShownChangedEntries = 10

// agentEditsSection returns the section with texts that agents changed, or nil if such texts do not exist.
func (c *pageRequest) agentEditsSection() g.Node {
	limit := maxShownChangedEntries
	out, err := review.ListAgentChanges(c.ctx, c.workspace, review.ListAgentChangesIn{Limit: &limit})
	if err != nil || out.Total == 0 {
		return nil
	}
	title := "Agents changed " + page.CountWithNoun(out.Total, "note") + " that you wrote"
	return page.Section("changed", title,
		h.Ul(h.Class("rows cards"), g.Map(out.Entries, c.changedEntryRow)),
		g.If(
			out.HasMore,
			h.P(
				h.Class("dim"),
				h.Textf("%d more appear when you have decided about these.", out.Total-len(out.Entries)),
			),
		))
}

// changedEntryNotice returns the notice on the page of an entry that a person wrote and an agent changed. It returns
// nil if no change of the entry waits for a person's decision, or if the changes cannot be listed.
func (c *pageRequest) changedEntryNotice(name string) g.Node {
	out, err := review.ListAgentChanges(c.ctx, c.workspace, review.ListAgentChangesIn{Name: name})
	if err != nil || len(out.Entries) == 0 {
		return nil
	}
	e := out.Entries[0]
	return h.Section(
		h.ID("changed"),
		h.Class("row card changed"),
		h.Aria("labelledby", "changed-title"),
		h.H2(
			h.ID("changed-title"),
			h.Text("An agent changed what you wrote"),
		),
		c.changedEntryDetails(e, agentChangeWords[e.AgentEditKind]),
	)
}

// agentChangeWords maps each kind of change that an agent can make to an entry to the word that web pages show for this
// kind.
var agentChangeWords = map[string]string{
	review.EditKindTextChanged: "Changed",
	review.EditKindForgotten:   "Forgotten",
	review.EditKindRelabelled:  "Relabelled",
	review.EditKindRenamed:     "Renamed",
}

// changedEntryRow shows one entry: who changed it, the difference, and the buttons.
func (c *pageRequest) changedEntryRow(e review.ChangedEntry) g.Node {
	did := agentChangeWords[e.AgentEditKind]
	return h.Li(h.Class("row card"),
		h.Div(
			h.Class("head"),
			h.H3(c.changedEntryTitle(e)),
			page.Badge("", strings.ToLower(did), "An agent did this to a text that you wrote."),
		),
		c.changedEntryDetails(e, did))
}

// changedEntryDetails shows how an agent changed a text that the person wrote: the difference, the agent and its
// session, and the buttons. actionName names the agent's action, such as "Removed".
func (c *pageRequest) changedEntryDetails(e review.ChangedEntry, actionName string) g.Node {
	var by g.Node = page.IsolatedText(cmp.Or(e.Source.Agent, e.Source.Client, "an agent"))
	if client, id, ok := strings.Cut(e.Session, "/"); ok {
		by = g.Group{
			by,
			h.Text(" in "),
			h.A(h.Href(page.RootPath+page.SessionPath(client, id, 0)), h.Text("a session")),
		}
	}
	var labels []g.Node
	for _, l := range e.LabelsRemoved {
		labels = append(labels, h.Li(h.Text("The label "), page.IsolatedText(l), h.Text(" was removed.")))
	}
	for _, l := range e.LabelsAdded {
		labels = append(labels, h.Li(h.Text("The label "), page.IsolatedText(l), h.Text(" was added.")))
	}
	for _, a := range e.AliasesRemoved {
		labels = append(labels, h.Li(h.Text("The alias "), page.IsolatedText(a), h.Text(" was removed.")))
	}
	return g.Group{
		g.If(e.AgentEditKind != review.EditKindRenamed, page.TextDiff(e.PersonText, e.CurrentText)),
		g.If(len(labels) > 0, h.Ul(h.Class("list"), g.Group(labels))),
		h.Div(
			h.Class("meta"),
			h.Span(
				h.Text(actionName+" by "),
				by,
				h.Text(", "),
				page.RelativeTime(c.now, page.ParseTime(e.AgentEditTime)),
			),
		),
		g.Iff(c.mayWrite() && c.actor == oxbow.Person, func() g.Node {
			return h.Div(h.Class("actions"),
				page.PostButton("changed/restore", "main", "Bring back", "name", e.Name, "back", c.currentPath()),
				page.PostButton("changed/keep", "", "Keep", "name", e.Name, "back", c.currentPath()))
		})}
}

// changedEntryTitle returns the name of the entry as a link to the entry. If the entry was renamed, the result contains
// the old name, and the new name as a link. If the entry was forgotten, the name is not a link.
func (c *pageRequest) changedEntryTitle(e review.ChangedEntry) g.Node {
	switch {
	case e.NewName != "":
		return g.Group{page.IsolatedText(e.Name), h.Text(", now "), page.EntryLink(e.NewName)}
	case e.AgentEditKind == review.EditKindForgotten:
		return page.IsolatedText(e.Name)
	}
	return page.EntryLink(e.Name)
}

// keepAgentChange handles the form that accepts an agent's change of an entry that a person wrote.
func keepAgentChange(c *pageRequest) (pageReply, error) {
	return decideAgentChange(c, review.KeepAgentChanges)
}

// restorePersonText handles the form that restores an entry as a person wrote it, in place of an agent's change.
func restorePersonText(c *pageRequest) (pageReply, error) {
	return decideAgentChange(c, review.RestorePersonTexts)
}

// decideAgentChange calls decide with the name of the entry in the form. It returns a redirect to the page of the
// form, where the decision can be undone.
func decideAgentChange(
	c *pageRequest,
	decide func(context.Context, *verb.Workspace, review.DecideAgentChangesIn) (review.DecideAgentChangesOut, error),
) (pageReply, error) {
	out, err := decide(c.ctx, c.workspace, review.DecideAgentChangesIn{Names: []string{c.formValue("name")}})
	if err != nil {
		return nil, err
	}
	return redirectReply{path: c.returnPath(), changeNumber: out.ChangeSeqs[0]}, nil
}
