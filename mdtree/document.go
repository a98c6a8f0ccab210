// Documents: files of a tree that hold no entries, and are read and written as a
// whole.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/diff"
)

// Document returns the text of a file that the layout does not match, such as
// an index that people write, and false when there is none. It follows no link
// out of the tree. A document that had a text and became empty is held: the last
// text is returned, and Warn is called.
func (s *Store) Document(ctx context.Context, path string) (text string, ok bool, err error) {
	if err := s.ready(ctx); err != nil {
		return "", false, err
	}
	if err := s.waitIdle(ctx); err != nil {
		return "", false, err
	}
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	text, _, err = s.read(path, maxFile)
	last, served := s.served.text[path]
	switch {
	case errors.Is(err, fs.ErrNotExist):
		delete(s.served.text, path)
		delete(s.served.held, path)
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("reading %s: %w", path, err)
	case text == "" && served && last != "":
		if !s.served.held[path] {
			s.served.held[path] = true
			s.warn("%s is empty; it is held as it was last good", path)
		}
		return last, true, nil
	}
	if why := checkText(text); why != "" {
		return "", false, &oxbow.InvalidError{Field: "file", Value: path, Reason: why}
	}
	delete(s.served.held, path)
	s.served.text[path] = text
	return text, true, nil
}

// SetDocument replaces the text of such a file, making it and the directories
// above it where they are missing. What another program changed since Document
// last returned it is merged by line or, when both changed the same lines, kept
// as a conflict copy.
func (s *Store) SetDocument(ctx context.Context, path, text string) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	return s.change(ctx, func(v *overlay, now time.Time) (*outcome, error) {
		if s.matches(path) {
			return nil, &oxbow.InvalidError{Field: "file", Value: path, Reason: "holds entries"}
		}
		e, err := v.document(path)
		if err != nil {
			return nil, err
		}
		own := &outcome{copies: map[string]string{}, docs: map[string]string{path: text}}
		if base, ok := s.served.text[path]; ok && e.there && e.base != base && e.base != "" {
			if merged, clean := diff.Lines(base, text, e.base); clean {
				own.docs[path] = merged
			} else {
				own.copies[path] = "it was written while somebody else changed the same lines"
			}
		}
		_, _, err = v.edit([]Edit{{Path: path, Text: own.docs[path]}})
		return own, err
	})
}
