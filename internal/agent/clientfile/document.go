// This file reads transcripts that are a single JSON document instead of lines.

package clientfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDocumentBytes is the maximum size of a document, in bytes.
const maxDocumentBytes = 256 << 20

// readDocument reads a whole document. It returns errDocumentTooLarge if the document has more than maxDocumentBytes
// bytes.
func readDocument(in io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, maxDocumentBytes+1))
	if err == nil && len(b) > maxDocumentBytes {
		err = errDocumentTooLarge
	}
	return b, err
}

var errDocumentTooLarge = fmt.Errorf(
	"it is a document of more than %d MB, which is too large to read",
	maxDocumentBytes>>20,
)

// byteOrderMark is the UTF-8 byte order mark, with which some editors begin a file.
var byteOrderMark = []byte("\ufeff")

// ReadDocument checks whether a file is a single JSON document or contains a separate JSON text in each line. A single
// document is a JSON array, or one JSON object on several lines.
//
// For a single document, the result document is the whole text of the file. The caller then passes this text to an
// [EventReader] as if it were a single line. Otherwise document is nil, and the caller must read the file line by line
// from lineReader, which begins at the start of the file.
func ReadDocument(br *bufio.Reader) (document []byte, lineReader *bufio.Reader, err error) {
	head, _ := br.Peek(br.Size()) // Ignore the error: reading the file returns it again.
	head = bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n")
	end := bytes.IndexByte(head, '\n')
	isArray := len(head) > 0 && head[0] == '['
	isLines := end < 0 || head[0] != '{' || eachField(head[:end], func(_, _ []byte) {})
	if isLines && !isArray {
		return nil, br, nil
	}
	b, err := readDocument(br)
	hasMoreLines := end >= 0 && bytes.HasPrefix(bytes.TrimLeft(head[end:], " \t\r\n"), []byte("{"))
	if errors.Is(err, errDocumentTooLarge) && hasMoreLines {
		// The file contains a second object, so it is not a single JSON document. The caller must read it line by
		// line, although the first line is damaged.
		err = nil
	}
	if err != nil {
		return nil, br, err
	}
	if json.Valid(bytes.TrimPrefix(b, byteOrderMark)) {
		return b, br, nil
	}
	return nil, bufio.NewReaderSize(io.MultiReader(bytes.NewReader(b), br), br.Size()), nil
}
