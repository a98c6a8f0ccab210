// This file contains helpers that open and close stores for tests.

package logstore

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// openTest opens a store for a test.
func openTest(t testing.TB, fsys vfs.FS, name string, o Options) *DB {
	t.Helper()
	o.FS, o.WriteDerivedFiles = fsys, o.WriteDerivedFiles || !o.ReadOnly
	o.Source.Door = "library"
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.LockWait == 0 {
		o.LockWait = vfs.DefaultLockWait
	}
	if o.CacheBudget == nil {
		o.CacheBudget = cache.NewSizeBudget(64 << 20)
	}
	d, err := Open(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// checkAndCloseStore checks a store and closes it.
func checkAndCloseStore(t testing.TB, d *DB) {
	t.Helper()
	rep, err := d.Check(context.WithoutCancel(t.Context()))
	if err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check() = %v, %v", rep.Problems, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// remember updates the entry with the same name, or adds the entry.
func remember(ctx context.Context, d *DB, e store.Entry) error {
	err := d.Apply(ctx, store.Update{Name: e.Name, Content: e.Content, Aliases: e.Aliases, UniqueAliases: true})
	if errors.Is(err, store.ErrNotFound) {
		err = d.Apply(ctx, store.Add{Name: e.Name, Content: e.Content, Aliases: e.Aliases, UniqueAliases: true})
	}
	return err
}
