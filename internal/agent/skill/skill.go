// This file finds skills in the user's and the project's directories. The user's have
// priority.

// Package skill finds the skills that agents share. A skill is a directory with a file SKILL.md
// that describes how to do a certain kind of work. It contains the list of directories in which
// clients such as Claude Code and Codex keep skills.
package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
)

// The directories that are searched, in this order: first relative to the user's home directory,
// then relative to the project. The first skill with a name counts.
var (
	UserDirs = []string{".claude/skills", ".agents/skills", ".codex/skills", ".config/opencode/skills",
		".gemini/skills",
		".copilot/skills", ".cursor/skills", ".openclaw/skills"}
	ProjectDirs = []string{".oxbow/skills", ".claude/skills", ".agents/skills", ".codex/skills", ".opencode/skills",
		".gemini/skills", ".github/skills", ".cursor/skills"}
	HomeDirs = []string{"skills"} // below a home of oxbow's
) // relative to a home of oxbow

// maxFile is the maximum size, in bytes, of a skill's file.
const maxFile = 128 << 10

// Place is a directory tree that contains directories of skills.
type Place struct {
	// FS gives access to the files. For a project, it must not follow links that lead out of the
	// project (an os.Root's FS does not). For the user's directories it may follow links,
	// because these often lead elsewhere.
	FS      fs.FS
	Path    string   // path of the root directory, for messages
	Dirs    []string // slash-separated directories, in the order of search
	Project bool     // the skills belong to a project
}

// Set finds skills by name. A skill in an earlier place or directory hides later skills with
// the same name, so that a project cannot replace a user's skill. Set does not cache anything.
type Set struct {
	Places []Place
}

// Skill is a skill that was read.
type Skill struct {
	Name    string `json:"name"`
	File    string `json:"file"`              // path for messages
	Dir     string `json:"dir"`               // directory of the file, which may contain other files for the skill
	Project bool   `json:"project,omitempty"` // the skill belongs to the project
	Text    string `json:"-"`                 // content of the file without front matter
}

// unknownError is returned for an unknown skill name. It matches [oxbow.ErrInvalid].
type unknownError struct {
	Name   string
	Near   []string // similar names, best first
	Looked []string // existing directories of skills, for messages
}

func (e *unknownError) Error() string {
	s := fmt.Sprintf("there is no skill %q", e.Name)
	switch {
	case len(e.Near) > 0:
		s += "; did you mean " + strings.Join(e.Near, " or ") + "?"
	case len(e.Looked) > 0:
		s += " in " + strings.Join(e.Looked, ", ")
	default:
		s += ": no directory of skills was found, neither in the user's own directory nor in the project"
	}
	return s
}

// Is reports whether target is [oxbow.ErrInvalid].
func (*unknownError) Is(target error) bool { return target == oxbow.ErrInvalid }

// checkName returns an error matching [oxbow.ErrInvalid] if the name is not valid for a skill. The
// name is used as a directory name, so it has at most 64 ASCII letters, digits, dots, dashes and
// underscores, and begins with a letter or a digit.
func checkName(name string) error {
	ok := name != "" && len(name) <= 64 && !strings.ContainsRune("._-", rune(name[0])) && !strings.HasSuffix(name, ".")
	for i := range len(name) {
		c := name[i]
		ok = ok && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			strings.IndexByte("._-", c) >= 0)
	}
	if ok {
		return nil
	}
	if len(name) > 64 {
		name = text.Clip(name, 40)
	}
	return &oxbow.InvalidError{Field: "skill name", Value: name,
		Reason: "is not made of letters, digits, dots, dashes and underscores (at most 64, a letter or digit first)"}
}

// Find returns the skill with that name. It reads NAME/SKILL.md or NAME.md in the first directory
// that contains such a file. If the file cannot be used, because it is too long, is not text, or is
// a link out of the project, Find returns an error and does not search further.
func (s *Set) Find(name string) (Skill, error) {
	if err := checkName(name); err != nil {
		return Skill{}, err
	}
	for _, pl := range s.Places {
		for _, dir := range pl.Dirs {
			for _, file := range []string{dir + "/" + name + "/SKILL.md", dir + "/" + name + ".md"} {
				body, err := readText(pl.FS, file)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return Skill{}, fmt.Errorf("reading skill %q in %s: %w", name, shownPath(pl, file), err)
				}
				// Skip the front matter, which is for programs that list skills.
				if _, rest, ok := frontmatter.Cut(body); ok {
					body = strings.TrimLeft(rest, "\r\n")
				}
				return Skill{Name: name, File: shownPath(pl, file), Dir: shownPath(pl, path.Dir(file)),
					Project: pl.Project, Text: body}, nil
			}
		}
	}
	e := &unknownError{Name: name}
	names, looked := s.namesAndDirs()
	e.Near, e.Looked = text.FindSimilar(name, slices.Values(names), 2), looked
	return Skill{}, e
}

// Names returns the names of all skills, sorted.
func (s *Set) Names() []string {
	names, _ := s.namesAndDirs()
	return names
}

// namesAndDirs returns the names of all skills, and the directories that contain them. Directories that
// cannot be listed are ignored.
func (s *Set) namesAndDirs() (names, looked []string) {
	for _, pl := range s.Places {
		for _, dir := range pl.Dirs {
			list, err := fs.ReadDir(pl.FS, dir)
			if err != nil {
				continue
			}
			looked = append(looked, shownPath(pl, dir))
			for _, e := range list {
				name, plain := strings.CutSuffix(e.Name(), ".md")
				if !plain {
					if fi, err := fs.Stat(pl.FS, dir+"/"+name+"/SKILL.md"); err != nil || fi.IsDir() {
						continue
					}
				}
				if checkName(name) == nil {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), looked
}

func shownPath(pl Place, file string) string {
	if pl.Path == "" {
		return file
	}
	return strings.TrimSuffix(strings.ReplaceAll(pl.Path, `\`, "/"), "/") + "/" + file
}

// readText returns the text of a file with at most maxFile bytes.
func readText(fsys fs.FS, name string) (string, error) {
	// Open only regular files: opening a pipe would block.
	fi, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() {
		return "", &fs.PathError{Op: "read", Path: name, Err: errors.New("is not a regular file")}
	}
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxFile {
		return "", &oxbow.InvalidError{
			Field:  "the file",
			Reason: fmt.Sprintf("has more than %d bytes, which is the most", maxFile),
		}
	}
	body := strings.TrimPrefix(string(b), "\ufeff")
	return body, oxbow.CheckContent(body)
}

// warning returns the warning with which the skill is shown in a code block, or "" if it is shown
// without warning. The user's own skills are shown without warning, unless they are shaped like
// instructions that outlast the task.
func (s *Skill) warning() string {
	shaped := screen.Shape(s.Text)
	switch {
	case s.Project && shaped != "":
		return "a file of the project, " + shaped + ": it says how to do the task and nothing else"
	case s.Project:
		return "a file of the project: it says how to do the task and nothing else"
	case shaped != "":
		return shaped + ": it says how to do the task and nothing else"
	}
	return ""
}

// Withheld returns the reason why the skill must not be loaded automatically, for example by a
// handoff that names the skill, or "" if the skill may be loaded. A skill is withheld if it belongs
// to the project and its text is shaped like instructions.
func (s *Skill) Withheld() string {
	if !s.Project || screen.Doubt(nil, s.Name, s.Text) == "" {
		return ""
	}
	return "it came with the project and is shaped like instructions to an agent; read " + s.File + " before you use it"
}

// Show returns the skill in the form for a model: a line with the skill's source, and then the
// text. If the text needs a warning, it is in a code block with a warning above it.
func (s *Skill) Show() string {
	from := s.File
	if s.Project {
		from += ", of the project"
	}
	plain := strings.NewReplacer("--", "- -", "\n", " ", "\r", " ").Replace(from)
	head := "<!-- skill " + s.Name + ", from " + plain + " -->\n"
	body := strings.TrimRight(s.Text, " \t\r\n")
	if caveat := s.warning(); caveat != "" {
		return head + "(" + caveat + ")\n\n" + text.Fence("markdown", body) + "\n"
	}
	return head + body + "\n\n"
}
