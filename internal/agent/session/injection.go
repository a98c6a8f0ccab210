// This file defines injections: texts that a hook inserts into a model's context.

package session

// KindInjection is the kind of an event that records an injection, which is a text that a hook inserted into the
// conversation. The event's Text is the whole injected text without the tags around it. A search does not find this
// text.
const KindInjection EventKind = "injected"

// Injection contains the facts that a [KindInjection] event records besides the injected text.
type Injection struct {
	// moment at which the text was inserted: "start" (session), "prompt" or "action" (tool call)
	HookEvent string `json:"place"`
	// "payload" if sentences were shown, "pointer" if only names of entries were shown, and "" if the text is always
	// shown
	AnswerKind string `json:"answer,omitempty"`
	// estimated tokens of the inserted text and the tags around it
	TokenCount        int     `json:"tokens"`
	BestMatchStrength float64 `json:"g,omitempty"` // how well the best entry or turn matched the prompt
	// strength that BestMatchStrength must exceed for the text to be shown
	MinMatchStrength float64      `json:"floor,omitempty"`
	ShownEntries     []ShownEntry `json:"shown,omitempty"`

	// RareTerms lists terms of the text that are rare in the memory and do not occur in the prompt. An agent that
	// later writes some of these terms has used the text.
	RareTerms []string `json:"rare,omitempty"`
}

// ShownEntry is an entry of which a model was shown at least a part.
type ShownEntry struct {
	SourceKind string `json:"in"` // "notes" or "sessions"
	Name       string `json:"name"`
	Version    uint64 `json:"version"`
}
