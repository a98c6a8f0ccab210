// This file compares pages with the pages of a file.

package pagefile

import (
	"bytes"
	"errors"
	"io"
)

// A Comparison compares the pages that are written to it with the pages of a file. It ignores
// checksums.
type Comparison struct {
	File          io.ReaderAt
	HeadDiffers   bool // page 0 differs
	DifferentPage int  // number of another page that differs, or 0
}

var errDiffers = errors.New("a page differs")

// WriteAt implements [io.WriterAt]. It returns an error if a page other than page 0 differs.
func (c *Comparison) WriteAt(b []byte, offset int64) (int, error) {
	have := make([]byte, len(b))
	if _, err := c.File.ReadAt(have, offset); err != nil && err != io.EOF {
		return 0, err
	}
	for i := 0; i < len(b); i += Size {
		n := int(offset)/Size + i/Size
		if bytes.Equal(b[i:][:Data], have[i:][:Data]) {
			continue
		}
		if n > 0 {
			c.DifferentPage = n
			return 0, errDiffers
		}
		c.HeadDiffers = true
	}
	return len(b), nil
}
