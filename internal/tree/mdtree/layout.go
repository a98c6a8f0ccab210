// This file declares the interface between the store and the layout of its files.

package mdtree

import (
	"iter"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// Layout defines how files contain entries. Paths are slash-separated and relative to the root of
// the file system. A Layout is stateless: it is safe for concurrent use, and equal arguments always
// result in equal results. It does not read or write files. The store does, and calls the Layout
// with the text of one file at a time.
//
// The package layout/entryfiles is an example of a layout with a file for each entry. In
// layout/coderhapsody, a file contains several entries.
type Layout interface {
	// Dirs returns the directories whose files may contain entries, without subdirectories. "." is the root. The
	// directories need not exist. Dirs always returns the same result. A hidden element of a path is an element that
	// starts with a dot. A file whose path contains a hidden element, such as ".notes/a.md", can be written only if
	// Dirs returns the path up to this element, such as ".notes", or a path below it.
	Dirs() []string

	// Match reports whether a file in one of Dirs may contain entries. It is not called for hidden files (whose names
	// start with a dot), temporary files, and conflict copies (see [IsConflictCopy]).
	Match(path string) bool

	// Parse parses the text of a file. The text is non-empty UTF-8 without NUL. The items are in the order of their
	// spans, which are the parts of the text that contain entries. The spans do not overlap. Parse sets Name, Kind,
	// Content, Aliases and Labels of each entry, and Created and Updated if the text contains them. If the text
	// contains no time, the store uses the modification time of the file. For Created, it uses the earliest known
	// modification time. The store sets ID, Version and Source.
	//
	// The entries of a file must have different names. If entries in different files have the same name, only the first
	// entry by path can be read (see Options.NewFilePriorityTest), and Check reports the unreadable entries. Therefore
	// the name should contain what distinguishes the file, such as its date. Text outside all spans is not shown as an
	// entry, because people may have written it for themselves. The content of an entry that Plan wrote must be read
	// back exactly, including spaces and line breaks at its ends. For example, a handoff ends with a line break.
	//
	// An error means that the text cannot be trusted. If the file has a last good state, the store uses that state and
	// reports the error. Otherwise it uses the items that were returned with the error.
	Parse(path, text string) ([]Item, error)

	// Plan returns the edits of files that make the change, at most one edit for each file. The argument op is an
	// [oxbow.Add], Update, Alias, Relabel or Remove. For all but Add, v.Find(op.Target()) returns the entry and its
	// span, and op.ApplyTo(entry) returns the entry after the change. The argument now is the time of the change, for
	// an Add without Created. Text outside the span should stay unchanged. The store has checked that the op is valid,
	// that the entry exists (or for an Add does not), and that it has the required version. If the layout cannot store
	// the entry, for example its kind, labels or name, Plan returns an error that matches [oxbow.ErrUnsupported] or
	// [oxbow.ErrInvalid] and explains the reason.
	//
	// The store parses the edited text with Parse. It refuses a plan with an error matching [oxbow.ErrInvalid] if the
	// name, kind, content, aliases or labels of the parsed entry differ from the op, or if another entry in the file
	// would change. Therefore Plan escapes content that Parse would read as the beginning of another entry. If a name,
	// alias, label or kind cannot be written in the text itself, Plan stores it in another place, such as front matter
	// or a comment, or returns an error.
	Plan(v TreeView, op oxbow.Op, now time.Time) ([]Edit, error)
}

// An LayoutWithIgnoredTexts is a [Layout] whose directories may contain texts that the layout does not read. The
// store's method Check lists these texts.
type LayoutWithIgnoredTexts interface {
	// IsIgnoredText reports whether a file contains text, but is not read by the layout. It is called only for paths
	// for which Match returned false.
	IsIgnoredText(path string) bool
}

// Item is an entry in the text of a file.
type Item struct {
	Entry                  oxbow.Entry
	StartOffset, EndOffset int // The entry's part of the file's text is from byte StartOffset to before byte EndOffset.

	hasNoCreationTime bool // the text does not contain the time of creation
}

// FileItem is an entry in a file, with the path of the file.
type FileItem struct {
	Path string
	Item
}

// Edit describes how one file is to be written or removed.
type Edit struct {
	Path      string
	Text      string // whole text of the file ("" is written as a line break, because files must not be empty)
	IsRemoval bool   // remove the file (Text is then ignored)
}

// TreeView is the tree for which a plan is made. It includes the earlier edits of the same Apply.
type TreeView interface {
	// Find returns the entry with this name, the file's path, and the position of the entry's text in the file.
	Find(name string) (FileItem, bool)
	// FileText returns the text of a file for which Match returns true. If the file is damaged now, FileText returns
	// the last text that could be read. ok is false if the file does not exist.
	FileText(path string) (text string, ok bool)
	// Items returns the items of a file, in order. Callers must not change them.
	Items(path string) []Item
	// Files yields the paths of all files that the layout matches, sorted.
	Files() iter.Seq[string]
	// IsPathTaken reports whether a file with the path exists, including files that the layout does not match. If the
	// file system ignores letter case, IsPathTaken also ignores letter case.
	IsPathTaken(path string) bool
}
