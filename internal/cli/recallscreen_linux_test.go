// This file types into the screen of oxbow recall -i on a pseudo-terminal.

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// screenRun is a run of oxbow on a terminal, with the text that the terminal displays.
type screenRun struct {
	t       *testing.T
	cmd     *exec.Cmd
	person  *os.File
	program *os.File // the end of the terminal that the program uses
	before  unix.Termios
	came    chan string // output that was read from the terminal
	rows    []string
	row     int
	left    string // incomplete control sequence at the end of the output
	raw     strings.Builder
}

// onScreen starts oxbow on a terminal of the given size.
func onScreen(t *testing.T, dir string, width, height int, vars []string, args ...string) *screenRun {
	t.Helper()
	person, program := testenv.OpenTerminal(t)
	t.Cleanup(func() { program.Close() })
	s := &screenRun{t: t, person: person, program: program, came: make(chan string)}
	s.size(width, height)
	s.before = s.settings()
	s.cmd = exec.Command("oxbow", args...)
	s.cmd.Dir, s.cmd.Env = dir, append(append(os.Environ(), "HOME="+
		dir, "OXBOW_HOME=", "OXBOW_PROFILE=", "OXBOW_AGENT=", "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "TERM=xterm",
		"NO_COLOR=", "VISUAL="), vars...)
	s.cmd.Stdin = program
	s.cmd.Stdout = program
	s.cmd.Stderr = program
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	go func() {
		for {
			b := make([]byte, 4096)
			n, err := person.Read(b)
			select {
			case s.came <- string(b[:n]):
			case <-t.Context().Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

// size changes the terminal's size, and clears the displayed text.
func (s *screenRun) size(width, height int) {
	s.t.Helper()
	s.rows = make([]string, height)
	if err := unix.IoctlSetWinsize(
		int(s.program.Fd()),
		unix.TIOCSWINSZ,
		&unix.Winsize{Row: uint16(height), Col: uint16(width)},
	); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screenRun) settings() unix.Termios {
	s.t.Helper()
	got, err := unix.IoctlGetTermios(int(s.program.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *got
}

// control matches a control sequence at the beginning of the output that the recall screen writes to the terminal.
var control = regexp.MustCompile(`^\x1b\[([?0-9;]*)([A-Za-z])`)

// feed applies the program's output to the displayed text.
func (s *screenRun) feed(text string) {
	s.raw.WriteString(text)
	for text = s.left + text; text != ""; {
		m := control.FindStringSubmatch(text)
		switch {
		case m == nil && text[0] == 0x1b && len(text) < 16:
			s.left = text
			return
		case m == nil:
			n := max(strings.IndexByte(text[1:], 0x1b)+1, 1)
			if n == 1 && text[0] != 0x1b {
				n = len(text)
			}
			s.rows[s.row] += text[:n]
			text = text[n:]
			continue
		case m[2] == "H":
			row, _, _ := strings.Cut(m[1], ";")
			n, _ := strconv.Atoi(row)
			s.row = min(n, len(s.rows)) - 1
		case m[2] == "K": // The cursor is at the beginning of a row here, so the whole row is erased.
			s.rows[s.row] = ""
		case m[2] == "J":
			clear(s.rows)
		}
		text = text[len(m[0]):]
	}
	s.left = ""
}

// until waits until the screen displays all of these texts.
func (s *screenRun) until(texts ...string) {
	s.t.Helper()
	late := time.After(30 * time.Second)
	for {
		shown, missing := strings.Join(s.rows, "\n"), ""
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		select {
		case text := <-s.came:
			s.feed(text)
		case <-late:
			s.t.Fatalf("the screen lacks %q:\n%s", missing, shown)
		}
	}
}

func (s *screenRun) types(keys string) {
	s.t.Helper()
	if _, err := s.person.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// lastMark is written to the terminal after the program has ended.
const lastMark = "(end)"

// ends waits until the program ends. It checks the exit status, and that the program has restored the terminal.
func (s *screenRun) ends(status int) {
	s.t.Helper()
	done := make(chan struct{})
	go func() {
		_ = s.cmd.Wait()
		close(done)
	}()
	for waits := done; waits != nil || !strings.HasSuffix(s.raw.String(), lastMark); {
		select {
		case <-waits:
			waits = nil
			_, _ = s.program.WriteString(lastMark) // Everything before this mark is the program's output.
		case text := <-s.came:
			s.raw.WriteString(text)
		}
	}
	if got := s.cmd.ProcessState.ExitCode(); got != status {
		s.t.Errorf("it ended with status %d, want %d; it wrote %q", got, status, s.raw.String())
	}
	s.isRestored()
}

func (s *screenRun) isRestored() {
	s.t.Helper()
	if now := s.settings(); now != s.before {
		s.t.Errorf("the terminal's settings are %+v, want %+v", now, s.before)
	}
	raw := s.raw.String()
	for _, mode := range []string{"?1049", "?2004"} {
		if strings.LastIndex(raw, mode+"l") < strings.LastIndex(raw, mode+"h") {
			s.t.Errorf("mode %s is still on after %q", mode, raw)
		}
	}
	for _, mode := range []string{"?25", "?7"} {
		if strings.LastIndex(raw, mode+"h") < strings.LastIndex(raw, mode+"l") {
			s.t.Errorf("mode %s is still off after %q", mode, raw)
		}
	}
}

// screenHome creates a memory. It returns the directory, and a function that runs oxbow there.
func screenHome(t *testing.T) (dir string, oxbow func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	oxbow = func(args ...string) string {
		t.Helper()
		cmd := exec.Command("oxbow", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+
			dir, "OXBOW_HOME=", "OXBOW_PROFILE=", "OXBOW_AGENT=", "XDG_DATA_HOME=", "XDG_CONFIG_HOME=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("oxbow %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	oxbow("init")
	oxbow("remember", "retry", "Never retry a payment without a key.", "--project", "harbor")
	oxbow("remember", "deploy", "Deploy before noon.", "--project", "harbor")
	return dir, oxbow
}

const keyDown = "\x1b[B"

// TestRecallScreen types a query, reads, edits, deletes and undoes, and returns to the shell.
func TestRecallScreen(t *testing.T) {
	dir, oxbow := screenHome(t)
	s := onScreen(
		t,
		dir,
		80,
		24,
		[]string{"EDITOR=fake-editor append ' And pay once.'"},
		"recall",
		"-i",
		"--project",
		"harbor",
	)
	s.until("2 entries, newest first", "Esc quits")
	s.types("paym")
	s.until("> paym", `no entry holds "paym"`)
	s.types("ent")
	s.until("> payment", "1 entry", "▸ retry", "Never retry a payment")
	s.types(keyDown + "e")
	s.until("updated retry", "Never retry a payment without a key. And pay once.")
	s.types("u")
	s.until("undone: update retry")
	if got := oxbow("get", "retry"); got != "Never retry a payment without a key." {
		t.Errorf("after undo the entry is %q", got)
	}
	s.types("d")
	s.until("Forget retry? y forgets it")
	s.types("y")
	s.until("forgot retry", "nothing found")
	s.types("u")
	s.until("undone: remove retry", "▸ retry")

	// At the next key, the screen must show what another process wrote.
	oxbow("remember", "refund", "A payment may be refunded for a month.", "--project", "harbor")
	s.types("j")
	s.until("refund", "2 entries")

	// Show the whole entry after the size has changed.
	s.types("\x0f")
	s.until("version", "labels", "project:harbor", "goes back")
	s.size(40, 10)
	s.until("version", "labels", "↑↓ · e edit · d forget · u undo · Esc")
	s.types("\x1b")
	s.until("> payment", "2 entries", "e edit · d forget · u undo · Tab · Esc")
	for _, row := range s.rows {
		if countColumns(row) > 40 {
			t.Errorf("at 40 columns, row %q has %d", row, countColumns(row))
		}
	}
	s.types("\x1b")
	s.ends(exitSuccess)
	oxbow("check")
}

// TestRecallScreenPrintsTheChoice tests that Ctrl-Y copies the chosen entry by OSC 52, and that Enter prints the entry
// below the shell's prompt.
func TestRecallScreenPrintsTheChoice(t *testing.T) {
	dir, oxbow := screenHome(t)
	s := onScreen(t, dir, 80, 24, nil, "recall", "-i", "noon")
	s.until("▸ deploy")
	s.types("\x19")
	s.until("copied deploy")
	if want := "\x1b]52;c;RGVwbG95IGJlZm9yZSBub29uLg==\a"; !strings.Contains(s.raw.String(), want) {
		t.Errorf("after Ctrl-Y the terminal got %q, want %q in it", s.raw.String(), want)
	}
	s.types("\r")
	s.ends(exitSuccess)
	_, after, _ := strings.Cut(s.raw.String(), "?1049l")
	if !strings.Contains(after, "Deploy before noon.") {
		t.Errorf("after Enter the terminal shows %q, want the entry", after)
	}
	oxbow("check")
}

// TestRecallScreenConflict tests two concurrent edits of an entry. The second must be saved in a file, whose name must
// be displayed on the screen and printed afterwards.
func TestRecallScreenConflict(t *testing.T) {
	dir, oxbow := screenHome(t)
	s := onScreen(t, dir, 80, 24, []string{"EDITOR=fake-editor race deploy"}, "recall", "-i", "noon")
	s.until("▸ deploy")
	s.types(keyDown + "e")
	s.until(`entry "deploy" changed since it was read`, "your text is kept in")
	s.types("\x03")
	s.ends(exitSuccess)
	kept, err := filepath.Glob(filepath.Join(dir, ".oxbow", "unsaved", "deploy.*.md"))
	if err != nil || len(kept) != 1 || strings.Count(s.raw.String(), filepath.Base(kept[0])) < 1 {
		t.Fatalf("kept are %v (%v), and the terminal shows %q", kept, err, s.raw.String())
	}
	if text, err := os.ReadFile(kept[0]); err != nil || string(text) != "Deploy before noon. and my edit" {
		t.Errorf("kept is %q (%v)", text, err)
	}
	if got := oxbow("get", "deploy"); got != "what another wrote" {
		t.Errorf("the entry is %q", got)
	}
	oxbow("check")
}

// TestRecallScreenRestoresTheTerminal tests that the terminal is restored whenever the screen ends or is suspended.
func TestRecallScreenRestoresTheTerminal(t *testing.T) {
	dir, oxbow := screenHome(t)
	for name, c := range map[string]struct {
		signal syscall.Signal
		status int
	}{
		"term":      {syscall.SIGTERM, exitCommandFailed},
		"hangup":    {syscall.SIGHUP, exitCommandFailed},
		"interrupt": {syscall.SIGINT, exitCommandFailed},
		"quit":      {syscall.SIGQUIT, exitCommandFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := onScreen(t, dir, 80, 24, nil, "recall", "-i", "noon")
			s.until("▸ deploy")
			if s.settings() == s.before {
				t.Fatal("the terminal is not in raw mode")
			}
			if err := s.cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			s.ends(c.status)
			if !strings.HasSuffix(s.raw.String(), "oxbow: stopped\r\n"+lastMark) {
				t.Errorf("it wrote %q, want that it stopped", s.raw.String())
			}
		})
	}
	for _, by := range []string{"Ctrl-Z", "SIGTSTP"} {
		t.Run(by, func(t *testing.T) {
			s := onScreen(t, dir, 80, 24, nil, "recall", "-i", "noon")
			s.until("▸ deploy")
			for range 2 {
				if by == "Ctrl-Z" {
					s.types("\x1a")
				} else if err := s.cmd.Process.Signal(syscall.SIGTSTP); err != nil {
					t.Fatal(err)
				}
				var ws syscall.WaitStatus
				if _, err := syscall.Wait4(s.cmd.Process.Pid, &ws, syscall.WUNTRACED, nil); err != nil ||
					!ws.Stopped() {
					t.Fatalf("it is %v (%v), want it stopped", ws, err)
				}
				if s.settings() != s.before {
					t.Error("while it is stopped, the terminal is in raw mode")
				}
				_, _ = s.program.WriteString("(stopped)") // Everything before this mark is the program's output.
				s.until("(stopped)")
				clear(s.rows)
				if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				s.until("> noon", "▸ deploy")
			}
			s.types("\x03")
			s.ends(exitSuccess)
		})
	}
	oxbow("check")
}

// TestNoScreen tests that the error advises to leave out -i if no screen can be shown.
func TestNoScreen(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "style", "Tabs.")
	w.env.IsStdoutTerminal = true
	for _, vars := range []map[string]string{{}, {"TERM": "dumb"}, {"NO_COLOR": "1"}} {
		w.env.IsStdinTerminal = len(vars) > 0
		for k, v := range vars {
			w.vars[k] = v
		}
		status, out, errs := w.run(t, "recall", "-i", "tabs")
		if status != exitUsageError || out != "" || !strings.Contains(errs, "leave -i out") {
			t.Errorf("with %v: %d, %q, %q", vars, status, out, errs)
		}
		if got := w.must(t, "recall", "-i", "tabs", "--json"); !strings.Contains(got, `"name": "style"`) {
			t.Errorf("with %v, --json gives %q", vars, got)
		}
		for k := range vars {
			delete(w.vars, k)
		}
	}
	w.must(t, "check")
}

// TestRecallScreenRefusesFlags tests that wrong flags are reported before the screen appears.
func TestRecallScreenRefusesFlags(t *testing.T) {
	dir, _ := screenHome(t)
	for _, args := range [][]string{
		{"--kind", "nosuch"},
		{"--profile", "nosuch"},
		{"--limit", "0"},
		{"--as-of", "nosuch"},
	} {
		s := onScreen(t, dir, 80, 24, nil, append([]string{"recall", "-i", "noon"}, args...)...)
		s.ends(exitUsageError)
		if raw := s.raw.String(); !strings.HasPrefix(raw, "oxbow: ") || strings.Contains(raw, "\x1b") {
			t.Errorf("%q: the terminal shows %q", args, raw)
		}
	}
}
