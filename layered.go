// This file finds the log in an overlay store, which package overlay makes from two stores.

package oxbow

import (
	"github.com/oxbow-memory/oxbow/internal/base/overlayid"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// overlayStore is a store that shows the entries of two stores as if they were in one store. Writes go to the upper
// store, and the lower store is only read. An entry with an ID of at least firstLowerStoreID belongs to the lower
// store, and all other entries are in the upper store.
type overlayStore interface {
	Upper() Store
	LowerEntries() []*Entry // entries of the lower store, as of the last refresh
}

const firstLowerStoreID = overlayid.LowerStoreIDOffset

// findLog returns the store if it is a log, or the upper store of an overlay if that is a
// log. Otherwise it returns nil.
func findLog(s Store) *logstore.DB {
	if o, ok := s.(overlayStore); ok {
		s = o.Upper()
	}
	d, _ := s.(*logstore.DB)
	return d
}

// lowerEntries returns the lower store's entries, if s is an overlay store (a store on top of another store). It
// returns nil for other stores.
func lowerEntries(s Store) []*Entry {
	if o, ok := s.(overlayStore); ok {
		return o.LowerEntries()
	}
	return nil
}
