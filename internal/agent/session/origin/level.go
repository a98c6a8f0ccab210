// This file defines the levels of texts and the access to the machine.

package origin

import "github.com/oxbow-memory/oxbow/internal/screening/fingerprint"

// Level is the origin of a text that a call returned, from the most to the least trusted.
type Level int

// The levels.
const (
	LevelOwn       Level = iota // by the project, the agent or the person
	LevelUnvouched              // by a program that oxbow does not know
	LevelForeign                // by somebody else
)

// Machine provides information about the computer on which the call was made.
type Machine struct {
	Getenv func(string) string

	// LastWriters returns the last writers of files, whose paths are absolute and resolved.
	LastWriters func(paths []string) []fingerprint.Writer
}
