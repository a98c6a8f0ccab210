// This file defines the items that readers yield, and errors about single items.

package exchange

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Limits for the input. They bound the memory that a reader needs.
const (
	// maxLine is the maximum length of a JSON line, in bytes. Escapes can make a content of
	// [oxbow.MaxContent] bytes six times longer, and Export's output must be readable.
	maxLine = 32 << 20

	// maxMarkdown is the maximum size, in bytes, of a Markdown file.
	maxMarkdown = 16 << 20

	// maxGraph is the maximum size of the texts in a file's knowledge graph, in bytes. The whole
	// graph has to be in memory, because an entity's relations may follow anywhere after it.
	maxGraph = 64 << 20

	// maxFiles is the maximum number of files to read in a directory and its
	// subdirectories.
	maxFiles = 100_000

	// maxExpanded is the default of [ReadOptions.MaxExpanded].
	maxExpanded = 4 << 30

	maxDepth        = 64      // depth of nested directories
	maxSessionDates = 1 << 20 // sessions in files of dates
)

// Item is an entry in the form that it had in another program.
type Item struct {
	// Entry contains Name, Kind, Content, Aliases and Labels, which are valid for [oxbow.Add].
	// Created is zero if it is unknown. Updated is zero if the input does not say when the entry
	// was last written.
	Entry oxbow.Entry

	// Ref is the position of the item: file:line.
	Ref string

	// Origin is the file of the item if the reader made up the item's name, or if the file contains
	// no times of changes. Origin is empty for an exported entry, which is recognized by its name.
	// If the item is a record of a program, Origin is the name of the program.
	Origin string

	// ID identifies a record in its program. The import stores the ID in a label. A later import finds the entry by
	// this label, even if the record then has another name or is in another file.
	ID string

	// FileName is the name of a Markdown file, if its entry has a different name. The import makes
	// it an alias of the first entry with this FileName. Further contains the labels in Entry that
	// come from front matter keys without a corresponding field. If the store does not store
	// aliases or labels, the import leaves these out.
	FileName string
	Further  []oxbow.Label

	// Spoken contains the texts of a conversation. Entry.Content contains the same texts with the role of the speaker
	// before each. It is empty for other items.
	Spoken string

	// Losses describes input that an entry cannot store, each with its file:line. Warnings lists
	// further facts that the user should know.
	Losses   []string
	Warnings []string

	frontTextLen int    // length of the text from front matter with which the content begins
	sum          string // contentSum of Entry, or "" if it was not computed yet
}

// errEmptyFile is returned for a file without text. The error only leads to a note, because an
// empty file has nothing to import.
var errEmptyFile = errors.New("holds no text")

// errOtherExtension is returned for a file whose ending belongs to none of the formats. The error only leads
// to a note.
var errOtherExtension = errors.New("was passed over: its name ends in none of .md, .markdown, .jsonl and .ndjson")

// errHidden is returned for a hidden file, and for a hidden directory that contains files to import. The error only
// leads to a note.
var errHidden = errors.New("was passed over: its name begins with a dot; name it to import what it has")

// skippedError is the reason why a file in a directory was not read. It only leads to a note.
type skippedError struct{ reason string }

func (p *skippedError) Error() string { return p.reason }

// isSkipped reports whether the error says that a file in a directory was not read.
func isSkipped(err error) bool {
	_, ok := errors.AsType[*skippedError](err)
	return ok
}

// errIgnoredFile is returned for a file that contains nothing to import. It is not reported.
var errIgnoredFile = errors.New("is ignored")

// ItemError is the reason why an item or a line was not imported. Reading continues after it.
type ItemError struct {
	Ref string // file:line, or only the file
	Err error
}

func (e *ItemError) Error() string {
	// do not repeat the file's name, which an error that ended the reading of the file already
	// contains
	if msg := e.Err.Error(); strings.Contains(msg, e.Ref) {
		return msg
	}
	return e.Ref + ": " + e.Err.Error()
}

func (e *ItemError) Unwrap() error { return e.Err }

func isItemError(err error) bool {
	_, ok := errors.AsType[*ItemError](err)
	return ok
}

func newItemError(ref string, err error) error { return &ItemError{Ref: ref, Err: err} }

func lineRef(ref string, line int) string { return ref + ":" + strconv.Itoa(line) }

// checkValid returns an error if no store could hold the item.
func (it *Item) checkValid() error {
	e := &it.Entry
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}.Check()
}

// yieldItem yields the item, or an ItemError if it is not valid.
func yieldItem(yield func(Item, error) bool, it Item) bool {
	it.Entry.Labels = oxbow.SortLabels(it.Entry.Labels)
	if err := it.checkValid(); err != nil {
		return yield(Item{}, newItemError(it.Ref, err))
	}
	return yield(it, nil)
}

// fatalErrorSeq returns a sequence that consists of a single fatal error.
func fatalErrorSeq(err error) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) { yield(Item{}, err) }
}

// cleanName converts any text to a valid name of at most max bytes: it replaces white space and
// control characters by single spaces, and cuts longer texts off after a complete rune. It returns
// "" if no text remains.
func cleanName(s string, max int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(s) <= max {
		return s
	}
	const more = "…"
	return strings.TrimSpace(text.TruncateBytes(s, max-len(more))) + more
}

// numberedName returns the name with a number, "NAME (2)", in at most [oxbow.MaxName] bytes.
func numberedName(name string, n int) string {
	suffix := fmt.Sprintf(" (%d)", n)
	return cleanName(name, oxbow.MaxName-len(suffix)) + suffix
}

// quoteShort quotes the beginning of a text, for an error message.
func quoteShort(s string) string { return fmt.Sprintf("%q", text.TruncateWithEllipsis(s, 60)) }

// boundedReader is a reader that fails if r has more than left bytes.
type boundedReader struct {
	r         io.Reader
	remaining int64
	err       error
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		// the input may have exactly the allowed size, so fail only if another byte follows
		var one [1]byte
		switch n, err := b.r.Read(one[:]); {
		case n > 0:
			return 0, b.err
		default:
			return 0, err
		}
	}
	if int64(len(p)) > b.remaining {
		p = p[:b.remaining]
	}
	n, err := b.r.Read(p)
	b.remaining -= int64(n)
	return n, err
}
