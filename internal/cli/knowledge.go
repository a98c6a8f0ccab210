// This file tells verbs which texts by others the agents' sessions have read. A verb then decides whether a new text
// repeats such a text.

package cli

import (
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
)

// readTextsAndSession returns the data with which a command decides whether a new text repeats text that others wrote.
// The data are the fingerprints of texts that sessions have read, and, if an agent started oxbow, the agent and a
// function that finds the texts that its session has seen.
func (mem *openMemory) readTextsAndSession() verb.ProvenanceData {
	k := verb.ProvenanceData{
		SessionExposure: mem.callerExposure,
		IsAtTerminal:    mem.env.IsStdinTerminal,
		Fingerprints:    mem.finder.openFingerprints(),
	}
	if variable, c := mem.env.detectAgent(); variable != "" && k.SessionExposure == nil {
		k.SessionExposure, k.DefaultCaller = mem.findTextsSeenBySession, c
	}
	return k
}

// openFingerprints returns the fingerprints of the texts that the home's sessions have read. It returns nil if the
// home lacks fingerprints.
func (finder *homeFinder) openFingerprints() *fingerprint.File {
	if home := finder.servedHome.Load(); home != nil {
		if ownership.CheckSpoolDir(*home) != nil {
			return nil
		}
		return fingerprintFile(*home, finder.env.Now)
	}
	if home, err := finder.archiveHome(); err == nil {
		return fingerprintFile(home, finder.env.Now)
	}
	if state, ok := finder.layoutStateDir(); ok {
		return fingerprintFile(state, finder.env.Now)
	}
	return nil
}

// rememberServedHome remembers the home of a server that has opened the home's memory, so that the server does not look
// for its home again in each request. The server keeps this memory open, so it cannot change to another home. As long
// as the store does not exist, the home may still get another layout, so rememberServedHome remembers nothing. If the
// home cannot have an archive of sessions, rememberServedHome remembers this. Any other error may be temporary, so the
// next request looks for the home again.
func (finder *homeFinder) rememberServedHome() {
	if finder.servedHome.Load() != nil || finder.hasNoServedHome.Load() {
		return
	}
	home, err := finder.archiveHome()
	if err != nil {
		if finder.isHomeWithoutArchive() {
			finder.hasNoServedHome.Store(true)
		}
		return
	}
	if _, err := os.Lstat(filepath.Join(home, storeFileName)); err == nil {
		finder.servedHome.Store(&home)
	}
}

// isHomeWithoutArchive reports whether the home cannot have an archive of sessions, because it has another layout or is
// a single file. It returns false if this is unknown.
func (finder *homeFinder) isHomeWithoutArchive() bool {
	if _, other, err := finder.detectLayout(); err != nil || other {
		return err == nil
	}
	home, err := finder.homePath()
	return err == nil && home == storePathIn(home)
}

// repeatsForeignText reports whether a text repeats words of a foreign text, such as a web page, that an agent has
// read. It returns false if no fingerprints of such foreign texts are stored.
func (finder *homeFinder) repeatsForeignText(text string) bool {
	p := finder.openFingerprints()
	return p != nil && p.FindRepeats([]string{text}, nil)[0].IsRepeat()
}
