// This file implements the spool, which stores the texts of new files until they are staged.

package mdtree

import (
	"errors"
	"os"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// tempTextsFileName is the name of the temporary file in which a dump stores the texts of entries if memory is not
// enough. The file is in the staging directory.
const tempTextsFileName = "texts"

// defaultMaxTextBytesInMemory is the number of bytes that a spool keeps in memory before it uses a file.
const defaultMaxTextBytesInMemory = 4 << 20

// textTempStore stores texts: in memory if there are few, otherwise in a file. Therefore a dump does not need more
// memory if there are more texts.
type textTempStore struct {
	tempFileTree    *fileTree
	maxMemoryBytes  int    // maximum size of recentTextBytes before the texts are moved to the file
	recentTextBytes []byte // the texts that were added last, and that are not in the file yet
	// temporary file with the texts that were added before recentTextBytes (nil if all texts are in memory)
	spoolFile     vfs.File
	spoolFileSize int64 // length of spoolFile, in bytes
	textLocations []spooledText
}

// spooledText is the position of an entry file's text in the temporary file or its buffer in memory. The stored text
// lacks the entry's name.
type spooledText struct {
	offset     int64
	length     int32
	nameOffset int32 // position in the text at which the entry's name is inserted
}

// addText adds a text and returns the number of the text. nameOffset is the offset in the text at which the entry's
// name is inserted later. When the texts in memory reach maxMemoryBytes, addText moves them to a temporary file.
func (s *textTempStore) addText(text []byte, nameOffset int) (int32, error) {
	at := int32(len(s.textLocations))
	s.textLocations = append(
		s.textLocations,
		spooledText{s.spoolFileSize + int64(len(s.recentTextBytes)), int32(len(text)), int32(nameOffset)},
	)
	s.recentTextBytes = append(s.recentTextBytes, text...)
	if len(s.recentTextBytes) < s.maxMemoryBytes {
		return at, nil
	}
	if s.spoolFile == nil {
		if err := s.tempFileTree.fs.MkdirAll(s.tempFileTree.stagingArea.StagedPath("."),
			s.tempFileTree.dirPerm); err != nil {
			return at, err
		}
		f, err := s.tempFileTree.fs.OpenFile(
			s.tempFileTree.stagingArea.StagedPath(tempTextsFileName),
			os.O_RDWR|os.O_CREATE|os.O_TRUNC,
			0o600,
		)
		if err != nil {
			return at, err
		}
		s.spoolFile = f
	}
	_, err := s.spoolFile.WriteAt(s.recentTextBytes, s.spoolFileSize)
	s.spoolFileSize += int64(len(s.recentTextBytes))
	s.recentTextBytes = s.recentTextBytes[:0]
	return at, err
}

// appendStoredText appends the stored text of an entry file with this number to b. If name is not nil, it inserts the
// name into the text at the stored position. It is safe for concurrent use.
func (s *textTempStore) appendStoredText(b []byte, textNumber int32, name []byte) ([]byte, error) {
	at, start := s.textLocations[textNumber], len(b)
	b, err := s.appendBytes(b, at)
	if err == nil && name != nil {
		b = slices.Insert(b, start+int(at.nameOffset), name...)
	}
	return b, err
}

func (s *textTempStore) appendBytes(b []byte, textLocation spooledText) ([]byte, error) {
	if textLocation.offset >= s.spoolFileSize {
		from := textLocation.offset - s.spoolFileSize
		return append(b, s.recentTextBytes[from:from+int64(textLocation.length)]...), nil
	}
	n := len(b)
	b = append(b, make([]byte, textLocation.length)...)
	_, err := s.spoolFile.ReadAt(b[n:], textLocation.offset)
	return b, err
}

// deleteSpoolFile deletes the temporary file with the texts of entries.
func (s *textTempStore) deleteSpoolFile() error {
	if s.spoolFile == nil {
		return nil
	}
	err := s.spoolFile.Close()
	s.spoolFile = nil
	return errors.Join(err, s.tempFileTree.fs.Remove(s.tempFileTree.stagingArea.StagedPath(tempTextsFileName)))
}
