// This file executes each row (the test case for a requirement) of the tables in testdata. It executes a row once for
// each of the row's doors, which are interfaces to the memory.

package designs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/test/vectorstest"
)

// wantRows is the number of rows in the table. A row is the test case for one requirement. wantPlays is the sum, over
// all rows, of the number of doors (interfaces to the memory) with which the row is executed. Both constants must be
// updated when the table is changed, so that no row and no door is left out by mistake.
const (
	wantRows  = 237
	wantPlays = 1039
)

// TestTable tests the table of requirements. The rows must be numbered from 1 without gaps. A door is an interface to
// oxbow, such as the command line. Each row must be executed with each door or give a reason why not. The table must
// have the expected numbers of rows and executions.
func TestTable(t *testing.T) {
	rows, err := readTable("requirements")
	if err != nil {
		t.Fatal(err)
	}
	plays, skips := 0, 0
	for i, r := range rows {
		if r.id != i+1 {
			t.Fatalf("row %d of the table has the number %d", i+1, r.id)
		}
		for _, door := range allDoors() {
			_, isSkipped := r.skipped[door]
			isPlayed := slices.Contains(r.doors, door)
			if isPlayed == isSkipped {
				t.Errorf("row %d: %s is played: %v, skipped with a reason: %v", r.id, door, isPlayed, isSkipped)
			}
			if r.known[door] != "" && !isPlayed {
				t.Errorf("row %d: %s is a known failure and not played", r.id, door)
			}
		}
		if !hasCheck(r) {
			t.Errorf("row %d checks nothing", r.id)
		}
		plays += len(r.doors)
		skips += len(r.skipped)
	}
	if len(rows) != wantRows || plays != wantPlays {
		t.Errorf("the table has %d rows and %d plays, want %d and %d", len(rows), plays, wantRows, wantPlays)
	}
	if plays+skips != len(rows)*len(allDoors()) {
		t.Errorf("%d plays and %d skips of %d rows at %d doors", plays, skips, len(rows), len(allDoors()))
	}
}

// hasCheck reports whether a row contains a step that fails if a result is wrong.
func hasCheck(r row) bool {
	return slices.ContainsFunc(r.steps, func(s step) bool {
		name := s.words[0]
		return checks()[name] != nil || slices.Contains([]string{"fail", "tools", "run"}, name)
	})
}

// TestRequirements executes each row of the table of requirements. It executes the row once for each of the row's
// doors, which are interfaces to oxbow such as the command line and HTTP.
func TestRequirements(t *testing.T) { playAll(t, "requirements") }

// TestHomes executes the rows that use memory directories (homes) which the original programs created. The original
// programs must still be able to read these homes.
func TestHomes(t *testing.T) { playAll(t, "homes") }

// playAll executes each row of a table of requirements. It executes the row once for each of its doors, which are the
// interfaces of oxbow, such as the command line. If the row lists a known failure for a door, the execution must fail.
// Otherwise, the execution must succeed.
func playAll(t *testing.T, table string) {
	rows, err := readTable(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for _, door := range r.doors {
			t.Run(fmt.Sprintf("%s/%d/%s", r.layout, r.id, door), func(t *testing.T) {
				t.Parallel()
				err := play(t, r, door)
				switch known := r.known[door]; {
				case known == "" && err != nil:
					t.Errorf("%s: %v", r.text, err)
				case known != "" && err == nil:
					t.Errorf("%s: this works now, so remove the known failure %q", r.text, known)
				}
			})
		}
	}
}

// TestRowsCanFail executes each row with a program that does nothing and prints nothing. Each row must fail. Otherwise
// it would not test anything.
func TestRowsCanFail(t *testing.T) {
	rows, err := readTable("requirements")
	if err != nil {
		t.Fatal(err)
	}
	homes, err := readTable("homes")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(rows, homes...) {
		for _, door := range r.doors {
			w := newWorld(t, r, door)
			w.isIdle = true
			if w.steps(r) == nil {
				t.Errorf("row %d at %s passes, although nothing was done: %s", r.id, door, r.text)
			}
		}
	}
}

// play executes the steps of a row, which is a requirement, through a door, which is an interface to the memory.
// Afterwards the command "oxbow check" must find no damage. If r.unsound is true, the command must report damage.
func play(t *testing.T, r row, door string) (err error) {
	w := newWorld(t, r, door)
	defer func() { err = errors.Join(err, w.door.close()) }()
	if !r.bare {
		if _, err := w.oxbow("init", "--dialect", r.layout, "-q"); err != nil {
			return err
		}
	}
	if err := w.steps(r); err != nil {
		return err
	}
	if err := w.door.close(); err != nil {
		return err
	}
	_, err = w.oxbow("check")
	if r.unsound && err == nil {
		return errors.New("oxbow check does not report the damage")
	}
	if r.unsound {
		return nil
	}
	return err
}

// steps executes the steps of the requirement r. It skips steps that are meant for other doors than w. A door is an
// interface to oxbow, such as the command line.
func (w *world) steps(r row) error {
	for _, s := range r.steps {
		if s.doors != nil && !slices.Contains(s.doors, w.name) {
			continue
		}
		if err := w.step(s); err != nil {
			return fmt.Errorf("line %d: %s: %w", s.line, s.raw, err)
		}
	}
	return nil
}

// ownSteps are the names of the actions that the tests perform without oxbow. All other actions do nothing if the field
// isIdle of the world is true.
var ownSteps = []string{"write", "append", "big", "move", "remove", "link", "now", "set", "flags"}

// idleAction returns an action that does nothing and succeeds. An action that lists tools finds none.
func idleAction(name string) action {
	return func(_ *world, _ step, args []string) (string, error) {
		if name == "tools" && len(args) > 0 {
			return "", errors.New("there are no tools")
		}
		return "", nil
	}
}

// step executes a step. The step "fail" executes the action that follows it. The action must fail, and its error
// becomes the output.
func (w *world) step(s step) (err error) {
	name, args := s.words[0], slices.Clone(s.words[1:])
	for i, arg := range args {
		args[i] = strings.NewReplacer("$HOME", w.home, "$TREE", w.tree, "$USER", w.user).Replace(arg)
		if arg == "$EMBED" {
			args[i] = vectorstest.NewServer(w.t).URL
		}
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the step has too few arguments: %v", r)
		}
	}()
	if test, found := checks()[name]; found {
		return test(w, args)
	}
	mustFail := name == "fail"
	if mustFail {
		name, args = args[0], args[1:]
	}
	act, found := actions()[name]
	if !found {
		return fmt.Errorf("there is no step %q", name)
	}
	if w.isIdle && !slices.Contains(ownSteps, name) {
		act = idleAction(name)
	}
	w.out, err = act(w, s, args)
	switch {
	case errors.Is(err, errNoWay), !mustFail:
		return err
	case err == nil:
		return fmt.Errorf("it succeeded: %s", w.out)
	}
	w.out = err.Error()
	return nil
}

// runGit runs git in a directory.
func runGit(dir string, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %q: %w: %s", args, err, out)
	}
	return nil
}
