// This file prepares Wine, and runs the program and the tests in it.

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed library/processprng.c
var processPRNGCSource string

// wineInstallation describes an installed Wine and the directories that a run uses.
type wineInstallation struct {
	winePath   string
	repository string
	prefix     string // directory for Wine's own files, such as drive C
	tempDir    string
}

// testUnderWine tests the program at programPath under Wine, and then runs the tests of the packages under Wine. If
// programPath is "", it first builds the program. prefix is the directory for Wine's own files.
func testUnderWine(ctx context.Context, repository, prefix, programPath string, packages []string) (err error) {
	program, err := findWine()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "oxbow-wine-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if prefix == "" {
		prefix = filepath.Join(temp, "prefix")
	}
	w := wineInstallation{winePath: program, repository: repository, tempDir: temp}
	w.prefix, err = filepath.Abs(prefix)
	if err != nil {
		return err
	}
	if err := w.preparePrefix(ctx); err != nil {
		return err
	}
	end, err := w.keepServicesRunning(ctx)
	if err != nil {
		return err
	}
	err = w.testProgram(ctx, programPath)
	if len(packages) > 0 {
		err = errors.Join(err, w.runTests(ctx, packages))
	}
	return errors.Join(err, end())
}

// findWine returns the path of Wine. It looks in PATH and in the directory in which Debian installs Wine.
func findWine() (string, error) {
	for _, name := range []string{"wine64", "/usr/lib/wine/wine64", "wine"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Wine; on Debian: apt-get install wine64 gcc-mingw-w64-x86-64-win32")
}

func (w wineInstallation) environment() []string {
	return append(os.Environ(), "WINEPREFIX="+w.prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=winemenubuilder.exe=d",
		"GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
}

// runCommand runs a program and returns its output. If the program fails, the error contains the output.
func (w wineInstallation) runCommand(ctx context.Context, name string, args ...string) (string, error) {
	return w.runCommandIn(ctx, w.repository, name, args...)
}

// runCommandIn is like runCommand, but runs the program in directory dir. The output goes to a file instead of a pipe,
// because a Wine service may keep a pipe open after the program has ended.
func (w wineInstallation) runCommandIn(ctx context.Context, dir, name string, args ...string) (string, error) {
	f, err := os.Create(filepath.Join(w.tempDir, "output"))
	if err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = w.environment()
	c.Stdout = f
	c.Stderr = f
	err = errors.Join(c.Run(), f.Close())
	b, rerr := os.ReadFile(f.Name())
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, b)
	}
	return string(b), errors.Join(err, rerr)
}

// keepServicesRunning keeps the services of Wine running until the caller calls stop. Otherwise each test would start
// them again. To this end, it starts a program that runs under Wine until then.
func (w wineInstallation) keepServicesRunning(ctx context.Context) (stop func() error, err error) {
	c := exec.CommandContext(ctx, w.winePath, "cmd")
	c.Env = w.environment()
	input, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() error { return errors.Join(input.Close(), c.Wait()) }, nil
}

// preparePrefix creates Wine's own files, and the Windows library that Go programs need and that Wine lacks.
func (w wineInstallation) preparePrefix(ctx context.Context) error {
	if err := os.MkdirAll(w.prefix, 0o755); err != nil {
		return err
	}
	if _, err := w.runCommand(ctx, w.winePath, "wineboot", "--init"); err != nil {
		return err
	}
	source := filepath.Join(w.tempDir, "processprng.c")
	if err := os.WriteFile(source, []byte(processPRNGCSource), 0o644); err != nil {
		return err
	}
	library := filepath.Join(w.prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	_, err := w.runCommand(ctx, "x86_64-w64-mingw32-gcc", "-shared", "-o", library, source, "-ladvapi32")
	return err
}

// testProgram runs oxbow's demo and the commands of a new user under Wine, in a directory whose name contains a space
// and an umlaut. It tests a copy of the program at programPath. If programPath is empty, testProgram builds the
// program.
func (w wineInstallation) testProgram(ctx context.Context, programPath string) error {
	dir := filepath.Join(w.tempDir, "Jörg Groß")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	program := filepath.Join(dir, "oxbow.exe")
	if err := w.placeProgram(ctx, programPath, program); err != nil {
		return err
	}
	for _, step := range []struct{ command, want string }{
		{"version", "windows/amd64"},
		{"demo", "Now yours: "},
		{"init", "recall"},
		{"remember style Tabs,_not_spaces.", "remembered style"},
		{"remember a:b?c* An_odd_name.", "remembered a:b?c*"},
		{"recall tabs", "Tabs, not spaces."},
		{"dump notes", ""},
		{"doctor", ""},
		{"forget style", ""},
		{"check", "sound"},
	} {
		args := strings.Fields(step.command)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		printed, err := w.runCommandIn(ctx, dir, w.winePath, append([]string{program}, args...)...)
		if err != nil {
			return err
		}
		if !strings.Contains(printed, step.want) {
			return fmt.Errorf("oxbow %s does not print %q, but %s", step.command, step.want, printed)
		}
	}
	fmt.Println("The program works: version, demo, init, remember, recall, dump, doctor, forget, check.")
	return nil
}

// placeProgram copies the program at the path source to the path target. If source is empty, it builds the program
// instead.
func (w wineInstallation) placeProgram(ctx context.Context, source, target string) error {
	if source == "" {
		_, err := w.runCommand(ctx, "go", "build", "-trimpath", "-o", target, "./cmd/oxbow")
		return err
	}
	b, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(target, b, 0o755)
}

// runTests runs the tests of packages under Wine and prints a table with the results.
func (w wineInstallation) runTests(ctx context.Context, packages []string) error {
	overlay, err := w.writeTestingPackageOverlay(ctx)
	if err != nil {
		return err
	}
	args := []string{"test", "-trimpath", "-json", "-p", "1", "-exec", w.winePath, "-overlay", overlay,
		"-timeout", "20m"}
	c := exec.CommandContext(ctx, "go", append(args, packages...)...)
	c.Dir = w.repository
	c.Env = w.environment()
	c.Stderr = os.Stderr
	events, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	results, rerr := readResults(events)
	// If an event could not be read, read the rest of the output, so that the tests can end.
	_, _ = io.Copy(io.Discard, events)
	err = errors.Join(rerr, c.Wait())
	printResults(os.Stdout, results)
	return err
}

// writeTestingPackageOverlay writes a list of replaced files for the flag -overlay of "go test", and returns the path
// of the list. The list replaces testing.go of package testing. The original file removes temporary directories with
// os.RemoveAll, which fails under Wine 8, and the replacement uses os.Remove. Packages os and vfs are not replaced, so
// that oxbow's tests notice if oxbow itself fails to remove a file.
func (w wineInstallation) writeTestingPackageOverlay(ctx context.Context) (string, error) {
	root, err := w.runCommand(ctx, "go", "env", "GOROOT")
	if err != nil {
		return "", err
	}
	original := filepath.Join(strings.TrimSpace(root), "src", "testing", "testing.go")
	b, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	replaced, err := replaceRemoveAllCall(string(b))
	if err != nil {
		return "", err
	}
	file, list := filepath.Join(w.tempDir, "testing.go"), filepath.Join(w.tempDir, "overlay.json")
	if err := os.WriteFile(file, []byte(replaced), 0o644); err != nil {
		return "", err
	}
	b, err = json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err != nil {
		return "", err
	}
	return list, os.WriteFile(list, b, 0o644)
}

const removeFuncGoSource = `

func removeByRemove(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if err := removeByRemove(path + "/" + e.Name()); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
`

// replaceRemoveAllCall returns the source of testing.go with a change: temporary directories are removed in a way that
// works under Wine. If source does not contain the call to replace, it returns an error.
func replaceRemoveAllCall(source string) (string, error) {
	const call = "err := os.RemoveAll(path)"
	if strings.Count(source, call) != 1 {
		return "", fmt.Errorf("testing.go of this Go has not one %q; change withCleanup", call)
	}
	return strings.Replace(source, call, "err := removeByRemove(path)", 1) + removeFuncGoSource, nil
}
