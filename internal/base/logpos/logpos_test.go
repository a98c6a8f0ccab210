// Positions as bytes, and which of two comes first.

package logpos

import "testing"

func TestEncode(t *testing.T) {
	p := Position{Log: [16]byte{1}, Seq: 2, Offset: 3, Chain: [32]byte{31: 4}}
	if got, ok := Decode(p.Encode()); !ok || got != p || len(p.Encode()) != size {
		t.Errorf("read back %v, %v", got, ok)
	}
	for _, s := range []string{"", p.Encode()[1:], p.Encode() + "x"} {
		if _, ok := Decode(s); ok {
			t.Errorf("%d bytes are a position", len(s))
		}
	}
	later, other := p, p
	later.Seq++
	other.Log[0]++
	if !p.IsUpTo(p) || !p.IsUpTo(later) || later.IsUpTo(p) || p.IsUpTo(other) {
		t.Error("positions are in another order")
	}
}
