// The content of an entry: from an argument, a flag, a file or standard input.

package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/oxbow-memory/oxbow"
)

// maxInput bounds what is read before it is judged: one byte more than an
// entry may hold is enough to refuse it.
const maxInput = oxbow.MaxContent + 1

// readFile reads a file of content, byte for byte: CRLF stays. "-" is standard
// input.
func (l *locator) readFile(name string) (string, error) {
	if name == "-" {
		return l.readStdin()
	}
	path, err := l.abs(name)
	if err != nil {
		return "", err
	}
	if isDir(path) {
		return "", &hinted{
			err: fmt.Errorf(
				"reading content: %w",
				&fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("is a directory")},
			),
			hint: "to remember all files in it: oxbow import " + quote(name),
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading content: %w", err)
	}
	defer f.Close()
	return readAll(f, name)
}

// readStdin reads content from standard input to its end.
func (l *locator) readStdin() (string, error) {
	if l.env.StdinTerm {
		l.note("reading from the terminal; end with Ctrl-D (Ctrl-Z and Enter on Windows)")
	}
	return readAll(l.env.Stdin, stdinName)
}

// byteOrderMark is what some Windows editors put before UTF-8 text.
var byteOrderMark = []byte("\xef\xbb\xbf")

func readAll(r io.Reader, from string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxInput+int64(len(byteOrderMark))))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", from, err)
	}
	return string(bytes.TrimPrefix(b, byteOrderMark)), nil
}
