// Reading and writing the two files as their design does: as a whole, and by
// paragraph.

package clawft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
)

// ReadMemory returns all of MEMORY.md, and false when there is none. The session
// of the context has seen it then.
func (h *Home) ReadMemory(ctx context.Context) (text string, ok bool, err error) {
	text, ok, err = h.Document(ctx, memoryFile)
	if err != nil {
		return "", false, fmt.Errorf("reading the memory: %w", err)
	}
	return text, ok, nil
}

// ReadHistory returns all of HISTORY.md, and false when there is none.
func (h *Home) ReadHistory(ctx context.Context) (text string, ok bool, err error) {
	text, ok, err = h.Document(ctx, historyFile)
	if err != nil {
		return "", false, fmt.Errorf("reading the history: %w", err)
	}
	return text, ok, nil
}

// apart returns the text of a file without the entries that may not be shown, and these,
// a blank line after each.
func (h *Home) apart(file, text string, may func(*oxbow.Entry) bool) (shown, rest string) {
	items, _ := h.layout.Parse(file, text) // every text is one
	for _, it := range slices.Backward(items) {
		if !may(&it.Entry) {
			eol := eolOf(text)
			rest = text[it.Start:it.End] + eol + eol + rest
			text = text[:it.Start] + text[it.End:]
		}
	}
	return text, rest
}

// hide is apart for the caller of the context.
func (h *Home) hide(ctx context.Context, file, text string) (shown, rest string) {
	return h.apart(file, text, func(e *oxbow.Entry) bool { return !e.Withheld(ctx) })
}

// AppendMemory writes a paragraph, or several, after MEMORY.md, with a blank
// line before and after, and returns how many bytes of content it wrote. Control
// characters other than tabs and line ends are left out.
func (h *Home) AppendMemory(ctx context.Context, content string) (int, error) {
	if err := check(content); err != nil {
		return 0, err
	}
	content = clean(content)
	s := h.Seen(ctx)
	err := s.Write(func() (now oxbow.Entry, err error) {
		var was, is string
		err = h.Tree.Edit(ctx, func(v mdtree.View, _ time.Time) ([]mdtree.Edit, error) {
			was, _ = v.File(memoryFile)
			is = withBlankLine(appended(was, content))
			return []mdtree.Edit{{Path: memoryFile, Text: is}}, nil
		})
		if err == nil {
			s.RecordWrite(verb.Document(memoryFile, was), verb.Document(memoryFile, is))
		}
		// The session knows what it wrote, and still not what others did.
		if known, ok := s.Known(verb.Document(memoryFile, "")); ok || isBlank(was) {
			now = verb.Document(memoryFile, withBlankLine(appended(known.Content, content)))
		}
		return now, err
	})
	if err != nil {
		return 0, fmt.Errorf("writing the memory: %w", err)
	}
	return len(content), nil
}

// WriteMemory replaces all of MEMORY.md by the content and a blank line after it, and
// returns how many bytes of content it wrote. What
// was replaced can be taken back (see [Home.Revert]). What another program
// changed since the session of the context saw the file is merged by line or,
// where that does not go or the session never saw it, the error matches
// [oxbow.ErrConflict]. What is [oxbow.Entry.Withheld] stays.
func (h *Home) WriteMemory(ctx context.Context, content string) (int, error) {
	if err := check(content); err != nil {
		return 0, err
	}
	content = clean(content)
	err := h.SetDocument(ctx, memoryFile, content, layout.DocumentOptions{
		Hide: func(text string) (shown, rest string) { return h.hide(ctx, memoryFile, text) },
		Keep: func(was, is string, now time.Time) ([]mdtree.Edit, error) {
			if strings.HasPrefix(is, strings.TrimRight(was, " \t\r\n")) {
				return nil, nil
			}
			_, kept, err := h.record(replaced{What: "overwrite", Time: now, Was: was, Is: atLeastALine(is)})
			return kept, err
		},
		End: withBlankLine,
	})
	if err != nil {
		return 0, fmt.Errorf("writing the memory: %w", err)
	}
	return len(content), nil
}

// appended returns a text with more after it.
func appended(text, more string) string {
	if strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) == "" {
		return text[:len(text)-len(strings.TrimLeft(text, "\ufeff"))] + more
	}
	return text + gap(text) + more
}

// withBlankLine returns a text that ends in a blank line, unless it is blank: clawft
// appends right after the last byte.
func withBlankLine(text string) string {
	body := strings.TrimRight(text, "\r\n")
	if body == "" {
		return text
	}
	return body + eolOf(text) + eolOf(text)
}

// AppendHistory writes an entry after HISTORY.md and a blank line after it.
func (h *Home) AppendHistory(ctx context.Context, content string) error {
	if err := check(content); err != nil {
		return err
	}
	content = strings.TrimRightFunc(clean(content), unicode.IsSpace)
	if content == "" {
		return &oxbow.InvalidError{Field: "entry", Reason: "is empty"}
	}
	err := h.Tree.Edit(ctx, func(v mdtree.View, _ time.Time) ([]mdtree.Edit, error) {
		now, _ := v.File(historyFile)
		return []mdtree.Edit{{Path: historyFile, Text: appended(now, content) + eolOf(now) + eolOf(now)}}, nil
	})
	if err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	return nil
}

// check reports why a text cannot be written, control characters aside.
func check(content string) error {
	if !utf8.ValidString(content) {
		return oxbow.CheckContent(content)
	}
	return oxbow.CheckContent(clean(content))
}

// clean leaves out the control characters that are no white space: a terminal
// would obey them, and a file with a NUL is no text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if (r < ' ' || r == 0x7f) && r != '\n' && r != '\r' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// Search returns the paragraphs that hold the query, those of MEMORY.md first and
// in their order, at most limit of them when limit is above 0. Letter case and
// diacritics do not count. An empty query finds nothing. A file that cannot be
// read is left out; the error is then that of reading, next to what the other
// holds.
func (h *Home) Search(ctx context.Context, query string, limit int) ([]string, error) {
	memory, _, err := h.Tree.Document(ctx, memoryFile)
	history, _, herr := h.Tree.Document(ctx, historyFile)
	found := append(matches(memory, query), matches(history, query)...)
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	return found, errors.Join(err, herr)
}
