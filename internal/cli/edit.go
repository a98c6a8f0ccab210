// This file implements the command "oxbow edit", with which a person changes an entry in an editor.

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/vfs"
)

func editCommand(mem *lazyMemory) *cobra.Command {
	return &cobra.Command{
		Use:   "edit NAME",
		Short: "Change an entry in your editor",
		Long: `Edit opens the content of an entry in $VISUAL or $EDITOR, and stores the text
that you save. If somebody else changed the entry meanwhile, oxbow does not
overwrite the change. It saves your text in a separate file and prints the
path.`,
		Example: `  oxbow edit style
  EDITOR='code --wait' oxbow edit runbook`,
		Args: requireArgCount(1, 1, "the name of one entry"),
		RunE: func(cmd *cobra.Command, args []string) error { return mem.editAndPrint(cmd.Context(), args[0]) },
	}
}

func (mem *lazyMemory) editAndPrint(ctx context.Context, name string) error {
	out, err := mem.editEntry(ctx, name)
	if err != nil {
		return err
	}
	return printResult(mem, out, answerPrinter[editOut](mem))
}

// editOutcomeUnchanged is the outcome if the person did not change the text.
const editOutcomeUnchanged = "unchanged"

// editOut is the result of the command "oxbow edit". As JSON, it has the same fields as the result of "oxbow remember".
type editOut struct{ verb.RememberOut }

// Report says what happened to the entry. If the person did not change the text, nothing was stored.
func (o editOut) Report() report.Report {
	if o.EntryOutcome != editOutcomeUnchanged || len(o.Notes) > 0 {
		return o.RememberOut.Report()
	}
	return report.Report{Sections: []report.Section{report.Line{
		Sentence: report.Sentencef("%s is unchanged", report.EntryName(o.Name)),
	}}}
}

// editEntry opens an entry in the person's editor and stores the edited text.
func (mem *lazyMemory) editEntry(ctx context.Context, name string) (out editOut, err error) {
	got, err := callVerb(ctx, mem, verb.Get, verb.GetIn{Name: name, WithoutTeamFiles: true})
	if err != nil {
		return out, err
	}
	entry, was := got.Entry, *got.Entry.Content
	if entry.Name == "" {
		return out, usageErrorf(
			"forget it, or remember its text under a name",
			"an entry without a name cannot be changed",
		)
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 && entry.Name == name[:i] {
		return out, usageErrorf("to bring it back: oxbow restore "+
			quoteShellOperand(name), "%s is a version of the past, and cannot be edited", name)
	}
	draft := editedText{
		textName:      entry.Name,
		fileExtension: ".md",
		retryCommand:  "oxbow edit " + quoteShellOperand(entry.Name),
	}
	err = mem.finder.editTextInEditor(&draft, was, func(text string) error {
		// Editors add a newline at the end. This alone is not a change.
		if !strings.HasSuffix(was, "\n") {
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		}
		switch {
		case text == was:
			entry.Content = nil
			out.RememberOut = verb.RememberOut{EntryOutcome: editOutcomeUnchanged, Entry: entry}
			return nil
		case strings.TrimSpace(text) == "":
			return &hintedError{err: fmt.Errorf("the edited text is empty; %q stays as it was", entry.Name),
				remedy: "to take it out of the memory: oxbow forget " + quoteShellOperand(entry.Name)}
		}
		err := verb.CheckText("the edited text", text)
		if err == nil {
			out.RememberOut, err = callVerb(
				ctx,
				mem,
				verb.Remember,
				verb.RememberIn{Name: entry.Name, Content: text, IfVersion: &entry.Version},
			)
		}
		if gone, ok := errors.AsType[*oxbow.ConflictError](err); ok && gone.Have == 0 {
			draft.restoreHint = mem.restoreHint(ctx, entry)
		}
		return err
	})
	return out, err
}

// restoreHint returns a text that names the change that forgot an entry, and the command that restores the entry. It
// returns "" for a memory without a history.
func (mem *lazyMemory) restoreHint(ctx context.Context, e verb.Entry) string {
	past, err := callVerb(ctx, mem, verb.ListHistory, verb.HistoryIn{Name: e.Name})
	if err != nil || len(past.Changes) == 0 {
		return ""
	}
	return fmt.Sprintf(
		"change %d forgot it; to bring it back: oxbow restore %s; ",
		past.Changes[0].Seq,
		shellQuote(fmt.Sprintf("%s@%d", e.Name, e.Version)),
	)
}

// editedText describes a text that the person edits. It contains the text's name, the extension of the temporary file,
// the command to edit the text again, and a hint on how to restore an entry that was forgotten meanwhile.
type editedText struct{ textName, fileExtension, retryCommand, restoreHint string }

// editTextInEditor writes oldText to a file below the home, opens this file in an editor, and calls storeText with the
// edited text. If anything fails after the person has edited the text, the file is kept, and the error contains its
// path. The editor works directly on the file, so that neither a killed process nor a full disk loses the text.
func (finder *homeFinder) editTextInEditor(e *editedText, oldText string, storeText func(text string) error) error {
	dir, err := finder.createEditDir()
	if err != nil {
		return fmt.Errorf("making a file to edit: %w", err)
	}
	file := filepath.Join(dir, safeFileName(e.textName)+e.fileExtension)
	if err := os.WriteFile(file, []byte(oldText), 0o600); err != nil {
		return errors.Join(fmt.Errorf("making a file to edit: %w", err), vfs.RemoveTree(dir))
	}
	failed := finder.env.runEditor(file)
	text, err := finder.env.readFile(file)
	isTyped := (err != nil && !errors.Is(err, fs.ErrNotExist)) || (text != oldText && strings.TrimSpace(text) != "")
	err = cmp.Or(failed, err)
	if err == nil {
		err = storeText(text)
	}
	if err != nil && isTyped {
		return saveUnsavedText(*e, file, err)
	}
	return errors.Join(err, vfs.RemoveTree(dir))
}

// createEditDir creates the directory for an edited file. The directory is below the home. If the home cannot be
// written to, it is in the directory for temporary files.
func (finder *homeFinder) createEditDir() (string, error) {
	const pattern = "edit-"
	if home, err := finder.homePath(); err == nil && isDir(home) {
		unsaved := filepath.Join(home, maintenance.UnsavedEditsDir)
		if err := os.MkdirAll(unsaved, 0o700); err == nil {
			if dir, err := os.MkdirTemp(unsaved, pattern); err == nil {
				return dir, nil
			}
		}
	}
	return os.MkdirTemp("", "oxbow-"+pattern)
}

// saveUnsavedText keeps a text that the person edited, if oxbow could not store the text because of the error cause.
// file is the path of the file with the text. saveUnsavedText moves the file to the directory for unsaved texts. It
// returns an error that contains cause and the path at which the file is now.
func saveUnsavedText(e editedText, file string, cause error) error {
	dir := filepath.Dir(file)
	kept := filepath.Join(
		filepath.Dir(dir),
		safeFileName(e.textName)+"."+strings.TrimPrefix(filepath.Base(dir), "edit-")+e.fileExtension,
	)
	if filepath.Base(filepath.Dir(dir)) == maintenance.UnsavedEditsDir && os.Rename(file, kept) == nil {
		file = kept
		_ = vfs.RemoveTree(dir) // Remove other files that the editor created.
	}
	next := "your text is kept in " + file
	if own, ok := errors.AsType[*hintedError](cause); ok {
		next = own.remedy + "; " + next
	}
	switch gone, ok := errors.AsType[*oxbow.ConflictError](cause); {
	case ok && gone.Have == 0:
		next = e.restoreHint + "your text is kept in " + file + "; to make an entry of it: oxbow remember " +
			shellQuote(
				e.textName,
			) +
			" --file " + shellQuote(
			file,
		)
	case errors.Is(cause, oxbow.ErrConflict):
		next += "; merge it by hand: " + e.retryCommand
	}
	// If the cause is a usage error, report its text but not as misuse of the command line, because a corrected
	// command line would not save the edited text.
	if m, ok := errors.AsType[*usageError](cause); ok {
		cause = m.err
	}
	return &hintedError{err: cause, remedy: next}
}

// safeFileName converts an entry's name to a file name that is valid on every system and has at most 60 bytes.
func safeFileName(name string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
	s = strings.Trim(s, ".-")
	for len(s) > 60 {
		r := []rune(s)
		s = string(r[:len(r)-1])
	}
	if s == "" {
		s = "entry"
	}
	if text.IsDeviceName(s) {
		s = "entry-" + s
	}
	return s
}
