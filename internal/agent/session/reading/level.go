// This file is what all judgements are made of.

package reading

import "github.com/oxbow-memory/oxbow/internal/screening/fingerprint"

// Level is how far the text that a call returned is the agent's own.
type Level int

// The levels.
const (
	Own       Level = iota // of the project, the agent or the person
	Unvouched              // of a program that is not known
	Foreign                // of others
)

// Machine is what is known of the computer on which the call was made.
type Machine struct {
	Getenv func(string) string

	// Writers returns who wrote some files last. The paths are absolute and resolved.
	Writers func(paths []string) []fingerprint.Writer
}
