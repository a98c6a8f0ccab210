// This file decides whether a file is of the project.

package reading

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/git"
)

// foreignDirs are directories of a project that hold the code of others, also if git
// tracks them. Letter case does not count.
var foreignDirs = []string{"node_modules", "bower_components", "jspm_packages", "site-packages", "dist-packages", "vendor", "third_party",
	".venv", "venv", "pods", "carthage", ".cargo", ".m2", ".gradle", ".yarn", ".pnpm-store", ".bundle", "elm-stuff"}

// tree is the project that a session works on.
type tree struct {
	dir   string // the working directory
	root  string // of the working tree, or dir; links are resolved
	git   *git.Worktree
	links map[string]string // resolved paths
	own   map[string]bool   // commits; nil until they are read
}

func newTree(dir string) *tree {
	t := &tree{dir: dir, root: dir, links: map[string]string{}}
	if dir == "" {
		return t
	}
	if w, ok := git.WorktreeOf(dir); ok {
		t.git, t.root = w, w.Root()
	}
	t.root = t.resolve(t.root)
	return t
}

// resolve returns a path without links. The last parts of the path need not be there.
func (t *tree) resolve(p string) string {
	if real, ok := t.links[p]; ok {
		return real
	}
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		if up := filepath.Dir(p); up != p {
			real = filepath.Join(t.resolve(up), filepath.Base(p))
		} else {
			real = p
		}
	}
	t.links[p] = real
	return real
}

// level returns the highest level of some files or directories, given as absolute paths.
func (t *tree) level(paths []string, m Machine) Level {
	level, ask := Own, []string{}
	for _, p := range paths {
		if isDevice(p) {
			continue
		}
		real := t.resolve(p)
		rel, inside := t.inside(real)
		switch {
		case inside && t.git == nil && !isForeignDir(rel): // no index tells
			level = max(level, Unvouched)
			ask = append(ask, real)
		case inside && isForeignDir(rel):
			return Foreign
		case inside && isDir(real):
		case !inside && isOwnMemory(real, m.Getenv):
		default:
			ask = append(ask, real)
		}
	}
	if len(ask) == 0 {
		return level
	}
	var writers []fingerprint.Writer
	if m.Writers != nil {
		writers = m.Writers(ask)
	}
	var untold []string // inside, and not known to be written
	unwritten := 0
	for i, p := range ask {
		writer := fingerprint.Unknown
		if i < len(writers) {
			writer = writers[i]
		}
		rel, inside := t.inside(p)
		switch {
		case writer == fingerprint.Other:
			return Foreign
		case writer == fingerprint.Agent:
		case !inside:
			return Foreign
		default:
			untold = append(untold, rel)
			unwritten++
		}
	}
	if t.git == nil {
		if unwritten == 0 {
			return Own
		}
		return level
	}
	if len(untold) == 0 {
		return level
	}
	tracked, err := t.git.Tracks(untold...)
	switch {
	case err != nil:
		return Unvouched
	case slices.ContainsFunc(untold, func(n string) bool { return !tracked[n] }):
		return Foreign
	}
	return level
}

// inside returns the path below the root of the project, with slashes.
func (t *tree) inside(real string) (rel string, ok bool) {
	rel, err := filepath.Rel(t.root, real)
	if err != nil || t.root == "" || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func isForeignDir(rel string) bool {
	for part := range strings.SplitSeq(strings.ToLower(rel), "/") {
		if slices.Contains(foreignDirs, part) {
			return true
		}
	}
	return false
}

// memories are files in which clients keep what their agents and their person note, below
// the directory of the client. What others wrote into them is found by comparing it with
// the notes that are made of them.
var memories = []struct{ variable, dir, pattern string }{
	{"CLAUDE_CONFIG_DIR", ".claude", "projects/*/memory/*"},
	{"CLAUDE_CONFIG_DIR", ".claude", "CLAUDE.md"},
	{"CODEX_HOME", ".codex", "memories/*"},
	{"CODEX_HOME", ".codex", "AGENTS.md"},
	{"", ".gemini", "GEMINI.md"},
	{"", ".qwen", "QWEN.md"},
	{"", ".config/opencode", "AGENTS.md"},
	{"", ".copilot", "copilot-instructions.md"},
}

// isOwnMemory reports whether a file is one of memories.
func isOwnMemory(real string, getenv func(string) string) bool {
	if getenv == nil {
		return false
	}
	for _, m := range memories {
		dir := filepath.Join(getenv("HOME"), filepath.FromSlash(m.dir))
		if m.variable != "" && getenv(m.variable) != "" {
			dir = getenv(m.variable)
		}
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		if ok, err := filepath.Match(filepath.Join(dir, filepath.FromSlash(m.pattern)), real); ok && err == nil {
			return true
		}
	}
	return false
}

func isDir(p string) bool {
	fi, err := os.Stat(p)
	return err == nil && fi.IsDir()
}

// isDevice reports whether the path is a device that holds no text, or one of the
// process's own streams.
func isDevice(p string) bool {
	return p == "/dev/null" || p == "/dev/stdin" || p == "/dev/zero" || p == "/dev/tty" || strings.HasPrefix(p, "/dev/fd/")
}

// isOwnCommit reports whether a commit, which may be abbreviated, was made here.
func (t *tree) isOwnCommit(hash string) bool {
	if t.git == nil {
		return false
	}
	if t.own == nil {
		t.own = t.git.OwnCommits()
	}
	for own := range t.own {
		if strings.HasPrefix(own, hash) {
			return true
		}
	}
	return false
}
