// This file validates JSON.

package rawjson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// Valid returns the same result as [json.Valid], but is faster. It skips the text of strings eight bytes at a time,
// and passes only the rest to json.Valid.
func Valid(b []byte) bool {
	rest := make([]byte, 0, 512)
	for {
		i := bytes.IndexByte(b, '"')
		if i < 0 {
			return json.Valid(append(rest, b...))
		}
		rest, b = append(rest, b[:i+1]...), b[i+1:]
		for inString := true; inString; {
			n := countUnescapedBytes(b)
			if n == len(b) || b[n] < ' ' {
				return false
			}
			b, n = b[n:], 1
			inString = b[0] == '\\'
			// Copy the escape sequence to rest, with the four digits after \u, so that json.Valid checks the sequence.
			if inString {
				n = min(2, len(b))
				if n == 2 && b[1] == 'u' {
					n = min(6, len(b))
				}
			}
			rest, b = append(rest, b[:n]...), b[n:]
		}
	}
}

// countUnescapedBytes returns how many bytes precede the first quote, backslash or control character in b.
func countUnescapedBytes(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		quote, slash := x^'"'*ones, x^'\\'*ones
		// In found, the top bit of a byte marks a quote, a backslash or a control character in b. The lowest marked
		// byte is always right. A higher byte may be marked by mistake, because the subtractions carry into higher
		// bytes.
		if found := ((x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' {
		n++
	}
	return n
}
