// This file tests that the plug-ins in the repository agree with the tables of the command setup.

package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/setup"
)

func TestUpToDate(t *testing.T) {
	want, err := readPluginFiles()
	if err != nil {
		t.Fatal(err)
	}
	repository := os.DirFS("../../..")
	for name, content := range want {
		got, err := fs.ReadFile(repository, name)
		if err != nil || strings.ReplaceAll(string(got), "\r\n", "\n") != content {
			t.Errorf("%s is out of date (%v); go run ./internal/deploy/plugins writes it", name, err)
		}
		if path.Ext(name) == ".json" && !json.Valid([]byte(content)) {
			t.Errorf("%s is no JSON: %s", name, content)
		}
	}
	err = fs.WalkDir(repository, setup.BundleDir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) != ".go" && want[name] == "" {
			t.Errorf("%s belongs to no plug-in any more", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriteBundles(t *testing.T) {
	dir := t.TempDir()
	want, err := readPluginFiles()
	if err != nil {
		t.Fatal(err)
	}
	n, err := writePlugins(dir)
	if err != nil || n != len(want) {
		t.Fatalf("writePlugins = %d, %v, want %d files", n, err, len(want))
	}
	for name, content := range want {
		if got, err := fs.ReadFile(os.DirFS(dir), name); err != nil || string(got) != content {
			t.Errorf("%s holds %q, %v, want %q", name, got, err, content)
		}
	}
}
