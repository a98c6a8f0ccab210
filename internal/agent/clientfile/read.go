// This file reads the lines of a transcript one by one, with bounded memory.

// Package clientfile reads the transcripts of agent clients, with one JSON object in each line, and the
// reports that clients send to hooks. It also knows the directories in which clients store their files.
// The callers interpret the objects.
//
// Most of a line is data that no caller needs, such as the output of a tool. The fields are therefore
// found without decoding the rest of the line.
package clientfile

import "bufio"

// Max is the maximum length of a line, in bytes.
const Max = 64 << 20

// Next returns the next line, including its end, and its size in bytes. The line is valid until the
// next call. If the line is longer than [Max] bytes, line is nil. Next returns the errors of the
// reader; the last line comes with io.EOF if it has no newline.
func Next(br *bufio.Reader) (line []byte, size int64, err error) {
	var all []byte
	for {
		part, err := br.ReadSlice('\n')
		size += int64(len(part))
		if err == nil && all == nil && size <= Max {
			return part, size, nil
		}
		if size > Max {
			all = nil
		} else {
			all = append(all, part...)
		}
		if err != bufio.ErrBufferFull {
			return all, size, err
		}
	}
}
