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

// openFingerprints returns the Store for the fingerprints of the texts that the home's sessions have read. The Store
// may be empty. The result is nil if the home's spool directory fails its safety check, or if there is neither a home
// with an archive nor a state directory.
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

// cacheServerHome remembers the directory of the server's home, so that the server does not search for it in each
// request. The server has opened the memory of this home and keeps it open, so the directory cannot change.
// cacheServerHome remembers nothing while the home has no store, because its layout is then not final. If the home's
// layout cannot have an archive of sessions, cacheServerHome remembers this. Any other error may be temporary, so the
// next request searches again.
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
