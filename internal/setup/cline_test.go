// This file tests the programs that Cline runs as hooks.

package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestClineHook runs a hook as Cline does. The hook must print oxbow's answer, or an answer without context.
func TestClineHook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Cline runs no hooks on Windows")
	}
	for answer, want := range map[string]string{
		"": `{"cancel":false}`,
		`{"cancel":false,"contextModification":"C"}`: `{"cancel":false,"contextModification":"C"}`,
	} {
		dir := t.TempDir()
		w, o := world(dir), options()
		o.Executable = filepath.Join(dir, "the oxbow")
		program := "#!/bin/sh\ncat >/dev/null\n[ \"$1 $2\" = 'hook cline' ] || exit 1\nprintf '%s' '" + answer + "'\n"
		if err := os.WriteFile(o.Executable, []byte(program), 0o700); err != nil {
			t.Fatal(err)
		}
		run(t, FindClient("cline"), w, o, false)
		hook := exec.CommandContext(t.Context(), filepath.Join(w.UserHomeDir, "Documents/Cline/Hooks/TaskStart"))
		hook.Stdin = strings.NewReader("{}")
		out, err := hook.Output()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("with the answer %q, the hook prints %q, %v, want %q", answer, out, err, want)
		}
	}
}

// TestClineForeignHook checks that setup neither replaces nor removes a hook that is another program.
func TestClineForeignHook(t *testing.T) {
	dir := t.TempDir()
	w, o := world(dir), options()
	path := filepath.Join(w.UserHomeDir, "Documents/Cline/Hooks/TaskStart")
	write(t, path, "#!/bin/sh\necho '{}'\n")
	if _, err := FindClient("cline").Plan(w, o); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("Plan = %v, want an error that names the other program's hook", err)
	}
	before := tree(t, dir)
	run(t, FindClient("cline"), w, o, true)

	// Another program replaces the hook that setup has written. The removal of oxbow keeps the other program's hook.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	run(t, FindClient("cline"), w, o, false)
	write(t, path, "#!/bin/sh\necho '{}'\n")
	run(t, FindClient("cline"), w, o, true)
	equalTrees(t, "another program's hook in place of oxbow's", tree(t, dir), before)

	// The user combines both programs by hand. Neither a second setup nor the removal changes the file.
	run(t, FindClient("cline"), w, o, true)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	run(t, FindClient("cline"), w, o, false)
	script, err := os.ReadFile(path)
	if err != nil || !isClineHookScript(string(script)) {
		t.Fatalf("the hook of oxbow is %q, %v", script, err)
	}
	combined := strings.Replace(string(script), "answer=", "/usr/local/bin/guard || exit 1\nanswer=", 1)
	write(t, path, combined)
	for _, remove := range []bool{false, true} {
		run(t, FindClient("cline"), w, o, remove)
		if text, err := os.ReadFile(path); err != nil || string(text) != combined {
			t.Errorf("remove %t: the combined hook is %q, %v", remove, text, err)
		}
	}
	write(t, path, "#!/bin/sh\necho '{}'\n")

	o.NoInject = true
	run(t, FindClient("cline"), w, o, false)
	run(t, FindClient("cline"), w, o, true)
	equalTrees(t, "another program's hook", tree(t, dir), before)
}
