// This file defines the items that readers yield, and the errors about single items.

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

// These are the limits of the input. They limit the memory that a reader needs.
const (
	// maxLineBytes is the maximum length of a JSON line, in bytes. Escapes can make a content of [oxbow.MaxContent]
	// bytes six times longer, and a line that Export wrote must be readable.
	maxLineBytes = 32 << 20

	// maxMarkdownBytes is the maximum size of a Markdown file, in bytes.
	maxMarkdownBytes = 16 << 20

	// maxGraphBytes is the maximum total size of the texts in a knowledge graph, in bytes. The whole graph must be in
	// memory, because relations of an entity may be anywhere after it.
	maxGraphBytes = 64 << 20

	// maxImportFiles is the maximum number of files that are read from a directory and its subdirectories.
	maxImportFiles = 100_000

	// maxDecompressedBytes is the default of [ReadOptions.MaxDecompressedBytes].
	maxDecompressedBytes = 4 << 30

	maxDirDepth          = 64      // maximum depth of nested directories
	maxSessionsWithDates = 1 << 20 // maximum number of chat sessions in the files that contain the sessions' dates
)

// Item is an entry in the form that it had in another program.
type Item struct {
	// Entry contains Name, Kind, Content, Aliases and Labels, which are valid for [oxbow.Add]. Created is zero if it
	// is unknown. Updated is zero if the input does not contain the time of the last change.
	Entry oxbow.Entry

	// Position is the place of the item in the input, as file:line.
	Position string

	// Origin is the item's file, if the reader made up the item's name or the file contains no times of changes. For a
	// record of a program, it is the program's name. Origin is "" for an exported entry, which is recognized by its
	// name.
	Origin string

	// ID identifies a record in its program. Import stores it in a label. By this label, a later import finds the
	// entry even if the name or the file of the record has changed.
	ID string

	// FileName is the name of the Markdown file from which the entry comes, if the entry has another name. Import adds
	// this name as an alias to the first entry from the file. The list UnknownKeyLabels contains the labels in
	// Entry.Labels that were made from unknown keys in the file's front matter. If the store cannot contain aliases or
	// labels, Import omits both the alias FileName and the labels in the list UnknownKeyLabels.
	FileName         string
	UnknownKeyLabels []oxbow.Label

	// ConversationText contains the texts of a conversation without the roles. Entry.Content contains the same texts,
	// with the role of the speaker before each text. If the item is not a conversation, ConversationText is "".
	ConversationText string

	// LossMessages describes input that an entry cannot store, each with its file:line. Warnings describes other facts
	// that the user should know.
	LossMessages []string
	Warnings     []string

	// length in bytes of the text at the beginning of the content that consists of values from front matter
	frontMatterTextLen  int
	cachedContentDigest string // importableContentDigest of Entry ("" before it is computed)
}

// errFileWithoutText is returned for a file without text. The report lists it among the notes instead of the problems,
// because nothing is lost.
var errFileWithoutText = errors.New("holds no text")

// errOtherExtension is returned for a file in a directory if the extension of the file belongs to no format. The report
// lists the file among the notes and not among the problems.
var errOtherExtension = errors.New("was passed over: its name ends in none of .md, .markdown, .jsonl and .ndjson")

// errHidden is returned for a hidden file, and for a hidden directory that contains files to import. The report lists
// it among the notes and not among the problems.
var errHidden = errors.New("was passed over: its name begins with a dot; name it to import what it has")

// skippedError is the reason why a file in a directory was skipped. The report lists the file among the notes and not
// among the problems.
type skippedError struct{ reason string }

func (p *skippedError) Error() string { return p.reason }

// isSkippedError reports whether err says that a file in a directory was skipped.
func isSkippedError(err error) bool {
	_, ok := errors.AsType[*skippedError](err)
	return ok
}

// errIgnoredFile is returned for a file that contains nothing to import. It is not reported to the user.
var errIgnoredFile = errors.New("is ignored")

// ItemError is the reason why an item or a line was not imported. A reader continues after it.
type ItemError struct {
	Position string // file:line, or only the file if no line is known
	Err      error
}

func (e *ItemError) Error() string {
	// Do not put the file name before the message if the message already contains the file name.
	if msg := e.Err.Error(); strings.Contains(msg, e.Position) {
		return msg
	}
	return e.Position + ": " + e.Err.Error()
}

func (e *ItemError) Unwrap() error { return e.Err }

func isItemError(err error) bool {
	_, ok := errors.AsType[*ItemError](err)
	return ok
}

func newItemError(ref string, err error) error { return &ItemError{Position: ref, Err: err} }

func lineRef(ref string, line int) string { return ref + ":" + strconv.Itoa(line) }

// checkValid returns an error if no store could store the item.
func (it *Item) checkValid() error {
	e := &it.Entry
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}.Check()
}

// yieldItem yields an item, or an ItemError if the item is not valid. It returns the result of yield.
func yieldItem(yield func(Item, error) bool, it Item) bool {
	it.Entry.Labels = oxbow.SortLabels(it.Entry.Labels)
	if err := it.checkValid(); err != nil {
		return yield(Item{}, newItemError(it.Position, err))
	}
	return yield(it, nil)
}

// fatalErrorSeq returns a sequence that yields only this error.
func fatalErrorSeq(err error) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) { yield(Item{}, err) }
}

// makeValidName makes a valid name of at most max bytes from a text. It replaces white space and control characters by
// single spaces, and cuts off the rest of a longer text. It returns "" if no text remains.
func makeValidName(s string, max int) string {
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

// numberedName returns a name with a number, "NAME (2)", with at most [oxbow.MaxName] bytes.
func numberedName(name string, n int) string {
	suffix := fmt.Sprintf(" (%d)", n)
	return makeValidName(name, oxbow.MaxName-len(suffix)) + suffix
}

// truncateAndQuote returns the beginning of a text in quotes, for an error message.
func truncateAndQuote(s string) string { return fmt.Sprintf("%q", text.TruncateWithEllipsis(s, 60)) }

// boundedReader is a reader that returns an error if r contains more bytes than the field remaining allows.
type boundedReader struct {
	r         io.Reader
	remaining int64
	err       error
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		// The input may end exactly here, so fail only if there is another byte.
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
