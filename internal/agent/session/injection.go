// Injections: what a hook put before a model.

package session

// Injected is the kind of an event that holds what a hook put before the model. Its
// Text is all of it, without the fence, and no part of what a turn is found by.
const Injected Kind = "injected"

// Injection is what is known of [Injected] besides the text.
type Injection struct {
	Place  string  `json:"place"`            // start, prompt or action
	Answer string  `json:"answer,omitempty"` // payload or pointer; "" without a gate
	Tokens int     `json:"tokens"`           // an estimate, of Text and its fence
	G      float64 `json:"g,omitempty"`      // strength of the best unit,
	Floor  float64 `json:"floor,omitempty"`  // and the floor that it was above
	Shown  []Shown `json:"shown,omitempty"`

	// Rare are terms of the text that are rare in the memory and do not stand in
	// the prompt. Where an agent writes some of them later, the text was used.
	Rare []string `json:"rare,omitempty"`
}

// Shown is an entry of which something was shown.
type Shown struct {
	In      string `json:"in"` // notes or sessions
	Name    string `json:"name"`
	Version uint64 `json:"version"`
}
