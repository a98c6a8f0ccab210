// The verb inject: what a prompt would get from memory, and why.

package verb

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
)

// InjectIn is what inject takes.
type InjectIn struct {
	Prompt  string `json:"prompt" flag:"-" usage:"What a person writes to an agent."`
	Project string `json:"project,omitempty" usage:"as if it were written in this PROJECT; auto is the one of the working directory" value:"PROJECT"`
	Explain bool   `json:"explain,omitempty" usage:"show how strong each match is, and what decides"`

	// Of is where a hook's prompt was written, without its text; nil for a prompt that
	// is only tried.
	Of *inject.Prompt `json:"-"`
	// Wait bounds the time that calibrating a memory takes; 0 is for no bound.
	Wait time.Duration `json:"-"`
}

// InjectOut is what a prompt gets.
type InjectOut struct {
	Answer   string           `json:"answer"` // silence, pointer or payload
	Text     string           `json:"text,omitempty"`
	Tokens   int              `json:"tokens"`
	Shown    []session.Shown  `json:"shown,omitempty"`
	Accounts []inject.Account `json:"accounts,omitempty"` // the strongest first
	Why      []Note           `json:"why,omitempty"`      // why there is silence
	OffBy    string           `json:"off_by,omitempty"`   // file that keeps hooks from putting anything before a model

	Block inject.Block `json:"-"`
}

// Inject chooses what a prompt gets of notes and past sessions. It records nothing.
func Inject(ctx context.Context, w *Workspace, in InjectIn) (InjectOut, error) {
	sources, err := w.injectSources(ctx)
	if err != nil {
		return InjectOut{}, err
	}
	p := inject.Prompt{Project: in.Project, Now: w.Time()}
	if in.Of != nil {
		p = *in.Of
	}
	p.Text = in.Prompt
	asked := make([]inject.Source, len(sources))
	for i, s := range sources {
		if err := s.calibrate(ctx, in.Wait); err != nil {
			return InjectOut{}, err
		}
		asked[i] = s.Source
	}
	b, err := inject.ForPrompt(ctx, p, asked...)
	if err != nil {
		return InjectOut{}, err
	}
	out := InjectOut{Answer: b.Answer, Text: b.Text, Tokens: b.Tokens, Shown: b.Shown, Block: b}
	if in.Explain {
		out.Accounts = b.Accounts
	}
	if place, err := w.Located(); err == nil && in.Of == nil {
		out.OffBy = cmp.Or(OffBy(InjectOff, place.Dir(), w.Dir), OffBy(HooksOff, place.Dir(), w.Dir))
	}
	if out.Text == "" {
		out.Answer, out.Why = string(gate.Silence), whySilent(b.Accounts)
	}
	return out, nil
}

// whySilent returns why a prompt gets nothing, of the units that were looked at.
func whySilent(all []inject.Account) []Note {
	if len(all) == 0 {
		return []Note{Plain("nothing in the memory holds a word of it that tells entries apart")}
	}
	best := all[0]
	switch {
	case best.Why != "":
		return []Note{Notef("the best match is %s, but %s", best.Name, best.Why)}
	case best.Matched < 2:
		return []Note{Notef("the best match, %s, holds one word of it, and two are needed", best.Name)}
	case best.Subject == 0:
		return []Note{Notef("the best match, %s, holds only words by which people steer an agent", best.Name)}
	}
	return []Note{
		Notef(
			"the best match is %s, of strength %.2f; what questions on foreign subjects reach here is %.2f",
			best.Name,
			best.G,
			float64(best.Floor),
		),
	}
}

// injectSource is a memory that prompts are put to, and the path of its store.
type injectSource struct {
	inject.Source
	store string // "" where its floor is not kept
}

// Calibrate calibrates the floors of the memories that have grown since, and keeps
// them next to their stores.
func Calibrate(ctx context.Context, w *Workspace) error {
	sources, err := w.injectSources(ctx)
	for _, s := range sources {
		err = errors.Join(err, s.calibrate(ctx, 0))
	}
	return err
}

// Volunteered selects the entries that are [oxbow.Entry.Volunteered].
var Volunteered = oxbow.Filter{Terms: []oxbow.Term{
	{Key: "has", Values: oxbow.HeldLabels(), Not: true},
	{Key: "by", Values: []string{string(oxbow.Imported), string(oxbow.Foreign)}, Not: true},
}}

// injectSources returns notes and archive, as far as there are any.
func (w *Workspace) injectSources(ctx context.Context) (all []injectSource, err error) {
	place, perr := w.Located()
	_, m, err := w.Memory(ctx, Read)
	if err == nil {
		s := injectSource{Source: inject.Source{In: inject.InNotes, Memory: m, Filter: Volunteered}}
		if perr == nil && place.Own() {
			s.store = place.Store
		}
		all = append(all, s)
	}
	if w.Sessions == nil {
		return all, err
	}
	_, a, serr := w.Archive(ctx)
	if serr != nil {
		if len(all) > 0 && errors.Is(serr, oxbow.ErrUnsupported) {
			serr = nil
		}
		return all, errors.Join(err, serr)
	}
	s := injectSource{
		Source: inject.Source{In: inject.InSessions, Memory: a.Memory, Filter: session.TurnFilter.And(Volunteered)},
	}
	if perr == nil && place.Own() {
		s.store = filepath.Join(filepath.Dir(place.Store), session.StoreFile)
	}
	all = append(all, s)
	for i := range all {
		all[i].Unused = func(ctx context.Context, name string) bool {
			counts, err := a.Shown(ctx, name)
			return err == nil && len(counts) == 1 && counts[0].Unused()
		}
	}
	return all, nil // notes that are not there yet are none
}

// leastDecoys are so many of them that their floor is of use.
const leastDecoys = 300

// calibrate sets the floor of the source: that of its file, or one of now, which is
// written there. In too short a time nothing is above it.
func (s *injectSource) calibrate(ctx context.Context, wait time.Duration) error {
	n, err := s.Entries(ctx)
	if err != nil {
		return err
	}
	if s.store != "" {
		c := inject.ReadFloor(s.store)
		s.Floor = c.Floor
		if c.Fits(n) || (wait > 0 && c.Near(n)) {
			return nil
		}
	}
	short := ctx
	if wait > 0 {
		var stop context.CancelFunc
		short, stop = context.WithTimeout(ctx, wait)
		defer stop()
	}
	c, asked, err := s.Calibrate(short)
	if err != nil && (short.Err() == nil || ctx.Err() != nil) {
		return err
	}
	s.Floor = c.Floor
	if err != nil && asked < leastDecoys {
		s.Floor = gate.Never
		return nil
	}
	if s.store != "" && n > 0 {
		_ = c.Write(s.store) // where nothing can be written, it is calibrated each time
	}
	return nil
}
