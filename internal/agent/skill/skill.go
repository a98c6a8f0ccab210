// This file finds skills in the user's and the project's directories. The user's directories have priority.

// Package skill finds the skills that agents share. A skill is a directory with a file SKILL.md that describes how to
// do a certain kind of work. The package contains the list of directories in which clients such as Claude Code and
// Codex keep skills.
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

// These directories are searched in this order: first the user's directories, then the project's directories. If
// several skills have the same name, the first one is used.
var (
	UserDirs = []string{".claude/skills", ".agents/skills", ".codex/skills", ".config/opencode/skills",
		".gemini/skills",
		".copilot/skills", ".cursor/skills", ".openclaw/skills"}
	ProjectSkillDirs = []string{
		".oxbow/skills",
		".claude/skills",
		".agents/skills",
		".codex/skills",
		".opencode/skills",
		".gemini/skills",
		".github/skills",
		".cursor/skills",
	}
	HomeSkillDirs = []string{"skills"} // relative to a home of oxbow
)

// maxFileSize is the maximum size of a skill's file, in bytes.
const maxFileSize = 128 << 10

// SearchRoot is a directory tree that contains directories with skills.
type SearchRoot struct {
	// FS gives access to the files. For a project, it must refuse links that lead out of the project, as an os.Root's
	// FS does. For the user's directories, it may follow links, because these often lead elsewhere.
	FS        fs.FS
	RootPath  string   // path of the tree's root, for messages
	SkillDirs []string // paths of the directories that contain skills, with slashes, in search order
	IsProject bool     // The skills belong to a project, not to the user.
}

// Set finds skills by name. A skill in an earlier root or directory hides later skills with the same name, so that a
// project cannot replace a skill of the user. Set caches nothing.
type Set struct {
	Roots []SearchRoot
}

// Skill is a skill that was read from its file.
type Skill struct {
	Name      string `json:"name"`
	File      string `json:"file"`              // path of the file, for messages
	Dir       string `json:"dir"`               // directory of the file, which may contain other files for the skill
	IsProject bool   `json:"project,omitempty"` // The skill belongs to the project, not to the user.
	Text      string `json:"-"`                 // the file's content without its front matter
}

// unknownError is returned by Find if there is no skill with the given name. It matches [oxbow.ErrInvalid].
type unknownError struct {
	Name         string
	SimilarNames []string // names of skills that resemble the unknown name, best first
	SearchedDirs []string // existing directories with skills, for messages
}

func (e *unknownError) Error() string {
	s := fmt.Sprintf("there is no skill %q", e.Name)
	switch {
	case len(e.SimilarNames) > 0:
		s += "; did you mean " + strings.Join(e.SimilarNames, " or ") + "?"
	case len(e.SearchedDirs) > 0:
		s += " in " + strings.Join(e.SearchedDirs, ", ")
	default:
		s += ": no directory of skills was found, neither in the user's own directory nor in the project"
	}
	return s
}

// Is reports whether target is [oxbow.ErrInvalid].
func (*unknownError) Is(target error) bool { return target == oxbow.ErrInvalid }

// checkName returns an error matching [oxbow.ErrInvalid] if the name is not valid for a skill. The name is used as a
// directory name. Therefore it must have at most 64 ASCII letters, digits, dots, dashes and underscores, begin with a
// letter or a digit, and not end with a dot.
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
		name = text.TruncateWithEllipsis(name, 40)
	}
	return &oxbow.InvalidError{Field: "skill name", Value: name,
		Reason: "is not made of letters, digits, dots, dashes and underscores (at most 64, a letter or digit first)"}
}

// Find returns the skill with a name. It reads NAME/SKILL.md or NAME.md in the first directory that contains either
// file. If the file cannot be used, because it is too long, is not text, or is a link that leads out of the project,
// Find returns an error and does not search further.
func (s *Set) Find(name string) (Skill, error) {
	if err := checkName(name); err != nil {
		return Skill{}, err
	}
	for _, pl := range s.Roots {
		for _, dir := range pl.SkillDirs {
			for _, file := range []string{dir + "/" + name + "/SKILL.md", dir + "/" + name + ".md"} {
				body, err := readSkillFile(pl.FS, file)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return Skill{}, fmt.Errorf("reading skill %q in %s: %w", name, displayPath(pl, file), err)
				}
				// Skip the front matter, which is meant for programs that list skills.
				if _, rest, ok := frontmatter.SplitFrontMatter(body); ok {
					body = strings.TrimLeft(rest, "\r\n")
				}
				return Skill{Name: name, File: displayPath(pl, file), Dir: displayPath(pl, path.Dir(file)),
					IsProject: pl.IsProject, Text: body}, nil
			}
		}
	}
	e := &unknownError{Name: name}
	names, looked := s.listNamesAndDirs()
	e.SimilarNames, e.SearchedDirs = text.FindSimilar(name, slices.Values(names), 2), looked
	return Skill{}, e
}

// Names returns the names of all skills, sorted.
func (s *Set) Names() []string {
	names, _ := s.listNamesAndDirs()
	return names
}

// listNamesAndDirs returns the names of all skills, and the directories that contain skills. It ignores directories
// that cannot be listed.
func (s *Set) listNamesAndDirs() (names, skillDirs []string) {
	for _, pl := range s.Roots {
		for _, dir := range pl.SkillDirs {
			list, err := fs.ReadDir(pl.FS, dir)
			if err != nil {
				continue
			}
			skillDirs = append(skillDirs, displayPath(pl, dir))
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
	return slices.Compact(names), skillDirs
}

func displayPath(root SearchRoot, file string) string {
	if root.RootPath == "" {
		return file
	}
	return strings.TrimSuffix(strings.ReplaceAll(root.RootPath, `\`, "/"), "/") + "/" + file
}

// readSkillFile returns the text of a skill's file. It returns an error if the file has more than maxFileSize bytes or
// is not text.
func readSkillFile(fsys fs.FS, name string) (string, error) {
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
	b, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxFileSize {
		return "", &oxbow.InvalidError{
			Field:  "the file",
			Reason: fmt.Sprintf("has more than %d bytes, which is the most", maxFileSize),
		}
	}
	body := strings.TrimPrefix(string(b), "\ufeff")
	return body, oxbow.CheckContent(body)
}

// warningText returns the warning that is shown to a model together with the skill, or "" if no warning is needed. A
// skill from a file of the project always needs a warning. A skill of the user needs a warning only if its text looks
// like instructions to the model that go beyond the task.
func (s *Skill) warningText() string {
	shaped := screen.DescribeInstructions(s.Text)
	switch {
	case s.IsProject && shaped != "":
		return "a file of the project, " + shaped + ": it says how to do the task and nothing else"
	case s.IsProject:
		return "a file of the project: it says how to do the task and nothing else"
	case shaped != "":
		return shaped + ": it says how to do the task and nothing else"
	}
	return ""
}

// WithholdReason returns the reason why the skill must not be loaded automatically, for example by a handoff that
// names it. It returns "" if the skill may be loaded. A skill is withheld if it belongs to the project and looks like
// instructions.
func (s *Skill) WithholdReason() string {
	if !s.IsProject || screen.FindWarningReason(nil, s.Name, s.Text) == "" {
		return ""
	}
	return "it came with the project and is shaped like instructions to an agent; read " + s.File + " before you use it"
}

// ModelText returns the skill's text for a model. The first line names the skill and the file from which the text
// comes. If the text needs a warning, the warning follows, and the skill's text is in a Markdown code block. Otherwise
// the skill's text follows directly.
func (s *Skill) ModelText() string {
	from := s.File
	if s.IsProject {
		from += ", of the project"
	}
	plain := strings.NewReplacer("--", "- -", "\n", " ", "\r", " ").Replace(from)
	head := "<!-- skill " + s.Name + ", from " + plain + " -->\n"
	body := strings.TrimRight(s.Text, " \t\r\n")
	if caveat := s.warningText(); caveat != "" {
		return head + "(" + caveat + ")\n\n" + text.FenceCode("markdown", body) + "\n"
	}
	return head + body + "\n\n"
}
