// This file reads backups.

package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// These errors are returned for a backup that cannot be decrypted. If the backup is damaged, the error matches
// [oxbow.ErrCorrupt] instead.
var (
	ErrEncrypted = errors.New("it is encrypted, and no key was given")
	ErrWrongKey  = errors.New("none of the keys opens it")
)

// ageMagic is the beginning of an encrypted file in age's format.
const ageMagic = "age-encryption.org/"

// IsEncrypted reports whether a file with this beginning is encrypted in age's format.
func IsEncrypted(head []byte) bool {
	for _, m := range []string{ageMagic, armor.Header} {
		if len(head) >= len(ageMagic) && string(head[:len(ageMagic)]) == m[:len(ageMagic)] {
			return true
		}
	}
	return false
}

// Restore writes the store in a backup to a new temporary file in target's directory, and returns the name of this
// file. The caller must rename or remove it. If Restore fails, no file remains.
func Restore(ctx context.Context, file string, k Keys, target string) (tempFile string, err error) {
	ids, err := k.readIdentityKeys()
	if err != nil {
		return "", err
	}
	src, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer src.Close()
	r, err := newDecryptReader(src, ids)
	if err != nil {
		return "", err
	}
	dir, name, err := openFileDir(target)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	f, tempFile, err := vfs.CreateTemp(dir, name, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.CopyBuffer(&contextWriter{ctx: ctx, writer: io.NewOffsetWriter(f, 0)}, r, make([]byte, copyStepBytes))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return "", errors.Join(err, dir.Remove(tempFile))
	}
	return tempFile, nil
}

// copyStepBytes is how many bytes are written between two checks of the context.
const copyStepBytes = 256 << 10

// RenameRestoredFile renames a restored file and syncs the directory. The argument tempFile is the name of the
// temporary file, which [Restore] returned. The argument file is the new path, which must be in the same directory. If
// file already exists, the error matches [fs.ErrExist].
func RenameRestoredFile(tempFile, file string) (err error) {
	dir, name, err := openFileDir(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	return errors.Join(vfs.RenameNew(dir, tempFile, name), dir.SyncDir("."))
}

// newDecryptReader returns a reader for the decrypted content of src. If src is not encrypted, it returns src.
func newDecryptReader(src io.Reader, ids []age.Identity) (io.Reader, error) {
	in := bufio.NewReaderSize(src, copyStepBytes)
	head, err := in.Peek(len(armor.Header))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !IsEncrypted(head) {
		return in, nil
	}
	if len(ids) == 0 {
		return nil, ErrEncrypted
	}
	r := io.Reader(in)
	if string(head) == armor.Header {
		r = armor.NewReader(in)
	}
	text, err := age.Decrypt(r, ids...)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none) && slices.Contains(none.StanzaTypes, "scrypt"):
		return nil, fmt.Errorf("%w: it is encrypted with a passphrase", ErrWrongKey)
	case errors.As(err, &none):
		return nil, ErrWrongKey
	case err != nil:
		return nil, decryptionDamageError(err, 0)
	}
	return &damageLocatingReader{decrypted: text}, nil
}

// damageLocatingReader reads decrypted data. If reading fails, it returns an error that says where the backup is
// damaged.
type damageLocatingReader struct {
	decrypted     io.Reader
	readByteCount int64
}

func (s *damageLocatingReader) Read(b []byte) (int, error) {
	n, err := s.decrypted.Read(b)
	s.readByteCount += int64(n)
	if err != nil && err != io.EOF {
		err = decryptionDamageError(err, s.readByteCount)
	}
	return n, err
}

// decryptionDamageError converts a decryption error to a damagedError. bytesBeforeDamage is the number of bytes before
// the damage. An error of reading the file is returned unchanged.
func decryptionDamageError(err error, bytesBeforeDamage int64) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &damagedError{
			fmt.Sprintf("it is cut short: it ends after %d bytes that can be decrypted", bytesBeforeDamage),
		}
	}
	return &damagedError{
		fmt.Sprintf("it is damaged or cut short after %d bytes that can be decrypted: %v", bytesBeforeDamage, err),
	}
}

// damagedError says that a backup is damaged. It matches [oxbow.ErrCorrupt].
type damagedError struct{ message string }

func (e *damagedError) Error() string      { return e.message }
func (*damagedError) Is(target error) bool { return target == oxbow.ErrCorrupt }
