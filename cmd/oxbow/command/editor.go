// Starts a person's editor.

package command

import (
	"fmt"
	"strings"
)

// editor returns the command line of the person's editor: $VISUAL, else
// $EDITOR, else what every system of that kind has.
func (t *terminal) editor() ([]string, error) {
	for _, key := range []string{"VISUAL", "EDITOR"} {
		line := strings.TrimSpace(t.env.Getenv(key))
		if line == "" {
			continue
		}
		argv, err := splitCommand(line, t.env.GOOS == "windows")
		if err != nil {
			return nil, &hinted{err: fmt.Errorf("reading $%s: %w", key, err), hint: "write it as in a shell, for example EDITOR='code --wait'"}
		}
		return argv, nil
	}
	if t.env.GOOS == "windows" {
		return []string{"notepad"}, nil
	}
	return []string{"vi"}, nil
}

// runEditor opens the file in the person's editor and waits for its end.
func (t *terminal) runEditor(file string) error {
	argv, err := t.editor()
	if err != nil {
		return err
	}
	if t.env.Edit == nil {
		return fmt.Errorf("starting editor: there is no terminal for one")
	}
	if err := t.env.Edit(append(argv, file)); err != nil {
		return &hinted{err: fmt.Errorf("running editor %s: %w", argv[0], err),
			hint: "set EDITOR to an editor that waits until you are done, for example EDITOR='code --wait'"}
	}
	return nil
}
