// This file shows profiles: the entries that each profile selects for an agent, and problems in its definition. The
// pages do not render the reports of the verbs, because each entry and each problem is a link to the place where it
// can be changed.

package web

import (
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

func profilesPage(c *pageRequest) (pageReply, error) {
	out, err := profiles.ListProfiles(c.ctx, c.workspace, profiles.ProfilesIn{})
	if err != nil {
		return nil, err
	}
	s := pageWithNavigation{
		title:   "Profiles",
		navPath: "profiles",
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text(
				"A profile selects the notes that an agent gets for a certain job. Each profile is a file in "+
					"your home or in the project.",
			),
		),
	}
	if len(out.Profiles) == 0 {
		s.bodyNodes = []g.Node{
			page.EmptyNotice(
				"There are no profiles yet.",
				nil,
				h.P(
					h.Class("dim"),
					h.Code(h.Text("oxbow profile new NAME --project PROJECT")),
					h.Text(" writes one."),
				),
			),
		}
		return s, nil
	}
	s.bodyNodes = []g.Node{
		h.Ul(h.Class("rows"), h.Attr("data-keys", ""), g.Map(out.Profiles, func(p profiles.ListedProfile) g.Node {
			return h.Li(h.Class("row"),
				h.Div(h.Class("head"), h.H2(profileLink(p)), page.Badge("", "of the "+
					p.Origin, ""), g.If(p.IsHidden, page.Badge("", "hidden by the profile above", "")),
					g.If(p.Problem != "", page.Badge("error", "cannot be read", ""))),
				g.If(p.Description != "", h.P(page.IsolatedText(p.Description))),
				g.If(p.Problem != "", h.P(h.Class("hint"), page.IsolatedText(p.Problem))),
				h.Div(h.Class("meta"), h.Code(page.IsolatedText(p.File))))
		})),
	}
	return s, nil
}

// profileLink links to the page of a profile, unless its name is hidden.
func profileLink(p profiles.ListedProfile) g.Node {
	if p.IsHidden {
		return page.IsolatedText(p.Name)
	}
	return h.A(h.Href(page.RootPath+"profiles/"+p.Name), page.IsolatedText(p.Name))
}

func profilePage(c *pageRequest) (pageReply, error) {
	name := c.entryNameFromPath()
	lint, err := profiles.LintProfiles(c.ctx, c.workspace, profiles.LintIn{Names: []string{name}})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, l := range lint.Profiles {
		found = append(found, l.Problems...)
	}
	s := pageWithNavigation{
		title:   page.VisibleText(name),
		navPath: "profiles",
		bodyNodes: []g.Node{g.Map(found, func(f string) g.Node {
			return page.Notice("warn", page.VisibleText(f), "")
		})},
	}
	p, err := profiles.ShowProfile(c.ctx, c.workspace, profiles.ProfileIn{Name: name})
	if err != nil {
		s.bodyNodes = append(s.bodyNodes, renderErrorInPage(err))
		return s, nil
	}
	if p.Description != "" {
		s.descriptionLine = h.P(h.Class("lead"), page.IsolatedText(p.Description))
	}
	process := ""
	if p.WithProcess {
		process = "entries with the label process:true, read-only"
	}
	s.bodyNodes = append(s.bodyNodes, page.NameValueList(
		"File",
		p.File+", of the "+
			p.Origin,
		"Extends",
		strings.Join(p.Extends, ", "),
		"Includes",
		strings.Join(p.Include, "; "),
		"Includes the entries",
		strings.Join(p.IncludedEntryNames, ", "),
		"Also includes",
		process,
		"Excludes",
		strings.Join(p.Exclude, "; "),
		"Documents",
		strings.Join(
			p.Documents,
			", ",
		),
		"Redacts",
		strings.Join(p.RedactedKinds, ", "),
		"Budget",
		strconv.Itoa(p.MaxTokens)+
			" tokens",
		"New entries get",
		formatOptionalLabel("project", p.Project),
	),
		h.P(h.Class("hint"), h.Code(h.Text("oxbow profile edit "+
			page.VisibleText(name))), h.Text(" opens the file in your editor and checks what you save.")),
		c.profileBudgetSection(name))
	out, err := profiles.SelectEntries(c.ctx, c.workspace, profiles.SelectEntriesIn{Profile: name})
	if err != nil {
		s.bodyNodes = append(s.bodyNodes, renderErrorInPage(err))
		return s, nil
	}
	s.bodyNodes = append(s.bodyNodes, selectedEntriesTable(out), h.P(h.A(h.Href(page.RootPath+"context?event="+
		strings.ReplaceAll(contextEventProfile, " ", "+")+"&profile="+name), h.Text("The text that an agent gets"))))
	return s, nil
}

func formatOptionalLabel(key, value string) string {
	if value == "" {
		return ""
	}
	return key + ":" + value
}

// profileBudgetSection shows how many tokens of its budget a profile uses.
func (c *pageRequest) profileBudgetSection(name string) g.Node {
	b, err := profiles.CountProfileTokens(c.ctx, c.workspace, profiles.ProfileIn{Name: name})
	if err != nil {
		return renderErrorInPage(err)
	}
	full, text := 0, page.CountWithNoun(b.Entries, "entry")+" of about "+strconv.Itoa(b.Tokens)+
		" tokens; the budget surely leaves "+strconv.Itoa(b.RemainingTokens)+
		", of which the documents and the head take "+
		strconv.Itoa(b.Fixed)+"."
	if b.RemainingTokens > 0 {
		full = min(100, 100*(b.Fixed+b.Tokens)/b.RemainingTokens)
	}
	var wrong []g.Node
	for _, d := range b.Documents {
		if d.Wrong != "" {
			wrong = append(wrong, page.Notice("warn", page.VisibleText(d.Path+": "+d.Wrong), ""))
		}
	}
	return page.Section(
		"budget",
		"Budget",
		h.P(h.Text(text)),
		page.PercentageMeter(full, strconv.Itoa(full)+" % of the budget"),
		g.Group(wrong),
	)
}
