// The seam between the store and the layout of its files.

package mdtree

import (
	"iter"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// Layout says how files hold entries. Paths are slash-separated and relative to
// the root of the file system. A Layout is stateless: it is safe for concurrent
// use, and the same arguments give the same results.
type Layout interface {
	// Dirs returns the directories whose files may hold entries. Each is
	// listed without those below it, and need not exist. Always the same. A
	// change reaches a directory whose path has a name that begins with a dot
	// only where one of these has that path, too, as far as the dot goes.
	Dirs() []string

	// Match reports whether the file of that path, which is directly in one of
	// Dirs, may hold entries. Hidden files (those whose name begins with a
	// dot), temporary files and conflict copies (see [IsConflict]) are never
	// passed.
	Match(path string) bool

	// Parse reads a file's text, which is not empty and is UTF-8 without NUL.
	// The items are in order of their spans, which do not overlap. Of each
	// entry it sets Name, Kind, Content, Aliases and Labels as far as it has
	// them; Created and Updated where the text says so. Else the store takes
	// the time when the file was changed, for Created the earliest that it
	// knows. ID, Version and Source are the store's.
	//
	// An error means that the text cannot be trusted: the file then stays at
	// its last good state, if it has one, and is reported; else the items
	// returned with the error are used.
	Parse(path, text string) ([]Item, error)

	// Plan says what edits of files make the change. The store has checked
	// that the change is valid, that the name is there, or for an Add is not,
	// and that it is at the version wanted. Of one file there is at most one
	// edit. What the layout cannot hold (a kind, labels, a name) is refused
	// with an error that matches [oxbow.ErrUnsupported] or
	// [oxbow.ErrInvalid] and says what is not possible.
	//
	// The store reads the edited text again with Parse. A plan that would give
	// back another content, kind or name than the op has, other aliases or
	// labels, or that would change another entry of the file, is refused with
	// an error matching [oxbow.ErrInvalid].
	Plan(v View, op oxbow.Op, now time.Time) ([]Edit, error)
}

// Item is an entry in a file's text.
type Item struct {
	Entry      oxbow.Entry
	Start, End int // bytes of the text that are the entry's: from Start up to, not including, End

	undated bool // the text does not say when it was made
}

// Place is an item and the file that it is in.
type Place struct {
	Path string
	Item
}

// Edit is the new state of one file.
type Edit struct {
	Path   string
	Text   string // all of the file; a file is never left with no bytes at all, "" is written as a line end
	Remove bool   // the file goes; Text is not used
}

// View is what a plan is made on: the tree as it is, with the earlier edits of
// the same Apply.
type View interface {
	// Find returns the entry of that name and where it is.
	Find(name string) (Place, bool)
	// File returns the text of a file that the layout matches, as it was
	// last good, and false when there is none.
	File(path string) (text string, ok bool)
	// Items returns the items of a file, in order. They must not be changed.
	Items(path string) []Item
	// Files yields the paths of all files that the layout matches, sorted.
	Files() iter.Seq[string]
	// Taken reports whether the name is in use, also by a file that the layout
	// does not match or, where letter case does not count, by one whose name is
	// written otherwise.
	Taken(path string) bool
}
