// This file tests how the names of projects are determined.

package project

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

func TestProjectOf(t *testing.T) {
	abs := func(p string) string {
		a, err := filepath.Abs(filepath.FromSlash(p))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const origin = "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = https://example.org/me/My-Fork.git\n[remote " +
		"\"origin\"]\n\turl = git@example.org:team/Homebrew-VTT.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		dir   string
		want  string
		root  string
		err   error
	}{
		{"remote", map[string]string{"/w/clone/.git/HEAD": "ref: x", "/w/clone/.git/config": origin},
			"/w/clone/pkg/deep", "homebrew-vtt", "/w/clone", nil},
		{"worktree by a path",
			map[string]string{
				"/w/tree/.git":                           "gitdir: /w/clone/.git/worktrees/tree\n",
				"/w/clone/.git/worktrees/tree/commondir": "../..\n",
				"/w/clone/.git/HEAD":                     "x", "/w/clone/.git/config": origin,
			}, "/w/tree", "homebrew-vtt", "/w/tree", nil},
		{"worktree without a remote",
			map[string]string{
				"/w/tree/.git":                           "gitdir: ../clone/.git/worktrees/tree",
				"/w/clone/.git/worktrees/tree/commondir": "../..",
				"/w/clone/.git/HEAD":                     "x", "/w/clone/.git/config": "[core]\n",
			}, "/w/tree/a", "clone", "/w/tree", nil},
		{"worktree of a bare repository",
			map[string]string{
				"/w/tree/.git":                          "gitdir: /w/store.git/worktrees/tree",
				"/w/store.git/worktrees/tree/commondir": "../..",
				"/w/store.git/HEAD":                     "x",
			}, "/w/tree", "store", "/w/tree", nil},
		{"submodule",
			map[string]string{"/w/clone/.git/HEAD": "x", "/w/clone/.git/config": origin,
				"/w/clone/sub/.git":                "gitdir: ../.git/modules/sub",
				"/w/clone/.git/modules/sub/HEAD":   "x",
				"/w/clone/.git/modules/sub/config": "[remote \"origin\"]\nurl=https://example.org/lib\n"},
			"/w/clone/sub", "lib", "/w/clone/sub", nil},
		{"another remote",
			map[string]string{
				"/w/c/.git/HEAD":   "x",
				"/w/c/.git/config": "[remote \"up\"]\n url = ssh://git@example.org:22/a/tool.git/\n",
			},
			"/w/c", "tool", "/w/c", nil},
		{"no remote", map[string]string{"/w/My Things/.git/HEAD": "x"}, "/w/My Things", "my-things", "/w/My Things",
			nil},
		{"a home", map[string]string{"/w/Site/.oxbow/memory.oxbow": "x"}, "/w/Site/a/b", "site", "/w/Site", nil},
		{"nothing", nil, "/w/notes", "notes", "/w/notes", nil},
		{"a .git that is none", map[string]string{"/w/odd/.git": "hello"}, "/w/odd", "odd", "/w/odd", nil},
		{"a worktree that is gone", nil, "/nowhere/harbor/.claude/worktrees/feat/pkg", "harbor",
			"/nowhere/harbor/.claude/worktrees/feat/pkg", nil},
		{"no name", nil, "/", "", "/", oxbow.ErrInvalid},
	} {
		files := map[string]string{}
		for p, s := range tt.files {
			files[abs(p)] = s
		}
		read := func(p string) ([]byte, error) {
			s, ok := files[p]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(s), nil
		}
		isDir := func(p string) bool {
			for f := range files {
				if filepath.Dir(f) == p {
					return true
				}
			}
			return false
		}
		p, err := FindProject(abs(tt.dir), read, isDir)
		if p.Name != tt.want || p.RootDir != abs(tt.root) || p.NameExplanation == "" || !errors.Is(err, tt.err) {
			t.Errorf(
				"%s: Of(%s) = %+v, %v; want %s of %s, %v",
				tt.name,
				tt.dir,
				p,
				err,
				tt.want,
				tt.root,
				tt.err,
			)
		}
	}
}

func TestURLName(t *testing.T) {
	for s, want := range map[string]string{
		"https://example.org/team/tool.git":       "tool",
		"https://user:secret@example.org/a/b.git": "b",
		"git@example.org:a/b":                     "b",
		"host:b.git":                              "b",
		"/srv/git/Café.git":                       "cafe",
		`C:\repos\Thing`:                          "thing",
		"file:///srv/x/":                          "x",
		"../relative/one.git":                     "one",
		"https://example.org/":                    "",
		"":                                        "",
	} {
		if got := projectNameFromURL(s); got != want {
			t.Errorf("projectNameFromURL(%q) = %q, want %q", s, got, want)
		}
	}
}

func FuzzProjectName(f *testing.F) {
	for _, s := range []string{"Homebrew VTT", "---", "日本語", "a/b", "..", "İ", "e\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := toProjectName(s)
		if name == "" {
			return
		}
		if err := (oxbow.Label{Key: oxbow.LabelProject, Value: name}).Check(); err != nil {
			t.Fatalf("toProjectName(%q) = %q: %v", s, name, err)
		}
		if again := toProjectName(name); again != name {
			t.Errorf("toProjectName(%q) = %q, and of that %q", s, name, again)
		}
	})
}
