// This file adds labels to entries when they are written. The labels say that the text repeats other people's text, or
// that it reads like instructions.

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

// protectedLabelKeys are the keys of labels that put an entry into every prompt. In a turn in which the agent has read
// text by others, such an entry must not be written or changed.
var protectedLabelKeys = []string{profile.LabelPinned, profile.LabelProcess}

// unvouchedReasonNoHooks is a value of the label with the key "unvouched". An entry gets this label if its text was
// written by an agent without hooks. Without hooks, oxbow does not know which texts the agent has read.
const unvouchedReasonNoHooks = "no-hooks"

// addOriginLabels returns the changes in ops with added labels that record where the text of each change comes from.
// Text that a person vouches for is trusted. Foreign text is text by others. The author of the changes decides which
// labels are added:
//
//   - If a person made the changes at a terminal or on a page, addOriginLabels adds only labels that record who vouches
//     for a text. If a text repeats foreign text, the repeated text counts as the person's own text from then on.
//   - If a person made the changes in another way, a change is labeled only if its text repeats foreign text. It then
//     gets the labels of the next rule.
//   - If another author made the changes, they get labels for the foreign texts that they repeat ([findRepeats]), for
//     the calls since the last prompt whose results are not known, and for the text's origin. They also get labels
//     which say in what way the text looks like instructions to a model. If the changed entry already has a label
//     taint, which warns about text by others, the entry keeps this label.
//
// The result fullyLabelled contains the indexes of the changes in the result out that need no further examination.
//
// Some entries are part of every context: entries that are pinned, and entries that all processes share. A change of
// such an entry is refused if its text repeats foreign text, or if the session's model has read foreign text since the
// last prompt. The error matches [oxbow.ErrInvalid].
func addOriginLabels(
	ctx context.Context,
	store oxbow.Store,
	ops []oxbow.Op,
	k verb.ProvenanceData,
) (out []oxbow.Op, fullyLabelled map[int]bool, err error) {
	src, _ := oxbow.SourceFrom(ctx)
	if src.Actor == oxbow.Person {
		ops = labelPersonChanges(ctx, store, ops)
	}
	if k.IsCertainlyPerson(src) {
		recordPersonTexts(ctx, store, ops, k)
		return ops, nil, nil
	}
	s := originLabeller{
		stagedEntries:        newEntriesAfterChanges(len(ops)),
		fullyLabelledChanges: make(map[int]bool, len(ops)),
		changeSource:         src,
		conversationTexts:    screen.ConversationTextsFrom(ctx),
		textsToExamine:       make([]entryTextToExamine, 0, len(ops)),
	}
	if src.Actor != oxbow.Person {
		s.originFinder = newOriginFinder(ctx, k.Memory)
		s.addSessionReads(ctx, k)
	}
	// Nobody vouches for the texts from an import or an agent without hooks, even if a text repeats nothing.
	repeats := findRepeats(ctx, store, ops, k, s.isAgentWithoutHooks || src.Actor == oxbow.Imported)
	for i, op := range ops {
		s.foreignRepeats = repeats[i]
		if src.Actor == oxbow.Person && !s.foreignRepeats.hasRepeats() {
			s.stagedEntries.applyOpToEntries(op)
			out = append(out, op)
			continue
		}
		if _, ok := op.(oxbow.Alias); ok {
			// An Alias op keeps the labels that the entry has in s.stagedEntries, so the labels of all earlier ops must
			// be added first.
			s.labelFindingsInTexts(out)
		}
		s.changeIndex = len(out)
		stamped, err := s.addOriginLabelsToOp(ctx, store, op)
		if err != nil {
			return nil, nil, err
		}
		for _, op := range stamped {
			s.stagedEntries.applyOpToEntries(op)
		}
		out = append(out, stamped...)
	}
	s.labelFindingsInTexts(out)
	tainted := verb.ContextTaintedEntries(ctx)
	for _, op := range out {
		e, _ := s.stagedEntries.findByName(op.Target())
		tainted.Add(e)
	}
	recordFingerprints(out, k)
	return out, s.fullyLabelledChanges, nil
}

// addSessionReads records in s what the agent has read in the caller's session, so that s can find out where a text of
// the agent comes from. It records these facts:
//   - the calls that returned text by others to the model since the last prompt by a person
//   - the texts that hooks showed to the model
//   - whether the agent works without hooks
//   - the last command that tested or committed the agent's work
//
// If the context contains its own list of calls that returned text by others (see [verb.ContextTaints]),
// addSessionReads records only this list.
func (s *originLabeller) addSessionReads(ctx context.Context, provenanceData verb.ProvenanceData) {
	caller, ok := verb.CallerFromContext(ctx)
	if !ok {
		caller = provenanceData.DefaultCaller
	}
	known, given := verb.ContextTaints(ctx)
	s.callsWithUnknownText = known
	if given {
		return
	}
	var x session.Exposure
	if caller != (session.Caller{}) && provenanceData.TextsReadBySession != nil {
		x = provenanceData.TextsReadBySession(ctx, caller)
	}
	s.callsWithUnknownText = x.CallsWithoutFingerprints
	s.callsWithForeignText = x.ForeignTextCalls
	s.isAgentWithoutHooks = s.originFinder.isAgentWriter && !x.IsReportedByHooks
	s.testOrCommitCommand, s.filesBeforeTestOrCommit = x.LastTestOrCommit, x.FilesBeforeTestOrCommit
	s.originFinder.addTextsShownByHooks(x.ShownTexts)
}

// addOriginLabelsToOp adds labels for the origin of the text to an op. It returns the op with these labels. If
// necessary, the list that it returns also contains ops that change the labels of the entry afterwards, for example
// because a new alias repeats text by others. If the entry cannot be read, the op is returned unchanged, because the
// store will report the error. If the caller must not change the entry, addOriginLabelsToOp returns an error.
func (s *originLabeller) addOriginLabelsToOp(
	ctx context.Context,
	store oxbow.Store,
	op oxbow.Op,
) (_ []oxbow.Op, err error) {
	name := op.Target()
	old, found := s.stagedEntries.findByName(name)
	if _, adds := op.(oxbow.Add); !found && !adds {
		old, err = store.Get(ctx, name)
		if err != nil {
			// Leave the op unchanged if the entry cannot be read. The store will report the error when it applies the
			// op.
			return []oxbow.Op{op}, nil
		}
		s.stagedEntries.setEntry(name, old)
	}
	switch o := op.(type) {
	case oxbow.Add:
		o.Labels, err = s.computeLabels(o.Name, o.Content, o.Aliases, o.Labels, oxbow.Entry{})
		op = o
	case oxbow.Update:
		o.Labels, err = s.computeLabels(o.Name, o.Content, o.Aliases, o.Labels, old)
		op = o
	case oxbow.Relabel:
		o.Labels, err = s.computeLabels(old.Name, old.Content, old.Aliases, o.Labels, old)
		op = o
	case oxbow.Alias:
		err = s.checkProtectedLabels(old.Labels)
		if err == nil {
			ops := append([]oxbow.Op{op}, s.labelAliasedEntry(o, old)...)
			kept := s.updateApprovalLabels(slices.Clone(old.Labels), old.Content, old)
			if len(ops) == 1 && len(kept) > len(old.Labels) {
				ops = append(ops, oxbow.Relabel{Name: o.Name, Labels: oxbow.SortLabels(kept)})
			}
			return ops, nil
		}
	default:
		err = s.checkProtectedLabels(old.Labels)
	}
	return []oxbow.Op{op}, err
}

// labelAliasedEntry returns an op that adds warning labels to the entry to which the op o adds aliases. The argument
// oldEntry is the entry before o. Somebody else may have chosen the aliases, by which the entry is found, if the
// session may have read text by others, or if the aliases repeat such text. Otherwise no labels are needed, and the
// result is nil. It is also nil if o adds no new alias.
func (s *originLabeller) labelAliasedEntry(o oxbow.Alias, oldEntry oxbow.Entry) []oxbow.Op {
	add := slices.DeleteFunc(
		slices.Clone(o.Aliases),
		func(a string) bool { return slices.Contains(oldEntry.Aliases, a) },
	)
	isTainted := len(s.callsWithUnknownText) > 0 || s.foreignRepeats.hasRepeats()
	if !isTainted || len(add) == 0 {
		return nil
	}
	bare := originLabeller{
		callsWithUnknownText: s.callsWithUnknownText,
		foreignRepeats:       s.foreignRepeats,
		stagedEntries:        newEntriesAfterChanges(1),
	}
	// Ignore the error. computeLabels returns an error only for protected labels, and no labels are passed here.
	ls, _ := bare.computeLabels("", "", add, nil, oxbow.Entry{})
	bare.textsToExamine[0].knownLabels = append(ls, oldEntry.Labels...)
	out := []oxbow.Op{oxbow.Relabel{Name: o.Name}}
	bare.labelFindingsInTexts(out)
	return out
}

// originLabeller adds labels to changes, mostly to changes that a person did not make.
type originLabeller struct {
	// calls since the last prompt whose returned text is not known, so that repetitions cannot be found
	callsWithUnknownText []string
	callsWithForeignText []string // calls of the turn that returned text by others
	// the writer is an agent whose hooks do not report the texts that it has read
	isAgentWithoutHooks     bool
	foreignRepeats          repeatedForeignTexts // text by others that the change which is being labelled repeats
	testOrCommitCommand     string
	filesBeforeTestOrCommit []string // files that were written before the test or commit named in testOrCommitCommand
	changeSource            oxbow.Source
	// conversations in which oxbow itself wrote the speakers' roles before each text
	conversationTexts *screen.ConversationTexts
	originFinder      originFinder
	stagedEntries     *entriesAfterChanges // entries after the changes that were already processed

	changeIndex    int                  // index of the change that is being labelled
	textsToExamine []entryTextToExamine // texts that were not examined yet
	// Indexes of the changes that have all their labels, including the labels for personal data. The map is nil if only
	// an entry's aliases are examined. In this case, no labels for personal data are added.
	fullyLabelledChanges map[int]bool
}

// entryTextToExamine is the text of an entry that has not been examined yet.
type entryTextToExamine struct {
	changeIndex             int
	textParts               []string
	programLabelValues      []string      // values of labels that programs added
	knownLabels             []oxbow.Label // labels of the entry that are already known, before the text is examined
	instructionRuleLabelKey string        // key of the labels that name the matched rules for instruction-like texts
	findings                screen.Findings
}

// textsPerGoroutine is the number of texts that a goroutine examines at a time.
const textsPerGoroutine = 16

// labelFindingsInTexts examines the texts in s.textsToExamine, and adds a label for each finding to the op in ops that
// writes the text. Then it empties s.textsToExamine. The texts are examined in parallel, because this takes most of the
// time.
func (s *originLabeller) labelFindingsInTexts(ops []oxbow.Op) {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for group := range slices.Chunk(s.textsToExamine, textsPerGoroutine) {
		all.Go(func() error {
			for i := range group {
				group[i].findings = screen.ExamineTexts(group[i].textParts, group[i].programLabelValues)
			}
			return nil
		})
	}
	_ = all.Wait() // ignore the result, because the functions passed to Go return no errors
	for _, l := range s.textsToExamine {
		for _, r := range l.findings.InstructionRuleNames {
			l.knownLabels = append(l.knownLabels, oxbow.Label{Key: l.instructionRuleLabelKey, Value: r})
		}
		var labels []oxbow.Label
		if s.fullyLabelledChanges != nil {
			labels = withPersonalLabels(l.knownLabels, l.findings.PersonalDataKinds)
			s.fullyLabelledChanges[l.changeIndex] = true
		} else {
			labels = oxbow.SortLabels(l.knownLabels)
		}
		op := withLabels(ops[l.changeIndex], labels)
		ops[l.changeIndex] = op
		s.stagedEntries.applyOpToEntries(op)
	}
	s.textsToExamine = s.textsToExamine[:0]
}

// invalidCallNameReplacement is the label value that replaces the name of a tool call if the name is not allowed as a
// label value.
const invalidCallNameReplacement = "call"

// computeLabels returns the labels that an entry gets in a change. It begins with givenLabels, the labels that the
// caller wants to set. It drops a given label if the caller may not set it. For example, an agent may not set a label
// about the origin of the text. computeLabels then adds the labels taint and unvouched of oldEntry, which warn about
// text by other authors. It also adds labels for tool calls and for the origin of the text.
//
// computeLabels queues the text for [originLabeller.labelFindingsInTexts], which later adds labels for the rules that
// the text matches. Some labels put an entry into every prompt. computeLabels returns an error if the entry has or gets
// such a label, and the change may contain text by other authors.
func (s *originLabeller) computeLabels(
	name, content string,
	aliases []string,
	givenLabels []oxbow.Label,
	oldEntry oxbow.Entry,
) ([]oxbow.Label, error) {
	const more = 8 // capacity for the labels that are added below
	out := append(make([]oxbow.Label, 0, len(givenLabels)+more), givenLabels...)
	out = slices.DeleteFunc(out, func(l oxbow.Label) bool {
		isGiven := l.Key == oxbow.LabelSuspect || l.Key == oxbow.LabelQuarantine || l.Key == oxbow.LabelTextBy
		return isGiven || !s.originFinder.maySetLabel(l, oldEntry.Labels) ||
			(l.Key == oxbow.LabelVerified && s.originFinder.isAgentWriter && content != oldEntry.Content)
	})
	out = s.updateApprovalLabels(out, content, oldEntry)
	if err := s.checkProtectedLabels(out, oldEntry.Labels); err != nil {
		return nil, err
	}
	for _, l := range oldEntry.Labels {
		if l.Key == oxbow.LabelTaint || l.Key == oxbow.LabelUnvouched {
			out = append(out, l)
		}
	}
	add := func(key string, values []string) {
		for _, v := range values {
			l := oxbow.Label{Key: key, Value: v}
			if l.Check() != nil {
				l.Value = invalidCallNameReplacement // The label also works without the call name.
			}
			out = append(out, l)
		}
	}
	texts := append(make([]string, 0, 2+len(aliases)+len(out)), name, s.conversationTexts.TextToExamine(content))
	texts = append(texts, aliases...)
	programValues := make([]string, 0, more)
	for _, l := range out {
		// Do not examine the value of the label unvouchedImportLabel, because oxbow itself wrote the value. The value
		// and the text together could look like an instruction.
		isOwn := l == unvouchedImportLabel
		// Leave out identifiers and times, because they look like words that were split to hide them.
		if isOwn || isIdentifierOrTime(l.Value) {
			programValues = append(programValues, l.Value)
			continue
		}
		texts = append(texts, l.Value)
		texts = append(texts, labelKeyIfMultiWord(l)...)
	}
	writers := len(out) // index of the first label about the text's origin in the slice named out
	add(oxbow.LabelTaint, s.callsWithUnknownText)
	add(oxbow.LabelTaint, s.foreignRepeats.foreignTextSources)
	add(oxbow.LabelUnvouched, s.foreignRepeats.unvouchedSources)
	if s.isAgentWithoutHooks && content != oldEntry.Content {
		add(oxbow.LabelUnvouched, []string{unvouchedReasonNoHooks})
	}
	if s.foreignRepeats.repeatsImportedEntry {
		add(oxbow.LabelOrigin, []string{string(oxbow.TrustImported)})
	}
	out = append(out, s.originFinder.originLabels(name, content, oldEntry)...)
	mayProve := s.testOrCommitCommand != "" && content != oldEntry.Content
	if mayProve && citesFile(content, out, s.filesBeforeTestOrCommit) {
		add(oxbow.LabelVerified, []string{s.testOrCommitCommand})
	}
	shaped := oxbow.LabelSuspect
	if slices.ContainsFunc(out, func(l oxbow.Label) bool { return l.Key == oxbow.LabelTaint }) {
		shaped = oxbow.LabelQuarantine
	}
	for _, l := range out[writers:] {
		programValues = append(programValues, l.Value)
	}
	s.textsToExamine = append(
		s.textsToExamine,
		entryTextToExamine{
			changeIndex:             s.changeIndex,
			textParts:               texts,
			programLabelValues:      programValues,
			knownLabels:             out,
			instructionRuleLabelKey: shaped,
		},
	)
	return out, nil
}

// identifierDigits is the number of hexadecimal digits in a UUID, and in the digests that an import writes into
// labels.
const identifierDigits = 32

// isIdentifierOrTime reports whether the value of a label is a digest, a UUID, or a time. Such a value contains no
// words that a model could understand as an instruction.
func isIdentifierOrTime(value string) bool {
	if strings.Trim(value, "0123456789-:.+TZ ") == "" {
		return true
	}
	hyphens := strings.Count(value, "-")
	isLong := len(value)-hyphens == identifierDigits && (hyphens == 0 || hyphens == 4)
	return isLong && strings.Trim(value, "0123456789abcdef-") == ""
}

// labelPersonChanges returns the changes of a person with labels that record who vouches for each text. If the person
// writes a new text, the person vouches for it. The labels of the old text no longer apply, so labelPersonChanges
// removes the labels unvouched, origin and text-by. If the person only changes labels or aliases, or restores an old
// text, the person does not vouch for the text. In this case, a label names the text's author.
func labelPersonChanges(ctx context.Context, store oxbow.Store, ops []oxbow.Op) []oxbow.Op {
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
			if old := findRestoredVersion(ctx, o.Name, o.Content); old != nil {
				out[len(out)-1] = withLabels(op, oxbow.KeepTextBy(o.Labels, old, oxbow.Person))
			}
			continue
		default:
			continue
		}
		old, err := store.Get(ctx, op.Target())
		if err != nil {
			continue // the entry cannot be read, and the store will report the error
		}
		if _, isAlias := op.(oxbow.Alias); isAlias {
			if kept := oxbow.KeepTextBy(old.Labels, &old, oxbow.Person); !slices.Equal(kept, old.Labels) {
				out = append(out, oxbow.Relabel{Name: op.Target(), Labels: kept})
			}
			continue
		}
		if u, isUpdate := op.(oxbow.Update); isUpdate && u.Content != old.Content {
			restored := findRestoredVersion(ctx, u.Name, u.Content)
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

type restoreHistoryContextKey struct{}

// WithRestoreHistory returns a context for changes that restore old texts. The history h is used to find out who wrote
// a restored text.
func WithRestoreHistory(ctx context.Context, h oxbow.Historian) context.Context {
	return context.WithValue(ctx, restoreHistoryContextKey{}, h)
}

// findRestoredVersion returns the newest version of an entry that has the content. If no version has it, the result
// is an entry whose author is an agent. If the context was not made by [WithRestoreHistory], the result is nil.
func findRestoredVersion(ctx context.Context, name, content string) *oxbow.Entry {
	h, ok := ctx.Value(restoreHistoryContextKey{}).(oxbow.Historian)
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

// isUnapprovedImport reports whether the entry was imported and no person has approved it.
func isUnapprovedImport(e *oxbow.Entry) bool {
	isImport := e.Source.Actor == oxbow.Imported || slices.Contains(e.Labels, unvouchedImportLabel)
	return isImport && !slices.Contains(e.Labels, ApprovedByPersonLabel)
}

// unrequestedDisplayLabelKeys are the keys of labels with which an entry may be shown although nobody asked for it. An
// import cannot set these labels, because the author of the file is unknown.
var unrequestedDisplayLabelKeys = append([]string{oxbow.LabelVerified, oxbow.LabelApproved}, protectedLabelKeys...)

// updateApprovalLabels corrects the labels about approval after an entry was changed. The argument content is the
// entry's new text. updateApprovalLabels returns all labels of the entry. It may overwrite the elements of the list
// labels.
//
// It first removes labels:
//   - It removes the label approved if the change is an import, if the text has changed, or if the old entry did not
//     have this label.
//   - If the change is an import, it removes all new labels with which an entry may be shown although nobody asked for
//     it (see unrequestedDisplayLabelKeys).
//
// Then it adds the label unvouchedImportLabel in these cases, so that the entry is held back:
//   - The change is an import that creates the entry or changes its text.
//   - The change is an import, and a person has approved the old entry.
//   - The change is not an import, but the old entry was imported and no person has approved it.
//
// If none of these cases applies, it adds the label approved if the text stays the same, a person or the team wrote it,
// and the old entry may be shown at the start of a session.
func (s *originLabeller) updateApprovalLabels(
	labels []oxbow.Label,
	content string,
	oldEntry oxbow.Entry,
) []oxbow.Label {
	isSame := oldEntry.Name != "" && content == oldEntry.Content
	isImport := s.changeSource.Actor == oxbow.Imported
	labels = slices.DeleteFunc(labels, func(l oxbow.Label) bool {
		isNew := !slices.Contains(oldEntry.Labels, l)
		return (l.Key == oxbow.LabelApproved && (isNew || !isSame || isImport)) ||
			(isImport && isNew && slices.Contains(unrequestedDisplayLabelKeys, l.Key))
	})
	isHeld := isUnapprovedImport(&oldEntry)
	if isImport {
		isHeld = !isSame || slices.Contains(oldEntry.Labels, ApprovedByPersonLabel)
	}
	switch {
	case isHeld:
		labels = append(labels, unvouchedImportLabel)
	case isSame && oldEntry.MayShow(oxbow.AtStart) && (oldEntry.TextBy() == oxbow.Person ||
		oldEntry.TextBy() == oxbow.Team):
		labels = append(labels, ApprovedByPersonLabel)
	}
	return labels
}

// citesFile reports whether an entry's label or text refers to any of the files. Only the last elements of the paths
// are compared.
func citesFile(content string, labels []oxbow.Label, files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool {
		base := path.Base(strings.ReplaceAll(file, `\`, "/"))
		isLabelled := slices.ContainsFunc(labels, func(l oxbow.Label) bool {
			return l.Key == oxbow.LabelFile && path.Base(strings.ReplaceAll(l.Value, `\`, "/")) == base
		})
		return base != "." && (isLabelled || strings.Contains(content, base))
	})
}

// checkProtectedLabels returns an error if a label in labelLists puts the entry into every prompt, and the change may
// contain text by others. This is so if the change repeats such text, or if the agent has read such text in this turn.
// Therefore a change without text, such as pinning a note, may be refused as well.
func (s *originLabeller) checkProtectedLabels(labelLists ...[]oxbow.Label) error {
	read := slices.Concat(
		s.foreignRepeats.foreignTextSources,
		s.foreignRepeats.unvouchedSources,
		s.callsWithUnknownText,
		s.callsWithForeignText,
	)
	if len(read) == 0 {
		return nil
	}
	for _, l := range slices.Concat(labelLists...) {
		isProtected := slices.Contains(protectedLabelKeys, l.Key) && l.Value == "true"
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
