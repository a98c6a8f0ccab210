// This file tests what other processes learn about a log from its lock file.

package wal

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestNoted(t *testing.T) {
	fsys := vfs.NewMem()
	if n, ok := ReadLockFileContent(fsys, "log"); ok {
		t.Errorf("ReadLockMeta of no file = %+v, want none", n)
	}
	// The lock can also be held for a file that is not a log.
	if err := vfs.WriteFile(fsys, "log", []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	release, err := HoldLock(t.Context(), fsys, "log", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := HoldLock(t.Context(), fsys, "log", Options{}); !errors.As(err, &busy) || busy.Holder.PID == 0 {
		t.Errorf("Hold of a log that is held = %v, want a BusyError that names the holder", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	n, ok := ReadLockFileContent(fsys, "log")
	if !ok || n.PID == 0 || n.Program == "" || n.Since.IsZero() || n.DurableSeq != 0 {
		t.Errorf("ReadLockMeta = %+v, %v, want who had the lock and nothing of the log", n, ok)
	}
	release, err = HoldLock(t.Context(), fsys, "log", Options{})
	if err != nil {
		t.Errorf("Hold of a log that was given back = %v", err)
	} else if err := release(); err != nil {
		t.Error(err)
	}
}

func TestNotedOfALog(t *testing.T) {
	fsys := vfs.NewMem()
	l, err := Open(fsys, "log", Options{DigestBody: func(uint8, []byte) ([32]byte, error) { return [32]byte{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	// Append three changes. With each change, the log writes to its lock file which earlier changes are durable.
	for range 3 {
		if err := l.Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(Payload{Type: 1, Body: []byte("change")}); err != nil {
			t.Fatal(err)
		}
		if err := l.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	id := l.Header().ID
	n, ok := ReadLockFileContent(fsys, "log")
	if !ok || n.LogID != hex.EncodeToString(id[:]) || n.DurableSeq < 2 || n.DurableSeq > 3 || n.HasFailedSync {
		t.Errorf("ReadLockMeta = %+v, %v, want that change 2 or 3 of %x is durable", n, ok, id)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// If the checksum of the lock file is wrong, ReadLockFileContent must return only the holder (PID). The line below
	// changes a number, as if the file contained a mixture of two versions.
	b, err := vfs.ReadFile(fsys, LockName("log"), -1)
	if err != nil {
		t.Fatal(err)
	}
	was := []byte(`"durable":`)
	for i := range b {
		if string(b[i:min(len(b), i+len(was))]) == string(was) {
			b[i+len(was)]++
			break
		}
	}
	if err := vfs.WriteFile(fsys, LockName("log"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, ok := ReadLockFileContent(fsys, "log"); !ok || n.LogID != "" || n.DurableSeq != 0 || n.PID == 0 {
		t.Errorf("ReadLockMeta of a torn note = %+v, %v, want the holder alone", n, ok)
	}
}
