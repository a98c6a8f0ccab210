// This file builds the rows of the inbox, and the forms with which a person decides about them.

package web

import (
	"cmp"
	"fmt"
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

// The inbox shows rows of several kinds: proposals, held entries and whole imports. maxInboxRows is the maximum number
// of rows of each kind.
const maxInboxRows = 30

// proposalStateOpen is the state of a proposal about which nobody has decided.
const proposalStateOpen = "open"

// isUndecided reports whether a proposal with this state waits for a decision. This includes proposals whose decision
// was undone.
func isUndecided(state string) bool { return state == proposalStateOpen || state == "undone" }

// noDecisionRightNotice returns a notice which says why this browser may not decide about the notes and proposals that
// wait for a person. It returns nil if the browser may decide.
func (c *pageRequest) noDecisionRightNotice() g.Node {
	switch {
	case c.view.Rights.ReadOnly:
		return page.Notice(
			"note",
			"This browser may only read. It cannot decide what waits here.",
			"Start oxbow ui without --ro, and open the link that it prints.",
		)
	case c.actor != oxbow.Person:
		return page.Notice(
			"note",
			"You signed in with a token, and programs use tokens, too. Only a person may approve notes, accept "+
				"proposals, and restore what agents changed.",
			"Run oxbow ui in a terminal, and open the link that it prints. Only you get this link.",
		)
	}
	return nil
}

// firstTurnSession returns the name of the session that contains the first of the turns. A turn's name consists of the
// session's name, a slash and a number. If there are no turns, the result is "".
func firstTurnSession(turnNames []string) string {
	if len(turnNames) == 0 {
		return ""
	}
	return turnNames[0][:max(0, strings.LastIndexByte(turnNames[0], '/'))]
}

// proposalReasons contains, for each reason of a proposal, the text on pages.
var proposalReasons = map[string]string{"asked": "you asked to remember it", "lesson": "you corrected an agent"}

// proposalRow shows the proposal p and its buttons. The list sessionProposalIDs contains the IDs of all proposals from
// the same session. If sessionProposalIDs contains several proposals, the row of the first proposal gets a button that
// rejects all of them. The argument row is the row's number, and size is the size of the text.
func (c *pageRequest) proposalRow(p review.ProposalOut, sessionProposalIDs []string, row int, size textSize) g.Node {
	name := text.DeriveName(p.NoteText())
	shown, isCut := textShownInRow(p.NoteText(), size)
	editPath := ""
	if isCut {
		editPath = "inbox/" + p.ID + "?row=" + strconv.Itoa(row)
	}
	var turns []g.Node
	for _, f := range p.SourceTurns[:min(3, len(p.SourceTurns))] {
		turns = append(turns, h.A(h.Href(page.RootPath+page.TurnPath(f)), h.Text("show the turn")))
	}
	return h.Li(
		c.rowAttributes(row),
		h.Div(h.Class("head"), rowTitle(size, h.A(h.Href(page.RootPath+"inbox/"+
			p.ID), page.IsolatedText(name))), page.Badge("", "proposal", "If you approve the sentence, it becomes an "+
			"entry."),
			g.If(p.State != proposalStateOpen, page.Badge("", p.State, ""))),
		g.If(name != strings.TrimSpace(p.NoteText()),
			h.Pre(h.Class("text"), page.IsolatedText(shown), g.If(isCut, h.Text(" …")))),
		h.Div(
			h.Class("meta"),
			g.If(p.Project != "", page.LabelChips(map[string][]string{oxbow.LabelProject: {p.Project}})),
			h.Span(h.Text("Your words: "+proposalReasons[p.Reason]+
				", "), page.RelativeTime(c.now, p.FirstWrittenTime)),
			g.Group(turns),
			g.If(len(p.Files) > 0, h.Span(h.Text("on "), page.IsolatedText(strings.Join(p.Files, ", ")))),
		),
		c.sameNameWarning(name, p.NoteText()),
		g.Iff(c.mayWrite() && c.actor == oxbow.Person && p.State != "accepted", func() g.Node {
			return g.Group{
				decisionForm{approvePath: "inbox/accept", rejectPath: "inbox/drop", canReject: isUndecided(p.State),
					editableText: p.NoteText(), asksForEntryName: true, rowNumber: row, editPath: editPath}.renderForm(
					"id",
					p.ID,
				),
				g.Iff(len(sessionProposalIDs) > 1 && p.ID == sessionProposalIDs[0], func() g.Node {
					var ids []string
					for _, s := range sessionProposalIDs {
						ids = append(ids, "id", s)
					}
					return h.Div(h.Class("actions"), page.PostButton("inbox/drop", "plain", "Reject all "+
						strconv.Itoa(len(sessionProposalIDs))+" of this session", ids...))
				})}
		}),
	)
}

// rowAttributes returns the HTML attributes of the row with the given number. One row of the inbox is marked as
// current, so that keyboard commands apply to it. This is the row whose number is in the form value "row", or row 0 if
// there is no such value. After a decision, the form value is the number of the row that follows.
func (c *pageRequest) rowAttributes(rowNumber int) g.Node {
	class := "row card"
	if cmp.Or(c.formValue("row"), "0") == strconv.Itoa(rowNumber) {
		class += " current"
	}
	return g.Group{h.Class(class), h.ID("row-" + strconv.Itoa(rowNumber))}
}

// decisionForm is the form with which a person approves or rejects a text in a row of the inbox. Only its button
// Approve accepts the text. The button also sends the text that the person typed into the text field, so that no edit
// is lost.
type decisionForm struct {
	approvePath, rejectPath string // paths to which the buttons send the form
	// path of the page on which the text can be edited, if the text is too long for this row
	editPath            string
	canReject           bool
	editableText        string
	asksForEntryName    bool // the person may enter a name for the new entry
	rowNumber           int
	contentAboveButtons g.Node // content that is shown above the form's buttons (may be nil)
	isEditOpen          bool   // the field for editing the text is shown
}

func (d decisionForm) renderForm(hiddenFields ...string) g.Node {
	return h.Form(
		h.Class("stack"),
		h.Method("post"),
		h.Action(page.RootPath+d.approvePath),
		h.Attr("data-guard", ""),
		page.HiddenFields(
			append(hiddenFields, "row", strconv.Itoa(d.rowNumber))...),
		g.If(d.contentAboveButtons != nil, d.contentAboveButtons),
		g.Iff(d.editPath == "", func() g.Node {
			return h.Details(
				h.Class("edit"),
				g.If(d.isEditOpen, h.Attr("open", "")),
				h.Summary(h.Class("button"), h.Attr("data-key", "e"), h.Text("Edit")),
				g.If(d.asksForEntryName, page.InputField("name", "Name (empty: the first line of the text)", "")),
				page.TextArea("content", "Text", d.editableText),
			)
		}),
		h.Div(h.Class("actions"), h.Button(h.Class("main"), h.Attr("data-key", "a"), h.Text("Approve")),
			g.If(
				d.canReject,
				h.Button(h.Attr("formaction", page.RootPath+d.rejectPath), h.Attr("data-key", "r"), h.Text("Reject")),
			),
			g.If(d.editPath != "",
				h.A(h.Class("button"), h.Attr("data-key", "e"), h.Href(page.RootPath+d.editPath), h.Text("Edit")))),
	)
}

// editedText returns the text in the decision form if it differs from oldText, otherwise "". If the person deleted the
// whole text, it returns an error.
func (c *pageRequest) editedText(oldText string) (text string, err error) {
	_ = c.formValue("content") // parse the form
	sent, ok := c.r.PostForm["content"]
	if !ok {
		return "", nil
	}
	text = strings.TrimSpace(strings.ReplaceAll(sent[0], "\r\n", "\n"))
	switch {
	case text == strings.TrimSpace(strings.ReplaceAll(oldText, "\r\n", "\n")):
		return "", nil
	case text == "":
		return "", verb.Advise(
			verb.Invalidf("the text is empty; nothing was changed"),
			"write a text, or reject the note",
		)
	}
	return text, nil
}

// failedDecisionPage returns the page for a decision that failed. It contains the text that the person
// typed.
func failedDecisionPage(err error, d decisionForm, hiddenFields ...string) pageReply {
	shown := errorPage(err)
	d.contentAboveButtons, d.isEditOpen = g.Group{errorNotice(err), d.contentAboveButtons}, true
	return pageWithNavigation{
		title:     "Inbox",
		navPath:   "inbox",
		status:    shown.status,
		bodyNodes: []g.Node{d.renderForm(hiddenFields...)},
	}
}

// nextInboxPath returns the path of the inbox after a decision, with the number of the row to mark as current. When the
// row of the decision has disappeared, the next row gets its number. Therefore this number is used again.
func (c *pageRequest) nextInboxPath() string {
	n, err := strconv.Atoi(c.formValue("row"))
	if err != nil {
		return "inbox"
	}
	return fmt.Sprintf("inbox?row=%d#row-%d", n, n)
}

// sameNameWarning warns that there is already an entry with this name, and shows how its text differs.
func (c *pageRequest) sameNameWarning(name, text string) g.Node {
	e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true, WithoutSimilarNames: true})
	if err != nil || e.Content == nil {
		return nil
	}
	if strings.TrimSpace(*e.Content) == strings.TrimSpace(text) {
		return h.P(h.Class("hint"), h.Text("The same text is already stored in "), page.EntryLink(e.Name), h.Text("."))
	}
	return h.Details(h.Summary(h.Text("An entry with this name has another text")), page.TextDiff(*e.Content, text))
}

// quarantinedEntryRow shows an entry that is not given to agents until a person approves it. It shows the entry's text,
// why it waits for approval, and how it differs from its previous text.
func (c *pageRequest) quarantinedEntryRow(e labels.QuarantinedEntry, row int, size textSize) g.Node {
	text, isCut := c.heldEntryText(e, size)
	whole := "inbox/held/" + strings.TrimPrefix(page.EntryPath(e.Name), "entries/") + "?row=" + strconv.Itoa(row)
	return h.Li(c.rowAttributes(row),
		h.Div(h.Class("head"), rowTitle(size, page.EntryLink(e.Name)), page.TrustBadge(e.TrustLevel),
			h.Span(h.Class("meta"), page.RelativeTime(c.now, page.ParseTime(e.Created)))),
		text,
		g.If(
			len(e.ForeignTextSources) > 0,
			h.P(
				h.Class("hint"),
				h.Text("Before it wrote this, the agent had read: "),
				page.IsolatedText(strings.Join(e.ForeignTextSources, "; ")),
				h.Text(". The note may repeat what a stranger wrote there."),
			),
		),
		g.If(
			len(e.MatchedInstructionRules) > 0,
			h.P(
				h.Class("hint"),
				h.Text("The text looks like an instruction to a model: "),
				page.IsolatedText(strings.Join(e.MatchedInstructionRules, ", ")),
				h.Text("."),
			),
		),
		g.If(isCut, h.P(h.A(h.Href(page.RootPath+whole), h.Text("The whole text")))),
		g.Iff(c.mayWrite(), func() g.Node {
			if c.actor != oxbow.Person {
				return h.Div(h.Class("actions"), h.Form(h.Class("one"), h.Method("post"), h.Action(page.RootPath+
					"inbox/forget"), page.HiddenFields("name", e.Name), h.Button(h.Attr("data-key", "r"),
					h.Text("Reject"))))
			}
			form := quarantinedEntryForm(e.Content, row)
			if isCut {
				form.editPath = whole
			}
			return form.renderForm("name", e.Name, "version", formatNumber(e.Version))
		}))
}

// quarantinedEntryForm returns the form for an entry that is held back.
func quarantinedEntryForm(text string, row int) decisionForm {
	return decisionForm{
		approvePath:  "inbox/approve",
		rejectPath:   "inbox/forget",
		canReject:    true,
		editableText: text,
		rowNumber:    row,
	}
}

// heldEntryText shows the text of an entry that is held back. If the entry replaced an older version with another text,
// it shows the difference between both. isCut reports whether a part of the text is left out.
func (c *pageRequest) heldEntryText(e labels.QuarantinedEntry, size textSize) (n g.Node, isCut bool) {
	two := 2
	past, err := verb.ListHistory(c.ctx, c.workspace, verb.HistoryIn{Name: e.Name, Limit: &two})
	if err == nil && len(past.Changes) == 2 {
		was, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: e.Name + "@" +
			strconv.FormatUint(past.Changes[1].Seq, 10), ContentOnly: true, WithoutSimilarNames: true})
		isKnown := err == nil && was.Content != nil
		if isKnown && *was.Content != e.Content {
			diff := page.TextDiff(*was.Content, e.Content)
			return g.Group{h.P(h.Class("hint"), h.Text("Change:")), diff}, false
		}
	}
	shown, isCut := textShownInRow(e.Content, size)
	return h.Pre(h.Class("text"), page.IsolatedText(shown), g.If(isCut, h.Text(" …"))), isCut
}

// textSize determines how much of a text an inbox row shows.
type textSize int

const (
	shortenedTextSize textSize = iota // show only the first lines of the text, at most maxRowLines
	wholeTextSize
)

// These constants limit the text in a row of the inbox.
const (
	maxRowLines     = 6
	maxRowTextBytes = 420
)

// textShownInRow returns the part of a text that a row shows, and whether it leaves out something.
func textShownInRow(s string, size textSize) (shown string, isCut bool) {
	s = strings.TrimSpace(s)
	if size == wholeTextSize {
		return s, false
	}
	lines := strings.SplitAfterN(s, "\n", maxRowLines+1)
	shown = strings.Join(lines[:min(len(lines), maxRowLines)], "")
	if len(shown) > maxRowTextBytes {
		shown = strings.ToValidUTF8(shown[:maxRowTextBytes], "")
	}
	shown = strings.TrimRight(shown, "\n")
	return shown, len(shown) < len(s)
}

// rowTitle is the heading of an inbox row. It has a lower level in the inbox, where it is below the heading of a
// group, than on a page that shows only this row.
func rowTitle(size textSize, title g.Node) g.Node {
	if size == wholeTextSize {
		return h.H2(title)
	}
	return h.H3(title)
}
