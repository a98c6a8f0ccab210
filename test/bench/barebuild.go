// This file builds the command named "bare" with other search indexes. The build replaces files (go run -overlay) and
// uses a separate go.mod (-modfile), so that this module does not depend on the other indexes. These flags specify the
// indexes:
//
//	--before DIR     internal/search/index of another checkout, such as
//	                 git worktree add DIR HEAD~3
//	--prototype DIR  a module perf/proto, whose index has FromIndex(Build(…)),
//	                 Search, Tokens

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// indexBuild specifies which search indexes the command named "bare" compares with oxbow's index. These indexes must be
// built into the program.
type indexBuild struct {
	earlierCheckoutDir string // path to another checkout of this repository, or ""
	prototypeModuleDir string // path of the module perf/proto, or ""
}

// hasMissingEngine reports whether the user requested a search index that is not in built, the list of the indexes that
// this program contains.
func (w *indexBuild) hasMissingEngine(built []otherIndex) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(built, func(o otherIndex) bool { return o.name == name })
	}
	return (w.earlierCheckoutDir != "" && !has("before")) || (w.prototypeModuleDir != "" && !has("prototype"))
}

// Paths of packages relative to this module's directory.
const (
	ownindexDir         = "ownindex"
	indexDir            = "../../internal/search/index"
	comparedIndexesFile = "bareothers.go"
	indexTemplatesDir   = "testdata/bare"
	ownindexImportPath  = "github.com/oxbow-memory/oxbow/test/bench/ownindex"
	indexImportPath     = "github.com/oxbow-memory/oxbow/internal/search/index"
)

// rebuildAndRunCommand builds this program again, with the search indexes that the flags name. Then it runs the new
// program with the name of the flag set fl as the command (the command "bare") and with the same flags.
func (w *indexBuild) rebuildAndRunCommand(ctx context.Context, b *bench, fl *flag.FlagSet) error {
	dir, remove, err := b.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	args := []string{"run", "-overlay", filepath.Join(dir, "overlay.json")}
	o := buildOverlay{generatedFilesDir: dir, replacedFiles: map[string]string{}}
	if w.prototypeModuleDir != "" {
		mod, err := o.writeGoMod(w.prototypeModuleDir)
		if err != nil {
			return fmt.Errorf("adding the prototype: %w", err)
		}
		args = append(args, "-modfile", mod)
	}
	if err := o.addComparedIndexes(w); err != nil {
		return fmt.Errorf("adding engines: %w", err)
	}
	args = append(args, ".", fl.Name())
	fl.Visit(func(f *flag.Flag) { args = append(args, "--"+f.Name+"="+f.Value.String()) })
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = b.out, b.log
	return cmd.Run()
}

// buildOverlay is a set of files that replace other files in a build.
type buildOverlay struct {
	generatedFilesDir string // directory of the generated files
	replacedFiles     map[string]string
	fileCount         int
}

// writeGoMod writes a copy of go.mod and of go.sum into o.generatedFilesDir, and returns the path of the new go.mod.
// The new go.mod also requires the module in prototypeDir, which contains the prototype of an index.
func (o *buildOverlay) writeGoMod(prototypeDir string) (string, error) {
	prototypeDir, err := filepath.Abs(prototypeDir)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if name == "go.mod" {
			b = fmt.Appendf(b, "\nrequire perf/proto v0.0.0\n\nreplace perf/proto => %s\n", prototypeDir)
		}
		if err := os.WriteFile(filepath.Join(o.generatedFilesDir, name), b, 0o600); err != nil {
			return "", err
		}
	}
	return filepath.Join(o.generatedFilesDir, "go.mod"), nil
}

// addComparedIndexes adds the source files of the requested search indexes to the build, and writes the overlay file
// for the go command.
func (o *buildOverlay) addComparedIndexes(w *indexBuild) error {
	var kept []string // names of the conditional sections in others.go.txt that are used
	if w.prototypeModuleDir != "" {
		kept = append(kept, "PROTOTYPE")
		if err := o.copyFile(filepath.Join(indexTemplatesDir, "prototype.go.txt"), "bareprototype.go"); err != nil {
			return err
		}
	}
	if w.earlierCheckoutDir != "" {
		kept = append(kept, "BEFORE")
		if err := o.copyFile(filepath.Join(indexTemplatesDir, "before.go.txt"), "barebefore.go"); err != nil {
			return err
		}
		if err := o.copyPackage(
			filepath.Join(w.earlierCheckoutDir, "internal/search/index"),
			filepath.Join(indexDir, "before"),
		); err != nil {
			return err
		}
		if err := o.copyPackage(ownindexDir, filepath.Join(ownindexDir, "before"), indexImportPath, indexImportPath+"/before"); err != nil {
			return err
		}
	}
	b, err := os.ReadFile(filepath.Join(indexTemplatesDir, "others.go.txt"))
	if err != nil {
		return err
	}
	if err := o.writeFile(comparedIndexesFile, []byte(keepSelectedIndexLines(string(b), kept))); err != nil {
		return err
	}
	b, err = json.Marshal(map[string]any{"Replace": o.replacedFiles})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.generatedFilesDir, "overlay.json"), b, 0o600)
}

// keepSelectedIndexLines removes the lines that begin with the name of an engine that is not in kept. From a line that
// begins with the name of an engine in kept, it removes only this name.
func keepSelectedIndexLines(text string, kept []string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, "\t")
		switch {
		case !ok || name == "" || strings.ToUpper(name) != name:
			b.WriteString(line)
		case slices.Contains(kept, name):
			b.WriteString(rest)
		}
	}
	return b.String()
}

// copyPackage adds a package's Go files to the overlay as another package, without tests. replacementPairs contains
// the texts to replace, each followed by its replacement.
func (o *buildOverlay) copyPackage(from, to string, replacementPairs ...string) error {
	names, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil {
		return err
	}
	n := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := o.writeFile(
			filepath.Join(to, filepath.Base(name)),
			[]byte(strings.NewReplacer(replacementPairs...).Replace(string(b))),
		); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return fmt.Errorf("there is no package in %s", from)
	}
	return nil
}

// copyFile adds a copy of a file to the build. The parameter from is the path of the file to copy. The parameter
// replacedPath is the path of the file that the copy replaces in the build.
func (o *buildOverlay) copyFile(from, replacedPath string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return o.writeFile(replacedPath, b)
}

// writeFile makes the build read the given content instead of a source file. The first argument is the path of the
// source file, which need not exist.
func (o *buildOverlay) writeFile(replacedPath string, content []byte) error {
	replacedPath, err := filepath.Abs(replacedPath)
	if err != nil {
		return err
	}
	o.fileCount++
	at := filepath.Join(o.generatedFilesDir, fmt.Sprintf("%d.go", o.fileCount))
	o.replacedFiles[replacedPath] = at
	return os.WriteFile(at, content, 0o600)
}
