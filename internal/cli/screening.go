// This file provides what screening must know about a run.

package cli

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
)

// screening returns how this run examines texts before they are stored.
func (mem *openMemory) screening() *provenance.Screening {
	if mem.screened != nil {
		return mem.screened
	}
	settings := provenance.Settings{
		Place:        mem.finder.memoryPlace,
		ConfigDir:    mem.env.configHome(),
		AllowSecrets: func() bool { return mem.allowSecret },
		Knowledge:    mem.knowledge,
		Reopen:       mem.finder.reopen,
		KeepOrigins:  mem.command == "convert",
	}
	if mem.limit != nil {
		settings.Limit = mem.limit.Allow
	}
	mem.screened = provenance.NewScreening(settings)
	mem.closers = append(mem.closers, mem.screened.Close)
	return mem.screened
}

// reopen opens the memory of the home a second time, for reading.
func (finder *homeFinder) reopen() (*oxbow.Memory, error) {
	if finder.store != nil {
		return nil, oxbow.ErrUnsupported
	}
	path, err := finder.storePath()
	if err != nil {
		return nil, err
	}
	return oxbow.Open(path, &oxbow.Options{ReadOnly: true, Clock: finder.env.Now})
}
