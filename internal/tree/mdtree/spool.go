// This file implements the spool, which stores the texts of new files until they are staged.

package mdtree

import (
	"errors"
	"os"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// spoolFile is the name of the temporary file in which a dump stores the texts of entries if memory is not enough. The
// file is in the staging directory.
const spoolFile = "texts"

// defaultMaxTextBytesInMemory is the number of bytes that a spool keeps in memory before it uses a file.
const defaultMaxTextBytesInMemory = 4 << 20

// textTempStore stores texts: in memory if there are few, otherwise in a file. Therefore a dump does not need more
// memory if there are more texts.
type textTempStore struct {
	tempFileTree   *fileTree
	maxMemoryBytes int    // maximum size of recentTexts before the texts are moved to the file
	recentTexts    []byte // the texts that were added last, and that are not in the file yet
	// temporary file with the texts that were added before recentTexts (nil if all texts are in memory)
	spoolFile     vfs.File
	spoolFileSize int64 // length of spoolFile, in bytes
	textPlaces    []spooledText
}

// spooledText is the position of an entry file's text in the temporary file or its buffer in memory. The stored text
// lacks the entry's name.
type spooledText struct {
	offset     int64
	length     int32
	nameOffset int32 // position in the text at which the entry's name is inserted
}

// addText adds a text and returns the number of the text. nameAt is the offset in the text at which the entry's name is
// inserted later. When the texts in memory reach maxMemoryBytes, addText moves them to a temporary file.
func (s *textTempStore) addText(text []byte, nameAt int) (int32, error) {
	at := int32(len(s.textPlaces))
	s.textPlaces = append(
		s.textPlaces,
		spooledText{s.spoolFileSize + int64(len(s.recentTexts)), int32(len(text)), int32(nameAt)},
	)
	s.recentTexts = append(s.recentTexts, text...)
	if len(s.recentTexts) < s.maxMemoryBytes {
		return at, nil
	}
	if s.spoolFile == nil {
		if err := s.tempFileTree.fs.MkdirAll(s.tempFileTree.stagingArea.StagedPath("."),
			s.tempFileTree.dirPerm); err != nil {
			return at, err
		}
		f, err := s.tempFileTree.fs.OpenFile(
			s.tempFileTree.stagingArea.StagedPath(spoolFile),
			os.O_RDWR|os.O_CREATE|os.O_TRUNC,
			0o600,
		)
		if err != nil {
			return at, err
		}
		s.spoolFile = f
	}
	_, err := s.spoolFile.WriteAt(s.recentTexts, s.spoolFileSize)
	s.spoolFileSize += int64(len(s.recentTexts))
	s.recentTexts = s.recentTexts[:0]
	return at, err
}

// appendSpooledText appends the stored text of an entry file with this number to b. If name is not nil, it inserts the
// name into the text at the stored position. It is safe for concurrent use.
func (s *textTempStore) appendSpooledText(b []byte, textNumber int32, name []byte) ([]byte, error) {
	at, start := s.textPlaces[textNumber], len(b)
	b, err := s.appendBytes(b, at)
	if err == nil && name != nil {
		b = slices.Insert(b, start+int(at.nameOffset), name...)
	}
	return b, err
}

func (s *textTempStore) appendBytes(b []byte, at spooledText) ([]byte, error) {
	if at.offset >= s.spoolFileSize {
		from := at.offset - s.spoolFileSize
		return append(b, s.recentTexts[from:from+int64(at.length)]...), nil
	}
	n := len(b)
	b = append(b, make([]byte, at.length)...)
	_, err := s.spoolFile.ReadAt(b[n:], at.offset)
	return b, err
}

// deleteSpoolFile deletes the temporary file with the texts of entries.
func (s *textTempStore) deleteSpoolFile() error {
	if s.spoolFile == nil {
		return nil
	}
	err := s.spoolFile.Close()
	s.spoolFile = nil
	return errors.Join(err, s.tempFileTree.fs.Remove(s.tempFileTree.stagingArea.StagedPath(spoolFile)))
}
