// This file tests encrypted backups: reading them with age, reading backups that age made, damaged backups, and wrong
// keys.

package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// secret is a word that is in the memory and must not be in an encrypted file.
const secret = "swordfish"

// The function memory returns a memory with entries. The content of the entry "b" is longer than a block that the
// encryption program age encrypts at once.
func memory(t *testing.T) *oxbow.Memory {
	t.Helper()
	m := storetest.Open(t, filepath.Join(t.TempDir(), "memory.oxbow"), nil)
	for _, e := range []oxbow.Entry{
		{Name: "a", Content: secret},
		{Name: "b", Content: strings.Repeat("long ", 40_000)},
		{Name: "a", Content: "again"},
	} {
		if _, err := m.Remember(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// The function keys makes a new key pair. It writes the secret key to the file name in the directory dir. It returns
// both keys in a Keys value, and the secret key as identity.
func keys(t *testing.T, dir, name string) (Keys, *age.X25519Identity) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(dir, name), "# a comment\r\n"+id.String()+"\r\n")
	return Keys{Recipients: []string{id.Recipient().String()}, SecretKeyFile: file}, id
}

func write(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// plain returns the bytes of an unencrypted copy of the memory.
func plain(t *testing.T, m *oxbow.Memory) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.BackupTo(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// names returns the names of the files in a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range es {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// TestBothWays tests that the age library decrypts a backup to the exact bytes, and that a backup that the library
// encrypted can be restored.
func TestBothWays(t *testing.T) {
	m, dir := memory(t), t.TempDir()
	k, id := keys(t, dir, "key")
	second, id2 := keys(t, dir, "key2")
	pass := Keys{Passphrase: write(t, filepath.Join(dir, "pass"), "correct horse\n")}
	scrypt, err := age.NewScryptIdentity("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	listed := Keys{
		Recipients: []string{
			write(t, filepath.Join(dir, "to"), "# two\n"+k.Recipients[0]+"\n\n"+second.Recipients[0]+"\n"),
		},
	}
	want := plain(t, m)
	for _, c := range []struct {
		name   string
		keys   Keys
		opens  []age.Identity
		opened bool
	}{
		{"key", k, []age.Identity{id}, true},
		{"list", listed, []age.Identity{id, id2}, false},
		{"passphrase", pass, []age.Identity{scrypt}, true},
	} {
		file := filepath.Join(dir, c.name+".age")
		w, err := Write(t.Context(), m, file, c.keys, false)
		if err != nil || w.IsVerified != c.opened || w.Entries != 2 || w.Last != 3 {
			t.Fatalf("%s: Write() = %+v, %v", c.name, w, err)
		}
		if b := read(t, file); bytes.Contains(b, []byte(secret)) || int64(len(b)) != w.Size {
			t.Errorf("%s: the file has %d bytes, or the text of the memory", c.name, len(b))
		}
		for _, id := range c.opens {
			r, err := age.Decrypt(bytes.NewReader(read(t, file)), id)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: age decrypts %d bytes, %v, want the %d of the copy", c.name, len(got), err, len(want))
			}
		}
	}
	var file, armored bytes.Buffer
	lines := armor.NewWriter(&armored)
	for dst, done := range map[io.Writer]func() error{&file: func() error { return nil }, lines: lines.Close} {
		enc, err := age.Encrypt(dst, id.Recipient())
		if err != nil {
			t.Fatal(err)
		}
		_, err = enc.Write(want)
		if err := errors.Join(err, enc.Close(), done()); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{file.String(), armored.String(), string(want)} {
		temp, err := Restore(t.Context(), write(t, filepath.Join(dir, "made"), text), k, filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, filepath.Join(dir, temp)); !bytes.Equal(got, want) {
			t.Errorf("of %.20q %d bytes were restored, want %d", text, len(got), len(want))
		}
	}
}

// TestNothingOfADamagedBackup tests that restoring fails and leaves no file if the backup is cut or damaged anywhere,
// or the key is wrong.
func TestNothingOfADamagedBackup(t *testing.T) {
	m, dir := memory(t), t.TempDir()
	k, _ := keys(t, dir, "key")
	other, _ := keys(t, dir, "other")
	pass := Keys{Passphrase: write(t, filepath.Join(dir, "pass"), "correct horse\n")}
	file := filepath.Join(dir, "m.age")
	if _, err := Write(t.Context(), m, file, k, false); err != nil {
		t.Fatal(err)
	}
	good := read(t, file)
	bad := filepath.Join(dir, "bad.age")
	before := names(t, filepath.Dir(write(t, bad, "")))
	refused := func(what string, text []byte, k Keys, want error) {
		t.Helper()
		_, err := Restore(t.Context(), write(t, bad, string(text)), k, filepath.Join(dir, "out"))
		if !errors.Is(err, want) {
			t.Errorf("%s: Restore() = %v, want %v", what, err, want)
		}
		if now := names(t, dir); now != before {
			t.Fatalf("%s: %s were there, now there are %s", what, before, now)
		}
	}
	refused("another key", good, other, ErrWrongKey)
	refused("a passphrase", good, pass, ErrWrongKey)
	refused("no key", good, Keys{}, ErrEncrypted)
	head := bytes.Index(good, []byte("\n---")) + 1
	for _, n := range []int{head, head + 40, head + 64, len(good) / 2, len(good) - 65_536 - 16, len(good) - 16,
		len(good) - 1} {
		refused("cut", good[:n], k, oxbow.ErrCorrupt)
	}
	for i := head + 1; i < len(good); i += len(good) / 17 {
		flipped := bytes.Clone(good)
		flipped[i] ^= 1
		refused("flipped", flipped, k, oxbow.ErrCorrupt)
	}
	refused("longer", append(bytes.Clone(good), 'x'), k, oxbow.ErrCorrupt)
}

// TestKeepsTheEarlierBackup tests that an earlier backup stays if a new backup cannot be written or its key does not
// work.
func TestKeepsTheEarlierBackup(t *testing.T) {
	m, dir := memory(t), t.TempDir()
	k, _ := keys(t, dir, "key")
	other, _ := keys(t, dir, "other")
	file := write(t, filepath.Join(dir, "m.age"), "earlier")
	before := names(t, dir)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx     context.Context
		keys    Keys
		replace bool
		want    error
	}{
		{t.Context(), k, false, fs.ErrExist},
		{t.Context(), Keys{Recipients: k.Recipients, SecretKeyFile: other.SecretKeyFile}, true, ErrWrongKey},
		{ended, k, true, context.Canceled},
		{t.Context(), Keys{Recipients: []string{filepath.Join(dir, "none")}}, true, oxbow.ErrInvalid},
		{t.Context(), Keys{Recipients: []string{other.SecretKeyFile}}, true, oxbow.ErrInvalid},
		{t.Context(), Keys{Recipients: []string{"age1tag1qqq"}}, true, oxbow.ErrInvalid},
		{t.Context(), Keys{Recipients: k.Recipients, Passphrase: other.SecretKeyFile}, true, oxbow.ErrInvalid},
		{t.Context(), Keys{Passphrase: other.SecretKeyFile}, true, oxbow.ErrInvalid},
		{t.Context(), Keys{Recipients: k.Recipients, SecretKeyFile: file}, true, oxbow.ErrInvalid},
	} {
		if _, err := Write(c.ctx, m, file, c.keys, c.replace); !errors.Is(err, c.want) {
			t.Errorf("Write(%+v) = %v, want %v", c.keys, err, c.want)
		}
		if now := names(t, dir); now != before || string(read(t, file)) != "earlier" {
			t.Fatalf("%s were there, now there are %s", before, now)
		}
	}
	secretKey := strings.Fields(string(read(t, k.SecretKeyFile)))[3]
	if _, err := Write(t.Context(), m, file, Keys{Recipients: []string{secretKey}}, true); err == nil ||
		strings.Contains(err.Error(), secretKey) {
		t.Errorf("Write() to a secret key = %v, want an error without the key", err)
	}
	if _, err := Write(t.Context(), m, file, k, true); err != nil || !IsEncrypted(read(t, file)) {
		t.Errorf("Write() over an earlier backup = %v", err)
	}
}

// FuzzDecrypt reads arbitrary files through newDecryptReader, which must not panic. If a file is not encrypted, the
// reader must return the file's bytes unchanged.
func FuzzDecrypt(f *testing.F) {
	id, err := age.ParseX25519Identity("AGE-SECRET-KEY-184JMZMVQH3E6U0PSL869004Y3U2NYV7R30EU99CSEDNPH02YUVFSZW44VU")
	if err != nil {
		f.Fatal(err)
	}
	var file, armored bytes.Buffer
	lines := armor.NewWriter(&armored)
	for _, dst := range []io.Writer{&file, lines} {
		enc, err := age.Encrypt(dst, id.Recipient())
		if err != nil {
			f.Fatal(err)
		}
		_, err = enc.Write([]byte("text"))
		if err := errors.Join(err, enc.Close()); err != nil {
			f.Fatal(err)
		}
	}
	if err := lines.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(armored.Bytes())
	f.Add([]byte("OXBOW"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := newDecryptReader(bytes.NewReader(b), []age.Identity{id})
		if err != nil {
			return
		}
		got, err := io.ReadAll(r)
		if !IsEncrypted(b) && (err != nil || !bytes.Equal(got, b)) {
			t.Errorf("a plain file of %d bytes gives %d, %v", len(b), len(got), err)
		}
	})
}
