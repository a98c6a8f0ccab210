// This file implements the verbs that change one entry: remember, forget and restore.

package verb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/history/lineage"
)

// Remember adds an entry, or updates the entry with the given name. If no name is given, the name is derived from the
// content. If the caller is an agent, secrets in the arguments are replaced first, and a note in the result says so. If
// the memory does not exist, it is created.
func Remember(ctx context.Context, w *Workspace, in RememberIn) (RememberOut, error) {
	if err := in.resolveNameOrContent(ctx, w); err != nil {
		return RememberOut{}, err
	}
	if err := in.checkArguments(); err != nil {
		return RememberOut{}, err
	}
	ctx = withOriginTurnNames(w.WithSource(ctx), in.FromTurns)
	secrets := w.Secrets.redactArguments(
		ctx,
		[]*string{&in.Name, &in.Content, &in.Project},
		[]*[]string{&in.Aliases, &in.Tags, &in.RelatedFiles},
	)
	call := in
	// Leave IfVersion out of the comparison with earlier calls. A client that repeats its call may name the version
	// that the first call created.
	call.IfVersion = nil
	ctx, err := withOpID(ctx, in.OpID, "remember", call)
	if err != nil {
		return RememberOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, Create)
	if err != nil {
		return RememberOut{}, err
	}
	e := &rememberCall{
		arguments:   in,
		name:        in.Name,
		seenEntries: seenEntriesWithoutHistory(ctx, m),
		addFileHashes: func(ls []oxbow.Label) []oxbow.Label {
			return w.withCurrentFileHashes(ctx, ls)
		},
	}
	if e.name == "" {
		e.derivedName = text.DeriveName(in.Content)
		e.name = e.derivedName
	}
	if err := e.seenEntries.RunWrite(func() (oxbow.Entry, error) {
		if err := e.makeChange(ctx, m); err != nil {
			return oxbow.Entry{}, err
		}
		e.recordWrite()
		return e.seenEntries.writtenEntry(e.newEntry, in.Content), nil
	}); err != nil {
		return RememberOut{}, err
	}
	out := RememberOut{EntryOutcome: e.outcome, Entry: outlineEntry(ctx, e.newEntry), StoredEntry: e.newEntry}
	if e.repeatedCallNote != "" {
		out.Notes = append(
			out.Notes,
			Notef("%s %q was used before: %s", ParamRef("op_id"), in.OpID, e.repeatedCallNote),
		)
	}
	if e.outcome == outcomeUnchanged {
		out.Notes = append(out.Notes, PlainNote("the memory says this already: nothing was changed"))
	}
	out.Notes = append(append(out.Notes, e.derivedNameNotes()...), secrets...)
	if e.outcome == outcomeAdded {
		notes, err := aliasConflictNotes(ctx, m, e.newEntry, e.madeChange)
		if err != nil {
			return RememberOut{}, err
		}
		out.Notes = append(out.Notes, notes...)
	}
	return out, nil
}

// withOpID returns a context in which the change of a call has the operation ID that is passed in the argument id. If
// id is empty, withOpID returns ctx. The same id may be used with different client tokens without a conflict. If a
// change with the same token and id was already made by another verb or with other arguments, the change of this call
// fails with [oxbow.ErrOpIDUsed]. If id has more than 64 bytes, withOpID returns an error.
func withOpID(ctx context.Context, id, verb string, in any) (context.Context, error) {
	if id == "" {
		return ctx, nil
	}
	if len(id) > 64 {
		return ctx, InvalidValue("op_id", id, fmt.Sprintf("has %d bytes; the most is 64", len(id)))
	}
	src, _ := oxbow.SourceFrom(ctx)
	print, err := json.Marshal([]any{verb, in})
	return oxbow.WithOpID(ctx, oxbow.CallOpID(MakeSource(src).TokenName()+":"+id, string(print))), err
}

// RememberNewEntry adds a new entry. If an entry already has the name, the error matches [oxbow.ErrExists].
func RememberNewEntry(ctx context.Context, w *Workspace, in RememberIn) (RememberOut, error) {
	in.MustBeNew = true
	return Remember(ctx, w, in)
}

// resolveNameOrContent moves the text in in.NameOrContent to in.Name or in.Content. It does nothing if in.NameOrContent
// is empty. A call keeps the content (in.keepsContent) if it only changes labels or aliases. The result depends on an
// entry that has the text as its name:
//
//   - If an entry has this name and its content is also equal to the text, the text is moved to Content.
//   - If an entry has this name and the call keeps the content, the text is moved to Name.
//   - If an entry has this name and the call does not keep the content, resolveNameOrContent returns an error, because
//     the user may have forgotten the content.
//   - If no entry has this name and the text contains a space, a tab or a line break, the text is moved to Content.
//   - If no entry has this name and the text is a single word, it is moved to Name if the call keeps the content.
//     Otherwise resolveNameOrContent returns an error.
func (in *RememberIn) resolveNameOrContent(ctx context.Context, w *Workspace) error {
	word := in.NameOrContent
	if word == "" {
		return nil
	}
	in.NameOrContent = ""
	// Ignore the error: the memory does not exist yet, or the write will report the cause.
	if m, err := w.Open(ctx, ReadWithoutTeamFiles); err == nil {
		switch e, err := m.Get(ctx, word); {
		case err != nil:
		case e.Content == word:
			// An entry was stored with this word as its name and content. The person repeats a call that was
			// interrupted after the entry was stored.
			in.Content = word
			return nil
		case in.keepsContent():
			in.Name = word
			return nil
		default:
			name := text.QuoteShellOperand(e.Name)
			return Advise(InvalidValue("content", "", fmt.Sprintf("is missing: %q is an entry already", e.Name)),
				fmt.Sprintf(
					"give its new text: oxbow remember %s TEXT; or a text for an entry of its own: oxbow remember "+
						"--content %s",
					name,
					text.ShellQuote(word),
				))
		}
	}
	switch {
	case strings.ContainsAny(strings.TrimSpace(word), " \t\n"):
		in.Content = word
	case in.keepsContent():
		in.Name = word
	default:
		name := text.QuoteShellOperand(word)
		return Advise(InvalidValue("content", "", "is missing: one word alone is read as a name"),
			fmt.Sprintf(
				"give the text, too: oxbow remember %s TEXT; or, if it is the text: oxbow remember --content %s",
				name,
				text.ShellQuote(word),
			))
	}
	return nil
}

// checkArguments returns an error if the content is empty or invalid, if the version is invalid, or if arguments
// contradict each other. It is called before the memory is opened and before a name is derived from the content.
func (in RememberIn) checkArguments() error {
	isEmpty := in.Content == "" && in.Name == ""
	isBlank := strings.TrimSpace(in.Content) == "" && !in.keepsContent()
	if isEmpty || isBlank {
		return InvalidValue("content", "", "is empty; say what to remember")
	}
	if err := checkVersionCondition(in.IfVersion); err != nil {
		return err
	}
	if in.IfVersion != nil && in.Name == "" {
		return InvalidValue(
			"if_version",
			strconv.FormatUint(*in.IfVersion, 10),
			"needs the name of the entry that is at this version",
		)
	}
	given := in.changedParams()
	for _, c := range in.PartsToClear {
		if slices.Contains(given, c) {
			return InvalidValue("clear", c, "is given too; either set it or clear it")
		}
	}
	if in.keepsContent() {
		return nil
	}
	return oxbow.CheckContent(in.Content)
}

// keepsContent reports whether the call only changes labels or aliases and gives no content.
func (in RememberIn) keepsContent() bool {
	return in.Content == "" && len(in.changedParams())+len(in.PartsToClear) > 0
}

// changedParams returns the names of the call's parameters that change labels or aliases.
func (in RememberIn) changedParams() (names []string) {
	for _, p := range labelParams {
		if p.newValues(in) != nil {
			names = append(names, p.name)
		}
	}
	if in.Aliases != nil {
		names = append(names, "aliases")
	}
	return names
}

// rememberCall is the state of one remember call: its arguments, the present entry with the name, and the change to
// make.
type rememberCall struct {
	arguments RememberIn
	// The field derivedName is the name that was derived from the content. If the caller gave a name, derivedName is
	// "". The field name is the name of the entry. If it was derived from the content, it is derivedName, or
	// derivedName with a number.
	name, derivedName string
	takenDerivedNames int // number of names that were made from derivedName but belong to other entries

	oldEntry    oxbow.Entry
	isNameFound bool
	attemptedOp oxbow.Op // the op that was sent last (nil if nothing had to be changed)

	// The following fields are the result of the call. setResult sets them.
	outcome    string
	madeChange oxbow.Change
	newEntry   oxbow.Entry // the entry after this call
	// note for the caller if an earlier call with the same op ID made the change, otherwise ""
	repeatedCallNote string

	// Entries that the session has seen and may therefore overwrite. It is nil if the memory has a history, because
	// then overwritten texts can be restored.
	seenEntries *SeenEntries
	// adds labels with the hashes of the files to which the entry refers
	addFileHashes     func([]oxbow.Label) []oxbow.Label
	hasFileHashLabels bool // addFileHashes has added labels with hashes
}

// errNameTaken means that a name derived from the content belongs to another entry.
var errNameTaken = errors.New("the name is taken")

// The possible outcomes of a call of the verb "remember".
const (
	outcomeAdded     = "added"
	outcomeUpdated   = "updated"
	outcomeUnchanged = "unchanged"
)

// makeChange makes the change, and sets the fields for the result. If an earlier call with the same op ID has made the
// change, it makes no change and reports the earlier one, even if the entry has changed since.
func (e *rememberCall) makeChange(ctx context.Context, m *oxbow.Memory) error {
	if done, err := e.isRepeatOfEarlierCall(ctx, m); done || err != nil {
		return err
	}
	change := func(old oxbow.Entry, found bool) (op oxbow.Op, err error) {
		e.attemptedOp, err = e.makeOp(old, found)
		return e.attemptedOp, err
	}
	made, err := m.CommitEdit(ctx, e.name, change)
	for e.shouldRetry(err) {
		made, err = m.CommitEdit(ctx, e.name, change)
	}
	if nothing := err == nil && e.attemptedOp == nil; nothing || isCausedByEarlierChange(err) {
		// Another call with the same operation ID may have made the same change at the same time.
		if done, again := e.isRepeatOfEarlierCall(ctx, m); done || again != nil {
			return again
		}
	}
	if err == nil {
		e.setResult(made)
	}
	return err
}

// isRepeatOfEarlierCall reports whether an earlier call with the same op ID has already made the change. If so, this
// call gets the same result as the earlier call, with a note that says whether the entry has changed since.
func (e *rememberCall) isRepeatOfEarlierCall(ctx context.Context, m *oxbow.Memory) (bool, error) {
	if e.arguments.OpID == "" {
		return false, nil
	}
	first, err := findChangeOfEarlierCall(ctx, m, e.name)
	switch {
	case isCausedByEarlierChange(err):
		return false, nil
	case err != nil:
		return false, err
	}
	e.attemptedOp, e.isNameFound = nil, false
	if len(first.Versions) > 0 {
		e.name = first.Versions[len(first.Versions)-1].Entry.Name
	}
	e.setResult(first)
	e.repeatedCallNote = "this is what the first call did"
	switch now, err := m.GetNamed(ctx, e.name); {
	case errors.Is(err, oxbow.ErrNotFound):
		e.repeatedCallNote += "; the entry was forgotten since"
	case err == nil && now.Version != e.newEntry.Version:
		e.repeatedCallNote += "; the entry was changed since"
	}
	return true, nil
}

// isCausedByEarlierChange reports whether err means that another change came first: the name is now in use, the entry
// was removed, or it has another version.
func isCausedByEarlierChange(err error) bool {
	return errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrNotFound)
}

// findChangeOfEarlierCall returns the change that an earlier call with the op ID in ctx has made. Without such a
// change, the error matches [oxbow.ErrNotFound] or [oxbow.ErrConflict].
func findChangeOfEarlierCall(ctx context.Context, m *oxbow.Memory, name string) (oxbow.Change, error) {
	// No entry has this version, so the store cannot remove the entry. It returns a change only if it recognizes the
	// operation ID of an earlier call.
	return m.Commit(ctx, oxbow.Remove{Name: name, If: math.MaxUint64})
}

// setResult sets the result of the call from the change that was made. The change is empty if nothing had to be
// changed.
func (e *rememberCall) setResult(change oxbow.Change) {
	e.madeChange = change
	nothing := e.attemptedOp == nil && change.Seq == 0 && len(change.Versions) == 0
	written, ok := change.Entry()
	switch {
	case nothing:
		e.outcome, e.newEntry = outcomeUnchanged, e.oldEntry
		return
	case ok:
		e.newEntry = written
	// No op was sent, because an earlier call with the same operation ID wrote the entry. The log no longer contains
	// the entry's text.
	case e.attemptedOp == nil:
		e.newEntry = oxbow.Entry{ID: written.ID, Name: e.name, Kind: written.Kind, Version: change.Seq}
	default: // The store does not return the entry that it has written, so compute the entry.
		e.newEntry = e.attemptedOp.ApplyTo(e.oldEntry)
		e.newEntry.ID, e.newEntry.Version = e.oldEntry.ID, change.Seq
	}
	e.outcome = outcomeAdded
	if e.didUpdate(change) {
		e.outcome = outcomeUpdated
	}
}

// didUpdate reports whether the change updated an entry instead of adding one. If the change does not list its
// versions, the answer depends on whether the entry existed before.
func (e *rememberCall) didUpdate(change oxbow.Change) bool {
	if len(change.Versions) == 0 {
		return e.isNameFound
	}
	return change.Versions[len(change.Versions)-1].Verb != oxbow.VerbAdd
}

// recordWrite records that this call wrote the entry's text, so that tools may later replace the text without reading
// it first. It records nothing if the call wrote nothing.
func (e *rememberCall) recordWrite() {
	switch {
	case e.attemptedOp == nil: // this call wrote nothing
	case e.isNameFound:
		e.seenEntries.RecordWrite(e.oldEntry, e.newEntry)
	default:
		e.seenEntries.RecordWrite(oxbow.Entry{}, e.newEntry)
	}
}

// shouldRetry reports whether the call should be tried again after it failed with the error err. Before it returns
// true, it changes e so that the next attempt may succeed. There are two cases:
//   - If err is errNameTaken, shouldRetry makes a new name from the name that was derived from the content and the next
//     number.
//   - If the store cannot store the labels with file hashes, shouldRetry omits these labels.
//
// In all other cases, shouldRetry returns false. It never changes a name that the caller passed.
func (e *rememberCall) shouldRetry(err error) bool {
	switch {
	case err == nil:
		return false
	case err == errNameTaken:
		e.takenDerivedNames++
		e.name = e.derivedName + " (" + strconv.Itoa(e.takenDerivedNames+1) + ")"
		return true
	case e.hasFileHashLabels && (errors.Is(err, oxbow.ErrUnsupported) || errors.Is(err, oxbow.ErrInvalid)):
		// The layout may be able to store only some labels. Try once more without file hashes.
		e.addFileHashes, e.hasFileHashLabels = withoutFileHashes, false
		return true
	}
	return false
}

// makeOp returns the op that stores the wanted entry. If the store has an entry with the name (found), old is this
// entry, and the op updates it. Otherwise the op adds an entry. makeOp returns nil if nothing has to be changed. It
// returns an error if the wanted entry is not allowed, for example because its name is taken, or because the call only
// changes labels of an entry that does not exist.
func (e *rememberCall) makeOp(old oxbow.Entry, found bool) (oxbow.Op, error) {
	e.oldEntry, e.isNameFound = old, found
	isNameMade := e.derivedName != ""
	isOther := isNameMade && old.Content != e.arguments.Content
	if found && isOther {
		// The name was derived from the new content, but the entry old already has this name. The caller does not know
		// old, so old must be kept.
		return nil, errNameTaken
	}
	ls, err := e.arguments.mergeLabels(old.Labels)
	if err != nil {
		return nil, err
	}
	if found {
		if e.arguments.MustBeNew && !isNameMade {
			return nil, &oxbow.NameError{Name: e.name, Err: oxbow.ErrExists}
		}
		return e.makeUpdate(ls)
	}
	if e.arguments.keepsContent() {
		return nil, Advise(
			fmt.Errorf("changing labels of %q: %w", e.name, oxbow.ErrNotFound),
			"there is no entry of that name: give its content, or another name",
		)
	}
	if e.arguments.IfVersion != nil {
		return nil, &oxbow.ConflictError{Name: e.name, Want: *e.arguments.IfVersion}
	}
	kind := oxbow.Note
	if e.arguments.Kind != "" {
		kind, err = oxbow.ParseKind(e.arguments.Kind)
		if err != nil {
			return nil, err
		}
	}
	return oxbow.Add{Name: e.name, Kind: kind, Content: e.arguments.Content, Aliases: e.arguments.Aliases,
		Labels: e.withFileHashes(ls), UniqueAliases: true}, nil
}

// makeUpdate returns the op that updates the old entry, or nil if nothing has to be changed. The list ls contains the
// labels that the entry gets, without the hashes of files. When the op is carried out, it fails if the entry has
// another version by then, so that it does not overwrite a change by another writer. makeUpdate returns an error if the
// call wants to change the kind of the entry, or to overwrite a text that the session has not seen.
func (e *rememberCall) makeUpdate(ls []oxbow.Label) (oxbow.Op, error) {
	in, old := e.arguments, e.oldEntry
	if in.Content == "" {
		in.Content = old.Content
	}
	if in.Kind != "" && in.Kind != old.Kind.String() {
		return nil, InvalidValue(
			"kind",
			in.Kind,
			fmt.Sprintf(
				"cannot be given to the entry %q, which is of kind %s; leave kind out, choose another name, or "+
					"forget it first",
				old.Name,
				old.Kind,
			),
		)
	}
	u := oxbow.Update{Name: old.Name, Content: in.Content, Aliases: old.Aliases, If: old.Version, UniqueAliases: true}
	if in.IfVersion != nil {
		u.If = *in.IfVersion
	}
	if in.Aliases != nil || slices.Contains(in.PartsToClear, "aliases") {
		u.Aliases = in.Aliases
	}
	u.Labels = e.withFileHashes(ls)
	if e.seenEntries != nil && in.IfVersion == nil {
		want, err := e.seenEntries.MergeUnseenChanges(
			old,
			oxbow.Entry{
				Content: u.Content,
				Aliases: append([]string{}, u.Aliases...),
				Labels:  append([]oxbow.Label{}, u.Labels...),
			},
		)
		if err != nil {
			return nil, err
		}
		u.Content = want.Content
		u.Aliases = want.Aliases
		u.Labels = want.Labels
	}
	if u.If == old.Version && isUpdateUnchanged(u, old) {
		return nil, nil
	}
	return u, nil
}

// isUpdateUnchanged reports whether an update sets only the content, aliases and labels that the entry already has.
func isUpdateUnchanged(u oxbow.Update, old oxbow.Entry) bool {
	if u.Content != old.Content {
		return false
	}
	return slices.Equal(u.Aliases, old.Aliases) && slices.Equal(u.Labels, old.Labels)
}

func (e *rememberCall) withFileHashes(ls []oxbow.Label) []oxbow.Label {
	out := e.addFileHashes(ls)
	e.hasFileHashLabels = len(out) != len(withoutFileHashes(out))
	return out
}

// derivedNameNotes returns a note that tells the name that was derived from the content, if the caller gave no name.
func (e *rememberCall) derivedNameNotes() []Note {
	switch {
	case e.derivedName == "":
		return nil
	case e.takenDerivedNames > 0:
		return []Note{
			Notef(
				"the name was made from the first line; as %q is another entry, this one is %q; to replace that one, "+
					"give its name",
				e.derivedName,
				e.name,
			),
		}
	case e.outcome != outcomeAdded:
		return nil
	}
	return []Note{Notef("the name %q was made from the first line of the content", e.name)}
}

// aliasConflictNotes returns notes about other entries that had the name of the new entry as an alias. They say that
// the name now belongs to the new entry. If the change lists its versions, the notes name the entries that lost the
// alias. Otherwise the notes name the entries that still have it.
func aliasConflictNotes(ctx context.Context, m *oxbow.Memory, e oxbow.Entry, change oxbow.Change) ([]Note, error) {
	if len(change.Versions) > 0 {
		return lostAliasNotes(change, e.Name), nil
	}
	var notes []Note
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: []string{e.Name}}}}
	for o, err := range m.Entries(ctx, f) {
		if err != nil {
			return nil, err
		}
		if o.ID != e.ID {
			notes = append(
				notes,
				Notef("%q is an alias of the entry %q too; from now on it means the new entry", e.Name, o.Name),
			)
		}
	}
	return notes, nil
}

// lostAliasNotes returns a note for each entry that lost an alias because the change c added an entry with the same
// name. The argument name is the name of the added entry.
func lostAliasNotes(c oxbow.Change, name string) (notes []Note) {
	for _, v := range c.Versions {
		if v.Verb == oxbow.VerbAlias && v.Entry.Name != name {
			notes = append(
				notes,
				Notef("%q was an alias of the entry %q; from now on it means the new entry alone", name, v.Entry.Name),
			)
		}
	}
	return notes
}

// mergeLabels returns the labels of the entry after the call. They are the labels that the call sets, and the old
// labels whose keys the call neither sets nor clears. mergeLabels returns an error if the confidence is not a number
// from 0 to 1.
func (in RememberIn) mergeLabels(old []oxbow.Label) ([]oxbow.Label, error) {
	if c := in.Confidence; c != nil && !(*c >= 0 && *c <= 1) {
		return nil, InvalidValue("confidence", strconv.FormatFloat(*c, 'g', -1, 64), "is not a number from 0 to 1")
	}
	var added []oxbow.Label
	gone := map[string]bool{}
	for _, p := range labelParams {
		for _, v := range p.newValues(in) {
			added = append(added, oxbow.Label{Key: p.key, Value: v})
			gone[p.key] = true
		}
		if slices.Contains(in.PartsToClear, p.name) {
			gone[p.key] = true
		}
	}
	for _, turn := range in.FromTurns {
		added = append(added, oxbow.Label{Key: lineage.SourceLabel, Value: turn})
		gone[lineage.SourceLabel] = true
	}
	for _, l := range old {
		if !gone[l.Key] {
			added = append(added, l)
		}
	}
	return oxbow.SortLabels(added), nil
}

// Forget removes an entry. In a memory with a history, the entry can be restored.
func Forget(ctx context.Context, w *Workspace, in ForgetIn) (ForgetOut, error) {
	if err := checkVersionCondition(in.IfVersion); err != nil {
		return ForgetOut{}, err
	}
	ctx, err := withOpID(w.WithSource(ctx), in.OpID, "forget", in.Name)
	if err != nil {
		return ForgetOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, Write)
	if err != nil {
		return ForgetOut{}, err
	}
	if in.OpID != "" && !in.DryRun {
		// An earlier call with the same operation ID may have removed the entry already. The name is then unknown, or
		// belongs to a newer entry. Ask the store whether it knows the operation ID.
		made, err := findChangeOfEarlierCall(ctx, m, in.Name)
		if err == nil {
			return resultOfRepeatedForget(ctx, m, in, made), nil
		}
		// The error does not mean that the operation ID is unknown. For example, the store may be busy.
		if !isCausedByEarlierChange(err) {
			return ForgetOut{}, err
		}
	}
	e, err := m.Get(ctx, in.Name)
	err = noSuchNameError(in.Name, err)
	if err != nil {
		return ForgetOut{}, w.AdviseUnknownName(ctx, m, in.Name, err)
	}
	if in.DryRun {
		return previewForget(ctx, in, e, lacksHistory(m))
	}
	seen := seenEntriesWithoutHistory(ctx, m)
	made, err := m.CommitEdit(ctx, e.Name, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		op, err := forgetOp(in, e.Name, old, found, seen)
		if err == nil {
			e = old
		}
		return op, err
	})
	if in.OpID != "" && isCausedByEarlierChange(err) {
		if first, again := findChangeOfEarlierCall(ctx, m, e.Name); again == nil {
			return resultOfRepeatedForget(ctx, m, in, first), nil
		}
	}
	if err != nil {
		return ForgetOut{}, w.AdviseUnknownName(ctx, m, e.Name, err)
	}
	return ForgetOut{Forgotten: true, IsFinalRemoval: lacksHistory(m), Seq: made.Seq, Entry: outlineEntry(ctx, e),
		Notes: append(aliasUsedNote(in.Name, e.Name), notesAboutRestoring(m, made.Seq)...)}, nil
}

// lacksHistory reports whether the memory keeps no history, so that a forgotten entry cannot be restored.
func lacksHistory(m *oxbow.Memory) bool {
	_, err := m.History()
	return errors.Is(err, oxbow.ErrUnsupported)
}

// notesAboutRestoring returns notes about restoring an entry that was removed by the change with the number seq. If the
// store keeps no history, a note says that the entry cannot be restored. If seq is not 0, a note says how to restore
// the entry.
func notesAboutRestoring(m *oxbow.Memory, seq uint64) (notes []Note) {
	if lacksHistory(m) {
		notes = append(notes, PlainNote("this store keeps no history: the entry cannot be brought back"))
	}
	if seq != 0 {
		notes = append(notes, Notef("%s", NewUndoHint(seq, "brings it back", "bring it back")))
	}
	return notes
}

// forgetOp returns the op that removes the entry e. When the op is carried out, it fails if the entry has changed by
// then. The arguments name and found are the name that was looked up, and whether an entry has this name. If found is
// false, the error matches [oxbow.ErrNotFound].
//
// If in.IfVersion is set and differs from the entry's version, forgetOp returns a ConflictError. If in.IfVersion is not
// set, it returns an error if the session has not seen the entry's present text.
func forgetOp(in ForgetIn, name string, e oxbow.Entry, found bool, seenEntries *SeenEntries) (oxbow.Op, error) {
	if !found {
		return nil, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	namesVersion := in.IfVersion != nil && *in.IfVersion != 0
	if namesVersion && *in.IfVersion != e.Version {
		return nil, &oxbow.ConflictError{Name: e.Name, Want: *in.IfVersion, Have: e.Version}
	}
	if !namesVersion {
		if err := seenEntries.CheckRemoval(e); err != nil {
			return nil, err
		}
	}
	return oxbow.Remove{Name: e.Name, If: e.Version}, nil
}

// previewForget returns the result that a call of forget would have, without removing the entry.
func previewForget(ctx context.Context, in ForgetIn, e oxbow.Entry, isFinalRemoval bool) (ForgetOut, error) {
	found := true
	if _, err := forgetOp(in, e.Name, e, found, nil); err != nil {
		return ForgetOut{}, err
	}
	notes := append(
		aliasUsedNote(in.Name, e.Name),
		Notef("dry run: nothing was forgotten; call again without %s to forget it", ParamRef("dry_run")),
	)
	return ForgetOut{Entry: outlineEntry(ctx, e), IsFinalRemoval: isFinalRemoval, Notes: notes}, nil
}

// resultOfRepeatedForget returns the result of a forget call that repeats an earlier call with the same op ID. change
// is the change that the earlier call made. The result contains the forgotten version if the memory still has it.
func resultOfRepeatedForget(ctx context.Context, m *oxbow.Memory, in ForgetIn, change oxbow.Change) ForgetOut {
	out := ForgetOut{
		Forgotten:      true,
		IsFinalRemoval: lacksHistory(m),
		Seq:            change.Seq,
		Entry:          Entry{Name: in.Name, Aliases: []string{}, Labels: map[string][]string{}},
		Notes: []Note{
			Notef("%s %q was used before: the entry was forgotten then", ParamRef("op_id"), in.OpID),
		},
	}
	if change.Seq != 0 {
		out.Notes[0] = Notef(
			"%s %q was used before: change %d forgot the entry",
			ParamRef("op_id"),
			in.OpID,
			change.Seq,
		)
	}
	if len(change.Versions) == 0 {
		return out
	}
	removed := change.Versions[len(change.Versions)-1]
	out.Name = removed.Entry.Name
	out.ID, out.Kind = removed.Entry.ID, removed.Entry.Kind.String()
	if removed.Prev == 0 {
		return out
	}
	if was, err := m.VersionAt(ctx, out.Name, removed.Prev); err == nil && !was.Erased {
		e := was.Entry
		e.Source = was.Source
		NewPastTextFilter(m).WithholdText(ctx, &e)
		out.Entry = outlineEntry(ctx, e)
	}
	return out
}

// aliasUsedNote returns a note with the name of the entry if the caller typed an alias.
func aliasUsedNote(typedName, name string) []Note {
	if oxbow.SameName(typedName, name) {
		return nil
	}
	return []Note{Notef("%q is an alias of %q", typedName, name)}
}

// RestoreVersion makes an earlier version of an entry the newest version. Notes in the result say how to undo this, and
// which aliases could not be restored.
func RestoreVersion(ctx context.Context, w *Workspace, in RestoreIn) (RestoreOut, error) {
	if err := oxbow.CheckName(in.Name); err != nil {
		return RestoreOut{}, err
	}
	if in.Seq != nil && *in.Seq == 0 {
		return RestoreOut{}, InvalidValue("seq", "0", "is no change; history with this name lists them")
	}
	ctx, m, err := w.OpenMemory(ctx, Write)
	if err != nil {
		return RestoreOut{}, err
	}
	from, err := w.versionToRestore(ctx, m, in)
	if err != nil {
		return RestoreOut{}, err
	}
	seq, err := m.Restore(ctx, in.Name, from)
	if err != nil {
		if errors.Is(err, oxbow.ErrNotFound) {
			err = fmt.Errorf("restoring %q as of change %d: %w", in.Name, from, err)
			if _, gerr := m.Get(ctx, in.Name); gerr != nil {
				err = w.AdviseUnknownName(ctx, m, in.Name, err)
			}
		}
		return RestoreOut{}, err
	}
	e, err := entryAfterChange(ctx, m, in.Name, seq)
	if err != nil {
		return RestoreOut{}, err
	}
	out := RestoreOut{Seq: seq, RestoredVersionSeq: from, Entry: outlineEntry(ctx, e), StoredEntry: e}
	out.Notes = []Note{Notef("%s", NewUndoHint(seq, "takes this back", "take this back"))}
	if was, err := m.VersionAt(ctx, in.Name, from); err == nil {
		out.Notes = append(out.Notes, lostAliasNotesAfterUndo(was.Entry.Name, was.Entry.Aliases, e.Aliases)...)
	}
	return out, nil
}

// versionToRestore returns the number of the change whose version of the entry is to be restored. If in.Seq is set, the
// result is this number. Otherwise the result is the number of the change with the last version before the entry was
// forgotten. If the entry still exists, the error is an entryNotForgottenError, because it is not obvious which version
// is wanted.
func (w *Workspace) versionToRestore(ctx context.Context, m *oxbow.Memory, in RestoreIn) (uint64, error) {
	if in.Seq != nil {
		return *in.Seq, nil
	}
	var current *oxbow.Entry // the present version, or nil if the entry was forgotten
	isFirst := true
	for v, err := range m.Versions(ctx, in.Name) {
		isVersion := err == nil && v.Verb != oxbow.VerbRemove && !v.Erased
		switch {
		case err != nil:
			return 0, w.AdviseUnknownName(ctx, m, in.Name, err)
		case isFirst && v.Verb != oxbow.VerbRemove:
			current = &v.Entry
		case isVersion && current == nil:
			return v.Seq, nil
		case isVersion && !areEntriesEqual(v.Entry, *current):
			return 0, &entryNotForgottenError{name: in.Name, previousVersionSeq: v.Seq}
		}
		isFirst = false
	}
	if current != nil {
		return 0, &entryNotForgottenError{name: in.Name}
	}
	return 0, Advise(
		fmt.Errorf("restoring %q: its versions are no longer in the log: %w", in.Name, oxbow.ErrNotFound),
		"a backup may have them",
	)
}

// areEntriesEqual reports whether two versions of an entry have the same content, labels and aliases.
func areEntriesEqual(a, b oxbow.Entry) bool {
	return a.Content == b.Content && slices.Equal(a.Labels, b.Labels) && slices.Equal(a.Aliases, b.Aliases)
}

// entryAfterChange returns the version of an entry after the change seq. If the log no longer contains the change, or
// if the change was erased or removed the entry, the result contains only the entry's name and the version seq.
func entryAfterChange(ctx context.Context, m *oxbow.Memory, name string, seq uint64) (oxbow.Entry, error) {
	for v, err := range m.Versions(ctx, name) {
		switch {
		case err != nil && !errors.Is(err, oxbow.ErrNotFound):
			return oxbow.Entry{}, err
		case err == nil && v.Seq == seq && v.Verb != oxbow.VerbRemove && !v.Erased:
			return v.Entry, nil
		case err != nil || v.Seq < seq:
			return oxbow.Entry{Name: name, Version: seq}, nil
		}
	}
	return oxbow.Entry{Name: name, Version: seq}, nil
}
