// This file decides how the texts of a home are examined before they are stored.

package provenance

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// Settings are the properties of a home and its current run on which screening depends.
type Settings struct {
	// Place returns the location of the home's memory.
	Place func() (verb.Place, error)

	// ConfigDir is the user's configuration directory. It contains the key for marks if the home has another layout
	// than oxbow's own, because such a home contains only files of its own system.
	ConfigDir string

	// AllowSecrets reports whether a person allowed secrets to be stored.
	AllowSecrets func() bool

	// Knowledge returns the data for deciding whether a text repeats foreign text.
	Knowledge func() verb.Knowledge

	// Reopen opens the memory a second time for reading (see [verb.SecondReader]).
	Reopen func() (*oxbow.Memory, error)

	// Limit returns an error if a limit on writing forbids the changes. It may be nil.
	Limit func(ctx context.Context, store oxbow.Store, ops []oxbow.Op) error

	// KeepOrigins keeps the origins and labels that the entries bring, as when a home is converted.
	KeepOrigins bool
}

// Screening examines the texts of a home before they are stored. A run creates it once with [NewScreening]. All
// interfaces of the run use it: the memory for each change ([Screening.ForMemory]), the verbs for texts that are not
// entries ([Screening.Secrets]), and the archive and the hooks for what they store ([Screening.Cleaner]).
type Screening struct {
	settings Settings
	cleaner  *screen.Cleaner
	second   *verb.SecondReader
}

// NewScreening returns the screening of a home.
func NewScreening(s Settings) *Screening {
	dir := s.ConfigDir
	if p, err := s.Place(); err == nil && p.HasOwnLayout() {
		dir = p.Dir()
	}
	return &Screening{s, screen.NewCleaner(dir), &verb.SecondReader{Open: s.Reopen}}
}

// Cleaner returns the cleaner for texts without an author who could be asked, such as past turns.
func (s *Screening) Cleaner() *screen.Cleaner { return s.cleaner }

// Secrets returns the treatment of secrets, which depends on the author of the text.
func (s *Screening) Secrets() verb.Secrets {
	return verb.Secrets{Cleaner: s.cleaner, Allow: s.settings.AllowSecrets}
}

// ForMemory returns the [oxbow.Options.Screen] for the memory to which *m will refer after it has been opened.
func (s *Screening) ForMemory(
	m **oxbow.Memory,
) func(ctx context.Context, store oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
	return func(ctx context.Context, store oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
		if s.settings.Limit != nil {
			if err := s.settings.Limit(ctx, store, ops); err != nil {
				return nil, err
			}
		}
		place, err := s.settings.Place()
		screener := Screener{Secrets: s.Secrets(), Knowledge: s.settings.Knowledge(),
			NoLabels: err == nil && !place.HasOwnLayout(), KeepOrigins: s.settings.KeepOrigins}
		screener.Knowledge.Memory, screener.Knowledge.Second = *m, s.second
		return screener.Screen(ctx, store, ops)
	}
}

// Close closes the memory that was opened a second time.
func (s *Screening) Close() error {
	s.second.Close()
	return nil
}
