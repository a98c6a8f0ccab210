// oxbow profile edit.

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) profileEditCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "edit NAME",
		Short: "Change a profile in your editor",
		Long: `Edit opens the file of a profile in $VISUAL or $EDITOR. What you save is looked
over first: with a mistake in it, the old file stays, and your text is kept in a
file of its own. What is only odd, as lint points it out, is told and saved.
When somebody else changed the file meanwhile, nothing is overwritten.`,
		Example: `  oxbow profile edit vtt
  EDITOR='code --wait' oxbow profile edit vtt`,
		Args: args(1, 1, "the name of one profile"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.editProfile(cmd.Context(), args[0]) },
	}
}

func (a *app) editProfile(ctx context.Context, name string) (err error) {
	set, err := a.profiles()
	if err != nil {
		return err
	}
	was, err := set.Text(name)
	if err != nil {
		return &misuse{err, "oxbow profile list shows what there is; oxbow profile new NAME makes one"}
	}
	place, err := set.File(name)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "oxbow-edit-")
	if err != nil {
		return fmt.Errorf("making a file to edit: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, fileName(name)+".yaml")
	if err := os.WriteFile(file, was, 0o600); err != nil {
		return fmt.Errorf("making a file to edit: %w", err)
	}
	keep := func(text string, cause error) error {
		return a.keepAs(name, ".yaml", "oxbow profile edit "+quote(name), text, cause)
	}
	edited := a.runEditor(file)
	text, err := os.ReadFile(file)
	switch {
	case edited != nil && err == nil && string(text) != string(was):
		return keep(string(text), edited)
	case edited != nil:
		return edited
	case err != nil:
		return fmt.Errorf("reading what was edited: %w", err)
	}
	out := struct {
		Name    string   `json:"name"`
		File    string   `json:"file"`
		Outcome string   `json:"outcome"` // updated or unchanged
		Found   []string `json:"found"`   // what is odd about it
	}{name, place, "unchanged", []string{}}
	if string(text) != string(was) {
		odd, err := a.tryProfile(ctx, name, text)
		if err == nil {
			err = set.Replace(name, was, text)
		}
		if err != nil {
			return keep(string(text), err)
		}
		out.Outcome, out.Found = "updated", odd
	}
	if a.json {
		return a.printJSON(out)
	}
	a.printf("%s is %s\n", clean(place), out.Outcome)
	for _, o := range out.Found {
		a.note("%s", clean(o))
	}
	return nil
}

// tryProfile returns what lint would say of a profile if its file held text.
func (a *app) tryProfile(ctx context.Context, name string, text []byte) (odd []string, err error) {
	w, done, err := a.workspace()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	odd, err = tool.TryProfile(ctx, w, name, text)
	if err != nil && strings.TrimSpace(string(text)) == "" {
		err = &hinted{err, "a profile that is not wanted any more is a file that you can remove"}
	}
	return odd, err
}
