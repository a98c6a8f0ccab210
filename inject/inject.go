// What a prompt gets: the units that are found, gated and cut to sentences.

// Package inject chooses what a hook puts before a model: sentences of notes and of
// past turns where [gate] finds that they say something to the prompt, else
// nothing.
package inject

import (
	"context"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/gate"
	"github.com/oxbow-memory/oxbow/session"
)

// The places at which memory is put before a model.
const (
	AtStart  = "start"  // a session begins
	AtPrompt = "prompt" // a person has written
	AtAction = "action" // an agent is about to edit a file or to run a command
)

// Budgets, in tokens, the fence counted.
const (
	StartTokens   = 1_500
	PromptTokens  = 400
	ActionTokens  = 120
	SessionTokens = 6_000 // when they are spent, there are pointers only
)

// RestPrompts is for how many prompts an entry that was shown is not shown again.
const RestPrompts = 10

// The memories that are asked.
const (
	InNotes    = "notes"
	InSessions = "sessions"
)

// Source is a memory that is asked.
type Source struct {
	In     string // InNotes or InSessions
	Memory *oxbow.Memory
	Filter oxbow.Filter // what may be shown
	Floor  gate.Floor
}

// State is what a session was shown since its context was last compacted.
type State struct {
	Prompt int             // the number of this prompt in the session, from 1
	Tokens int             // shown in the whole session
	Shown  map[string]int  // entry, as [Key] has it, to the number of the prompt at which it was last shown
	Prints map[string]bool // fingerprints of sentences that were shown
}

// Key names an entry in a [State].
func Key(s session.Shown) string { return s.In + " " + s.Name }

// Prompt is what a person wrote, and where.
type Prompt struct {
	Text            string
	Client, Session string // whose own turns are not shown; "" for none
	Project         string // the one that it is of; "" where that is not known
	Now             time.Time
	State           State
}

// Block is what a prompt gets.
type Block struct {
	session.Injection
	Text     string   // "" for silence
	Prints   []string // fingerprints of its sentences
	Accounts []Account
}

// Account says why a unit is shown, or not.
type Account struct {
	session.Shown
	gate.Strength
	Floor  gate.Floor  `json:"floor"`
	Answer gate.Answer `json:"answer"`
	Why    string      `json:"why,omitempty"` // what keeps it out beside the gate
}

// ForPrompt returns what a prompt gets of some memories.
func ForPrompt(ctx context.Context, p Prompt, sources ...Source) (Block, error) {
	return Block{}, ctx.Err()
}
