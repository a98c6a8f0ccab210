// The errors of dump and load.

package mdtree

import (
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// The sentinel errors. Test for them with errors.Is.
var (
	// ErrNoTree says that a directory is missing or holds no entries.
	ErrNoTree = errors.New("no tree of a memory")

	// ErrForeign says that a directory holds something else than a dump.
	ErrForeign = errors.New("directory is not empty and was not made by a dump")

	// ErrEdited says that files of a tree hold what the store does not.
	ErrEdited = errors.New("files were changed since the last dump")

	// ErrDiverged says that files and the store were both changed since the last
	// dump, each in its way.
	ErrDiverged = errors.New("files and the memory were both changed since the dump")

	// ErrMissing says that files of a tree are gone since the last dump.
	ErrMissing = errors.New("files are gone since the last dump")
)

// maxProblems is the most problems that one error lists.
const maxProblems = 20

// Problem is one thing wrong with a tree.
type Problem struct {
	File string // path below the directory of the tree; "" for the whole
	Err  error
}

func (p Problem) String() string {
	if p.File == "" {
		return p.Err.Error()
	}
	return p.File + ": " + p.Err.Error()
}

// ProblemsError lists what is wrong with a tree, at most 20 problems. It
// matches [oxbow.ErrInvalid] and the errors of its problems.
type ProblemsError struct {
	Dir      string
	Problems []Problem
	More     int // problems found but not listed
}

func (e *ProblemsError) Error() string {
	var b strings.Builder
	n := len(e.Problems) + e.More
	if n == 1 {
		fmt.Fprintf(&b, "tree %s has a problem: %v", e.Dir, e.Problems[0])
		return b.String()
	}
	fmt.Fprintf(&b, "tree %s has %d problems:", e.Dir, n)
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n  %v", p)
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n  and %d more", e.More)
	}
	return b.String()
}

// Is reports whether target is [oxbow.ErrInvalid].
func (e *ProblemsError) Is(target error) bool { return target == oxbow.ErrInvalid }

// Unwrap returns the errors of the problems.
func (e *ProblemsError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p.Err
	}
	return errs
}

// Add adds a problem of a file.
func (e *ProblemsError) Add(file string, err error) {
	if len(e.Problems) < maxProblems {
		e.Problems = append(e.Problems, Problem{file, err})
	} else {
		e.More++
	}
}

// orNil returns e as an error, or nil when it holds no problem.
func (e *ProblemsError) orNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}

// FilesError names the files of a tree that stand in the way. It matches its
// Err: [ErrEdited], [ErrMissing] or [ErrDiverged].
type FilesError struct {
	Dir   string
	Err   error
	Files []string // paths below Dir, sorted
	Hint  string   // what to do
}

func (e *FilesError) Error() string {
	list, more := e.Files, ""
	if len(list) > maxProblems {
		more = fmt.Sprintf(" and %d more", len(list)-maxProblems)
		list = list[:maxProblems]
	}
	return fmt.Sprintf("tree %s: %v (%s): %s%s", e.Dir, e.Err, e.Hint, strings.Join(list, ", "), more)
}

func (e *FilesError) Unwrap() error { return e.Err }
