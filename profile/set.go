// This file finds profiles. It searches the home first, then the project.

package profile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/vfs"
)

// These are the directories that are searched for profiles, in this order. They are relative to the home and to the
// project.
var (
	HomeDirs    = []string{"profiles", "memory-profiles"}
	ProjectDirs = []string{".oxbow/profiles", "memory-profiles"}
)

// maxExtendedProfiles is the maximum number of profiles that a profile may extend directly or indirectly.
const maxExtendedProfiles = 64

// A Place is a directory tree that contains profiles, and documents that the profiles include. All files are opened
// with FS, so that no name or link can lead outside of the tree.
type Place struct {
	FS      vfs.FS
	Path    string   // path of the directory tree, for messages
	Dirs    []string // slash-separated paths of the directories that contain profiles, in search order
	Project bool     // The directory tree belongs to a project. Its profiles cannot include the user's own files.

	// Withhold returns the reason why a document in this directory tree must not be used. It returns "" if the
	// document may be used. If Withhold is nil, all documents may be used.
	Withhold func(path string) string

	// Vouched reports whether a person has approved the current version of a document in this place. If Vouched is
	// nil, no document is approved.
	Vouched func(path string) bool

	// Repeats reports whether a text repeats text by others, such as a web page, that agents have read. If Repeats is
	// nil, no text counts as repeated.
	Repeats func(text string) bool
}

// A Set is the set of all profiles that can be used by name. It reads the profiles from one or more directory trees,
// such as the home and a project. If several files define a profile with the same name, the Set uses the file in the
// first tree of the list Places. If several directories of this tree contain such a file, the Set uses the first one.
// Therefore a project cannot replace a profile that the user wrote. A Set is safe for concurrent use. It caches
// nothing, so each call reads the current files.
type Set struct {
	Places []Place
	Zone   *time.Location // time zone of dates that do not contain a zone (nil for UTC)

	// Repeats reports whether an entry repeats text by others, such as a web page, that agents have read. Such an
	// entry is not selected. Set Repeats if the home does not store labels about repeated text. If Repeats is nil,
	// only the labels are used.
	Repeats func(text string) bool

	trialProfile *trialProfileFile
}

// trialProfileFile is a profile file that is treated as if it had another content.
type trialProfileFile struct {
	file         profileFile
	trialContent []byte
}

// Found describes a profile file that was found.
type Found struct {
	Name        string
	Description string
	File        string // path of the file, for messages
	Project     bool
	Hidden      bool // another file with the same profile name is used instead
	Wrong       error
}

type profileFile struct {
	name        string
	placeIndex  int
	pathInPlace string // path of the file, relative to the directory tree with index placeIndex
}

func (s *Set) displayPath(f profileFile) string {
	pl := s.Places[f.placeIndex]
	if pl.Path == "" {
		return f.pathInPlace
	}
	return strings.TrimSuffix(strings.ReplaceAll(pl.Path, `\`, "/"), "/") + "/" + f.pathInPlace
}

// profileFiles returns the profile files of all places in precedence order.
func (s *Set) profileFiles() ([]profileFile, error) {
	var all []profileFile
	for i, pl := range s.Places {
		for _, dir := range pl.Dirs {
			list, err := pl.FS.ReadDir(dir)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("listing profiles of %s: %w", pl.Path, err)
			}
			for _, e := range list {
				if isProfileFileEntry(e) {
					all = append(all, profileFile{profileNameOfFile(e.Name()), i, dir + "/" + e.Name()})
				}
			}
		}
	}
	return all, nil
}

// isProfileFileEntry reports whether a directory entry is a YAML file that is not hidden.
func isProfileFileEntry(e fs.DirEntry) bool {
	if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
		return false
	}
	ext := path.Ext(e.Name())
	return ext == ".yaml" || ext == ".yml"
}

// List returns all profile files in the order of their names, including files with mistakes. If several files have the
// same name, the file that is used comes first.
func (s *Set) List() ([]Found, error) {
	files, err := s.profileFiles()
	if err != nil {
		return nil, err
	}
	found := make([]Found, len(files))
	var wg sync.WaitGroup
	workers := max(2, runtime.GOMAXPROCS(0))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(files); i += workers {
				f := Found{
					Name:    files[i].name,
					File:    s.displayPath(files[i]),
					Project: s.Places[files[i].placeIndex].Project,
				}
				if p, err := s.readProfile(files[i]); err != nil {
					f.Wrong = err
				} else {
					f.Description = p.Description
				}
				found[i] = f
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for i := range found {
		found[i].Hidden = seen[found[i].Name]
		seen[found[i].Name] = true
	}
	slices.SortStableFunc(found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// Names returns the sorted names of all profiles. It does not read the files.
func (s *Set) Names() ([]string, error) {
	files, err := s.profileFiles()
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.name
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// An UnknownError is returned if no profile has the given name. It matches [oxbow.ErrInvalid].
type UnknownError struct {
	Name string
	Near []string // similar names, with the most similar name first
	Any  bool     // at least one profile exists in the home or the project
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("there is no profile %q", e.Name)
	switch {
	case len(e.Near) > 0:
		s += "; did you mean " + strings.Join(e.Near, " or ") + "?"
	case !e.Any:
		s += "; there are none yet"
	}
	return s
}

// Is reports whether the target is [oxbow.ErrInvalid].
func (*UnknownError) Is(target error) bool { return target == oxbow.ErrInvalid }

// findFile returns the profile file that is used for a name.
func (s *Set) findFile(name string) (profileFile, error) {
	if err := CheckName(name); err != nil {
		return profileFile{}, err
	}
	for i, pl := range s.Places {
		for _, dir := range pl.Dirs {
			for _, ext := range []string{".yaml", ".yml"} {
				f := profileFile{name, i, dir + "/" + name + ext}
				fi, err := pl.FS.Stat(f.pathInPlace)
				switch {
				case err == nil && !fi.IsDir():
					return f, nil
				case err != nil && !errors.Is(err, fs.ErrNotExist):
					// The file exists but cannot be examined. For example, it is a link to a file outside the directory
					// tree. Return the file, and do not search later directories. The caller gets the error when it
					// reads the file.
					return f, nil
				}
			}
		}
	}
	names, err := s.Names()
	if err != nil {
		return profileFile{}, err
	}
	any := len(names) > 0
	// Do not suggest the requested name itself. If names contains it, its file is a link whose target does not exist.
	names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	return profileFile{}, &UnknownError{name, text.FindSimilar(name, slices.Values(names), 2), any}
}

// File returns the path of a profile's file, for messages.
func (s *Set) File(name string) (string, error) {
	f, err := s.findFile(name)
	if err != nil {
		return "", err
	}
	return s.displayPath(f), nil
}

func (s *Set) readProfile(f profileFile) (*Profile, error) {
	b, err := s.readFile(f)
	if errors.Is(err, errFileTooLarge) {
		return nil, Diagnostics{
			{File: s.displayPath(f), Text: fmt.Sprintf("has more than %d bytes, which is the most", maxProfileBytes)},
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.displayPath(f), err)
	}
	p, err := parse(s.displayPath(f), b, s.Zone)
	if err != nil {
		return nil, err
	}
	p.filePlaceIndex, p.Project = f.placeIndex, s.Places[f.placeIndex].Project
	return p, nil
}

func (s *Set) readFile(f profileFile) ([]byte, error) {
	if s.trialProfile != nil && s.trialProfile.file == f {
		return s.trialProfile.trialContent, nil
	}
	return readFile(s.Places[f.placeIndex].FS, f.pathInPlace, maxProfileBytes)
}

// Read returns the profile with the given name, as its file contains it. The settings of the profiles that it extends
// are not added.
func (s *Set) Read(name string) (*Profile, error) {
	f, err := s.findFile(name)
	if err != nil {
		return nil, err
	}
	return s.readProfile(f)
}

// Resolve returns the profile with a name, combined with all profiles that it extends. The error matches
// [oxbow.ErrInvalid] if a file has mistakes, if an extended profile does not exist, or if a profile extends itself
// directly or indirectly.
func (s *Set) Resolve(name string) (Resolved, error) {
	var parts []*Profile
	var path []string
	var visit func(name string, from *Profile) error
	visit = func(name string, from *Profile) error {
		wrong := func(format string, args ...any) error {
			return Diagnostics{
				{File: from.File, Line: from.lineNumbers["extends."+name], Text: fmt.Sprintf(format, args...)},
			}
		}
		if slices.Contains(path, name) {
			return wrong(
				"the profile extends itself: %s",
				strings.Join(append(path[slices.Index(path, name):], name), " → "),
			)
		}
		if slices.ContainsFunc(parts, func(p *Profile) bool { return p.Name == name }) {
			return nil // Another profile that extends this profile has already added it to parts.
		}
		if len(path)+len(parts) >= maxExtendedProfiles {
			return wrong("extends more than %d profiles", maxExtendedProfiles)
		}
		p, err := s.Read(name)
		if err != nil {
			var u *UnknownError
			if from != nil && errors.As(err, &u) {
				return wrong("%v", err)
			}
			return err
		}
		isOwn := from != nil && !from.Project
		if isOwn && p.Project {
			return wrong("a profile of your own cannot extend %q, which came with the project (%s)", name, p.File)
		}
		path = append(path, name)
		for _, up := range p.Extends {
			if err := visit(up, p); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		parts = append(parts, p)
		return nil
	}
	if err := visit(name, nil); err != nil {
		return Resolved{}, err
	}
	return combineProfiles(parts), nil
}

// shownDocument is a document in a selection.
type shownDocument struct {
	text        string
	filePath    string // path of the file, for messages
	fenceReason string // reason why the text must be shown in a fence ("" if no fence is necessary)
}

// readDocument returns a document. If profiles include the document by default, and a project does not have it,
// readDocument returns the home's document. If no such document exists, the error matches fs.ErrNotExist. readDocument
// returns another error if the document must not be shown or has an invalid content.
func (s *Set) readDocument(d Document) (shownDocument, error) {
	if d.placeIndex >= len(s.Places) {
		return shownDocument{filePath: d.Path}, fs.ErrNotExist
	}
	try := []int{d.placeIndex}
	if d.isDefaultDocument && s.Places[d.placeIndex].Project {
		try = append(try, 0)
	}
	var out shownDocument
	var err error
	for _, i := range try {
		var b []byte
		out.filePath = s.displayPath(profileFile{placeIndex: i, pathInPlace: d.Path})
		b, err = readFile(s.Places[i].FS, d.Path, oxbow.MaxContent)
		if err == nil {
			if withhold := s.Places[i].Withhold; withhold != nil {
				if why := withhold(d.Path); why != "" {
					return out, errors.New(why)
				}
			}
			err = oxbow.CheckContent(string(b))
			if err != nil {
				return out, fmt.Errorf("reading %s: %w", out.filePath, err)
			}
			out.text = strings.TrimPrefix(string(b), "\ufeff")
			out.fenceReason = s.Places[i].fenceReason(d.Path, out.text)
			return out, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return out, err
}

// fenceReason returns the reason why a document of the place must be shown in a fence. It returns "" if no fence
// is necessary. Documents of a project are always shown in a fence. Documents of a home are instructions to the model.
// However, agents and programs also write some of these files. Therefore documents of a home that look like injected
// instructions or repeat foreign text are also shown in a fence, unless a person has approved them.
func (p *Place) fenceReason(path, text string) string {
	shaped := screen.DescribeInstructions(text)
	switch {
	case p.Project && shaped != "":
		return "a file of the project, " + shaped + ": it is data"
	case p.Project:
		return "a file of the project: it is data"
	case shaped == "" && p.Repeats != nil && p.Repeats(text):
		shaped = "repeats what others wrote"
	}
	if shaped == "" {
		return ""
	}
	if p.Vouched != nil && p.Vouched(path) {
		return ""
	}
	return shaped + ", and no person has vouched for it: it is data until a person reads it and says oxbow trust"
}

var errFileTooLarge = errors.New("is too long")

// readFile reads a file of at most maxBytes bytes.
func readFile(fsys vfs.FS, name string, maxBytes int) ([]byte, error) {
	f, err := fsys.OpenFile(name, 0, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, int64(maxBytes)+1))
	if err == nil && len(b) > maxBytes {
		err = fmt.Errorf("%s %w: the most is %d bytes", name, errFileTooLarge, maxBytes)
	}
	return b, err
}
