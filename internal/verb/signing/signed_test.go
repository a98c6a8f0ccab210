// This file tests the signing of heads. A head is the hash of the log after a change. Heads are signed in the
// background. A change must succeed even if its head cannot be signed.

package signing

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/log/proof"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// signing opens a memory, which is checked at the end of the test. It also returns the function that signs the hash of
// the memory's log. The signatures have a fixed time.
func signing(t testing.TB, store string) (*oxbow.Memory, func()) {
	t.Helper()
	m := storetest.Open(t, store, nil)
	return m, SignLogHashPeriodically(m, store, func() time.Time { return time.Unix(1, 0) })
}

func write(t testing.TB, m *oxbow.Memory, n int) {
	t.Helper()
	for i := range n {
		if _, err := m.Remember(t.Context(), oxbow.Entry{Name: fmt.Sprint("e", i), Content: "text"}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSignHeads(t *testing.T) {
	store := filepath.Join(t.TempDir(), "memory.oxbow")
	m, settle := signing(t, store)
	write(t, m, changesPerSignature-1)
	settle()
	if _, err := os.Stat(store + signedHashesSuffix); err == nil {
		t.Fatal("a head was signed before it was due")
	}
	settle = SignLogHashPeriodically(m, store, time.Now) // Another process continues to sign.
	if _, err := m.Remember(t.Context(), oxbow.Entry{Name: "last", Content: "text"}); err != nil {
		t.Fatal(err)
	}
	settle()
	settle()
	k, err := signingKey(store)
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(store + signingKeySuffix); err != nil ||
		(runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600) {
		t.Errorf("the key has the mode %v, %v", fi.Mode(), err)
	}
	text, err := os.ReadFile(store + signedHashesSuffix)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if heads, bad := proof.ParseSignedLogHeads(text, k.PublicKey()); len(heads) != 1 || len(bad) > 0 ||
		heads[0].Seq != changesPerSignature ||
		heads[0].ChainHash != s.Head {
		t.Errorf("signed were %+v, and %v", heads, bad)
	}
	// The remains of an interrupted write are overwritten by the next signed head.
	if err := os.WriteFile(store+signedHashesSuffix, append(text, "head 3"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := signLogHashAfterChanges(store, time.Now(), s.Last+1, s.Head, 0); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(store + signedHashesSuffix)
	if err != nil {
		t.Fatal(err)
	}
	if heads, bad := proof.ParseSignedLogHeads(text, k.PublicKey()); len(heads) != 2 || len(bad) > 0 {
		t.Errorf("signed were %+v, and %v", heads, bad)
	}
}

func TestSigningFails(t *testing.T) {
	store := filepath.Join(t.TempDir(), "memory.oxbow")
	if err := os.Mkdir(store+signedHashesSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	m, settle := signing(t, store)
	write(t, m, changesPerSignature+10)
	settle()
	if err := signLogHashAfterChanges(store, time.Now(), 1, strings.Repeat("0", 64), 0); err == nil {
		t.Error("a head was signed into a directory")
	}
}

// BenchmarkSigned compares the cost of a change with and without signed heads.
func BenchmarkSigned(b *testing.B) {
	for _, signed := range []bool{false, true} {
		b.Run(fmt.Sprint(signed), func(b *testing.B) {
			store := filepath.Join(b.TempDir(), "memory.oxbow")
			m, settle := signing(b, store)
			if !signed {
				settle()
			}
			for b.Loop() {
				write(b, m, 1)
			}
			settle()
		})
	}
}
