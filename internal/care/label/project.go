// The name of the project of a directory.

package label

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

// Project is the name of a project and where it is from.
type Project struct {
	Name string // lower-case letters, digits, dots, - and _; a value of the label project
	Why  string // the rule that gave it
	Root string // the directory of the project; of a worktree, its own
}

// maxUp bounds the directories looked at above one.
const maxUp = 64

// ProjectOf names the project that a directory belongs to. It is, by the first
// that there is:
//
//  1. the last element of the URL of the git remote origin, or else of the first
//     remote: all clones and all worktrees share it, wherever they lie;
//  2. the name of the directory of the main worktree, without a remote;
//  3. the name of the nearest directory that holds a home named .oxbow, or, when
//     there is none, of the directory itself.
//
// The owner is left out of a URL, because forks of one project belong together
// and people write the short name; two projects of one name are told apart by
// labelling with another name by hand.
//
// Dir is absolute, in the operating system's form. Only files are read, those of
// git: no program runs. Read returns the bytes of a file, as [os.ReadFile] does;
// isDir reports whether a path is a directory.
func ProjectOf(dir string, read func(path string) ([]byte, error), isDir func(path string) bool) (Project, error) {
	home := ""
	for d, n := dir, 0; n < maxUp; d, n = filepath.Dir(d), n+1 {
		if p, ok := gitProject(d, read); ok {
			return p, checkProject(p)
		}
		if home == "" && isDir(filepath.Join(d, ".oxbow")) {
			home = d
		}
		if filepath.Dir(d) == d {
			break
		}
	}
	p := Project{Name: projectName(filepath.Base(MainTree(dir))), Why: "the name of the directory; it is in no git repository", Root: dir}
	if home != "" {
		p = Project{projectName(filepath.Base(home)), "the name of the directory that holds .oxbow; it is in no git repository", home}
	}
	return p, checkProject(p)
}

func checkProject(p Project) error {
	if err := (oxbow.Label{Key: oxbow.LabelProject, Value: p.Name}).Check(); err != nil {
		return fmt.Errorf("naming the project of %s: %w", p.Root, err)
	}
	return nil
}

// gitProject names the project whose worktree has its root in dir. A directory
// .git is the repository; a file .git says where it is ("gitdir: PATH"), and for
// a linked worktree the file commondir there says where the shared part of it is
// (gitrepository-layout(5)).
func gitProject(dir string, read func(string) ([]byte, error)) (Project, bool) {
	git, main := filepath.Join(dir, ".git"), dir
	if b, err := read(git); err == nil {
		to, ok := strings.CutPrefix(firstLine(b), "gitdir: ")
		if !ok || to == "" {
			return Project{}, false
		}
		git = from(dir, to)
		if b, err := read(filepath.Join(git, "commondir")); err == nil && firstLine(b) != "" {
			git = from(git, firstLine(b))
			main = filepath.Dir(git) // of a bare repository, it is the directory around it
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
		if remote, u := remoteOf(string(config)); u != "" {
			if name := urlName(u); name != "" {
				return Project{name, "the git remote " + remote, dir}, true
			}
		}
	}
	return Project{projectName(filepath.Base(main)), "the directory of the git repository, which has no remote", dir}, true
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// MainTree returns the directory in whose .claude/worktrees Claude Code made the directory,
// which may be gone by now or be of another machine; any other directory as it is.
func MainTree(dir string) string {
	main, _, _ := strings.Cut(filepath.ToSlash(dir)+"/", "/.claude/worktrees/")
	main = strings.TrimSuffix(main, "/")
	if main == "" || len(main) >= len(dir) {
		return dir
	}
	return filepath.FromSlash(main)
}

// LinkedFrom returns the directory of the main tree if dir is the root of a linked worktree
// of git, else "". A file .git that only claims to be one does not count: the repository
// must name the worktree, too (gitrepository-layout(5)).
func LinkedFrom(dir string, read func(path string) ([]byte, error)) string {
	b, err := read(filepath.Join(dir, ".git"))
	to, ok := strings.CutPrefix(firstLine(b), "gitdir: ")
	if err != nil || !ok || to == "" {
		return ""
	}
	git := from(dir, to)
	common, err := read(filepath.Join(git, "commondir"))
	if err != nil || firstLine(common) == "" {
		return ""
	}
	back, err := read(filepath.Join(git, "gitdir"))
	if err != nil || filepath.Clean(from(git, firstLine(back))) != filepath.Join(dir, ".git") {
		return ""
	}
	if shared := from(git, firstLine(common)); filepath.Base(shared) == ".git" {
		return filepath.Dir(shared)
	}
	return ""
}

// from returns a path that stands in a file of dir.
func from(dir, p string) string {
	p = filepath.FromSlash(p)
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(dir, p)
}

// remoteOf returns the remote origin of a git config, or the first there is, and
// its URL (git-config(1), "Syntax").
func remoteOf(config string) (remote, u string) {
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
		if section == "" || !ok || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if u == "" || (section == "origin" && remote != "origin") {
			remote, u = section, value
		}
	}
	return remote, u
}

// urlName returns the project that a URL of git leads to: its last element. The
// forms are those of git-clone(1): a URL, host:path, and a path.
func urlName(s string) string {
	p := s
	if u, err := url.Parse(s); err == nil && u.Scheme != "" && u.Host != "" {
		p = u.Path
	} else if host, rest, ok := strings.Cut(s, ":"); ok && len(host) > 1 && !strings.ContainsAny(host, `/\`) {
		p = rest
	}
	p = path.Base(strings.TrimRight(strings.ReplaceAll(p, `\`, "/"), "/"))
	return projectName(strings.TrimSuffix(p, ".git"))
}

// projectName makes of any word the one that labels a project: without capitals
// and accents, and with - between its parts. It is at most [oxbow.MaxName] bytes
// long, and empty when the word holds neither letters nor digits.
func projectName(s string) string {
	var b strings.Builder
	for _, r := range analysis.Fold(analysis.Fold(s)) { // twice: ǿ is ø, and that is o
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
