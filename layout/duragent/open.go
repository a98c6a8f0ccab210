// This file finds, opens and creates homes.

package duragent

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Dialect returns the description of the duragent layout. A duragent home is either the directory that contains
// duragent.yaml, or a workspace directory. [layout.Options.Agent] selects the agent whose memory is opened, and may be
// empty if there is at most one agent.
func Dialect() layout.Dialect {
	return layout.Dialect{
		Name:   "duragent",
		Title:  "duragent: world knowledge that agents share, and of each agent a MEMORY.md and daily logs",
		Detect: countLayoutMarkers,
		Init:   initHome,
		Open:   newHome,
	}
}

// findHomeDirectories returns the directories of a home, for the agent that o.Agent names. It fails if the
// configuration file names a directory for the shared memory of all agents that is also a directory of this agent.
func findHomeDirectories(o layout.Options) (homeDirectories, error) {
	g, err := findGlobalConfig(o.FS, o.Path)
	if err != nil {
		return homeDirectories{}, err
	}
	agent, err := chooseAgent(o.FS, g, o.Agent)
	if err != nil {
		return homeDirectories{}, err
	}
	p := homeDirectories{g, agent}
	for _, own := range []string{p.agentDir("memory"), p.agentDir("memory/daily")} {
		if p.worldPath == own {
			return homeDirectories{}, &oxbow.InvalidError{Field: globalFile +
				": world_memory.path", Value: p.worldPath, Reason: "is a directory of agent " + agent +
				"; what all agents share needs its own"}
		}
	}
	return p, nil
}

// newConfigText is the duragent.yaml of a new home.
const newConfigText = `# Where agents and shared knowledge are kept, relative to this file.
workspace: .duragent
`

// newAgentText is the agent.yaml of a new agent.
const newAgentText = `apiVersion: duragent/v1alpha1
kind: Agent
metadata:
  name: %s
spec:
  # The section switches the memory tools on. backend: filesystem keeps Markdown
  # files; backend: oxbow keeps the same entries in one file with history.
  memory:
    backend: %s
`

// initHome creates those files and directories of a duragent home that are missing: duragent.yaml, the world's
// directory, which all agents share, an agent with a memory, and the directive that tells the agent how to use its
// memory. It returns the paths of what it created. Existing files are not changed.
func initHome(_ context.Context, o layout.Options) ([]string, error) {
	p, err := findHomeDirectories(o)
	if err != nil {
		return nil, err
	}
	c, _, err := readConfigs(o.FS, p, dialect.NewHomeBase(o).Warn)
	if err != nil {
		return nil, err
	}
	var made []string
	file := func(name, text string) error {
		if _, err := o.FS.Stat(name); err == nil || !isNotExist(err) {
			return err
		}
		if dir := path.Dir(name); dir != "." {
			if err := o.FS.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if err := vfs.WriteFile(o.FS, name, []byte(text), 0o644); err != nil {
			return err
		}
		made = append(made, name)
		return nil
	}
	if p.workspacePath == ".duragent" {
		if err := file(globalFile, newConfigText); err != nil {
			return made, err
		}
	}
	if _, err := o.FS.Stat(p.worldPath); isNotExist(err) {
		if err := o.FS.MkdirAll(p.worldPath, 0o755); err != nil {
			return made, err
		}
		made = append(made, p.worldPath)
	}
	name, err := yaml.Marshal(p.agentName) // The encoder puts the name in quotes if necessary.
	if err != nil {
		return made, err
	}
	if err := file(
		p.agentDir(agentFile),
		fmt.Sprintf(newAgentText, strings.TrimSpace(string(name)), c.backend),
	); err != nil {
		return made, err
	}
	directive, err := makeMemoryDirective(o.FS, p)
	if directive != "" {
		made = append(made, directive)
	}
	return made, err
}

func newHome(ctx context.Context, o layout.Options) (layout.Home, error) {
	h := &home{HomeBase: dialect.NewHomeBase(o)}
	var err error
	var wanted bool
	h.directories, err = findHomeDirectories(o)
	if err == nil {
		h.config, wanted, err = readConfigs(o.FS, h.directories, h.Warn)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the memory of duragent: %w", err)
	}
	if others, err := agentNames(o.FS, h.directories.agentsPath); err == nil && len(others) > 0 &&
		!slices.Contains(others, h.directories.agentName) {
		if isDir, _ := dialect.CountDirIfExists(o.FS, h.directories.agentDir(".")); isDir == 0 {
			return nil, fmt.Errorf("opening the memory of duragent: %w", verb.Advise(
				&oxbow.InvalidError{Field: "agent", Value: h.directories.agentName, Reason: "is not here; there are: " +
					strings.Join(others, ", ")},
				"oxbow init --agent NAME adds an agent to this home"))
		}
	}
	if wanted && !o.Memory.ReadOnly {
		// Create the directive about memory when the home is opened, as duragent does when it starts. If this fails,
		// the agent's context contains the directive's text nevertheless.
		if _, err := makeMemoryDirective(o.FS, h.directories); err != nil {
			h.Warn(fmt.Sprintf("the directive about memory was not made: %v", err))
		}
	}
	s, err := h.openStore(ctx, h.Options.Memory)
	if err != nil {
		return nil, fmt.Errorf("opening the memory of duragent: %w", err)
	}
	h.SetStore(s)
	h.RecordWrittenTexts(h.FS, h.directories.workspaceDir("."))
	return h, nil
}
