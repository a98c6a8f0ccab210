// This file finds the log in an overlay store, which package overlay makes from two stores.

package oxbow

import (
	"github.com/oxbow-memory/oxbow/internal/base/overlayid"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// layered is an overlay store. It has an upper store, and below it the entries of a
// lower store, with IDs from underID.
type layered interface {
	Upper() Store
	Under() []*Entry // the lower entries, as of the last refresh
}

const underID = overlayid.UnderID

// logOf returns the store if it is a log, or the upper store of an overlay if that is a
// log. Otherwise it returns nil.
func logOf(s Store) *logstore.DB {
	if o, ok := s.(layered); ok {
		s = o.Upper()
	}
	d, _ := s.(*logstore.DB)
	return d
}

// underOf returns the lower entries of an overlay store, or nil for other stores.
func underOf(s Store) []*Entry {
	if o, ok := s.(layered); ok {
		return o.Under()
	}
	return nil
}
