// This file decides how a run examines the texts that it writes.

package cli

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/secret"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
)

// secretsPolicy returns the treatment of secrets in this run. The key for the tags that replace
// secrets is in the home or, for a home of another layout, in the user's configuration directory.
func (mem *openMemory) secretsPolicy() verb.Secrets {
	if mem.secrets == nil {
		dir := mem.env.configHome()
		if p, err := mem.finder.memoryPlace(); err == nil && p.HasOwnLayout() {
			dir = p.Dir()
		}
		mem.secrets = secret.NewRedactor(dir)
	}
	return verb.Secrets{Redactor: mem.secrets, Allow: func() bool { return mem.allowSecret }}
}

// screener returns the [oxbow.Options.Screen] function for the memory that *m refers to after it
// has been opened.
func (mem *openMemory) screener(m **oxbow.Memory) func(context.Context, oxbow.Store, []oxbow.Op) ([]oxbow.Op, error) {
	second := &verb.SecondReader{Open: mem.finder.reopen}
	mem.closers = append(mem.closers, func() error { second.Close(); return nil })
	return func(ctx context.Context, s oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
		if mem.limit != nil {
			if err := mem.limit.Allow(ctx, s, ops); err != nil {
				return nil, err
			}
		}
		place, err := mem.finder.memoryPlace()
		screener := provenance.Screener{Secrets: mem.secretsPolicy(), Knowledge: mem.knowledge(),
			NoLabels: err == nil && !place.HasOwnLayout(), KeepOrigins: mem.command == "convert"}
		screener.Knowledge.Memory, screener.Knowledge.Second = *m, second
		return screener.Screen(ctx, s, ops)
	}
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
