// What a prompt gets: the units that are found, gated and cut to sentences.

// Package inject chooses what a hook puts before a model: sentences of notes and of
// past turns that [gate] finds strong enough for the prompt, else nothing.
package inject

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// The places at which memory is put before a model.
const (
	AtStart  = "start"  // a session begins
	AtPrompt = "prompt" // a person has written
	AtAction = "action" // an agent is about to edit a file or to run a command
)

// Budgets, in tokens, the fence counted.
const (
	StartTokens   = 200 // of notes; documents and profiles have budgets of their own
	promptTokens  = 160
	actionTokens  = 120
	SessionTokens = 6_000 // when they are spent, there are pointers only
)

// restPrompts is for how many prompts an entry that was shown is not shown again.
const restPrompts = 10

// The memories that are searched.
const (
	InNotes    = "notes"
	InSessions = "sessions"
)

// Source is a memory that is searched.
type Source struct {
	In     string // InNotes or InSessions
	Memory *oxbow.Memory
	Filter oxbow.Filter // what may be shown
	Floor  gate.Floor

	// Unused reports whether an entry was shown often and never used: it gets a
	// pointer. Nil is for none.
	Unused func(ctx context.Context, name string) bool
}

// State is what a session was shown since its context was last compacted.
type State struct {
	Prompt int             // the number of this prompt in the session, from 1
	Tokens int             // shown in the whole session
	Shown  map[string]int  // entry, as [Key] has it, to the number of the prompt at which it was last shown
	Prints map[string]bool // fingerprints of sentences that were shown

	HasStart  bool // what a session begins with was shown, and the client still has it
	Compacted bool // the client has compacted the conversation since something was last shown at a start
}

// Key names an entry in a [State].
func Key(s session.Shown) string { return s.In + " " + s.Name }

// rests reports whether an entry was shown a short time ago.
func (s *State) rests(e session.Shown) bool {
	at, shown := s.Shown[Key(e)]
	return shown && s.Prompt-at < restPrompts
}

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
	Text     string    `json:"text,omitempty"`     // "" for silence
	Prints   []string  `json:"prints,omitempty"`   // fingerprints of its sentences
	Accounts []Account `json:"accounts,omitempty"` // the units that were looked at, the strongest first
}

// Account is the reason for which a unit is shown, or not.
type Account struct {
	session.Shown
	gate.Strength
	Floor  gate.Floor  `json:"floor"`
	Answer gate.Answer `json:"answer"`
	Why    string      `json:"why,omitempty"` // what keeps it out, or makes it a pointer, besides the gate
}

// The reasons besides the gate.
const (
	whyRests   = "it was shown a short time ago"
	whyProject = "it is of another project"
	whyUnused  = "it was shown often and never used"
	whySaid    = "all of it was shown"
	whyShaped  = "it is shaped like instructions to an agent"
)

const (
	mostUnits = 3 // that are shown
	mostFound = 6 // that are looked at, of each memory
)

// unit is an entry that was found.
type unit struct {
	Account
	src   *Source
	entry oxbow.Entry
	terms []gate.Term
}

// margin is how far the unit is above the floor of its memory.
func (u *unit) margin() float64 { return u.G / max(float64(u.Floor), 1e-9) }

// ForPrompt returns what a prompt gets of some memories.
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

// find returns the units of a source that may be shown, those of the prompt's project
// first.
func (s *Source) find(ctx context.Context, words string, p Prompt) ([]unit, error) {
	f := s.Filter
	if s.In == InSessions && p.Session != "" {
		f = f.And(oxbow.Filter{Terms: []oxbow.Term{{Key: "session", Values: []string{p.Session}, Not: true}}})
	}
	units, err := s.strengths(ctx, words, f, mostFound)
	if err != nil {
		return nil, err
	}
	own := 0
	for i := range units {
		u := &units[i]
		u.Answer = s.Floor.Answer(u.Strength)
		if u.Answer != gate.Silence && s.In == InSessions {
			u.dropPrinted()
			u.Answer = s.Floor.Answer(u.Strength)
		}
		switch {
		case u.Answer != gate.Silence && u.isShaped():
			u.Why = whyShaped
		case foreign(&u.entry, p.Project):
			u.Why = whyProject
		case p.State.rests(u.Shown):
			u.Why = whyRests
		case s.Unused != nil && u.Answer == gate.Payload && s.Unused(ctx, u.Name):
			u.Why = whyUnused
		}
		if u.Why == "" {
			own++
		}
		if own > mostUnits || u.Why == whyRests || u.Why == whyShaped {
			u.Answer = gate.Silence
		} else if u.Why != "" && u.Answer == gate.Payload {
			u.Answer = gate.Pointer
		}
	}
	return units, nil
}

// foreign reports whether an entry is of other projects alone.
func foreign(e *oxbow.Entry, project string) bool {
	of := e.Values(oxbow.LabelProject)
	return project != "" && len(of) > 0 && !slices.Contains(of, project)
}

// compose makes the block of units, the strongest first.
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
		b = p.payload(ctx, units)
	}
	if b.Text == "" {
		b = p.pointer(units)
	}
	b.Place = AtPrompt
	b.G = units[best].G
	b.Floor = float64(units[best].Floor)
	return b, ctx.Err()
}
