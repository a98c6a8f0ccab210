// This file implements the page Settings. It shows the connected clients, the findings of oxbow doctor, the memory's
// size, and backups.

package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

func settingsPage(c *pageRequest) (pageReply, error) {
	full := c.formValue("full") != ""
	s := pageWithNavigation{
		title:   "Settings",
		navPath: "settings",
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text("The clients of your agents, the health of the memory's files, and backups. "),
			h.A(h.Href(page.RootPath+"numbers"), h.Text("Charts")),
		),
	}
	clients, err := c.clientList()
	if err != nil {
		clients = renderErrorInPage(err)
	}
	s.bodyNodes = []g.Node{
		page.Section("clients", "Clients", clients),
		page.Section("health", "Health", c.doctorFindingsSection(full)),
		page.Section("size", "Size", c.memorySizeNode()),
		page.Section("backup", "Backup", c.backupForm()),
		page.Section(
			"tokens",
			"Tokens",
			h.P(
				h.Text("Programs sign in with tokens, which these pages do not show. Run "),
				h.Code(h.Text("oxbow mcp --help")),
				h.Text(" in a terminal to learn where tokens are stored."),
			),
		),
	}
	return s, nil
}

// maxSearchedSessions is the number of recent sessions that are examined to find out which clients have reported
// sessions.
const maxSearchedSessions = 200

// clientList lists the clients that have reported sessions, and when each client last reported. It also contains the
// switch that turns off what hooks show to models.
func (c *pageRequest) clientList() (g.Node, error) {
	var all []session.Summary
	if c.workspace.Sessions != nil {
		most := maxSearchedSessions
		out, err := sessions.ListSessions(c.ctx, c.workspace, sessions.SessionsIn{Limit: &most})
		if err != nil {
			return nil, err
		}
		all = out.Sessions
	}
	last, count := map[string]time.Time{}, map[string]int{}
	var names []string
	for _, s := range all {
		count[s.Client]++
		if count[s.Client] == 1 {
			names = append(names, s.Client)
		}
		if s.LastTime.After(last[s.Client]) {
			last[s.Client] = s.LastTime
		}
	}
	slices.Sort(names)
	var rows []g.Node
	for _, n := range names {
		rows = append(rows, h.Tr(h.Td(h.A(h.Href(page.RootPath+"sessions?client="+
			n), page.IsolatedText(n))), h.Td(page.RelativeTime(c.now, last[n])),
			h.Td(h.Class("number"), h.Text(strconv.Itoa(count[n])))))
	}
	list := page.EmptyNotice(
		"No client has reported a session yet.",
		nil,
		h.P(h.Class("dim"), h.Code(h.Text("oxbow setup")), h.Text(" connects the clients that are installed.")),
	)
	if rows != nil {
		list = page.Table([]string{"Client", "Last hook", "Sessions"}, rows...)
	}
	return g.Group{
		list,
		h.P(
			h.Class("hint"),
			h.Text("Run "),
			h.Code(h.Text("oxbow setup")),
			h.Text(" in a terminal to connect a client, or to disconnect one."),
		),
		c.injectionSwitch(),
	}, nil
}

// injectionSwitch says whether hooks show memory to models. It contains a button that changes this.
func (c *pageRequest) injectionSwitch() g.Node {
	if c.workspace.Place == nil || c.workspace.Host == nil {
		return nil
	}
	state, err := injection.ReportHookState(c.ctx, c.workspace, injection.HookStateIn{})
	if err != nil {
		return renderErrorInPage(err)
	}
	text, button := "oxbow shows notes to agents without being asked.", page.PostButton(
		"settings/inject",
		"",
		"Turn off",
		"off",
		"1",
	)
	if !state.AreHooksOn {
		text = "oxbow shows notes only to agents that search, because of " + strings.Join(
			state.DisablingSettings,
			" and ",
		) + "."
		button = page.PostButton("settings/inject", "", "Turn on")
	}
	if len(state.DisabledClients) > 0 {
		text += " It shows none unasked to " + strings.Join(state.DisabledClients, ", ") + ", as chosen in setup."
	}
	isAllowed := c.actor == oxbow.Person && c.mayWrite()
	return h.Div(h.Class("actions"), h.Span(page.IsolatedText(text)), g.If(isAllowed, button))
}

// switchInjection turns off or on what hooks show to models.
func switchInjection(c *pageRequest) (pageReply, error) {
	out, err := injection.SwitchInjection(
		c.ctx,
		c.workspace,
		injection.SwitchInjectionIn{ShouldSwitchOff: c.formValue("off") != ""},
	)
	if err != nil {
		return nil, err
	}
	said := map[bool]string{
		true:  "oxbow now shows notes only to agents that search. Hooks still record your sessions.",
		false: "oxbow shows notes to agents without being asked.",
	}[out.IsSwitchedOff]
	if !out.Changed {
		said += " Nothing was changed."
	}
	if out.OtherSwitchOffFile != "" {
		said += " But " + out.OtherSwitchOffFile + " still turns this off."
	}
	return redirectReply{path: "settings", message: said}, nil
}

// doctorFindingsSection shows the findings of oxbow doctor. If readsWholeStore is set, doctor reads the whole store.
func (c *pageRequest) doctorFindingsSection(readsWholeStore bool) g.Node {
	if c.workspace.Place == nil || c.workspace.Host == nil {
		return h.P(h.Class("dim"), h.Text("The memory is not stored in a file on this machine."))
	}
	out, err := maintenance.DiagnoseMemory(c.ctx, c.workspace, maintenance.DoctorIn{
		IsFullCheck: readsWholeStore,
		CheckNames: func(last uint64, check func() (maintenance.EntryNamesCheck, error)) (maintenance.EntryNamesCheck,
			error) {
			return c.caches.nameChecks.getOrRead(c.view, last, "", check)
		},
	})
	if err != nil {
		return renderErrorInPage(err)
	}
	slices.SortStableFunc(
		out.Findings,
		func(a, b maintenance.Finding) int { return findingLevelRank(b.Level) - findingLevelRank(a.Level) },
	)
	fine := slices.IndexFunc(out.Findings, func(f maintenance.Finding) bool { return f.Level == "ok" })
	if fine < 0 {
		fine = len(out.Findings)
	}
	said := "There is a problem."
	switch {
	case out.OK && fine > 0:
		said = "No errors. " + page.CountWithNoun(fine, "warning") + " below."
	case out.OK:
		said = "No problems were found."
	}
	show := func(findings []maintenance.Finding) g.Node {
		return page.RenderReport(c.now, maintenance.FindingsReport(findings))
	}
	return g.Group{h.P(h.Text(said)), show(out.Findings[:fine]),
		h.Details(h.Summary(h.Text(page.CountWithNoun(len(out.Findings)-fine, "check")+" passed")),
			show(out.Findings[fine:])),
		h.Form(h.Class("actions"), h.Method("post"), h.Action(page.RootPath+
			"settings/check"), h.Button(h.Text("Check every byte")),
			h.Span(h.Class("hint"), h.Text("reads the whole memory and the archive, and changes nothing")))}
}

func findingLevelRank(level string) int {
	return slices.Index([]string{"ok", "unknown", "warning", "problem"}, level)
}

// checkMemory verifies the whole memory and the archive, and shows the result.
func checkMemory(c *pageRequest) (pageReply, error) {
	out, err := maintenance.CheckData(c.ctx, c.workspace, maintenance.CheckDataIn{})
	if err != nil {
		return nil, err
	}
	kind, text := "good", "The memory is intact: all records and entries were checked."
	if !out.OK {
		kind, text = "error", "The memory is damaged."
	}
	return pageWithNavigation{title: "Check", navPath: "settings", bodyNodes: []g.Node{
		h.P(page.Badge(kind, map[bool]string{true: "intact", false: "damaged"}[out.OK], ""), h.Text(" "+text)),
		page.RenderReport(c.now, out.Report()),
		h.P(h.A(h.Href(page.RootPath+"settings"), h.Text("Back to the settings")))}}, nil
}

// memorySizeNode shows the size of the memory.
func (c *pageRequest) memorySizeNode() g.Node {
	out, err := maintenance.Stats(c.ctx, c.workspace, maintenance.StatsIn{})
	if err != nil {
		return renderErrorInPage(err)
	}
	return page.RenderReport(c.now, out.Report())
}

// formatBytes formats a number of bytes, for example as "1.2 MB".
func formatBytes(n int64) string {
	f, units := float64(n), []string{"bytes", "kB", "MB", "GB"}
	for f >= 1000 && len(units) > 1 {
		f, units = f/1000, units[1:]
	}
	if units[0] == "bytes" {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[0])
}

func (c *pageRequest) backupForm() g.Node {
	if c.forbidsFileWrites {
		return h.P(h.Class("dim"), h.Text("The administrator of this server makes the backups."))
	}
	return h.Form(h.Class("stack"), h.Method("post"), h.Action(page.RootPath+"settings/backup"),
		page.InputField(
			"file",
			"Path of the new file on the machine that runs this server",
			"",
			h.Required(),
			h.Placeholder("/backup/memory-"+c.now.Format("20060102")+".oxbow"),
		),
		h.Label(
			h.Input(h.Type("checkbox"), h.Name("sessions"), h.Value("1")),
			h.Text(" Back up the archive of sessions instead of the memory"),
		),
		h.Div(
			h.Class("actions"),
			h.Button(h.Text("Back up")),
			h.Span(h.Class("hint"), h.Text("The copy is checked. An existing file is not replaced.")),
		))
}

// backUpMemory makes a backup and shows the result. It does not show the result's Report, because that report
// consists of commands and options for the command line.
func backUpMemory(c *pageRequest) (pageReply, error) {
	if c.forbidsFileWrites {
		return forbiddenPage(
			"The pages of this server do not write files.",
			"Ask its administrator to run oxbow backup FILE.",
		), nil
	}
	out, err := maintenance.Backup(
		c.ctx,
		c.workspace,
		maintenance.BackupIn{File: c.formValue("file"), SessionArchiveOnly: c.formValue("sessions") != ""},
	)
	if err != nil {
		return nil, err
	}
	return pageWithNavigation{title: "Backup", navPath: "settings", bodyNodes: []g.Node{
		g.If(
			!out.Failed(),
			h.P(h.Class("done"), h.Role("status"), h.Text("The memory was copied, and the copy was checked.")),
		),
		g.Map(out.Problems, func(p verb.Problem) g.Node {
			return page.Notice("error", page.MakeSentence(page.VisibleText(p.Description)), page.VisibleText(p.Mend))
		}),
		page.NameValueList(
			"File",
			out.File,
			"Entries",
			strconv.Itoa(out.Entries),
			"Bytes",
			formatBytes(out.Bytes),
			"Last change",
			strconv.FormatUint(out.LastSeq, 10),
			"Head",
			out.LastLogHash,
			"Not included",
			out.OmittedArchivePath,
		),
		h.P(h.A(h.Href(page.RootPath+"settings"), h.Text("Back to the settings")))}}, nil
}
