// This file is the inbox: proposals of sessions, and entries that are held back from models
// until a person approves them.

package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// waitingShown is the maximum number of rows of each kind on the page.
const waitingShown = 30

func inbox(c *call) (reply, error) {
	all := c.value("all") != ""
	proposals, err := c.proposals(all)
	if err != nil {
		return nil, err
	}
	held, err := labels.Held(c.ctx, c.work, labels.HeldIn{})
	if err != nil {
		return nil, err
	}
	s := screen{
		title:   "Inbox",
		navPath: "inbox",
		lead: h.P(
			h.Class("lead"),
			h.Text("What you asked agents to remember, and what is held back from them, waits here for your word."),
		),
	}
	ofSession := map[string][]string{}
	for _, p := range proposals.Proposals {
		if isUndecided(p.State) {
			ofSession[sessionOf(p.From)] = append(ofSession[sessionOf(p.From)], p.ID)
		}
	}
	var rows []g.Node
	for _, p := range proposals.Proposals[:min(waitingShown, len(proposals.Proposals))] {
		rows = append(rows, c.proposalRow(review.ProposalOut{Item: p}, ofSession[sessionOf(p.From)], len(rows)))
	}
	for _, e := range held.Entries[:min(waitingShown, len(held.Entries))] {
		rows = append(rows, c.heldRow(e, len(rows)))
	}
	more := len(proposals.Proposals) + len(held.Entries) - len(rows)
	changed := c.changedNotes()
	rows = append(rows, c.groupRows(held.Groups, len(rows))...)
	switch {
	case len(rows) == 0 && changed != nil:
		s.body = []g.Node{c.noDecisionNotice(), changed}
	case len(rows) == 0:
		s.body = []g.Node{
			page.Empty(
				"Nothing waits.",
				nil,
				h.P(
					h.Class("dim"),
					h.Text(
						"A proposal comes when you tell an agent what to remember, in a session that hooks report. "+
							"What an agent writes after it has read texts of others is held back here, too.",
					),
				),
			),
		}
	default:
		s.body = []g.Node{c.noDecisionNotice(), changed,
			page.Keys("j", "next", "k", "previous", "a", "approve", "e", "edit", "r", "reject"),
			h.Ol(h.Class("rows cards"), h.Attr("data-keys", ""), g.Group(rows)),
			g.If(more > 0, h.P(h.Class("dim"), h.Textf("%d more wait behind these.", more)))}
	}
	other, text := "inbox?all=1", "Show the accepted and the rejected ones too"
	if all {
		other, text = "inbox", "Show only what waits"
	}
	s.body = append(c.rejectedNotice(), append(s.body, h.P(h.A(h.Href(page.Root+other), h.Text(text))))...)
	return s, nil
}

// stateOpen is the state of a proposal that has never been decided.
const stateOpen = "open"

// isUndecided reports whether a proposal of that state waits for a decision. A proposal
// whose decision was undone waits again.
func isUndecided(state string) bool { return state == stateOpen || state == "undone" }

// proposals lists the proposals. It returns none if no archive of sessions is kept.
func (c *call) proposals(all bool) (review.InboxOut, error) {
	if c.work.Sessions == nil {
		return review.InboxOut{}, nil
	}
	return review.Inbox(c.ctx, c.work, review.InboxIn{All: all})
}

// noDecisionNotice says why this browser may not decide, or returns nil if it may.
func (c *call) noDecisionNotice() g.Node {
	switch {
	case c.view.Rights.ReadOnly:
		return page.Notice(
			"note",
			"This browser only reads: it may look at what waits, and decide nothing.",
			"The link that oxbow ui prints, without --ro, opens a page that may.",
		)
	case c.actor != oxbow.Person:
		return page.Notice(
			"note",
			"You signed in with a token, which programs have, too. Only a person approves what is held back, accepts "+
				"proposals, and keeps or brings back what agents changed.",
			"Run oxbow ui in a terminal: the link that it prints is yours alone.",
		)
	}
	return nil
}

// sessionOf returns the session of the first turn in which a proposal was made. A turn's
// name is the session's, a slash, and a number.
func sessionOf(from []string) string {
	if len(from) == 0 {
		return ""
	}
	return from[0][:max(0, strings.LastIndexByte(from[0], '/'))]
}

// whys maps the reason of a proposal to its text on pages.
var whys = map[string]string{"asked": "you asked to remember it", "lesson": "you corrected an agent"}

// proposalRow shows a proposal with its buttons. The IDs of all proposals of the same
// session let one button reject them together.
func (c *call) proposalRow(p review.ProposalOut, session []string, row int) g.Node {
	name := text.DeriveName(p.AsNote())
	var turns []g.Node
	for _, f := range p.From[:min(3, len(p.From))] {
		turns = append(turns, h.A(h.Href(page.Root+page.TurnPath(f)), h.Text("the turn it was said in")))
	}
	return h.Li(c.card(row),
		h.Div(h.Class("head"), h.H2(h.A(h.Href(page.Root+"inbox/"+
			p.ID), page.Isolated(name))), page.Badge("", "proposal", "It becomes an entry when you approve it."),
			g.If(p.State != stateOpen, page.Badge("", p.State, ""))),
		g.If(name != strings.TrimSpace(p.AsNote()), h.Pre(h.Class("text"), page.Isolated(p.AsNote()))),
		h.Div(h.Class("meta"), g.If(p.Project != "", page.Chips(map[string][]string{oxbow.LabelProject: {p.Project}})),
			h.Span(h.Text("Your words: "+whys[p.Why]+
				", "), page.When(c.now, p.Said)), g.Group(turns),
			g.If(len(p.Files) > 0, h.Span(h.Text("on "), page.Isolated(strings.Join(p.Files, ", "))))),
		c.sameName(name, p.AsNote()),
		g.Iff(c.mayWrite() && c.actor == oxbow.Person && p.State != "accepted", func() g.Node {
			return g.Group{
				decision{approve: "inbox/accept", reject: "inbox/drop", mayReject: isUndecided(p.State),
					text: p.AsNote(), withName: true, row: row}.form(
					"id",
					p.ID,
				),
				g.Iff(len(session) > 1 && p.ID == session[0], func() g.Node {
					var ids []string
					for _, s := range session {
						ids = append(ids, "id", s)
					}
					return h.Div(h.Class("actions"), page.Button("inbox/drop", "plain", "Reject all "+
						strconv.Itoa(len(session))+" of this session", ids...))
				})}
		}))
}

// card returns the attributes of row n. The row that follows the last decision is marked as
// current, so that keyboard commands continue there.
func (c *call) card(n int) g.Node {
	class := "row card"
	if c.value("row") == strconv.Itoa(n) {
		class += " current"
	}
	return g.Group{h.Class(class), h.ID("row-" + strconv.Itoa(n))}
}

// decision is the form of a row. Its single button Approve also sends the edited text, so
// that an edit cannot get lost.
type decision struct {
	approve, reject string // paths to which the buttons send the form
	mayReject       bool
	text            string
	withName        bool // the person may name the new entry
	row             int
	above           g.Node // content above the buttons (may be nil)
	open            bool   // show the text field for editing
}

func (d decision) form(hidden ...string) g.Node {
	return h.Form(h.Class("stack"), h.Method("post"), h.Action(page.Root+d.approve), h.Attr("data-guard", ""),
		page.Hidden(append(hidden, "row", strconv.Itoa(d.row))...), g.If(d.above != nil, d.above),
		h.Details(
			h.Class("edit"),
			g.If(d.open, h.Attr("open", "")),
			h.Summary(h.Class("button"), h.Attr("data-key", "e"), h.Text("Edit")),
			g.If(d.withName, page.Field("name", "Name; empty for the first line", "")),
			page.Text("content", "Text", d.text),
		),
		h.Div(h.Class("actions"), h.Button(h.Class("main"), h.Attr("data-key", "a"), h.Text("Approve")),
			g.If(
				d.mayReject,
				h.Button(h.Attr("formaction", page.Root+d.reject), h.Attr("data-key", "r"), h.Text("Reject")),
			)))
}

// editedText returns the text of the decision form if it differs from oldText, otherwise "".
// It fails if the person deleted the whole text.
func (c *call) editedText(oldText string) (text string, err error) {
	_ = c.value("content") // reads the form
	sent, ok := c.r.PostForm["content"]
	if !ok {
		return "", nil
	}
	text = strings.TrimSpace(strings.ReplaceAll(sent[0], "\r\n", "\n"))
	switch {
	case text == strings.TrimSpace(strings.ReplaceAll(oldText, "\r\n", "\n")):
		return "", nil
	case text == "":
		return "", verb.Advise(verb.Invalidf("the text is empty; nothing was done"), "write a text, or reject this one")
	}
	return text, nil
}

// keepEdit returns the page for a decision that failed. It contains the text that the person
// typed.
func keepEdit(err error, d decision, hidden ...string) reply {
	shown := failed(err)
	d.above, d.open = g.Group{errorNotice(err), d.above}, true
	return screen{title: "Inbox", navPath: "inbox", status: shown.status, body: []g.Node{d.form(hidden...)}}
}

// next returns the path of the inbox with the row after the decided one marked. That row has
// the decided row's number now.
func (c *call) next() string {
	n, err := strconv.Atoi(c.value("row"))
	if err != nil {
		return "inbox"
	}
	return fmt.Sprintf("inbox?row=%d#row-%d", n, n)
}

// rejectedNotice says which proposals were just rejected, with a button to reopen them.
func (c *call) rejectedNotice() []g.Node {
	ids := c.r.URL.Query()["rejected"]
	if len(ids) == 0 || !c.mayWrite() {
		return nil
	}
	var fields []string
	for _, id := range ids {
		fields = append(fields, "id", id)
	}
	return []g.Node{h.Div(h.Class("notice done"), h.Role("status"), h.P(h.Text("Rejected "+
		page.Plural(len(ids), "proposal")+".")), page.Button("inbox/reopen", "", "Undo", fields...))}
}

// sameName warns that an entry of this name already exists, and shows how its text differs.
func (c *call) sameName(name, text string) g.Node {
	e, err := verb.Get(c.ctx, c.work, verb.GetIn{Name: name, Bare: true})
	if err != nil || e.Content == nil {
		return nil
	}
	if strings.TrimSpace(*e.Content) == strings.TrimSpace(text) {
		return h.P(h.Class("hint"), h.Text("The memory says this already, in "), page.EntryLink(e.Name), h.Text("."))
	}
	return h.Details(h.Summary(h.Text("An entry of this name says something else")), page.Diff(*e.Content, text))
}

// heldRow shows an entry that is held back, the reasons, and the change that it made.
func (c *call) heldRow(e labels.HeldEntry, row int) g.Node {
	return h.Li(c.card(row),
		h.Div(h.Class("head"), h.H2(page.EntryLink(e.Name)), page.TrustBadge(e.Trust)),
		c.heldText(e),
		h.Div(h.Class("meta"), h.Span(h.Text("Written "), page.When(c.now, page.Moment(e.Created)))),
		g.If(
			len(e.Read) > 0,
			h.P(
				h.Class("hint"),
				h.Text("Its agent had read before: "),
				page.Isolated(strings.Join(e.Read, "; ")),
				h.Text(". Who wrote that may have had a part in this."),
			),
		),
		g.If(
			len(e.Shaped) > 0,
			h.P(
				h.Class("hint"),
				h.Text("It is shaped like an instruction to a model: "),
				page.Isolated(strings.Join(e.Shaped, ", ")),
				h.Text("."),
			),
		),
		g.Iff(c.mayWrite(), func() g.Node {
			if c.actor != oxbow.Person {
				return h.Div(h.Class("actions"), h.Form(h.Class("one"), h.Method("post"), h.Action(page.Root+
					"inbox/forget"), page.Hidden("name", e.Name), h.Button(h.Attr("data-key", "r"), h.Text("Reject"))))
			}
			return heldDecision(e.Content, row).form("name", e.Name, "version", number(e.Version))
		}))
}

// heldDecision returns the form for an entry that is held back.
func heldDecision(text string, row int) decision {
	return decision{approve: "inbox/approve", reject: "inbox/forget", mayReject: true, text: text, row: row}
}

// heldText shows the text of an entry. If the entry replaced an older version, it shows the
// difference.
func (c *call) heldText(e labels.HeldEntry) g.Node {
	two := 2
	past, err := verb.History(c.ctx, c.work, verb.HistoryIn{Name: e.Name, Limit: &two})
	if err == nil && len(past.Changes) == 2 {
		was, err := verb.Get(c.ctx, c.work, verb.GetIn{Name: e.Name + "@" +
			strconv.FormatUint(past.Changes[1].Seq, 10), Bare: true})
		if err == nil && was.Content != nil && *was.Content != e.Content {
			return g.Group{h.P(h.Class("hint"), h.Text("What it changed:")), page.Diff(*was.Content, e.Content)}
		}
	}
	return h.Pre(h.Class("text"), page.Isolated(e.Content))
}

// proposal is the page of one proposal: the conversation around it, and similar entries.
func proposal(c *call) (reply, error) {
	p, err := review.Proposal(c.ctx, c.work, review.ProposalIn{ID: c.r.PathValue("id")})
	if err != nil {
		return nil, err
	}
	limit := 3
	near, err := verb.Recall(c.ctx, c.work, verb.RecallIn{Query: plainWords(p.AsNote()), Limit: &limit})
	if err != nil {
		near = verb.RecallOut{}
	}
	s := screen{
		title:   "Proposal",
		navPath: "inbox",
		body: []g.Node{
			c.noDecisionNotice(),
			h.Ol(h.Class("rows cards"), h.Attr("data-keys", ""), c.proposalRow(p, nil, 0)),
		},
	}
	if p.Prompt != "" {
		s.body = append(
			s.body,
			page.Section("said", "All that you said there", h.Pre(h.Class("text"), page.Isolated(p.Prompt))),
		)
	}
	if len(near.Hits) > 0 {
		s.body = append(
			s.body,
			page.Section(
				"near",
				"Entries near to it",
				h.P(h.Class("hint"), h.Text("Where it corrects one of these, it may take its place.")),
				h.Ul(h.Class("rows"), g.Map(near.Hits, func(e verb.Entry) g.Node {
					return h.Li(
						h.Class("row"),
						h.Div(h.Class("head"), h.H3(page.EntryLink(e.Name))),
						page.Diff(e.Text, p.AsNote()),
						g.If(c.mayWrite() && c.actor == oxbow.Person &&
							p.State != "accepted", h.Div(
							h.Class("actions"),
							page.Button(
								"inbox/accept",
								"",
								"Put it in the place of this text",
								"id",
								p.ID,
								"name",
								e.Name,
							),
						)),
					)
				})),
			),
		)
	}
	return s, nil
}

// plainWords returns the words of a text without the characters that are query operators.
func plainWords(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n\"':+-*()[]{}<>", r) })
	return strings.Join(words[:min(40, len(words))], " ")
}

func acceptProposal(c *call) (reply, error) {
	id := c.value("id")
	p, err := review.Proposal(c.ctx, c.work, review.ProposalIn{ID: id})
	if err != nil {
		return nil, err
	}
	text, err := c.editedText(p.AsNote())
	if err != nil {
		return nil, err
	}
	out, err := review.AcceptProposals(
		c.ctx,
		c.work,
		review.AcceptProposalsIn{IDs: []string{id}, Name: c.value("name"), Content: text},
	)
	if err != nil && text != "" {
		return keepEdit(
			err,
			decision{approve: "inbox/accept", reject: "inbox/drop", mayReject: isUndecided(p.State), text: text,
				withName: true},
			"id",
			id,
		), nil
	}
	if err != nil {
		return nil, err
	}
	if n := out.Notes[0]; n.Outcome == "unchanged" {
		return redirect{to: c.next(), said: "The memory says this already."}, nil
	}
	return redirect{to: c.next(), change: out.Notes[0].Version}, nil
}

// errEditRejected is returned if a person edited a text and then rejected it: only one of
// the two can be intended.
var errEditRejected = verb.Advise(
	verb.Invalidf("you edited this text and then rejected it; nothing was done"),
	"approve it with your edit, or take the edit back and reject it",
)

func dropProposals(c *call) (reply, error) {
	_ = c.value("id") // reads the form
	ids := c.r.PostForm["id"]
	if len(ids) == 1 && c.r.PostForm.Has("content") {
		p, err := review.Proposal(c.ctx, c.work, review.ProposalIn{ID: ids[0]})
		if err != nil {
			return nil, err
		}
		if text, err := c.editedText(p.AsNote()); text != "" && err == nil {
			return keepEdit(
				errEditRejected,
				decision{approve: "inbox/accept", text: text, withName: true},
				"id",
				ids[0],
			), nil
		}
	}
	out, err := review.DropProposals(c.ctx, c.work, review.DropProposalsIn{IDs: ids})
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(c.next())
	if err != nil {
		return nil, err
	}
	q := to.Query()
	for _, p := range out.Proposals {
		q.Add("rejected", p.ID)
	}
	to.RawQuery = q.Encode()
	return redirect{to: to.String()}, nil
}

func reopenProposals(c *call) (reply, error) {
	_ = c.value("id") // reads the form
	out, err := review.ReopenProposals(c.ctx, c.work, review.DropProposalsIn{IDs: c.r.PostForm["id"]})
	if err != nil {
		return nil, err
	}
	return redirect{to: "inbox", said: page.Plural(len(out.Proposals), "proposal") + " waits again."}, nil
}

// approveHeld approves the version of an entry that the page showed. If the person edited
// the text, it saves and approves the edited text.
func approveHeld(c *call) (reply, error) {
	name := c.value("name")
	if c.actor != oxbow.Person { // a program: Approve refuses this before anything is changed
		out, err := labels.Approve(c.ctx, c.work, labels.ApproveIn{Names: []string{name}})
		return redirect{to: c.next(), change: out.Seq}, err
	}
	e, err := verb.Get(c.ctx, c.work, verb.GetIn{Name: name, Bare: true})
	if err != nil {
		return nil, err
	}
	text, err := c.editedText(*e.Content)
	if err != nil {
		return nil, err
	}
	form := heldDecision(text, c.number("row", 0))
	if base := c.base(); base != nil && e.Version != *base {
		err := &oxbow.ConflictError{Name: e.Name, Want: *base, Have: e.Version}
		if text != "" {
			form.above = page.Section("now", "From what it says now to what you wrote", page.Diff(*e.Content, text))
			return keepEdit(err, form, "name", name, "version", version(e.Entry)), nil
		}
		return nil, err
	}
	if text != "" {
		v := e.Version
		if _, err := verb.Remember(
			c.ctx,
			c.work,
			verb.RememberIn{Name: name, Content: text, IfVersion: &v},
		); err != nil {
			return keepEdit(err, form, "name", name, "version", version(e.Entry)), nil
		}
	}
	out, err := labels.Approve(c.ctx, c.work, labels.ApproveIn{Names: []string{name}})
	if err != nil {
		return nil, err
	}
	return redirect{to: c.next(), change: out.Seq}, nil
}

func forgetHeld(c *call) (reply, error) {
	name := c.value("name")
	if c.r.PostForm.Has("content") {
		e, err := verb.Get(c.ctx, c.work, verb.GetIn{Name: name, Bare: true})
		if err != nil {
			return nil, err
		}
		if text, err := c.editedText(*e.Content); text != "" && err == nil && c.actor == oxbow.Person {
			return keepEdit(errEditRejected, heldDecision(text, 0), "name", name, "version", version(e.Entry)), nil
		}
	}
	out, err := verb.Forget(c.ctx, c.work, verb.ForgetIn{Name: name})
	if err != nil {
		return nil, err
	}
	return redirect{to: c.next(), change: out.Seq}, nil
}

// groupRows shows each import that waits for approval as one row. The first of these rows
// has number first.
func (c *call) groupRows(groups []labels.HeldGroup, first int) (rows []g.Node) {
	for i, group := range groups[:min(waitingShown, len(groups))] {
		title := page.Plural(group.Count, "imported note")
		if group.From != "" {
			title += " from " + group.From
		}
		rows = append(rows, h.Li(c.card(first+i),
			h.Div(h.Class("head"), h.H2(page.Isolated(title))),
			h.P(
				h.Class("hint"),
				h.Text("Agents find them when they search. Until you approve them, none comes up unasked."),
			),
			h.P(page.Isolated(strings.Join(group.Names, "; "))),
			h.Div(h.Class("meta"), h.Span(h.Text("Imported "), page.When(c.now, page.Moment(group.Time)))),
			g.If(c.mayWrite() && c.actor == oxbow.Person, h.Div(h.Class("actions"),
				h.Form(h.Class("one"), h.Method("post"), h.Action(page.Root+
					"inbox/approve-group"), page.Hidden("group", group.ID),
					h.Button(h.Class("main"), h.Attr("data-key", "a"), h.Text("Approve all")))))))
	}
	return rows
}

// approveGroup approves all entries of one import.
func approveGroup(c *call) (reply, error) {
	out, err := labels.Approve(c.ctx, c.work, labels.ApproveIn{Group: c.value("group")})
	if err != nil {
		return nil, err
	}
	return redirect{to: "inbox", change: out.Seq}, nil
}
