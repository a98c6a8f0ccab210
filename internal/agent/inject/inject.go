// This file chooses the notes and conversation turns (called units) that are shown for a prompt. It searches the
// memories, decides with package gate which units match the prompt well enough, and composes the block of text that a
// hook adds to the prompt.

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

// These are the moments at which a hook shows memory to a model.
const (
	HookEventSessionStart = "start"  // a session starts
	HookEventPrompt       = "prompt" // a person has written a prompt
	HookEventBeforeAction = "action" // an agent is about to edit a file or to run a command
)

// Maximum sizes of the texts that hooks show to a model, in tokens. They include the tags around each text.
const (
	// maximum size of notes shown at a session's start (documents and profiles have their own limits)
	MaxSessionStartTokens      = 200
	maxPromptTokens            = 160
	maxShownTokensBeforeAction = 120
	MaxSessionTokens           = 6_000 // limit for a whole session, after which only names of entries are shown
)

// minPromptsBeforeEntryRepeat is the number of prompts that must pass before an entry may be shown again.
const minPromptsBeforeEntryRepeat = 10

// Kinds of memories in which a hook searches for an answer to a prompt.
const (
	SourceKindNotes    = "notes"
	SourceKindSessions = "sessions"
)

// MemorySource is a memory that is searched for an answer to a prompt.
type MemorySource struct {
	SourceKind  string // SourceKindNotes or SourceKindSessions
	Memory      *oxbow.Memory
	Filter      oxbow.Filter // selects the entries that a model may see
	MinStrength gate.MinMatchStrength

	// IsUnused reports whether an entry was shown often but never used. Such an entry is shown only as a pointer. If
	// IsUnused is nil, all entries count as used.
	IsUnused func(ctx context.Context, name string) bool
}

// SessionShownTexts records which texts were shown to a session since its client last compacted the conversation.
type SessionShownTexts struct {
	PromptNumber int // number of the current prompt in the session, starting at 1
	// number of tokens shown in the whole session, including those before a compaction
	Tokens int
	// for each [ShownEntryKey], the number of the prompt at which the entry was last shown
	LastPromptByEntryKey map[string]int
	SentenceFingerprints map[string]bool // fingerprints of the sentences that were shown

	// StoredFingerprints contains the fingerprints of the shown sentences that the client stores with the conversation.
	// These are the sentences shown at prompts and before actions. The text shown at a session's start is not included,
	// because some clients do not store it.
	StoredFingerprints map[string]bool

	HasSessionStartBlock bool // the block of the session's start was shown and is still in the model's context
	Compacted            bool // the client compacted the conversation, and no start block was shown since then
}

// ShownEntryKey returns the key that identifies an entry in a [SessionShownTexts].
func ShownEntryKey(s session.ShownEntry) string { return s.SourceKind + " " + s.Name }

// wasShownRecently reports whether the entry was shown at one of the last [minPromptsBeforeEntryRepeat] prompts.
func (s *SessionShownTexts) wasShownRecently(e session.ShownEntry) bool {
	at, shown := s.LastPromptByEntryKey[ShownEntryKey(e)]
	return shown && s.PromptNumber-at < minPromptsBeforeEntryRepeat
}

// Prompt is a text that a person wrote to an agent, with its session and project.
type Prompt struct {
	Text            string
	Client, Session string // the prompt's client and session; turns of the session are not shown ("" if unknown)
	Project         string // project of the session ("" if unknown)
	Now             time.Time
	ShownTexts      SessionShownTexts
}

// ShownBlock is a text that is shown to the model for a prompt. It also contains the decision about each entry that was
// considered for the text.
type ShownBlock struct {
	session.Injection
	Text                 string   `json:"text,omitempty"`   // "" if nothing is shown
	SentenceFingerprints []string `json:"prints,omitempty"` // fingerprints of the sentences in Text
	// for each entry that was considered for showing: whether it is shown, and why (the best match comes first)
	ShowDecisions []ShowDecision `json:"accounts,omitempty"`
}

// ShowDecision records whether an entry of the memory is shown for a prompt, and why.
type ShowDecision struct {
	session.ShownEntry
	gate.PromptMatchStrength
	MinStrength gate.MinMatchStrength `json:"floor"`
	AnswerKind  gate.AnswerKind       `json:"answer"`
	// NotShownReason tells why the entry is not shown, or why only its name is shown. It is "" if the match strength
	// was the only reason.
	NotShownReason string `json:"why,omitempty"`
}

// These are values of the field NotShownReason, which tells why an entry is not shown, or why only its name is shown.
const (
	reasonShownRecently         = "it was shown a short time ago"
	reasonOtherProject          = "it is of another project"
	reasonNeverUsed             = "it was shown often and never used"
	reasonAllShownBefore        = "all of it was shown"
	reasonResemblesInstructions = "it is shaped like instructions to an agent"
)

const (
	maxQuotedEntries    = 3 // maximum number of entries that are quoted for one prompt
	maxEntriesPerMemory = 6 // maximum number of matching entries that are considered in each memory for one prompt
)

// foundEntry is an entry that the search found, with the decision whether it is shown to the model.
type foundEntry struct {
	ShowDecision
	source      *MemorySource
	storedEntry oxbow.Entry
	promptTerms []gate.PromptTerm
	// Decides from the match strength whether the entry is quoted, only named or not shown. The rule depends on the
	// prompt.
	answerRule func(gate.PromptMatchStrength) gate.AnswerKind
}

// relativeStrength returns the entry's match strength, divided by the minimum strength for its memory. With this ratio,
// entries of different memories can be compared.
func (u *foundEntry) relativeStrength() float64 {
	return u.Strength / max(float64(u.MinStrength), 1e-9)
}

// ComposeBlockForPrompt searches the memories and returns the text to show to the model with the prompt. If no entry
// matches the prompt strongly enough, the block's Text is "".
func ComposeBlockForPrompt(ctx context.Context, p Prompt, sources ...MemorySource) (ShownBlock, error) {
	var units []foundEntry
	if words := personWrittenText(p.Text); words != "" {
		for i := range sources {
			found, err := sources[i].findEntries(ctx, words, p)
			if err != nil {
				return ShownBlock{}, err
			}
			units = append(units, found...)
		}
	}
	slices.SortStableFunc(
		units,
		func(a, b foundEntry) int { return cmp.Compare(b.relativeStrength(), a.relativeStrength()) },
	)
	b, err := p.composeBlock(ctx, units)
	for _, u := range units {
		b.ShowDecisions = append(b.ShowDecisions, u.ShowDecision)
	}
	return b, err
}

// findEntries searches a memory for the query words and returns the found entries. It sets AnswerKind for each entry:
// whether the model gets quotes from it, only its name, or nothing. It also sets NotShownReason if an entry must not be
// quoted even though it matches. Depending on the reason, such an entry is only named or not shown at all. After
// maxQuotedEntries entries without a NotShownReason, no further entry is shown.
func (s *MemorySource) findEntries(ctx context.Context, queryWords string, p Prompt) ([]foundEntry, error) {
	f := s.Filter
	if s.SourceKind == SourceKindSessions && p.Session != "" {
		f = f.And(oxbow.Filter{Terms: []oxbow.Term{{Key: "session", Values: []string{p.Session}, Not: true}}})
	}
	units, err := s.rankEntries(ctx, analysis.NewAnalyzer(), queryWords, f, maxEntriesPerMemory)
	if err != nil {
		return nil, err
	}
	answer, floor := s.MinStrength.AnswerKindForQuestion, s.MinStrength.MinStrengthForQuestion
	if !gate.IsQuestion(queryWords) {
		answer, floor = s.MinStrength.AnswerKindForInstruction, s.MinStrength.RaiseForInstruction
	}
	own := 0
	for i := range units {
		u := &units[i]
		u.answerRule = answer
		u.AnswerKind = answer(u.PromptMatchStrength)
		if u.AnswerKind != gate.AnswerSilence && s.SourceKind == SourceKindSessions {
			u.dropToolOutputTerms()
			u.AnswerKind = answer(u.PromptMatchStrength)
		}
		u.MinStrength = floor(u.PromptMatchStrength)
		switch {
		case u.AnswerKind != gate.AnswerSilence && u.looksLikeInstructions():
			u.NotShownReason = reasonResemblesInstructions
		case isOfOtherProject(&u.storedEntry, p.Project):
			u.NotShownReason = reasonOtherProject
		case p.ShownTexts.wasShownRecently(u.ShownEntry):
			u.NotShownReason = reasonShownRecently
		case s.IsUnused != nil && u.AnswerKind == gate.AnswerQuotedSentences && s.IsUnused(ctx, u.Name):
			u.NotShownReason = reasonNeverUsed
		}
		if u.NotShownReason == "" {
			own++
		}
		switch {
		case own > maxQuotedEntries,
			u.NotShownReason == reasonShownRecently,
			u.NotShownReason == reasonResemblesInstructions:
			u.AnswerKind = gate.AnswerSilence
		case u.NotShownReason != "" && u.AnswerKind == gate.AnswerQuotedSentences:
			u.AnswerKind = gate.AnswerEntryNames
		}
	}
	return units, nil
}

// isOfOtherProject reports whether an entry has project labels, but none for the given project. It returns false if the
// argument project is empty.
func isOfOtherProject(e *oxbow.Entry, project string) bool {
	of := e.Values(oxbow.LabelProject)
	return project != "" && len(of) > 0 && !slices.Contains(of, project)
}

// composeBlock returns the text to show for the prompt. units are the matching entries, which must be sorted from the
// strongest to the weakest.
func (p *Prompt) composeBlock(ctx context.Context, units []foundEntry) (ShownBlock, error) {
	best := -1
	for i, u := range units {
		if u.AnswerKind == gate.AnswerQuotedSentences {
			best = i
			break
		}
		if u.AnswerKind == gate.AnswerEntryNames && best < 0 {
			best = i
		}
	}
	if best < 0 {
		return ShownBlock{}, ctx.Err()
	}
	answer := units[best].AnswerKind
	if answer == gate.AnswerQuotedSentences && p.ShownTexts.Tokens+maxPromptTokens > MaxSessionTokens {
		answer = gate.AnswerEntryNames
	}
	var b ShownBlock
	if answer == gate.AnswerQuotedSentences {
		b = p.composeQuotesForPrompt(ctx, units)
	}
	if b.Text == "" {
		b = p.composeEntryNames(units)
	}
	b.HookEvent = HookEventPrompt
	b.BestMatchStrength = units[best].Strength
	b.MinMatchStrength = float64(units[best].MinStrength)
	return b, ctx.Err()
}
