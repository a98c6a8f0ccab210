// This file stamps what is written: text that repeats what was read of others says so, and
// so does text that is shaped like instructions.

package verb

import (
	"context"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
	"github.com/oxbow-memory/oxbow/profile"
	"golang.org/x/sync/errgroup"
)

type callerKey struct{}

// WithCaller returns a context that carries which client's call it is of. A server
// calls it.
func WithCaller(ctx context.Context, c session.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

type taintsKey struct{}

// WithTaints returns a context whose changes have taints that are known already.
func WithTaints(ctx context.Context, taints []string) context.Context {
	return context.WithValue(ctx, taintsKey{}, taints)
}

// protected are the keys of labels that put an entry before a model for good. What is
// written after foreign text was read may not have them, nor change what has them.
var protected = []string{profile.LabelPinned, profile.LabelProcess}

// unvouchedNoHooks is the value of the label unvouched on what an agent wrote of which no
// hook reports what it has read.
const unvouchedNoHooks = "no-hooks"

// Stamp returns changes as they are applied. Those of a person at a terminal or a page are
// as given, and what they repeat of others counts as the person's from then on. Other
// changes get labels: of what they repeat of others ([repeatsOf]), of the calls of the turn
// whose results are not known, of what the text was made from, and of what makes it look
// like instructions. The taints that an entry has stay. A change by a person whose input is
// no terminal is as given unless it repeats others. Stamp is part of an
// [oxbow.Options.Screen].
//
// A change of what is pinned, or is of every process, is refused if the text repeats others
// or the turn has read others: the error matches [oxbow.ErrInvalid].
func Stamp(ctx context.Context, store oxbow.Store, ops []oxbow.Op, k Knowledge) ([]oxbow.Op, error) {
	src, _ := oxbow.SourceFrom(ctx)
	if src.Actor == oxbow.Person {
		ops = vouchedByPerson(ctx, store, ops)
	}
	if k.vouches(src) {
		vouchFor(ctx, store, ops, k)
		return ops, nil
	}
	s := stamper{staged: map[string]oxbow.Entry{}, source: src}
	if src.Actor != oxbow.Person {
		s.origins = originsOf(ctx, k.Memory)
		s.expose(ctx, k)
	}
	repeats := repeatsOf(ctx, store, ops, k, s.noHooks)
	var out []oxbow.Op
	for i, op := range ops {
		s.repeats = repeats[i]
		if src.Actor == oxbow.Person && !s.repeats.any() {
			s.staged[op.Target()] = afterOp(op, s.staged[op.Target()])
			out = append(out, op)
			continue
		}
		if _, ok := op.(oxbow.Alias); ok {
			s.look(out) // its labels may be those that the entry has by then
		}
		s.at = len(out)
		stamped, err := s.stamp(ctx, store, op)
		if err != nil {
			return nil, err
		}
		for _, op := range stamped {
			s.staged[op.Target()] = afterOp(op, s.staged[op.Target()])
		}
		out = append(out, stamped...)
	}
	s.look(out)
	keepPrints(out, k)
	return out, nil
}

// expose sets what stood before the model of the caller's session.
func (s *stamper) expose(ctx context.Context, k Knowledge) {
	caller, ok := ctx.Value(callerKey{}).(session.Caller)
	if !ok {
		caller = k.Caller
	}
	known, given := ctx.Value(taintsKey{}).([]string)
	s.taints = known
	if given {
		return
	}
	var x session.Exposure
	if caller != (session.Caller{}) && k.Exposure != nil {
		x = k.Exposure(ctx, caller)
	}
	s.taints = x.Taints
	s.reads = x.Read
	s.noHooks = s.origins.agent && !x.Known
	s.proof, s.proved = x.Proof, x.Proved
	s.origins.show(x.Shown)
}

// stamp returns a change as it is applied, and what follows it.
func (s *stamper) stamp(ctx context.Context, store oxbow.Store, op oxbow.Op) (_ []oxbow.Op, err error) {
	name := op.Target()
	old, found := s.staged[name]
	if _, adds := op.(oxbow.Add); !found && !adds {
		old, err = store.Get(ctx, name)
		if err != nil {
			return []oxbow.Op{op}, nil // the store says why
		}
		s.staged[name] = old
	}
	switch o := op.(type) {
	case oxbow.Add:
		o.Labels, err = s.labels(o.Name, o.Content, o.Aliases, o.Labels, oxbow.Entry{})
		op = o
	case oxbow.Update:
		o.Labels, err = s.labels(o.Name, o.Content, o.Aliases, o.Labels, old)
		op = o
	case oxbow.Relabel:
		o.Labels, err = s.labels(old.Name, old.Content, old.Aliases, o.Labels, old)
		op = o
	case oxbow.Alias:
		err = s.mayChange(old.Labels)
		if err == nil {
			ops := append([]oxbow.Op{op}, s.aliased(o, old)...)
			if kept := s.keepVouched(old.Labels, old.Content, old); len(ops) == 1 && len(kept) > len(old.Labels) {
				ops = append(ops, oxbow.Relabel{Name: o.Name, Labels: oxbow.SortLabels(kept)})
			}
			return ops, nil
		}
	default:
		err = s.mayChange(old.Labels)
	}
	return []oxbow.Op{op}, err
}

// aliased returns the change that a tainted call makes with new aliases: the entry is
// found by what others may have chosen.
func (s *stamper) aliased(o oxbow.Alias, old oxbow.Entry) []oxbow.Op {
	add := slices.DeleteFunc(slices.Clone(o.Aliases), func(a string) bool { return slices.Contains(old.Aliases, a) })
	if (len(s.taints) == 0 && !s.repeats.any()) || len(add) == 0 {
		return nil
	}
	bare := stamper{taints: s.taints, repeats: s.repeats, staged: map[string]oxbow.Entry{}}
	ls, _ := bare.labels("", "", add, nil, oxbow.Entry{}) // protects none
	bare.looks[0].labels = append(ls, old.Labels...)
	out := []oxbow.Op{oxbow.Relabel{Name: o.Name}}
	bare.look(out)
	return out
}

// stamper gives labels to what is no person's.
type stamper struct {
	taints  []string // calls of the turn whose results are not known
	reads   []string // calls of the turn that returned text by others
	noHooks bool     // an agent writes of which no hook reports what it has read
	repeats repeats  // of the change that is stamped
	proof   string
	proved  []string // files that the proof is about
	source  oxbow.Source
	origins origins
	staged  map[string]oxbow.Entry // as the changes before leave them

	at    int     // of the change that is stamped, among all
	looks []shape // texts that were not looked at yet
}

// shape is what a text may look like, of the change at a place.
type shape struct {
	at     int
	text   string
	labels []oxbow.Label // of the entry, without the rules that the text meets
	key    string        // of the labels that name these
	rules  []string
}

// look gives changes the labels of the rules that their texts meet. To find them takes
// longer than all else, and so has all processors.
func (s *stamper) look(ops []oxbow.Op) {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i := range s.looks {
		l := &s.looks[i]
		all.Go(func() error {
			l.rules = instruction.Find(l.text)
			return nil
		})
	}
	_ = all.Wait() // none fails
	for _, l := range s.looks {
		for _, r := range l.rules {
			l.labels = append(l.labels, oxbow.Label{Key: l.key, Value: r})
		}
		op := withLabels(ops[l.at], oxbow.SortLabels(l.labels))
		ops[l.at], s.staged[op.Target()] = op, afterOp(op, s.staged[op.Target()])
	}
	s.looks = s.looks[:0]
}

// unnamedCall is the value of a label whose own value, the name of a call, cannot be one.
const unnamedCall = "call"

// labels returns the labels of an entry: those that are given, the taints that its old
// version has, and those of the call and of what it was made from; [stamper.look] adds the
// rules that its texts meet.
func (s *stamper) labels(
	name, content string,
	aliases []string,
	given []oxbow.Label,
	old oxbow.Entry,
) ([]oxbow.Label, error) {
	out := slices.DeleteFunc(slices.Clone(given), func(l oxbow.Label) bool {
		isGiven := l.Key == oxbow.LabelSuspect || l.Key == oxbow.LabelQuarantine || l.Key == oxbow.LabelTextBy
		return isGiven || !s.origins.may(l, old.Labels) ||
			(l.Key == oxbow.LabelVerified && s.origins.agent && content != old.Content)
	})
	out = s.keepVouched(out, content, old)
	if err := s.mayChange(slices.Concat(out, old.Labels)); err != nil {
		return nil, err
	}
	for _, l := range old.Labels {
		if l.Key == oxbow.LabelTaint || l.Key == oxbow.LabelUnvouched {
			out = append(out, l)
		}
	}
	add := func(key string, values []string) {
		for _, v := range values {
			l := oxbow.Label{Key: key, Value: v}
			if l.Check() != nil {
				l.Value = unnamedCall // the text is held back nevertheless
			}
			out = append(out, l)
		}
	}
	aliases = slices.Clip(aliases)
	for _, l := range out {
		aliases = append(aliases, l.Value)
	}
	add(oxbow.LabelTaint, s.taints)
	add(oxbow.LabelTaint, s.repeats.foreign)
	add(oxbow.LabelUnvouched, s.repeats.unvouched)
	if s.noHooks && content != old.Content {
		add(oxbow.LabelUnvouched, []string{unvouchedNoHooks})
	}
	if s.repeats.isImported {
		add(oxbow.LabelOrigin, []string{string(oxbow.TrustImported)})
	}
	out = append(out, s.origins.labels(name, content, old)...)
	if s.proof != "" && content != old.Content && cites(content, out, s.proved) {
		add(oxbow.LabelVerified, []string{s.proof})
	}
	shaped := oxbow.LabelSuspect
	if slices.ContainsFunc(out, func(l oxbow.Label) bool { return l.Key == oxbow.LabelTaint }) {
		shaped = oxbow.LabelQuarantine
	}
	s.looks = append(s.looks, shape{at: s.at, text: name + "\n" + content + "\n" +
		strings.Join(aliases, "\n"), labels: out, key: shaped})
	return out, nil
}

// vouchedByPerson returns a person's changes. A new text by a person does not keep the
// labels that say that nobody vouches for the old text. A person who changes only labels
// or aliases, or restores a text, has not vouched for the text: the labels name its author.
func vouchedByPerson(ctx context.Context, store oxbow.Store, ops []oxbow.Op) []oxbow.Op {
	out := make([]oxbow.Op, 0, len(ops))
	for _, op := range ops {
		out = append(out, op)
		var labels []oxbow.Label
		switch o := op.(type) {
		case oxbow.Update:
			labels = o.Labels
		case oxbow.Relabel:
			labels = o.Labels
		case oxbow.Alias:
		case oxbow.Add:
			if old := restoredText(ctx, o.Name, o.Content); old != nil {
				out[len(out)-1] = withLabels(op, oxbow.KeepTextBy(o.Labels, old, oxbow.Person))
			}
			continue
		default:
			continue
		}
		old, err := store.Get(ctx, op.Target())
		if err != nil {
			continue // the store reports it
		}
		if _, isAlias := op.(oxbow.Alias); isAlias {
			if kept := oxbow.KeepTextBy(old.Labels, &old, oxbow.Person); !slices.Equal(kept, old.Labels) {
				out = append(out, oxbow.Relabel{Name: op.Target(), Labels: kept})
			}
			continue
		}
		if u, isUpdate := op.(oxbow.Update); isUpdate && u.Content != old.Content {
			restored := restoredText(ctx, u.Name, u.Content)
			if restored == nil {
				u.Labels = slices.DeleteFunc(slices.Clone(labels), func(l oxbow.Label) bool {
					return l.Key == oxbow.LabelUnvouched || l.Key == oxbow.LabelOrigin || l.Key == oxbow.LabelTextBy
				})
				out[len(out)-1] = u
				continue
			}
			old = *restored
		}
		out[len(out)-1] = withLabels(op, oxbow.KeepTextBy(labels, &old, oxbow.Person))
	}
	return out
}

type restoringKey struct{}

// withRestoring returns a context whose changes restore texts of the history.
func withRestoring(ctx context.Context, h oxbow.Historian) context.Context {
	return context.WithValue(ctx, restoringKey{}, h)
}

// restoredText returns the newest version of an entry with the text that a change restores, or an
// entry of an agent if the text is of no version. It returns nil if the change restores nothing.
func restoredText(ctx context.Context, name, content string) *oxbow.Entry {
	h, ok := ctx.Value(restoringKey{}).(oxbow.Historian)
	if !ok {
		return nil
	}
	for v, err := range h.Versions(ctx, name) {
		if err != nil {
			break
		}
		if v.Verb != oxbow.VerbRemove && !v.Erased && v.Entry.Content == content {
			v.Entry.Source = v.Source
			return &v.Entry
		}
	}
	return &oxbow.Entry{Source: oxbow.Source{Actor: oxbow.Agent}}
}

// isUnapprovedImport reports whether an import brought the text and no person approved it.
func isUnapprovedImport(e *oxbow.Entry) bool {
	isImport := e.Source.Actor == oxbow.Imported || slices.Contains(e.Labels, unvouchedImport)
	return isImport && !slices.Contains(e.Labels, approvedByPerson)
}

// vouching are the keys of labels by which an entry is shown unasked. An import does not
// give them, because its file may be anybody's.
var vouching = append([]string{oxbow.LabelVerified, oxbow.LabelApproved}, protected...)

// keepVouched returns the labels that an entry gets by its author. A text that a person
// or the team vouches for stays vouched when a program changes labels or aliases, and
// not when it changes the text. An imported text is vouched for by nobody.
func (s *stamper) keepVouched(labels []oxbow.Label, content string, old oxbow.Entry) []oxbow.Label {
	isSame := old.Name != "" && content == old.Content
	isImport := s.source.Actor == oxbow.Imported
	labels = slices.DeleteFunc(slices.Clone(labels), func(l oxbow.Label) bool {
		isNew := !slices.Contains(old.Labels, l)
		return (l.Key == oxbow.LabelApproved && (isNew || !isSame)) ||
			(isImport && isNew && slices.Contains(vouching, l.Key))
	})
	switch {
	case isImport && !isSame, !isImport && isUnapprovedImport(&old):
		labels = append(labels, unvouchedImport)
	case isSame && old.Vouched() && (old.TextBy() == oxbow.Person || old.TextBy() == oxbow.Team):
		labels = append(labels, approvedByPerson)
	}
	return labels
}

// cites reports whether a note names one of the files, by a label or in its text.
func cites(content string, labels []oxbow.Label, files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool {
		base := path.Base(strings.ReplaceAll(file, `\`, "/"))
		isLabelled := slices.ContainsFunc(labels, func(l oxbow.Label) bool {
			return l.Key == oxbow.LabelFile && path.Base(strings.ReplaceAll(l.Value, `\`, "/")) == base
		})
		return base != "." && (isLabelled || strings.Contains(content, base))
	})
}

// mayChange refuses a change of what has one of the protected labels, if its text repeats
// others or its turn has read others. A change without text, such as one that pins a note,
// has nothing to be compared, so that what the turn has read decides.
func (s *stamper) mayChange(labels []oxbow.Label) error {
	read := slices.Concat(s.repeats.foreign, s.repeats.unvouched, s.taints, s.reads)
	for _, l := range labels {
		if len(read) > 0 && slices.Contains(protected, l.Key) && l.Value == "true" {
			return Advise(
				InvalidValue("labels", l.String(), "is for what no foreign text had a part in, and this turn has read "+
					read[0]),
				"write a new note without it, and ask the person, whose next prompt ends this",
			)
		}
	}
	return nil
}
