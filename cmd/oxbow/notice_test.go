// This file generates NOTICE, which contains the licenses of all software in oxbow. It checks that the committed
// NOTICE is up to date.

package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write NOTICE again")

// noticePath is the path of NOTICE from this directory.
const noticePath = "../../NOTICE"

// goModule is the name of a module that the Go project publishes under the license of Go itself. The space after the
// name excludes longer module names. The license files of this module are also used for Go, because some distributions
// install Go without its license files.
const goModule = "golang.org/x/sys "

// licenseFile matches names of files, such as LICENSE, whose text must be distributed with a program.
var licenseFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)(\.(txt|md))?$`)

// TestNotice checks that NOTICE lists exactly the modules that are linked into oxbow on Linux, macOS or Windows.
func TestNotice(t *testing.T) {
	want := generateNotice(t)
	if *update {
		if err := os.WriteFile(noticePath, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(noticePath)
	if err != nil {
		t.Fatal(err)
	}
	got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))
	if !bytes.Equal(got, want) {
		t.Error(
			"NOTICE does not fit the modules that oxbow links; write it again with: go test ./cmd/oxbow -run " +
				"TestNotice -update",
		)
	}
}

// generateNotice returns the text of NOTICE: the license files of each linked module, sorted
// by module path.
func generateNotice(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("oxbow\n\nThe oxbow program contains the following software under the following licenses.\n")
	var modules []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		modules = append(modules, linkedModules(t, system)...)
	}
	slices.Sort(modules)
	for _, module := range slices.Compact(modules) {
		name, dir, ok := strings.Cut(module, "\t")
		if !ok || dir == "" {
			t.Fatalf("the source of %s is not on this machine; go mod download fetches it", name)
		}
		if strings.HasPrefix(name, goModule) {
			name = "The Go programming language, its standard library, and " + name
		}
		writeLicenses(t, &b, name, dir)
	}
	return b.Bytes()
}

// linkedModules returns the modules that oxbow links on an operating system. Each element has the form "PATH
// VERSION\tDIRECTORY".
func linkedModules(t *testing.T, system string) []string {
	t.Helper()
	cmd := exec.Command(
		"go",
		"list",
		"-deps",
		"-f",
		`{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`,
		".",
	)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v", system, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' || r == '\r' })
}

// writeLicenses writes the license files in dir to b, below a heading. It fails the test if dir contains no license
// file.
func writeLicenses(t *testing.T, b *bytes.Buffer, heading, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenseFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found = true
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		fmt.Fprintf(b, "\n%s\n%s (%s)\n\n%s\n", strings.Repeat("=", 80), heading, e.Name(), bytes.TrimSpace(text))
	}
	if !found {
		t.Errorf("%s has no license file in %s", heading, dir)
	}
}
