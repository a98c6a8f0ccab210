// This file reads a transcript line by line, with bounded memory.

// Package clientfile reads the transcripts of agent clients, with one JSON object in each line, and
// the reports that clients send to hooks. It also contains the directories in which clients store
// their files.
//
// Transcripts are converted to events, which are the same for all clients. The archive of sessions and the annotations
// both read these events. CONTRIBUTING.md lists the files that a new client needs.
//
// Most of a line is data that callers ignore, such as a tool's output. The fields are therefore
// found without decoding the rest of the line.
package clientfile

import "bufio"

// MaxLineSize is the maximum length of a line, in bytes.
const MaxLineSize = 64 << 20

// NextLine returns the next line, including its line end, and the line's size in bytes. The line is
// valid until the next call. If the line is longer than [MaxLineSize] bytes, line is nil. NextLine returns the
// reader's errors. If the last line does not end with a newline, NextLine returns it with io.EOF.
func NextLine(br *bufio.Reader) (line []byte, size int64, err error) {
	var all []byte
	for {
		part, err := br.ReadSlice('\n')
		size += int64(len(part))
		isWhole := err == nil && all == nil
		if isWhole && size <= MaxLineSize {
			return part, size, nil
		}
		if size > MaxLineSize {
			all = nil
		} else {
			all = append(all, part...)
		}
		if err != bufio.ErrBufferFull {
			return all, size, err
		}
	}
}
