// This file recognizes files in UTF-16, which importers refuse.

package exchange

import (
	"bytes"
	"errors"
)

var errUTF16 = errors.New("is UTF-16; convert it to UTF-8 first")

// isUTF16 reports whether a file begins with the byte order mark of UTF-16.
func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF})
}
