// This file starts the person's editor, and parses command lines such as the value of $EDITOR.

package cli

import (
	"fmt"
	"strings"
)

// editorCommand returns the command line of the person's editor. This is the value of $VISUAL or $EDITOR, or else an
// editor that the operating system always has.
func (env *environment) editorCommand() ([]string, error) {
	for _, key := range []string{"VISUAL", "EDITOR"} {
		line := strings.TrimSpace(env.Getenv(key))
		if line == "" {
			continue
		}
		argv, err := splitCommand(line, env.GOOS == "windows")
		if err != nil {
			return nil, &hintedError{
				err:    fmt.Errorf("reading $%s: %w", key, err),
				remedy: "write it as in a shell, for example EDITOR='code --wait'",
			}
		}
		return argv, nil
	}
	if env.GOOS == "windows" {
		return []string{"notepad"}, nil
	}
	return []string{"vi"}, nil
}

// runEditor opens a file in the person's editor, and waits until the editor ends.
func (env *environment) runEditor(file string) error {
	argv, err := env.editorCommand()
	if err != nil {
		return err
	}
	if env.RunEditor == nil {
		return fmt.Errorf("starting editor: there is no terminal for one")
	}
	if err := env.RunEditor(append(argv, file)); err != nil {
		return &hintedError{err: fmt.Errorf("running editor %s: %w", argv[0], err),
			remedy: "set EDITOR to an editor that waits until you are done, for example EDITOR='code --wait'"}
	}
	return nil
}

// splitCommand splits a command line into words at white space outside of quotes. A backslash quotes the next
// character, except inside single quotes. If isBackslashLiteral is set, a backslash is an ordinary character, as paths
// on Windows require.
func splitCommand(s string, isBackslashLiteral bool) ([]string, error) {
	var words []string
	var word []byte
	var open byte // opening quote character whose closing quote was not read yet, or 0
	inWord, escaped := false, false
	for i := range len(s) { // Read bytes instead of runes, because a path may not be valid UTF-8.
		r := s[i]
		switch {
		case escaped:
			word = append(word, r)
			escaped = false
		case r == '\\' && open != '\'' && !isBackslashLiteral:
			escaped, inWord = true, true
		case open != 0:
			if r == open {
				open = 0
			} else {
				word = append(word, r)
			}
		case r == '\'' || r == '"':
			open, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, string(word))
				word, inWord = nil, false
			}
		default:
			word = append(word, r)
			inWord = true
		}
	}
	switch {
	case open != 0:
		return nil, fmt.Errorf("a quote %c is not closed", open)
	case escaped:
		return nil, fmt.Errorf("a backslash at the end escapes nothing")
	}
	if inWord {
		words = append(words, string(word))
	}
	if len(words) == 0 || words[0] == "" {
		return nil, fmt.Errorf("it names no command")
	}
	return words, nil
}
