// This file reads the manifest of a bundle, which contains the command that a desktop program starts.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// prepareBundleCommand returns the command line that starts the server of an unpacked bundle. It also makes the program
// executable, because unpacking a zip archive may lose the permissions.
func prepareBundleCommand(dir string) ([]string, error) {
	var manifest struct {
		Server struct {
			Entry  string `json:"entry_point"`
			Config struct {
				Command string   `json:"command"`
				Args    []string `json:"args"`
			} `json:"mcp_config"`
		} `json:"server"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &manifest); err != nil {
		return nil, err
	}
	if err := os.Chmod(filepath.Join(dir, manifest.Server.Entry), 0o755); err != nil {
		return nil, err
	}
	argv := append([]string{manifest.Server.Config.Command}, manifest.Server.Config.Args...)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "${__dirname}", dir)
	}
	return argv, nil
}
