// This file chooses the units that are shown for a prompt. It searches the memories, decides with package gate which
// units are strong enough, and composes the block.

// Package inject chooses the text from memory that a hook shows to a model. This text is called a block. It quotes
// notes and past turns (units) that package [gate] considers strong enough for the prompt. If no unit is strong
// enough, the block is empty.
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

// Places are the moments at which a hook shows memory to a model.
const (
	PlaceStart  = "start"  // a session starts
	PlacePrompt = "prompt" // a person has written a prompt
	PlaceAction = "action" // an agent is about to edit a file or to run a command
)

// Maximum sizes of the texts that hooks show to a model, in tokens. They include the tags around each text.
const (
	// maximum size of notes shown at a session's start (documents and profiles have their own limits)
	MaxStartTokens   = 200
	maxPromptTokens  = 160
	maxActionTokens  = 120
	MaxSessionTokens = 6_000 // limit for a whole session, after which only names of entries are shown
)

// minPromptsBeforeRepeat is the number of prompts that must pass before an entry may be shown again.
const minPromptsBeforeRepeat = 10

// Kinds of memories in which a hook searches for an answer to a prompt.
const (
	SourceNotes    = "notes"
	SourceSessions = "sessions"
)

// MemorySource is a memory in which a prompt's answer is searched.
type MemorySource struct {
	SourceKind    string // SourceNotes or SourceSessions
	Memory        *oxbow.Memory
	Filter        oxbow.Filter // selects the entries that a model may see
	StrengthFloor gate.ScoreFloor

	// IsUnused reports whether an entry was shown often but never used. Such an entry is shown only as a pointer. If
	// IsUnused is nil, all entries count as used.
	IsUnused func(ctx context.Context, name string) bool
}

// ShownState records which texts were shown to a session since its client last compacted the conversation.
type ShownState struct {
	Prompt int             // number of the current prompt in the session, starting at 1
	Tokens int             // number of tokens shown in the whole session, including those before a compaction
	Shown  map[string]int  // for each [EntryKey], the number of the prompt at which the entry was last shown
	Prints map[string]bool // fingerprints of the sentences that were shown

	// Stored contains the fingerprints of the shown sentences that the client stores with the conversation. These are
	// the sentences shown at prompts and before actions. The text shown at a session's start is not included, because
	// some clients do not store it.
	Stored map[string]bool

	HasStart  bool // the block of the session's start was shown and is still in the model's context
	Compacted bool // the client has compacted the conversation since memory was last shown for a session's start
}

// EntryKey returns the key that identifies an entry in a [ShownState].
func EntryKey(s session.ShownEntry) string { return s.SourceKind + " " + s.Name }

// wasShownRecently reports whether the entry was shown at one of the last [minPromptsBeforeRepeat] prompts.
func (s *ShownState) wasShownRecently(e session.ShownEntry) bool {
	at, shown := s.Shown[EntryKey(e)]
	return shown && s.Prompt-at < minPromptsBeforeRepeat
}

// Prompt is a text that a person wrote to an agent, with its session and project.
type Prompt struct {
	Text            string
	Client, Session string // session of the prompt, whose own turns are not shown ("" if unknown)
	Project         string // project of the session ("" if unknown)
	Now             time.Time
	State           ShownState
}

// Block is a text that is shown to the model for a prompt. It also contains the decision about each entry that was
// considered for the text.
type Block struct {
	session.Injection
	Text         string   `json:"text,omitempty"`   // "" if nothing is shown
	Fingerprints []string `json:"prints,omitempty"` // fingerprints of the sentences in Text
	// for each entry that was considered for showing: whether it is shown, and why (the best match comes first)
	Decisions []UnitDecision `json:"accounts,omitempty"`
}

// UnitDecision records whether an entry of the memory is shown for a prompt, and why.
type UnitDecision struct {
	session.ShownEntry
	gate.MatchStrength
	StrengthFloor gate.ScoreFloor `json:"floor"`
	AnswerKind    gate.AnswerKind `json:"answer"`
	// RefusalReason tells why the entry is not shown, or why only its name is shown. It is "" if the match strength
	// was the only reason.
	RefusalReason string `json:"why,omitempty"`
}

// Values of UnitDecision.Reason.
const (
	reasonShownRecently    = "it was shown a short time ago"
	reasonOtherProject     = "it is of another project"
	reasonNeverUsed        = "it was shown often and never used"
	reasonAllShown         = "all of it was shown"
	reasonLikeInstructions = "it is shaped like instructions to an agent"
)

const (
	maxUnits          = 3 // maximum number of entries that are quoted for one prompt
	maxUnitsPerMemory = 6 // maximum number of matching entries that are considered in each memory for one prompt
)

// foundUnit is an entry that the search found, with the decision whether it is shown to the model.
type foundUnit struct {
	UnitDecision
	source      *MemorySource
	entry       oxbow.Entry
	promptTerms []gate.Term
	// Decides from the match strength whether the entry is quoted, only named or not shown. The rule depends on the
	// prompt.
	answerRule func(gate.MatchStrength) gate.AnswerKind
}

// floorRatio returns the entry's match strength, divided by the minimum strength for its memory. With this ratio,
// entries of different memories can be compared.
func (u *foundUnit) floorRatio() float64 { return u.Value / max(float64(u.StrengthFloor), 1e-9) }

// BlockForPrompt searches the memories and returns the text to show to the model with the prompt. If no entry matches
// the prompt strongly enough, the block's Text is "".
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

// findUnits searches a memory for the query words. It returns the found entries, each with the decision whether it may
// be shown to the model. At most [maxUnits] entries without a RefusalReason may be shown.
func (s *MemorySource) findUnits(ctx context.Context, queryWords string, p Prompt) ([]foundUnit, error) {
	f := s.Filter
	if s.SourceKind == SourceSessions && p.Session != "" {
		f = f.And(oxbow.Filter{Terms: []oxbow.Term{{Key: "session", Values: []string{p.Session}, Not: true}}})
	}
	units, err := s.rankUnits(ctx, analysis.NewAnalyzer(), queryWords, f, maxUnitsPerMemory)
	if err != nil {
		return nil, err
	}
	answer, floor := s.StrengthFloor.AnswerQuestion, s.StrengthFloor.QuestionFloor
	if !gate.IsQuestion(queryWords) {
		answer, floor = s.StrengthFloor.AnswerOrder, s.StrengthFloor.OrderFloor
	}
	own := 0
	for i := range units {
		u := &units[i]
		u.answerRule = answer
		u.AnswerKind = answer(u.MatchStrength)
		if u.AnswerKind != gate.AnswerSilence && s.SourceKind == SourceSessions {
			u.dropOutputTerms()
			u.AnswerKind = answer(u.MatchStrength)
		}
		u.StrengthFloor = floor(u.MatchStrength)
		switch {
		case u.AnswerKind != gate.AnswerSilence && u.looksLikeInstructions():
			u.RefusalReason = reasonLikeInstructions
		case isOfOtherProject(&u.entry, p.Project):
			u.RefusalReason = reasonOtherProject
		case p.State.wasShownRecently(u.ShownEntry):
			u.RefusalReason = reasonShownRecently
		case s.IsUnused != nil && u.AnswerKind == gate.AnswerPayload && s.IsUnused(ctx, u.Name):
			u.RefusalReason = reasonNeverUsed
		}
		if u.RefusalReason == "" {
			own++
		}
		switch {
		case own > maxUnits, u.RefusalReason == reasonShownRecently, u.RefusalReason == reasonLikeInstructions:
			u.AnswerKind = gate.AnswerSilence
		case u.RefusalReason != "" && u.AnswerKind == gate.AnswerPayload:
			u.AnswerKind = gate.AnswerPointer
		}
	}
	return units, nil
}

// isOfOtherProject reports whether an entry has project labels, none of which is the given project.
func isOfOtherProject(e *oxbow.Entry, project string) bool {
	of := e.Values(oxbow.LabelProject)
	return project != "" && len(of) > 0 && !slices.Contains(of, project)
}

// composeBlock returns the text to show for the prompt. units are the matching entries, which must be sorted from the
// strongest to the weakest.
func (p *Prompt) composeBlock(ctx context.Context, units []foundUnit) (Block, error) {
	best := -1
	for i, u := range units {
		if u.AnswerKind == gate.AnswerPayload {
			best = i
			break
		}
		if u.AnswerKind == gate.AnswerPointer && best < 0 {
			best = i
		}
	}
	if best < 0 {
		return Block{}, ctx.Err()
	}
	answer := units[best].AnswerKind
	if answer == gate.AnswerPayload && p.State.Tokens+maxPromptTokens > MaxSessionTokens {
		answer = gate.AnswerPointer
	}
	var b Block
	if answer == gate.AnswerPayload {
		b = p.composePayload(ctx, units)
	}
	if b.Text == "" {
		b = p.composePointers(units)
	}
	b.Place = PlacePrompt
	b.Strength = units[best].Value
	b.Floor = float64(units[best].StrengthFloor)
	return b, ctx.Err()
}
