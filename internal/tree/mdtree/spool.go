// This file implements the spool, which stores the texts of new files until they are staged.

package mdtree

import (
	"errors"
	"os"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// spoolFile is the name of the spool's file in the staging directory.
const spoolFile = "texts"

// defaultSpoolMemory is the number of bytes that a spool keeps in memory before it uses a file.
const defaultSpoolMemory = 4 << 20

// spool stores texts: in memory if there are few, otherwise in a file. Therefore a dump does not need more memory if
// there are more texts.
type spool struct {
	tree        *tree
	limit       int      // maximum number of bytes in memory
	recentTexts []byte   // the last texts that were added
	file        vfs.File // file with the other texts (nil if all texts are in memory)
	size        int64    // length of the file
	texts       []spooledText
}

// spooledText is the position of a text in the spool. The text is the content of an entry's file without the name.
type spooledText struct {
	offset int64
	length int32
	nameAt int32 // position in the text at which the name is inserted
}

// addText adds a text and returns the number of the text.
func (s *spool) addText(text []byte, nameAt int) (int32, error) {
	at := int32(len(s.texts))
	s.texts = append(s.texts, spooledText{s.size + int64(len(s.recentTexts)), int32(len(text)), int32(nameAt)})
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

// appendTo appends the text with this number to b. If name is not nil, it inserts the name into the text. It is safe
// for concurrent use.
func (s *spool) appendTo(b []byte, text int32, name []byte) ([]byte, error) {
	at, start := s.texts[text], len(b)
	b, err := s.appendBytes(b, at)
	if err == nil && name != nil {
		b = slices.Insert(b, start+int(at.nameAt), name...)
	}
	return b, err
}

func (s *spool) appendBytes(b []byte, at spooledText) ([]byte, error) {
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
