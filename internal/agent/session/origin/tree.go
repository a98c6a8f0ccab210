// This file decides whether a file belongs to the project.

package origin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// thirdPartyCodeDirs lists directories that contain code by others, even if git tracks them in the project. Letter
// case is ignored.
var thirdPartyCodeDirs = []string{"node_modules", "bower_components", "jspm_packages", "site-packages", "dist-packages",
	"vendor", "third_party",
	".venv", "venv", "pods", "carthage", ".cargo", ".m2", ".gradle", ".yarn", ".pnpm-store", ".bundle", "elm-stuff"}

// projectTree is the project in which a session works.
type projectTree struct {
	workingDir    string // working directory of the session
	root          string // root of the git working tree with symbolic links resolved (workingDir without git)
	worktree      *git.Worktree
	resolvedPaths map[string]string // results of resolveLinks, by path
	ownCommits    map[string]bool   // hashes of the commits that were made on this machine (nil until they are read)
}

// newProjectTree returns the project whose session works in dir. Without a git working tree, dir is the project's root.
func newProjectTree(dir string) *projectTree {
	t := &projectTree{workingDir: dir, root: dir, resolvedPaths: map[string]string{}}
	if dir == "" {
		return t
	}
	if w, ok := git.FindWorktree(dir); ok {
		t.worktree, t.root = w, w.Root()
	}
	t.root = t.resolveLinks(t.root)
	return t
}

// resolveLinks returns a path with symbolic links resolved. The last elements of the path need not exist.
func (t *projectTree) resolveLinks(p string) string {
	if real, ok := t.resolvedPaths[p]; ok {
		return real
	}
	real, err := filepath.EvalSymlinks(p)
	if err != nil {
		if up := filepath.Dir(p); up != p {
			real = filepath.Join(t.resolveLinks(up), filepath.Base(p))
		} else {
			real = p
		}
	}
	t.resolvedPaths[p] = real
	return real
}

// trustLevelOfPaths returns the trust level of the least trusted file or directory at these absolute paths.
func (t *projectTree) trustLevelOfPaths(paths []string, m Machine) TrustLevel {
	level, files := TrustLevelOwnText, []string{}
	for _, p := range paths {
		if isDevice(p) {
			continue
		}
		real := t.resolveLinks(p)
		if l := t.trustLevelFromPath(real, m); l != trustLevelUnknownFromPath {
			level = max(level, l)
			continue
		}
		files = append(files, real)
	}
	if level == TrustLevelForeignText || len(files) == 0 {
		return level
	}
	return max(level, t.trustLevelOfFiles(files, m))
}

// trustLevelUnknownFromPath is the result of trustLevelFromPath if the path does not show who wrote the file.
const trustLevelUnknownFromPath TrustLevel = -1

// trustLevelFromPath returns the trust level of a file if it follows from the file's path. Otherwise it returns
// trustLevelUnknownFromPath.
func (t *projectTree) trustLevelFromPath(realPath string, m Machine) TrustLevel {
	rel, isInside := t.projectPath(realPath)
	switch {
	case isInside && isThirdPartyCodeDir(rel):
		return TrustLevelForeignText
	case isInside && t.worktree != nil && isDir(realPath):
		// A tool that is called with a directory prints only file names, which are the project's own text.
		return TrustLevelOwnText
	case !isInside && isOwnMemoryFile(realPath, m.Getenv):
		return TrustLevelOwnText
	}
	return trustLevelUnknownFromPath
}

// trustLevelOfFiles returns the trust level of the least trusted of the files. A higher level means less trust. The
// levels are, from the most to the least trusted: TrustLevelOwnText, TrustLevelUnvouchedText, TrustLevelForeignText.
// The paths of the files must not contain symbolic links. Each file gets one of these levels:
//
//   - TrustLevelOwnText, if an agent wrote the file last.
//   - TrustLevelForeignText, if a program that may print text by others wrote the file last, or if the file is outside
//     the project and no agent wrote it.
//   - TrustLevelUnvouchedText, if the file is in the project, and a program that oxbow does not know wrote the file
//     last.
//   - For any other file in the project: TrustLevelOwnText if git tracks the file, and otherwise TrustLevelForeignText.
//     If the project has no git repository, or if git fails, the level is TrustLevelUnvouchedText.
func (t *projectTree) trustLevelOfFiles(files []string, m Machine) TrustLevel {
	writers := make([]fingerprint.FileWriterKind, len(files))
	if m.LastWriters != nil {
		copy(writers, m.LastWriters(files))
	}
	var unwritten []string // files in the project that no agent is recorded to have written
	level := TrustLevelOwnText
	for i, p := range files {
		rel, isInside := t.projectPath(p)
		isWritten := writers[i] == fingerprint.WriterAgent
		isUnknown := !isInside && !isWritten
		if isUnknown || writers[i] == fingerprint.WriterForeignTextProgram {
			return TrustLevelForeignText
		}
		if writers[i] == fingerprint.WriterUnknownAuthorProgram {
			level = TrustLevelUnvouchedText
			continue
		}
		if !isWritten {
			unwritten = append(unwritten, rel)
		}
	}
	if len(unwritten) == 0 {
		return level
	}
	if t.worktree == nil {
		return TrustLevelUnvouchedText
	}
	tracked, err := t.worktree.TrackedNames(unwritten...)
	switch {
	case err != nil:
		return TrustLevelUnvouchedText
	case slices.ContainsFunc(unwritten, func(n string) bool { return !tracked[n] }):
		return TrustLevelForeignText
	}
	return level
}

// projectPath returns a path relative to the project's root, with slashes. ok is false if the path is not in the
// project.
func (t *projectTree) projectPath(realPath string) (rel string, ok bool) {
	rel, err := filepath.Rel(t.root, realPath)
	if err != nil || t.root == "" {
		return "", false
	}
	if !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func isThirdPartyCodeDir(rel string) bool {
	for part := range strings.SplitSeq(strings.ToLower(rel), "/") {
		if slices.Contains(thirdPartyCodeDirs, part) {
			return true
		}
	}
	return false
}

// clientMemoryFiles are the files in which a client stores notes by its agents and by the user. Such a file counts as
// the agent's own although it may contain text by others. Text by others is found later, when the notes from the file
// are compared with foreign texts.
var clientMemoryFiles = []struct{ variable, dir, pattern string }{
	{"CLAUDE_CONFIG_DIR", ".claude", "projects/*/memory/*"},
	{"CLAUDE_CONFIG_DIR", ".claude", "CLAUDE.md"},
	{"CODEX_HOME", ".codex", "memories/*"},
	{"CODEX_HOME", ".codex", "AGENTS.md"},
	{"", ".gemini", "GEMINI.md"},
	{"", ".qwen", "QWEN.md"},
	{"", ".config/opencode", "AGENTS.md"},
	{"", ".copilot", "copilot-instructions.md"},
}

// isOwnMemoryFile reports whether a client's agent writes the file as its memory (see clientMemoryFiles).
func isOwnMemoryFile(realPath string, getenv func(string) string) bool {
	if getenv == nil {
		return false
	}
	for _, m := range clientMemoryFiles {
		dir := filepath.Join(getenv("HOME"), filepath.FromSlash(m.dir))
		if m.variable != "" && getenv(m.variable) != "" {
			dir = getenv(m.variable)
		}
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		if ok, err := filepath.Match(filepath.Join(dir, filepath.FromSlash(m.pattern)), realPath); ok && err == nil {
			return true
		}
	}
	return false
}

func isDir(p string) bool {
	fi, err := os.Stat(p)
	return err == nil && fi.IsDir()
}

func pathExists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}

// isDevice reports whether the path filePath names a device that is not a file with text: /dev/null, /dev/stdin,
// /dev/zero, /dev/tty, or a path in /dev/fd.
func isDevice(filePath string) bool {
	return filePath == "/dev/null" || filePath == "/dev/stdin" || filePath == "/dev/zero" || filePath == "/dev/tty" ||
		strings.HasPrefix(filePath, "/dev/fd/")
}

// isOwnCommit reports whether git commit created the commit in this working tree, according to git's reflog. The
// argument hash is the commit's hash or a prefix of the hash. isOwnCommit returns false if t.worktree is nil.
func (t *projectTree) isOwnCommit(hash string) bool {
	if t.worktree == nil {
		return false
	}
	if t.ownCommits == nil {
		t.ownCommits = t.worktree.CommitsMadeInWorktree()
	}
	for own := range t.ownCommits {
		if strings.HasPrefix(own, hash) {
			return true
		}
	}
	return false
}

// canSettingsChangeLogFormat reports whether a git setting, or a file that the settings include, may change the format
// of git log.
func (t *projectTree) canSettingsChangeLogFormat(getenv func(string) string) bool {
	files := []string{t.worktree.ConfigFile()}
	if getenv != nil {
		home := getenv("HOME")
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config"))
		if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
			files = append(files, filepath.Join(dir, "git", "config"))
		}
		if file := getenv("GIT_CONFIG_GLOBAL"); file != "" {
			files = append(files, file)
		}
	}
	for _, f := range files {
		b, _ := os.ReadFile(f) // A missing file counts as empty.
		settings := strings.ToLower(string(b))
		if strings.Contains(settings, "pretty") || strings.Contains(settings, "[include") {
			return true
		}
	}
	return false
}
