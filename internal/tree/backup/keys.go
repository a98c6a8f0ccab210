// This file reads the keys for encrypting and decrypting backups.

package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"

	"github.com/oxbow-memory/oxbow"
)

// These are the prefixes for three kinds of keys: a public key and a secret key for the encryption program age, and an
// SSH key.
const (
	publicKeyPrefix = "age1"
	secretKeyPrefix = "AGE-SECRET-KEY-"
	sshKeyPrefix    = "ssh-"
)

// IsEncryptionKey reports whether a text is an encryption key for backups. Otherwise it is the name of a file with
// keys.
func IsEncryptionKey(s string) bool {
	return strings.HasPrefix(s, publicKeyPrefix) || strings.HasPrefix(s, secretKeyPrefix) ||
		strings.HasPrefix(s, sshKeyPrefix)
}

// maxKeyFileBytes is the maximum size of a key file, in bytes.
const maxKeyFileBytes = 1 << 20

// Keys name the keys for encrypting or decrypting a backup.
type Keys struct {
	Recipients    []string // public keys, or names of files with one public key on each line, as for "age -R"
	SecretKeyFile string   // name of a file with secret keys, as age-keygen writes it (may be empty)
	Passphrase    string   // name of a file with a passphrase (may be empty)
}

// CanEncrypt reports whether k contains a recipient or a passphrase, so that a backup can be encrypted.
func (k Keys) CanEncrypt() bool { return len(k.Recipients) > 0 || k.Passphrase != "" }

// CanDecrypt reports whether k contains a file with a secret key, or a passphrase. It does not check whether a certain
// backup can be decrypted with it.
func (k Keys) CanDecrypt() bool { return k.SecretKeyFile != "" || k.Passphrase != "" }

// readRecipientKeys returns the keys for encrypting: a key made from the passphrase, or the public keys in
// k.Recipients. It fails if k names both.
func (k Keys) readRecipientKeys() ([]age.Recipient, error) {
	if k.Passphrase != "" {
		if len(k.Recipients) > 0 {
			return nil, invalidErrorf("a backup is encrypted to keys or with a passphrase, not both")
		}
		pass, err := readPassphrase(k.Passphrase)
		if err != nil {
			return nil, err
		}
		r, err := age.NewScryptRecipient(pass)
		return []age.Recipient{r}, err
	}
	var all []age.Recipient
	for _, to := range k.Recipients {
		from, text := "--to", []byte(to)
		switch {
		case strings.HasPrefix(to, secretKeyPrefix):
			return nil, invalidErrorf(
				"--to takes the public key, and this is a secret one: age-keygen -y KEYFILE prints the public key",
			)
		case !IsEncryptionKey(to):
			var err error
			text, err = readKeyFile(to)
			if errors.Is(err, os.ErrNotExist) {
				return nil, invalidErrorf("%q is neither a public key, which begins with age1, nor a file of them", to)
			} else if err != nil {
				return nil, err
			}
			from = to
		}
		rs, err := age.ParseRecipients(bytes.NewReader(text))
		if err != nil {
			return nil, invalidErrorf(
				"%s: %v; public keys that age-keygen prints are taken, those of ssh and of plugins are not",
				from,
				err,
			)
		}
		all = append(all, rs...)
	}
	return all, nil
}

// readIdentityKeys returns the keys for decrypting: the secret keys in the file k.SecretKeyFile, and a key made from
// the passphrase. The result is empty if k names neither.
func (k Keys) readIdentityKeys() ([]age.Identity, error) {
	var all []age.Identity
	if k.SecretKeyFile != "" {
		text, err := readKeyFile(k.SecretKeyFile)
		if err != nil {
			return nil, err
		}
		all, err = age.ParseIdentities(bytes.NewReader(bytes.ReplaceAll(text, []byte("\r"), nil)))
		if err != nil {
			return nil, invalidErrorf("%s holds no secret keys as age-keygen writes them: %v", k.SecretKeyFile, err)
		}
	}
	if k.Passphrase != "" {
		pass, err := readPassphrase(k.Passphrase)
		if err != nil {
			return nil, err
		}
		i, err := age.NewScryptIdentity(pass)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

// readPassphrase returns the passphrase that a file contains. The passphrase must be the only line of the file.
// Otherwise readPassphrase returns an error.
func readPassphrase(file string) (string, error) {
	text, err := readKeyFile(file)
	if err != nil {
		return "", err
	}
	pass := strings.TrimRight(string(text), "\r\n")
	if pass == "" || strings.ContainsAny(pass, "\r\n") {
		return "", invalidErrorf("%s must hold the passphrase, in one line", file)
	}
	return pass, nil
}

// readKeyFile returns the content of a key file.
func readKeyFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKeyFileBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading keys: %w", err)
	case len(b) > maxKeyFileBytes:
		return nil, invalidErrorf("%s is too long for a file of keys", file)
	}
	return b, nil
}

// invalidErrorf returns an error about an argument of the caller. It matches [oxbow.ErrInvalid].
func invalidErrorf(format string, args ...any) error {
	return &invalidError{fmt.Sprintf(format, args...)}
}

type invalidError struct{ message string }

func (e *invalidError) Error() string      { return e.message }
func (*invalidError) Is(target error) bool { return target == oxbow.ErrInvalid }
