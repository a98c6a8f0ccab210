// This file limits white space in input that programs decode as a stream.

package text

import (
	"bytes"
	"fmt"
	"io"
)

// maxBlankBytes is the maximum length in bytes of consecutive white space.
const maxBlankBytes = 1 << 20

// LimitWhiteSpace returns a reader that reads from r, and fails after 1 MB of ASCII white space in a row. Decoders of
// streams should read untrusted JSON through it. Otherwise a json.Decoder searches the white space again at each
// further read. Gigabytes of white space, which a ZIP archive with a few kilobytes can contain, would keep the decoder
// busy for hours.
func LimitWhiteSpace(r io.Reader) io.Reader { return &whiteSpaceLimitReader{source: r} }

type whiteSpaceLimitReader struct {
	source             io.Reader
	trailingBlankBytes int // number of white-space bytes that end the data that was read so far
}

func (b *whiteSpaceLimitReader) Read(p []byte) (int, error) {
	if b.trailingBlankBytes > maxBlankBytes {
		return 0, fmt.Errorf("it has more than %d MB of white space in a row", maxBlankBytes>>20)
	}
	n, err := b.source.Read(p)
	rest := bytes.TrimRight(p[:n], " \t\r\n")
	if len(rest) > 0 {
		b.trailingBlankBytes = 0
	}
	b.trailingBlankBytes += n - len(rest)
	return n, err
}
