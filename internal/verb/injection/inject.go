// This file implements the verb inject. It shows which text from memory a prompt would get, and why.

package injection

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// InjectIn is the argument of Inject.
type InjectIn struct {
	Prompt  string `json:"prompt"            flag:"-" usage:"What a person writes to an agent."`
	Project string `json:"project,omitempty"          usage:"answer as in this PROJECT; auto is the project of the working directory" value:"PROJECT"`
	Explain bool   `json:"explain,omitempty"          usage:"also show how strong each match is, and why the text is shown or not"`

	// HookPrompt describes the prompt as a client's hook reported it. The text in the field Prompt is used instead of
	// the text in HookPrompt. HookPrompt is nil if no hook asks, for example if a person tries out which texts a
	// prompt would get.
	HookPrompt *inject.Prompt `json:"-"`
	// A text is shown only if its match with the prompt is stronger than the floor, a minimum that is calibrated for
	// each memory. MaxWait limits the time for this calibration. 0 means no limit.
	MaxWait time.Duration `json:"-"`
}

// InjectOut is the result of Inject.
type InjectOut struct {
	// the kind of text that an agent would be shown: "payload" (sentences), "pointer" (only entry names) or "silence"
	// (nothing)
	Answer       string               `json:"answer"`
	Text         string               `json:"text,omitempty"`
	Tokens       int                  `json:"tokens"`
	ShownEntries []session.ShownEntry `json:"shown,omitempty"`
	// for each note or turn that matched the prompt, whether it is shown and why, the strongest match first
	EntryDecisions []inject.ShowDecision `json:"accounts,omitempty"`
	SilenceReasons []verb.Note           `json:"why,omitempty"` // reasons why the prompt gets no text
	// InjectionOffFile is the path of the file that switches off injection. It is "" if such a file does not exist.
	InjectionOffFile string `json:"off_by,omitempty"`

	Block inject.ShownBlock `json:"-"`
}

// HasText reports whether an agent would be shown a text.
func (o InjectOut) HasText() bool { return o.Text != "" }

// Inject chooses the notes and past turns that hooks would show for a prompt. It does not record these texts as shown.
func Inject(ctx context.Context, w *verb.Workspace, in InjectIn) (InjectOut, error) {
	sources, err := openInjectionSources(ctx, w)
	if err != nil {
		return InjectOut{}, err
	}
	p := inject.Prompt{Project: in.Project, Now: w.CurrentTime()}
	if in.HookPrompt != nil {
		p = *in.HookPrompt
	}
	p.Text = in.Prompt
	asked := make([]inject.MemorySource, len(sources))
	for i, s := range sources {
		if err := s.calibrateMinStrength(ctx, in.MaxWait); err != nil {
			return InjectOut{}, err
		}
		asked[i] = s.MemorySource
	}
	b, err := inject.ComposeBlockForPrompt(ctx, p, asked...)
	if err != nil {
		return InjectOut{}, err
	}
	out := InjectOut{Answer: b.AnswerKind, Text: b.Text, Tokens: b.TokenCount, ShownEntries: b.ShownEntries, Block: b}
	if in.Explain {
		out.EntryDecisions = b.ShowDecisions
	}
	if place, err := w.FindPlace(); err == nil && in.HookPrompt == nil {
		out.InjectionOffFile = cmp.Or(
			FindInjectionOffFile(InjectionOffFile, place.Dir(), w.Dir),
			FindInjectionOffFile(HooksOffFile, place.Dir(), w.Dir),
		)
	}
	if out.Text == "" {
		out.Answer, out.SilenceReasons = string(gate.AnswerSilence), explainNoInjectedText(b.ShowDecisions)
	}
	return out, nil
}

// explainNoInjectedText explains why a prompt gets no text. The argument lists the decisions about all notes and turns
// that matched, the strongest match first.
func explainNoInjectedText(decisions []inject.ShowDecision) []verb.Note {
	if len(decisions) == 0 {
		return []verb.Note{
			verb.PlainNote(
				"a model would be shown nothing: no past session, and no note that may be shown without a search, " +
					"shares a word with this prompt (very common words do not count)",
			),
		}
	}
	best := decisions[0]
	switch {
	case best.NotShownReason != "":
		return []verb.Note{verb.Notef("the best match is %s, but %s", best.Name, best.NotShownReason)}
	case best.MatchedWordCount < 2:
		return []verb.Note{
			verb.Notef("the best match, %s, shares one word with the prompt, and two are needed", best.Name),
		}
	case best.MatchedSubjectWordCount == 0:
		return []verb.Note{
			verb.Notef(
				"the best match, %s, shares only words of an order, such as run or fix, with the prompt",
				best.Name,
			),
		}
	case best.Strength > float64(best.MinStrength):
		return []verb.Note{
			verb.Notef(
				"the best match is %s, with a strength of %.2f, which is above the floor of %.2f; but a note is shown without a "+
					"search only if it shares more rare words with the prompt",
				best.Name,
				best.Strength,
				float64(best.MinStrength),
			),
		}
	}
	return []verb.Note{
		verb.Notef(
			"the best match is %s, with a strength of %.2f; this prompt needs more than %.2f in this memory",
			best.Name,
			best.Strength,
			float64(best.MinStrength),
		),
	}
}

// injectionSource is a memory in which the notes or turns for a prompt are searched.
type injectionSource struct {
	inject.MemorySource
	// path of the memory's store, beside which the minimum match strength (the floor) is stored ("" if it is not stored
	// there)
	memoryStorePath string
}

// CalibrateMatchFloors recomputes each memory's floor, which is the minimum strength of a match that is shown to an
// agent. A floor is recomputed only if the size of the memory has changed so much that the stored floor no longer fits.
// The new floor is stored beside the memory.
func CalibrateMatchFloors(ctx context.Context, w *verb.Workspace) error {
	sources, err := openInjectionSources(ctx, w)
	for _, s := range sources {
		err = errors.Join(err, s.calibrateMinStrength(ctx, 0))
	}
	return err
}

// CalibrateArchiveFloor recomputes the floor of the archive, which is the minimum strength of a match that is shown to
// an agent. The floor is recomputed only if the size of the archive has changed so much that the stored floor no longer
// fits. [CalibrateMatchFloors] does the same for each memory. CalibrateArchiveFloor does not open the memory with the
// notes.
func CalibrateArchiveFloor(ctx context.Context, w *verb.Workspace, archive *session.Archive) error {
	s := archiveInjectionSource(w, archive)
	return s.calibrateMinStrength(ctx, 0)
}

// archiveInjectionSource returns the archive as a memory from which hooks take texts for models.
func archiveInjectionSource(w *verb.Workspace, archive *session.Archive) injectionSource {
	s := injectionSource{
		MemorySource: inject.MemorySource{
			SourceKind: inject.SourceKindSessions,
			Memory:     archive.Memory,
			Filter:     session.TurnFilter.And(oxbow.Unasked.Filter()),
		},
	}
	if place, err := w.FindPlace(); err == nil && place.HasOwnLayout() {
		s.memoryStorePath = filepath.Join(filepath.Dir(place.StorePath), session.StoreFile)
	}
	return s
}

// openInjectionSources returns the memories from which hooks take texts for models: first the memory with the notes,
// then the archive of sessions. If one of them cannot be opened, the result contains only the other:
//
//   - If only the notes cannot be opened, err is nil.
//   - If the archive cannot be opened, err is the reason. But err is nil if the notes were opened and archives are not
//     supported here.
//   - If w.Sessions is nil, there is no archive, and err is the error from opening the notes.
func openInjectionSources(ctx context.Context, w *verb.Workspace) (all []injectionSource, err error) {
	place, perr := w.FindPlace()
	_, m, err := w.OpenMemory(ctx, verb.Read)
	if err == nil {
		s := injectionSource{
			MemorySource: inject.MemorySource{
				SourceKind: inject.SourceKindNotes,
				Memory:     m,
				Filter:     oxbow.Unasked.Filter(),
			},
		}
		if perr == nil && place.HasOwnLayout() {
			s.memoryStorePath = place.StorePath
		}
		all = append(all, s)
	}
	if w.Sessions == nil {
		return all, err
	}
	_, a, serr := w.OpenArchive(ctx)
	if serr != nil {
		if len(all) > 0 && errors.Is(serr, oxbow.ErrUnsupported) {
			serr = nil
		}
		return all, errors.Join(err, serr)
	}
	all = append(all, archiveInjectionSource(w, a))
	for i := range all {
		all[i].IsUnused = func(ctx context.Context, name string) bool {
			counts, err := a.CountEntryUses(ctx, name)
			return err == nil && len(counts) == 1 && counts[0].IsUnused()
		}
	}
	// Ignore an error from opening the notes, because hooks can also take texts from the archive of sessions only.
	return all, nil
}

// minDecoyPrompts is the minimum number of decoys, prompts that the memory cannot answer, from which a match's minimum
// strength (the floor) is computed. With fewer decoys the floor would be too inaccurate.
const minDecoyPrompts = 300

// calibrateMinStrength sets s.MinStrength, the strength that a match in this memory must exceed before it is shown to
// an agent. It uses the stored value if this value fits the present number of entries. Otherwise it computes a new
// value from decoys, which are prompts that the memory cannot answer, and stores the value. If maxWait is over before
// minDecoyPrompts decoys were tried, it sets [gate.UnreachableMinStrength], so that nothing is shown. If maxWait
// is 0, the time is not limited.
func (s *injectionSource) calibrateMinStrength(ctx context.Context, maxWait time.Duration) error {
	n, err := s.CountShowableEntries(ctx)
	if err != nil {
		return err
	}
	if n == 0 {
		// The memory contains no entry that may be shown, so a minimum strength need not be computed.
		s.MinStrength = gate.UnreachableMinStrength
		return nil
	}
	if s.memoryStorePath != "" {
		c := inject.ReadMinStrengthFile(s.memoryStorePath)
		s.MinStrength = c.MinStrength
		isNearEnough := maxWait > 0 && c.IsUsableFor(n)
		if isNearEnough || c.IsUpToDateFor(n) {
			return nil
		}
	}
	short := ctx
	if maxWait > 0 {
		var stop context.CancelFunc
		short, stop = context.WithTimeout(ctx, maxWait)
		defer stop()
	}
	c, asked, err := s.CalibrateMinStrength(short)
	isTimeUp := short.Err() != nil && ctx.Err() == nil
	if err != nil && !isTimeUp {
		return err
	}
	s.MinStrength = c.MinStrength
	if err != nil && asked < minDecoyPrompts {
		s.MinStrength = gate.UnreachableMinStrength
		return nil
	}
	if s.memoryStorePath != "" {
		// Ignore the error. If the value was not stored, the next call computes it again.
		_ = c.WriteMinMatchStrengthFile(s.memoryStorePath)
	}
	return nil
}
