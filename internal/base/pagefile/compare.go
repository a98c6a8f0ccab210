// Comparison of pages with those of a file.

package pagefile

import (
	"bytes"
	"errors"
	"io"
)

// Comparison compares what is written, whole pages, with a file, but for their checks.
type Comparison struct {
	File io.ReaderAt
	Head bool // page 0 differs
	Page int  // another that does, 0 for none
}

var errDiffers = errors.New("a page differs")

// WriteAt implements [io.WriterAt]. It fails when a page after the first differs.
func (c *Comparison) WriteAt(b []byte, at int64) (int, error) {
	have := make([]byte, len(b))
	if _, err := c.File.ReadAt(have, at); err != nil && err != io.EOF {
		return 0, err
	}
	for i := 0; i < len(b); i += Size {
		n := int(at)/Size + i/Size
		if bytes.Equal(b[i:][:Data], have[i:][:Data]) {
			continue
		}
		if n > 0 {
			c.Page = n
			return 0, errDiffers
		}
		c.Head = true
	}
	return len(b), nil
}
