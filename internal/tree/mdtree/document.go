// This file reads documents. Documents are files of a directory tree that are not the file of an entry. They are
// changed with [Store.Edit].

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/oxbow-memory/oxbow"
)

// Document returns the text of a file that contains no entries, such as an index that a person wrote. The result ok is
// false if the file does not exist. Symbolic links that lead out of the tree are not followed. If the file is empty but
// had text when it was last read, Document returns that earlier text. The first time that this happens, Document also
// warns the user. It warns again only after the file has had text in the meantime. If the text is not valid, the error
// is an [oxbow.InvalidError].
func (s *Store) Document(ctx context.Context, path string) (text string, ok bool, err error) {
	if err := s.checkReady(ctx); err != nil {
		return "", false, err
	}
	if err := s.waitForIncompleteChange(ctx); err != nil {
		return "", false, err
	}
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	text, _, err = s.readText(path, maxEntryFileBytes)
	last, served := s.servedEntries.documentTexts[path]
	switch {
	case errors.Is(err, fs.ErrNotExist):
		delete(s.servedEntries.documentTexts, path)
		delete(s.servedEntries.documentsEmptiedOnDisk, path)
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("reading %s: %w", path, err)
	case text == "" && served && last != "":
		if !s.servedEntries.documentsEmptiedOnDisk[path] {
			s.servedEntries.documentsEmptiedOnDisk[path] = true
			s.warn("%s is empty; it is held as it was last good", path)
		}
		return last, true, nil
	}
	if why := InvalidTextReason(text); why != "" {
		return "", false, &oxbow.InvalidError{Field: "file", Value: path, Reason: why}
	}
	delete(s.servedEntries.documentsEmptiedOnDisk, path)
	s.servedEntries.documentTexts[path] = text
	return text, true, nil
}
