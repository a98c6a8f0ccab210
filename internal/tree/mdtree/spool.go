// This file implements the spool, which keeps the texts of new files until they are staged.

package mdtree

import (
	"errors"
	"os"

	"github.com/oxbow-memory/oxbow/vfs"
)

// spoolFile is the name of the spool's file in the staging directory.
const spoolFile = "texts"

// defaultSpoolMemory is the number of bytes that a spool keeps in memory before it uses a file.
const defaultSpoolMemory = 4 << 20

// spool keeps texts. A few texts are in memory, and many texts are in a file, so that a dump does
// not need more memory for more texts.
type spool struct {
	tree        *tree
	limit       int      // bytes that are kept in memory
	recentTexts []byte   // the last texts
	file        vfs.File // file with all earlier texts, or nil if all texts are in memory
	size        int64    // length of the file
}

// spooledText is the place of a text in a spool.
type spooledText struct {
	offset int64
	length int
}

// addText keeps a text.
func (s *spool) addText(text []byte) (spooledText, error) {
	at := spooledText{s.size + int64(len(s.recentTexts)), len(text)}
	s.recentTexts = append(s.recentTexts, text...)
	if len(s.recentTexts) < s.limit {
		return at, nil
	}
	if s.file == nil {
		if err := s.tree.fs.MkdirAll(s.tree.stage.StagedPath("."), s.tree.dirPerm); err != nil {
			return at, err
		}
		f, err := s.tree.fs.OpenFile(s.tree.stage.StagedPath(spoolFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return at, err
		}
		s.file = f
	}
	_, err := s.file.WriteAt(s.recentTexts, s.size)
	s.size += int64(len(s.recentTexts))
	s.recentTexts = s.recentTexts[:0]
	return at, err
}

// appendTo appends a text to b. It is safe for concurrent use.
func (s *spool) appendTo(b []byte, at spooledText) ([]byte, error) {
	if at.offset >= s.size {
		from := at.offset - s.size
		return append(b, s.recentTexts[from:from+int64(at.length)]...), nil
	}
	n := len(b)
	b = append(b, make([]byte, at.length)...)
	_, err := s.file.ReadAt(b[n:], at.offset)
	return b, err
}

// close deletes the spool's file.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return errors.Join(err, s.tree.fs.Remove(s.tree.stage.StagedPath(spoolFile)))
}
