// This file reads the configuration files duragent.yaml and agent.yaml. It ignores keys that are not about memory.

package duragent

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// maxConfigBytes is the maximum size of a configuration file in bytes.
const maxConfigBytes = 1 << 20

// Names of the configuration files.
const (
	globalFile = "duragent.yaml"
	agentFile  = "agent.yaml"
)

// These are the backends that spec.memory.backend can name.
const (
	backendFiles = "filesystem"
	backendOxbow = "oxbow"
)

// globalConfig contains the directories that duragent.yaml names.
type globalConfig struct {
	workspacePath, agentsPath, worldPath string
}

// agentConfig contains what agent.yaml says about memory.
type agentConfig struct {
	hasMemory bool // The file has a section spec.memory.
	backend   string
}

// yamlFile is a parsed configuration file.
type yamlFile struct {
	name string
	root *yaml.Node
}

func parseYAML(name string, data []byte) (yamlFile, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return yamlFile{}, &oxbow.InvalidError{Field: name, Reason: "cannot be read: " +
			strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	f := yamlFile{name: name}
	if len(doc.Content) > 0 {
		f.root = doc.Content[0]
	}
	return f, nil
}

func (f yamlFile) valueError(n *yaml.Node, key, value, reason string) error {
	return &oxbow.InvalidError{Field: fmt.Sprintf("%s line %d: %s", f.name, n.Line, key), Value: value, Reason: reason}
}

// valueAt returns the value at a path of keys, such as "spec.memory". The bool result reports whether the file contains
// the value. It is an error if a key on the path occurs twice, or if a key before the last one has another value than a
// mapping.
func (f yamlFile) valueAt(keyPath string) (*yaml.Node, bool, error) {
	n, walked := f.root, ""
	for key := range strings.SplitSeq(keyPath, ".") {
		for n != nil && n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if n == nil || isNull(n) {
			return nil, false, nil
		}
		if n.Kind != yaml.MappingNode {
			if walked == "" {
				return nil, false, f.valueError(n, "the file", "", "is not a mapping of keys to values")
			}
			return nil, false, f.valueError(n, walked, "", "must be a mapping of keys to values")
		}
		var found *yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value != key {
				continue
			}
			if found != nil {
				return nil, false, f.valueError(n.Content[i], "key", key, "is there twice")
			}
			found = n.Content[i+1]
		}
		if found == nil {
			return nil, false, nil
		}
		n, walked = found, strings.TrimPrefix(walked+"."+key, ".")
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n, true, nil
}

// isNull reports whether a YAML value is null, which is also the value of a key without a value.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// textAt returns the text at a path of keys, such as "spec.memory.backend", and the value's YAML node. If the file does
// not contain the path, or if the value is null, textAt returns defaultText. If the value is not a text, it returns an
// error.
func (f yamlFile) textAt(keyPath, defaultText string) (string, *yaml.Node, error) {
	n, ok, err := f.valueAt(keyPath)
	if err != nil || !ok {
		return defaultText, n, err
	}
	if isNull(n) {
		return defaultText, n, nil
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return "", n, f.valueError(n, keyPath, n.Value, "must be a text")
	}
	return n.Value, n, nil
}

// directoryAt returns the directory at a path of keys, such as "world_memory.path". The value in the file is relative
// to the directory of the file. The result is relative to the home. If the file does not contain the keys, directoryAt
// returns defaultDir. It returns an error if the directory is outside the home, because the home's file system does not
// contain such a directory.
func (f yamlFile) directoryAt(keyPath, defaultDir string) (string, error) {
	s, n, err := f.textAt(keyPath, defaultDir)
	if err != nil {
		return "", err
	}
	if n == nil {
		return s, nil
	}
	s = strings.ReplaceAll(s, `\`, "/")
	clean := path.Join(path.Dir(f.name), s)
	isRelative := s != "" && !path.IsAbs(s) && !strings.HasPrefix(s, "~") && !strings.Contains(s, ":")
	isOutside := clean == ".." || strings.HasPrefix(clean, "../")
	if !isRelative || isOutside {
		return "", f.valueError(n, keyPath, s, "is not a directory inside the home, which is that of "+f.name+
			"; nothing outside of it is opened, so make the other directory the home")
	}
	return clean, nil
}

// parseGlobalConfig returns the directories that data, the content of duragent.yaml, specifies. A missing key has its
// default, such as ".duragent" for the workspace.
func parseGlobalConfig(data []byte) (globalConfig, error) {
	f, err := parseYAML(globalFile, data)
	if err != nil {
		return globalConfig{}, err
	}
	g := globalConfig{}
	g.workspacePath, err = f.directoryAt("workspace", ".duragent")
	if err != nil {
		return globalConfig{}, err
	}
	g.agentsPath, err = f.directoryAt("agents_dir", path.Join(g.workspacePath, "agents"))
	if err != nil {
		return globalConfig{}, err
	}
	g.worldPath, err = f.directoryAt("world_memory.path", path.Join(g.workspacePath, "memory/world"))
	if err != nil {
		return globalConfig{}, err
	}
	return g, nil
}

// parseAgentConfig returns what data, the content of an agent.yaml, says about the agent's memory. name is the name of
// the file, for errors. Without the section spec.memory, the agent has no memory.
func parseAgentConfig(name string, data []byte) (agentConfig, error) {
	f, err := parseYAML(name, data)
	if err != nil {
		return agentConfig{}, err
	}
	n, ok, err := f.valueAt("spec.memory")
	if err != nil || !ok {
		return agentConfig{}, err
	}
	c := agentConfig{hasMemory: true, backend: backendFiles}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return c, nil // The section spec.memory exists but is empty, so the agent has a memory with default settings.
	}
	if n.Kind != yaml.MappingNode {
		return agentConfig{}, f.valueError(n, "spec.memory", n.Value, "must be a mapping, such as backend: filesystem")
	}
	backend, at, err := f.textAt("spec.memory.backend", backendFiles)
	if err != nil {
		return agentConfig{}, err
	}
	if all := []string{backendFiles, backendOxbow}; !slices.Contains(all, backend) {
		return agentConfig{}, f.valueError(at, "spec.memory.backend", backend, "is not one of "+strings.Join(all, ", "))
	}
	c.backend = backend
	return c, nil
}

// readConfig returns the content of a configuration file. It returns false if the file does not exist.
func readConfig(fsys vfs.FS, name string) ([]byte, bool, error) {
	data, err := vfs.ReadFile(fsys, name, maxConfigBytes)
	if isNotExist(err) {
		return nil, false, nil
	}
	return data, err == nil, err
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
