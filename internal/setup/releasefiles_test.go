// This file tests the files that describe a release to package registries: the entry for the MCP registry, the manifest
// of the bundle, and the npm package.

package setup

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestRegistryEntry checks server.json against the schema of the MCP registry. It also checks that the schema refuses
// entries that the registry would refuse.
func TestRegistryEntry(t *testing.T) {
	source, err := os.ReadFile("testdata/server.schema.json")
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
	validate := func(entry string) error {
		var value any
		if err := json.Unmarshal([]byte(entry), &value); err != nil {
			return err
		}
		return resolved.Validate(value)
	}
	bundle := PublishedBundle{URL: bundleHomepage + "/oxbow.mcpb", SHA256: strings.Repeat("0a", 32)}
	entry := RegistryEntry("1.2.3", []PublishedBundle{bundle})
	if err := validate(entry); err != nil {
		t.Errorf("server.json is invalid: %v\n%s", err, entry)
	}
	for _, c := range []struct{ old, new string }{
		{bundle.SHA256, "none"}, {mcpRegistryName, "oxbow"}, {`"version": "1.2.3"`, `"version": "latest"`},
		{`"stdio"`, `"pipe"`},
	} {
		if validate(strings.ReplaceAll(entry, c.old, c.new)) == nil {
			t.Errorf("the schema accepts %s instead of %s", c.new, c.old)
		}
	}
}

// TestReleaseFilesStartTheServer tests that the bundle starts the server with the same command as setup. It also tests
// that the npm package depends on the package with the program for the platform, and that this package has the right
// name.
func TestReleaseFilesStartTheServer(t *testing.T) {
	for _, target := range []Target{{"linux", "amd64"}, {"windows", "arm64"}} {
		var manifest struct {
			Server struct {
				Entry  string `json:"entry_point"`
				Config struct {
					Command string
					Args    []string
				} `json:"mcp_config"`
			}
		}
		if err := json.Unmarshal([]byte(target.BundleManifest("1.2.3")), &manifest); err != nil {
			t.Fatal(err)
		}
		o := Options{Executable: "${__dirname}/server/" + target.Executable()}
		got := append([]string{manifest.Server.Config.Command}, manifest.Server.Config.Args...)
		if want := o.oxbowArgv("mcp"); !slices.Equal(got, want) || "${__dirname}/"+manifest.Server.Entry != want[0] {
			t.Errorf("the bundle for %v starts %q, its entry point is %q, want %q", target, got,
				manifest.Server.Entry, want)
		}
		launcher := NPMLauncherFiles("1.2.3", []Target{target})["package.json"]
		if !strings.Contains(launcher, `"`+target.NPMPackage()+`": "1.2.3"`) {
			t.Errorf("the npm package does not depend on %s: %s", target.NPMPackage(), launcher)
		}
		if !strings.Contains(target.NPMProgramManifest("1.2.3"), `"name": "`+target.NPMPackage()+`"`) {
			t.Errorf("the npm package for %v has another name than %s", target, target.NPMPackage())
		}
	}
}
