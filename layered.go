// Two stores as one, as package overlay makes them: which is the log, what lies under it.

package oxbow

import (
	"github.com/oxbow-memory/oxbow/internal/base/layer"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

// layered is the entries of a store and, under them, entries of another, with IDs from
// underID on, as package overlay has them.
type layered interface {
	Upper() Store
	Under() []*Entry // as they were when it was refreshed last
}

const underID = layer.UnderID

// logOf returns the log that a store is, or that lies in an overlay; nil for none.
func logOf(s Store) *logstore.DB {
	if o, ok := s.(layered); ok {
		s = o.Upper()
	}
	d, _ := s.(*logstore.DB)
	return d
}

// underOf returns the entries under an overlay.
func underOf(s Store) []*Entry {
	if o, ok := s.(layered); ok {
		return o.Under()
	}
	return nil
}
