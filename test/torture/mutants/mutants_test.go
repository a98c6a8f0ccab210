// This file tests that all mutants can be applied and compiled. A mutant is a patch that inserts a fault by replacing
// text of oxbow's code. This text must still exist in the code.

package mutants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestMutantsApply(t *testing.T) {
	root, err := LibraryDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, m := range All {
		if _, err := m.WriteOverlay(root, dir); err != nil {
			t.Error(err)
		}
	}
}

// TestMutantsCompile tests that the code of each mutant compiles. Without this test, a mutant that no longer compiles
// would only be found when the torture tests build it.
func TestMutantsCompile(t *testing.T) {
	root, err := LibraryDir()
	if err != nil {
		t.Fatal(err)
	}
	packages, err := listPackages(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range All {
		if err := typeCheckMutant(m, root, packages); err != nil {
			t.Errorf("mutant %s no longer compiles: %v", m.Name, err)
		}
	}
}

func TestTypeCheckFindsMutantThatDoesNotCompile(t *testing.T) {
	root, err := LibraryDir()
	if err != nil {
		t.Fatal(err)
	}
	packages, err := listPackages(root)
	if err != nil {
		t.Fatal(err)
	}
	m := All[0]
	m.New = m.Old + "\n\tnotDeclaredAnywhere()"
	if err := typeCheckMutant(m, root, packages); err == nil ||
		!strings.Contains(err.Error(), "undefined: notDeclaredAnywhere") {
		t.Errorf("typeCheckMutant() of a mutant with an undefined name = %v, want an error that names it", err)
	}
}

// listedPackage describes one package as go list prints it. ExportFile is the path of the compiled package's export
// data, in Go's build cache.
type listedPackage struct {
	ImportPath, Dir, ExportFile string
	GoFiles                     []string
	ImportMap                   map[string]string
}

// listPackages compiles oxbow's packages and the packages that oxbow imports. It returns them by import path. moduleDir
// is the directory of oxbow's module.
func listPackages(moduleDir string) (map[string]*listedPackage, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,ImportMap", "./...")
	cmd.Dir = moduleDir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -export: %w\n%s", err, stderr.Bytes())
	}
	packages := map[string]*listedPackage{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			listedPackage
			Export string
		}
		if err := dec.Decode(&p); err == io.EOF {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		p.ExportFile = p.Export
		packages[p.ImportPath] = &p.listedPackage
	}
}

// typeCheckMutant checks the types of the package that contains the mutant's file, with the fault in it. It returns the
// first error that the compiler would report for this package.
func typeCheckMutant(m Mutant, moduleDir string, packages map[string]*listedPackage) error {
	mutantPackage := packages[path.Join("github.com/oxbow-memory/oxbow", path.Dir(m.File))]
	if mutantPackage == nil {
		return fmt.Errorf("go list reports no package in the directory of %s", m.File)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	patched := false
	for _, name := range mutantPackage.GoFiles {
		text, err := os.ReadFile(filepath.Join(mutantPackage.Dir, name))
		if err != nil {
			return err
		}
		if name == path.Base(m.File) {
			mutantText, err := m.applyTo(string(text))
			if err != nil {
				return err
			}
			text, patched = []byte(mutantText), true
		}
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	if !patched {
		return fmt.Errorf("%s is not compiled on this system", m.File)
	}
	lookup := func(importPath string) (io.ReadCloser, error) {
		if actual, ok := mutantPackage.ImportMap[importPath]; ok {
			importPath = actual
		}
		p := packages[importPath]
		if p == nil || p.ExportFile == "" {
			return nil, fmt.Errorf("go list reports no export data for %s", importPath)
		}
		return os.Open(p.ExportFile)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	_, err := conf.Check(mutantPackage.ImportPath, fset, files, nil)
	return err
}

func TestMutantNoLongerApplies(t *testing.T) {
	m := Mutant{Name: "none", File: "a.go", Old: "x := 1", New: "x := 2"}
	for _, text := range []string{"y := 1", "x := 1\nx := 1"} {
		if _, err := m.applyTo(text); err == nil || !strings.Contains(err.Error(), "mutant none no longer applies: ") {
			t.Errorf("patch(%q) = %v, want that it no longer applies", text, err)
		}
	}
	if got, err := m.applyTo("a\nx := 1\nb"); err != nil || got != "a\nx := 2\nb" {
		t.Errorf("patch() = %q, %v", got, err)
	}
	if _, err := m.WriteOverlay(t.TempDir(), t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "no longer applies") {
		t.Errorf("Overlay() without its file = %v", err)
	}
	if _, err := FindMutant("ghost"); err == nil {
		t.Error("Named(ghost) found a mutant")
	}
}
