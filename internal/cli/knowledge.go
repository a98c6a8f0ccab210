// This file provides the facts about texts that agents have read.

package cli

import (
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// knowledge returns the facts from which this run decides whether a text repeats text of others.
func (mem *openMemory) knowledge() verb.Knowledge {
	k := verb.Knowledge{Exposure: mem.exposure, AtTerminal: mem.env.StdinTerm, Prints: mem.finder.readPrints()}
	if variable, c := mem.env.startedBy(); variable != "" && k.Exposure == nil {
		k.Exposure, k.Caller = mem.sessionExposure, c
	}
	return k
}

// readPrints returns the fingerprints of texts that the home's sessions have read, or nil if the
// home has none.
func (finder *homeFinder) readPrints() *fingerprint.File {
	if home, err := finder.archiveHome(); err == nil {
		return fingerprintFile(home, finder.env.Now)
	}
	if state, ok := finder.layoutState(); ok {
		return fingerprintFile(state, finder.env.Now)
	}
	return nil
}

// repeatsOthers reports whether a text repeats text of others that agents have read.
func (finder *homeFinder) repeatsOthers(text string) bool {
	p := finder.readPrints()
	return p != nil && p.Find([]string{text}, nil)[0].IsRepeat()
}
