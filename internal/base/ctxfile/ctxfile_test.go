// This file tests reads and writes before and after the context is done.

package ctxfile_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/ctxfile"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestFile checks that the file can be used until its context is done, and that the inner file is not accessed
// afterwards.
func TestFile(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	mem := vfs.NewMem()
	file, err := mem.OpenFile("file", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f := ctxfile.File{Context: ctx, InnerFile: file}
	data := []byte("some text")
	got := make([]byte, 9)
	if n, err := f.WriteAt(data, 3); n != len(data) || err != nil {
		t.Errorf("WriteAt = %d, %v", n, err)
	}
	if n, err := f.ReadAt(got, 3); n != len(data) || err != nil || !bytes.Equal(got, data) {
		t.Errorf("ReadAt = %d, %v, and %q", n, err, got)
	}
	end()
	if n, err := f.WriteAt(data, 0); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("WriteAt when ctx is done = %d, %v", n, err)
	}
	if n, err := f.ReadAt(got, 0); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("ReadAt when ctx is done = %d, %v", n, err)
	}
	if b, err := vfs.ReadFile(mem, "file", -1); err != nil || !bytes.Equal(b[3:], data) {
		t.Errorf("the file holds %q, %v", b, err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}
