// This file reads the content of an entry from an argument, a flag, a file or standard input.

package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/oxbow-memory/oxbow"
)

// maxInputBytes is the maximum number of bytes that are read. It is one byte more than an entry may contain, so that
// longer input is noticed.
const maxInputBytes = oxbow.MaxContent + 1

// readFile reads the content of an entry from a file, without changing line ends. The name "-" means standard input.
func (env *environment) readFile(name string) (string, error) {
	if name == "-" {
		return env.readStdin()
	}
	path, err := env.absolutePath(name)
	if err != nil {
		return "", err
	}
	if isDir(path) {
		return "", &hintedError{
			err: fmt.Errorf(
				"reading content: %w",
				&fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("is a directory")},
			),
			remedy: "to remember all files in it: oxbow import " + shellQuote(name),
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading content: %w", err)
	}
	defer f.Close()
	return readInput(f, name)
}

// readStdin reads content from standard input up to its end.
func (env *environment) readStdin() (string, error) {
	if env.IsStdinTerminal {
		env.printNote("reading from the terminal; end with Ctrl-D (Ctrl-Z and Enter on Windows)")
	}
	return readInput(env.Stdin, stdinName)
}

// byteOrderMark is the UTF-8 byte order mark, with which some Windows editors begin a file.
var byteOrderMark = []byte("\xef\xbb\xbf")

func readInput(r io.Reader, sourceName string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxInputBytes+int64(len(byteOrderMark))))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", sourceName, err)
	}
	return string(bytes.TrimPrefix(b, byteOrderMark)), nil
}
