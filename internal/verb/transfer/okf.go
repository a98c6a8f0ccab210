// This file exports a bundle in the Open Knowledge Format.

package transfer

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/output"
	"github.com/oxbow-memory/oxbow/internal/verb/signing"
	"github.com/oxbow-memory/oxbow/vfs"
)

// ExportBundle writes the selected entries to a new directory (see [exchange.ExportOKF]). It ignores in.Output. The
// directory gets the final name only when it is complete.
func ExportBundle(
	ctx context.Context,
	w *verb.Workspace,
	in ExportIn,
	dir output.OutputDir,
) (out ExportOut, err error) {
	f, err := in.EntrySelection.CombineFilter(in.Filter, w.CurrentTime())
	if err == nil {
		err = dir.CheckEmpty()
	}
	if err != nil {
		return out, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return out, err
	}
	f, out.LeftOutEntries, err = readableFilter(ctx, m, f)
	if err != nil {
		return out, err
	}
	_, err = dir.BuildInPlace(func(path string) error {
		fsys, err := vfs.Dir(path)
		if err != nil {
			return err
		}
		out.EntryCount, err = exchange.ExportOKF(ctx, m, f, fsys)
		return errors.Join(err, fsys.Close())
	})
	if err == nil {
		out.File = dir.Name
		signing.SignCopiedMemory(ctx, w, m)
	}
	return out, err
}
