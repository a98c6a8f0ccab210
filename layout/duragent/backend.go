// This file opens the backends. A backend is either the files of the agent and the world, or a
// store made from these files.

package duragent

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// openStore opens the configured backend. With the backend oxbow, if the store does not exist and
// may not be created, openStore reads the files instead.
func (h *home) openStore(ctx context.Context, mo oxbow.Options) (oxbow.Store, error) {
	_, err := h.FS.Stat(storeFile(h.place))
	switch oxbows := h.config.backend == backendOxbow; {
	case err != nil && !isNotExist(err):
		return nil, err
	case oxbows && (err == nil || !mo.ReadOnly):
		return h.openScoped(ctx, mo)
	case err == nil:
		h.Warn(storeFile(h.place) + " is not read: agent.yaml does not say backend: oxbow")
	}
	tree, err := h.openTree(ctx, h.place.agent, mo)
	if err != nil {
		return nil, err
	}
	return files{tree}, nil
}

// openTree opens the files of an agent and the world.
func (h *home) openTree(ctx context.Context, agent string, mo oxbow.Options) (*mdtree.Store, error) {
	b := h.Base
	b.Options.Memory = mo
	return b.OpenTree(
		ctx,
		h.FS,
		h.Path,
		makeLayout(places{h.place.global, agent}, h.Zone),
		h.place.workspaceDir(".oxbow-tree.lock"),
	)
}

// storeFile returns the path of the default store.
func storeFile(p places) string { return p.workspaceDir("memory/memory.oxbow") }

// openScoped opens the store. If the store does not exist, openScoped creates it from the files.
func (h *home) openScoped(ctx context.Context, o oxbow.Options) (*scopedStore, error) {
	name := storeFile(h.place)
	if !o.ReadOnly {
		if err := h.FS.MkdirAll(path.Dir(name), 0o755); err != nil {
			return nil, err
		}
	}
	o.FS = h.FS
	m, err := oxbow.Open(name, &o)
	if err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		if err := h.adopt(ctx, m, o); err != nil {
			return nil, errors.Join(fmt.Errorf("taking the entries of the files into %s: %w", name, err), m.Close())
		}
	}
	return &scopedStore{m, agentMark(h.place.agent)}, nil
}

// adopt copies the entries in the files of all agents and of the world into an empty store, as a
// single change. The files are not changed.
func (h *home) adopt(ctx context.Context, m *oxbow.Memory, o oxbow.Options) error {
	fresh := func() (bool, error) {
		for _, err := range m.Log(ctx) {
			return false, err
		}
		return true, nil
	}
	if is, err := fresh(); err != nil || !is {
		return err
	}
	ops, err := h.entriesOfFiles(ctx, o)
	if err != nil {
		return err
	}
	if len(ops) == 0 {
		return nil
	}
	err = m.Apply(ctx, ops...)
	if errors.Is(err, oxbow.ErrExists) {
		if is, ferr := fresh(); ferr == nil && !is {
			return nil // another process adopted the files first
		}
	}
	if err == nil {
		h.Warn(fmt.Sprintf(
			"%d entries of the files were taken into %s; the files stay as they are, and are no longer read",
			len(ops),
			storeFile(h.place),
		))
	}
	return err
}

// entriesOfFiles returns operations that add the entries in the files of all agents and the world,
// under their names in the store.
func (h *home) entriesOfFiles(ctx context.Context, o oxbow.Options) ([]oxbow.Op, error) {
	agents, err := agentNames(h.FS, h.place.agents)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(agents, h.place.agent) {
		agents = append(agents, h.place.agent)
	}
	o.ReadOnly = true
	var ops []oxbow.Op
	for i, agent := range agents {
		tree, err := h.openTree(ctx, agent, o)
		if err != nil {
			return nil, err
		}
		s := scopedStore{agent: agentMark(agent)}
		for e, eerr := range tree.Entries(ctx, oxbow.Filter{}) {
			if eerr != nil {
				err = eerr
				break
			}
			if isOwn(e.Name) || i == 0 {
				ops = append(
					ops,
					oxbow.Add{Name: s.below(e.Name), Kind: e.Kind, Content: e.Content, Created: e.Created},
				)
			}
		}
		if err := errors.Join(err, tree.Close()); err != nil {
			return nil, err
		}
	}
	return ops, nil
}
