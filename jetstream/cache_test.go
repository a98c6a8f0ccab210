// This file tests the cache of a process after it was killed, and with files that were changed.

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	api "github.com/nats-io/nats.go/jetstream"
	"github.com/oxbow-memory/oxbow"
)

// copyDir copies the files of a directory to a new temporary directory, and returns the new directory.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestCacheAfterKill copies a cache while it is in use, as a kill would leave it. The copy must be used or, if the
// test has damaged it, built again.
func TestCacheAfterKill(t *testing.T) {
	t.Parallel()
	url := alone(t).URL()
	o := devOptions
	o.minEnvelopesAfterSnapshot = 1 << 30
	o.Dir = t.TempDir()
	a := open(t, connect(t, url, o), "b")
	write := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if err := a.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint("e", i), Content: "text"}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.Restore(t.Context(), "none", 1); !errors.Is(err, oxbow.ErrNotFound) {
			t.Fatalf("Restore() = %v", err)
		}
	}
	write(0, 600) // the position was written at 512 changes
	log, place := filepath.Join("acme.b", logFileName), filepath.Join("acme.b", positionFileName)
	for _, tc := range []struct {
		name string
		harm func(dir string) error
		kept bool // the file is used and not built again
	}{
		{"Killed", func(string) error { return nil }, true},
		{"NoPlace", func(dir string) error { return os.Remove(filepath.Join(dir, place)) }, false},
		{"HalfAPlace", func(dir string) error { return os.Truncate(filepath.Join(dir, place), 20) }, false},
		{"ShortLog", func(dir string) error { return os.Truncate(filepath.Join(dir, log), 3000) }, false},
		{"NoLog", func(dir string) error { return os.Remove(filepath.Join(dir, log)) }, false},
		{"FlippedLog", func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, log))
			if err != nil {
				return err
			}
			b[5000] ^= 1
			return os.WriteFile(filepath.Join(dir, log), b, 0o600)
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := o
			p.Dir = copyDir(t, o.Dir)
			if err := tc.harm(p.Dir); err != nil {
				t.Fatal(err)
			}
			c := connect(t, url, p)
			s := open(t, c, "b")
			if kept := s.brainReplica.position.EnvelopeNumber > 0; kept != tc.kept {
				t.Errorf(
					"opened at envelope %d, want that the file is kept: %t",
					s.brainReplica.position.EnvelopeNumber,
					tc.kept,
				)
			}
			same(t, a, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again := open(t, c, "b")
			if again.brainReplica.position.EnvelopeNumber == 0 || !again.brainReplica.readClean() {
				t.Error("a cache that was closed is begun again")
			}
			same(t, a, again)
		})
	}
}

// readClean reports whether the position that the replica read says that the log file is synced and has not been
// changed since, so that the file need not be checked.
func (r *brainReplica) readClean() bool { return r.position.IsSynced }

// TestCacheOfAnother tests that Connect returns an error if the cache directory Options.Dir belongs to somebody else.
// The error is ErrBusy if another Cluster is using the cache directory. It is ErrRolledBack if the cache directory was
// filled from a different cluster, and Connect must then create nothing on the servers.
func TestCacheOfAnother(t *testing.T) {
	t.Parallel()
	url := alone(t).URL()
	o := devOptions
	o.Dir = t.TempDir()
	c := connect(t, url, o)
	nc, system := dial(t, url)
	o.System = system
	if _, err := Connect(context.Background(), nc, &o); !errors.Is(err, oxbow.ErrBusy) {
		t.Errorf("Connect() with a cache that is in use = %v, want ErrBusy", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	url = alone(t).URL()
	nc, system = dial(t, url)
	o.System = system
	if _, err := Connect(context.Background(), nc, &o); !errors.Is(err, oxbow.ErrRolledBack) {
		t.Errorf("Connect() with a cache, and to servers that have nothing = %v, want ErrRolledBack", err)
	}
	js, err := api.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.KeyValue(t.Context(), clusterDirectoryBucket); !errors.Is(err, api.ErrBucketNotFound) {
		t.Errorf("a directory was made: %v", err)
	}
	connect(t, url, devOptions)
	if _, err := Connect(context.Background(), nc, &o); !errors.Is(err, oxbow.ErrRolledBack) {
		t.Errorf("Connect() with the cache of another cluster = %v, want ErrRolledBack", err)
	}
}

// TestOpenAndClose opens and closes handles of a brain in several goroutines. Each handle must read its own change. At
// the end, all 80 changes must be stored.
func TestOpenAndClose(t *testing.T) {
	t.Parallel()
	o := devOptions
	o.Dir = t.TempDir()
	c := connect(t, alone(t).URL(), o)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 10 {
				s, err := c.Open(t.Context(), "acme", "b")
				if err != nil {
					t.Error(err)
					return
				}
				name := fmt.Sprint(g, " ", i)
				if err := s.Apply(t.Context(), oxbow.Add{Name: name}); err != nil {
					t.Error(err)
				}
				if _, err := s.Get(t.Context(), name); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := count(t, open(t, c, "b")); n != 80 {
		t.Errorf("%d changes, want 80", n)
	}
}
