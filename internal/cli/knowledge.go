// This file provides the facts about texts that agents have read.

package cli

import (
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// knowledge returns the facts from which this run decides whether a text repeats text of others.
func (a *app) knowledge() verb.Knowledge {
	k := verb.Knowledge{Exposure: a.exposure, AtTerminal: a.env.StdinTerm, Prints: a.readPrints()}
	if variable, c := a.env.startedBy(); variable != "" && k.Exposure == nil {
		k.Exposure, k.Caller = a.exposureOf, c
	}
	return k
}

// readPrints returns the fingerprints of texts that the home's sessions have read, or nil if the
// home has none.
func (a *app) readPrints() *fingerprint.File {
	if home, err := a.archiveHome(); err == nil {
		return prints(home, a.env.Now)
	}
	if state, ok := a.layoutState(); ok {
		return prints(state, a.env.Now)
	}
	return nil
}

// repeatsOthers reports whether a text repeats text of others that agents have read.
func (a *app) repeatsOthers(text string) bool {
	p := a.readPrints()
	return p != nil && p.Find([]string{text}, nil)[0].IsRepeat()
}
