// A signed log head is a signed statement about the last change of a log. This file tests that signed heads are read as
// they were written, and that changed heads are rejected.

package proof

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func newKey(t testing.TB, seed byte) SigningKey {
	t.Helper()
	k, err := NewKey(bytes.NewReader(bytes.Repeat([]byte{seed}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func head(kind string, seq uint64) SignedLogHead {
	return SignedLogHead{
		LogHeadKind: kind,
		Seq:         seq,
		ChainHash:   strings.Repeat(fmt.Sprintf("%02x", seq), 32),
		Time:        time.Date(2026, 4, 18, 9, 0, int(seq), 0, time.UTC),
	}
}

func seqs(heads []SignedLogHead) string {
	var all []string
	for _, h := range heads {
		all = append(all, fmt.Sprint(h.LogHeadKind, " ", h.Seq))
	}
	return strings.Join(all, ", ")
}

func TestSigned(t *testing.T) {
	k, other := newKey(t, 1), newKey(t, 2)
	if again, err := ParseKey(k.EncodeKeyFile()); err != nil || again.PublicKey() != k.PublicKey() ||
		k.PublicKey() == other.PublicKey() {
		t.Errorf("ParseKey() = %v, %v", again.PublicKey(), err)
	}
	if _, err := ParseKey([]byte("OXBOW-SIGNING-KEY-00\n")); err == nil {
		t.Error("a short key is read")
	}
	text := bytes.Join(
		[][]byte{
			k.SignLogHead(head(KindLogHead, 2)),
			k.SignLogHead(head(KindLogHead, 5)),
			k.SignLogHead(head(KindLogHead, 9)),
			k.SignLogHead(head(KindLogRollback, 5)),
			k.SignLogHead(head(KindLogHead, 8)),
		},
		nil,
	)
	for _, c := range []struct {
		name, text, want, bad string
	}{
		{"as written", string(text), "head 2, head 5, back 5, head 8", "[]"},
		{"an interrupted write", string(text[:len(text)-1]), "head 2, head 5, back 5", "[]"},
		{"another number", strings.Replace(string(text), "head 2 ", "head 3 ", 1), "head 5, back 5, head 8", "[1]"},
		{
			"a way back made a head",
			strings.Replace(string(text), "back 5 ", "head 5 ", 1),
			"head 2, head 5, head 9, head 8",
			"[4]",
		},
		{"another key", string(text) + string(other.SignLogHead(head(KindLogHead, 11))),
			"head 2, head 5, back 5, head 8",
			"[6]"},
		{"no words", "\n" + string(text), "head 2, head 5, back 5, head 8", "[1]"},
	} {
		heads, bad := ParseSignedLogHeads([]byte(c.text), k.PublicKey())
		if seqs(heads) != c.want || fmt.Sprint(bad) != c.bad {
			t.Errorf("%s: Read() = %s, and %v, want %s, and %s", c.name, seqs(heads), bad, c.want, c.bad)
		}
	}
}

func FuzzRead(f *testing.F) {
	k := newKey(f, 1)
	line := k.SignLogHead(head(KindLogHead, 2))
	f.Add(line)
	f.Add(append(bytes.Clone(line), k.SignLogHead(head(KindLogRollback, 1))...))
	f.Fuzz(func(t *testing.T, b []byte) {
		heads, bad := ParseSignedLogHeads(b, k.PublicKey())
		if n := bytes.Count(b, []byte("\n")); len(heads)+len(bad) > n {
			t.Errorf("%d lines are %d heads and %d others", n, len(heads), len(bad))
		}
		for _, h := range heads {
			if want := head(h.LogHeadKind, h.Seq); h.ChainHash != want.ChainHash || !h.Time.Equal(want.Time) ||
				(seqs([]SignedLogHead{h}) != "head 2" && seqs([]SignedLogHead{h}) != "back 1") {
				t.Errorf("%+v is signed in %q", h, b)
			}
		}
	})
}
