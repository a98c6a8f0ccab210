// This file turns results of verbs into redirects and notices.

package web

import (
	"strconv"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// redirectToSavedEntry returns a redirect to the page of a saved entry. The page shows the notes of the verb.
func redirectToSavedEntry(out verb.RememberOut) redirectReply {
	to := redirectReply{path: page.EntryPath(out.Name)}
	if out.EntryOutcome != "unchanged" {
		to.changeNumber = out.Version
	}
	for _, n := range out.Notes {
		to.message += page.NoteSentence(n) + " "
	}
	return to
}

// errorNotice shows an error above the form that caused it.
func errorNotice(err error) g.Node {
	return page.Notice("error", page.MakeSentence(err.Error()), page.NoteSentence(verb.ErrorRemedy(err)))
}

// formatEntryVersion returns an entry's version as text, for a form's hidden field.
func formatEntryVersion(e verb.Entry) string { return strconv.FormatUint(e.Version, 10) }

func formatNumber(n uint64) string { return strconv.FormatUint(n, 10) }
