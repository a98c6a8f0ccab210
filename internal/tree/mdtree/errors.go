// This file declares the errors of dump and load.

package mdtree

import (
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// These are the errors of [Dump] and [ReadTree]. Test for them with errors.Is.
var (
	// ErrNoTree is returned if a directory does not exist or contains no entries.
	ErrNoTree = errors.New("no tree of a memory")

	// ErrNotDumpDir is returned if a directory contains files that are not from a dump.
	ErrNotDumpDir = errors.New("directory is not empty and was not made by a dump")

	// ErrFilesEdited is returned if files of a tree contain text that is not in the store, because somebody has edited
	// the files. A dump would overwrite this text.
	ErrFilesEdited = errors.New("files were changed since the last dump")

	// ErrDiverged is returned if a file and its entry in the store were both changed since the last
	// dump, in different ways.
	ErrDiverged = errors.New("files and the memory were both changed since the dump")

	// ErrFilesMissing is returned if files of the last dump do not exist any more.
	ErrFilesMissing = errors.New("files are gone since the last dump")
)

// maxListedProblems is the maximum number of problems or files listed in an error.
const maxListedProblems = 20

// Problem is a problem in a directory tree with files of entries.
type Problem struct {
	File string // path relative to the tree's directory ("" for a problem of the whole tree)
	Err  error
}

func (p Problem) String() string {
	if p.File == "" {
		return p.Err.Error()
	}
	return p.File + ": " + p.Err.Error()
}

// ProblemsError lists at most 20 problems in a directory tree with files of entries. It matches [oxbow.ErrInvalid] and
// the errors of the listed problems.
type ProblemsError struct {
	Dir                  string
	Problems             []Problem
	UnlistedProblemCount int // number of problems that are not listed
}

func (e *ProblemsError) Error() string {
	var b strings.Builder
	n := len(e.Problems) + e.UnlistedProblemCount
	if n == 1 {
		fmt.Fprintf(&b, "tree %s has a problem: %v", e.Dir, e.Problems[0])
		return b.String()
	}
	fmt.Fprintf(&b, "tree %s has %d problems:", e.Dir, n)
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n  %v", p)
	}
	if e.UnlistedProblemCount > 0 {
		fmt.Fprintf(&b, "\n  and %d more", e.UnlistedProblemCount)
	}
	return b.String()
}

// Is reports whether target is [oxbow.ErrInvalid].
func (e *ProblemsError) Is(target error) bool { return target == oxbow.ErrInvalid }

// Unwrap returns the errors of the listed problems.
func (e *ProblemsError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p.Err
	}
	return errs
}

// AddProblem adds a problem of a file.
func (e *ProblemsError) AddProblem(file string, err error) {
	if len(e.Problems) < maxListedProblems {
		e.Problems = append(e.Problems, Problem{file, err})
	} else {
		e.UnlistedProblemCount++
	}
}

// orNil returns e, or nil if e lists no problems.
func (e *ProblemsError) orNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return e
}

// FilesError lists the files of a tree that prevent an operation. It matches Err, which is
// [ErrFilesEdited], [ErrFilesMissing] or [ErrDiverged].
type FilesError struct {
	Dir   string
	Err   error
	Files []string // paths below Dir, sorted
	Hint  string   // advice for the user
}

func (e *FilesError) Error() string {
	list, more := e.Files, ""
	if len(list) > maxListedProblems {
		more = fmt.Sprintf(" and %d more", len(list)-maxListedProblems)
		list = list[:maxListedProblems]
	}
	return fmt.Sprintf("tree %s: %v (%s): %s%s", e.Dir, e.Err, e.Hint, strings.Join(list, ", "), more)
}

func (e *FilesError) Unwrap() error { return e.Err }
