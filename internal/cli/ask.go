// This file asks the person questions at the terminal.

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// confirm asks a question at the terminal. It returns an error unless the person answers yes.
func (env *environment) confirm(question string) error {
	line, err := env.ask(question + " [y/N] ")
	if err != nil {
		return err
	}
	return requireYes(strings.TrimSpace(line))
}

// confirmDefaultYes is like confirm, but an empty line also means yes. The end of the input does not.
func (env *environment) confirmDefaultYes(question string) error {
	line, err := env.ask(question + " [Y/n] ")
	if err != nil {
		return err
	}
	return checkReplyDefaultYes(line)
}

// checkReplyDefaultYes is like requireYes, but an empty line also means yes. If the input has ended, line is "" without
// a newline, which does not mean yes.
func checkReplyDefaultYes(line string) error {
	if line != "" && strings.TrimSpace(line) == "" {
		return nil
	}
	return requireYes(strings.TrimSpace(line))
}

// ask prints a question on standard error, and returns the line that the person types, with its newline. If the input
// has ended, it returns "".
func (env *environment) ask(question string) (line string, err error) {
	fmt.Fprint(env.Stderr, question)
	line, err = bufio.NewReader(env.Stdin).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
}

// requireYes returns nil if the reply is yes. Otherwise it returns an error that says that nothing was changed.
func requireYes(reply string) error {
	switch strings.ToLower(reply) {
	case "y", "yes":
		return nil
	}
	return &hintedError{errors.New("not confirmed; nothing was changed"), "answer y, or give --yes"}
}

// confirmStoringSecret handles the error of a call that was refused because a text looks like a secret. It asks the
// person whether to store the text anyway. If the person agrees, it returns true, and the caller must repeat the call.
// If the person does not agree, or if there is no terminal, it returns an error that names the flag --allow-secret. It
// returns any other error unchanged.
func (mem *lazyMemory) confirmStoringSecret(err error) (bool, error) {
	found, ok := errors.AsType[*verb.SecretError](err)
	if !ok {
		return false, err
	}
	if !mem.env.IsStdinTerminal || !mem.env.IsStderrTerminal {
		return false, &hintedError{err, "leave it out, or keep it as it is with --allow-secret; nothing was written"}
	}
	if err := mem.env.confirm(fmt.Sprintf(
		"Line %d of the %s looks like a secret (%s). Keep it as it is?",
		found.Line,
		found.EntryPart,
		found.Rule,
	)); err != nil {
		return false, &hintedError{errors.New("nothing was written"), "leave it out, or keep it with --allow-secret"}
	}
	mem.allowSecret = true
	return true, nil
}
