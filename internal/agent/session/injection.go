// This file defines injections: texts that a hook inserts into a model's context.

package session

// KindInjection is the kind of an event that records an injection. Its Text is the whole injected text
// without the fence. The text is not searchable.
const KindInjection EventKind = "injected"

// Injection contains the data of an [KindInjection] event besides its text.
type Injection struct {
	Place        string       `json:"place"`            // start, prompt or action
	Answer       string       `json:"answer,omitempty"` // payload or pointer ("" without a gate)
	Tokens       int          `json:"tokens"`           // estimated tokens of Text and its fence
	Strength     float64      `json:"g,omitempty"`      // strength of the best unit
	Floor        float64      `json:"floor,omitempty"`  // threshold that Strength exceeded
	ShownEntries []ShownEntry `json:"shown,omitempty"`

	// RareTerms lists terms of the text that are rare in the memory and not in the prompt. If an agent
	// later writes some of these terms, it used the text.
	RareTerms []string `json:"rare,omitempty"`
}

// ShownEntry is an entry of which a part was shown.
type ShownEntry struct {
	SourceKind string `json:"in"` // notes or sessions
	Name       string `json:"name"`
	Version    uint64 `json:"version"`
}
