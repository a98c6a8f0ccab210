// This file checks the names and aliases of a memory.

package maintenance

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// checkNames reports names and aliases that several entries have. It returns the total size of the names and
// contents in bytes. The number of the memory's last change is last.
func (d *diagnosis) checkNames(ctx context.Context, m *oxbow.Memory, last uint64) (size int64, err error) {
	check := func() (NameCheck, error) { return readNames(ctx, m) }
	keep := d.keepNames
	if keep == nil {
		keep = func(_ uint64, check func() (NameCheck, error)) (NameCheck, error) { return check() }
	}
	found, err := keep(last, check)
	for _, clash := range found.clashes[:min(len(found.clashes), maxFindings)] {
		d.add(warning, "aliases", mendAliases, "%s", clash)
	}
	return found.size, err
}

// readNames checks all names and aliases.
func readNames(ctx context.Context, m *oxbow.Memory) (found NameCheck, err error) {
	err = heads.View(ctx, m.Store(), heads.Needs{Keys: []string{oxbow.HeadName}}, func(all heads.List) error {
		found = NameCheck{} // View may call this function a second time
		named := wordOwners{}
		for h, err := range all.All {
			if err != nil {
				return err
			}
			found.size += int64(h.Size + len(h.Entry.Name))
			found.clashes = append(found.clashes, named.add(*h.Entry)...)
		}
		return nil
	})
	return found, err
}
