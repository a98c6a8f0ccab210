// This file asks questions at the terminal.

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// confirm asks a question at the terminal. It returns an error unless the answer is yes.
func (a *app) confirm(question string) error {
	fmt.Fprintf(a.env.Stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &hinted{errors.New("not confirmed; nothing was changed"), "answer y, or give --yes"}
}

// mayKeep asks a person whether to store text that looks like a secret, and returns the answer.
// Without a terminal it returns an error that names the flag for this. An err of another kind is
// returned unchanged.
func (a *app) mayKeep(err error) (bool, error) {
	found, ok := errors.AsType[*verb.SecretError](err)
	if !ok {
		return false, err
	}
	if !a.env.StdinTerm || !a.env.StderrTerm {
		return false, &hinted{err, "leave it out, or keep it as it is with --allow-secret; nothing was written"}
	}
	if err := a.confirm(fmt.Sprintf(
		"Line %d of the %s looks like a secret (%s). Keep it as it is?",
		found.Line,
		found.Part,
		found.Rule,
	)); err != nil {
		return false, &hinted{errors.New("nothing was written"), "leave it out, or keep it with --allow-secret"}
	}
	a.allowSecret = true
	return true, nil
}
