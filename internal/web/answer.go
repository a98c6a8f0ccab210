// How answers of verbs stand on pages: numbers, errors, and what was saved.

package web

import (
	"strconv"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// mayDecide reports whether this browser may do what is for a person alone, who sees
// all of the memory.
func (c *call) mayDecide() bool {
	return c.actor == oxbow.Person && c.mayWrite() && !c.view.Partial()
}

// remembered leads to the page of an entry that was saved.
func remembered(out verb.RememberOut) redirect {
	to := redirect{to: page.EntryPath(out.Name)}
	if out.Outcome != "unchanged" {
		to.change = out.Version
	}
	for _, n := range out.Notes {
		to.said += page.Said(n) + " "
	}
	return to
}

// wrong is an error above the form that led to it.
func wrong(err error) g.Node {
	return page.Notice("error", page.Sentence(err.Error()), page.Said(verb.Remedy(err)))
}

// version is the version of an entry as a form holds it.
func version(e verb.Entry) string { return strconv.FormatUint(e.Version, 10) }

func number(n uint64) string { return strconv.FormatUint(n, 10) }
