// This file checks the file in which package foreign stores keys of texts that came from outside, such as web pages.

package oxbow

import (
	"context"
	"errors"
	"io/fs"

	"github.com/oxbow-memory/oxbow/internal/base/ctxfile"
	"github.com/oxbow-memory/oxbow/internal/base/keytable"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// checkForeignFile returns the problems in a file that package foreign writes. The file contains keys by which oxbow
// recognizes texts from outside, such as web pages. It is no problem if the file is missing or empty, or if the file
// has another format than this program reads.
func checkForeignFile(ctx context.Context, file logstore.CheckedFile) ([]Problem, error) {
	f, err := file.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	err = keytable.CheckFile(ctxfile.File{Context: ctx, InnerFile: f}, info.Size())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil || errors.Is(err, keytable.ErrFormat) {
		return nil, nil
	}
	return []Problem{{
		Offset: -1,
		What:   "the file of foreign texts " + file.Path() + ": " + err.Error(),
		Mend:   "nothing is lost, and the next change makes it again: rm " + text.ShellQuote(file.Path()),
	}}, nil
}
