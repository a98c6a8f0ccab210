// This file reads and writes MEMORY.md and HISTORY.md as whole texts and by paragraph, like the program clawft, which
// uses these two files as its memory.

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
	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
)

// ReadMemory returns the text of MEMORY.md. Like h.Document, it records in ctx's session that the session has seen the
// text. ok is false if the file does not exist.
func (h *Home) ReadMemory(ctx context.Context) (text string, ok bool, err error) {
	text, ok, err = h.Document(ctx, memoryFile)
	if err != nil {
		return "", false, fmt.Errorf("reading the memory: %w", err)
	}
	return text, ok, nil
}

// ReadHistory returns the text of HISTORY.md. ok is false if the file does not exist.
func (h *Home) ReadHistory(ctx context.Context) (text string, ok bool, err error) {
	text, ok, err = h.Document(ctx, historyFile)
	if err != nil {
		return "", false, fmt.Errorf("reading the history: %w", err)
	}
	return text, ok, nil
}

// splitVisibleEntries divides a file's text. shown is the text without the entries for which isVisible returns false.
// rest contains these entries, each followed by a blank line.
func (h *Home) splitVisibleEntries(file, text string, isVisible func(*oxbow.Entry) bool) (shown, rest string) {
	items, _ := h.layout.Parse(file, text) // Ignore the error, because Parse accepts every text.
	for _, it := range slices.Backward(items) {
		if !isVisible(&it.Entry) {
			eol := lineEnding(text)
			rest = text[it.StartOffset:it.EndOffset] + eol + eol + rest
			text = text[:it.StartOffset] + text[it.EndOffset:]
		}
	}
	return text, rest
}

// splitForCaller divides the text of a file. visibleText is the text without the entries that the caller may not see,
// and hiddenText contains these entries, each followed by a blank line. ctx identifies the caller.
func (h *Home) splitForCaller(ctx context.Context, file, text string) (visibleText, hiddenText string) {
	return h.splitVisibleEntries(file, text, func(e *oxbow.Entry) bool { return e.MayShow(oxbow.OnRequest(ctx)) })
}

// AppendMemory appends paragraphs to MEMORY.md with blank lines around them. It returns how many bytes of content were
// appended. It removes control characters except tabs and line ends.
func (h *Home) AppendMemory(ctx context.Context, content string) (int, error) {
	if err := checkContentIsStorable(content); err != nil {
		return 0, err
	}
	content = removeControlCharacters(content)
	s := h.SeenEntries(ctx)
	err := s.RunWrite(func() (now oxbow.Entry, err error) {
		var was, is string
		err = h.Tree.Edit(ctx, func(v mdtree.TreeView, _ time.Time) ([]mdtree.Edit, error) {
			was, _ = v.FileText(memoryFile)
			is = withBlankLine(appendTextOnNewLine(was, content))
			return []mdtree.Edit{{Path: memoryFile, Text: is}}, nil
		})
		if err == nil {
			s.RecordWrite(verb.DocumentEntry(memoryFile, was), verb.DocumentEntry(memoryFile, is))
		}
		// Compute the version of MEMORY.md that the session has seen. The session knows the content that it has just
		// appended. It may not know the text that other programs have written meanwhile. Therefore append only the
		// session's content to the text that the session knew before.
		if known, ok := s.SeenVersion(verb.DocumentEntry(memoryFile, "")); ok || isBlank(was) {
			now = verb.DocumentEntry(memoryFile, withBlankLine(appendTextOnNewLine(known.Content, content)))
		}
		return now, err
	})
	if err != nil {
		return 0, fmt.Errorf("writing the memory: %w", err)
	}
	return len(content), nil
}

// WriteMemory replaces MEMORY.md's text by content, followed by a blank line, and returns the size of the content in
// bytes. [Home.Revert] can undo this. The session in ctx may have read the file before others changed it. In this case,
// WriteMemory merges the changes by line. If they cannot be merged, or if the session has not read the file, the error
// matches [oxbow.ErrConflict]. Entries that the caller may not see (see [oxbow.OnRequest]) are kept.
func (h *Home) WriteMemory(ctx context.Context, content string) (int, error) {
	if err := checkContentIsStorable(content); err != nil {
		return 0, err
	}
	content = removeControlCharacters(content)
	err := h.SetDocument(ctx, memoryFile, content, dialect.DocumentOptions{
		SplitHiddenText: func(text string) (shown, rest string) { return h.splitForCaller(ctx, memoryFile, text) },
		CompanionEdits: func(was, is string, now time.Time) ([]mdtree.Edit, error) {
			if strings.HasPrefix(is, strings.TrimRight(was, " \t\r\n")) {
				return nil, nil
			}
			_, kept, err := h.newUndoRecordEdits(
				undoRecord{What: "overwrite", Time: now, OldMemory: was, NewMemory: textOrLineEnd(is)},
			)
			return kept, err
		},
		AddEnding: withBlankLine,
	})
	if err != nil {
		return 0, fmt.Errorf("writing the memory: %w", err)
	}
	return len(content), nil
}

// appendTextOnNewLine returns text, a blank line, and the text more, joined to one string. If text is blank, it returns
// more without a blank line, but keeps a byte order mark at the beginning of text.
func appendTextOnNewLine(text, more string) string {
	if strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")) == "" {
		return text[:len(text)-len(strings.TrimLeft(text, "\ufeff"))] + more
	}
	return text + lineEndsBeforeParagraph(text) + more
}

// withBlankLine returns the text with a blank line at its end, because clawft appends directly after the last byte. If
// the text contains only line ends, withBlankLine returns it unchanged.
func withBlankLine(text string) string {
	body := strings.TrimRight(text, "\r\n")
	if body == "" {
		return text
	}
	return body + lineEnding(text) + lineEnding(text)
}

// AppendHistory appends a paragraph and a blank line to HISTORY.md. It removes control characters, and white space at
// the end of the content. An empty content is an [oxbow.InvalidError].
func (h *Home) AppendHistory(ctx context.Context, content string) error {
	if err := checkContentIsStorable(content); err != nil {
		return err
	}
	content = strings.TrimRightFunc(removeControlCharacters(content), unicode.IsSpace)
	if content == "" {
		return &oxbow.InvalidError{Field: "entry", Reason: "is empty"}
	}
	err := h.Tree.Edit(ctx, func(v mdtree.TreeView, _ time.Time) ([]mdtree.Edit, error) {
		now, _ := v.FileText(historyFile)
		return []mdtree.Edit{
			{Path: historyFile, Text: appendTextOnNewLine(now, content) + lineEnding(now) + lineEnding(now)},
		}, nil
	})
	if err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	return nil
}

// checkContentIsStorable returns an error if content cannot be the content of an entry, for example because it is not
// valid UTF-8. Control characters are allowed, because they are removed before the content is stored.
func checkContentIsStorable(content string) error {
	if !utf8.ValidString(content) {
		return oxbow.CheckContent(content)
	}
	return oxbow.CheckContent(removeControlCharacters(content))
}

// removeControlCharacters removes control characters except white space, because a terminal would interpret them and
// a file with a NUL byte is not text.
func removeControlCharacters(s string) string {
	return strings.Map(func(r rune) rune {
		isControl := r < ' ' || r == 0x7f
		if isControl && !strings.ContainsRune("\n\r\t", r) {
			return -1
		}
		return r
	}, s)
}

// Search returns the paragraphs that contain the query: first the paragraphs in MEMORY.md and then the paragraphs in
// HISTORY.md, in the order of the files. If limit is above 0, it returns at most limit paragraphs. It ignores letter
// case and diacritics. An empty query finds nothing. If one file cannot be read, Search returns the paragraphs of the
// readable file and an error.
func (h *Home) Search(ctx context.Context, query string, limit int) ([]string, error) {
	memory, _, err := h.Tree.Document(ctx, memoryFile)
	history, _, herr := h.Tree.Document(ctx, historyFile)
	found := append(paragraphsContaining(memory, query), paragraphsContaining(history, query)...)
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	return found, errors.Join(err, herr)
}
