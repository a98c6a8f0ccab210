// The only argument of "oxbow remember": the name of an entry, or a text.

package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// readOnlyArgument sets the name or the content from OnlyArgument. The argument is a name if an
// entry has it. Otherwise it is a text if it contains a space: a name of one word alone may have
// been typed before its text was.
func (in *RememberIn) readOnlyArgument(ctx context.Context, w *Workspace) error {
	word := in.OnlyArgument
	if word == "" {
		return nil
	}
	in.OnlyArgument = ""
	if m, err := w.Open(ctx, Own); err == nil { // otherwise there is no memory yet, or the write will say why
		switch e, err := m.Get(ctx, word); {
		case err != nil:
		case e.Content == word:
			in.Content = word // the same call again
			return nil
		case in.keepsContent():
			in.Name = word
			return nil
		default:
			name := text.ShellName(e.Name)
			return Advise(InvalidValue("content", "", fmt.Sprintf("is missing: %q is an entry already", e.Name)),
				fmt.Sprintf("give its new text: oxbow remember %s TEXT; or a text for an entry of its own: oxbow remember --content %s", name, text.ShellQuote(word)))
		}
	}
	switch {
	case strings.ContainsAny(strings.TrimSpace(word), " \t\n"):
		in.Content = word
	case in.keepsContent():
		in.Name = word
	default:
		name := text.ShellName(word)
		return Advise(InvalidValue("content", "", "is missing: one word alone is read as a name"),
			fmt.Sprintf("give the text, too: oxbow remember %s TEXT; or, if it is the text: oxbow remember --content %s", name, text.ShellQuote(word)))
	}
	return nil
}
