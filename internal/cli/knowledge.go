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

// loadProvenanceData returns the data with which a command decides whether a new text repeats text that others wrote.
// The data are the fingerprints of texts that sessions have read, and, if an agent started oxbow, the agent and a
// function that finds the texts that its session has seen.
func (mem *lazyMemory) loadProvenanceData() verb.ProvenanceData {
	k := verb.ProvenanceData{
		TextsReadBySession: mem.textsSeenByCaller,
		IsAtTerminal:       mem.env.IsStdinTerminal,
		Fingerprints:       mem.finder.openFingerprints(),
	}
	if variable, c := mem.env.detectAgent(); variable != "" && k.TextsReadBySession == nil {
		k.TextsReadBySession, k.DefaultCaller = mem.findTextsSeenBySession, c
	}
	return k
}

// openFingerprints returns the fingerprints of the texts that the home's sessions have read. It returns nil if the
// home lacks fingerprints.
func (finder *homeFinder) openFingerprints() *fingerprint.Store {
	if home := finder.servedHome.Load(); home != nil {
		if ownership.CheckSpoolDir(*home) != nil {
			return nil
		}
		return newFingerprintFile(*home, finder.env.Now)
	}
	if home, err := finder.archiveHome(); err == nil {
		return newFingerprintFile(home, finder.env.Now)
	}
	if state, ok := finder.nonOxbowStateDir(); ok {
		return newFingerprintFile(state, finder.env.Now)
	}
	return nil
}

// cacheServerHome remembers the home of a server that has opened the home's memory, so that the server does not look
// for its home again in each request. The server keeps this memory open, so it cannot change to another home. As long
// as the store does not exist, the home may still get another layout, so cacheServerHome remembers nothing. If the
// home cannot have an archive of sessions, cacheServerHome remembers this. Any other error may be temporary, so the
// next request looks for the home again.
func (finder *homeFinder) cacheServerHome() {
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

// isRepeatOfForeignText reports whether a text repeats words of a foreign text, such as a web page, that an agent has
// read. It returns false if no fingerprints of such foreign texts are stored.
func (finder *homeFinder) isRepeatOfForeignText(text string) bool {
	p := finder.openFingerprints()
	return p != nil && p.FindRepeats([]string{text}, nil)[0].IsRepeat()
}
