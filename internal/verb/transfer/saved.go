// This file saves entries to a file before a change. It is used for a memory without a history, in which the change
// cannot be undone.

package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

// BeforeLoadPrefix is the first part of the names of some files. If a home (a memory's directory) has no history, such
// a file saves the entries that a load of a dump replaced or removed.
const BeforeLoadPrefix = "before-load"

// SaveEntries exports the selected entries to a new file in the home, and returns the path of the file. The file's name
// consists of fileStem, the current time in UTC, and the extension .jsonl.
func SaveEntries(
	ctx context.Context,
	w *verb.Workspace,
	m *oxbow.Memory,
	fileStem string,
	f oxbow.Filter,
) (path string, err error) {
	defer func() { err = verb.WrapError("saving entries", err) }()
	p, err := w.FindPlace()
	if err != nil {
		return "", err
	}
	var lines bytes.Buffer
	if _, err := exchange.Export(ctx, m, f, &lines); err != nil {
		return "", err
	}
	fsys, err := vfs.Dir(p.Dir())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()
	fileStem += "-" + w.CurrentTime().UTC().Format("20060102-150405")
	name := fileStem + ".jsonl"
	to, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	for n := 2; errors.Is(err, fs.ErrExist); n++ {
		name = fmt.Sprintf("%s-%d.jsonl", fileStem, n)
		to, err = fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return "", err
	}
	if err := vfs.WriteSync(to, lines.Bytes()); err != nil {
		return "", err
	}
	return filepath.Join(p.Dir(), name), fsys.SyncDir(".")
}
