// "oxbow edit": changing an entry in an editor.

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) editCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "edit NAME",
		Short: "Change an entry in your editor",
		Long: `Edit opens the content of an entry in $VISUAL or $EDITOR and keeps what you
save. When somebody else changed the entry meanwhile, nothing is overwritten:
your text is kept in a file of its own.`,
		Example: `  oxbow edit style
  EDITOR='code --wait' oxbow edit runbook`,
		Args: args(1, 1, "the name of one entry"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.edit(cmd.Context(), args[0]) },
	}
}

func (a *app) edit(ctx context.Context, name string) (err error) {
	if err := tool.CheckText("name", name); err != nil {
		return badArgument(err)
	}
	got, err := run(ctx, a, tool.Get, tool.GetIn{Name: name})
	if err != nil {
		return err
	}
	entry := got.Entry
	if entry.Name == "" {
		return misusef("forget it, or remember its text under a name", "an entry without a name cannot be changed")
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 && entry.Name == name[:i] {
		return misusef("to bring it back: oxbow restore "+quote(name), "%s is a version of the past, and cannot be edited", name)
	}

	dir, err := os.MkdirTemp("", "oxbow-edit-")
	if err != nil {
		return fmt.Errorf("making a file to edit: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, fileName(entry.Name)+".md")
	if err := os.WriteFile(file, []byte(*entry.Content), 0o600); err != nil {
		return fmt.Errorf("making a file to edit: %w", err)
	}
	if err := a.runEditor(file); err != nil {
		if text, rerr := a.readFile(file); rerr == nil && text != *entry.Content {
			return a.keep(entry.Name, text, err)
		}
		return err
	}
	text, err := a.readFile(file)
	if err != nil {
		return err
	}
	// Editors end the last line. That alone is no change.
	if !strings.HasSuffix(*entry.Content, "\n") {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	switch {
	case text == *entry.Content:
		if a.json {
			entry.Content = nil
			return a.printJSON(tool.RememberOut{Outcome: "unchanged", Entry: entry})
		}
		a.printf("%s is unchanged\n", a.bold(entry.Name))
		return nil
	case strings.TrimSpace(text) == "":
		return &hinted{err: fmt.Errorf("the edited text is empty; %q stays as it was", entry.Name),
			hint: "to take it out of the memory: oxbow forget " + quote(entry.Name)}
	}
	err = tool.CheckText("the edited text", text)
	var out tool.RememberOut
	if err == nil {
		out, err = run(ctx, a, tool.Remember, tool.RememberIn{Name: entry.Name, Content: text, IfVersion: &entry.Version})
	}
	if err != nil {
		return a.keep(entry.Name, text, err)
	}
	return answer(a, out, a.showRemembered)
}

// keep saves a text that could not be remembered below the home, and returns
// the error with the name of its file.
func (a *app) keep(name, text string, cause error) error {
	return a.keepAs(name, ".md", "oxbow edit "+quote(name), text, cause)
}

// keepAs is keep for a file of that ending; again is the command that edits it
// anew.
func (a *app) keepAs(name, ext, again, text string, cause error) error {
	home, err := a.home()
	if err != nil {
		return errors.Join(cause, err)
	}
	dir := filepath.Join(home, tool.UnsavedDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		dir = os.TempDir() // a home on a full or read-only disk
	}
	f, err := os.CreateTemp(dir, fileName(name)+".*"+ext)
	if err != nil {
		return errors.Join(cause, fmt.Errorf("keeping your text: %w", err))
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(cause, fmt.Errorf("keeping your text: %w", err))
	}
	// Whatever the cause was, it is no misuse: the text cannot be typed again.
	next := "your text is kept in " + f.Name()
	if errors.Is(cause, oxbow.ErrConflict) {
		next += "; merge it by hand: " + again
	}
	var m *misuse
	if errors.As(cause, &m) {
		cause = m.err
	}
	return &hinted{err: cause, hint: next}
}

// fileName makes a name usable as that of a file on any system.
func fileName(name string) string {
	s := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.' {
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
	// Windows keeps some names for devices, with any ending.
	base, _, _ := strings.Cut(strings.ToUpper(s), ".")
	switch {
	case base == "CON", base == "PRN", base == "AUX", base == "NUL",
		len(base) == 4 && (strings.HasPrefix(base, "COM") || strings.HasPrefix(base, "LPT")):
		s = "entry-" + s
	}
	return s
}
