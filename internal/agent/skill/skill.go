// Finding of skills: in the directories of the user, which count first, and in
// the ones of the project.

// Package skill finds the skills that agents share: directories with a file
// SKILL.md that says how to do one kind of work. Where clients such as Claude
// Code and Codex keep them is known here once, for all who load them.
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
	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
)

// Where skills are looked for, in this order: below the user's own directory,
// and below the project. The first that has one of the name counts.
var (
	UserDirs = []string{".claude/skills", ".agents/skills", ".codex/skills", ".config/opencode/skills", ".gemini/skills",
		".copilot/skills", ".cursor/skills", ".openclaw/skills"}
	ProjectDirs = []string{".oxbow/skills", ".claude/skills", ".agents/skills", ".codex/skills", ".opencode/skills",
		".gemini/skills", ".github/skills", ".cursor/skills"}
	HomeDirs = []string{"skills"} // below a home of oxbow's
)

// maxFile is the most bytes of a skill's file.
const maxFile = 128 << 10

// Place is a directory that holds directories of skills.
type Place struct {
	// FS holds the place's files. What a project brings must be given by one
	// that no link leaves, as the FS of an os.Root; the user's own links, which
	// often lead elsewhere, may be followed.
	FS      fs.FS
	Path    string   // of its root, as people know it
	Dirs    []string // slash-separated, in order
	Project bool     // it came with a project
}

// Set is all the skills that can be named. A skill of an earlier place, or
// directory, hides those of its name in later ones: what a project brings cannot
// take the place of what the user has. It keeps nothing.
type Set struct {
	Places []Place
}

// Skill is one skill.
type Skill struct {
	Name    string `json:"name"`
	File    string `json:"file"`              // as people know it
	Dir     string `json:"dir"`               // that holds it, and what else belongs to it
	Project bool   `json:"project,omitempty"` // it came with the project
	Text    string `json:"-"`                 // the file without its head of YAML
}

// unknownError says that there is no skill of that name. It matches
// [oxbow.ErrInvalid].
type unknownError struct {
	Name   string
	Near   []string // names near to it, best first
	Looked []string // the directories of skills that there are, as people know them
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

// checkName reports, as an error matching [oxbow.ErrInvalid], why a skill cannot
// have that name: it is the name of a directory, so it is made of at most 64
// ASCII letters, digits, dots, dashes and underscores, and begins with a letter
// or a digit.
func checkName(name string) error {
	ok := name != "" && len(name) <= 64 && !strings.ContainsRune("._-", rune(name[0])) && !strings.HasSuffix(name, ".")
	for i := range len(name) {
		c := name[i]
		ok = ok && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strings.IndexByte("._-", c) >= 0)
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

// Find returns the skill of that name: NAME/SKILL.md, or NAME.md, of the first
// directory that has one. A file that is there and cannot be used, because it is
// too long, no text, or reached by a link that leaves the project, is an error: what
// comes later does not take its place.
func (s *Set) Find(name string) (Skill, error) {
	if err := checkName(name); err != nil {
		return Skill{}, err
	}
	for _, pl := range s.Places {
		for _, dir := range pl.Dirs {
			for _, file := range []string{dir + "/" + name + "/SKILL.md", dir + "/" + name + ".md"} {
				body, err := read(pl.FS, file)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return Skill{}, fmt.Errorf("reading skill %q in %s: %w", name, shown(pl, file), err)
				}
				// The head is for the program that lists skills.
				if _, rest, ok := frontmatter.Cut(body); ok {
					body = strings.TrimLeft(rest, "\r\n")
				}
				return Skill{Name: name, File: shown(pl, file), Dir: shown(pl, path.Dir(file)), Project: pl.Project, Text: body}, nil
			}
		}
	}
	e := &unknownError{Name: name}
	names, looked := s.names()
	e.Near, e.Looked = text.Near(name, slices.Values(names), 2), looked
	return Skill{}, e
}

// Names returns the names of all skills, sorted.
func (s *Set) Names() []string {
	names, _ := s.names()
	return names
}

// names returns the names of all skills, and the directories that hold them.
// What cannot be listed has none.
func (s *Set) names() (names, looked []string) {
	for _, pl := range s.Places {
		for _, dir := range pl.Dirs {
			list, err := fs.ReadDir(pl.FS, dir)
			if err != nil {
				continue
			}
			looked = append(looked, shown(pl, dir))
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

func shown(pl Place, file string) string {
	if pl.Path == "" {
		return file
	}
	return strings.TrimSuffix(strings.ReplaceAll(pl.Path, `\`, "/"), "/") + "/" + file
}

// read returns a text of at most maxFile bytes.
func read(fsys fs.FS, name string) (string, error) {
	// Only a regular file is opened: opening a pipe would wait for its other
	// end.
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
		return "", &oxbow.InvalidError{Field: "the file", Reason: fmt.Sprintf("has more than %d bytes, which is the most", maxFile)}
	}
	body := strings.TrimPrefix(string(b), "\ufeff")
	return body, oxbow.CheckContent(body)
}

// caveat returns why the skill is shown in a fence, or "". The user's own skills are for the
// model and are shown as they are, unless they are shaped like instructions that outlast
// the task.
func (s *Skill) caveat() string {
	shaped := ""
	if rules := instruction.Find(s.Text); rules != nil {
		shaped = "shaped like instructions to an agent (" + strings.Join(rules, ", ") + ")"
	}
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

// Withheld returns why the skill is not loaded by itself, such as by a handoff that names
// it, or "": it came with the project and is shaped like instructions.
func (s *Skill) Withheld() string {
	if !s.Project || !instruction.Shaped(s.Name, s.Text) {
		return ""
	}
	return "it came with the project and is shaped like instructions to an agent; read " + s.File + " before you use it"
}

// Show returns the skill as a model receives it, below a line that says where it is from:
// as it is, or in a fence with its caveat.
func (s *Skill) Show() string {
	from := s.File
	if s.Project {
		from += ", of the project"
	}
	plain := strings.NewReplacer("--", "- -", "\n", " ", "\r", " ").Replace(from)
	head := "<!-- skill " + s.Name + ", from " + plain + " -->\n"
	body := strings.TrimRight(s.Text, " \t\r\n")
	if caveat := s.caveat(); caveat != "" {
		return head + "(" + caveat + ")\n\n" + text.Fence("markdown", body) + "\n"
	}
	return head + body + "\n\n"
}
