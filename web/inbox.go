// The inbox: what waits for a person's word. Proposals of sessions, and entries that are
// held back from models.

package web

import (
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/web/page"
	h "github.com/oxbow-memory/oxbow/web/tag"
)

// waitingShown is how many of each kind a page lists.
const waitingShown = 30

func inbox(c *call) (reply, error) {
	all := c.value("all") != ""
	proposals, err := c.proposals(all)
	if err != nil {
		return nil, err
	}
	held, err := tool.Held(c.ctx, c.work, tool.HeldIn{})
	if err != nil {
		return nil, err
	}
	s := screen{title: "Inbox", at: "inbox", lead: h.P(h.Class("lead"), h.Text("What you asked agents to remember, and what is held back from them, waits here for your word."))}
	ofSession := map[string][]string{}
	for _, p := range proposals.Proposals {
		if waits(p.State) {
			ofSession[sessionOf(p.From)] = append(ofSession[sessionOf(p.From)], p.ID)
		}
	}
	var rows []g.Node
	for _, p := range proposals.Proposals[:min(waitingShown, len(proposals.Proposals))] {
		rows = append(rows, c.proposalRow(tool.ProposalOut{Item: p}, ofSession[sessionOf(p.From)]))
	}
	for _, e := range held.Entries[:min(waitingShown, len(held.Entries))] {
		rows = append(rows, c.heldRow(e))
	}
	more := len(proposals.Proposals) + len(held.Entries) - len(rows)
	changed := c.changedNotes()
	switch {
	case len(rows) == 0 && changed != nil:
		s.body = []g.Node{c.mayNot(true), changed}
	case len(rows) == 0:
		s.body = []g.Node{page.Empty("Nothing waits.", nil, h.P(h.Class("dim"), h.Text("A proposal comes when you tell an agent what to remember, in a session that hooks report. What an agent writes after it has read texts of others is held back here, too.")))}
	default:
		s.body = []g.Node{c.mayNot(len(held.Entries) > 0 || changed != nil), changed, page.Keys("j", "next", "k", "previous", "a", "approve", "e", "edit", "r", "reject"),
			h.Ol(h.Class("rows cards"), h.Attr("data-keys", ""), g.Group(rows)),
			g.If(more > 0, h.P(h.Class("dim"), h.Textf("%d more wait behind these.", more)))}
	}
	other, text := "inbox?all=1", "Show the accepted and the rejected ones too"
	if all {
		other, text = "inbox", "Show only what waits"
	}
	s.body = append(s.body, h.P(h.A(h.Href(page.Root+other), h.Text(text))))
	return s, nil
}

// stateOpen is the state of a proposal that was never decided.
const stateOpen = "open"

// waits reports whether a proposal of that state waits: an undone one does again.
func waits(state string) bool { return state == stateOpen || state == "undone" }

// proposals lists them; none where no archive of sessions is kept.
func (c *call) proposals(all bool) (tool.InboxOut, error) {
	if c.work.Sessions == nil {
		return tool.InboxOut{}, nil
	}
	return tool.Inbox(c.ctx, c.work, tool.InboxIn{All: all})
}

// mayNot says why this browser may not decide, nothing where it may.
func (c *call) mayNot(held bool) g.Node {
	switch {
	case c.view.Rights.ReadOnly:
		return page.Notice("note", "This browser only reads: it may look at what waits, and decide nothing.", "The link that oxbow ui prints, without --ro, opens a page that may.")
	case held && c.actor != oxbow.Person:
		return page.Notice("note", "You signed in with a token, which programs have, too. Only a person approves what is held back, and keeps or brings back what agents changed.", "Run oxbow ui in a terminal: the link that it prints is yours alone.")
	}
	return nil
}

// sessionOf returns the session of the first turn that a proposal was said in, as the
// names of turns have it.
func sessionOf(from []string) string {
	if len(from) == 0 {
		return ""
	}
	return from[0][:max(0, strings.LastIndexByte(from[0], '/'))]
}

// whys are the reasons of proposals, as pages say them.
var whys = map[string]string{"asked": "you asked to remember it", "lesson": "you corrected an agent"}

// proposalRow shows a proposal with what decides on it, and with the ids of all of its
// session.
func (c *call) proposalRow(p tool.ProposalOut, session []string) g.Node {
	name := text.NameOf(p.Sentence)
	var turns []g.Node
	for _, f := range p.From[:min(3, len(p.From))] {
		turns = append(turns, h.A(h.Href(page.Root+page.TurnPath(f)), h.Text("the turn it was said in")))
	}
	id := page.Hidden("id", p.ID)
	return h.Li(h.Class("row card"),
		h.Div(h.Class("head"), h.H2(h.A(h.Href(page.Root+"inbox/"+p.ID), page.Isolated(name))), page.Badge("", "proposal", "It becomes an entry when you approve it."), g.If(p.State != stateOpen, page.Badge("", p.State, ""))),
		g.If(name != strings.TrimSpace(p.Sentence), h.Pre(h.Class("text"), page.Isolated(p.Sentence))),
		h.Div(h.Class("meta"), g.If(p.Project != "", page.Chips(map[string][]string{oxbow.LabelProject: {p.Project}})),
			h.Span(h.Text("Your words: "+whys[p.Why]+", "), page.When(c.now, p.Said)), g.Group(turns), g.If(len(p.Files) > 0, h.Span(h.Text("on "), page.Isolated(strings.Join(p.Files, ", "))))),
		c.sameName(name, p.Sentence),
		g.Iff(c.mayWrite() && p.State != "accepted", func() g.Node {
			return h.Div(h.Class("actions"),
				h.Form(h.Class("one"), h.Method("post"), h.Action(page.Root+"inbox/accept"), id, h.Button(h.Class("main"), h.Attr("data-key", "a"), h.Text("Approve"))),
				editForm("inbox/accept", p.Sentence, id, page.Field("name", "Name", name)),
				g.If(waits(p.State), h.Form(h.Class("one"), h.Method("post"), h.Action(page.Root+"inbox/drop"), id, h.Button(h.Attr("data-key", "r"), h.Text("Reject")))),
				g.Iff(len(session) > 1 && p.ID == session[0], func() g.Node {
					var ids []string
					for _, s := range session {
						ids = append(ids, "id", s)
					}
					return page.Button("inbox/drop", "plain", "Reject all "+strconv.Itoa(len(session))+" of this session", ids...)
				}))
		}))
}

// editForm is a text that is changed before it is taken.
func editForm(action, text string, more ...g.Node) g.Node {
	return h.Details(h.Class("edit"), h.Summary(h.Class("button"), h.Attr("data-key", "e"), h.Text("Edit")),
		h.Form(h.Class("stack"), h.Method("post"), h.Action(page.Root+action), h.Attr("data-guard", ""), g.Group(more),
			page.Text("content", "Text", text, h.Required()),
			h.Button(h.Class("main"), h.Text("Approve this text"))))
}

// sameName tells of an entry that has the name already, with what it says.
func (c *call) sameName(name, text string) g.Node {
	e, err := tool.Get(c.ctx, c.work, tool.GetIn{Name: name, Bare: true})
	if err != nil || e.Content == nil {
		return nil
	}
	if strings.TrimSpace(*e.Content) == strings.TrimSpace(text) {
		return h.P(h.Class("hint"), h.Text("The memory says this already, in "), page.EntryLink(e.Name), h.Text("."))
	}
	return h.Details(h.Summary(h.Text("An entry of this name says something else")), page.Diff(*e.Content, text))
}

// heldRow shows an entry that is held back, what holds it back, and what it changed.
func (c *call) heldRow(e tool.HeldEntry) g.Node {
	name := page.Hidden("name", e.Name)
	return h.Li(h.Class("row card"),
		h.Div(h.Class("head"), h.H2(page.EntryLink(e.Name)), page.TrustBadge(e.Trust)),
		c.heldText(e),
		h.Div(h.Class("meta"), h.Span(h.Text("Written "), page.When(c.now, page.Moment(e.Created)))),
		g.If(len(e.Read) > 0, h.P(h.Class("hint"), h.Text("Its agent had read before: "), page.Isolated(strings.Join(e.Read, "; ")), h.Text(". Who wrote that may have had a part in this."))),
		g.If(len(e.Shaped) > 0, h.P(h.Class("hint"), h.Text("It is shaped like an instruction to a model: "), page.Isolated(strings.Join(e.Shaped, ", ")), h.Text("."))),
		g.Iff(c.mayWrite(), func() g.Node {
			return h.Div(h.Class("actions"),
				g.If(c.actor == oxbow.Person, g.Group{
					h.Form(h.Class("one"), h.Method("post"), h.Action(page.Root+"inbox/approve"), name, h.Button(h.Class("main"), h.Attr("data-key", "a"), h.Text("Approve"))),
					editForm("inbox/approve", e.Content, name)}),
				h.Form(h.Class("one"), h.Method("post"), h.Action(page.Root+"inbox/forget"), name, h.Button(h.Attr("data-key", "r"), h.Text("Reject"))))
		}))
}

// heldText is the text of an entry; of one that took the place of another, what it
// changed.
func (c *call) heldText(e tool.HeldEntry) g.Node {
	two := 2
	past, err := tool.History(c.ctx, c.work, tool.HistoryIn{Name: e.Name, Limit: &two})
	if err == nil && len(past.Changes) == 2 {
		was, err := tool.Get(c.ctx, c.work, tool.GetIn{Name: e.Name + "@" + strconv.FormatUint(past.Changes[1].Seq, 10), Bare: true})
		if err == nil && was.Content != nil && *was.Content != e.Content {
			return g.Group{h.P(h.Class("hint"), h.Text("What it changed:")), page.Diff(*was.Content, e.Content)}
		}
	}
	return h.Pre(h.Class("text"), page.Isolated(e.Content))
}

// proposal is the page of one: what was said around it, and what it would change.
func proposal(c *call) (reply, error) {
	p, err := tool.Proposal(c.ctx, c.work, tool.ProposalIn{ID: c.r.PathValue("id")})
	if err != nil {
		return nil, err
	}
	limit := 3
	near, err := tool.Recall(c.ctx, c.work, tool.RecallIn{Query: plainWords(p.Sentence), Limit: &limit})
	if err != nil {
		near = tool.RecallOut{}
	}
	s := screen{title: "Proposal", at: "inbox", body: []g.Node{c.mayNot(false), h.Ol(h.Class("rows cards"), h.Attr("data-keys", ""), c.proposalRow(p, nil))}}
	if p.Prompt != "" {
		s.body = append(s.body, page.Section("said", "All that you said there", h.Pre(h.Class("text"), page.Isolated(p.Prompt))))
	}
	if len(near.Hits) > 0 {
		s.body = append(s.body, page.Section("near", "Entries near to it", h.P(h.Class("hint"), h.Text("Where it corrects one of these, it may take its place.")),
			h.Ul(h.Class("rows"), g.Map(near.Hits, func(e tool.Entry) g.Node {
				return h.Li(h.Class("row"), h.Div(h.Class("head"), h.H3(page.EntryLink(e.Name))), page.Diff(e.Text, p.Sentence),
					g.If(c.mayWrite() && p.State != "accepted", h.Div(h.Class("actions"), page.Button("inbox/accept", "", "Put it in the place of this text", "id", p.ID, "name", e.Name))))
			}))))
	}
	return s, nil
}

// plainWords are the words of a text without what queries read as operators.
func plainWords(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n\"':+-*()[]{}<>", r) })
	return strings.Join(words[:min(40, len(words))], " ")
}

func acceptProposal(c *call) (reply, error) {
	out, err := tool.AcceptProposals(c.ctx, c.work, tool.AcceptProposalsIn{IDs: []string{c.value("id")}, Name: c.value("name"), Content: c.value("content")})
	if err != nil {
		return nil, err
	}
	if n := out.Notes[0]; n.Outcome == "unchanged" {
		return redirect{to: "inbox", said: "The memory says this already."}, nil
	}
	return redirect{to: "inbox", change: out.Notes[0].Version}, nil
}

func dropProposals(c *call) (reply, error) {
	_ = c.value("id") // reads the form
	out, err := tool.DropProposals(c.ctx, c.work, tool.DropProposalsIn{IDs: c.r.PostForm["id"]})
	if err != nil {
		return nil, err
	}
	return redirect{to: "inbox", said: "Rejected " + page.Plural(len(out.Proposals), "proposal") + ". They stand among all, where you can approve them after all."}, nil
}

// approveHeld approves an entry that is held back; with another text, that text.
func approveHeld(c *call) (reply, error) {
	name, text := c.value("name"), c.value("content")
	if c.actor != oxbow.Person {
		text = "" // the verb refuses, before anything is changed
	}
	if text != "" {
		if _, err := tool.Remember(c.ctx, c.work, tool.RememberIn{Name: name, Content: text}); err != nil {
			return nil, err
		}
	}
	out, err := tool.Approve(c.ctx, c.work, tool.ApproveIn{Names: []string{name}})
	if err != nil {
		return nil, err
	}
	return redirect{to: "inbox", change: out.Seq}, nil
}

func forgetHeld(c *call) (reply, error) {
	out, err := tool.Forget(c.ctx, c.work, tool.ForgetIn{Name: c.value("name")})
	if err != nil {
		return nil, err
	}
	return redirect{to: "inbox", change: out.Seq}, nil
}
