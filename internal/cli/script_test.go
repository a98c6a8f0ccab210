// This file runs the scripts in testdata/script, and defines the commands that scripts have besides oxbow.

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

func TestMain(m *testing.M) {
	// If go test started the program, and not a script, remove the variables by which oxbow recognizes an agent.
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.") {
		for _, v := range agentVars {
			os.Unsetenv(v.name)
		}
	}
	testscript.Main(m, map[string]func(){
		"oxbow":        oxbowMain,
		"fake-editor":  fakeEditor,
		"holder":       holder,
		"fake-agent":   fakeAgent,
		"oxbow-bench":  fakeBench,
		"unprivileged": unprivileged,
	})
}

func oxbowMain() {
	if os.Getenv(workerEnv) != "" {
		work()
		return
	}
	sayBegun()
	os.Exit(patientMain())
}

// patient contains time limits for hooks that are long enough for a busy machine.
var patient = &HookTimeLimits{
	SessionStartContext:   time.Minute,
	PromptContext:         time.Minute,
	FirstMatchCalibration: time.Minute,
	SpoolDrain:            time.Minute,
}

// patientMain is like [Main], but it uses the time limits in the variable patient. Hooks do not start other processes,
// because these could write to the test's directory after the test has ended.
func patientMain() int {
	return runMain(func(ctx context.Context, env Env) int {
		env.HookTimeLimits = patient
		env.StartDetached = nil
		return Run(ctx, env)
	}, shutdownSignals()...)
}

// notRaced skips a test with many processes if the race detector is on and the run is short. With the detector, each
// process takes half a second to start. Most of the processes have only one goroutine, so that the detector would find
// nothing.
func notRaced(t *testing.T) {
	t.Helper()
	if raced && testing.Short() {
		t.Skip("a short run with the race detector leaves tests of many processes to the run without it")
	}
}

func TestScripts(t *testing.T) {
	dir := filepath.Join("testdata", "script")
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob(%q) = %v, %v, want scripts", dir, files, err)
	}
	for _, file := range files {
		checkStory(t, file)
	}
	// With the race detector, each command is a process that takes half a second to start, and most of these processes
	// have only one goroutine, which has no races to find. Therefore a short test with the race detector runs only a
	// few scripts, mainly those that start servers.
	if raced && testing.Short() {
		all := len(files)
		files = slices.DeleteFunc(files, func(file string) bool {
			return !slices.Contains([]string{"mcp.txt", "spawn.txt", "index.txt", "remember.txt"}, filepath.Base(file))
		})
		t.Logf("with the race detector, short: %d of %d scripts", len(files), all)
	}
	worked := !testenv.IsLongTestRun() && !raced
	var variables []string
	if worked {
		files, variables = rewriteForWorker(t, files)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for _, key := range []string{"OXBOW_HOME", "OXBOW_AGENT", "OXBOW_PROFILE", "OXBOW_SETTINGS",
				"OXBOW_SPAWN_DEPTH", "OXBOW_NETWORK_FS", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "EDITOR", "VISUAL",
				"NO_COLOR"} {
				env.Setenv(key, "")
			}
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", os.Getenv("GORACE"))
			// Scripts cannot contain a newline in a word, so they use $NL.
			env.Setenv("NL", "\n")
			env.Setenv("BAD", "\xe9")
			env.Setenv("LONG", strings.Repeat("x", 10000))
			program, err := execPath("oxbow", env.Getenv("PATH"))
			if err != nil {
				return err
			}
			env.Setenv("OXBOW", program)
			home := filepath.Join(env.WorkDir, "user")
			for _, key := range []string{"HOME", "USERPROFILE"} {
				env.Setenv(key, home)
			}
			env.Setenv("LocalAppData", filepath.Join(home, "AppData", "Local"))
			env.Setenv("AppData", filepath.Join(home, "AppData", "Roaming"))
			if err := os.MkdirAll(home, 0o700); err != nil || !worked {
				return err
			}
			return startWorker(env, variables)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":  statusCommand,
			"bytes":   bytesCommand,
			"flip":    flipCommand,
			"edit":    replaceInFile,
			"glob":    globCommand,
			"setbyte": setbyteCommand,
			"same":    sameCommand,
			"holds":   holdsCommand,
			"hold":    holdCommand,
			"head":    headCommand,
			"run":     runCommand,
			"input":   inputCommand,
			"domends": doMendsCommand,
			"typed":   typedCommand,
			"repeat":  repeatCommand,
		},
	})
}

// checkStory checks the form of a script. The script must begin with a comment that describes it. If the script
// contains "remember", the last line with an oxbow command must contain "check".
func checkStory(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := strings.Cut(string(b), "\n-- ")
	if !strings.HasPrefix(body, "# ") {
		t.Errorf("%s does not begin with a sentence", file)
	}
	lines := strings.Split(strings.TrimSpace(body), "\n")
	last := ""
	for _, line := range lines {
		if strings.Contains(line, "oxbow ") && !strings.HasPrefix(line, "#") {
			last = line
		}
	}
	if strings.Contains(body, "remember") && !strings.Contains(last, "check") {
		t.Errorf("%s opens a store; its last command is %q, want a check", file, last)
	}
}

// statusCommand implements "status N COMMAND…". The command must end with the exit status N.
func statusCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if args[1] == "run" {
		got = workerOf(ts).run(ts, args[2:])
	} else if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v: %v", args[1:], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v ended with status %d, want %d", args[1:], got, want)
	}
}

// bytesCommand implements "bytes FILE TEXT [N]". It writes the text to the file N times. The text may contain escapes
// as in Go.
func bytesCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: bytes FILE TEXT [N]")
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	n := 1
	if len(args) == 3 {
		n, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(text, n)), 0o600))
}

// flipCommand implements "flip FILE TEXT|OFFSET". It changes one byte of the file: the byte at the offset, or the
// first byte of the text.
func flipCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE TEXT|OFFSET")
	}
	file := ts.MkAbs(args[0])
	b, err := os.ReadFile(file)
	ts.Check(err)
	i, err := strconv.Atoi(args[1])
	if err != nil {
		i = strings.Index(string(b), args[1])
	}
	if i < 0 || i >= len(b) {
		ts.Fatalf("%s has no byte for %q", args[0], args[1])
	}
	b[i] ^= 1
	ts.Check(os.WriteFile(file, b, 0o600))
}

// setbyteCommand implements "setbyte FILE OFFSET VALUE". It sets one byte of the file.
func setbyteCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: setbyte FILE OFFSET VALUE")
	}
	offset, err := strconv.Atoi(args[1])
	ts.Check(err)
	value, err := strconv.ParseUint(args[2], 10, 8)
	ts.Check(err)
	file := ts.MkAbs(args[0])
	b, err := os.ReadFile(file)
	ts.Check(err)
	b[offset] = byte(value)
	ts.Check(os.WriteFile(file, b, 0o600))
}

// sameCommand implements "same DIR DIR". Both directories must contain the same files.
func sameCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	a, b := treeText(ts, ts.MkAbs(args[0])), treeText(ts, ts.MkAbs(args[1]))
	if (a == b) == neg {
		ts.Fatalf("directories %s and %s: same is %v:\n%s\n---\n%s", args[0], args[1], a == b, a, b)
	}
}

// replaceInFile implements "edit FILE OLD NEW". It replaces each OLD in the file by NEW. Both may contain escapes as
// in Go.
func replaceInFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	var texts [2]string
	for i, s := range args[1:] {
		text, err := strconv.Unquote("\"" + s + "\"")
		ts.Check(err)
		texts[i] = text
	}
	file := ts.MkAbs(args[0])
	b, err := os.ReadFile(file)
	ts.Check(err)
	if !bytes.Contains(b, []byte(texts[0])) {
		ts.Fatalf("%s has no %q: %q", args[0], texts[0], b)
	}
	ts.Check(os.WriteFile(file, bytes.ReplaceAll(b, []byte(texts[0]), []byte(texts[1])), 0o600))
}

// doMendsCommand implements "domends". It runs the commands that the last command's output advises for warnings and
// problems. There must be at least one. Advice about the file system is ignored, because the tests may run in a
// directory in memory.
func doMendsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: domends")
	}
	output := regexp.MustCompile(`(?m)^warning  file system .*$`).ReplaceAllString(ts.ReadFile("stdout"), "")
	advice := regexp.MustCompile(`(?m)^(?:(?:warning|problem).*|  )mend: (.*)$`).FindAllStringSubmatch(output, -1)
	if len(advice) == 0 {
		ts.Fatalf("no advice is printed")
	}
	done := map[string]bool{}
	for _, a := range advice {
		for command := range strings.SplitSeq(a[1], " && ") {
			words := strings.Fields(command)
			if words[0] != "oxbow" {
				ts.Fatalf("the advice is no command: %q", a[1])
			}
			if !done[command] {
				ts.Logf("typing: %s", command)
				ts.Check(ts.Exec(words[0], words[1:]...))
			}
			done[command] = true
		}
	}
}

// typedCommand implements the script command "typed PATTERN". In the output of the previous command, it finds the first
// text that matches the regular expression PATTERN. The text must be an oxbow command, and typedCommand runs the
// command in a shell. If neg is true, the command must fail.
func typedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: typed PATTERN")
	}
	output := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	line := regexp.MustCompile(args[0]).FindString(output)
	if !strings.HasPrefix(line, "oxbow ") {
		ts.Fatalf("no command that matches %q is printed: %q", args[0], line)
	}
	ts.Logf("typing: %s", line)
	if err := ts.Exec("sh", "-c", line); (err != nil) != neg {
		ts.Fatalf("%s: %v", line, err)
	}
}

// repeatCommand implements "repeat N ARGS…". It runs "oxbow ARGS…" N times. Each time, {} in the arguments is replaced
// by the number of the run.
func repeatCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: repeat N ARGS…")
	}
	times, err := strconv.Atoi(args[0])
	ts.Check(err)
	for n := range times {
		command := slices.Clone(args[1:])
		for i := range command {
			command[i] = strings.ReplaceAll(command[i], "{}", strconv.Itoa(n+1))
		}
		if w, ok := ts.Value(workerKey{}).(*worker); !ok {
			ts.Check(ts.Exec("oxbow", command...))
		} else if status := w.run(ts, command); status != 0 {
			ts.Fatalf("oxbow %q ended with status %d", command, status)
		}
	}
}

// globCommand implements "glob PATTERN". It sets the variable GLOB to the only file that matches the pattern.
func globCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: glob PATTERN")
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s: found %q, want one", args[0], found)
	}
	ts.Setenv("GLOB", found[0])
}

// memoryLine matches the line in a dump's manifest that names the dumped memory.
var memoryLine = regexp.MustCompile(`(?m)^"memory": ".*",\n`)

func treeText(ts *testscript.TestScript, dir string) string {
	var b strings.Builder
	n := 0
	ts.Check(filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if rel == ".oxbow-manifest.json" {
			data = memoryLine.ReplaceAll(data, nil)
		}
		if !strings.HasPrefix(rel, ".oxbow-dump.") {
			n++
			fmt.Fprintf(&b, "%s %q\n", rel, data)
		}
		return nil
	}))
	if n == 0 {
		ts.Fatalf("%s holds no files", dir)
	}
	return b.String()
}

// holdsCommand implements the script command "holds GLOB TEXT". Exactly one file must match the pattern GLOB, and this
// file must contain TEXT. If neg is true, because the command is written with "!", the file must not contain TEXT.
func holdsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: holds GLOB TEXT")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("%s is %v, want one file", args[0], files)
	}
	b, err := os.ReadFile(files[0])
	ts.Check(err)
	if strings.Contains(string(b), args[1]) == neg {
		ts.Fatalf("%s holds %q, and %q is in it: %v", files[0], b, args[1], !neg)
	}
}

// headCommand implements "head VARIABLE". It sets the variable to the hash in the last command's output.
func headCommand(ts *testscript.TestScript, neg bool, args []string) {
	m := regexp.MustCompile(`head ([0-9a-f]{64})`).FindStringSubmatch(ts.ReadFile("stdout"))
	if neg || len(args) != 1 || m == nil {
		ts.Fatalf("usage: head VARIABLE, after a command that printed a head")
	}
	ts.Setenv(args[0], m[1])
}

// fakeBench stands in for the benchmark program. It prints its arguments, and fails if the argument is "speed".
func fakeBench() {
	dir, _ := os.Getwd()
	fmt.Printf("measures %q in %s\n", os.Args[1:], filepath.Base(dir))
	if os.Args[1] == "speed" {
		fmt.Fprintln(os.Stderr, "usage: quality")
		os.Exit(7)
	}
}

// fakeEditor stands in for an editor. It changes the file in its last argument. Its first argument says how.
func fakeEditor() {
	args := os.Args[1:]
	file := args[len(args)-1]
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "fake-editor:", err)
			os.Exit(3)
		}
	}
	old, err := os.ReadFile(file)
	fail(err)
	switch args[0] {
	case "append":
		fail(os.WriteFile(file, append(old, args[1]...), 0o600))
	case "write":
		fail(os.WriteFile(file, []byte(args[1]), 0o600))
	case "newline": // Most editors add a newline at the end.
		fail(os.WriteFile(file, append(old, '\n'), 0o600))
	case "race": // Another process changes the entry while it is edited.
		out, err := exec.Command("oxbow", "remember", args[1], "what another wrote").CombinedOutput()
		if err != nil {
			fail(fmt.Errorf("%w: %s", err, out))
		}
		fail(os.WriteFile(file, append(old, " and my edit"...), 0o600))
	case "lose": // Another process deletes the entry while it is edited.
		if out, err := exec.Command("oxbow", "forget", args[1]).CombinedOutput(); err != nil {
			fail(fmt.Errorf("%w: %s", err, out))
		}
		fail(os.WriteFile(file, append(old, " and my edit"...), 0o600))
	case "clobber": // Another process writes the edited file itself.
		fail(os.WriteFile(args[1], []byte("# what another wrote\n"), 0o600))
		fail(os.WriteFile(file, append(old, "\nprocess: false\n"...), 0o600))
	case "crash":
		fail(os.WriteFile(file, []byte("half a thought"), 0o600))
		os.Exit(9)
	case "show":
		fmt.Printf("editing %s: %s\n", filepath.Base(file), old)
	default:
		fail(fmt.Errorf("unknown order %q", args[0]))
	}
}
