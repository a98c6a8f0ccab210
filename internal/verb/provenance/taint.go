// This file labels text when it is written. Text that repeats other people's text gets a label,
// and so does text that looks like instructions.

package provenance

import (
	"context"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/profile"
)

// protectedKeys are the keys of labels that put an entry into every prompt. A call in a turn
// that has read foreign text may not write or change such an entry.
var protectedKeys = []string{profile.LabelPinned, profile.LabelProcess}

// noHooksValue is the value of the label unvouched if hooks do not report what the writing
// agent has read.
const noHooksValue = "no-hooks"

// stampOrigins returns the changes with labels that record the origin of each change's text. labelled contains the
// indexes of the changes that also have labels for all findings about the text.
//
// Changes by a person at a terminal or a page are returned without new labels. If such a text repeats foreign text,
// the repeated text counts as the person's text from then on. Changes by a person whose input is not a terminal are
// returned without new labels unless their text repeats foreign text.
//
// All other changes get labels for the foreign texts that they repeat ([findRepeats]), for calls of the turn with
// unknown results, for the text's origin, and for each rule by which the text looks like instructions. An entry keeps
// the taints that it already has.
//
// A change of an entry that is pinned or belongs to every process is refused if its text repeats foreign text, or if
// the turn has read foreign text. The error matches [oxbow.ErrInvalid].
func stampOrigins(
	ctx context.Context,
	store oxbow.Store,
	ops []oxbow.Op,
	k verb.ProvenanceData,
) (out []oxbow.Op, labelled map[int]bool, err error) {
	src, _ := oxbow.SourceFrom(ctx)
	if src.Actor == oxbow.Person {
		ops = labelPersonOps(ctx, store, ops)
	}
	if k.CanVouch(src) {
		recordPersonTexts(ctx, store, ops, k)
		return ops, nil, nil
	}
	s := stamper{
		stagedEntries:   newStagedEntries(len(ops)),
		labelledChanges: make(map[int]bool, len(ops)),
		source:          src,
		ownFrames:       screen.ConversationTextsFrom(ctx),
		unexaminedTexts: make([]unexaminedText, 0, len(ops)),
	}
	if src.Actor != oxbow.Person {
		s.origins = newOriginFinder(ctx, k.Memory)
		s.addSessionReads(ctx, k)
	}
	// An import is unvouched whatever it repeats.
	repeats := findRepeats(ctx, store, ops, k, s.noHooks || src.Actor == oxbow.Imported)
	for i, op := range ops {
		s.repeats = repeats[i]
		if src.Actor == oxbow.Person && !s.repeats.hasRepeats() {
			s.stagedEntries.apply(op)
			out = append(out, op)
			continue
		}
		if _, ok := op.(oxbow.Alias); ok {
			s.addFindings(out) // an alias keeps the entry's labels, so they must be complete first
		}
		s.changeIndex = len(out)
		stamped, err := s.labelledOps(ctx, store, op)
		if err != nil {
			return nil, nil, err
		}
		for _, op := range stamped {
			s.stagedEntries.apply(op)
		}
		out = append(out, stamped...)
	}
	s.addFindings(out)
	tainted := verb.ContextTaintedEntries(ctx)
	for _, op := range out {
		e, _ := s.stagedEntries.find(op.Target())
		tainted.Add(e)
	}
	recordFingerprints(out, k)
	return out, s.labelledChanges, nil
}

// addSessionReads records what the model in the caller's session has read since the person's last prompt: the calls
// that returned foreign text, and the texts that hooks showed. If the context has taints (see [verb.ContextTaints]),
// only these are recorded.
func (s *stamper) addSessionReads(ctx context.Context, k verb.ProvenanceData) {
	caller, ok := verb.ContextCaller(ctx)
	if !ok {
		caller = k.DefaultCaller
	}
	known, given := verb.ContextTaints(ctx)
	s.unknownCalls = known
	if given {
		return
	}
	var x session.Exposure
	if caller != (session.Caller{}) && k.SessionExposure != nil {
		x = k.SessionExposure(ctx, caller)
	}
	s.unknownCalls = x.UntracedReads
	s.foreignCalls = x.ForeignReads
	s.noHooks = s.origins.isAgent && !x.IsReported
	s.proofFile, s.provedFiles = x.ProofCommand, x.ProvenFiles
	s.origins.addShownTexts(x.ShownTexts)
}

// labelledOps returns the op with labels that record its origin, followed by changes of labels that become necessary,
// for example because a new alias repeats foreign text. If the entry cannot be read, it returns the op unchanged,
// because the store then reports the error. It returns an error if the caller may not change the entry.
func (s *stamper) labelledOps(ctx context.Context, store oxbow.Store, op oxbow.Op) (_ []oxbow.Op, err error) {
	name := op.Target()
	old, found := s.stagedEntries.find(name)
	if _, adds := op.(oxbow.Add); !found && !adds {
		old, err = store.Get(ctx, name)
		if err != nil {
			return []oxbow.Op{op}, nil // the store reports the error
		}
		s.stagedEntries.set(name, old)
	}
	switch o := op.(type) {
	case oxbow.Add:
		o.Labels, err = s.stampLabels(o.Name, o.Content, o.Aliases, o.Labels, oxbow.Entry{})
		op = o
	case oxbow.Update:
		o.Labels, err = s.stampLabels(o.Name, o.Content, o.Aliases, o.Labels, old)
		op = o
	case oxbow.Relabel:
		o.Labels, err = s.stampLabels(old.Name, old.Content, old.Aliases, o.Labels, old)
		op = o
	case oxbow.Alias:
		err = s.checkProtected(old.Labels)
		if err == nil {
			ops := append([]oxbow.Op{op}, s.aliasLabelOps(o, old)...)
			kept := s.updateVouchLabels(slices.Clone(old.Labels), old.Content, old)
			if len(ops) == 1 && len(kept) > len(old.Labels) {
				ops = append(ops, oxbow.Relabel{Name: o.Name, Labels: oxbow.SortLabels(kept)})
			}
			return ops, nil
		}
	default:
		err = s.checkProtected(old.Labels)
	}
	return []oxbow.Op{op}, err
}

// aliasLabelOps returns the change that labels an entry to which a tainted call adds aliases, because
// others may have chosen the words by which the entry is then found. It returns nil if the call is
// not tainted or adds no alias.
func (s *stamper) aliasLabelOps(o oxbow.Alias, old oxbow.Entry) []oxbow.Op {
	add := slices.DeleteFunc(slices.Clone(o.Aliases), func(a string) bool { return slices.Contains(old.Aliases, a) })
	isTainted := len(s.unknownCalls) > 0 || s.repeats.hasRepeats()
	if !isTainted || len(add) == 0 {
		return nil
	}
	bare := stamper{unknownCalls: s.unknownCalls, repeats: s.repeats, stagedEntries: newStagedEntries(1)}
	ls, _ := bare.stampLabels("", "", add, nil, oxbow.Entry{}) // this never fails without protected labels
	bare.unexaminedTexts[0].labels = append(ls, old.Labels...)
	out := []oxbow.Op{oxbow.Relabel{Name: o.Name}}
	bare.addFindings(out)
	return out
}

// stamper adds labels to changes, mostly those that are not a person's.
type stamper struct {
	unknownCalls  []string       // calls of the turn whose results are not known
	foreignCalls  []string       // calls of the turn that returned text by others
	noHooks       bool           // an agent writes, and hooks do not report what it has read
	repeats       foreignRepeats // texts of others in the change that is being stamped
	proofFile     string
	provedFiles   []string // files that the proof covers
	source        oxbow.Source
	ownFrames     *screen.ConversationTexts // conversations whose roles oxbow wrote
	origins       originFinder
	stagedEntries *stagedEntries // entries after the changes so far

	changeIndex     int              // index of the change that is being stamped
	unexaminedTexts []unexaminedText // texts that were not examined yet
	// Indexes of changes with the labels for all findings (nil if the texts are parts of entries).
	labelledChanges map[int]bool
}

// unexaminedText is the text of an entry in a change, to be examined.
type unexaminedText struct {
	changeIndex   int
	texts         []string
	programValues []string      // values of labels that programs added
	labels        []oxbow.Label // the entry's labels, without those for findings
	ruleLabelKey  string        // key of the labels for rules for instructions
	findings      screen.Findings
}

// textsTogether is the number of texts that are examined by one goroutine.
const textsTogether = 16

// addFindings adds a label for every finding about a text. The search takes most of the time, so the texts are
// examined in parallel.
func (s *stamper) addFindings(ops []oxbow.Op) {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for group := range slices.Chunk(s.unexaminedTexts, textsTogether) {
		all.Go(func() error {
			for i := range group {
				group[i].findings = screen.Find(group[i].texts, group[i].programValues)
			}
			return nil
		})
	}
	_ = all.Wait() // the functions return no errors
	for _, l := range s.unexaminedTexts {
		for _, r := range l.findings.Instructions {
			l.labels = append(l.labels, oxbow.Label{Key: l.ruleLabelKey, Value: r})
		}
		var labels []oxbow.Label
		if s.labelledChanges != nil {
			labels = withPersonalLabels(l.labels, l.findings.Personal)
			s.labelledChanges[l.changeIndex] = true
		} else {
			labels = oxbow.SortLabels(l.labels)
		}
		op := withLabels(ops[l.changeIndex], labels)
		ops[l.changeIndex] = op
		s.stagedEntries.apply(op)
	}
	s.unexaminedTexts = s.unexaminedTexts[:0]
}

// unnamedCallValue is the label value for a call whose name is not a valid value.
const unnamedCallValue = "call"

// stampLabels returns an entry's labels: the given labels, the old version's taints, and labels
// for the call and the text's origin. It also queues the entry's text for [stamper.addFindings],
// which adds labels for the rules that the text matches.
func (s *stamper) stampLabels(
	name, content string,
	aliases []string,
	given []oxbow.Label,
	old oxbow.Entry,
) ([]oxbow.Label, error) {
	const more = 8 // room for the labels that are added below
	out := append(make([]oxbow.Label, 0, len(given)+more), given...)
	out = slices.DeleteFunc(out, func(l oxbow.Label) bool {
		isGiven := l.Key == oxbow.LabelSuspect || l.Key == oxbow.LabelQuarantine || l.Key == oxbow.LabelTextBy
		return isGiven || !s.origins.maySetLabel(l, old.Labels) ||
			(l.Key == oxbow.LabelVerified && s.origins.isAgent && content != old.Content)
	})
	out = s.updateVouchLabels(out, content, old)
	if err := s.checkProtected(out, old.Labels); err != nil {
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
				l.Value = unnamedCallValue // the label still quarantines the text
			}
			out = append(out, l)
		}
	}
	texts := append(make([]string, 0, 2+len(aliases)+len(out)), name, s.ownFrames.SpokenText(content))
	texts = append(texts, aliases...)
	programValues := make([]string, 0, more)
	for _, l := range out {
		isOwn := l == unvouchedImportLabel // a word of this program must not complete an order in the text
		// The signs and the length of an identifier or time would make the search for split words run.
		if isOwn || isIdentifierOrTime(l.Value) {
			programValues = append(programValues, l.Value)
			continue
		}
		texts = append(texts, l.Value)
		texts = append(texts, sentenceLikeKeys(l)...)
	}
	writers := len(out) // further labels are added by this program
	add(oxbow.LabelTaint, s.unknownCalls)
	add(oxbow.LabelTaint, s.repeats.foreignSources)
	add(oxbow.LabelUnvouched, s.repeats.unvouchedSources)
	if s.noHooks && content != old.Content {
		add(oxbow.LabelUnvouched, []string{noHooksValue})
	}
	if s.repeats.isImported {
		add(oxbow.LabelOrigin, []string{string(oxbow.TrustImported)})
	}
	out = append(out, s.origins.originLabels(name, content, old)...)
	mayProve := s.proofFile != "" && content != old.Content
	if mayProve && citesFile(content, out, s.provedFiles) {
		add(oxbow.LabelVerified, []string{s.proofFile})
	}
	shaped := oxbow.LabelSuspect
	if slices.ContainsFunc(out, func(l oxbow.Label) bool { return l.Key == oxbow.LabelTaint }) {
		shaped = oxbow.LabelQuarantine
	}
	for _, l := range out[writers:] {
		programValues = append(programValues, l.Value)
	}
	s.unexaminedTexts = append(
		s.unexaminedTexts,
		unexaminedText{
			changeIndex:   s.changeIndex,
			texts:         texts,
			programValues: programValues,
			labels:        out,
			ruleLabelKey:  shaped,
		},
	)
	return out, nil
}

// identifierDigits is the number of hexadecimal digits in a UUID, and in the digests that imports write into labels.
const identifierDigits = 32

// isIdentifierOrTime reports whether a label's value is a digest, a UUID, or a time. Such a value has no words that
// a model could take for an instruction.
func isIdentifierOrTime(value string) bool {
	if strings.Trim(value, "0123456789-:.+TZ ") == "" {
		return true
	}
	hyphens := strings.Count(value, "-")
	isLong := len(value)-hyphens == identifierDigits && (hyphens == 0 || hyphens == 4)
	return isLong && strings.Trim(value, "0123456789abcdef-") == ""
}

// labelPersonOps returns the changes of a person with labels that record who vouches for each text. If the person
// writes a new text, the person vouches for it, so the labels that nobody vouches for the old text, or that name its
// origin or author, are removed. If the person changes only labels or aliases, or restores an old text, the person
// does not vouch for the text. A label then names the text's author.
func labelPersonOps(ctx context.Context, store oxbow.Store, ops []oxbow.Op) []oxbow.Op {
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
			continue // the store reports the error
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

type restoreHistoryKey struct{}

// WithRestoreHistory returns a context for changes that restore texts from the history h.
func WithRestoreHistory(ctx context.Context, h oxbow.Historian) context.Context {
	return context.WithValue(ctx, restoreHistoryKey{}, h)
}

// restoredText returns the newest version of an entry with the text that a change restores. If no
// version has the text, it returns an entry whose author is an agent. It returns nil if the context does not come from
// [WithRestoreHistory].
func restoredText(ctx context.Context, name, content string) *oxbow.Entry {
	h, ok := ctx.Value(restoreHistoryKey{}).(oxbow.Historian)
	if !ok {
		return nil
	}
	for v, err := range h.Versions(ctx, name) {
		if err != nil {
			break
		}
		hasText := v.Verb != oxbow.VerbRemove && !v.Erased
		if hasText && v.Entry.Content == content {
			v.Entry.Source = v.Source
			return &v.Entry
		}
	}
	return &oxbow.Entry{Source: oxbow.Source{Actor: oxbow.Agent}}
}

// isUnapprovedImport reports whether the entry was imported and no person approved it.
func isUnapprovedImport(e *oxbow.Entry) bool {
	isImport := e.Source.Actor == oxbow.Imported || slices.Contains(e.Labels, unvouchedImportLabel)
	return isImport && !slices.Contains(e.Labels, ApprovedByPersonLabel)
}

// vouchingKeys are the keys of labels that let an entry be shown without being asked for. An import
// cannot set them, because the file's author is unknown.
var vouchingKeys = append([]string{oxbow.LabelVerified, oxbow.LabelApproved}, protectedKeys...)

// updateVouchLabels returns the given labels of a changed entry with corrected labels about approval:
//
//   - A label approved is kept only if the old entry has the label, the text stays the same, and the change is not
//     an import.
//   - If the text stays the same and a person or the team vouches for it, the label approved is added.
//   - An import cannot add labels that vouch for an entry. If an import changes the text, or any part of an entry that
//     a person approved, the entry gets the label of an unapproved import. Until a person approves an entry with this
//     label, the entry keeps the label.
//
// It overwrites the memory of labels.
func (s *stamper) updateVouchLabels(labels []oxbow.Label, content string, old oxbow.Entry) []oxbow.Label {
	isSame := old.Name != "" && content == old.Content
	isImport := s.source.Actor == oxbow.Imported
	labels = slices.DeleteFunc(labels, func(l oxbow.Label) bool {
		isNew := !slices.Contains(old.Labels, l)
		return (l.Key == oxbow.LabelApproved && (isNew || !isSame || isImport)) ||
			(isImport && isNew && slices.Contains(vouchingKeys, l.Key))
	})
	isHeld := isUnapprovedImport(&old)
	if isImport {
		isHeld = !isSame || slices.Contains(old.Labels, ApprovedByPersonLabel)
	}
	switch {
	case isHeld:
		labels = append(labels, unvouchedImportLabel)
	case isSame && old.MayShow(oxbow.AtStart) && (old.TextBy() == oxbow.Person || old.TextBy() == oxbow.Team):
		labels = append(labels, ApprovedByPersonLabel)
	}
	return labels
}

// citesFile reports whether an entry refers to one of the files, in a label or in its text. Only the
// last elements of the paths are compared.
func citesFile(content string, labels []oxbow.Label, files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool {
		base := path.Base(strings.ReplaceAll(file, `\`, "/"))
		isLabelled := slices.ContainsFunc(labels, func(l oxbow.Label) bool {
			return l.Key == oxbow.LabelFile && path.Base(strings.ReplaceAll(l.Value, `\`, "/")) == base
		})
		return base != "." && (isLabelled || strings.Contains(content, base))
	})
}

// checkProtected returns an error if the labels include a protected label, and if the text repeats
// foreign text or the turn has read foreign text. For a change without text, such as pinning a
// note, only the turn's reads count.
func (s *stamper) checkProtected(lists ...[]oxbow.Label) error {
	read := slices.Concat(s.repeats.foreignSources, s.repeats.unvouchedSources, s.unknownCalls, s.foreignCalls)
	if len(read) == 0 {
		return nil
	}
	for _, l := range slices.Concat(lists...) {
		isProtected := slices.Contains(protectedKeys, l.Key) && l.Value == "true"
		if isProtected {
			return verb.Advise(
				verb.InvalidValue(
					"labels",
					l.String(),
					"is for what no foreign text had a part in, and this turn has read "+
						read[0],
				),
				"write a new note without it, and ask the person, whose next prompt ends this",
			)
		}
	}
	return nil
}
