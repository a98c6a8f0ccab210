// This file decides how a run treats secrets, taints and personal data in the text that it
// writes.

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
func (a *app) secretsPolicy() verb.Secrets {
	if a.secrets == nil {
		dir := a.configHome()
		if p, err := a.memoryPlace(); err == nil && p.HasOwnLayout() {
			dir = p.Dir()
		}
		a.secrets = secret.NewRedactor(dir)
	}
	return verb.Secrets{Redactor: a.secrets, Allow: func() bool { return a.allowSecret }}
}

// screener returns the [oxbow.Options.Screen] function for the memory that *m refers to after it
// has been opened.
func (a *app) screener(m **oxbow.Memory) func(context.Context, oxbow.Store, []oxbow.Op) ([]oxbow.Op, error) {
	second := &verb.SecondReader{Open: a.reopen}
	a.closers = append(a.closers, func() error { second.Close(); return nil })
	return func(ctx context.Context, s oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
		if a.limit != nil {
			if err := a.limit.Allow(ctx, s, ops); err != nil {
				return nil, err
			}
		}
		p := a.secretsPolicy()
		ops, err := p.Screen(ctx, s, ops)
		if err != nil {
			return nil, err
		}
		if p, err := a.memoryPlace(); err == nil && !p.HasOwnLayout() {
			return ops, nil // other layouts cannot store such labels
		}
		k := a.knowledge()
		k.Memory, k.Second = *m, second
		if a.command == "convert" {
			return provenance.StampPersonal(ctx, s, ops), nil // keep the sources and labels of the entries
		}
		ops, err = provenance.Stamp(ctx, s, ops, k)
		if err != nil {
			return nil, err
		}
		return provenance.StampPersonal(ctx, s, ops), nil
	}
}

// reopen opens the memory of the home a second time, for reading.
func (l *locator) reopen() (*oxbow.Memory, error) {
	if l.store != nil {
		return nil, oxbow.ErrUnsupported
	}
	path, err := l.storePath()
	if err != nil {
		return nil, err
	}
	return oxbow.Open(path, &oxbow.Options{ReadOnly: true, Clock: l.env.Now})
}
