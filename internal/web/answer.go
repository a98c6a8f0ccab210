// This file turns results of verbs into redirects and notices.

package web

import (
	"strconv"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// redirectToSaved returns a redirect to the page of a saved entry, with the notes of the
// verb.
func redirectToSaved(out verb.RememberOut) redirect {
	to := redirect{to: page.EntryPath(out.Name)}
	if out.Outcome != "unchanged" {
		to.change = out.Version
	}
	for _, n := range out.Notes {
		to.said += page.NoteSentence(n) + " "
	}
	return to
}

// errorNotice shows an error above the form that caused it.
func errorNotice(err error) g.Node {
	return page.Notice("error", page.Sentence(err.Error()), page.NoteSentence(verb.Remedy(err)))
}

// version returns the version of an entry as text, for the hidden field of a form.
func version(e verb.Entry) string { return strconv.FormatUint(e.Version, 10) }

func number(n uint64) string { return strconv.FormatUint(n, 10) }
