// This file opens the store that a home (the directory of a memory) is configured to use. This is either the files
// themselves, with the entries of one agent and the facts that all agents share about the world, or an oxbow store that
// was created from these files.

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

// openStore opens the configured backend. If the backend is oxbow, but its store is missing and may not be created,
// openStore reads the files instead.
func (h *home) openStore(ctx context.Context, mo oxbow.Options) (oxbow.Store, error) {
	_, err := h.FS.Stat(defaultStorePath(h.directories))
	switch oxbows := h.config.backend == backendOxbow; {
	case err != nil && !isNotExist(err):
		return nil, err
	case oxbows && (err == nil || !mo.ReadOnly):
		return h.openScopedStore(ctx, mo)
	case err == nil:
		h.Warn(defaultStorePath(h.directories) + " is not read: agent.yaml does not say backend: oxbow")
	}
	tree, err := h.openTree(ctx, h.directories.agentName, mo)
	if err != nil {
		return nil, err
	}
	return agentFileStore{tree}, nil
}

// openTree opens the files of an agent as a store. The store also contains the files with facts about the world, which
// all agents share.
func (h *home) openTree(ctx context.Context, agent string, mo oxbow.Options) (*mdtree.Store, error) {
	b := h.HomeBase
	b.Options.Memory = mo
	return b.OpenTree(
		ctx,
		h.FS,
		h.Path,
		makeLayout(homeDirectories{h.directories.globalConfig, agent}, h.Zone),
		h.directories.workspaceDir(".oxbow-tree.lock"),
	)
}

// defaultStorePath returns the path of the store for the backend oxbow, if the configuration names none.
func defaultStorePath(p homeDirectories) string { return p.workspaceDir("memory/memory.oxbow") }

// openScopedStore opens the store that is used if duragent's configuration selects oxbow as the memory backend. It
// limits the view to the entries of the home's agent. Unless o.ReadOnly is set, it creates a missing store, and imports
// the entries from duragent's memory files.
func (h *home) openScopedStore(ctx context.Context, o oxbow.Options) (*scopedStore, error) {
	name := defaultStorePath(h.directories)
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
		if err := h.importFiles(ctx, m, o); err != nil {
			return nil, errors.Join(fmt.Errorf("taking the entries of the files into %s: %w", name, err), m.Close())
		}
	}
	return &scopedStore{m, agentPrefix(h.directories.agentName)}, nil
}

// importFiles copies entries from files into a store in one change, if the store is empty. These are the files of all
// agents, and the files with facts about the world, which all agents share. importFiles does not change the files.
func (h *home) importFiles(ctx context.Context, m *oxbow.Memory, o oxbow.Options) error {
	fresh := func() (bool, error) {
		for _, err := range m.Log(ctx) {
			return false, err
		}
		return true, nil
	}
	if is, err := fresh(); err != nil || !is {
		return err
	}
	ops, err := h.opsFromMemoryFiles(ctx, o)
	if err != nil {
		return err
	}
	if len(ops) == 0 {
		return nil
	}
	err = m.Apply(ctx, ops...)
	if errors.Is(err, oxbow.ErrExists) {
		if is, ferr := fresh(); ferr == nil && !is {
			// Another process has imported the entries of the agents' files since this process checked that the store
			// is empty.
			return nil
		}
	}
	if err == nil {
		h.Warn(fmt.Sprintf(
			"%d entries of the files were taken into %s; the files stay as they are, and are no longer read",
			len(ops),
			defaultStorePath(h.directories),
		))
	}
	return err
}

// opsFromMemoryFiles returns ops that add all entries in the memory files of a duragent home to a store. These are the
// files of each agent, and the files with facts about the world, which all agents share. The ops contain the names
// that the entries have in the store.
func (h *home) opsFromMemoryFiles(ctx context.Context, o oxbow.Options) ([]oxbow.Op, error) {
	agents, err := agentNames(h.FS, h.directories.agentsPath)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(agents, h.directories.agentName) {
		agents = append(agents, h.directories.agentName)
	}
	o.ReadOnly = true
	var ops []oxbow.Op
	for i, agent := range agents {
		tree, err := h.openTree(ctx, agent, o)
		if err != nil {
			return nil, err
		}
		s := scopedStore{agentPrefix: agentPrefix(agent)}
		for e, eerr := range tree.Entries(ctx, oxbow.Filter{}) {
			if eerr != nil {
				err = eerr
				break
			}
			if isAgentsOwnEntry(e.Name) || i == 0 {
				ops = append(
					ops,
					oxbow.Add{Name: s.nameInStore(e.Name), Kind: e.Kind, Content: e.Content, Created: e.Created},
				)
			}
		}
		if err := errors.Join(err, tree.Close()); err != nil {
			return nil, err
		}
	}
	return ops, nil
}
