// Package project determines to which project a directory belongs.
package project

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Project is a project's name, with the rule that determined the name.
type Project struct {
	Name            string // value of the label project, with only lower-case letters, digits, dots, - and _
	NameExplanation string // sentence that says which rule determined Name
	RootDir         string // directory of the project or linked worktree
}

// maxParentDirs is the maximum number of parent directories that are examined.
const maxParentDirs = 64

// FindProject determines the project of a directory. The name of the project is the first of these that exists:
//
//  1. the last element in the URL of the git remote origin, or of the first remote if origin does not exist. All
//     clones and worktrees have this in common, wherever they are.
//  2. without a remote, the name of the main worktree's directory
//  3. without git, the name of the nearest directory, at dir or above, that contains a directory .oxbow, which is the
//     home of a memory
//  4. the name of the directory dir
//
// The owner in the URL is left out, because a project's forks belong together and people use the short name. To
// distinguish two projects with the same name, label one project with a different name by hand.
//
// The argument dir is an absolute path in the operating system's form. FindProject reads git's files and runs no
// program. The function read returns a file's content like [os.ReadFile]. The function isDir reports whether a path is
// a directory.
func FindProject(dir string, read func(path string) ([]byte, error), isDir func(path string) bool) (Project, error) {
	home := ""
	for d, n := dir, 0; n < maxParentDirs; d, n = filepath.Dir(d), n+1 {
		if p, ok := findGitProject(d, read); ok {
			return p, checkProject(p)
		}
		if home == "" && isDir(filepath.Join(d, ".oxbow")) {
			home = d
		}
		if filepath.Dir(d) == d {
			break
		}
	}
	p := Project{
		Name:            toProjectName(filepath.Base(MainWorktreeDir(dir))),
		NameExplanation: "the name of the directory; it is in no git repository",
		RootDir:         dir,
	}
	if home != "" {
		p = Project{
			toProjectName(filepath.Base(home)),
			"the name of the directory that holds .oxbow; it is in no git repository",
			home,
		}
	}
	return p, checkProject(p)
}

func checkProject(p Project) error {
	if err := (oxbow.Label{Key: oxbow.LabelProject, Value: p.Name}).Check(); err != nil {
		return fmt.Errorf("naming the project of %s: %w", p.RootDir, err)
	}
	return nil
}

// findGitProject determines the project of the worktree whose root is dir. If .git is a directory, it is the
// repository. If .git is a file, it names the repository ("gitdir: PATH"). In a linked worktree, the repository's
// file commondir names the shared repository (gitrepository-layout(5)).
func findGitProject(dir string, read func(string) ([]byte, error)) (Project, bool) {
	git, main := filepath.Join(dir, ".git"), dir
	if b, err := read(git); err == nil {
		to, ok := strings.CutPrefix(firstLine(b), "gitdir: ")
		if !ok || to == "" {
			return Project{}, false
		}
		git = resolvePath(dir, to)
		if b, err := read(filepath.Join(git, "commondir")); err == nil && firstLine(b) != "" {
			git = resolvePath(git, firstLine(b))
			main = filepath.Dir(git) // the directory that contains .git, unless the repository is bare (see below)
			if filepath.Base(git) != ".git" {
				main = strings.TrimSuffix(git, ".git")
			}
		}
	}
	if _, err := read(filepath.Join(git, "HEAD")); err != nil {
		return Project{}, false
	}
	config, err := read(filepath.Join(git, "config"))
	if err == nil {
		if remote, u := configuredRemote(string(config)); u != "" {
			if name := projectNameFromURL(u); name != "" {
				return Project{name, "the git remote " + remote, dir}, true
			}
		}
	}
	return Project{
		toProjectName(filepath.Base(main)),
		"the directory of the git repository, which has no remote",
		dir,
	}, true
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// MainWorktreeDir returns the directory of the main worktree if the directory dir is in .claude/worktrees below the
// main worktree. Claude Code creates worktrees there. It returns any other directory unchanged. The directory need not
// exist on this machine.
func MainWorktreeDir(dir string) string {
	main, _, _ := strings.Cut(filepath.ToSlash(dir)+"/", "/.claude/worktrees/")
	main = strings.TrimSuffix(main, "/")
	if main == "" || len(main) >= len(dir) {
		return dir
	}
	return filepath.FromSlash(main)
}

// FindMainWorktree returns the main worktree's directory if dir is the root of a linked git worktree, otherwise "". It
// does not trust a .git file that only claims to belong to a repository: the repository must also name the worktree
// (gitrepository-layout(5)).
func FindMainWorktree(dir string, readFile func(path string) ([]byte, error)) string {
	b, err := readFile(filepath.Join(dir, ".git"))
	to, ok := strings.CutPrefix(firstLine(b), "gitdir: ")
	isLink := ok && to != ""
	if err != nil || !isLink {
		return ""
	}
	git := resolvePath(dir, to)
	common, err := readFile(filepath.Join(git, "commondir"))
	if err != nil || firstLine(common) == "" {
		return ""
	}
	back, err := readFile(filepath.Join(git, "gitdir"))
	if err != nil || filepath.Clean(resolvePath(git, firstLine(back))) != filepath.Join(dir, ".git") {
		return ""
	}
	if shared := resolvePath(git, firstLine(common)); filepath.Base(shared) == ".git" {
		return filepath.Dir(shared)
	}
	return ""
}

// resolvePath returns a path that was read from a file in dir as an absolute path.
func resolvePath(dir, p string) string {
	p = filepath.FromSlash(p)
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(dir, p)
}

// configuredRemote returns the name and the URL of the remote origin in a git config. If origin does not exist, it
// uses the first remote (git-config(1), "Syntax").
func configuredRemote(config string) (remote, remoteURL string) {
	section := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = ""
			head, _, _ := strings.Cut(line[1:], "]")
			if kind, name, ok := strings.Cut(head, " "); ok && strings.EqualFold(kind, "remote") {
				section = strings.Trim(strings.TrimSpace(name), `"`)
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if section == "" || !ok {
			continue
		}
		if !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		isFirstOrigin := section == "origin" && remote != "origin"
		if remoteURL == "" || isFirstOrigin {
			remote, remoteURL = section, value
		}
	}
	return remote, remoteURL
}

// projectNameFromURL returns the last element of the address of a git repository as a project name. The address may
// have any form that git-clone(1) accepts: a URL, HOST:PATH, or a path.
func projectNameFromURL(s string) string {
	p := s
	u, err := url.Parse(s)
	isURL := err == nil && u.Scheme != "" && u.Host != ""
	host, rest, hasColon := strings.Cut(s, ":")
	// A single letter before a colon is a drive of Windows.
	isHost := hasColon && len(host) > 1 && !strings.ContainsAny(host, `/\`)
	switch {
	case isURL:
		p = u.Path
	case isHost:
		p = rest
	}
	p = path.Base(strings.TrimRight(strings.ReplaceAll(p, `\`, "/"), "/"))
	return toProjectName(strings.TrimSuffix(p, ".git"))
}

// toProjectName converts the text s to a valid project name of at most [oxbow.MaxName] bytes. It converts letters to
// lower case and removes accents. Letters, digits, combining marks and the characters ._+# are kept. Each sequence of
// other characters becomes one dash. Dashes and dots at both ends are removed. If the text contains neither a letter
// nor a digit, toProjectName returns "".
func toProjectName(s string) string {
	var b strings.Builder
	// Fold the text twice, because ǿ becomes ø, and ø becomes o.
	for _, r := range analysis.FoldText(analysis.FoldText(s)) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), strings.ContainsRune("._+#", r):
			if b.Len()+4 <= oxbow.MaxName {
				b.WriteRune(r)
			}
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-") && b.Len() < oxbow.MaxName:
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-.")
	if !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return name
}
