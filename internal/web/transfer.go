// This file exports entries as a downloaded file, and imports a file that the browser uploads.

package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// transferPage contains the forms that import a file and export entries.
func transferPage(c *pageRequest) (pageReply, error) { return c.importExportScreen(0), nil }

func (c *pageRequest) importExportScreen(status int, notices ...g.Node) pageWithNavigation {
	s := pageWithNavigation{title: "Import and export", navPath: "transfer", status: status,
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text("Import notes from a file, follow a directory of notes, or export your notes."),
		), bodyNodes: notices}
	if c.canDecideAsPerson() {
		s.bodyNodes = append(s.bodyNodes, page.Section("import", "Import a file", importForm()))
	}
	if list := c.folderSection(); list != nil {
		s.bodyNodes = append(s.bodyNodes, page.Section("folders", "Folders", list))
	}
	s.bodyNodes = append(s.bodyNodes, page.Section("export", "Export entries", exportForm(c.formValue("q"))))
	return s
}

// maxUploadBytes is the maximum size of an uploaded file, in bytes. It is 4096 bytes less than a request's maximum
// size, so that the request has room for the form's other fields.
const maxUploadBytes = auth.MaxBodyBytes - 4096

func importForm() g.Node {
	return h.Form(
		h.Class("stack"),
		h.Method("post"),
		h.Action(page.RootPath+uploadPreviewPath),
		h.Attr("enctype", "multipart/form-data"),
		h.Label(h.For("file"), h.Text("File")),
		h.Input(
			h.ID("file"),
			h.Type("file"),
			h.Name("file"),
			h.Required(),
			h.Attr("data-max", strconv.Itoa(maxUploadBytes)),
			h.Aria("describedby", "file-hint"),
		),
		h.P(h.Class("hint"), h.ID("file-hint"),
			h.Text("An export of oxbow or of another memory, or a Markdown file, of at most 4 MB. "+
				"You see a preview before anything is stored.")),
		h.Label(h.Input(h.Type("checkbox"), h.Name("overwrite"), h.Value("1")),
			h.Text(" Replace entries that were edited here")),
		h.Div(h.Class("actions"), h.Button(h.Class("main"), h.Text("Preview"))),
	)
}

func exportForm(query string) g.Node {
	return h.Form(h.Class("stack"), h.Action(page.RootPath+"transfer/export"),
		page.InputField("q", "Filter (empty: all entries)", query, h.Placeholder("project:…, tag:…")),
		h.Div(h.Class("actions"), h.Button(h.Text("Export")),
			h.Span(h.Class("hint"), h.Text("JSON Lines, one entry per line. You can import the file again."))))
}

// exportEntries returns a file with the entries that the query selects.
func exportEntries(c *pageRequest) (pageReply, error) {
	if c.actor != oxbow.Person {
		return forbiddenPage("Only a person may export entries.",
			"Run oxbow ui in a terminal, and open the link that it prints. Only you get this link."), nil
	}
	one := 1
	if _, err := verb.ListEntries(c.ctx, c.workspace, verb.ListIn{Filter: c.formValue("q"), Limit: &one}); err != nil {
		return c.importExportScreen(errorPage(err).status, errorNotice(err)), nil
	}
	return fileDownloadReply{c.formValue("q")}, nil
}

// fileDownloadReply is a reply that a browser saves as a file.
type fileDownloadReply struct {
	entryFilter string
}

func (f fileDownloadReply) send(c *pageRequest, w http.ResponseWriter, _ page.Assets) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", `attachment; filename="oxbow-`+c.now.Format("2006-01-02")+`.jsonl"`)
	_, err := transfer.Export(c.ctx, c.workspace, transfer.ExportIn{Filter: f.entryFilter, Output: w})
	// After an error, abort the download. Otherwise the browser would treat the incomplete file as complete.
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// uploadOwnerID returns a text that identifies the browser.
func (c *pageRequest) uploadOwnerID() string {
	source, _ := oxbow.SourceFrom(c.ctx)
	return source.Session
}

// readUpload reads the file that the form contains.
func (c *pageRequest) readUpload() (f uploadedFile, err error) {
	in, head, err := c.r.FormFile("file")
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		if body, ok := c.r.Body.(*uploadBody); ok {
			body.discardRest()
		}
		return f, verb.Advise(verb.Invalidf("the file is larger than 4 MB"), "to import it, run in a terminal: "+
			"oxbow import FILE")
	case err != nil:
		return f, &oxbow.InvalidError{Field: "file", Reason: "is missing; choose a file"}
	}
	defer func() { _ = in.Close() }() // ignore the error, because the file was only read
	f.name = path.Base(strings.ReplaceAll(head.Filename, `\`, "/"))
	f.content, err = io.ReadAll(in)
	sum := sha256.Sum256(f.content)
	f.contentDigest = hex.EncodeToString(sum[:8])
	return f, err
}

// uploadErrorPage returns the page for a file that cannot be imported. It contains the form for another file.
func (c *pageRequest) uploadErrorPage(err error) pageWithNavigation {
	s := c.importExportScreen(errorPage(err).status, errorNotice(err))
	s.bodyNodes = append(s.bodyNodes, typedTextSection(c.r))
	return s
}

// previewImport shows the entries that an import of the uploaded file would add and update.
func previewImport(c *pageRequest) (pageReply, error) {
	file, err := c.readUpload()
	if err != nil {
		return c.uploadErrorPage(err), nil
	}
	in := file.importArguments()
	in.DryRun, in.Overwrite = true, c.formValue("overwrite") != ""
	out, err := transfer.Import(c.ctx, c.workspace, in)
	if err != nil {
		return c.uploadErrorPage(err), nil
	}
	s := pageWithNavigation{title: "Import " + page.VisibleText(file.name), navPath: "transfer",
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text("Nothing is stored yet. The file contains "+describeImportCounts(out)),
		)}
	s.bodyNodes = append(s.bodyNodes, importMessages(out))
	if out.AddedEntryCount+out.UpdatedEntryCount == 0 {
		s.bodyNodes = append(s.bodyNodes, h.P(h.A(h.Href(page.RootPath+"transfer"), h.Text("Choose another file"))))
		return s, nil
	}
	c.uploads.keepUpload(c.uploadOwnerID(), file)
	fields := []string{"digest", file.contentDigest}
	if in.Overwrite {
		fields = append(fields, "overwrite", "1")
	}
	s.bodyNodes = append(s.bodyNodes, importedEntryList(out),
		h.P(h.Class("hint"), h.Text("Imported entries wait in the inbox for your approval. "+
			"Until then, agents see them only if they search.")),
		h.Div(h.Class("actions"), page.PostButton("transfer/import", "main", "Import "+
			page.CountWithNoun(out.AddedEntryCount+out.UpdatedEntryCount, "entry"), fields...),
			h.A(h.Class("button"), h.Href(page.RootPath+"transfer"), h.Text("Cancel"))))
	return s, nil
}

// describeImportCounts returns a sentence with the result of an import, such as "3 new entries, 1 changed entry." It
// always contains the number of new entries. The numbers of changed entries, unchanged entries and skipped items are
// left out if they are 0.
func describeImportCounts(out transfer.ImportOut) string {
	s := page.CountWithNoun(out.AddedEntryCount, "new entry")
	if out.UpdatedEntryCount > 0 {
		s += ", " + page.CountWithNoun(out.UpdatedEntryCount, "changed entry")
	}
	if out.UnchangedEntryCount > 0 {
		s += ", " + page.CountWithNoun(out.UnchangedEntryCount, "unchanged entry")
	}
	if out.SkippedItemCount > 0 {
		s += ", " + page.CountWithNoun(out.SkippedItemCount, "skipped item")
	}
	return s + "."
}

// importMessages shows the problems and the notes of an import.
func importMessages(out transfer.ImportOut) g.Node {
	show := func(kind string, all []string) g.Node {
		return g.Map(all, func(s string) g.Node { return page.Notice(kind, page.VisibleText(s), "") })
	}
	return g.Group{show("warn", out.Problems), show("note", out.Notes),
		g.If(out.UnlistedMessageCount > 0, h.P(h.Class("dim"), h.Textf("And %d more.", out.UnlistedMessageCount)))}
}

// maxImportedNames is the maximum number of names that are shown before an import.
const maxImportedNames = 100

// importedEntryList lists the entries that an import adds and updates.
func importedEntryList(out transfer.ImportOut) g.Node {
	var rows g.Group
	for _, ch := range out.Changes[:min(len(out.Changes), maxImportedNames)] {
		isUpdate := ch.Verb == oxbow.VerbUpdate
		rows = append(rows, h.Li(page.IsolatedText(ch.Name), h.Text(" "),
			g.If(isUpdate, page.Badge("warn", "updated", "It replaces the text of your entry."))))
	}
	more := len(out.Changes) - len(rows)
	return g.Group{h.Ul(h.Class("list"), rows), g.If(more > 0, h.P(h.Class("dim"), h.Textf("And %d more.", more)))}
}

// importUpload imports the file that the preview page has shown. The changes of the import get their own session ID.
// Therefore the person can undo the import without undoing other changes.
func importUpload(c *pageRequest) (pageReply, error) {
	file, ok := c.uploads.takeUpload(c.uploadOwnerID(), c.formValue("digest"))
	if !ok {
		err := fmt.Errorf("%w: the server no longer has this file; nothing was imported", oxbow.ErrConflict)
		return nil, verb.Advise(err, "choose the file again")
	}
	in := file.importArguments()
	in.Overwrite, in.OmitChanges = c.formValue("overwrite") != "", true
	source, _ := oxbow.SourceFrom(c.ctx)
	source.Session += "-" + file.contentDigest
	out, err := transfer.Import(oxbow.WithSource(c.ctx, source), c.workspace, in)
	if err != nil {
		return nil, err
	}
	said := "Imported " + describeImportCounts(out)
	for _, problem := range out.Problems {
		said += " " + page.MakeSentence(problem)
	}
	return redirectReply{path: "inbox", message: said, importSessionID: source.Session}, nil
}
