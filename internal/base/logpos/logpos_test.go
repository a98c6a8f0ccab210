// This file tests the encoding and the order of positions.

package logpos

import "testing"

func TestEncode(t *testing.T) {
	p := Position{LogID: [16]byte{1}, Seq: 2, FileOffset: 3, ChainHash: [32]byte{31: 4}}
	if got, ok := DecodePosition(p.Encode()); !ok || got != p || len(p.Encode()) != encodedSize {
		t.Errorf("read back %v, %v", got, ok)
	}
	for _, s := range []string{"", p.Encode()[1:], p.Encode() + "x"} {
		if _, ok := DecodePosition(s); ok {
			t.Errorf("%d bytes are a position", len(s))
		}
	}
	later, other := p, p
	later.Seq++
	other.LogID[0]++
	if !p.IsAtOrBefore(p) || !p.IsAtOrBefore(later) || later.IsAtOrBefore(p) || p.IsAtOrBefore(other) {
		t.Error("positions are in another order")
	}
}
