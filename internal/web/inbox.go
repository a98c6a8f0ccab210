// This file implements the page with the inbox. The inbox shows entries that sessions have proposed. It also shows
// held entries, which are not shown to a model until a person approves them.

package web

import (
	"net/url"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

func inboxPage(c *pageRequest) (pageReply, error) {
	all := c.formValue("all") != ""
	proposals, err := c.listProposals(all)
	if err != nil {
		return nil, err
	}
	held, err := c.listHeldEntries()
	if err != nil {
		return nil, err
	}
	s := pageWithNavigation{
		title:   "Inbox",
		navPath: "inbox",
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text(
				"Sentences that you asked agents to remember, and notes that agents do not see until you approve "+
					"them.",
			),
		),
	}
	rows := c.proposalRows(proposals)
	count := min(maxInboxRows, len(proposals.Proposals))
	heldRows, heldCount := c.quarantinedEntryRows(groupQuarantinedEntries(held.Entries), count)
	count += heldCount
	more := len(proposals.Proposals) + len(held.Entries) - count
	changed := c.agentEditsSection()
	rows = append(append(rows, heldRows...), c.importApprovalRows(held.Groups, count)...)
	switch {
	case len(rows) == 0 && changed != nil:
		s.bodyNodes = []g.Node{c.noDecisionRightNotice(), changed}
	case len(rows) == 0:
		s.bodyNodes = []g.Node{
			page.EmptyNotice(
				"Nothing waits for a decision.",
				nil,
				h.P(
					h.Class("dim"),
					h.Text(
						"When you tell an agent to remember something, your sentence appears here as a proposal. "+
							"Notes that an agent wrote after it had read web pages or other foreign texts also "+
							"wait here.",
					),
				),
			),
		}
	default:
		s.bodyNodes = []g.Node{c.noDecisionRightNotice(), changed,
			page.KeyHints("j", "next", "k", "previous", "a", "approve", "e", "edit", "r", "reject",
				"A", "approve the group", "R", "reject the group"),
			h.Ol(h.Class("rows cards"), h.Attr("data-keys", ""), g.Group(rows)),
			g.If(more > 0, h.P(h.Class("dim"), h.Textf("%d more follow.", more)))}
	}
	other, text := "inbox?all=1", "Also show what you approved or rejected"
	if all {
		other, text = "inbox", "Show only what waits for a decision"
	}
	s.bodyNodes = append(
		c.rejectedProposalsNotice(),
		append(s.bodyNodes, h.P(h.A(h.Href(page.RootPath+other), h.Text(text))))...)
	return s, nil
}

// proposalRows returns rows for the first maxInboxRows proposals. If some of the proposals wait for a decision, a
// heading with buttons for all of these comes first. The buttons also apply to waiting proposals that have no row.
func (c *pageRequest) proposalRows(out review.InboxOut) (rows g.Group) {
	ofSession := map[string][]string{}
	var waiting []string
	for _, p := range out.Proposals {
		if isUndecided(p.State) {
			ofSession[firstTurnSession(p.SourceTurns)] = append(ofSession[firstTurnSession(p.SourceTurns)], p.ID)
			waiting = append(waiting, p.ID)
		}
	}
	if len(waiting) > 0 {
		rows = append(rows, c.proposalsHeadingRow(waiting))
	}
	for i, p := range out.Proposals[:min(maxInboxRows, len(out.Proposals))] {
		rows = append(
			rows,
			c.proposalRow(
				review.ProposalOut{StoredProposal: p},
				ofSession[firstTurnSession(p.SourceTurns)],
				i,
				shortenedTextSize,
			),
		)
	}
	return rows
}

// listProposals lists the proposals. Without an archive of sessions, the list is empty.
func (c *pageRequest) listProposals(includesDecidedProposals bool) (review.InboxOut, error) {
	if c.workspace.Sessions == nil {
		return review.InboxOut{}, nil
	}
	return review.ListProposals(c.ctx, c.workspace, review.InboxIn{IncludesDecidedProposals: includesDecidedProposals})
}

// rejectedProposalsNotice shows how many proposals were just rejected, with an Undo button that reopens them.
func (c *pageRequest) rejectedProposalsNotice() []g.Node {
	ids := c.r.URL.Query()["rejected"]
	if len(ids) == 0 || !c.mayWrite() {
		return nil
	}
	var fields []string
	for _, id := range ids {
		fields = append(fields, "id", id)
	}
	return []g.Node{h.Div(h.Class("notice done"), h.Role("status"), h.P(h.Text("Rejected "+
		page.CountWithNoun(len(ids), "proposal")+".")), page.PostButton("inbox/reopen", "", "Undo", fields...))}
}

// proposalPage is the page of a proposal. It shows the conversation around the proposal, and similar entries.
func proposalPage(c *pageRequest) (pageReply, error) {
	p, err := review.ShowProposal(c.ctx, c.workspace, review.ProposalIn{ID: c.r.PathValue("id")})
	if err != nil {
		return nil, err
	}
	limit := 3
	near, err := verb.Recall(
		c.ctx,
		c.workspace,
		verb.RecallIn{Query: wordsWithoutOperators(p.NoteText()), Limit: &limit},
	)
	if err != nil {
		near = verb.RecallOut{}
	}
	s := pageWithNavigation{
		title:   "Proposal",
		navPath: "inbox",
		bodyNodes: []g.Node{
			c.noDecisionRightNotice(),
			h.Ol(
				h.Class("rows cards"),
				h.Attr("data-keys", ""),
				c.proposalRow(p, nil, c.formNumber("row", 0), wholeTextSize),
			),
		},
	}
	if p.Prompt != "" {
		s.bodyNodes = append(
			s.bodyNodes,
			page.Section("said", "The whole prompt", h.Pre(h.Class("text"), page.IsolatedText(p.Prompt))),
		)
	}
	if len(near.Hits) > 0 {
		s.bodyNodes = append(
			s.bodyNodes,
			page.Section(
				"near",
				"Similar entries",
				h.P(
					h.Class("hint"),
					h.Text("If the sentence corrects one of these entries, it can replace the entry."),
				),
				h.Ul(h.Class("rows"), g.Map(near.Hits, func(e verb.Entry) g.Node {
					return h.Li(
						h.Class("row"),
						h.Div(h.Class("head"), h.H3(page.EntryLink(e.Name))),
						page.TextDiff(e.HitContent, p.NoteText()),
						g.If(c.mayWrite() && c.actor == oxbow.Person &&
							p.State != "accepted", h.Div(
							h.Class("actions"),
							page.PostButton(
								"inbox/accept",
								"",
								"Replace this entry",
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

// wordsWithoutOperators splits a text into words and returns the first 40 words, separated by spaces. The characters
// that are operators in a query are omitted.
func wordsWithoutOperators(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n\"':+-*()[]{}<>", r) })
	return strings.Join(words[:min(40, len(words))], " ")
}

func acceptProposal(c *pageRequest) (pageReply, error) {
	id := c.formValue("id")
	if ids := c.r.PostForm["id"]; len(ids) > 1 {
		return acceptProposals(c, ids)
	}
	p, err := review.ShowProposal(c.ctx, c.workspace, review.ProposalIn{ID: id})
	if err != nil {
		return nil, err
	}
	text, err := c.editedText(p.NoteText())
	if err != nil {
		return nil, err
	}
	out, err := review.AcceptProposals(
		c.ctx,
		c.workspace,
		review.AcceptProposalsIn{IDs: []string{id}, NoteName: c.formValue("name"), Content: text},
	)
	if err != nil && text != "" {
		return failedDecisionPage(
			err,
			decisionForm{
				approvePath:      "inbox/accept",
				rejectPath:       "inbox/drop",
				canReject:        isUndecided(p.State),
				editableText:     text,
				asksForEntryName: true,
			},
			"id",
			id,
		), nil
	}
	if err != nil {
		return nil, err
	}
	if n := out.NewNotes[0]; n.EntryOutcome == "unchanged" {
		return redirectReply{path: c.nextInboxPath(), message: "The memory already contains this."}, nil
	}
	return redirectReply{path: c.nextInboxPath(), changeNumber: out.NewNotes[0].Version}, nil
}

// errEditRejected is returned if a person edited a text and then rejected it, because only the edit or the rejection
// can be intended.
var errEditRejected = verb.Advise(
	verb.Invalidf("you edited this text and then rejected it; nothing was done"),
	"approve it with your edit, or take the edit back and reject it",
)

func dropProposals(c *pageRequest) (pageReply, error) {
	_ = c.formValue("id") // Calling formValue parses the form, which fills c.r.PostForm.
	ids := c.r.PostForm["id"]
	if len(ids) == 1 && c.r.PostForm.Has("content") {
		p, err := review.ShowProposal(c.ctx, c.workspace, review.ProposalIn{ID: ids[0]})
		if err != nil {
			return nil, err
		}
		if text, err := c.editedText(p.NoteText()); text != "" && err == nil {
			return failedDecisionPage(
				errEditRejected,
				decisionForm{approvePath: "inbox/accept", editableText: text, asksForEntryName: true},
				"id",
				ids[0],
			), nil
		}
	}
	out, err := review.DropProposals(c.ctx, c.workspace, review.DropProposalsIn{IDs: ids})
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(c.nextInboxPath())
	if err != nil {
		return nil, err
	}
	q := to.Query()
	for _, p := range out.Proposals {
		q.Add("rejected", p.ID)
	}
	to.RawQuery = q.Encode()
	return redirectReply{path: to.String()}, nil
}

func reopenProposals(c *pageRequest) (pageReply, error) {
	_ = c.formValue("id") // Calling formValue parses the form, which fills c.r.PostForm.
	out, err := review.ReopenProposals(c.ctx, c.workspace, review.DropProposalsIn{IDs: c.r.PostForm["id"]})
	if err != nil {
		return nil, err
	}
	return redirectReply{
		path:    "inbox",
		message: page.CountWithNoun(len(out.Proposals), "proposal") + " waits again.",
	}, nil
}

// approveHeldEntry approves the version of an entry that the page showed. If the person edited
// the text, it saves and approves the edited text.
func approveHeldEntry(c *pageRequest) (pageReply, error) {
	name := c.formValue("name")
	if c.actor != oxbow.Person { // a program may not approve; Approve returns the error before anything is changed
		out, err := labels.ApproveEntries(c.ctx, c.workspace, labels.ApproveEntriesIn{EntryNames: []string{name}})
		return redirectReply{path: c.nextInboxPath(), changeNumber: out.Seq}, err
	}
	e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true})
	if err != nil {
		return nil, err
	}
	text, err := c.editedText(*e.Content)
	if err != nil {
		return nil, err
	}
	form := quarantinedEntryForm(text, c.formNumber("row", 0))
	if base := c.formEntryVersion(); base != nil && e.Version != *base {
		err := &oxbow.ConflictError{Name: e.Name, Want: *base, Have: e.Version}
		if text != "" {
			form.contentAboveButtons = page.Section(
				"now",
				"Difference between the stored text and yours",
				page.TextDiff(*e.Content, text),
			)
			return failedDecisionPage(err, form, "name", name, "version", formatEntryVersion(e.Entry)), nil
		}
		return nil, err
	}
	shownVersion := e.Version
	if text != "" {
		saved, err := verb.Remember(
			c.ctx,
			c.workspace,
			verb.RememberIn{Name: name, Content: text, IfVersion: &shownVersion},
		)
		if err != nil {
			return failedDecisionPage(err, form, "name", name, "version", formatEntryVersion(e.Entry)), nil
		}
		shownVersion = saved.Version
	}
	out, err := labels.ApproveEntries(c.ctx, c.workspace, labels.ApproveEntriesIn{
		EntryNames:    []string{name},
		ShownVersions: map[string]uint64{e.Name: shownVersion},
	})
	if err != nil {
		return nil, err
	}
	return redirectReply{path: c.nextInboxPath(), changeNumber: out.Seq}, nil
}

func forgetQuarantinedEntry(c *pageRequest) (pageReply, error) {
	name := c.formValue("name")
	if c.r.PostForm.Has("content") {
		e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true})
		if err != nil {
			return nil, err
		}
		text, err := c.editedText(*e.Content)
		isEdited := err == nil && text != ""
		if isEdited && c.actor == oxbow.Person {
			return failedDecisionPage(
				errEditRejected,
				quarantinedEntryForm(text, 0),
				"name",
				name,
				"version",
				formatEntryVersion(e.Entry),
			), nil
		}
	}
	out, err := verb.Forget(c.ctx, c.workspace, verb.ForgetIn{Name: name})
	if err != nil {
		return nil, err
	}
	return redirectReply{path: c.nextInboxPath(), changeNumber: out.Seq}, nil
}

// importApprovalRows returns a row for each import that waits for approval. The argument firstRow is the number of the
// first row.
func (c *pageRequest) importApprovalRows(groups []labels.QuarantinedImportGroup, firstRow int) (rows []g.Node) {
	if len(groups) > 0 {
		rows = append(rows, h.Li(h.Class("row group"), h.Div(h.Class("head"), h.H2(h.Text("Whole imports")))))
	}
	for i, group := range groups[:min(maxInboxRows, len(groups))] {
		title := page.CountWithNoun(group.Count, "imported note")
		if group.ImportSource != "" {
			title += " from " + group.ImportSource
		}
		rows = append(rows, h.Li(c.rowAttributes(firstRow+i),
			h.Div(h.Class("head"), h.H3(page.IsolatedText(title))),
			h.P(
				h.Class("hint"),
				h.Text(
					"Agents find these notes when they search. oxbow does not show them unasked until you "+
						"approve them.",
				),
			),
			h.P(page.IsolatedText(group.FormatNames())),
			h.Div(h.Class("meta"), h.Span(h.Text("Imported "), page.RelativeTime(c.now, page.ParseTime(group.Time)))),
			g.If(c.mayWrite() && c.actor == oxbow.Person, h.Div(h.Class("actions"),
				h.Form(h.Class("one"), h.Method("post"), h.Action(page.RootPath+
					"inbox/approve-group"), page.HiddenFields("group", group.ID),
					h.Button(h.Class("main"), h.Attr("data-key", "a"), h.Text("Approve all"))),
				g.If(len(group.Labels) > 1, h.A(h.Class("button"), h.Href(page.RootPath+"inbox/group/"+group.ID),
					h.Text("Approve a part…"))),
				g.If(group.Session != "", revertLink(group.Session, "Undo the import…"))))))
	}
	return rows
}
