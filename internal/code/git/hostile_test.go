// This file tests repositories that try to run commands. Each command would create a marker file, so a marker proves
// that a command ran. To show that the traps work, plain git is run as well and creates some markers.

//go:build unix

package git

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// trap writes an executable script to the directory dir and returns the script's path. If git runs the script, the
// script creates the file marker-NAME in dir, where NAME is the parameter name. Then the script prints the file that
// its first argument names, as a converter does.
func (g *repo) trap(dir, name string) string {
	g.t.Helper()
	path := filepath.Join(dir, "trap-"+name)
	script := fmt.Sprintf(
		"#!/bin/sh\n: > '%s'\n[ -n \"$1\" ] && [ -f \"$1\" ] && cat \"$1\" && exit 0\nexit 1\n",
		filepath.Join(dir, "marker-"+name),
	)
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
	g.git("notes", "--ref=ai", "add", "-m", "a note", head)

	config := ""
	set := func(section, key, name string) {
		config += fmt.Sprintf("[%s]\n\t%s = %s\n", section, key, g.trap(traps, name))
	}
	for _, s := range [][3]string{
		{"core", "fsmonitor", "fsmonitor"}, {"core", "pager", "pager"}, {"core", "editor", "editor"},
		{"core", "askPass", "askpass"},
		{"core", "sshCommand", "ssh"}, {"core", "gitProxy", "proxy"}, {"core", "alternateRefsCommand", "alternates"},
		{"diff", "external", "external"}, {`diff "evil"`, "textconv", "textconv"},
		{`diff "evil"`, "command", "diffcommand"},
		{`filter "evil"`, "clean", "clean"}, {`filter "evil"`, "smudge", "smudge"},
		{`filter "evil"`, "process", "process"},
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
	for _, h := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc",
		"fsmonitor-watchman"} {
		script, err := os.ReadFile(g.trap(traps, "hook-"+h))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(hooks, h), script, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	written := filepath.Join(traps, "marker-output")
	config += fmt.Sprintf(
		"[core]\n\thooksPath = %s\n\tattributesFile = %s\n\tworktree = %s\n[log]\n\tshowSignature = true\n\toutput = "+
			"%s\n[diff]\n\tnoprefix = true\n\trenames = false\n[color]\n\tui = always\n[blame]\n\tignoreRevsFile = "+
			"/etc/passwd\n[mailmap]\n\tfile = /etc/hostname\n",
		hooks, filepath.Join(g.dir, ".gitattributes"), g.dir, written,
	)
	// A partial clone names a program that fetches missing objects.
	config += fmt.Sprintf(
		"[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tpartialClone = evil\n[remote \"evil\"]\n\turl = "+
			"\"ext::%s %%S\"\n\tpromisor = true\n\tuploadpack = %s\n[remote \"evil2\"]\n\turl = "+
			"ssh://evil.invalid/x\n\tpromisor = true\n[protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = "+
			"always\n[protocol \"ssh\"]\n\tallow = always\n",
		g.trap(traps, "ext"), g.trap(traps, "uploadpack"),
	)
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
	if err := os.WriteFile(
		filepath.Join(g.dir, ".git", "info", "attributes"),
		[]byte("* diff=evil filter=evil\n"),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	missing := strings.Repeat("ab", 20)

	// Plain git must run into the traps, which shows that they are set. The filter process is left out of some runs,
	// because it ends git before git reaches the other traps.
	for _, args := range [][]string{
		{"-c", "filter.evil.process=", "show", "--format=", "--no-ext-diff", "HEAD"},
		{"status"},
		{"cat-file", "-p", missing},
	} {
		cmd := exec.Command(g.program, args...)
		cmd.Dir = g.dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		out, err := cmd.CombinedOutput()
		t.Logf("git %v: %v %.200q", args, err, out) // Ignore git's error, because only the markers matter.
	}
	if got := strings.Join(markers(t, traps), " "); !strings.Contains(got, "fsmonitor") ||
		!strings.Contains(got, "textconv") || !strings.Contains(got, "ext") {
		t.Fatalf("plain git ran %q: the traps are not set", got)
	}

	r := g.find()
	if got, err := r.HeadCommit(t.Context()); got != head || err != nil {
		t.Errorf("Head = %s, %v, want %s", got, err, head)
	}
	if got, err := r.ReadBlobs(t.Context(), []string{blob, missing}); err != nil ||
		string(got[blob]) != text+"more\n" ||
		len(got) != 1 {
		t.Errorf("Blobs = %q, %v, want one", got, err)
	}
	for _, name := range []string{"HEAD", "main", "@{-1}", "HEAD~1", "--exec=x"} {
		_, _ = r.ResolveRevision(t.Context(), name) // Ignore the error, because only the markers matter.
	}
	if got, err := r.MergeBase(t.Context(), one, head); got != one || err != nil {
		t.Errorf("MergeBase = %s, %v, want %s", got, err, one)
	}
	if got, err := r.ListCommitFiles(t.Context(), head); got["a.txt"] != blob || len(got) != 2 || err != nil {
		t.Errorf("Files = %v, %v, want a.txt and the attributes", got, err)
	}
	if got, err := r.FindCurrentNames(t.Context(), []string{"old.txt"}); got["old.txt"] != "a.txt" || err != nil {
		t.Errorf("Renamed = %v, %v, want a.txt", got, err)
	}
	if got, _, err := r.IndexEntries(); len(got) != 2 || err != nil {
		t.Errorf("Index = %v, %v, want two files", got, err)
	}
	if got, err := r.BlobAt(t.Context(), head, "a.txt"); got != blob || err != nil {
		t.Errorf("At = %s, %v, want %s", got, err, blob)
	}
	if got, err := r.FormerNames(t.Context(), "a.txt", nil); err != nil || len(got) != 1 || got[0] != "old.txt" {
		t.Errorf("Names = %q, %v, want old.txt", got, err)
	}
	if _, after, err := r.BlobsAroundTime(t.Context(), "a.txt", time.Unix(0, 0)); err != nil || len(after) != 40 {
		t.Errorf("Around = %q, %v, want a blob", after, err)
	}
	if got, _, err := r.LaterNames(t.Context(), "old.txt"); err != nil || len(got) != 1 || got[0] != "a.txt" {
		t.Errorf("Successors = %q, %v, want a.txt", got, err)
	}
	if got, err := r.FilesChangedWith(t.Context(), one, "old.txt"); err != nil || len(got) != 2 {
		t.Errorf("Alongside = %q, %v, want two", got, err)
	}
	if got, err := r.Blame(t.Context(), head, "a.txt"); err != nil || len(got) != 11 {
		t.Errorf("Blame = %d lines, %v, want 11", len(got), err)
	}
	if got, err := r.ReadNotes(t.Context(), "refs/notes/ai"); err != nil || string(got[head]) == "" || len(got) != 1 {
		t.Errorf("Notes = %q, %v, want one", got, err)
	}
	if got, err := r.BlobsAt(
		t.Context(),
		[]FileAtCommit{
			{head, "a.txt"},
			{missing, "a.txt"},
			{head, "../a.txt"},
			{head, "./a.txt"},
			{head, "a\nb"},
			{one, "old.txt"},
			{head, ""},
		},
	); err != nil ||
		got[0] != blob || strings.Join(got[1:5], "") != "" || got[5] == "" || got[6] != "" {
		t.Errorf("BlobsAt = %q, %v", got, err)
	}
	if got, err := r.CommitTimes(t.Context(), []string{head, missing, blob}); err != nil || len(got) != 1 ||
		got[head].Year() != 2026 {
		t.Errorf("Times = %v, %v, want one", got, err)
	}
	// A missing object must be reported as missing and not be fetched.
	_, _ = r.BlobAt(t.Context(), missing, "a.txt")
	_, _ = r.FilesChangedWith(t.Context(), missing, "a.txt")
	_, _ = r.Blame(t.Context(), missing, "a.txt")
	if got := markers(t, traps); len(got) > 0 {
		t.Errorf("the repository ran %q", got)
	}
}

// TestHostileNames tests that names that git would take for options, revisions or patterns are used as plain names.
func TestHostileNames(t *testing.T) {
	g := newRepo(t)
	written := filepath.Join(t.TempDir(), "written")
	names := []string{"--output=" + written, "--contents=.git", "-S", ":(exclude)a", ":/a", "HEAD", "*", "a b\tc",
		"@{u}", "ü"}
	for _, n := range names {
		g.write(n, "a line in "+n+"\nanother\n")
	}
	head := g.commit("one")
	r := g.find()
	var places []FileAtCommit
	for _, n := range names {
		places = append(places, FileAtCommit{head, n})
		at, err := r.BlobAt(t.Context(), head, n)
		if err != nil || at == "" {
			t.Errorf("At(%q) = %q, %v", n, at, err)
		}
		if lines, err := r.Blame(t.Context(), head, n); err != nil || len(lines) != 2 {
			t.Errorf("Blame(%q) = %v, %v", n, lines, err)
		}
		if before, err := r.FormerNames(t.Context(), n, nil); err != nil || len(before) != 0 {
			t.Errorf("Names(%q) = %q, %v", n, before, err)
		}
	}
	blobs, err := r.BlobsAt(t.Context(), places)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range blobs {
		if want, err := r.BlobAt(t.Context(), head, names[i]); err != nil || b != want {
			t.Errorf("BlobsAt(%q) = %q, want %q, %v", names[i], b, want, err)
		}
	}
	for _, rev := range []string{"HEAD", "--output=" + written, head[:10], strings.ToUpper(head), head + "^", "", head +
		"\n" + head} {
		_, err1 := r.BlobAt(t.Context(), rev, "HEAD")
		_, err2 := r.Blame(t.Context(), rev, "HEAD")
		_, err3 := r.FilesChangedWith(t.Context(), rev, "HEAD")
		_, err4 := r.ReadBlobs(t.Context(), []string{rev})
		_, err5 := r.BlobsAt(t.Context(), []FileAtCommit{{rev, "HEAD"}})
		_, err6 := r.CommitTimes(t.Context(), []string{rev})
		for i, err := range []error{err1, err2, err3, err4, err5, err6} {
			if err == nil || !strings.Contains(err.Error(), "not the whole hex name") {
				t.Errorf("%d: revision %q gives %v, want it refused", i, rev, err)
			}
		}
	}
	for _, ref := range []string{"HEAD", "refs/../HEAD", "refs/../../out", "/etc/passwd", "", "refs/heads/main/../x"} {
		if got, err := r.ResolveRef(t.Context(), ref); err == nil {
			t.Errorf("Ref(%q) = %q, want it refused", ref, got)
		}
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("git wrote a file")
	}
}

// TestHostileFiles tests a repository in which pipes and links replace files. Reading must not wait for a pipe and
// must not follow a link out of the repository.
func TestHostileFiles(t *testing.T) {
	g := newRepo(t)
	g.write("a", "a\n")
	head := g.commit("one")
	dot := filepath.Join(g.dir, ".git")
	if err := os.MkdirAll(filepath.Join(dot, "refs", "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(path string) error{
		"refs/notes/ai": func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"shallow":       func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"refs/notes/x":  func(p string) error { return os.Symlink("/etc/passwd", p) },
	} {
		if err := make(filepath.Join(dot, name)); err != nil {
			t.Skipf("cannot make %s here: %v", name, err)
		}
	}
	r := g.find()
	for _, ref := range []string{"refs/notes/ai", "refs/notes/x"} {
		if got, err := r.ResolveRef(t.Context(), ref); err == nil || strings.Contains(fmt.Sprint(got, err), "root:") {
			t.Errorf("Ref(%s) = %q, %v, want it refused", ref, got, err)
		}
	}
	if _, err := r.BlobAt(t.Context(), head, "a"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("At with a pipe for the list of shallow commits = %v, want it refused", err)
	}
	if err := os.Remove(filepath.Join(dot, "shallow")); err != nil {
		t.Fatal(err)
	}
	// Write notes whose tree has paths that are not object names.
	tree := g.git("write-tree")
	g.git("update-ref", "refs/notes/odd", g.git("commit-tree", "-m", "odd", tree))
	if got, err := r.ReadNotes(t.Context(), "refs/notes/odd"); err != nil || len(got) != 0 {
		t.Errorf("Notes of a tree of files = %v, %v, want none", got, err)
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
	if _, err := FindRepo(g.dir, nil); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("FindRepo of another user's repository = %v, want an error that says so", err)
	}
}
