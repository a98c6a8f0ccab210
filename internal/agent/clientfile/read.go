// This file reads a transcript line by line. It limits the memory for a line.

// Package clientfile reads the transcripts of agent clients, and the reports that clients send to hooks. A transcript
// usually has one JSON object on each line. The package also knows the directories in which clients store their files.
//
// Transcripts are converted to events, which are the same for all clients. The session archive and the annotations are
// both made from these events. CONTRIBUTING.md lists the files to change for a new client.
//
// Callers ignore most data in a line, such as a tool's output. Therefore the package finds the needed fields without
// decoding the rest of the line.
package clientfile

import "bufio"

// MaxLineBytes is the maximum length of a line that is read, in bytes.
const MaxLineBytes = 64 << 20

// ReadNextLine returns the next line with its line end, and the line's size in bytes. The line is valid until the next
// call. If the line is longer than [MaxLineBytes], line is nil. A last line without a newline is returned together with
// io.EOF. Other errors are errors of the reader.
func ReadNextLine(br *bufio.Reader) (line []byte, size int64, err error) {
	var all []byte
	for {
		part, err := br.ReadSlice('\n')
		size += int64(len(part))
		isWhole := err == nil && all == nil
		if isWhole && size <= MaxLineBytes {
			return part, size, nil
		}
		if size > MaxLineBytes {
			all = nil
		} else {
			all = append(all, part...)
		}
		if err != bufio.ErrBufferFull {
			return all, size, err
		}
	}
}
