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
	"io/fs"
	"path/filepath"
	"time"

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
	vfs.RemoveStaleTemps(dir, ".", time.Now(), func(of string) bool { return of == name })
	f, temp, err := vfs.CreateTemp(dir, name, 0o600)
	if err != nil {
		return out, err
	}
	s := &sink{ctx: ctx, file: f, sum: sha256.New()}
	err = out.fill(ctx, m, s, to, ids)
	if err = errors.Join(err, f.Close()); err == nil {
		err = settle(dir, temp, name, replace)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return out, err
}

// fill encrypts the store into a new file, and tries what it wrote.
func (o *Written) fill(ctx context.Context, m *oxbow.Memory, s *sink, to []age.Recipient, ids []age.Identity) error {
	enc, err := age.Encrypt(s, to...)
	if err != nil {
		return fmt.Errorf("encrypting: %w", err)
	}
	plain := sha256.New()
	if o.CheckReport, err = m.BackupTo(ctx, io.MultiWriter(enc, plain)); err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return fmt.Errorf("encrypting: %w", err)
	}
	o.Size = s.off
	if err := s.file.Sync(); err != nil {
		return err
	}
	again := sha256.New()
	if _, err := io.Copy(again, s.read()); err != nil {
		return fmt.Errorf("reading what was written again: %w", err)
	}
	if [32]byte(again.Sum(nil)) != [32]byte(s.sum.Sum(nil)) {
		return errors.New("what was written reads differently: look after the disk")
	}
	if len(ids) == 0 {
		return nil
	}
	r, err := decrypt(s.read(), ids)
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

// settle gives a complete new file its name, durably.
func settle(dir vfs.FS, temp, name string, replace bool) error {
	if _, err := dir.Stat(name); !replace && !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return &fs.PathError{Op: "copy", Path: name, Err: err}
	}
	if err := dir.Rename(temp, name); err != nil {
		return err
	}
	return dir.SyncDir(".")
}

// place opens the directory of a file, and returns the name in it.
func place(file string) (dir *vfs.OS, name string, err error) {
	dir, err = vfs.Dir(filepath.Dir(file))
	return dir, filepath.Base(file), err
}

// sink writes a new file from its start, until the context ends.
type sink struct {
	ctx  context.Context
	file vfs.File
	off  int64
	sum  hash.Hash // of what was written; nil for none
}

func (s *sink) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.file.WriteAt(b, s.off)
	s.off += int64(n)
	if s.sum != nil {
		s.sum.Write(b[:n])
	}
	return n, err
}

// read returns what was written.
func (s *sink) read() io.Reader { return io.NewSectionReader(s.file, 0, s.off) }
