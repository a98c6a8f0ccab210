// This file tests the output on terminals of several widths.

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// shown replaces the colour codes in an output by readable text for golden files.
var shown = strings.NewReplacer(
	termtext.ResetStyle,
	"⟧",
	termtext.Bold,
	"⟦bold ",
	termtext.Dim,
	"⟦dim ",
	termtext.Red,
	"⟦red ",
	termtext.Green,
	"⟦green ",
)

// golden fails the test if the text got differs from the content of a golden file. If the environment variable UPDATE
// is set, golden first writes the text got to the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", "screen", file)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(string(want), "\r\n", "\n"); got != want {
		t.Errorf("%s differs (UPDATE=1 writes it again):\n%s\nwant:\n%s", file, got, want)
	}
}

// newScreen returns a world whose memory contains texts that are difficult to lay out.
func newScreen(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.must(t, "init")
	start := w.env.Now()
	for i, e := range [][]string{
		{"connection pool",
			"The pool holds twelve connections.\n```go\nfunc (p *Pool) Get() *Conn {\n\tif p.idle > 0 {\n\t\treturn " +
				"p.take()   // an idle connection\n\t}\n\treturn dial()\n}\n```\nNothing else dials.",
			"--project", "harbor", "--tag", "db"},
		{"日本語の長い名前のメモについて", "これは日本語の長いテキストで、接続プールについて話します。connection と書いてある。もっともっと長くするために同じ文を書きます。", "--tag", "日本"},
		{
			"family 👨‍👩‍👧‍👦 recipes",
			"Soup 👩🏽‍🍳 for the connection 🇩🇪 with friends, of which there are many, and who come with some idle " +
				"hours to spend.",
		},
		{"a very long name of an entry that nobody would type in full ever again",
			"Long names happen, too; see connection.", "--project", "a-very-long-project-name", "--tag", "first",
			"--tag", "second", "--alias", "long"},
	} {
		w.env.Now = func() time.Time { return start.Add(time.Duration(i) * 17 * time.Second) }
		w.must(t, append([]string{"remember"}, e...)...)
	}
	w.env.Now = func() time.Time { return start.Add(time.Minute) }
	w.env.IsStdoutTerminal = true
	return w
}

func TestScreens(t *testing.T) {
	w := newScreen(t)
	for _, width := range []int{40, 80, 120, 200} {
		w.env.TerminalWidth = width
		var b strings.Builder
		for _, args := range [][]string{
			{"list"}, {"list", "tag:nope"}, {"recall", "connection", "idle"},
			{"recall", "idle", "--explain", "--limit", "1"}, {"log"}, {"get", "long"},
			{"stats"}, {"label", "list"}, {"doctor", "-q"}, {"undo", "--dry-run"},
		} {
			_, out, errs := w.run(t, args...)
			out = strings.ReplaceAll(out, w.dir, "/w")
			fmt.Fprintf(
				&b,
				"$ oxbow %s\n%s%s\n",
				strings.Join(args, " "),
				shown.Replace(out),
				strings.ReplaceAll(errs, w.dir, "/w"),
			)
			for line := range strings.Lines(out) {
				line = strings.TrimRight(line, "\n")
				if countColumns(line) > width && strings.Contains(strings.TrimSpace(line), " ") && args[0] != "get" {
					t.Errorf("oxbow %q at %d columns: %q has %d", args, width, line, countColumns(line))
				}
			}
		}
		if filepath.Separator == '/' {
			golden(t, fmt.Sprintf("%d.txt", width), b.String())
		}
	}
	w.must(t, "check")
}

func TestColour(t *testing.T) {
	w := newScreen(t)
	for _, c := range []struct {
		name string
		term bool
		vars map[string]string
		want bool
	}{
		{"a terminal", true, nil, true},
		{"a pipe", false, nil, false},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false},
		{"TERM=dumb", true, map[string]string{"TERM": "dumb"}, false},
		{"a pipe that is to be coloured", false, map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{"CLICOLOR_FORCE=0", false, map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{"NO_COLOR wins", true, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false},
	} {
		home := w.vars["HOME"]
		w.vars = map[string]string{"HOME": home}
		for k, v := range c.vars {
			w.vars[k] = v
		}
		w.env.IsStdoutTerminal = c.term
		if got := w.must(t, "recall", "idle"); strings.Contains(
			got,
			termtext.Red+"idle"+termtext.ResetStyle,
		) != c.want ||
			strings.Contains(got, "\x1b") != c.want {
			t.Errorf("%s: recall idle = %q, want the word marked: %v", c.name, got, c.want)
		}
	}
}

func TestPager(t *testing.T) {
	w := newScreen(t)
	var argv []string
	var paged strings.Builder
	var missing error
	w.env.TerminalWidth, w.env.TerminalHeight = 60, 4
	w.env.ShowInPager = func(args []string, text io.Reader) error {
		argv = args
		if missing == nil {
			_, err := io.Copy(&paged, text)
			return err
		}
		return missing
	}
	for _, c := range []struct {
		name    string
		args    []string
		env     func()
		want    []string
		missing bool
	}{
		{name: "the standard one", args: []string{"list"}, want: []string{"less", "-FRX"}},
		{name: "log", args: []string{"log"}, want: []string{"less", "-FRX"}},
		{name: "get", args: []string{"get", "connection pool"}, want: []string{"less", "-FRX"}},
		{name: "the person's", args: []string{"log"}, env: func() {
			w.vars["PAGER"] = "most -w"
		}, want: []string{"most", "-w"}},
		{name: "oxbow's own", args: []string{"log"}, env: func() {
			w.vars["OXBOW_PAGER"] = "'my pager' -x"
		}, want: []string{"my pager", "-x"}},
		{name: "one that is not there", args: []string{"list"}, want: []string{"my pager", "-x"}, missing: true},
		{name: "switched off", args: []string{"list", "--no-pager"}},
		{name: "raw", args: []string{"get", "connection pool", "--raw"}},
		{name: "JSON", args: []string{"list", "--json"}},
		{name: "another command", args: []string{"stats"}},
		{name: "a quote that is not closed", args: []string{"list"}, env: func() { w.vars["OXBOW_PAGER"] = "'less" }},
		{name: "none on Windows", args: []string{"list"}, env: func() {
			delete(w.vars, "OXBOW_PAGER")
			delete(w.vars, "PAGER")
			w.env.GOOS = "windows"
		}},
		{name: "what fits", args: []string{"list"}, env: func() { w.env.GOOS, w.env.TerminalHeight = "linux", 6 }},
		{name: "a pipe", args: []string{"list"}, env: func() {
			w.env.IsStdoutTerminal, w.env.TerminalHeight = false,
				4
		}},
	} {
		if c.env != nil {
			c.env()
		}
		argv, missing = nil, nil
		if c.missing {
			missing = errors.New("no such program")
		}
		paged.Reset()
		out := w.must(t, c.args...)
		if !slices.Equal(argv, c.want) {
			t.Errorf("%s: the pager is %q, want %q", c.name, argv, c.want)
		}
		if inPager := c.want != nil && !c.missing; (paged.Len() > 0) != inPager || (out == "") != inPager {
			t.Errorf("%s: %q was printed and %q paged", c.name, out, paged.String())
		}
	}
	// A tab counts with its maximum width.
	if rows := screenRows([]byte(strings.Repeat("\t\t\t\t\t\tx\n", 4)+"\nend\n"), 20); rows != 4*3+2 {
		t.Errorf("four lines with six tabs and two short lines have %d rows, want 14", rows)
	}
	// Messages on standard error must be printed after the pager has ended.
	w.env.IsStdoutTerminal = true
	_, out, errs := w.run(t, "list", "--limit", "3", "--no-pager")
	_, pagedOut, pagedErrs := w.run(t, "list", "--limit", "3")
	if out == "" || errs == "" || pagedOut != "" || pagedErrs != errs || !strings.HasSuffix(paged.String(), out) {
		t.Errorf("paged: %q, %q, %q; want %q in the pager and %q", pagedOut, pagedErrs, paged.String(), out, errs)
	}
}

// TestProgress tests that the progress of long work is displayed, advances, and is removed at the end.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := &progressLine{Writer: &b, now: time.Now}
		stop := p.startProgress("check")
		time.Sleep(progressDelay / 2)
		stop()
		if b.Len() > 0 {
			t.Errorf("short work wrote %q", b.String())
		}
		stop = p.startProgress("dump")
		p.setProgress(progress.State{Unit: progress.UnitEntries, DoneCount: 3, TotalCount: 0})
		time.Sleep(progressDelay + progressInterval/2)
		p.setProgress(progress.State{Unit: progress.UnitEntries, DoneCount: 4, TotalCount: 20})
		time.Sleep(5 * progressInterval)
		fmt.Fprint(p, "oxbow: a warning\n")
		time.Sleep(progressInterval)
		stop()
		time.Sleep(time.Minute)
		const four = "\rdump: 4 of 20 entries, 1 s\x1b[K"
		want := "\rdump: 3 entries, 0 s\x1b[K\rdump: 4 of 20 entries, 0 s\x1b[K\rdump: 4 of 20 entries, 0 s\x1b[K" +
			strings.Repeat(four, 3) + "\r\x1b[Koxbow: a warning\n" + four + "\r\x1b[K"
		if b.String() != want {
			t.Errorf("progress wrote %q, want %q", b.String(), want)
		}
	})
}

// TestProgressOfAPart tests the progress of work whose total is unknown.
func TestProgressOfAPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := &progressLine{Writer: &b, now: time.Now}
		stop := p.startProgress("import")
		p.setProgress(progress.State{Unit: progress.UnitEntries, DoneCount: 14500, FinishedWorkShare: 0.459})
		time.Sleep(progressDelay + progressInterval/2)
		stop()
		if want := "\rimport: 14500 entries (45 %), 0 s\x1b[K\r\x1b[K"; b.String() != want {
			t.Errorf("progress wrote %q, want %q", b.String(), want)
		}
	})
}

// TestProgressOfAWait tests that the wait for a server is displayed until it ends.
func TestProgressOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := &progressLine{Writer: &b, now: time.Now}
		stop := p.startProgress("push")
		p.setProgress(progress.State{Unit: progress.UnitChanges, DoneCount: 500, TotalCount: 900})
		p.setServerWait(2500 * time.Millisecond)
		time.Sleep(progressDelay + progressInterval/2)
		p.setServerWait(0)
		time.Sleep(progressInterval)
		stop()
		if want := "\rpush: 500 of 900 changes, the server is busy and asks to wait 3 s, 0 s\x1b[K\rpush: 500 of 900 " +
			"changes, 0 s\x1b[K\r\x1b[K"; b.String() != want {
			t.Errorf("progress wrote %q, want %q", b.String(), want)
		}
	})
}

// TestProgressHasARateAndAnEnd tests that the progress of long work shows a rate and the remaining time.
func TestProgressHasARateAndAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			after time.Duration
			state progress.State
			want  string
		}{
			{time.Second, progress.State{Unit: progress.UnitEntries, DoneCount: 100, TotalCount: 400},
				"x: 100 of 400 entries, 1 s"},
			{
				10 * time.Second,
				progress.State{Unit: progress.UnitEntries, DoneCount: 100, TotalCount: 400},
				"x: 100 of 400 entries, 10 a second, about 30 s left",
			},
			{
				10 * time.Second,
				progress.State{Unit: progress.UnitEntries, DoneCount: 9000, FinishedWorkShare: 0.1},
				"x: 9000 entries (10 %), 900 a second, about 1 min 30 s left",
			},
			{
				2 * time.Minute,
				progress.State{Unit: progress.UnitFiles, DoneCount: 1, TotalCount: 0},
				"x: 1 file, 0 a minute, 2 min 0 s",
			},
			{
				time.Minute,
				progress.State{Unit: progress.UnitFiles, DoneCount: 3, TotalCount: 3},
				"x: 3 of 3 files, 3 a minute, 1 min 0 s",
			},
			{
				4 * time.Second,
				progress.State{Unit: progress.UnitBytes, DoneCount: 10 << 20, TotalCount: 30 << 20},
				"x: 10.0 MB of 30.0 MB, 2.5 MB a second, about 8 s left",
			},
			{
				4 * time.Second,
				progress.State{Unit: progress.UnitBytes, DoneCount: 10 << 20, FinishedWorkShare: .5},
				"x: 10.0 MB (50 %), 2.5 MB a second, about 4 s left",
			},
			{time.Minute, progress.State{}, "x: 1 min 0 s"},
		} {
			p := &progressLine{Writer: io.Discard, now: time.Now}
			stop := p.startProgress("x")
			p.setProgress(c.state)
			time.Sleep(c.after)
			p.mu.Lock()
			if got := p.lineText(); got != c.want {
				t.Errorf("after %v it shows %q, want %q", c.after, got, c.want)
			}
			p.mu.Unlock()
			stop()
		}
	})
}

// TestQuestionsStayVisible tests that a question is visible until the person answers it, and that the time until then
// does not count as working time.
func TestQuestionsStayVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := &progressLine{Writer: &b, now: time.Now}
		answer, typed := io.Pipe()
		stdin := terminalInput{answer, p}
		written := func() string {
			p.mu.Lock() // Lock the line, because the timer also writes it.
			defer p.mu.Unlock()
			return b.String()
		}
		stop := p.startProgress("setup")
		fmt.Fprint(p, "a diff\nChange these files? [y/N] ")
		go func() {
			time.Sleep(time.Minute)
			fmt.Fprint(typed, "y\n")
		}()
		line, err := bufio.NewReader(stdin).ReadString('\n')
		if line != "y\n" || err != nil {
			t.Errorf("read %q, %v", line, err)
		}
		if want := "a diff\nChange these files? [y/N] "; written() != want {
			t.Errorf("while the question is open, %q was written, want %q", written(), want)
		}
		time.Sleep(progressInterval + time.Second)
		stop()
		if got := written(); !strings.Contains(got, "\rsetup: 1 s\x1b[K") || strings.Contains(got, "min") {
			t.Errorf("after the answer, it wrote %q, want 1 s", got)
		}
	})
}

// TestProgressIsForTerminals tests that no progress is shown in a pipe, with --quiet, or with --json.
func TestProgressIsForTerminals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			term environment
			want bool
		}{
			{environment{progressLine: &progressLine{now: time.Now}}, true},
			{environment{progressLine: &progressLine{now: time.Now}, isQuiet: true}, false},
			{environment{progressLine: &progressLine{now: time.Now}, wantsJSON: true}, false},
			{environment{}, false},
		} {
			var b strings.Builder
			if c.term.progressLine != nil {
				c.term.progressLine.Writer = &b
			}
			stop := c.term.startProgress("check")
			progress.NewCountReporter(c.term.withProgressReporter(t.Context()), progress.UnitFiles)(1, 2)
			time.Sleep(2 * progressDelay)
			stop()
			if (b.Len() > 0) != c.want {
				t.Errorf("%+v: progress wrote %q, want some: %v", &c.term, b.String(), c.want)
			}
		}
	})
}

// TestCompletion tests shell completions with a real memory.
func TestCompletion(t *testing.T) {
	w := newScreen(t)
	w.must(t, "profile", "new", "vtt", "--project", "harbor")
	w.must(t, "remember", "spaced", "x", "--tag", "two words", "--tag", "db-2")
	for _, c := range []struct {
		args, want string
	}{
		{"recall project:h", "project:harbor"},
		{"recall pool -tag:d", "-tag:db -tag:db-2"},
		{"recall pool tag:two", ""},
		{"recall pro", "project:"},
		{"recall kind:j", "kind:journal"},
		{"list project:", "project:a-very-long-project-name project:harbor"},
		{"export project:h", "project:harbor"},
		{"recall --rank ", "oxbow seed"},
		{"recall --tag d", "db db-2"},
		{"recall --limit ", ""},
		{"label rename tag:db", "tag:db tag:db-2"},
		{"label rename tag:db tag:db-", "tag:db-2"},
		{"label rename a b tag:d", ""},
		{"label merge tag:db project:h", "project:harbor"},
		{"label add tag:d", "tag:db tag:db-2"},
		{"label add tag:x --where project:h", "project:harbor"},
		{"label add tag:x --name conn", "connection pool"},
		{"label list project:h", "project:harbor"},
		{"get con", "connection pool"},
		{"get x con", ""},
		{"remember con", "connection pool"},
		{"remember x con", ""},
		{"restore con", "connection pool"},
		{"profile show v", "vtt"},
		{"profile diff vtt v", "vtt"},
		{"profile new v", ""},
		{"profile lint vtt v", "vtt"},
		{"context --profile v", "vtt"},
		{"mcp --tools c", "code core"},
		{"mcp --kind j", "journal"},
		{"convert --to cr", "crabtalk"},
		{"import --format j", "jsonl"},
		{"annotate import --format g", "git-ai"},
		{"init --dialect cl", "clawft"},
		{"completion z", "zsh"},
		{"stats ", ""},
	} {
		words := strings.Split(c.args, " ")
		out := w.must(t, append([]string{"__completeNoDesc"}, words...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		got := strings.Join(lines[:len(lines)-1], " ")
		if got != c.want {
			t.Errorf("oxbow %s<Tab> offers %q, want %q", c.args, got, c.want)
		}
	}
	for _, c := range []struct {
		args string
		want cobra.ShellCompDirective
	}{
		{"import n", cobra.ShellCompDirectiveDefault}, {"dump d", cobra.ShellCompDirectiveFilterDirs},
		{"why x", cobra.ShellCompDirectiveDefault},
		{"remember --file x", cobra.ShellCompDirectiveDefault},
		{"recall tag", cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace},
		{"export x", cobra.ShellCompDirectiveDefault}, {"remember --content x", cobra.ShellCompDirectiveNoFileComp},
	} {
		out := w.must(t, append([]string{"__completeNoDesc"}, strings.Split(c.args, " ")...)...)
		if want := fmt.Sprintf(":%d", c.want); !strings.HasSuffix(strings.TrimSpace(out), want) {
			t.Errorf("oxbow %s<Tab> ends with %q, want %s", c.args, out, want)
		}
	}
}

// TestEveryFlagIsCompleted tests that the shell offers files for a flag's value only if the value is a file.
func TestEveryFlagIsCompleted(t *testing.T) {
	mem := newLazyMemory(newWorld(t).env)
	root := mem.rootCommand(Run)
	mem.addCompletions(root)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			kind, _ := pflag.UnquoteUsage(f)
			_, ok := c.GetFlagCompletionFunc(f.Name)
			if file := kind == "FILE" || kind == "DIR"; !ok && !file && f.Value.Type() != "bool" {
				t.Errorf("%s --%s %s has no completion", c.CommandPath(), f.Name, kind)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}
