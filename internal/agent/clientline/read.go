// Lines of a transcript, one after the other, in bounded memory.

// Package clientline reads the lines of the transcripts that clients of agents keep,
// one object of JSON each, and what clients report to hooks, and knows where clients
// keep their files. What the objects mean is for its callers to say.
//
// A line is mostly what no caller asks for, such as the output of a tool. So its
// fields are found without decoding the rest of it.
package clientline

import "bufio"

// Max is the most bytes of a line.
const Max = 64 << 20

// Next returns the next line with its end, which holds until the next call, and its
// size; nil for one of more than [Max] bytes. Errors are those of the reader, io.EOF
// with the last line.
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
