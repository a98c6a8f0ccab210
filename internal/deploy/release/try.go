// This file tries each way to install oxbow and prints the results as a table.

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// An installTrial installs oxbow in one way and tests the installed program.
type installTrial struct {
	packageKind      string
	requiredPrograms []string // programs that must exist on this machine to test this kind of package
	install          func(r release, dir string) (installedProgram, error)
}

// installedProgram is a program that a trial has installed.
type installedProgram struct {
	commandLine  []string // command line of the program, or nil if this system cannot run it
	typedCommand string   // command that the program's messages tell users to type
	// environment for the commands that docs/install.md lists for this kind of package; nil if it lists no commands
	environment []string
	runDemo     func() error // function that runs the demo (used if commandLine is nil)
	uninstall   func() error // uninstalls the program (may be nil)
}

var installTrials = []installTrial{
	{"archive", []string{"tar", "man"}, installArchive},
	{"deb", []string{"dpkg-deb", "dpkg"}, installDeb},
	{"rpm", []string{"rpm", "rpm2cpio", "cpio"}, installRPM},
	{"npm", []string{"npm", "npx", "node"}, installNPM},
	{"mcpb", nil, installBundle},
	{"script", []string{"sh", "curl", "tar"}, installByScript},
	{"homebrew", []string{"ruby", "tar"}, installFormula},
	{"container", []string{"buildah"}, installImage},
	{"scoop", []string{"go"}, installScoop},
}

// tryInstallations tests whether a release can be installed. It checks the files of the release in the directory dist,
// runs the trials of the given kinds, and prints a table with the results. Without kinds, it runs all trials. A trial
// fails if a program that it needs is missing on this machine.
func tryInstallations(root, dist string, kinds []string) error {
	r, err := readRelease(root, dist)
	if err != nil {
		return err
	}
	failed := r.checkFiles()
	fmt.Print("\n| kind | installed | demo | typed lines until the first recall |\n|---|---|---|---|\n")
	for _, kind := range kinds {
		if !slices.ContainsFunc(installTrials, func(t installTrial) bool { return t.packageKind == kind }) {
			return fmt.Errorf("there is no kind %q", kind)
		}
	}
	for _, t := range installTrials {
		if len(kinds) > 0 && !slices.Contains(kinds, t.packageKind) {
			continue
		}
		cells, err := r.runTrial(t)
		fmt.Printf("| %s | %s |\n", t.packageKind, strings.Join(cells, " | "))
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", t.packageKind, err))
		}
	}
	return failed
}

// runTrial installs the program as the trial describes, tests it, and returns the cells of the trial's row in the
// table.
func (r release) runTrial(t installTrial) (tableCells []string, err error) {
	tableCells = []string{"no", "no", ""}
	for _, program := range t.requiredPrograms {
		if _, err := exec.LookPath(program); err != nil {
			return tableCells, fmt.Errorf("not tried: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "oxbow-try-")
	if err != nil {
		return tableCells, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	installed, err := t.install(r, dir)
	if err != nil {
		return tableCells, err
	}
	tableCells[0] = "yes"
	if installed.runDemo == nil {
		installed.runDemo = func() error { return checkDemo(dir, installed.typedCommand, installed.commandLine...) }
	}
	if err := installed.runDemo(); err != nil {
		return tableCells, err
	}
	tableCells[1] = "passed"
	if installed.environment != nil {
		count, err := r.runDocumentedCommands(t.packageKind, dir, installed.environment)
		if err != nil {
			return tableCells, err
		}
		tableCells[2] = fmt.Sprint(count)
	}
	if installed.uninstall != nil {
		return tableCells, installed.uninstall()
	}
	return tableCells, nil
}

// runDocumentedCommands runs the lines that docs/install.md shows for one way to install oxbow, and returns their
// number. The lines run with an empty home in a directory that contains the files of the release.
func (r release) runDocumentedCommands(installMethod, dir string, variables []string) (int, error) {
	page, err := os.ReadFile(filepath.Join(r.root, installPage))
	if err != nil {
		return 0, err
	}
	lines, err := documentedCommands(string(page), installMethod)
	if err != nil {
		return 0, err
	}
	place := filepath.Join(dir, "clean")
	if err := os.Mkdir(place, 0o755); err != nil {
		return 0, err
	}
	files, err := os.ReadDir(r.distDir)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		err = errors.Join(err, os.Symlink(filepath.Join(r.distDir, f.Name()), filepath.Join(place, f.Name())))
	}
	if err != nil {
		return 0, err
	}
	script := strings.ReplaceAll(strings.Join(lines, "\n"), "VERSION", r.version)
	printed, err := runProgramInDir(place, variables, "sh", "-ec", script)
	if err == nil && !strings.Contains(printed, "Tabs, not spaces.") {
		err = fmt.Errorf("%q prints %q", script, printed)
	}
	return len(lines), err
}

// installPage is the page with the lines that users type to install oxbow.
const installPage = "docs/install.md"

// documentedCommands returns the shell lines that the page shows for one way to install oxbow. The argument page is the
// text of docs/install.md.
func documentedCommands(page, installMethod string) ([]string, error) {
	_, rest, found := strings.Cut(page, "<!-- try "+installMethod+" -->\n```sh\n")
	block, _, ended := strings.Cut(rest, "\n```\n")
	if !found || !ended {
		return nil, fmt.Errorf("%s has no lines for %s", installPage, installMethod)
	}
	return strings.Split(block, "\n"), nil
}

// packagePath returns the path of the release file for this machine that has the suffix.
func (r release) packagePath(suffix string) string {
	return filepath.Join(r.distDir, fmt.Sprintf("oxbow_%s_linux_%s%s", r.version, runtime.GOARCH, suffix))
}

// runProgram runs a program in dir and returns its output. The environment contains only PATH and a home in dir.
func runProgram(dir string, argv ...string) (string, error) {
	return runProgramInDir(dir, nil, argv...)
}

// runProgramInDir runs a program in dir and returns its output. The program gets only these environment variables: HOME
// (which is dir), PATH, npm_config_update_notifier, and the given variables. A given variable replaces another variable
// with the same name.
func runProgramInDir(dir string, variables []string, argv ...string) (string, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "npm_config_update_notifier=false"},
		variables...)
	b, err := c.CombinedOutput()
	if err != nil {
		return string(b), fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, b)
	}
	return string(b), nil
}

// checkOutputContains runs a program and returns an error unless the output contains all the words.
func checkOutputContains(dir string, words []string, argv ...string) error {
	got, err := runProgram(dir, argv...)
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

// checkDemo runs the command "demo" in dir, and then the commands that a new user runs first. It returns an error if an
// output lacks the expected text. program is the command line that starts oxbow. typedCommand is the command that a
// person types to start oxbow, such as "npx oxbow". Each command that oxbow tells the person to run must begin with
// typedCommand.
func checkDemo(dir, typedCommand string, program ...string) error {
	run := func(words ...string) []string { return slices.Concat(program, words) }
	return errors.Join(
		checkOutputContains(dir, []string{"undid 1 change", "Now yours: " + typedCommand + " init"}, run("demo")...),
		checkOutputContains(dir, []string{"revision ", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH},
			run("version")...),
		checkOutputContains(dir, []string{"  " + typedCommand + " recall tabs"}, run("init")...),
		checkOutputContains(dir, []string{"remembered style"}, run("remember", "style", "Tabs, not spaces.")...),
		checkOutputContains(dir, []string{"Tabs, not spaces."}, run("recall", "tabs")...),
		checkOutputContains(dir, []string{"sound"}, run("check")...),
	)
}

// checkFilesExist returns an error unless all files exist and are not empty.
func checkFilesExist(dir string, names ...string) error {
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

func checkFileRemoved(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is still there (%v)", path, err)
	}
	return nil
}
