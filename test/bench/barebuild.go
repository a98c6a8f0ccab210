// This file builds the command bare with other engines: it replaces files (go run -overlay)
// and uses a separate go.mod (-modfile), so that this module does not depend on the engines.
//
//	--before DIR     internal/search/index of another checkout, such as
//	                 git worktree add DIR HEAD~3
//	--prototype DIR  a module perf/proto with NewDyn's engine: FromIndex(Build(…)),
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

// bareBuild says which search indexes the command bare compares with oxbow's index. They must be built into the
// program.
type bareBuild struct {
	beforeDir    string // path to another checkout of this repository, or ""
	prototypeDir string // path of the module perf/proto, or ""
}

// hasMissingEngine reports whether the user requested a search index that this program does not contain.
func (w *bareBuild) hasMissingEngine(built []bareOther) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(built, func(o bareOther) bool { return o.name == name })
	}
	return (w.beforeDir != "" && !has("before")) || (w.prototypeDir != "" && !has("prototype"))
}

// Paths of packages relative to this module's directory.
const (
	bareDir    = "ownindex"
	indexDir   = "../../internal/search/index"
	othersFile = "bareothers.go"
	pluginsDir = "testdata/bare"
	importBare = "github.com/oxbow-memory/oxbow/test/bench/ownindex"
	importOwn  = "github.com/oxbow-memory/oxbow/internal/search/index"
)

// rebuildAndRun builds the command bare again, with the search indexes that the flags name, and runs it with the same
// flags.
func (w *bareBuild) rebuildAndRun(ctx context.Context, b *bench, fl *flag.FlagSet) error {
	dir, remove, err := b.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	args := []string{"run", "-overlay", filepath.Join(dir, "overlay.json")}
	o := overlay{dir: dir, replacedFiles: map[string]string{}}
	if w.prototypeDir != "" {
		mod, err := o.writeGoMod(w.prototypeDir)
		if err != nil {
			return fmt.Errorf("adding the prototype: %w", err)
		}
		args = append(args, "-modfile", mod)
	}
	if err := o.addEngines(w); err != nil {
		return fmt.Errorf("adding engines: %w", err)
	}
	args = append(args, ".", fl.Name())
	fl.Visit(func(f *flag.Flag) { args = append(args, "--"+f.Name+"="+f.Value.String()) })
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = b.out, b.log
	return cmd.Run()
}

// overlay is a set of files that replace other files in a build.
type overlay struct {
	dir           string // directory of the generated files
	replacedFiles map[string]string
	fileCount     int
}

// writeGoMod writes a copy of go.mod that also requires the module with the prototype of an index, and returns its
// path.
func (o *overlay) writeGoMod(prototype string) (string, error) {
	prototype, err := filepath.Abs(prototype)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if name == "go.mod" {
			b = fmt.Appendf(b, "\nrequire perf/proto v0.0.0\n\nreplace perf/proto => %s\n", prototype)
		}
		if err := os.WriteFile(filepath.Join(o.dir, name), b, 0o600); err != nil {
			return "", err
		}
	}
	return filepath.Join(o.dir, "go.mod"), nil
}

// addEngines adds the source files of the requested search indexes to the build, and writes the overlay file for the
// go command.
func (o *overlay) addEngines(w *bareBuild) error {
	var kept []string // names of the conditional sections in others.go.txt that are used
	if w.prototypeDir != "" {
		kept = append(kept, "PROTOTYPE")
		if err := o.copyFile(filepath.Join(pluginsDir, "prototype.go.txt"), "bareprototype.go"); err != nil {
			return err
		}
	}
	if w.beforeDir != "" {
		kept = append(kept, "BEFORE")
		if err := o.copyFile(filepath.Join(pluginsDir, "before.go.txt"), "barebefore.go"); err != nil {
			return err
		}
		if err := o.copyPackage(
			filepath.Join(w.beforeDir, "internal/search/index"),
			filepath.Join(indexDir, "before"),
		); err != nil {
			return err
		}
		if err := o.copyPackage(bareDir, filepath.Join(bareDir, "before"), importOwn, importOwn+"/before"); err != nil {
			return err
		}
	}
	b, err := os.ReadFile(filepath.Join(pluginsDir, "others.go.txt"))
	if err != nil {
		return err
	}
	if err := o.writeFile(othersFile, []byte(keepEngineLines(string(b), kept))); err != nil {
		return err
	}
	b, err = json.Marshal(map[string]any{"Replace": o.replacedFiles})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.dir, "overlay.json"), b, 0o600)
}

// keepEngineLines removes the lines that begin with the name of an engine that is not in kept. From a line that begins
// with the name of an engine in kept, it removes only this name.
func keepEngineLines(text string, kept []string) string {
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

// copyPackage adds a package's Go files to the overlay as another package, without tests. words are pairs of a text
// and its replacement.
func (o *overlay) copyPackage(from, to string, words ...string) error {
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
			[]byte(strings.NewReplacer(words...).Replace(string(b))),
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

// copyFile makes the build use a copy of the file from in place of the file as.
func (o *overlay) copyFile(from, as string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return o.writeFile(as, b)
}

// writeFile makes the build use a file with this content in place of the file as, which need not exist.
func (o *overlay) writeFile(as string, content []byte) error {
	as, err := filepath.Abs(as)
	if err != nil {
		return err
	}
	o.fileCount++
	at := filepath.Join(o.dir, fmt.Sprintf("%d.go", o.fileCount))
	o.replacedFiles[as] = at
	return os.WriteFile(at, content, 0o600)
}
