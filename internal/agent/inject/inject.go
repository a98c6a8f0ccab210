// This file chooses the units that are shown for a prompt: it searches the memories, applies the gate,
// and composes the block.

// Package inject chooses the block of memory that a hook shows to a model. A block has sentences
// from notes and past turns that package [gate] finds strong enough for the prompt, or is empty.
package inject

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Places at which a hook shows memory to a model.
const (
	AtStart  = "start"  // a session begins
	AtPrompt = "prompt" // a person has written
	AtAction = "action" // an agent is about to edit a file or to run a command
)

// Budgets in tokens, including the fence.
const (
	StartTokens   = 200 // for notes (documents and profiles have separate budgets)
	promptTokens  = 160
	actionTokens  = 120
	SessionTokens = 6_000 // maximum tokens of all payloads in a session; afterwards only pointers are shown
)

// restPrompts is the number of prompts after which an entry may be shown again.
const restPrompts = 10

// Memories that are searched.
const (
	InNotes    = "notes"
	InSessions = "sessions"
)

// Source is a memory that is searched for answers.
type Source struct {
	In     string // InNotes or InSessions
	Memory *oxbow.Memory
	Filter oxbow.Filter // selects the entries that may be shown
	Floor  gate.Floor

	// Unused reports whether an entry was shown often and never used. Such an entry is only shown
	// as a pointer. A nil Unused means that all entries were used.
	Unused func(ctx context.Context, name string) bool
}

// State records the texts shown to a session since its context was last
// compacted.
type State struct {
	Prompt int             // number of the current prompt in the session, starting at 1
	Tokens int             // total shown in the whole session, including before a compaction
	Shown  map[string]int  // number of the prompt at which an entry was last shown, by the entry's [Key]
	Prints map[string]bool // fingerprints of sentences that were shown

	// Stored contains the fingerprints that were shown at prompts and actions. Clients store these texts with
	// the conversation, also clients that do not store the block for the start.
	Stored map[string]bool

	HasStart  bool // the block for the start was shown, and the client still has it
	Compacted bool // the client has compacted the conversation since the last block at a start
}

// Key returns the key of an entry in a [State].
func Key(s session.ShownEntry) string { return s.In + " " + s.Name }

// wasShownLately reports whether an entry was shown at any of the last [restPrompts] prompts.
func (s *State) wasShownLately(e session.ShownEntry) bool {
	at, shown := s.Shown[Key(e)]
	return shown && s.Prompt-at < restPrompts
}

// Prompt is a prompt that a person wrote, with its session and project.
type Prompt struct {
	Text            string
	Client, Session string // the session, whose own turns are not shown ("" if unknown)
	Project         string // project of the session ("" if unknown)
	Now             time.Time
	State           State
}

// Block is the text that is shown to the model, with the reasons for its choice.
type Block struct {
	session.Injection
	Text     string    `json:"text,omitempty"`     // "" if nothing is shown
	Prints   []string  `json:"prints,omitempty"`   // fingerprints of the sentences in Text
	Accounts []Account `json:"accounts,omitempty"` // the units that were considered, the strongest first
}

// Account records why a unit is shown or not shown.
type Account struct {
	session.ShownEntry
	gate.Strength
	Floor  gate.Floor  `json:"floor"`
	Answer gate.Answer `json:"answer"`
	Why    string      `json:"why,omitempty"` // reason besides the gate why the unit is not shown, or is only a pointer
}

// Values of Account.Why.
const (
	whyRests   = "it was shown a short time ago"
	whyProject = "it is of another project"
	whyUnused  = "it was shown often and never used"
	whySaid    = "all of it was shown"
	whyShaped  = "it is shaped like instructions to an agent"
)

const (
	mostUnits = 3 // maximum number of units in a block
	mostFound = 6 // maximum number of units that are considered in each memory
)

// unit is an entry that the search found.
type unit struct {
	Account
	src    *Source
	entry  oxbow.Entry
	terms  []gate.Term
	answer func(gate.Strength) gate.Answer // the rule for the kind of the prompt
}

// margin returns the unit's strength divided by its memory's floor.
func (u *unit) margin() float64 { return u.G / max(float64(u.Floor), 1e-9) }

// ForPrompt searches the sources and returns the block that is shown for the prompt. The block has an
// empty Text if no unit is strong enough.
func ForPrompt(ctx context.Context, p Prompt, sources ...Source) (Block, error) {
	var units []unit
	if words := prose(p.Text); words != "" {
		for i := range sources {
			found, err := sources[i].find(ctx, words, p)
			if err != nil {
				return Block{}, err
			}
			units = append(units, found...)
		}
	}
	slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(b.margin(), a.margin()) })
	b, err := p.compose(ctx, units)
	for _, u := range units {
		b.Accounts = append(b.Accounts, u.Account)
	}
	return b, err
}

// find returns a source's units for the prompt's words, each with its answer. At most
// [mostUnits] units that are free to be shown keep an answer other than silence.
func (s *Source) find(ctx context.Context, words string, p Prompt) ([]unit, error) {
	f := s.Filter
	if s.In == InSessions && p.Session != "" {
		f = f.And(oxbow.Filter{Terms: []oxbow.Term{{Key: "session", Values: []string{p.Session}, Not: true}}})
	}
	units, err := s.rankUnits(ctx, analysis.NewAnalyzer(), words, f, mostFound)
	if err != nil {
		return nil, err
	}
	answer, floor := s.Floor.Answer, s.Floor.ForQuestion
	if !gate.Asks(words) {
		answer, floor = s.Floor.AnswerOrder, s.Floor.ForOrder
	}
	own := 0
	for i := range units {
		u := &units[i]
		u.answer = answer
		u.Answer = answer(u.Strength)
		if u.Answer != gate.Silence && s.In == InSessions {
			u.dropPrinted()
			u.Answer = answer(u.Strength)
		}
		u.Floor = floor(u.Strength)
		switch {
		case u.Answer != gate.Silence && u.isShaped():
			u.Why = whyShaped
		case isOfOtherProject(&u.entry, p.Project):
			u.Why = whyProject
		case p.State.wasShownLately(u.ShownEntry):
			u.Why = whyRests
		case s.Unused != nil && u.Answer == gate.Payload && s.Unused(ctx, u.Name):
			u.Why = whyUnused
		}
		if u.Why == "" {
			own++
		}
		switch {
		case own > mostUnits, u.Why == whyRests, u.Why == whyShaped:
			u.Answer = gate.Silence
		case u.Why != "" && u.Answer == gate.Payload:
			u.Answer = gate.Pointer
		}
	}
	return units, nil
}

// isOfOtherProject reports whether an entry belongs only to projects other than project.
func isOfOtherProject(e *oxbow.Entry, project string) bool {
	of := e.Values(oxbow.LabelProject)
	return project != "" && len(of) > 0 && !slices.Contains(of, project)
}

// compose returns the block for units, which are sorted from the strongest to the weakest.
func (p *Prompt) compose(ctx context.Context, units []unit) (Block, error) {
	best := -1
	for i, u := range units {
		if u.Answer == gate.Payload {
			best = i
			break
		}
		if u.Answer == gate.Pointer && best < 0 {
			best = i
		}
	}
	if best < 0 {
		return Block{}, ctx.Err()
	}
	answer := units[best].Answer
	if answer == gate.Payload && p.State.Tokens+promptTokens > SessionTokens {
		answer = gate.Pointer
	}
	var b Block
	if answer == gate.Payload {
		b = p.payloadBlock(ctx, units)
	}
	if b.Text == "" {
		b = p.pointerText(units)
	}
	b.Place = AtPrompt
	b.G = units[best].G
	b.Floor = float64(units[best].Floor)
	return b, ctx.Err()
}
