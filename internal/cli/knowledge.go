// This file provides the facts about texts that agents have read.

package cli

import (
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// foreignTextKnowledge returns what this run knows about text of other people: the fingerprints of the text that
// sessions have read, and the session of the agent that started oxbow, if any. With these facts a verb decides whether
// a new text repeats text of other people.
func (mem *openMemory) foreignTextKnowledge() verb.ProvenanceData {
	k := verb.ProvenanceData{
		SessionExposure: mem.callerExposure,
		IsAtTerminal:    mem.env.StdinTerm,
		Fingerprints:    mem.finder.openFingerprints(),
	}
	if variable, c := mem.env.detectAgent(); variable != "" && k.SessionExposure == nil {
		k.SessionExposure, k.DefaultCaller = mem.sessionExposure, c
	}
	return k
}

// openFingerprints returns the fingerprints of texts that the home's sessions have read, or nil if the
// home has none.
func (finder *homeFinder) openFingerprints() *fingerprint.File {
	if home, err := finder.archiveHome(); err == nil {
		return fingerprintFile(home, finder.env.Now)
	}
	if state, ok := finder.layoutStateDir(); ok {
		return fingerprintFile(state, finder.env.Now)
	}
	return nil
}

// repeatsForeignText reports whether a text repeats text of others that agents have read.
func (finder *homeFinder) repeatsForeignText(text string) bool {
	p := finder.openFingerprints()
	return p != nil && p.FindRepeats([]string{text}, nil)[0].IsRepeat()
}
