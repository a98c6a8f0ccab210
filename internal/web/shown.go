// This file lists the prompts for which hooks showed an entry to a model.

package web

import (
	"slices"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// maxShownPrompts is the maximum number of prompts in the list of prompts for which an entry was shown.
const maxShownPrompts = 5

// shownPromptsSection returns a section with the prompts for which the entry was shown. It returns nil without such
// prompts.
func (c *pageRequest) shownPromptsSection(name string) g.Node {
	if c.workspace.Sessions == nil {
		return nil
	}
	limit := maxShownPrompts
	out, err := injection.ListInjections(c.ctx, c.workspace, injection.InjectedIn{Entry: name, Limit: &limit})
	if err != nil || len(out.Injections) == 0 {
		return nil
	}
	title := "Shown to agents " + page.CountWithNoun(out.Total.Injections, "time")
	more := out.Total.Injections - len(out.Injections)
	return page.Section("shown", title,
		h.Ul(h.Class("list"), g.Map(out.Injections, func(i injection.InjectedItem) g.Node {
			used := slices.ContainsFunc(i.EntriesUsedInTurn, func(s session.ShownEntry) bool { return s.Name == name })
			return h.Li(
				h.A(h.Href(page.RootPath+page.TurnPath(i.Turn)), h.Text(describeInjectionMoment(i.HookEvent)+" of "),
					page.IsolatedText(i.Client)),
				h.Span(h.Class("dim"), h.Text(", "), page.RelativeTime(c.now, i.Time)),
				g.If(i.Prompt != "", h.P(h.Class("dim"), page.IsolatedText(i.Prompt))),
				g.If(used, g.Group{h.Text(" "), page.Badge("good", "used", "The agent used it in this turn.")}),
			)
		})),
		g.If(more > 0, h.P(h.Class("dim"), h.Text("And "+page.CountWithNoun(more, "time")+" earlier."))))
}

// describeInjectionMoment returns the name of the moment at which a hook showed memory to a model.
func describeInjectionMoment(momentName string) string {
	switch momentName {
	case "start":
		return "At the start of a session"
	case "action":
		return "Before an edit"
	}
	return "With a prompt"
}
