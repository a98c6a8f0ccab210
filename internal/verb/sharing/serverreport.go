// This file describes the answers about the servers of a home as reports.

package sharing

import (
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Report lists the servers with their token files.
func (o ServersOut) Report() (r report.Report) {
	for _, s := range o.Servers {
		token := report.Sentencef("token of OXBOW_TOKEN")
		if s.TokenFile != "" {
			token = report.Sentencef("token in %s", report.QuotedText(s.TokenFile))
		}
		r.AddLinef("%s  %s  since %s", report.QuotedText(s.URL), token, s.RecordTime)
	}
	if len(o.Servers) == 0 {
		r.AddNotef("no server is remembered for %s; oxbow push https://HOST --token-file FILE names one",
			report.QuotedText(o.Home))
	}
	return r
}

// Report says which server was forgotten or, in a dry run, would be forgotten.
func (o ForgetServerOut) Report() (r report.Report) {
	r.AddLinef(
		"%s: %s",
		report.EffectVerb(o.DryRun, "forgotten", "would be forgotten"),
		report.QuotedText(o.Server.URL),
	)
	if !o.DryRun {
		again := "oxbow push " + text.ShellQuote(o.Server.URL)
		if o.Server.TokenFile != "" {
			again += " --token-file " + text.ShellQuote(o.Server.TokenFile)
		}
		r.AddNotef("undo it with: %s", report.OxbowText(again))
	}
	return r
}
