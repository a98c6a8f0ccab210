// This file shows the directories of Markdown files that the memory follows, and changes the list.

package web

import (
	"errors"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/folders"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// canChangeFolders reports whether this browser may change which directories the memory follows.
func (c *pageRequest) canChangeFolders() bool {
	return c.canDecideAsPerson() && !c.forbidsFileWrites && c.workspace.Host != nil
}

// errNoFolders is returned if the pages of this server may not read directories on the server's machine.
var errNoFolders = verb.Advise(
	verb.Invalidf("the pages of this server cannot follow directories"),
	"run oxbow ui on the machine that has the notes",
)

// folderSection lists the followed directories, with forms that change the list. It returns nil if this browser may see
// only a part of the memory, or if the memory is not stored in a file (c.workspace.Place is nil). The forms are left
// out if this browser may not change the list.
func (c *pageRequest) folderSection() g.Node {
	if c.view.IsPartial() || c.workspace.Place == nil {
		return nil
	}
	out, err := folders.List(c.ctx, c.workspace, folders.ListIn{})
	switch {
	case errors.Is(err, oxbow.ErrUnsupported):
		return h.P(h.Class("dim"), h.Text("A memory of this layout cannot follow directories."))
	case err != nil:
		return renderErrorInPage(err)
	}
	mayChange := c.canChangeFolders()
	body := g.Group{
		h.P(h.Class("dim"), h.Text("A folder is a directory of Markdown notes that you keep editing, such as "+
			"an Obsidian vault. When you edit the files, the next recall finds your changes.")),
	}
	if len(out.Folders) > 0 {
		body = append(body, h.Ul(h.Class("rows"), h.Attr("data-keys", ""),
			g.Map(out.Folders, func(f folders.ListedFolder) g.Node { return folderRow(f, mayChange) })))
	}
	if !mayChange {
		return body
	}
	if len(out.Folders) > 0 {
		body = append(body, page.PostButton("transfer/compare", "", "Compare now"))
	}
	return append(body, followDirectoryForm())
}

// folderRow shows a directory that oxbow follows: it reads the notes in the directory into the memory, and may also
// write changes of the memory to the files. folderRow also shows the directory's problems and notes. If mayChange is
// set, it shows a button with which the user stops following the directory.
func folderRow(f folders.ListedFolder, mayChange bool) g.Node {
	how := "read only"
	if f.WritesFiles {
		how = "read and written"
	}
	problems := g.Map(f.Problems, func(s string) g.Node { return page.Notice("warn", page.VisibleText(s), "") })
	notes := g.Map(f.Notes, func(s string) g.Node { return page.Notice("note", page.VisibleText(s), "") })
	return h.Li(h.Class("row"),
		h.Div(h.Class("head"),
			h.A(h.Href(page.RootPath+page.FindPagePath("folder:"+page.QuoteValue(f.Name))), page.IsolatedText(f.Name)),
			page.Badge("", page.CountWithNoun(f.FileCount, "file"), ""), page.Badge("", how, "")),
		h.Div(h.Class("meta"), h.Code(page.IsolatedText(f.Path))),
		problems, notes,
		g.If(mayChange, h.Div(h.Class("actions"),
			page.PostButton("transfer/unfollow", "", "Stop following", "folder", f.Name))))
}

// followDirectoryForm returns a form in which a person enters a directory whose notes oxbow will keep in step with the
// memory.
func followDirectoryForm() g.Node {
	return h.Form(h.Class("stack"), h.Method("post"), h.Action(page.RootPath+"transfer/folder"),
		page.InputField("dir", "Directory on the machine that runs this server", "", h.Required(),
			h.Placeholder("/home/ada/vault")),
		h.Label(h.Input(h.Type("checkbox"), h.Name("write"), h.Value("1")),
			h.Text(" Write changes that I and my agents make into the files as well")),
		h.Div(h.Class("actions"), h.Button(h.Text("Follow")),
			h.Span(h.Class("hint"), h.Text("The notes wait in the inbox for your approval."))))
}

// followFolder starts to follow a directory, and imports its notes.
func followFolder(c *pageRequest) (pageReply, error) {
	if !c.canChangeFolders() {
		return nil, errNoFolders
	}
	out, err := folders.Add(
		c.ctx,
		c.workspace,
		folders.AddIn{Dir: c.formValue("dir"), WriteFiles: c.formValue("write") != ""},
	)
	if err != nil {
		return nil, err
	}
	said := "The memory follows " + out.Folder.Path + ". " + changeCountsText(&out.Change)
	for _, m := range out.Change.Messages() {
		said += " " + page.MakeSentence(m)
	}
	return redirectReply{path: "transfer", message: said}, nil
}

// changeCountsText returns a text that says how many notes of a folder were added, updated or forgotten in the memory.
func changeCountsText(ch *folders.FolderChange) string {
	return page.CountWithNoun(
		ch.AddedCount,
		"note",
	) + " added, " + page.CountWithNoun(
		ch.UpdatedCount,
		"note",
	) + " updated, " +
		page.CountWithNoun(
			ch.ForgottenNotes,
			"note",
		) + " forgotten."
}

// compareFolders compares the files in all registered folders with the memory, imports their changes, and describes the
// changes in a message. In folders that are registered for writing, it also updates files from the memory. If the
// request may not change folders, the error is errNoFolders.
func compareFolders(c *pageRequest) (pageReply, error) {
	if !c.canChangeFolders() {
		return nil, errNoFolders
	}
	out, err := folders.Sync(c.ctx, c.workspace, folders.SyncIn{})
	if err != nil {
		return nil, err
	}
	said := ""
	for i := range out.Changes {
		ch := &out.Changes[i]
		said += ch.Folder + ": " + changeCountsText(ch) + " "
		for _, m := range ch.Messages() {
			said += page.MakeSentence(m) + " "
		}
	}
	return redirectReply{path: "transfer", message: said}, nil
}

// unfollowFolder stops following a directory. Its notes stay in the memory.
func unfollowFolder(c *pageRequest) (pageReply, error) {
	if !c.canChangeFolders() {
		return nil, errNoFolders
	}
	out, err := folders.Remove(c.ctx, c.workspace, folders.RemoveIn{Folder: c.formValue("folder")})
	if err != nil {
		return nil, err
	}
	said := "The memory no longer follows " + out.Folder.Path + ". "
	return redirectReply{
		path:    "transfer",
		message: said + text.FormatCount(out.RemainingNotes, "note stays", "notes stay") + " in the memory.",
	}, nil
}
