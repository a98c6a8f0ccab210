//go:build unix

// This file tests malicious repositories. Whatever is read, created or written in them, nothing outside may change, no
// program may run, and no call may hang.

package team

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// digest returns a SHA-256 hash of the paths, modes, sizes, times and contents of all files in a directory. Tests use
// the hash to detect any change.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, p, fi.Mode(), fi.Size(), fi.ModTime().UnixNano())
		if d.Type().IsRegular() {
			b, err := os.ReadFile(p)
			h.Write(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// evil builds malicious repositories. outside is the directory that they try to change.
type evil struct {
	*rand.Rand
	t       *testing.T
	outside string
}

func (e *evil) pick(of ...string) string { return of[e.IntN(len(of))] }

// can ignores the error of an operation that a file system may refuse.
func can(_ error) {}

// create is like os.WriteFile, but does not change an existing file.
func create(p string, data []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// config writes a git configuration that makes git run programs, if git uses it.
func (e *evil) config(dir string) {
	run := filepath.Join(dir, "run.sh")
	can(create(run, []byte("#!/bin/sh\necho run >"+filepath.Join(e.outside, "pwned")+"\n"), 0o755))
	text := "[core]\n\trepositoryformatversion = 0\n"
	for _, k := range []string{"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "diff.external",
		"filter.x.clean", "filter.x.smudge", "filter.x.process", "gpg.program", "core.alternateRefsCommand",
		"credential.helper", "merge.oxbow-entry.driver"} {
		if e.IntN(2) == 0 {
			section, key, _ := strings.Cut(k, ".")
			name, rest, sub := strings.Cut(key, ".")
			if sub {
				text += fmt.Sprintf("[%s %q]\n\t%s = %s\n", section, name, rest, run)
			} else {
				text += fmt.Sprintf("[%s]\n\t%s = %s\n", section, key, run)
			}
		}
	}
	if e.IntN(2) == 0 {
		text += "[core]\n\thooksPath = " + dir + "\n\tworktree = " + e.outside + "\n"
	}
	text += "[remote \"origin\"]\n\turl = " +
		e.pick("ext::sh -c "+run, "--upload-pack="+run, "https://x/y", "\"unclosed", "", strings.Repeat("x", 99_999)) +
		"\n\tpromisor = true\n"
	p := filepath.Join(dir, ".git", "config")
	switch e.IntN(8) {
	case 0:
		can(os.Symlink(filepath.Join(e.outside, "config"), p))
	case 1:
		can(syscall.Mkfifo(p, 0o644))
	default:
		can(create(p, []byte(text), 0o644))
	}
	for _, hook := range []string{"pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction",
		"post-index-change"} {
		can(os.Symlink(run, filepath.Join(dir, ".git", "hooks", hook)))
	}
	can(create(filepath.Join(dir, ".gitattributes"), []byte("* filter=x merge=x diff=x\n"), 0o644))
}

// git creates something that git recognizes as a repository.
func (e *evil) git(dir string) {
	for _, d := range []string{"objects/info", "refs/remotes/origin", "hooks", "info"} {
		can(os.MkdirAll(filepath.Join(dir, ".git", d), 0o755))
	}
	can(create(
		filepath.Join(dir, ".git", "HEAD"),
		[]byte(e.pick("ref: refs/heads/main\n", "ref: ../../x\n", "ref: refs/heads/.invalid\n", "x")),
		0o644,
	))
	e.config(dir)
	target := e.pick("ref: refs/remotes/origin/main\n", "ref: refs/remotes/origin/HEAD\n", strings.Repeat("a", 40)+
		"\n", "ref: ../../../x\n", "--exec=x\n", "")
	can(create(filepath.Join(dir, ".git/refs/remotes/origin/HEAD"), []byte(target), 0o644))
	switch e.IntN(4) {
	case 0:
		can(syscall.Mkfifo(filepath.Join(dir, ".git/refs/remotes/origin/main"), 0o644))
	case 1:
		can(os.Symlink(filepath.Join(e.outside, "file"), filepath.Join(dir, ".git/refs/remotes/origin/main")))
	case 2:
		can(create(filepath.Join(dir, ".git/refs/remotes/origin/main"), []byte(strings.Repeat("b", 40)), 0o644))
	}
	if e.IntN(3) == 0 {
		can(create(filepath.Join(dir, ".git/objects/info/alternates"), []byte(e.outside+"\n"), 0o644))
	}
	if e.IntN(4) == 0 {
		can(syscall.Mkfifo(filepath.Join(dir, ".git", e.pick("packed-refs", "shallow", "index", "commondir")), 0o644))
	}
}

// text returns the random content of an entry file. The content is often damaged, or contains a name, markup or front
// matter with which an attacker could harm a reader.
func (e *evil) text() string {
	name := e.pick("a", "A", "ä", "a\u0308", "../../x", "a/b", strings.Repeat("n", 300), "", "-x", "a\nb")
	good := FormatEntry(oxbow.Entry{
		Name:    name,
		Content: e.pick("x", "\x00", "</div>", strings.Repeat("y", e.IntN(90_000))),
		Labels:  []oxbow.Label{{Key: "file", Value: "../../../etc/passwd"}},
	})
	switch e.IntN(8) {
	case 0:
		return strings.ReplaceAll(good, "\n", "\r\n")
	case 1:
		return good[:e.IntN(len(good))]
	case 2:
		return strings.Repeat("<dl><dt>Labels</dt><li>", 2000)
	case 5:
		return "---\nname: " + e.pick("&a x", "*a", "!!binary x", "{a: b}", "[[[[[x]]]]]", "\"", "|\n  x") + "\n---\n"
	case 3:
		return "\xff\xfe" + good
	case 4:
		return strings.Repeat("<", e.IntN(100_000))
	}
	return good
}

// The method team creates random files in dir that could be dangerous to a reader of team files. These files are
// symbolic links, named pipes, files with unusual names, and settings files with hostile content.
func (e *evil) team(dir string) {
	oxbowDir := filepath.Join(dir, ".oxbow")
	at := filepath.Join(oxbowDir, "team")
	switch e.IntN(10) {
	case 0:
		can(os.Symlink(e.outside, oxbowDir))
		return
	case 1:
		can(os.MkdirAll(oxbowDir, 0o755))
		can(os.Symlink(e.pick(e.outside, "../..", ".", "team"), at))
		return
	case 2:
		can(os.MkdirAll(oxbowDir, 0o755))
		can(syscall.Mkfifo(at, 0o644))
		return
	}
	can(os.MkdirAll(at, 0o755))
	for i := range e.IntN(12) {
		p := filepath.Join(at, e.pick(nth(i), nth(i), nth(i), strings.ToLower(nth(i)), nth(i)+
			".tmp", "\xff.md", strings.Repeat("x", 200)+".md", "-x.md", ".hidden.md"))
		switch e.IntN(8) {
		case 0:
			can(os.Symlink(
				e.pick(filepath.Join(e.outside, "file"), nth(i+1), nth(i), "/dev/zero", "../../.git/config"),
				p,
			))
		case 1:
			can(syscall.Mkfifo(p, 0o644))
		case 2:
			can(os.MkdirAll(p, 0o755))
		default:
			can(create(p, []byte(e.text()), 0o644))
		}
	}
	for _, name := range []string{"team.yaml", ".gitattributes", "../.gitignore"} {
		p := filepath.Join(at, name)
		switch e.IntN(5) {
		case 0:
			can(os.Symlink(filepath.Join(e.outside, e.pick("file", "new")), p))
		case 1:
			can(syscall.Mkfifo(p, 0o644))
		case 2:
			can(create(
				p,
				[]byte(e.pick(
					"branch: --upload-pack=x\n",
					"branch: ../../../x\n",
					"branch: [",
					strings.Repeat("a: &a [*a, ", 9000),
					strings.Repeat("- ", 40_000),
					"*\n",
					"version: 99\n",
				)),
				0o644,
			))
		}
	}
}

// use calls every function that works on a repository. Errors are expected and ignored.
func (e *evil) use(ctx context.Context, dir string) {
	if tree, err := FindTree(dir); err == nil && tree != nil {
		tree.TrustIdentity()
		tree.HasMergeDriver()
		if s, err := tree.Open(ctx, mdtree.Options{}); err == nil {
			for entry, err := range s.Entries(ctx, oxbow.Filter{}) {
				if err != nil {
					break
				}
				if _, err := s.LastReviewedCommit(ctx, entry.Name); err != nil {
					continue
				}
			}
			_, _, _ = s.ReviewedNames(ctx)
			_, _ = s.Check(ctx)
			file, _, err := tree.WriteEntry(
				ctx,
				s,
				oxbow.Entry{Name: e.pick("a", "new"), Content: "mine"},
				WriteOptions{Random: bytes.NewReader(make([]byte, 10))},
			)
			if err == nil {
				_ = s.Store.Refresh(ctx)
				for entry := range s.Entries(ctx, oxbow.Filter{}) {
					if p, err := s.Locate(ctx, entry.Name); err == nil && p.Path == file {
						_ = tree.RemoveEntry(ctx, s, p)
					}
				}
			}
			if err := s.Close(); err != nil {
				e.t.Error(err)
			}
		}
	}
	if at, err := FindOrNewTree(dir); err == nil {
		_, _ = at.Init(ctx, "oxbow", true)
		_, _ = at.Init(ctx, "oxbow", false)
	}
	_, _, _ = LintFiles(filepath.Join(dir, filepath.FromSlash(Dir)))
	_ = FindFilesDir(dir)
	files, _ := filepath.Glob(filepath.Join(dir, Dir, "*"))
	if len(files) > 2 {
		_, _ = MergeFiles(files[0], files[1], files[2])
	}
}

func TestHostileRepositories(t *testing.T) {
	testenv.SkipInShortMode(t)
	testenv.RequireProgram(t, "git", "apt install git")
	base := t.TempDir()
	outside := filepath.Join(base, "outside")
	put(t, outside, map[string]string{"file": noteFile("stolen", "secret"), "config": "[x]\n\ty = z\n", "team/" +
		nth(1): noteFile("stolen", "secret"), "team/team.yaml": "version: 1\n"})
	before := digest(t, outside)
	count := testenv.RepeatCount(40, 1000)
	for seed := range uint64(count) {
		dir := filepath.Join(base, fmt.Sprint(seed))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		e := &evil{rand.New(rand.NewPCG(seed, 21)), t, outside}
		e.git(dir)
		e.team(dir)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		begun := time.Now()
		e.use(ctx, dir)
		cancel()
		if time.Since(begun) > 15*time.Second {
			t.Errorf("seed %d: took %v", seed, time.Since(begun))
		}
		if after := digest(t, outside); after != before {
			t.Fatalf("seed %d: something outside of the repository changed", seed)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManyFiles checks that the number of files that are read is limited.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		put(t, dir, map[string]string{nth(i): noteFile(fmt.Sprint(i), "x")})
	}
	d, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	reviewed := map[string]string{nth(25): "x", nth(26): "x"}
	got, err := (&entryFileDir{d, 20, func() map[string]string { return reviewed }}).ReadDir(".")
	if err != nil || len(got) != 20 || got[0].Name() != nth(25) || got[1].Name() != nth(26) ||
		got[2].Name() != nth(0) || got[19].Name() != nth(17) {
		t.Errorf("%d files of 30 are read, %v, want the reviewed ones and the first 18", len(got), err)
	}
}

// TestLinksWithin checks that a symbolic link is not followed, even if it leads to a file in the same directory.
func TestLinksWithin(t *testing.T) {
	_, clone := shared(t, map[string]string{inDir(1): noteFile("a", "one")})
	at := filepath.Join(clone, filepath.FromSlash(Dir))
	for _, name := range []string{nth(2), settingsFile} {
		if err := os.Symlink(nth(1), filepath.Join(at, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := opened(t, clone)
	if rep, err := s.Check(t.Context()); err != nil || rep.Records != 1 {
		t.Errorf("Check() read %d entries, %v, want that of the one file", rep.Records, err)
	}
	if text, err := s.tree.readTeamFile(settingsFile); err == nil {
		t.Errorf("readTeamFile() followed a link: %q", text)
	}
}

// TestForeignJournal commits the journal of an unfinished change that would remove one file and write another. The
// journal must have no effect.
func TestForeignJournal(t *testing.T) {
	journal := fmt.Sprintf(`{"version":1,"write":[{"path":%q,"was":"","sha256":""}],"remove":[{"path":%q,"was":%q}]}`,
		nth(2), nth(1), sha(noteFile("a", "one")))
	_, clone := shared(t, map[string]string{inDir(1): noteFile("a", "one"),
		Dir + "/.oxbow-tree/commit.json": journal, Dir + "/.oxbow-tree/0": noteFile("evil", "staged")})
	s := opened(t, clone)
	o := WriteOptions{Random: bytes.NewReader(make([]byte, 10))}
	if _, _, err := s.tree.WriteEntry(t.Context(), s, oxbow.Entry{Name: "b", Content: "two"}, o); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(namesOf(t, s)); got != "[a b]" {
		t.Errorf("the entries are %v, want [a b]", got)
	}
	if _, err := os.Lstat(filepath.Join(clone, filepath.FromSlash(Dir), ".oxbow-tree", "0")); err != nil {
		t.Errorf("a staged file was removed or moved: %v", err)
	}
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
