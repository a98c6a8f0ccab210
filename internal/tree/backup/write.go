// Package backup writes encrypted copies of a store in age's format (age-encryption.org/v1), and restores encrypted
// and plain copies. A copy is encrypted while the store is read, so its plain text is never on the disk.
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

// WrittenBackup describes a new backup.
type WrittenBackup struct {
	oxbow.CheckReport       // result of checking the copied store
	Size              int64 // size of the file, in bytes
	IsVerified        bool  // The file was decrypted, and its content was equal to the store.
}

// Write writes an encrypted copy of the store to a file. The file contains either the complete backup, synced to disk,
// or its earlier content. If the file exists and replace is false, the error matches [fs.ErrExist].
//
// Before copying the store, Write checks it. Afterwards it reads the file and compares the contents with the written
// bytes. If k can decrypt the file, Write also decrypts it and compares the content with the store.
func Write(ctx context.Context, m *oxbow.Memory, file string, k Keys, replace bool) (out WrittenBackup, err error) {
	to, err := k.readRecipientKeys()
	if err != nil {
		return out, err
	}
	ids, err := k.readIdentityKeys()
	if err != nil {
		return out, err
	}
	dir, name, err := openFileDir(file)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	d, err := vfs.NewDraft(dir, name, 0o600)
	if err != nil {
		return out, err
	}
	err = out.writeAndVerify(ctx, m, d, &contextWriter{ctx: ctx, writer: d, sum: sha256.New()}, to, ids)
	if err == nil {
		err = commitDraft(d, replace)
	}
	return out, errors.Join(err, d.Discard())
}

// commitDraft gives the complete new file its final name and makes the name durable. If a file with the final name
// exists, commitDraft replaces the file if mayReplace is true. Otherwise it returns an error that matches fs.ErrExist.
func commitDraft(d *vfs.Draft, mayReplace bool) error {
	if !mayReplace {
		return d.CommitNew()
	}
	return d.Commit(nil)
}

// writeAndVerify writes the store, encrypted for the recipients, to the draft d. It then reads the draft again to check
// that it contains the written bytes. If ids contains keys, it also decrypts the draft with these keys, and sets
// o.IsVerified if the content equals the store. The argument s must be a writer to d that computes a hash of the
// written bytes.
func (o *WrittenBackup) writeAndVerify(
	ctx context.Context,
	m *oxbow.Memory,
	d *vfs.Draft,
	s *contextWriter,
	recipients []age.Recipient,
	ids []age.Identity,
) error {
	enc, err := age.Encrypt(s, recipients...)
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
	r, err := newDecryptReader(d.Reader(), ids)
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
	o.IsVerified = true
	return nil
}

// openFileDir opens the directory of a file. It also returns the name of the file in this directory.
func openFileDir(file string) (dir *vfs.OS, name string, err error) {
	dir, err = vfs.Dir(filepath.Dir(file))
	return dir, filepath.Base(file), err
}

// contextWriter writes to another writer until its context is done. Then it fails.
type contextWriter struct {
	ctx    context.Context
	writer io.Writer
	sum    hash.Hash // hash of the written data (nil if it is not needed)
}

func (s *contextWriter) Write(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.writer.Write(b)
	if s.sum != nil {
		s.sum.Write(b[:n])
	}
	return n, err
}
