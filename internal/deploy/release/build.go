// This file builds a release. goreleaser builds the programs, archives and Linux packages, and this program builds all
// other files.

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra/doc"
	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/cli"
	"github.com/oxbow-memory/oxbow/internal/setup"
)

//go:embed install.sh
var installScript string

// configFile is goreleaser's configuration file in the root of the repository.
const configFile = ".goreleaser.yaml"

// builtProgram is a program that goreleaser built, as described in goreleaser's artifacts.json.
type builtProgram struct {
	Type   string `json:"type"`
	Path   string `json:"path"`
	GOOS   string `json:"goos"`
	GOARCH string `json:"goarch"`
}

func (b builtProgram) releaseTarget() setup.Target { return setup.Target{OS: b.GOOS, Arch: b.GOARCH} }

func buildRelease(root, distDir, targetList string) error {
	// The directory is in the repository because goreleaser packs only files below the repository. Git ignores this
	// directory.
	tmp, err := os.MkdirTemp(root, ".release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := writeManuals(filepath.Join(tmp, "man")); err != nil {
		return err
	}
	if err := writeCompletions(filepath.Join(tmp, "completions")); err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join(root, configFile))
	if err != nil {
		return err
	}
	config, err := configForTargets(source, distDir, targetList)
	if err != nil {
		return err
	}
	path := filepath.Join(tmp, "goreleaser.yaml")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return err
	}
	c := exec.Command("goreleaser", "release", "--snapshot", "--clean", "--parallelism", "1", "--config", path)
	c.Dir = root
	c.Env = append(os.Environ(), "OXBOW_RELEASE_FILES="+filepath.Base(tmp))
	c.Stdout = os.Stdout
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("goreleaser: %w", err)
	}
	return writeNonGoreleaserFiles(root, distDir)
}

// configForTargets returns the goreleaser configuration source with two changes: it writes to the directory distDir,
// and it builds only the platforms in targetList. The platforms are separated by commas. If targetList is empty, all
// platforms are built. A platform that source does not contain is an error.
func configForTargets(source []byte, distDir, targetList string) ([]byte, error) {
	var config map[string]any
	if err := yaml.Unmarshal(source, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	config["dist"] = distDir
	if targetList != "" {
		builds, _ := config["builds"].([]any)
		if len(builds) != 1 {
			return nil, fmt.Errorf("%s has %d builds, want 1", configFile, len(builds))
		}
		first := builds[0].(map[string]any)
		all := first["targets"].([]any)
		wanted := strings.Split(targetList, ",")
		for _, t := range wanted {
			if !slices.Contains(all, any(t)) {
				return nil, fmt.Errorf("there is no target %q; the targets are %v", t, all)
			}
		}
		first["targets"] = wanted
		// Without an archive for Windows, goreleaser cannot write the Scoop manifest.
		if !strings.Contains(targetList, "windows_") {
			delete(config, "scoops")
		}
	}
	return yaml.Marshal(config)
}

// writeManuals writes a manual page for each command to dir.
func writeManuals(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	header := &doc.GenManHeader{Section: "1", Manual: "oxbow", Source: "oxbow"}
	return doc.GenManTree(cli.Commands(), header, dir)
}

// writeCompletions writes the completion scripts for four shells to dir.
func writeCompletions(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for shell, name := range map[string]string{"bash": "oxbow.bash", "fish": "oxbow.fish", "zsh": "_oxbow",
		"powershell": "oxbow.ps1"} {
		script, err := cli.CompletionScript(shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), script, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// release describes the files that goreleaser has written to a directory.
type release struct {
	root, distDir, version string
	binaries               []builtProgram
}

func readRelease(root, distDir string) (release, error) {
	r := release{root: root, distDir: distDir}
	var metadata struct {
		Version string `json:"version"`
	}
	var artifacts []builtProgram
	for name, into := range map[string]any{"metadata.json": &metadata, "artifacts.json": &artifacts} {
		b, err := os.ReadFile(filepath.Join(distDir, name))
		if err != nil {
			return r, fmt.Errorf("%w; go run . --out %s build makes a release", err, distDir)
		}
		if err := json.Unmarshal(b, into); err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
	}
	r.version = metadata.Version
	for _, a := range artifacts {
		if a.Type == "Binary" {
			r.binaries = append(r.binaries, a)
		}
	}
	if len(r.binaries) == 0 {
		return r, errors.New("goreleaser built no program")
	}
	return r, nil
}

// writeNonGoreleaserFiles writes the files that goreleaser does not build: npm packages, bundles, container images,
// server.json and install.sh.
func writeNonGoreleaserFiles(root, distDir string) error {
	r, err := readRelease(root, distDir)
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return err
	}
	notice, err := os.ReadFile(filepath.Join(root, "NOTICE"))
	if err != nil {
		return err
	}
	var targets []setup.Target
	var bundles []setup.PublishedBundle
	var sums strings.Builder
	write := func(name string, content []byte) error {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
		return os.WriteFile(filepath.Join(distDir, name), content, 0o644)
	}
	for _, b := range r.binaries {
		path := b.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		program, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		t := b.releaseTarget()
		targets = append(targets, t)
		npm := map[string][]byte{"package.json": []byte(t.NPMProgramManifest(r.version)), "LICENSE": license,
			"NOTICE": notice, t.Executable(): program}
		bundle := map[string][]byte{"manifest.json": []byte(t.BundleManifest(r.version)), "LICENSE": license,
			"NOTICE": notice, "server/" + t.Executable(): program}
		npmBytes, bundleBytes := npmArchive(npm), zipArchive(bundle)
		name := fmt.Sprintf("oxbow_%s_%s_%s.mcpb", r.version, b.GOOS, b.GOARCH)
		err = errors.Join(write(npmFileName(t.NPMPackage(), r.version), npmBytes), write(name, bundleBytes))
		if err != nil {
			return err
		}
		bundles = append(bundles, setup.PublishedBundle{
			URL:    r.downloadURL() + name,
			SHA256: fmt.Sprintf("%x", sha256.Sum256(bundleBytes)),
		})
		if b.GOOS != "linux" {
			continue
		}
		image, err := r.buildImage(path, b.GOARCH)
		if err == nil {
			err = write(fmt.Sprintf("oxbow_%s_linux_%s%s", r.version, b.GOARCH, imageSuffix), image)
		}
		if err != nil {
			return err
		}
	}
	launcher := map[string][]byte{"LICENSE": license}
	for name, content := range setup.NPMLauncherFiles(r.version, targets) {
		launcher[name] = []byte(content)
	}
	err = errors.Join(
		write(npmFileName("oxbow", r.version), npmArchive(launcher)),
		write("server.json", []byte(setup.RegistryEntry(r.version, bundles))),
		write("install.sh", []byte(strings.ReplaceAll(installScript, "@VERSION@", r.version))),
	)
	if err != nil {
		return err
	}
	return appendFile(filepath.Join(distDir, checksumsFile), sums.String())
}

// imageSuffix ends the file name of a container image.
const imageSuffix = ".oci.tar"

// buildImage returns a container image that contains the program for Linux.
func (r release) buildImage(program, arch string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "oxbow-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "image.tar")
	c := exec.Command("go", "run", "./internal/deploy/image", "--program", program, "--arch", arch,
		"--name", "oxbow:"+r.version, "--out", out)
	c.Dir = r.root
	if printed, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("container image: %w: %s", err, printed)
	}
	return os.ReadFile(out)
}

func npmFileName(name, version string) string { return name + "-" + version + ".tgz" }

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// fileMode returns the permissions of a file in a package.
func fileMode(name string) int64 {
	switch filepath.Ext(name) {
	case "", ".exe", ".js":
		return 0o755
	}
	return 0o644
}

// npmArchive returns an npm package that contains the files. The same files always result in the same package.
func npmArchive(files map[string][]byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{
			Name: "package/" + name, Mode: fileMode(name), Size: int64(len(files[name])), Format: tar.FormatUSTAR,
		}
		panicOnError(w.WriteHeader(h))
		_, err := w.Write(files[name])
		panicOnError(err)
	}
	panicOnError(errors.Join(w.Close(), z.Close()))
	return b.Bytes()
}

// zipArchive returns a zip archive that contains the files. The same files always result in the same archive.
func zipArchive(files map[string][]byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(os.FileMode(fileMode(name)))
		f, err := w.CreateHeader(h)
		panicOnError(err)
		_, err = f.Write(files[name])
		panicOnError(err)
	}
	panicOnError(w.Close())
	return b.Bytes()
}

// panicOnError panics if err is not nil. It is used for writes to memory, which fail only if this program has a bug.
func panicOnError(err error) {
	if err != nil {
		panic(err)
	}
}
