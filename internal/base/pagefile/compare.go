// This file compares the pages that a Writer would write with the pages of an existing file.

package pagefile

import (
	"bytes"
	"errors"
	"io"
)

// A PageComparer is a writer that compares the pages written to it with the pages of ReferenceFile. It ignores the
// checksums of the pages.
type PageComparer struct {
	ReferenceFile        io.ReaderAt
	IsFirstPageDifferent bool // The written page 0 differs from page 0 of ReferenceFile.
	FirstDifferentPage   int  // number of the first page after page 0 that differs from ReferenceFile, or 0
}

var errPageDiffers = errors.New("a page differs")

// WriteAt implements [io.WriterAt]. It compares the written pages with the reference file instead of writing. If a page
// other than page 0 differs, WriteAt sets FirstDifferentPage and returns an error immediately. If page 0 differs,
// WriteAt only sets IsFirstPageDifferent.
func (c *PageComparer) WriteAt(b []byte, offset int64) (int, error) {
	have := make([]byte, len(b))
	if _, err := c.ReferenceFile.ReadAt(have, offset); err != nil && err != io.EOF {
		return 0, err
	}
	for i := 0; i < len(b); i += PageSize {
		n := int(offset)/PageSize + i/PageSize
		if bytes.Equal(b[i:][:PageDataBytes], have[i:][:PageDataBytes]) {
			continue
		}
		if n > 0 {
			c.FirstDifferentPage = n
			return 0, errPageDiffers
		}
		c.IsFirstPageDifferent = true
	}
	return len(b), nil
}
