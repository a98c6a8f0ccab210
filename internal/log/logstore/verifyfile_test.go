// Tests of the verification of a file that is not opened as a store.

package logstore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// VerifyFile reports what Check reports, and finds every wrong byte that a check finds.
func TestVerifyFile(t *testing.T) {
	disk := vfs.NewMem()
	d := openTest(t, disk, "memory.oxbow", Options{})
	for i := range 30 {
		if err := remember(t.Context(), d, store.Entry{Name: fmt.Sprint("name ", i%20), Content: "text"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Apply(t.Context(), store.Remove{Name: "name 7"}); err != nil {
		t.Fatal(err)
	}
	want, err := d.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, d)
	options := Options{FS: disk, Clock: time.Now, Rand: rand.Reader, ReadOnly: true}
	got, err := VerifyFile(t.Context(), "memory.oxbow", options)
	isSame := got.Entries == 19 && got.Entries == want.Entries && got.Last == want.Last && got.Head == want.Head
	if err != nil || !isSame || len(got.Problems) > 0 {
		t.Fatalf("VerifyFile() = %+v, %v; want %+v", got, err, want)
	}
	if _, err := VerifyFile(t.Context(), "other.oxbow", options); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("VerifyFile() of a missing file = %v", err)
	}

	sound, err := vfs.ReadFile(disk, "memory.oxbow", -1)
	if err != nil {
		t.Fatal(err)
	}
	step := testenv.RepeatCount(13, 1)
	for i := wal.HeaderSize; i < int(got.Bytes); i += step {
		b := append([]byte(nil), sound...)
		b[i] ^= 1
		copied := vfs.NewMem()
		if err := copied.Put("memory.oxbow", b, 0o600, time.Time{}); err != nil {
			t.Fatal(err)
		}
		options.FS = copied
		verified, err := VerifyFile(t.Context(), "memory.oxbow", options)
		if err != nil {
			t.Fatalf("VerifyFile() with a wrong byte %d: %v", i, err)
		}
		checked, err := Open("memory.oxbow", Options{FS: copied, Clock: time.Now, Rand: rand.Reader, ReadOnly: true})
		if errors.Is(err, store.ErrCorrupt) {
			if !verified.Damaged {
				t.Errorf("byte %d is wrong: no store can be opened (%v), and VerifyFile() = %+v", i, err, verified)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		rep, err := checked.Check(t.Context())
		if err != nil || fmt.Sprint(rep.Problems) != fmt.Sprint(verified.Problems) {
			t.Errorf("byte %d is wrong: Check() = %v, %v; VerifyFile() = %v", i, rep.Problems, err, verified.Problems)
		}
		if err := checked.Close(); err != nil {
			t.Error(err)
		}
	}
}
