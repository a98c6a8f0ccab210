// This file holds repositories that try to run commands. Each command makes a
// marker; a marker that appears is a hole. That the traps work at all is shown
// by plain git, which runs into some.

//go:build unix

package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trap makes a script that writes a marker of that name, and copies what it is
// given, so that converters work.
func (g *repo) trap(dir, name string) string {
	g.t.Helper()
	path := filepath.Join(dir, "trap-"+name)
	script := fmt.Sprintf("#!/bin/sh\n: > '%s'\n[ -n \"$1\" ] && [ -f \"$1\" ] && cat \"$1\" && exit 0\nexit 1\n", filepath.Join(dir, "marker-"+name))
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		g.t.Fatal(err)
	}
	return path
}

func markers(t *testing.T, dir string) []string {
	t.Helper()
	ms, err := filepath.Glob(filepath.Join(dir, "marker-*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range ms {
		if err := os.Remove(m); err != nil {
			t.Fatal(err)
		}
		ms[i] = strings.TrimPrefix(filepath.Base(m), "marker-")
	}
	return ms
}

func TestHostileRepository(t *testing.T) {
	g := newRepo(t)
	traps := t.TempDir()
	text := strings.Repeat("a line that is long enough\n", 10)
	g.write("old.txt", text)
	one := g.commit("one")
	g.git("mv", "old.txt", "a.txt")
	g.write(".gitattributes", "* diff=evil filter=evil merge=evil\n")
	g.commit("two")
	g.write("a.txt", text+"more\n")
	head := g.commit("three")
	blob := g.git("rev-parse", "HEAD:a.txt")

	config := ""
	set := func(section, key, name string) {
		config += fmt.Sprintf("[%s]\n\t%s = %s\n", section, key, g.trap(traps, name))
	}
	for _, s := range [][3]string{
		{"core", "fsmonitor", "fsmonitor"}, {"core", "pager", "pager"}, {"core", "editor", "editor"}, {"core", "askPass", "askpass"},
		{"core", "sshCommand", "ssh"}, {"core", "gitProxy", "proxy"}, {"core", "alternateRefsCommand", "alternates"},
		{"diff", "external", "external"}, {`diff "evil"`, "textconv", "textconv"}, {`diff "evil"`, "command", "diffcommand"},
		{`filter "evil"`, "clean", "clean"}, {`filter "evil"`, "smudge", "smudge"}, {`filter "evil"`, "process", "process"},
		{`merge "evil"`, "driver", "driver"}, {"gpg", "program", "gpg"}, {`gpg "ssh"`, "program", "gpgssh"},
		{"pager", "log", "pagerlog"}, {"pager", "blame", "pagerblame"}, {"pager", "cat-file", "pagercat"},
		{"credential", "helper", "credential"}, {"uploadpack", "packObjectsHook", "packobjects"},
		{"sequence", "editor", "sequence"}, {"interactive", "diffFilter", "difffilter"},
	} {
		set(s[0], s[1], s[2])
	}
	for _, cmd := range []string{"blame", "log", "cat-file", "ls-tree", "rev-parse"} {
		config += fmt.Sprintf("[alias]\n\t%s = !%s\n", cmd, g.trap(traps, "alias-"+cmd))
	}
	hooks := filepath.Join(traps, "hooks")
	if err := os.Mkdir(hooks, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"} {
		script, err := os.ReadFile(g.trap(traps, "hook-"+h))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(hooks, h), script, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	written := filepath.Join(traps, "marker-output")
	config += fmt.Sprintf("[core]\n\thooksPath = %s\n\tattributesFile = %s\n\tworktree = %s\n[log]\n\tshowSignature = true\n\toutput = %s\n[diff]\n\tnoprefix = true\n\trenames = false\n[color]\n\tui = always\n[blame]\n\tignoreRevsFile = /etc/passwd\n[mailmap]\n\tfile = /etc/hostname\n",
		hooks, filepath.Join(g.dir, ".gitattributes"), g.dir, written)
	// A partial clone fetches what it lacks, by whatever program it names.
	config += fmt.Sprintf("[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = evil\n[remote \"evil\"]\n\turl = \"ext::%s %%S\"\n\tpromisor = true\n\tuploadpack = %s\n[remote \"evil2\"]\n\turl = ssh://evil.invalid/x\n\tpromisor = true\n[protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n[protocol \"ssh\"]\n\tallow = always\n",
		g.trap(traps, "ext"), g.trap(traps, "uploadpack"))
	f, err := os.OpenFile(filepath.Join(g.dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(config); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.dir, ".git", "info", "attributes"), []byte("* diff=evil filter=evil\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := strings.Repeat("ab", 20)

	// Plain git runs into the traps: they are set. (The filter that is a process
	// ends git before it comes to the others, so it is left out of some.)
	for _, args := range [][]string{{"-c", "filter.evil.process=", "show", "--format=", "--no-ext-diff", "HEAD"}, {"status"}, {"cat-file", "-p", missing}} {
		cmd := exec.Command(g.program, args...)
		cmd.Dir = g.dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		out, err := cmd.CombinedOutput()
		t.Logf("git %v: %v %.200q", args, err, out) // what counts is the markers
	}
	if got := strings.Join(markers(t, traps), " "); !strings.Contains(got, "fsmonitor") || !strings.Contains(got, "textconv") || !strings.Contains(got, "ext") {
		t.Fatalf("plain git ran %q: the traps are not set", got)
	}

	r := g.find()
	if got, err := r.Head(t.Context()); got != head || err != nil {
		t.Errorf("Head = %s, %v, want %s", got, err, head)
	}
	if got, err := r.Blobs(t.Context(), []string{blob, missing}); err != nil || string(got[blob]) != text+"more\n" || len(got) != 1 {
		t.Errorf("Blobs = %q, %v, want one", got, err)
	}
	if got, err := r.At(t.Context(), head, "a.txt"); got != blob || err != nil {
		t.Errorf("At = %s, %v, want %s", got, err, blob)
	}
	if got, err := r.Names(t.Context(), "a.txt"); err != nil || len(got) != 1 || got[0] != "old.txt" {
		t.Errorf("Names = %q, %v, want old.txt", got, err)
	}
	if _, after, err := r.Around(t.Context(), "a.txt", time.Unix(0, 0)); err != nil || len(after) != 40 {
		t.Errorf("Around = %q, %v, want a blob", after, err)
	}
	if got, _, err := r.Successors(t.Context(), "old.txt"); err != nil || len(got) != 1 || got[0] != "a.txt" {
		t.Errorf("Successors = %q, %v, want a.txt", got, err)
	}
	if got, err := r.Steps(t.Context(), one, "a.txt"); err != nil || len(got) != 2 {
		t.Errorf("Steps = %q, %v, want two", got, err)
	}
	if got, err := r.Blame(t.Context(), head, "a.txt"); err != nil || len(got) != 11 {
		t.Errorf("Blame = %d lines, %v, want 11", len(got), err)
	}
	// What is missing is missing, and not fetched.
	_, _ = r.At(t.Context(), missing, "a.txt")
	_, _ = r.Steps(t.Context(), missing, "a.txt")
	_, _ = r.Blame(t.Context(), missing, "a.txt")
	if got := markers(t, traps); len(got) > 0 {
		t.Errorf("the repository ran %q", got)
	}
}

func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a repository away")
	}
	g := newRepo(t)
	g.write("a", "a\n")
	g.commit("one")
	if err := os.Chown(filepath.Join(g.dir, ".git"), 12345, 12345); err != nil {
		t.Skipf("cannot give it away here: %v", err)
	}
	if _, err := Find(g.dir, nil); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("Find of somebody else's repository = %v, want ErrOwner", err)
	}
}
