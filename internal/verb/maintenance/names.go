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
	check := func() (NameCheck, error) { return checkAllNames(ctx, m) }
	keep := d.cachedNameCheck
	if keep == nil {
		keep = func(_ uint64, check func() (NameCheck, error)) (NameCheck, error) { return check() }
	}
	found, err := keep(last, check)
	for _, clash := range found.sharedNames[:min(len(found.sharedNames), maxListedFindings)] {
		d.addFinding(levelWarning, "aliases", sharedAliasAdvice, "%s", clash)
	}
	return found.totalSize, err
}

// checkAllNames checks all names and aliases.
func checkAllNames(ctx context.Context, m *oxbow.Memory) (found NameCheck, err error) {
	err = heads.View(ctx, m.Store(), heads.Needs{Keys: []string{oxbow.HeadName}}, func(all heads.List) error {
		found = NameCheck{} // View may call this function a second time
		named := wordOwners{}
		for h, err := range all.All {
			if err != nil {
				return err
			}
			found.totalSize += int64(h.Size + len(h.Entry.Name))
			found.sharedNames = append(found.sharedNames, named.addEntry(*h.Entry)...)
		}
		return nil
	})
	return found, err
}
