// This file tests that setup recognizes what it wrote even if the program is not named oxbow.

package setup

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestOtherProgramNames tests the setup of each client with an executable that is not named oxbow. The setup must be
// complete. If another oxbow is installed, Findings must warn that the client uses the first executable, and the next
// setup must replace it. Removing oxbow must restore all files.
func TestOtherProgramNames(t *testing.T) {
	for _, name := range []string{"oxbow-1.2", "ox"} {
		for _, c := range Clients() {
			if c.Name == "goose" {
				continue // setup writes no server for Goose, and TestGolden covers Goose's hooks
			}
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				dir := t.TempDir()
				w, o := world(dir), options()
				o.Executable = filepath.Join(dir, "old", name)
				write(t, o.Executable, "program")
				write(t, filepath.Join(dir, "bin/oxbow"), "another program")
				before := tree(t, dir)

				run(t, c, w, o, false)
				checkSetUp(t, c, w, o)
				newer := o
				newer.Executable = filepath.Join(dir, "bin/oxbow")
				in := &Inspection{Machine: w, Options: newer, ComparesFiles: true}
				if found := in.Findings(context.Background()); found[0].Level != levelWarning ||
					!strings.Contains(found[0].Message, "another oxbow is set up, "+o.Executable) {
					t.Errorf("for %s, Find = %+v", newer.Executable, found)
				}
				run(t, c, w, newer, false)
				checkSetUp(t, c, w, newer)
				for path, text := range tree(t, w.UserHomeDir) {
					isRecord := strings.Contains(path, "oxbow/setup")
					if !isRecord && strings.Contains(text, filepath.Join("old", name)) {
						t.Errorf("%s still starts %s:\n%s", path, name, text)
					}
				}
				run(t, c, w, o, true)
				equalTrees(t, "removed", tree(t, dir), before)
			})
		}
	}
}

// checkSetUp checks that a second setup with the same options changes nothing, and that the findings only say that the
// client is set up.
func checkSetUp(t *testing.T, c *Client, w Machine, o Options) {
	t.Helper()
	for _, ch := range run(t, c, w, o, false) {
		if !ch.IsUnchanged() {
			t.Errorf("a second run changes %s:\n%s", ch.Path, ch.Diff())
		}
	}
	o.TrustCodexHooks = c.Name == "codex"
	run(t, c, w, o, false)
	if len(c.ServerEntries(w, Options{Executable: o.Executable})) != 1 {
		t.Errorf("the servers are %+v", c.ServerEntries(w, o))
	}
	in := &Inspection{Machine: w, Options: o, ComparesFiles: true}
	for _, f := range in.Findings(context.Background()) {
		if f.Level != LevelOK || f.Mend != "" {
			t.Errorf("for %s, the finding is %+v", o.Executable, f)
		}
	}
}

// TestOwnPrograms checks which programs count as oxbow.
func TestOwnPrograms(t *testing.T) {
	own := oxbowPrograms{paths: []string{`C:\Tools\Ox.exe`, "/opt/ox"}, isWindows: true}
	for path, want := range map[string]bool{
		"oxbow": true, "/usr/bin/oxbow": true, `C:\bin\OXBOW.EXE`: true, "/opt/oxbow-1.2": true, "/opt/oxbow-v2": true,
		"/opt/oxbow1.2": true, "/opt/ox": true, `c:\tools\ox.exe`: true,
		"/opt/oxbowd": false, "/opt/oxbow-proxy": false, "/usr/bin/ox": false, "ox": false, "/opt/oxbow/server": false,
	} {
		if got := own.isOxbow(path); got != want {
			t.Errorf("contain(%s) = %t, want %t", path, got, want)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if (oxbowPrograms{paths: []string{"/opt/ox"}}).isOxbow("/OPT/OX") {
		t.Error("paths are compared without regard to case")
	}
}
