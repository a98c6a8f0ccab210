// This file reads the memories of crabtalk, which are in a binary file. It recognizes such a file by its first bytes,
// whatever the file's name is.

package exchange

import (
	"fmt"
	"io"
	"iter"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/crmem"
)

// maxCRMEMBytes is the maximum size, in bytes, of a crabtalk memory, because the whole file is read into memory.
const maxCRMEMBytes = 1 << 30

// readCRMEM reads a crabtalk memory in any version of the format, and yields its entries. The argument inputName is the
// name of the file. The Position of an item consists of inputName and the entry's number in the file. The first entry
// has the number 1. A name that oxbow does not allow is changed, and the item gets a warning.
func readCRMEM(r io.Reader, inputName string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		data, err := io.ReadAll(&boundedReader{
			r:         r,
			remaining: maxCRMEMBytes,
			err:       fmt.Errorf("is longer than the %d bytes that are read", maxCRMEMBytes),
		})
		var in crmem.ImportedFile
		if err == nil {
			in, err = crmem.Import(data)
		}
		if err != nil {
			yield(Item{}, fmt.Errorf("reading %s: %w", inputName, err))
			return
		}
		for i, e := range in.Entries {
			it := Item{Entry: e, Position: lineRef(inputName, i+1), Origin: inputName}
			if i == 0 {
				for _, w := range in.Warnings {
					it.Warnings = append(it.Warnings, inputName+": "+w)
				}
			}
			if name := makeValidName(e.Name, oxbow.MaxName); name != e.Name && name != "" {
				it.Entry.Name = name
				it.Warnings = append(
					it.Warnings,
					fmt.Sprintf(
						"%s: the name %s is no name here: it is %q",
						it.Position,
						truncateAndQuote(e.Name),
						name,
					),
				)
			}
			it.Entry.Aliases = tidyAliases(it.Entry.Name, e.Aliases)
			if !yieldItem(yield, it) {
				return
			}
		}
	}
}
