// This file decides how texts that will be stored in a home (the directory of a memory) are examined for secrets and
// foreign text.

package provenance

import (
	"context"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// ScreeningSettings contains everything about a home, and about the running command or server, that determines how
// texts are screened. Screening examines texts for secrets and foreign text before they are stored.
type ScreeningSettings struct {
	// FindMemoryPlace returns the location of the home's memory.
	FindMemoryPlace func() (verb.Place, error)

	// ConfigDir is the user's configuration directory. It contains a key for the marks that replace secrets in texts.
	// The key is stored there if the home has the layout of another memory system, because such a home contains only
	// that system's files.
	ConfigDir string

	// AllowSecrets reports whether a person has allowed secrets to be stored.
	AllowSecrets func() bool

	// ProvenanceData returns the data with which it is decided whether a text repeats foreign text.
	ProvenanceData func() verb.ProvenanceData

	// ReopenMemory opens the memory a second time for reading (see [verb.ReadOnlyMemory]).
	ReopenMemory func() (*oxbow.Memory, error)

	// CheckLimit returns an error if the changes exceed a limit on writing. It may be nil.
	CheckLimit func(ctx context.Context, store oxbow.Store, ops []oxbow.Op) error

	// KeepsOriginLabels keeps the labels that the entries already have, including labels for their origin. It is set
	// when a home is converted to another layout.
	KeepsOriginLabels bool
}

// Screening examines the texts of a home before they are stored. A run creates it once with [NewScreening]. All
// interfaces of the run use this Screening: the memory for each change ([Screening.ScreenFuncForMemory]), the verbs for
// texts that are not entries ([Screening.SecretPolicy]), and the archive and the hooks for the texts that they store
// ([Screening.Cleaner]).
type Screening struct {
	settings         ScreeningSettings
	cleaner          *screen.SecretCleaner
	comparisonMemory *verb.ReadOnlyMemory
}

// NewScreening returns a Screening, which examines the texts for one home before they are stored.
func NewScreening(s ScreeningSettings) *Screening {
	dir := s.ConfigDir
	if p, err := s.FindMemoryPlace(); err == nil && p.HasOwnLayout() {
		dir = p.Dir()
	}
	return &Screening{s, screen.NewSecretCleaner(dir), &verb.ReadOnlyMemory{OpenMemory: s.ReopenMemory}}
}

// Cleaner returns the cleaner, which replaces secrets in a text. It is used for texts such as past turns of a
// conversation. Such a text cannot be refused, because its author can no longer remove the secret.
func (s *Screening) Cleaner() *screen.SecretCleaner { return s.cleaner }

// SecretPolicy returns the policy for secrets in texts. It contains the cleaner, which finds and replaces secrets, and
// the function that reports whether a person has allowed storing secrets.
func (s *Screening) SecretPolicy() verb.SecretPolicy {
	return verb.SecretPolicy{Cleaner: s.cleaner, AreSecretsAllowed: s.settings.AllowSecrets}
}

// ScreenFuncForMemory returns a function for [oxbow.Options.Screen], which examines changes before they are stored.
// *openedMemory may be nil now, but must be the opened memory when the function is called.
func (s *Screening) ScreenFuncForMemory(
	openedMemory **oxbow.Memory,
) func(ctx context.Context, store oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
	hasOtherLayout := s.newLayoutFinder()
	return func(ctx context.Context, store oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
		if s.settings.CheckLimit != nil {
			if err := s.settings.CheckLimit(ctx, store, ops); err != nil {
				return nil, err
			}
		}
		screener := Screener{SecretPolicy: s.SecretPolicy(), ProvenanceData: s.settings.ProvenanceData(),
			OmitLabels: hasOtherLayout(), KeepOrigins: s.settings.KeepsOriginLabels}
		screener.ProvenanceData.Memory, screener.ProvenanceData.ComparisonMemory = *openedMemory, s.comparisonMemory
		return screener.ScreenOps(ctx, store, ops)
	}
}

// newLayoutFinder returns a function that reports whether the home has the layout of another memory system. The
// function finds the layout at its first call, because an opened memory keeps its layout. It returns false as long as
// the home cannot be found.
func (s *Screening) newLayoutFinder() (hasOtherLayout func() bool) {
	var mu sync.Mutex // guards the following variables
	var isFound, isOther bool
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		if !isFound {
			place, err := s.settings.FindMemoryPlace()
			isFound = err == nil
			isOther = isFound && !place.HasOwnLayout()
		}
		return isOther
	}
}

// Close closes the second instance of the memory, which was opened to read entries during a write.
func (s *Screening) Close() error {
	s.comparisonMemory.Close()
	return nil
}
