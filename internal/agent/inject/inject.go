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
	PlaceStart  = "start"  // a session begins
	PlacePrompt = "prompt" // a person has written
	PlaceAction = "action" // an agent is about to edit a file or to run a command
)

// Budgets in tokens, including the fence.
const (
	StartTokens   = 200 // for notes (documents and profiles have separate budgets)
	promptTokens  = 160
	actionTokens  = 120
	SessionTokens = 6_000 // maximum tokens of all payloads in a session; afterwards only pointers are shown
)

// minPromptsBetween is the number of prompts after which an entry may be shown again.
const minPromptsBetween = 10

// Memories that are searched.
const (
	SourceNotes    = "notes"
	SourceSessions = "sessions"
)

// MemorySource is a memory that is searched for answers.
type MemorySource struct {
	Kind   string // SourceNotes or SourceSessions
	Memory *oxbow.Memory
	Filter oxbow.Filter // selects the entries that may be shown
	Floor  gate.Floor

	// IsUnused reports whether an entry was shown often and never used. Such an entry is only shown
	// as a pointer. A nil IsUnused means that all entries were used.
	IsUnused func(ctx context.Context, name string) bool
}

// ShownState records the texts shown to a session since its context was last
// compacted.
type ShownState struct {
	Prompt int             // number of the current prompt in the session, starting at 1
	Tokens int             // total shown in the whole session, including before a compaction
	Shown  map[string]int  // number of the prompt at which an entry was last shown, by the entry's [EntryKey]
	Prints map[string]bool // fingerprints of sentences that were shown

	// Stored contains the fingerprints that were shown at prompts and actions. Clients store these texts with
	// the conversation, also clients that do not store the block for the start.
	Stored map[string]bool

	HasStart  bool // the block for the start was shown, and the client still has it
	Compacted bool // the client has compacted the conversation since the last block at a start
}

// EntryKey returns the key of an entry in a [ShownState].
func EntryKey(s session.ShownEntry) string { return s.SourceKind + " " + s.Name }

// wasShownLately reports whether an entry was shown at any of the last [minPromptsBetween] prompts.
func (s *ShownState) wasShownLately(e session.ShownEntry) bool {
	at, shown := s.Shown[EntryKey(e)]
	return shown && s.Prompt-at < minPromptsBetween
}

// Prompt is a prompt that a person wrote, with its session and project.
type Prompt struct {
	Text            string
	Client, Session string // the session, whose own turns are not shown ("" if unknown)
	Project         string // project of the session ("" if unknown)
	Now             time.Time
	State           ShownState
}

// Block is the text that is shown to the model, with the reasons for its choice.
type Block struct {
	session.Injection
	Text         string         `json:"text,omitempty"`     // "" if nothing is shown
	Fingerprints []string       `json:"prints,omitempty"`   // fingerprints of the sentences in Text
	Decisions    []UnitDecision `json:"accounts,omitempty"` // the units that were considered, the strongest first
}

// UnitDecision records why a unit is shown or not shown.
type UnitDecision struct {
	session.ShownEntry
	gate.Strength
	Floor  gate.Floor      `json:"floor"`
	Answer gate.AnswerKind `json:"answer"`
	// Reason besides the gate why the unit is not shown, or is only a pointer.
	Reason string `json:"why,omitempty"`
}

// Values of UnitDecision.Reason.
const (
	whyShownLately      = "it was shown a short time ago"
	whyOtherProject     = "it is of another project"
	whyUnused           = "it was shown often and never used"
	whyAllShown         = "all of it was shown"
	whyLikeInstructions = "it is shaped like instructions to an agent"
)

const (
	maxUnits          = 3 // maximum number of units in a block
	maxUnitsPerMemory = 6 // maximum number of units that are considered in each memory
)

// foundUnit is an entry that the search found.
type foundUnit struct {
	UnitDecision
	source     *MemorySource
	entry      oxbow.Entry
	terms      []gate.Term
	answerRule func(gate.Strength) gate.AnswerKind // the rule for the kind of the prompt
}

// floorRatio returns the unit's strength divided by its memory's floor.
func (u *foundUnit) floorRatio() float64 { return u.Value / max(float64(u.Floor), 1e-9) }

// BlockForPrompt searches the sources and returns the block that is shown for the prompt. The block has an
// empty Text if no unit is strong enough.
func BlockForPrompt(ctx context.Context, p Prompt, sources ...MemorySource) (Block, error) {
	var units []foundUnit
	if words := personProse(p.Text); words != "" {
		for i := range sources {
			found, err := sources[i].findUnits(ctx, words, p)
			if err != nil {
				return Block{}, err
			}
			units = append(units, found...)
		}
	}
	slices.SortStableFunc(units, func(a, b foundUnit) int { return cmp.Compare(b.floorRatio(), a.floorRatio()) })
	b, err := p.composeBlock(ctx, units)
	for _, u := range units {
		b.Decisions = append(b.Decisions, u.UnitDecision)
	}
	return b, err
}

// findUnits returns a source's units for the prompt's words, each with its answer. At most
// [maxUnits] units that are free to be shown keep an answer other than silence.
func (s *MemorySource) findUnits(ctx context.Context, words string, p Prompt) ([]foundUnit, error) {
	f := s.Filter
	if s.Kind == SourceSessions && p.Session != "" {
		f = f.And(oxbow.Filter{Terms: []oxbow.Term{{Key: "session", Values: []string{p.Session}, Not: true}}})
	}
	units, err := s.rankUnits(ctx, analysis.NewAnalyzer(), words, f, maxUnitsPerMemory)
	if err != nil {
		return nil, err
	}
	answer, floor := s.Floor.AnswerQuestion, s.Floor.QuestionFloor
	if !gate.IsQuestion(words) {
		answer, floor = s.Floor.AnswerOrder, s.Floor.OrderFloor
	}
	own := 0
	for i := range units {
		u := &units[i]
		u.answerRule = answer
		u.Answer = answer(u.Strength)
		if u.Answer != gate.AnswerSilence && s.Kind == SourceSessions {
			u.dropOutputTerms()
			u.Answer = answer(u.Strength)
		}
		u.Floor = floor(u.Strength)
		switch {
		case u.Answer != gate.AnswerSilence && u.looksLikeInstructions():
			u.Reason = whyLikeInstructions
		case isOfOtherProject(&u.entry, p.Project):
			u.Reason = whyOtherProject
		case p.State.wasShownLately(u.ShownEntry):
			u.Reason = whyShownLately
		case s.IsUnused != nil && u.Answer == gate.AnswerPayload && s.IsUnused(ctx, u.Name):
			u.Reason = whyUnused
		}
		if u.Reason == "" {
			own++
		}
		switch {
		case own > maxUnits, u.Reason == whyShownLately, u.Reason == whyLikeInstructions:
			u.Answer = gate.AnswerSilence
		case u.Reason != "" && u.Answer == gate.AnswerPayload:
			u.Answer = gate.AnswerPointer
		}
	}
	return units, nil
}

// isOfOtherProject reports whether an entry belongs only to projects other than project.
func isOfOtherProject(e *oxbow.Entry, project string) bool {
	of := e.Values(oxbow.LabelProject)
	return project != "" && len(of) > 0 && !slices.Contains(of, project)
}

// composeBlock returns the block for units, which are sorted from the strongest to the weakest.
func (p *Prompt) composeBlock(ctx context.Context, units []foundUnit) (Block, error) {
	best := -1
	for i, u := range units {
		if u.Answer == gate.AnswerPayload {
			best = i
			break
		}
		if u.Answer == gate.AnswerPointer && best < 0 {
			best = i
		}
	}
	if best < 0 {
		return Block{}, ctx.Err()
	}
	answer := units[best].Answer
	if answer == gate.AnswerPayload && p.State.Tokens+promptTokens > SessionTokens {
		answer = gate.AnswerPointer
	}
	var b Block
	if answer == gate.AnswerPayload {
		b = p.payloadBlock(ctx, units)
	}
	if b.Text == "" {
		b = p.pointerBlock(units)
	}
	b.Place = PlacePrompt
	b.Strength = units[best].Value
	b.Floor = float64(units[best].Floor)
	return b, ctx.Err()
}
