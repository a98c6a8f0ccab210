// This file defines the levels of trust in a text, which depend on the text's author. It also defines the type
// [Machine], which provides the facts about the computer that are needed to find the author.

package origin

import "github.com/oxbow-memory/oxbow/internal/screening/fingerprint"

// TrustLevel says who wrote a text that a tool call returned. A higher level means less trust.
type TrustLevel int

// These are the levels of trust in a text that an agent read. The most trusted is first.
const (
	TrustLevelOwnText       TrustLevel = iota // The project, the agent or the person wrote the text.
	TrustLevelUnvouchedText                   // A program that oxbow does not know printed the text.
	TrustLevelForeignText                     // Somebody else wrote the text.
)

// Machine provides information about the computer on which an agent made the tool call that is judged.
type Machine struct {
	Getenv func(string) string

	// LastWriters returns who wrote each file last. The paths are absolute, with symbolic links resolved.
	LastWriters func(paths []string) []fingerprint.FileWriterKind
}
