// Items, which readers yield, and errors about single items.

package exchange

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Limits of what readers take. They bound memory whatever the input.
const (
	// maxLine is the most bytes of one line of JSON. A content of [oxbow.MaxContent] bytes
	// may grow sixfold by JSON's escapes, and what Export writes must be readable.
	maxLine = 32 << 20

	// maxMarkdown is the most bytes of one Markdown file.
	maxMarkdown = 16 << 20

	// maxGraph is the most bytes of text that the knowledge graph of one file
	// may hold: it has to be in memory whole, since the relations of an entity
	// may stand anywhere after it.
	maxGraph = 64 << 20

	// maxFiles is the most files read below one directory.
	maxFiles = 100_000

	// maxExpanded is the most bytes that one gzip file may expand to, unless
	// [ReadOptions] says otherwise.
	maxExpanded = 4 << 30

	maxDepth = 64      // directories within each other
	maxDates = 1 << 20 // sessions that a file of dates may name
)

// Item is one entry as it stood elsewhere.
type Item struct {
	// Entry has Name, Kind, Content, Aliases and Labels, which
	// [oxbow.Op] Check has found good; Created, zero when unknown; and Updated,
	// zero except where the input says when the entry was last written.
	Entry oxbow.Entry

	// Ref is where the item stands: file:line.
	Ref string

	// Origin is the file that the item is derived from, for items whose name
	// was made by the reader or whose file has no times of change. It is empty
	// for entries of an export: those are known by their own name.
	Origin string

	// FileName is the name of a Markdown file whose entry has another name. The
	// import makes it an alias of the first entry that wants it. Further are the
	// labels of Entry from keys of front matter that an entry has no place for.
	// A store without aliases or labels does without both.
	FileName string
	Further  []oxbow.Label

	// Warnings say what of the input the item could not hold, each with its file:line.
	Warnings []string
}

// errEmpty is returned for a file that has no text. It is no reason to fail: there is nothing
// to take.
var errEmpty = errors.New("holds no text")

// errOther is returned for a file in a directory whose name says that it holds something
// else. It is no reason to fail, either.
var errOther = errors.New("was passed over: its name ends in none of .md, .markdown, .jsonl and .ndjson")

// errHidden is returned for a hidden directory that has files which could be imported. It
// is no reason to fail.
var errHidden = errors.New("was passed over: its name begins with a dot; name it to import what it has")

// ItemError says why one item, or one line, was not taken. Reading goes on after it.
type ItemError struct {
	Ref string // file:line, or the file
	Err error
}

func (e *ItemError) Error() string {
	// What ended the reading of one file of many names the file already.
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

func problem(ref string, err error) error { return &ItemError{Ref: ref, Err: err} }

func at(ref string, line int) string { return fmt.Sprintf("%s:%d", ref, line) }

// check reports why no store could hold the item.
func (it *Item) check() error {
	e := &it.Entry
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}.Check()
}

// send yields the item, or the reason why it is not good.
func send(yield func(Item, error) bool, it Item) bool {
	it.Entry.Labels = oxbow.SortLabels(it.Entry.Labels)
	if err := it.check(); err != nil {
		return yield(Item{}, problem(it.Ref, err))
	}
	return yield(it, nil)
}

// fail returns a sequence of one fatal error.
func fail(err error) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) { yield(Item{}, err) }
}

// cutName makes any text usable as a name, or returns "" when nothing is left
// of it: white space and control characters become single spaces, and what is
// over max bytes is cut off at a rune.
func cutName(s string, max int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(s) <= max {
		return s
	}
	const more = "…"
	return strings.TrimSpace(text.Cut(s, max-len(more))) + more
}

// numbered returns the name with a number after it, "NAME (2)", within
// [oxbow.MaxName] bytes.
func numbered(name string, n int) string {
	suffix := fmt.Sprintf(" (%d)", n)
	return cutName(name, oxbow.MaxName-len(suffix)) + suffix
}

// short quotes the beginning of a text for an error.
func short(s string) string { return fmt.Sprintf("%q", text.Clip(s, 60)) }

// bounded reads at most n bytes and fails, rather than ends, when there are more.
type bounded struct {
	r    io.Reader
	left int64
	err  error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// The bound is met by an input of exactly that size, too: only a
		// further byte breaks it.
		var one [1]byte
		switch n, err := b.r.Read(one[:]); {
		case n > 0:
			return 0, b.err
		default:
			return 0, err
		}
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	return n, err
}
