// This file tests goreleaser's configuration without running goreleaser.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

func readConfig(t *testing.T) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("../../..", configFile))
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// TestConfiguration checks the configuration against the JSON schema of goreleaser 2.15.1.
func TestConfiguration(t *testing.T) {
	source, err := os.ReadFile("testdata/goreleaser.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(source, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	validate := func(config string) error {
		var value any
		if err := yaml.Unmarshal([]byte(config), &value); err != nil {
			return err
		}
		b, err := json.Marshal(value)
		if err != nil {
			return err
		}
		var plain any
		if err := json.Unmarshal(b, &plain); err != nil {
			return err
		}
		return resolved.Validate(plain)
	}
	config := string(readConfig(t))
	if err := validate(config); err != nil {
		t.Errorf("%s: %v", configFile, err)
	}
	for _, old := range []string{"nfpms:", "    mod_timestamp:", "  algorithm:"} {
		if validate(strings.Replace(config, old, strings.TrimSuffix(old, ":")+"x:", 1)) == nil {
			t.Errorf("the schema accepts a misspelt %s", strings.TrimSpace(old))
		}
	}
}

func TestWithTargets(t *testing.T) {
	source := readConfig(t)
	one, err := configForTargets(source, "/dist", "linux_arm64")
	if err != nil || !strings.Contains(string(one), "linux_arm64") || strings.Contains(string(one), "darwin_arm64") {
		t.Errorf("configForTargets = %s, %v, want one target", one, err)
	}
	if _, err := configForTargets(source, "/dist", "linux_vax"); err == nil {
		t.Error("configForTargets accepts an unknown target")
	}
}

// TestManuals checks that manual pages are written for oxbow and two of its commands, and that a completion script is
// written for each shell.
func TestManuals(t *testing.T) {
	dir := t.TempDir()
	if err := writeManuals(dir); err != nil {
		t.Fatal(err)
	}
	if err := writeCompletions(dir); err != nil {
		t.Fatal(err)
	}
	err := checkFilesExist(dir, "oxbow.1", "oxbow-recall.1", "oxbow-label-add.1", "oxbow.bash", "_oxbow", "oxbow.fish",
		"oxbow.ps1")
	if err != nil {
		t.Error(err)
	}
}

// TestTypedLines checks that docs/install.md needs at most five typed lines up to the first recall. The code in try.go
// runs these lines.
func TestTypedLines(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("../../..", installPage))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"archive", "deb", "npm"} {
		lines, err := documentedCommands(string(page), kind)
		if err != nil || len(lines) > 5 || !strings.HasSuffix(lines[len(lines)-1], "oxbow recall tabs") {
			t.Errorf("the lines for %s are %q, %v", kind, lines, err)
		}
	}
	if _, err := documentedCommands(string(page), "abacus"); err == nil {
		t.Error("the page has lines for an unknown kind")
	}
}

// TestWantHash checks that a changed file is detected.
func TestWantHash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if err := checkHash(path, sum); err != nil {
		t.Error(err)
	}
	if err := checkHash(path, strings.Repeat("0", 64)); err == nil {
		t.Error("a wrong checksum is accepted")
	}
}
