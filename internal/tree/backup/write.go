// Package backup writes a copy of a store that only a key opens, as a file of age
// (age-encryption.org/v1), and brings back what such a copy, or a plain one, holds.
// The copy is encrypted as it is read: its text is never on the disk.
package backup

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"

	"filippo.io/age"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Written is what was written, and how far it was tried.
type Written struct {
	oxbow.CheckReport       // of the store that was copied, as it was read
	Size              int64 // of the file
	Opened            bool  // a key opened the file, and it held what was read of the store
}

// Write encrypts a copy of the store to a file, in one step: the file is there whole
// and durable, or as before. An existing one is [fs.ErrExist] unless replace is set.
//
// The store is checked before it is copied. What was written is read again and
// compared; where the keys may open it, it is decrypted and compared with what
// was read of the store.
func Write(ctx context.Context, m *oxbow.Memory, file string, k Keys, replace bool) (out Written, err error) {
	to, err := k.recipients()
	if err != nil {
		return out, err
	}
	ids, err := k.identities()
	if err != nil {
		return out, err
	}
	dir, name, err := place(file)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	d, err := vfs.NewDraft(dir, name, 0o600)
	if err != nil {
		return out, err
	}
	err = out.fill(ctx, m, d, &sink{ctx: ctx, to: d, sum: sha256.New()}, to, ids)
	if err == nil {
		err = commit(d, replace)
	}
	return out, errors.Join(err, d.Discard())
}

// commit gives a complete new file its name, durably.
func commit(d *vfs.Draft, replace bool) error {
	if !replace {
		return d.CommitNew()
	}
	return d.Commit(nil)
}

// fill encrypts the store into a new file, and tries what it wrote.
func (o *Written) fill(ctx context.Context, m *oxbow.Memory, d *vfs.Draft, s *sink, to []age.Recipient, ids []age.Identity) error {
	enc, err := age.Encrypt(s, to...)
	if err != nil {
		return fmt.Errorf("encrypting: %w", err)
	}
	plain := sha256.New()
	o.CheckReport, err = m.BackupTo(ctx, io.MultiWriter(enc, plain))
	if err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return fmt.Errorf("encrypting: %w", err)
	}
	o.Size = d.Size()
	if err := d.Sync(); err != nil {
		return err
	}
	again := sha256.New()
	if _, err := io.Copy(again, d.Reader()); err != nil {
		return fmt.Errorf("reading what was written again: %w", err)
	}
	if [32]byte(again.Sum(nil)) != [32]byte(s.sum.Sum(nil)) {
		return errors.New("what was written reads differently: look after the disk")
	}
	if len(ids) == 0 {
		return nil
	}
	r, err := decrypt(d.Reader(), ids)
	if err != nil {
		return fmt.Errorf("trying the key on what was written: %w", err)
	}
	opened := sha256.New()
	if _, err := io.Copy(opened, r); err != nil {
		return fmt.Errorf("decrypting what was written: %w", err)
	}
	if [32]byte(opened.Sum(nil)) != [32]byte(plain.Sum(nil)) {
		return errors.New("what was written decrypts to something else than the memory")
	}
	o.Opened = true
	return nil
}

// place opens the directory of a file, and returns the name in it.
func place(file string) (dir *vfs.OS, name string, err error) {
	dir, err = vfs.Dir(filepath.Dir(file))
	return dir, filepath.Base(file), err
}

// sink writes until the context ends.
type sink struct {
	ctx context.Context
	to  io.Writer
	sum hash.Hash // of what was written; may be nil
}

func (s *sink) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.to.Write(b)
	if s.sum != nil {
		s.sum.Write(b[:n])
	}
	return n, err
}
