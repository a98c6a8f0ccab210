// This file checks the file with the keys of foreign texts, which package foreign reads and writes.

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

// checkForeignFile returns the problems in the file with the keys of foreign texts. A file that is missing, empty, or
// of another format or history is not a problem, because it is ignored.
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
