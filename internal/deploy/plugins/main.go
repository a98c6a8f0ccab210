// This file contains the command plugins, which writes plug-ins for agents.

// Command plugins writes the plug-ins of six clients into the repository, and the lists by which the clients find the
// plug-ins:
//
//	go run ./internal/deploy/plugins
//
// A plug-in contains the server and the hooks that "oxbow setup" would write. A test fails if a file in the repository
// is outdated.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/setup"
)

func main() {
	repository := flag.String("repository", ".", "the directory of the clone")
	flag.Parse()
	n, err := writePlugins(*repository)
	if err != nil {
		fmt.Fprintln(os.Stderr, "plugins:", err)
		os.Exit(1)
	}
	fmt.Printf("wrote %d files\n", n)
}

// readPluginFiles returns the files of all plug-ins for AI clients. The map's keys are the paths of the files, and the
// values are their contents.
func readPluginFiles() (map[string]string, error) {
	var failed error
	files, err := setup.PluginFiles(func(argv []string) string {
		source, err := hook.OpencodePluginSource(argv)
		failed = err
		return string(source)
	})
	if failed != nil {
		return nil, failed
	}
	return files, err
}

func writePlugins(repository string) (n int, err error) {
	files, err := readPluginFiles()
	if err != nil {
		return 0, err
	}
	for name, content := range files {
		file := filepath.Join(repository, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return n, err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
