// This file compares pages with the pages of a file.

package pagefile

import (
	"bytes"
	"errors"
	"io"
)

// A PageComparison compares the pages that are written to it with the pages of a file. It ignores
// checksums.
type PageComparison struct {
	File          io.ReaderAt
	HeadDiffers   bool // page 0 differs
	DifferentPage int  // number of another page that differs, or 0
}

var errPageDiffers = errors.New("a page differs")

// WriteAt implements [io.WriterAt]. It returns an error if a page other than page 0 differs.
func (c *PageComparison) WriteAt(b []byte, offset int64) (int, error) {
	have := make([]byte, len(b))
	if _, err := c.File.ReadAt(have, offset); err != nil && err != io.EOF {
		return 0, err
	}
	for i := 0; i < len(b); i += PageSize {
		n := int(offset)/PageSize + i/PageSize
		if bytes.Equal(b[i:][:PageDataSize], have[i:][:PageDataSize]) {
			continue
		}
		if n > 0 {
			c.DifferentPage = n
			return 0, errPageDiffers
		}
		c.HeadDiffers = true
	}
	return len(b), nil
}
