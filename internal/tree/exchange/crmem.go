// Memories of crabtalk, known by their first bytes whatever the file's name is.

package exchange

import (
	"fmt"
	"io"
	"iter"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/crmem"
)

// maxCRMEM bounds a memory of crabtalk, in bytes: it is read whole.
const maxCRMEM = 1 << 30

// readCRMEM reads a memory of crabtalk, of any of its layouts. The line of an
// item is its place among the entries. A name that no other store takes is made
// one.
func readCRMEM(r io.Reader, ref string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		data, err := io.ReadAll(&bounded{r: r, left: maxCRMEM, err: fmt.Errorf("is longer than the %d bytes that are read", maxCRMEM)})
		var in crmem.Imported
		if err == nil {
			in, err = crmem.Import(data)
		}
		if err != nil {
			yield(Item{}, fmt.Errorf("reading %s: %w", ref, err))
			return
		}
		for i, e := range in.Entries {
			it := Item{Entry: e, Ref: at(ref, i+1), Origin: ref}
			if i == 0 {
				for _, w := range in.Warnings {
					it.Warnings = append(it.Warnings, ref+": "+w)
				}
			}
			if name := cutName(e.Name, oxbow.MaxName); name != e.Name && name != "" {
				it.Entry.Name = name
				it.Warnings = append(it.Warnings, fmt.Sprintf("%s: the name %s is no name here: it is %q", it.Ref, short(e.Name), name))
			}
			it.Entry.Aliases = tidyAliases(it.Entry.Name, e.Aliases)
			if !send(yield, it) {
				return
			}
		}
	}
}
