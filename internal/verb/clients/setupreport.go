// This file formats the result of the command "setup" as a report.

package clients

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// Report describes the steps that were done for each client or, in a dry run, would be done. The argument in contains
// the arguments of the call. If the call names no client and asks neither to remove nor to check a setup, the report
// lists all clients with their state.
func (o SetupOut) Report(in SetupIn) (r report.Report) {
	isList := len(in.Clients) == 0 && !in.Remove && !in.OnlyCheck
	if isList {
		o.addClients(&r)
		return r
	}
	if len(o.Clients) == 0 && len(o.FilesLeftAfterRemoval) == 0 {
		r.AddNotef("%s", report.EffectVerb(len(in.Clients) > 0, "nothing is set up",
			"none of them is installed; name one to set it up all the same"))
	}
	if len(o.FilesLeftAfterRemoval) > 0 {
		r.AddNotef(
			"still set up: %s; give --scope project in that project, or set the variable that named the directory",
			report.Names(o.FilesLeftAfterRemoval),
		)
	}
	for i := range o.Clients {
		o.Clients[i].addToReport(&r, in)
	}
	annotates := func(c SetupClient) bool { return c.RecordsEditReasons && c.Problem == "" }
	if slices.ContainsFunc(o.Clients, annotates) {
		r.AddLinef(
			"the reasons for edits by agents are kept for you alone, in %s of each project; to see them: oxbow why FILE; "+
				"to keep none: oxbow setup with --no-annotate",
			report.OxbowText(annotate.DefaultDir),
		)
	}
	wasWritten := func(c SetupClient) bool {
		return c.Problem == "" &&
			slices.ContainsFunc(c.Files, func(f SetupFile) bool { return f.Outcome != "unchanged" })
	}
	setsUp := in.mayChangeFiles() && !in.Remove
	if setsUp && slices.ContainsFunc(o.Clients, wasWritten) {
		r.AddNotef("start your agents again: an agent that runs already does not see oxbow")
	}
	o.addFindings(&r)
	return r
}

// addClients adds a list of all clients with their state to the report.
func (o SetupOut) addClients(r *report.Report) {
	for _, c := range o.Clients {
		hasFinding := func(f setup.Finding) bool {
			return f.Level != setup.LevelOK && slices.Contains(f.Clients, c.Client)
		}
		state := "not found"
		switch {
		case slices.ContainsFunc(o.Findings, hasFinding):
			state = "set up, but see below"
		case c.IsSetUp:
			state = "set up"
		case c.Installed:
			state = "installed"
		}
		r.AddLinef("%s", report.OxbowText(fmt.Sprintf("%-9s %-12s  %s", c.Client, c.Title, state)))
	}
	o.addFindings(r)
	r.AddNotef("to set up one: oxbow setup CLIENT; all that are installed: oxbow setup all")
}

// addIndentedLine adds an indented line below the title of a client.
func addIndentedLine(r *report.Report, format string, values ...any) {
	r.Add(report.Line{Sentence: report.Sentencef(format, values...), Indent: 2})
}

// addToReport adds the result for a client to a report.
func (c *SetupClient) addToReport(r *report.Report, in SetupIn) {
	r.AddLinef("%s", report.EntryName(c.Title))
	if !in.OnlyCheck {
		for _, f := range c.Files {
			f.addToReport(r, in)
		}
	}
	if c.Problem != "" {
		addIndentedLine(r, "problem: %s", report.QuotedText(text.Uncapitalize(c.Problem)))
		if c.Mend.String() != "" {
			addIndentedLine(r, "mend: %s", c.Mend)
		}
		return
	}
	wasChanged := func(f SetupFile) bool { return f.Outcome != "unchanged" }
	if in.Remove && !slices.ContainsFunc(c.Files, wasChanged) {
		addIndentedLine(r, "nothing of oxbow is there")
	}
	c.StartedServer.addToReport(r)
	switch {
	case c.IsMemoryMirrored:
		addIndentedLine(
			r,
			"its own memory (%s) is mirrored; notes: %d new, %d changed",
			report.QuotedText(c.EnabledClientMemory),
			c.AddedNotes,
			c.UpdatedNotes,
		)
		if c.QuarantinedNotes > 0 {
			addIndentedLine(r, "%s", verb.QuarantinedEntriesText(c.QuarantinedNotes, ""))
		}
	case c.EnabledClientMemory != "":
		addIndentedLine(
			r,
			"%s has a memory of its own (%s), which stays unchanged; to copy its notes into oxbow, add --own-memory mirror; "+
				"to switch it off, add --own-memory off",
			report.QuotedText(c.Title),
			report.QuotedText(c.EnabledClientMemory),
		)
	}
	for _, n := range c.Notes {
		addIndentedLine(r, "note: %s", report.OxbowText(n))
	}
}

// addToReport adds the change of a file to a report. In a dry run, it also shows the differences.
func (f SetupFile) addToReport(r *report.Report, in SetupIn) {
	isPlanned := in.DryRun && f.Diff != ""
	did := fmt.Sprintf("%-9s", report.EffectVerb(isPlanned, f.Outcome, "would be "+f.Outcome))
	addIndentedLine(r, "%s  %s", report.OxbowText(did), report.QuotedText(in.SetupMachine.DisplayPath(f.Path)))
	if isPlanned {
		r.AddLinef("%s", report.QuotedText(f.Diff))
	}
}

// addToReport adds the answer of the client's server to a report.
func (s *StartedServer) addToReport(r *report.Report) {
	switch {
	case s == nil:
	// Add nothing, because a finding in the report names this problem already.
	case s.Problem != "" && s.Home == "", s.HasNoOxbowMemory:
	case s.Problem != "":
		addIndentedLine(
			r,
			"problem: %s: %s",
			report.QuotedText(text.ShellQuote(s.Command[0])),
			report.QuotedText(s.Problem),
		)
	case s.Entries != nil:
		addIndentedLine(
			r,
			"its server answers, with %s (%s)",
			report.OxbowText(text.FormatCount(*s.Entries, "entry", "entries")),
			report.QuotedText(s.Home),
		)
	default:
		addIndentedLine(r, "its server answers, on the home %s: %s", report.QuotedText(s.Home), s.AnswerOfServer)
	}
}

// addFindings adds the findings that a person should see, and what to do about them.
func (o SetupOut) addFindings(r *report.Report) {
	for _, f := range o.Findings {
		if !f.IsAlwaysShown {
			continue
		}
		r.AddLinef("%s: %s", report.OxbowText(strings.Replace(f.Level, setup.LevelOK, "note", 1)), f.Message)
		if f.Mend != "" {
			addIndentedLine(r, "mend: %s", report.OxbowText(f.Mend))
		}
	}
}
