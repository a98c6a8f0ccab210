// This file finds the directories of a home (a memory's directory). They are the workspace, the directory of facts that
// all agents share (the world), and the directory of agents.

package duragent

import (
	"fmt"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// defaultAgent is the name of the agent that is used if the home, the directory of the memory, contains no agent.
const defaultAgent = "main"

// homeDirectories contains the directories of a home for an agent.
type homeDirectories struct {
	globalConfig
	agentName string
}

func (p homeDirectories) workspaceDir(name string) string { return path.Join(p.workspacePath, name) }
func (p homeDirectories) agentDir(name string) string {
	return path.Join(p.agentsPath, p.agentName, name)
}

// findGlobalConfig returns the directories of a duragent home, which is the root of fsys. The argument homePath is the
// path of the home on disk. The workspace is the directory with the memory. If the file duragent.yaml exists, the file
// specifies the workspace. Otherwise the workspace is the home itself if homePath ends with .duragent, or if the home
// contains directories of a workspace. In all other cases, the workspace is the directory .duragent in the home.
func findGlobalConfig(fsys vfs.FS, homePath string) (globalConfig, error) {
	data, ok, err := readConfig(fsys, globalFile)
	if err != nil {
		return globalConfig{}, err
	}
	if ok {
		return parseGlobalConfig(data)
	}
	ws := ".duragent"
	if path.Base(strings.ReplaceAll(homePath, `\`, "/")) == ws {
		ws = "."
	} else if n, err := countWorkspaceDirs(fsys, "."); err != nil {
		return globalConfig{}, err
	} else if n > 0 {
		ws = "."
	}
	return globalConfig{ws, path.Join(ws, "agents"), path.Join(ws, "memory/world")}, nil
}

// countWorkspaceDirs counts the directories that only a workspace has: the directory for facts, and a directory for
// agents.
func countWorkspaceDirs(fsys vfs.FS, dir string) (int, error) {
	n := 0
	info, err := fsys.Stat(path.Join(dir, "memory/world"))
	if err != nil && !isNotExist(err) {
		return 0, err
	}
	if err == nil && info.IsDir() {
		n++
	}
	names, err := agentNames(fsys, path.Join(dir, "agents"))
	if err == nil && len(names) > 0 {
		n++
	}
	return n, err
}

// countLayoutMarkers returns the number of signs that a directory is a home of duragent. If the file duragent.yaml
// exists, the number is 3. Otherwise countLayoutMarkers counts the directories that only a workspace has. It looks for
// them in the directory itself, and if there are none, in its subdirectory .duragent.
func countLayoutMarkers(fsys vfs.FS) (int, error) {
	if _, err := fsys.Stat(globalFile); err == nil {
		return 3, nil
	} else if !isNotExist(err) {
		return 0, err
	}
	n, err := countWorkspaceDirs(fsys, ".")
	if err != nil || n > 0 {
		return n, err
	}
	return countWorkspaceDirs(fsys, ".duragent")
}

// agentNames returns the names of the agents in a directory. A subdirectory is an agent if it contains an agent.yaml
// or a memory.
func agentNames(fsys vfs.FS, dir string) ([]string, error) {
	entries, err := fsys.ReadDir(dir)
	if isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() || checkAgentName(e.Name()) != nil {
			continue
		}
		for _, mark := range []string{agentFile, "memory"} {
			if _, err := fsys.Stat(path.Join(dir, e.Name(), mark)); err == nil {
				names = append(names, e.Name())
				break
			}
		}
	}
	return names, nil
}

// chooseAgent returns the name of the agent to open. If name is not "", this is name. Otherwise it is the only agent of
// the home, or defaultAgent if the home has no agent. If the home has several agents, chooseAgent returns an error.
func chooseAgent(fsys vfs.FS, g globalConfig, name string) (string, error) {
	if name != "" {
		return name, checkAgentName(name)
	}
	names, err := agentNames(fsys, g.agentsPath)
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return defaultAgent, nil
	case len(names) == 1:
		return names[0], nil
	}
	return "", &oxbow.InvalidError{Field: "agent", Reason: "is not named, and there are several: " +
		strings.Join(names, ", ") + "; name one with --agent"}
}

// checkAgentName returns an error if name cannot be the name of an agent. The reason is that each agent has a directory
// with its name, and some names are not possible for directories.
func checkAgentName(name string) error {
	isBad := strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\:*?"<>|`) || len(name) > maxTopicBytes
	if isBad || oxbow.CheckName(name) != nil {
		return &oxbow.InvalidError{
			Field:  "agent",
			Value:  name,
			Reason: "cannot be the name of a directory; use letters, digits and dashes",
		}
	}
	return nil
}

// readAgentConfig reads the agent.yaml of an agent. It returns false if the file does not exist.
func readAgentConfig(fsys vfs.FS, p homeDirectories) (agentConfig, bool, error) {
	name := p.agentDir(agentFile)
	data, ok, err := readConfig(fsys, name)
	if err != nil || !ok {
		return agentConfig{}, false, err
	}
	c, err := parseAgentConfig(name, data)
	return c, true, err
}

// readConfigs returns the memory configuration c of the agent p.agentName. anyHasMemory is true if the configuration
// file (agent.yaml) of any agent contains a memory.
//
// If the agent p.agentName has no agent.yaml, c.hasMemory is true, because the caller has asked for the memory of this
// agent. All agents share the facts about the world, so all agents must use the same backend. If the agent's own
// configuration does not name a backend, readConfigs uses the backend of the other agents. If two agents have different
// backends, the error is an [oxbow.InvalidError]. If the agent.yaml of another agent cannot be read, readConfigs passes
// a warning to the function warn and ignores the file.
func readConfigs(fsys vfs.FS, p homeDirectories, warn func(string)) (c agentConfig, anyHasMemory bool, err error) {
	c, configured, err := readAgentConfig(fsys, p)
	if err != nil {
		return c, false, err
	}
	anyHasMemory = c.hasMemory
	names, err := agentNames(fsys, p.agentsPath)
	if err != nil {
		return c, false, err
	}
	for _, n := range names {
		if n == p.agentName {
			continue
		}
		other, ok, err := readAgentConfig(fsys, homeDirectories{p.globalConfig, n})
		if err != nil {
			warn(fmt.Sprintf("agent %s: %v", n, err))
		}
		hasMemory := ok && other.hasMemory
		if err != nil || !hasMemory {
			continue
		}
		anyHasMemory = true
		if c.backend == "" {
			c.backend = other.backend
		}
		if c.backend != other.backend {
			return c, anyHasMemory, &oxbow.InvalidError{Field: p.agentDir(agentFile) +
				": spec.memory.backend", Value: c.backend,
				Reason: "is not that of agent " + n + ", " + other.backend +
					"; agents share one world, so give all of them the same"}
		}
	}
	if c.backend == "" {
		c.backend = backendFiles
	}
	c.hasMemory = c.hasMemory || !configured
	return c, anyHasMemory, nil
}
