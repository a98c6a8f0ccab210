// This file checks the files of a release: the checksums, and each program's modules and build settings.

package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checksumsFile is the file that lists the SHA-256 of each other file in a release.
const checksumsFile = "checksums.txt"

// downloadURL returns the URL of the directory from which GitHub serves the release's files.
func (r release) downloadURL() string {
	return "https://github.com/oxbow-memory/oxbow/releases/download/v" + r.version + "/"
}

// checkFiles checks the checksums of all files and the program for each platform, and prints the results. It continues
// after an error and returns all errors.
func (r release) checkFiles() error {
	count, err := r.checkFileHashes()
	fmt.Printf("%s: %d files\n", checksumsFile, count)
	for _, b := range r.binaries {
		modules, size, berr := r.checkBinary(b)
		fmt.Printf("%s/%s: %.1f MB, %d modules in its SBOM\n", b.GOOS, b.GOARCH, float64(size)/1e6, modules)
		if berr != nil {
			err = errors.Join(err, fmt.Errorf("%s/%s: %w", b.GOOS, b.GOARCH, berr))
		}
	}
	return err
}

// checkFileHashes compares the release's files with the checksums in the checksum file. It returns the number of files
// that the checksum file lists. These are errors: a file has another checksum, a file is listed twice, or a file of the
// release is not listed.
func (r release) checkFileHashes() (int, error) {
	b, err := os.ReadFile(filepath.Join(r.distDir, checksumsFile))
	if err != nil {
		return 0, err
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if listed[name] {
			err = errors.Join(err, fmt.Errorf("%s is listed twice", name))
		}
		listed[name] = true
		err = errors.Join(err, checkHash(filepath.Join(r.distDir, name), sum))
	}
	files, rerr := os.ReadDir(r.distDir)
	for _, f := range files {
		switch f.Name() {
		case checksumsFile, "config.yaml", "metadata.json", "artifacts.json":
			continue
		}
		if !f.IsDir() && !listed[f.Name()] {
			err = errors.Join(err, fmt.Errorf("%s does not list %s", checksumsFile, f.Name()))
		}
	}
	return len(listed), errors.Join(err, rerr)
}

// checkHash returns an error if the SHA-256 of the file differs from wantHash, or if the file cannot be read. wantHash
// contains hexadecimal digits.
func checkHash(path, wantHash string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != wantHash {
		return fmt.Errorf("the checksum of %s is %s, not %s", filepath.Base(path), got, wantHash)
	}
	return nil
}

// checkBinary checks that a program was built with -trimpath, without cgo, and from a known revision. For Linux, it
// also checks that the program has no symbols, because it must be built with -s and -w. It checks that the program's
// SBOM lists each module in the program. It returns the number of modules and the program's size.
func (r release) checkBinary(b builtProgram) (modules int, size int64, err error) {
	path := b.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.root, path)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	size = int64(len(program))
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return 0, size, err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	// With -trimpath, the build information does not contain -ldflags. Therefore checkHasNoSymbols below detects the
	// flags -s and -w, which remove the symbol tables.
	isReproducible := settings["-trimpath"] == "true" && settings["CGO_ENABLED"] == "0"
	if !isReproducible || settings["vcs.revision"] == "" {
		err = fmt.Errorf("it was built with %v", settings)
	}
	if b.GOOS == "linux" {
		err = errors.Join(err, checkHasNoSymbols(program))
	}
	document, rerr := os.ReadFile(filepath.Join(r.distDir,
		fmt.Sprintf("oxbow_%s_%s_%s.cdx.json", r.version, b.GOOS, b.GOARCH)))
	if rerr != nil {
		return 0, size, errors.Join(err, rerr)
	}
	var sbom struct {
		Format     string `json:"bomFormat"`
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(document, &sbom); err != nil {
		return 0, size, err
	}
	listed := map[string]string{}
	for _, c := range sbom.Components {
		listed[c.Name] = c.Version
	}
	for _, m := range info.Deps {
		if listed[m.Path] == "" {
			err = errors.Join(err, fmt.Errorf("the SBOM does not list %s", m.Path))
		}
	}
	if sbom.Format != "CycloneDX" {
		err = errors.Join(err, fmt.Errorf("the SBOM has the format %q", sbom.Format))
	}
	return len(info.Deps), size, err
}

// checkHasNoSymbols returns an error if a Linux program contains a symbol table or debugging information.
func checkHasNoSymbols(program []byte) error {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return err
	}
	for _, s := range f.Sections {
		isDebugging := strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_")
		if s.Name == ".symtab" || isDebugging {
			return fmt.Errorf("it has a section %s", s.Name)
		}
	}
	return nil
}
