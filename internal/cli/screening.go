// This file provides the settings with which oxbow examines texts for secrets and foreign content before it stores
// them.

package cli

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
)

// secretScreening returns the settings with which this run examines texts before storing them. All calls return the
// same value.
func (mem *lazyMemory) secretScreening() *provenance.Screening {
	if mem.cachedScreening != nil {
		return mem.cachedScreening
	}
	settings := provenance.ScreeningSettings{
		FindMemoryPlace:   mem.finder.memoryPlace,
		ConfigDir:         mem.env.configDir(),
		AllowSecrets:      func() bool { return mem.allowSecret },
		ProvenanceData:    mem.loadProvenanceData,
		ReopenMemory:      mem.finder.openReadOnly,
		KeepsOriginLabels: mem.commandPath == "convert",
	}
	if mem.writeLimit != nil {
		settings.CheckLimit = mem.writeLimit.Allow
	}
	mem.cachedScreening = provenance.NewScreening(settings)
	mem.closeFuncs = append(mem.closeFuncs, mem.cachedScreening.Close)
	return mem.cachedScreening
}

// openReadOnly opens the home's memory a second time, for reading only.
func (finder *homeFinder) openReadOnly() (*oxbow.Memory, error) {
	if finder.openStore != nil {
		return nil, oxbow.ErrUnsupported
	}
	path, err := finder.storePath()
	if err != nil {
		return nil, err
	}
	return oxbow.Open(path, &oxbow.Options{ReadOnly: true, Clock: finder.env.Now})
}
