// This file moves an entry to the files of the team. Before that, a page shows the effect.

package web

import (
	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/sharing"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// canShare reports whether this browser may move entries to the files of the team.
func (c *pageRequest) canShare() bool {
	return c.canDecideAsPerson() && !c.forbidsFileWrites && c.workspace.Host != nil
}

// errNoTeamFiles is returned by a server whose pages do not write files.
var errNoTeamFiles = verb.Advise(
	verb.Invalidf("the pages of this server cannot share entries with a team"),
	"run oxbow ui in the directory of the repository",
)

// sharePage shows which file would be written if the entry were shared with the team, and a button that shares the
// entry.
func sharePage(c *pageRequest) (pageReply, error) {
	name := c.entryNameFromPath()
	s := pageWithNavigation{
		title:           "Share with the team",
		navPath:         "find",
		descriptionLine: h.P(h.Class("lead"), page.EntryLink(name)),
	}
	if !c.canShare() {
		return nil, errNoTeamFiles
	}
	out, err := sharing.TeamShare(c.ctx, c.workspace, sharing.TeamShareIn{Names: []string{name}, DryRun: true})
	if err != nil {
		s.bodyNodes = []g.Node{errorNotice(err)}
		return s, nil
	}
	s.bodyNodes = []g.Node{
		h.P(
			h.Text(
				"The entry moves from your memory into a file of the repository. Your team gets the file when you " +
					"commit and push it. You can undo this.",
			),
		),
		h.Ul(
			h.Class("rows"),
			g.Map(out.MovedEntries, func(m sharing.TeamEntryMove) g.Node { return sharedFileRow(m, out.TopDir) }),
		),
		h.Div(h.Class("actions"), page.PostButton(page.EntryPath(name)+"/share", "main", "Share with the team"),
			h.A(h.Class("button"), h.Href(page.RootPath+page.EntryPath(name)), h.Text("Cancel"))),
	}
	return s, nil
}

// sharedFileRow shows the name of the file for a shared entry and, if the file exists, the lines that would change. A
// new file lacks a name before it is written. teamDir is the directory with the files of the team.
func sharedFileRow(m sharing.TeamEntryMove, teamDir string) g.Node {
	what, file := "The file ", m.File
	if file == "" {
		what, file = "A new file below ", teamDir
	}
	return h.Li(h.Class("row"), h.P(h.Text(what), h.Code(page.IsolatedText(file))),
		g.If(len(m.ChangedLines) > 0, h.Pre(h.Class("text"), g.Map(m.ChangedLines, func(line string) g.Node {
			return g.Group{page.IsolatedText(line), h.Text("\n")}
		}))))
}

// shareEntryWithTeam moves an entry to the files of the team.
func shareEntryWithTeam(c *pageRequest) (pageReply, error) {
	if !c.canShare() {
		return nil, errNoTeamFiles
	}
	out, err := sharing.TeamShare(c.ctx, c.workspace, sharing.TeamShareIn{Names: []string{c.entryNameFromPath()}})
	if err != nil {
		return nil, err
	}
	to := redirectReply{path: ""}
	for _, m := range out.MovedEntries {
		to.message += "Shared as " + m.File + ". Commit this file to git, so that your team gets it. "
	}
	one := 1
	last, err := verb.ListHistory(c.ctx, c.workspace, verb.HistoryIn{Limit: &one})
	isKnown := err == nil && len(last.Changes) > 0
	if out.IsHomeChanged && isKnown {
		to.changeNumber = last.Changes[0].Seq
	}
	return to, nil
}
