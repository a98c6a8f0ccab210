// This file runs the oxbow commands of a script one after another in a single process, the script's worker. A separate
// process for each command would spend most of its time on its start. If OXBOW_LONG is set, as in .ci/run, or if the
// race detector is on, each command is a separate process.

package cli

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// workerEnv is an environment variable. If it is set, an oxbow process becomes a worker, which runs all commands of a
// test script.
const workerEnv = "OXBOW_SCRIPT_WORKER"

// workerCall is a command that a worker runs, with the environment that a separate process would have.
type workerCall struct {
	Args          []string
	Env           []string
	Dir           string
	In, Out, Errs string // paths of the files for standard input, output and error
}

// work is the main function of a worker. It runs the calls from standard input, and answers each with its exit status.
func work() {
	calls, answers := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	for {
		var c workerCall
		err := calls.Decode(&c)
		if errors.Is(err, io.EOF) {
			return
		}
		status := 0
		if err == nil {
			status, err = c.run()
		}
		if err == nil {
			err = answers.Encode(status)
		}
		if err != nil {
			panic(err)
		}
	}
}

// run prepares this process for the call, runs the command, and returns the exit status.
func (c workerCall) run() (int, error) {
	os.Clearenv()
	for _, variable := range c.Env {
		key, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(key, value); err != nil {
			return 0, err
		}
	}
	if err := os.Chdir(c.Dir); err != nil {
		return 0, err
	}
	os.Args = append([]string{"oxbow"}, c.Args...)
	for _, stream := range []struct {
		file **os.File
		path string
		flag int
	}{
		{&os.Stdin, c.In, os.O_RDONLY},
		{&os.Stdout, c.Out, os.O_WRONLY | os.O_CREATE | os.O_TRUNC | os.O_APPEND},
		{&os.Stderr, c.Errs, os.O_WRONLY | os.O_CREATE | os.O_TRUNC | os.O_APPEND},
	} {
		f, err := os.OpenFile(stream.path, stream.flag, 0o600)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		*stream.file = f
	}
	return patientMain(), nil
}

// worker is the process that runs the commands of one script.
type worker struct {
	set     []string // variables that startWorker set
	others  []string // variables that the script's lines may set in addition
	dir     string   // directory with the files of the calls
	stdin   string   // path of the next call's input
	crash   bytes.Buffer
	calls   *gob.Encoder
	answers *gob.Decoder
}

// workerKey is the key under which the values of a testscript.TestScript contain the script's worker, which is the
// process that runs its commands.
type workerKey struct{}

// workerOf returns the worker of a script.
func workerOf(ts *testscript.TestScript) *worker { return ts.Value(workerKey{}).(*worker) }

// startWorker starts the worker of a script: a process that runs the script's oxbow commands, so that not each of them
// starts a process. The worker ends with the script. The argument variables contains the names of environment variables
// that the script may set later. Their values are sent to the worker with each command.
func startWorker(env *testscript.Env, variables []string) error {
	t := env.T().(testing.TB)
	w := &worker{dir: t.TempDir(), others: variables}
	for _, variable := range env.Vars {
		key, _, _ := strings.Cut(variable, "=")
		w.set = append(w.set, key)
	}
	program, err := execPath("oxbow", env.Getenv("PATH"))
	if err != nil {
		return err
	}
	ctx := t.Context()
	if deadline, ok := env.T().(interface{ Deadline() (time.Time, bool) }).Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-time.Second))
		env.Defer(cancel)
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(env.Vars, workerEnv+"=1")
	cmd.Stderr = &w.crash
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	w.calls, w.answers = gob.NewEncoder(in), gob.NewDecoder(out)
	if err := cmd.Start(); err != nil {
		return err
	}
	env.Defer(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Errorf("the worker ended with %v:\n%s", err, w.crash.String())
		}
	})
	env.Values[workerKey{}] = w
	return nil
}

// run runs oxbow in the script's worker, and returns the exit status.
func (w *worker) run(ts *testscript.TestScript, args []string) int {
	file := func(name string) string { return filepath.Join(w.dir, name) }
	c := workerCall{Args: args, Dir: ts.MkAbs("."), In: file("in"), Out: file("out"), Errs: file("errs")}
	for _, key := range w.set {
		c.Env = append(c.Env, key+"="+ts.Getenv(key))
	}
	for _, key := range w.others {
		if value := ts.Getenv(key); value != "" {
			c.Env = append(c.Env, key+"="+value)
		}
	}
	c.Env = append(c.Env, "PWD="+c.Dir)
	ts.Check(os.WriteFile(c.In, []byte(w.stdin), 0o600))
	w.stdin = ""
	ts.Check(w.calls.Encode(c))
	var status int
	if err := w.answers.Decode(&status); err != nil {
		ts.Fatalf("the worker ended: %v", err)
	}
	_, err := io.WriteString(ts.Stdout(), ts.ReadFile(c.Out))
	ts.Check(err)
	_, err = io.WriteString(ts.Stderr(), ts.ReadFile(c.Errs))
	ts.Check(err)
	return status
}

// runCommand implements "run ARGS…", which does the same as "exec oxbow ARGS…" but in the script's worker.
func runCommand(ts *testscript.TestScript, neg bool, args []string) {
	if status := workerOf(ts).run(ts, args); (status != 0) != neg {
		ts.Fatalf("oxbow %q ended with status %d", args, status)
	}
}

// inputCommand implements "input FILE". The file is the standard input of the worker's next command.
func inputCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: input FILE")
	}
	workerOf(ts).stdin = ts.ReadFile(args[0])
}

// These patterns match lines of a test script. A line may begin with conditions in brackets, and an oxbowLine may also
// have "!" after them.
var (
	oxbowLine = regexp.MustCompile(`^((?:\[[^\]]+\] )*(?:! )?)exec oxbow( .*[^&])?$`)
	stdinLine = regexp.MustCompile(`^((?:\[[^\]]+\] )*)stdin (.*)$`)
	envLine   = regexp.MustCompile(`(?m)^(?:\[[^\]]+\] )*env (\w+)=`)
	// statusLine matches a line "status N oxbow …", whose command can run in the worker.
	statusLine = regexp.MustCompile(`^((?:\[[^\]]+\] )*status \d )oxbow( .*)$`)
)

// forWorker returns the script with its oxbow commands changed so that they run in the script's worker, a single
// process that runs the commands one after another. A stdin line before such a command becomes an input line. Commands
// that read /dev/stdin need a process of their own and stay unchanged. The line numbers stay the same, so that failures
// are reported with the right lines.
func forWorker(script string) string {
	body, files, found := strings.Cut(script, "\n-- ")
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		if strings.Contains(line, "/dev/stdin") {
			continue
		}
		lines[i] = oxbowLine.ReplaceAllString(line, "${1}run$2")
		lines[i] = statusLine.ReplaceAllString(lines[i], "${1}run$2")
		if i > 0 && lines[i] != line {
			lines[i-1] = stdinLine.ReplaceAllString(lines[i-1], "${1}input $2")
		}
	}
	body = strings.Join(lines, "\n")
	if !found {
		return body
	}
	return body + "\n-- " + files
}

// notWorked contains the scripts whose commands run as separate processes instead of in a worker. In these scripts, the
// lock of a store must contain the subcommand with which the process was started.
var notWorked = []string{"doctor.txt"}

// rewriteForWorker rewrites scripts so that their commands run in a worker process. It writes each changed script to a
// temporary directory, and returns its path in rewritten. For a script in notWorked, which must not run in a worker,
// rewritten contains the path of the original. The result variables contains the names of the environment variables
// that the changed scripts set, sorted and without duplicates.
func rewriteForWorker(t *testing.T, files []string) (rewritten, variables []string) {
	t.Helper()
	dir := t.TempDir()
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if slices.Contains(notWorked, name) {
			rewritten = append(rewritten, file)
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(forWorker(string(b))), 0o600); err != nil {
			t.Fatal(err)
		}
		rewritten = append(rewritten, path)
		for _, m := range envLine.FindAllStringSubmatch(string(b), -1) {
			variables = append(variables, m[1])
		}
	}
	slices.Sort(variables)
	return rewritten, slices.Compact(variables)
}

func TestForWorker(t *testing.T) {
	script := "# a story\n" +
		"exec oxbow list\n! exec oxbow get x\n[linux] exec oxbow doctor\n" +
		"stdin calls\nexec oxbow mcp\nstdin calls\nexec sh\nstdin calls\nexec oxbow import /dev/stdin\n" +
		"status 2 oxbow get\nstatus 1 unprivileged oxbow list\nexec oxbow serve &\nexec oxbow\n" +
		"-- file --\nexec oxbow list\n"
	want := "# a story\n" +
		"run list\n! run get x\n[linux] run doctor\n" +
		"input calls\nrun mcp\nstdin calls\nexec sh\nstdin calls\nexec oxbow import /dev/stdin\n" +
		"status 2 run get\nstatus 1 unprivileged oxbow list\nexec oxbow serve &\nrun\n" +
		"-- file --\nexec oxbow list\n"
	if got := forWorker(script); got != want {
		t.Errorf("forWorker:\n%s, want\n%s", got, want)
	}
}
