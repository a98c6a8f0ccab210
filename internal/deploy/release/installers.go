// This file installs each kind of package into an empty directory.

package main

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/setup"
)

func installArchive(r release, dir string) (installedProgram, error) {
	if _, err := runProgram(dir, "tar", "-xzf", r.packagePath(".tar.gz")); err != nil {
		return installedProgram{}, err
	}
	program := filepath.Join(dir, "oxbow")
	return installedProgram{
			commandLine:  []string{program},
			typedCommand: program,
			environment:  []string{},
		}, errors.Join(
			checkFilesExist(dir, "LICENSE", "NOTICE", "man/oxbow.1", "completions/oxbow.bash", "completions/_oxbow",
				"completions/oxbow.fish", "completions/oxbow.ps1"),
			checkOutputContains(dir, []string{"OXBOW-RECALL"}, "man", "-l", "-P", "cat", "man/oxbow-recall.1"),
		)
}

// linuxPackageFiles are the files that the deb and rpm packages install, except the program.
var linuxPackageFiles = []string{"usr/share/man/man1/oxbow.1", "usr/share/man/man1/oxbow-recall.1",
	"usr/share/bash-completion/completions/oxbow",
	"usr/share/fish/vendor_completions.d/oxbow.fish", "usr/share/zsh/vendor-completions/_oxbow",
	"usr/share/doc/oxbow/copyright"}

// installDeb installs the deb package into a separate root directory. The option --force-not-root lets dpkg do this
// without the rights of root.
func installDeb(r release, dir string) (installedProgram, error) {
	root := filepath.Join(dir, "root")
	dpkg := []string{"dpkg", "--root=" + root, "--force-not-root"}
	if err := createDpkgRoot(root); err != nil {
		return installedProgram{}, err
	}
	if _, err := runProgram(dir, append(dpkg, "-i", r.packagePath(".deb"))...); err != nil {
		return installedProgram{}, err
	}
	program := filepath.Join(root, "usr/bin/oxbow")
	// The commands in the installation guide, which are run later, call sudo and dpkg. Replace both by scripts that
	// need no root rights and install into a separate directory.
	clean, stubs := filepath.Join(dir, "clean-root"), filepath.Join(dir, "stubs")
	path := filepath.Join(clean, "usr/bin") + ":" + stubs + ":" + os.Getenv("PATH")
	real, err := exec.LookPath("dpkg")
	err = errors.Join(err, createDpkgRoot(clean), os.Mkdir(stubs, 0o755),
		os.WriteFile(filepath.Join(stubs, "sudo"), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755),
		os.WriteFile(filepath.Join(stubs, "dpkg"),
			[]byte("#!/bin/sh\nexec "+real+" --root='"+clean+"' --force-not-root \"$@\"\n"), 0o755),
		checkFilesExist(root, linuxPackageFiles...))
	return installedProgram{
		commandLine: []string{program}, typedCommand: program, environment: []string{"PATH=" + path},
		uninstall: func() error {
			return errors.Join(
				checkOutputContains(dir, nil, append(dpkg, "-r", "oxbow")...),
				checkFileRemoved(program),
			)
		},
	}, err
}

// createDpkgRoot creates a root directory in which dpkg has not installed any package.
func createDpkgRoot(root string) error {
	var err error
	for _, d := range []string{"info", "updates"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(root, "var/lib/dpkg", d), 0o755))
	}
	for _, f := range []string{"status", "available"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(root, "var/lib/dpkg", f), nil, 0o644))
	}
	return err
}

// installRPM installs the rpm package into a separate root directory with its own database. rpm requires the rights of
// root for this. For other users, installRPM only unpacks the package.
func installRPM(r release, dir string) (installedProgram, error) {
	root := filepath.Join(dir, "root")
	program := filepath.Join(root, "usr/bin/oxbow")
	installed := installedProgram{commandLine: []string{program}, typedCommand: program}
	if err := os.Mkdir(root, 0o755); err != nil {
		return installed, err
	}
	if os.Getuid() == 0 {
		rpm := []string{"rpm", "--root", root, "--dbpath", "/var/lib/rpm"}
		// On Debian, the rpm database is empty, so the requirements of the package cannot be fulfilled.
		if _, err := runProgram(dir, append(rpm, "--nodeps", "-i", r.packagePath(".rpm"))...); err != nil {
			return installed, err
		}
		installed.uninstall = func() error {
			return errors.Join(
				checkOutputContains(dir, []string{"oxbow"}, append(rpm, "-q", "oxbow")...),
				checkOutputContains(dir, nil, append(rpm, "--nodeps", "-e", "oxbow")...), checkFileRemoved(program))
		}
		return installed, checkFilesExist(root, linuxPackageFiles...)
	}
	// The package contains absolute paths. Without --no-absolute-filenames, cpio would install the files on this
	// machine.
	const unpack = `rpm2cpio "$0" | cpio -idm --quiet --no-absolute-filenames`
	_, err := runProgram(root, "sh", "-c", unpack, r.packagePath(".rpm"))
	return installed, errors.Join(err, checkFilesExist(root, linuxPackageFiles...))
}

func installNPM(r release, dir string) (installedProgram, error) {
	t := setup.Target{OS: runtime.GOOS, Arch: runtime.GOARCH}
	launcher := filepath.Join(r.distDir, npmFileName("oxbow", r.version))
	program := filepath.Join(r.distDir, npmFileName(t.NPMPackage(), r.version))
	installed := installedProgram{
		commandLine:  []string{"npx", "--offline", "oxbow"},
		typedCommand: "npx oxbow",
		environment:  []string{"npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false"},
		uninstall:    func() error { return checkLauncher(dir, t.NPMPackage()) },
	}
	_, err := runProgram(dir, "npm", "install", "--offline", "--no-audit", "--no-fund", program, launcher)
	return installed, err
}

// checkLauncher checks the npm launcher: it must return the program's exit status, and print a message if the program
// is missing.
func checkLauncher(dir, programPackage string) error {
	got, err := runProgram(dir, "npx", "--offline", "oxbow", "get", "nosuch")
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 1 {
		return fmt.Errorf("the launcher lost the exit status of get: %v: %s", err, got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "node_modules", programPackage)); err != nil {
		return err
	}
	got, err = runProgram(dir, "npx", "--offline", "oxbow", "version")
	if err == nil || !strings.Contains(got, programPackage+" is not installed") {
		return fmt.Errorf("without its program the launcher prints %q, %v", got, err)
	}
	return nil
}

// mcpHandshake contains the first messages from a client to an MCP server. The messages initialize the connection and
// request the list of tools.
const mcpHandshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"try","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// installBundle unpacks the bundle and checks that its server answers a client.
func installBundle(r release, dir string) (installedProgram, error) {
	bundle := filepath.Join(dir, "bundle")
	if err := extractZip(r.packagePath(".mcpb"), bundle); err != nil {
		return installedProgram{}, err
	}
	argv, err := prepareBundleCommand(bundle)
	if err != nil {
		return installedProgram{}, err
	}
	installed := installedProgram{commandLine: argv[:1], typedCommand: argv[0]}
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = []string{"HOME=" + dir, "PATH="}
	c.Stdin = strings.NewReader(mcpHandshake)
	var told bytes.Buffer
	c.Stderr = &told
	answers, err := c.Output()
	if err != nil {
		return installed, fmt.Errorf("%q: %w: %s", argv, err, told.String())
	}
	if !bytes.Contains(answers, []byte(`"name":"recall"`)) {
		return installed, fmt.Errorf("the server lists no tool recall: %s", answers)
	}
	return installed, nil
}

func extractZip(file, dir string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	return errors.Join(os.CopyFS(dir, z), z.Close())
}

// installByScript runs install.sh with a download server on this machine. It also checks that the script installs
// nothing if the checksum is wrong or missing.
func installByScript(r release, dir string) (installedProgram, error) {
	archive := filepath.Base(r.packagePath(".tar.gz"))
	for name, change := range map[string]func(string) string{
		"broken": func(s string) string {
			at := strings.Index(s, "  "+archive)
			return s[:at-64] + strings.Repeat("0", 64) + s[at:]
		},
		"unlisted": func(s string) string { return strings.ReplaceAll(s, archive, "other.tar.gz") },
	} {
		program, told, err := r.runInstallScript(filepath.Join(dir, name), change)
		if err == nil || !strings.Contains(told, "checksum") {
			return installedProgram{}, fmt.Errorf("with %s checksums install.sh prints %q, %v", name, told, err)
		}
		if err := checkFileRemoved(program); err != nil {
			return installedProgram{}, err
		}
	}
	program, told, err := r.runInstallScript(filepath.Join(dir, "bin"), func(s string) string { return s })
	if err == nil && !strings.Contains(told, "next: "+program+" demo") {
		err = fmt.Errorf("install.sh prints %q, want the next command with %s", told, program)
	}
	return installedProgram{commandLine: []string{program}, typedCommand: program}, err
}

// runInstallScript runs install.sh so that it installs the program into installDir. changeChecksums may modify the
// checksums that the script downloads. runInstallScript returns the installed program's path and the output of the
// script.
func (r release) runInstallScript(
	installDir string,
	changeChecksums func(sums string) string,
) (program, output string, err error) {
	files := http.FileServerFS(os.DirFS(r.distDir))
	sums, err := os.ReadFile(filepath.Join(r.distDir, checksumsFile))
	if err != nil {
		return "", "", err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/"+checksumsFile {
			io.WriteString(w, changeChecksums(string(sums)))
			return
		}
		files.ServeHTTP(w, q)
	}))
	defer server.Close()
	output, err = runProgramInDir(
		filepath.Dir(installDir),
		[]string{"OXBOW_BASE_URL=" + server.URL, "OXBOW_INSTALL_DIR=" + installDir,
			"no_proxy=127.0.0.1"},
		"sh",
		filepath.Join(r.distDir, "install.sh"),
	)
	return filepath.Join(installDir, "oxbow"), output, err
}

//go:embed formula.rb
var formulaRunnerScript string

// installFormula installs by the Homebrew formula. A script emulates the parts of Homebrew that the formula uses.
func installFormula(r release, dir string) (installedProgram, error) {
	runner, prefix := filepath.Join(dir, "runner.rb"), filepath.Join(dir, "prefix")
	if err := os.WriteFile(runner, []byte(formulaRunnerScript), 0o600); err != nil {
		return installedProgram{}, err
	}
	formula := filepath.Join(r.distDir, "homebrew", "oxbow.rb")
	if _, err := runProgram(dir, "ruby", "-wc", formula); err != nil {
		return installedProgram{}, err
	}
	program := filepath.Join(prefix, "bin/oxbow")
	_, err := runProgram(dir, "ruby", runner, formula, r.distDir, r.downloadURL(), r.version, prefix)
	return installedProgram{
			commandLine:  []string{program},
			typedCommand: program,
		}, errors.Join(
			err,
			checkFilesExist(prefix,
				"share/man/man1/oxbow.1", "etc/bash_completion.d/oxbow", "share/zsh/site-functions/_oxbow",
				"share/fish/vendor_completions.d/oxbow.fish"),
		)
}

// installImage loads the container image with buildah, which needs no daemon. The command line in the result runs the
// image's program.
func installImage(r release, dir string) (installedProgram, error) {
	buildah := []string{"buildah", "--root", filepath.Join(dir, "images"), "--runroot", filepath.Join(dir, "run"),
		"--storage-driver", "vfs"}
	const container = "oxbow-try"
	_, err := runProgram(
		dir,
		append(buildah, "from", "--name", container, "oci-archive:"+r.packagePath(imageSuffix))...)
	return installedProgram{
		commandLine:  append(buildah, "run", "--isolation", "chroot", container, "--", "/oxbow"),
		typedCommand: "/oxbow",
		uninstall: func() error {
			_, err := runProgram(dir, append(buildah, "rm", container)...)
			return err
		},
	}, err
}

// installScoop installs oxbow in dir as the Scoop manifest describes: it compares the checksum of the Windows archive
// with the manifest, and unpacks the archive. The function runDemo in the result runs the program under Wine, by the
// command in internal/deploy/wine.
func installScoop(r release, dir string) (installedProgram, error) {
	b, err := os.ReadFile(filepath.Join(r.distDir, "scoop", "oxbow.json"))
	if err != nil {
		return installedProgram{}, fmt.Errorf("%w; the release needs the target windows_amd64", err)
	}
	var manifest struct {
		Version, Homepage, License, Description string
		Architecture                            map[string]struct {
			URL, Hash string
			Bin       []string
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&manifest); err != nil {
		return installedProgram{}, err
	}
	x := manifest.Architecture["64bit"]
	if manifest.Version != r.version || len(x.Bin) != 1 {
		return installedProgram{}, fmt.Errorf(
			"the manifest has version %q and the programs %q",
			manifest.Version,
			x.Bin,
		)
	}
	name, isHere := strings.CutPrefix(x.URL, r.downloadURL())
	if !isHere {
		return installedProgram{}, fmt.Errorf("the manifest refers to %s, not to a file in %s", x.URL, r.downloadURL())
	}
	if err := checkHash(filepath.Join(r.distDir, name), x.Hash); err != nil {
		return installedProgram{}, err
	}
	place := filepath.Join(dir, "scoop")
	err = errors.Join(
		extractZip(filepath.Join(r.distDir, name), place),
		checkFilesExist(place, "completions/oxbow.ps1", "LICENSE"),
	)
	return installedProgram{runDemo: func() error {
		c := exec.Command("go", "run", "./internal/deploy/wine", "--program", filepath.Join(place, x.Bin[0]))
		c.Dir = r.root
		printed, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, printed)
		}
		return nil
	}}, err
}
