// This file makes notes from turns, exports sessions, and forgets sessions.

package web

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// findTurn returns the session in the path, and the turn in the form or the query. If the session lacks this turn, the
// error matches [oxbow.ErrNotFound].
func (c *pageRequest) findTurn() (out sessions.SessionOut, t *session.Turn, err error) {
	out, err = sessions.ShowSession(c.ctx, c.workspace, sessions.SessionIn{Session: c.sessionID()})
	if err != nil {
		return out, nil, err
	}
	n := c.formNumber("turn", 0)
	at := slices.IndexFunc(out.Turns, func(t session.Turn) bool { return t.Number == n })
	if at < 0 {
		return out, nil, fmt.Errorf("turn %d of this session: %w", n, oxbow.ErrNotFound)
	}
	return out, &out.Turns[at], nil
}

// noteFormPage is the page with the form that makes a note from a turn.
func noteFormPage(c *pageRequest) (pageReply, error) {
	out, t, err := c.findTurn()
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(t.AgentText())
	if text == "" {
		text = strings.TrimSpace(t.Prompt())
	}
	return turnNotePage(out, t, formValues{"content": clipTurnText(text), "project": out.Project}, 0), nil
}

// turnNotePage returns a page with a form in which a person writes a note from a turn of a past session.
func turnNotePage(
	out sessions.SessionOut,
	t *session.Turn,
	v formValues,
	status int,
	notices ...g.Node,
) pageWithNavigation {
	path := page.SessionPath(out.Client, out.Session, 0)
	return pageWithNavigation{title: "Make a note of a turn", navPath: "sessions", status: status,
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text("Shorten the text to what will still matter later, in your own words."),
		),
		bodyNodes: append(notices,
			h.Form(
				h.Class("stack"),
				h.Method("post"),
				h.Action(page.RootPath+path+
					"/note"),
				h.Attr("data-guard", ""),
				page.HiddenFields("turn", strconv.Itoa(t.Number)),
				page.InputField("name", "Name (empty: the first line of the text)", v["name"]),
				page.TextArea("content", "Text", v["content"], h.Required()),
				page.InputField(
					"project",
					"Project",
					v["project"],
				),
				page.InputField("tags", "Tags, separated by commas", v["tags"]),
				h.Div(
					h.Class("actions"),
					h.Button(h.Class("main"), h.Text("Save")),
					h.A(
						h.Href(page.RootPath+page.SessionPath(out.Client, out.Session, t.Number)),
						h.Text("Back to the turn"),
					),
				),
			))}
}

func saveTurnNote(c *pageRequest) (pageReply, error) {
	session, t, err := c.findTurn()
	if err != nil {
		return nil, err
	}
	back := page.SessionPath(session.Client, session.Summary.Session, t.Number)
	in := verb.RememberIn{
		Name:      c.formValue("name"),
		Content:   c.formValue("content"),
		Project:   c.formValue("project"),
		FromTurns: []string{t.EntryName()},
	}
	again := func(err error) (pageReply, error) {
		v := formValues{"name": in.Name, "content": in.Content, "project": in.Project, "tags": c.formValue("tags")}
		return turnNotePage(session, t, v, errorPage(err).status, errorNotice(err)), nil
	}
	if in.Name != "" { // do not replace an existing entry that the page has not shown
		if _, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: in.Name, ContentOnly: true,
			WithoutSimilarNames: true}); err == nil {
			return again(&oxbow.InvalidError{
				Field:  "name",
				Value:  in.Name,
				Reason: "is already used by another entry; choose another name, or edit that entry",
			})
		}
	}
	for tag := range strings.SplitSeq(c.formValue("tags"), ",") {
		tag = strings.TrimSpace(tag)
		if tag != "" {
			in.Tags = append(in.Tags, tag)
		}
	}
	out, err := verb.Remember(c.ctx, c.workspace, in)
	if err != nil {
		return again(err)
	}
	if out.EntryOutcome == "unchanged" {
		return redirectReply{path: back, message: "The memory already contains this."}, nil
	}
	return redirectReply{path: back, changeNumber: out.Version}, nil
}

// downloadReply is a reply that a browser saves as a file.
type downloadReply struct {
	name, contentType string
	body              []byte
}

func (d downloadReply) send(_ *pageRequest, w http.ResponseWriter, _ page.Assets) {
	w.Header().Set("Content-Type", d.contentType)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": d.name}))
	_, _ = w.Write(d.body) // ignore the error, because the browser has disconnected
}

// exportSession returns a session as a file for download. The file is JSON if the form value "form" is "json", and
// Markdown otherwise.
func exportSession(c *pageRequest) (pageReply, error) {
	out, err := sessions.ShowSession(c.ctx, c.workspace, sessions.SessionIn{Session: c.sessionID()})
	if err != nil {
		return nil, err
	}
	name := "session-" + safeFileName(out.Client+"-"+out.Summary.Session)
	if c.formValue("form") == "json" {
		body, err := json.MarshalIndent(out, "", "  ")
		return downloadReply{name + ".json", "application/json", append(body, '\n')}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Session %s/%s\n", out.Client, out.Summary.Session)
	for _, t := range out.Turns {
		fmt.Fprintf(
			&b,
			"\n## Turn %d, %s\n\n%s\n",
			t.Number,
			t.StartTime.UTC().Format("2006-01-02 15:04 MST"),
			session.ReadableText(t.Content()),
		)
	}
	return downloadReply{name + ".md", "text/markdown; charset=utf-8", []byte(b.String())}, nil
}

// safeFileName returns the first 80 bytes of the name s. It keeps ASCII letters, digits, "-" and "_", and replaces each
// other character by "-", because some file systems do not allow the other characters in file names.
func safeFileName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-', r == '_', '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			return r
		}
		return '-'
	}, s[:min(len(s), 80)])
}

// forgetSessionPage shows what will be deleted from the archive if the session is forgotten.
func forgetSessionPage(c *pageRequest) (pageReply, error) {
	out, err := sessions.ForgetSession(
		c.ctx,
		c.workspace,
		sessions.ForgetSessionIn{Session: c.sessionID(), DryRun: true},
	)
	if err != nil {
		return nil, err
	}
	path := page.SessionPath(out.Client, out.Session, 0)
	return pageWithNavigation{title: "Forget a session", navPath: "sessions", bodyNodes: []g.Node{
		h.P(h.Text(page.CountWithNoun(out.Turns, "turn")+" of "), page.IsolatedText(out.Client+"/"+
			out.Session), h.Text(
			" would be removed from the archive. Notes that were made from it stay. The client's own transcript "+
				"is not changed. "+
				"You can restore the session.",
		)),
		h.Div(h.Class("actions"), page.PostButton(path+
			"/forget", "danger", "Forget the session"), h.A(h.Href(page.RootPath+path), h.Text("Keep it")))}}, nil
}

func forgetSession(c *pageRequest) (pageReply, error) {
	out, err := sessions.ForgetSession(c.ctx, c.workspace, sessions.ForgetSessionIn{Session: c.sessionID()})
	if err != nil {
		return nil, err
	}
	return pageWithNavigation{title: "Forgotten", navPath: "sessions", bodyNodes: []g.Node{
		h.P(
			h.Class("done"),
			h.Role("status"),
			h.Textf("%s removed from the archive.", page.CountWithNoun(out.Turns, "turn")),
		),
		h.Div(
			h.Class("actions"),
			page.PostButton("sessions/restore", "", "Restore the session"),
			h.A(h.Href(page.RootPath+
				"sessions"), h.Text("Back to the sessions")),
		)}}, nil
}

// restoreSession restores the session that was forgotten last.
func restoreSession(c *pageRequest) (pageReply, error) {
	out, err := sessions.ForgetSession(c.ctx, c.workspace, sessions.ForgetSessionIn{Undo: true})
	if err != nil {
		return nil, err
	}
	return redirectReply{path: page.SessionPath(out.Client, out.Session, 0), message: "The session was restored."}, nil
}
