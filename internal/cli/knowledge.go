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
		k.Exposure, k.Caller = a.sessionExposure, c
	}
	return k
}

// readPrints returns the fingerprints of texts that the home's sessions have read, or nil if the
// home has none.
func (l *locator) readPrints() *fingerprint.File {
	if home, err := l.archiveHome(); err == nil {
		return fingerprintFile(home, l.env.Now)
	}
	if state, ok := l.layoutState(); ok {
		return fingerprintFile(state, l.env.Now)
	}
	return nil
}

// repeatsOthers reports whether a text repeats text of others that agents have read.
func (l *locator) repeatsOthers(text string) bool {
	p := l.readPrints()
	return p != nil && p.Find([]string{text}, nil)[0].IsRepeat()
}
