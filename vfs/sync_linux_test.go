// This file tests StartSync, which starts to write the content of a file to the disk. The program does not wait for the
// end of the sync until it calls Sync.

package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// TestStartSync tests that a sync can be started for a file that was written, and that StartSync returns an error for
// a closed file.
func TestStartSync(t *testing.T) {
	o, err := vfs.Dir(t.TempDir())
	must(t, err)
	defer o.Close()
	f, err := o.OpenFile("file", os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteAt([]byte("text"), 0)
	must(t, err)
	s := f.(vfs.SyncStarter)
	must(t, s.StartSync())
	must(t, f.Sync())
	must(t, f.Close())
	if err := s.StartSync(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("StartSync() = %v, want an error matching ErrClosed", err)
	}
}
