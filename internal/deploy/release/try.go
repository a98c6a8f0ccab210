// This file installs the packages of a release into empty directories and runs the demo from each.

package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/setup"
)

// trial tries one way to install oxbow.
type trial struct {
	name  string
	needs []string // programs
	run   func(r release, dir string) error
}

var trials = []trial{
	{"archive", []string{"tar", "man"}, tryArchive},
	{"deb", []string{"dpkg-deb", "dpkg"}, tryDeb},
	{"rpm", []string{"sh", "rpm2cpio", "cpio"}, tryRPM},
	{"npm", []string{"npm", "npx", "node"}, tryNPM},
	{"mcpb", nil, tryBundle},
	{"install.sh", []string{"sh", "curl", "tar"}, tryInstallScript},
}

// try runs all trials. A trial whose program is missing fails.
func try(dist string) error {
	r, err := readRelease(dist)
	if err != nil {
		return err
	}
	var failed error
	for _, t := range trials {
		if err := r.tryOne(t); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", t.name, err))
			fmt.Printf("FAILED %s: %v\n", t.name, err)
			continue
		}
		fmt.Printf("ok     %s\n", t.name)
	}
	return failed
}

func (r release) tryOne(t trial) error {
	for _, program := range t.needs {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("not tried: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "oxbow-try-")
	if err != nil {
		return err
	}
	return errors.Join(t.run(r, dir), os.RemoveAll(dir))
}

// file returns the path of a file of the release for this machine.
func (r release) file(end string) string {
	return filepath.Join(r.dist, fmt.Sprintf("oxbow_%s_linux_%s%s", r.version, runtime.GOARCH, end))
}

// output runs a program in dir, as a user who has nothing but PATH and a home there.
func output(dir string, argv ...string) (string, error) { return outputWith(dir, nil, argv...) }

func outputWith(dir string, variables []string, argv ...string) (string, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append(variables, "HOME="+dir, "PATH="+os.Getenv("PATH"), "npm_config_update_notifier=false")
	b, err := c.CombinedOutput()
	if err != nil {
		return string(b), fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, b)
	}
	return string(b), nil
}

// wantOutput runs a program and returns an error unless it prints all the words.
func wantOutput(dir string, words []string, argv ...string) error {
	got, err := output(dir, argv...)
	if err != nil {
		return err
	}
	for _, w := range words {
		if !strings.Contains(got, w) {
			return fmt.Errorf("%s does not print %q, but %q", strings.Join(argv, " "), w, got)
		}
	}
	return nil
}

// wantDemo runs the demo and the first commands of a new memory. typed is what their messages name.
func wantDemo(dir, typed string, program ...string) error {
	run := func(words ...string) []string { return slices.Concat(program, words) }
	return errors.Join(
		wantOutput(dir, []string{"undid 1 change", "Now yours: " + typed + " init"}, run("demo")...),
		wantOutput(dir, []string{"revision ", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH},
			run("version")...),
		wantOutput(dir, []string{"  " + typed + " recall tabs"}, run("init")...),
		wantOutput(dir, []string{"remembered style"}, run("remember", "style", "Tabs, not spaces.")...),
		wantOutput(dir, []string{"Tabs, not spaces."}, run("recall", "tabs")...),
		wantOutput(dir, []string{"sound"}, run("check")...),
	)
}

// wantFiles returns an error unless all files exist and are not empty.
func wantFiles(dir string, names ...string) error {
	for _, name := range names {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if fi.Size() == 0 {
			return fmt.Errorf("%s is empty", name)
		}
	}
	return nil
}

func tryArchive(r release, dir string) error {
	if _, err := output(dir, "tar", "-xzf", r.file(".tar.gz")); err != nil {
		return err
	}
	program := filepath.Join(dir, "oxbow")
	return errors.Join(
		wantFiles(dir, "LICENSE", "NOTICE", "man/oxbow.1", "completions/oxbow.bash", "completions/_oxbow",
			"completions/oxbow.fish", "completions/oxbow.ps1"),
		wantOutput(dir, []string{"OXBOW-RECALL"}, "man", "-l", "-P", "cat", "man/oxbow-recall.1"),
		wantDemo(dir, program, program),
	)
}

// linuxFiles are the files of the deb and the rpm package beside the program.
var linuxFiles = []string{"usr/share/man/man1/oxbow.1", "usr/share/bash-completion/completions/oxbow",
	"usr/share/fish/vendor_completions.d/oxbow.fish", "usr/share/zsh/vendor-completions/_oxbow",
	"usr/share/doc/oxbow/copyright"}

func tryDeb(r release, dir string) error {
	root := filepath.Join(dir, "root")
	for _, d := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", d), 0o755); err != nil {
			return err
		}
	}
	for _, f := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg", f), nil, 0o644); err != nil {
			return err
		}
	}
	// dpkg installs into another root directory. It needs the right to do so, which a test machine gives to root.
	if _, err := output(dir, "dpkg", "--root="+root, "--force-not-root", "-i", r.file(".deb")); err != nil {
		return err
	}
	program := filepath.Join(root, "usr/bin/oxbow")
	return errors.Join(
		wantFiles(root, linuxFiles...),
		wantDemo(dir, program, program),
		wantOutput(dir, nil, "dpkg", "--root="+root, "--force-not-root", "-r", "oxbow"),
		wantGone(program),
	)
}

func wantGone(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is still there (%v)", path, err)
	}
	return nil
}

func tryRPM(r release, dir string) error {
	// The paths in the package are absolute. Without the flag, cpio would install it on this machine.
	const unpack = `rpm2cpio "$0" | cpio -idm --quiet --no-absolute-filenames`
	if _, err := output(dir, "sh", "-c", unpack, r.file(".rpm")); err != nil {
		return err
	}
	program := filepath.Join(dir, "usr/bin/oxbow")
	return errors.Join(wantFiles(dir, linuxFiles...), wantDemo(dir, program, program))
}

func tryNPM(r release, dir string) error {
	t := setup.Target{OS: runtime.GOOS, Arch: runtime.GOARCH}
	launcher := filepath.Join(r.dist, npmFile("oxbow", r.version))
	program := filepath.Join(r.dist, npmFile(t.NPMPackage(), r.version))
	if _, err := output(dir, "npm", "install", "--offline", "--no-audit", "--no-fund", program, launcher); err != nil {
		return err
	}
	if err := wantDemo(dir, "npx oxbow", "npx", "--offline", "oxbow"); err != nil {
		return err
	}
	got, err := output(dir, "npx", "--offline", "oxbow", "get", "nosuch")
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 1 {
		return fmt.Errorf("the launcher lost the exit status of get: %v: %s", err, got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "node_modules", t.NPMPackage())); err != nil {
		return err
	}
	got, err = output(dir, "npx", "--offline", "oxbow", "version")
	if err == nil || !strings.Contains(got, t.NPMPackage()+" is not installed") {
		return fmt.Errorf("without its program the launcher prints %q, %v", got, err)
	}
	return nil
}

// handshake is what a client sends to an MCP server first.
const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"try","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

func tryBundle(r release, dir string) error {
	z, err := zip.OpenReader(r.file(".mcpb"))
	if err != nil {
		return err
	}
	defer z.Close()
	if err := os.CopyFS(filepath.Join(dir, "bundle"), z); err != nil {
		return err
	}
	bundle := filepath.Join(dir, "bundle")
	argv, err := bundleCommand(bundle)
	if err != nil {
		return err
	}
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = []string{"HOME=" + dir, "PATH="}
	c.Stdin = strings.NewReader(handshake)
	var told bytes.Buffer
	c.Stderr = &told
	answers, err := c.Output()
	if err != nil {
		return fmt.Errorf("%q: %w: %s", argv, err, told.String())
	}
	if !bytes.Contains(answers, []byte(`"name":"recall"`)) {
		return fmt.Errorf("the server lists no tool recall: %s", answers)
	}
	return wantDemo(dir, argv[0], argv[0])
}

func tryInstallScript(r release, dir string) error {
	files := http.FileServerFS(os.DirFS(r.dist))
	sums, err := os.ReadFile(filepath.Join(r.dist, "checksums.txt"))
	if err != nil {
		return err
	}
	install := func(name string, change func(sums string) string) (program, told string, err error) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/checksums.txt" {
				io.WriteString(w, change(string(sums)))
				return
			}
			files.ServeHTTP(w, q)
		}))
		defer server.Close()
		place := filepath.Join(dir, name)
		told, err = outputWith(dir, []string{"OXBOW_BASE_URL=" + server.URL, "OXBOW_INSTALL_DIR=" + place,
			"no_proxy=127.0.0.1"}, "sh", filepath.Join(r.dist, "install.sh"))
		return filepath.Join(place, "oxbow"), told, err
	}
	archive := filepath.Base(r.file(".tar.gz"))
	for name, change := range map[string]func(string) string{
		"broken": func(s string) string {
			at := strings.Index(s, "  "+archive)
			return s[:at-64] + strings.Repeat("0", 64) + s[at:]
		},
		"unlisted": func(s string) string { return strings.ReplaceAll(s, archive, "other.tar.gz") },
	} {
		program, told, err := install(name, change)
		if err == nil || !strings.Contains(told, "checksum") {
			return fmt.Errorf("with %s checksums install.sh prints %q, %v", name, told, err)
		}
		if err := wantGone(program); err != nil {
			return err
		}
	}
	program, told, err := install("bin", func(s string) string { return s })
	if err != nil {
		return err
	}
	if !strings.Contains(told, "next: "+program+" demo") {
		return fmt.Errorf("install.sh prints %q, want the next command with %s", told, program)
	}
	return wantDemo(dir, program, program)
}
