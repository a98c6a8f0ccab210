// This file declares aliases for the types, constants and functions of package store, so
// that most programs import only package oxbow.

package oxbow

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow/store"
)

// These types are aliases of types in package store, where their fields and methods are documented. For example, run
// "go doc github.com/oxbow-memory/oxbow/store.Entry".
type (
	// An Actor is the kind of author who wrote a version, such as a user or an
	// agent.
	Actor = store.Actor
	// Add creates an entry.
	Add = store.Add
	// Alias replaces an entry's aliases.
	Alias = store.Alias
	// An AliasHolder is an entry as it would be after a change (see
	// [SettleAliases]).
	AliasHolder = store.AliasHolder
	// A TakenAlias is an alias that was denied to an entry, or removed from it, because another
	// entry has the alias.
	TakenAlias = store.TakenAlias
	// An AliasError reports that several entries have the same alias, or would have it after a change.
	AliasError = store.AliasError
	// A BusyError reports that another process holds the lock of the store.
	BusyError = store.BusyError
	// Capabilities has the optional interfaces of a store.
	Capabilities = store.Capabilities
	// A Change has the versions that a call of Apply wrote.
	Change = store.Change
	// CheckReport is the result of a check.
	CheckReport = store.CheckReport
	// A Checker is a Store that can examine its own files.
	Checker = store.Checker
	// A Claim is the caller's own statement of who it is. It is not verified.
	Claim = store.Claim
	// CompactReport is the result of a compaction.
	CompactReport = store.CompactReport
	// A Committer is a Store that returns the change that a call made.
	Committer = store.Committer
	// A Compactor is a Store that can drop old history.
	Compactor = store.Compactor
	// ConflictError reports that an entry is not at the version that a change expects.
	ConflictError = store.ConflictError
	// A CorruptError reports the position of damage in a file.
	CorruptError = store.CorruptError
	// A Counter is a Store that can return its Stats without reading all entries.
	Counter = store.Counter
	// A Delta is a changed entry with its ID and its state after the change.
	Delta = store.Delta
	// A DryRunner is a Store that may refuse an op for which the op's method Check reports no error.
	DryRunner = store.DryRunner
	// Entry is a note, a turn of a conversation or another text that was remembered. An entry has a
	// name, a kind, content in Markdown, aliases and labels, and the time and author of the current
	// version. To see the fields, run "go doc github.com/oxbow-memory/oxbow/store.Entry".
	Entry = store.Entry
	// An Event lists entries that changed (see [Watcher]).
	Event = store.Event
	// Filter selects entries by labels, kind, dates, author and trust.
	// To see its fields, run "go doc github.com/oxbow-memory/oxbow/store.Filter".
	Filter = store.Filter
	// A Head is an entry without its content. A store can return heads without reading the
	// disk (see package heads).
	Head = store.Head
	// A HeadViewer is a Store that can list its entries without reading the entries' contents.
	HeadViewer = store.HeadViewer
	// A HeadTable contains the heads of a store's entries in the form of a table.
	HeadTable = store.HeadTable
	// A HeadTableViewer is a HeadViewer that can present heads as a table.
	HeadTableViewer = store.HeadTableViewer
	// A Historian is a Store that keeps the versions of its entries.
	Historian = store.Historian
	// InvalidError reports which value was refused and why.
	InvalidError = store.InvalidError
	// Kind is the sort of an entry, such as [Note] or [Journal].
	Kind = store.Kind
	// A Label is a key and a value attached to an entry.
	Label = store.Label
	// A LogSeeker is a [Historian] that can find a change without reading the changes after it.
	LogSeeker = store.LogSeeker
	// NameError adds the name of an entry to an error.
	NameError = store.NameError
	// An Occasion is a situation in which an entry is shown (see [Entry.WhyHeld]).
	Occasion = store.Occasion
	// An Op is a change to a single entry.
	Op = store.Op
	// An OpGroup contains ops that must be in the same change (see [CommitInParts]).
	OpGroup = store.OpGroup
	// PartOptions configures [CommitInParts].
	PartOptions = store.PartOptions
	// Parts describes the changes that [CommitInParts] has made.
	Parts = store.Parts
	// A Position is a point in the history of a store.
	Position = store.Position
	// A Problem is something wrong that a check found, and how to repair it.
	Problem = store.Problem
	// QuotaError reports a change that exceeds a limit of the memory.
	QuotaError = store.QuotaError
	// A RecoverReport describes which data was saved from a damaged store.
	RecoverReport = store.RecoverReport
	// A RedactReport describes a redaction.
	RedactReport = store.RedactReport
	// A Redactor is a Store that can erase texts from its history.
	Redactor = store.Redactor
	// Relabel replaces an entry's labels.
	Relabel = store.Relabel
	// Remove removes an entry.
	Remove = store.Remove
	// A Sequencer is a Store whose changes have a total order.
	Sequencer = store.Sequencer
	// A Source is the origin of a version.
	Source = store.Source
	// Stats describe the size of a store.
	Stats = store.Stats
	// A Store stores entries.
	Store = store.Store
	// Summary counts the entries of a memory by kind, project and tag.
	Summary = store.Summary
	// A Term is a single condition of a [Filter].
	Term = store.Term
	// Trust is the level of trust in an entry.
	Trust = store.Trust
	// Update replaces an entry's content, aliases and labels.
	Update = store.Update
	// A Verb is the kind of a change to an entry.
	Verb = store.Verb
	// A Version is an entry's state after a change.
	Version = store.Version
	// A Watcher is a Store that sends events.
	Watcher = store.Watcher
)

// Limits for each entry, as described in package store.
const (
	MaxName    = store.MaxName
	MaxContent = store.MaxContent
	MaxAliases = store.MaxAliases
	MaxLabels  = store.MaxLabels
)

// These are the kinds of entries.
const (
	Note    = store.Note
	Archive = store.Archive
	Journal = store.Journal
	World   = store.World
	History = store.History
	Handoff = store.Handoff
)

// Label keys with a fixed meaning. Callers may use other keys freely.
const (
	LabelProject    = store.LabelProject
	LabelTag        = store.LabelTag
	LabelFile       = store.LabelFile
	LabelConfidence = store.LabelConfidence
	LabelFileBlob   = store.LabelFileBlob
)

// The sentinel errors.
var (
	ErrNotFound       = store.ErrNotFound
	ErrExists         = store.ErrExists
	ErrInvalid        = store.ErrInvalid
	ErrConflict       = store.ErrConflict
	ErrBusy           = store.ErrBusy
	ErrCorrupt        = store.ErrCorrupt
	ErrVersion        = store.ErrVersion
	ErrReadOnly       = store.ErrReadOnly
	ErrFull           = store.ErrFull
	ErrVanished       = store.ErrVanished
	ErrUnknownOutcome = store.ErrUnknownOutcome
	ErrClosed         = store.ErrClosed
	ErrUnsupported    = store.ErrUnsupported
	ErrNotStore       = store.ErrNotStore
	ErrRolledBack     = store.ErrRolledBack
	ErrOpIDUsed       = store.ErrOpIDUsed
	ErrPosition       = store.ErrPosition
	ErrNetworkFS      = store.ErrNetworkFS
	ErrQuota          = store.ErrQuota
)

// These are the author kinds (see [Actor]), and the prefixes of references to a session or a call.
const (
	Person   = store.Person
	Agent    = store.Agent
	Program  = store.Program
	Imported = store.Imported
	Team     = store.Team
	Foreign  = store.Foreign

	RefSession = store.RefSession
	RefCall    = store.RefCall
)

// These constants are the verbs of changes. A verb says what a change did with an entry.
const (
	VerbAdd     = store.VerbAdd
	VerbUpdate  = store.VerbUpdate
	VerbAlias   = store.VerbAlias
	VerbLabel   = store.VerbLabel
	VerbRemove  = store.VerbRemove
	VerbRestore = store.VerbRestore
)

// The lower levels of trust. [Trusts] returns all levels in order.
const (
	TrustImported    = store.TrustImported
	TrustUnvouched   = store.TrustUnvouched
	TrustTainted     = store.TrustTainted
	TrustQuarantined = store.TrustQuarantined
)

// The occasions on which an entry is shown (see [Entry.WhyHeld]).
const (
	BySearch          = store.BySearch
	RequestedByPerson = store.RequestedByPerson
	RequestedByModel  = store.RequestedByModel
	Unasked           = store.Unasked
	UnaskedByLabels   = store.UnaskedByLabels
	AtStart           = store.AtStart
	WithoutLabels     = store.WithoutLabels
)

// HeldAsImported is the reason why an imported entry must not be shown if nobody approved it. An imported entry is an
// entry that comes from outside of this memory (see [Entry.WhyHeld]).
const HeldAsImported = store.HeldAsImported

// The keys and values of labels that only programs write.
const (
	LabelTaint   = store.LabelTaint
	LabelSuspect = store.LabelSuspect
	// label key that requests the names of entries from a store that returns only heads (entries without their
	// contents, see package heads)
	HeadName        = store.HeadName
	LabelQuarantine = store.LabelQuarantine
	LabelOrigin     = store.LabelOrigin
	LabelVerified   = store.LabelVerified
	LabelPersonal   = store.LabelPersonal
	LabelUnvouched  = store.LabelUnvouched
	LabelApproved   = store.LabelApproved
	LabelTextBy     = store.LabelTextBy
	UnvouchedImport = store.UnvouchedImport
)

// Commit applies ops to a store and returns the change that they made. The change is empty if
// the store is not a [Committer].
func Commit(ctx context.Context, s Store, ops ...Op) (Change, error) {
	return store.Commit(ctx, s, ops...)
}

// CommitInParts commits groups of ops as a single change or, if they are too large for one change, as
// several changes. Undo treats these changes as one.
func CommitInParts(ctx context.Context, s Store, groups []OpGroup, o PartOptions) (Parts, error) {
	return store.CommitInParts(ctx, s, groups, o)
}

// DryRunInParts returns the error that [CommitInParts] would return, and changes nothing.
func DryRunInParts(ctx context.Context, d DryRunner, groups []OpGroup, o PartOptions) error {
	return store.DryRunInParts(ctx, d, groups, o)
}

// GroupOps puts ops into the same group if they have an entry's name or alias in common. The function oldEntryBytes
// returns the size of the entry with the given name before the ops are applied, or 0 if the entry does not exist.
func GroupOps(ops []Op, oldEntryBytes func(name string) int) []OpGroup {
	return store.GroupOps(ops, oldEntryBytes)
}

// EntryBytes returns the approximate size in bytes that an entry has in a change.
func EntryBytes(e *Entry) int { return store.EntryBytes(e) }

// SplitPartNote splits the note of a change that [CommitInParts] made into the call's note, the part number, and the
// part count. For any other note, part and count are 0.
func SplitPartNote(note string) (callNote string, part, count int) { return store.SplitPartNote(note) }

// WithOtherParts returns the changes cs and the changes that were made together with them, newest first. One call may
// make several changes (see [CommitInParts]). If cs contains only some of these changes, WithOtherParts adds the other
// changes.
func WithOtherParts(ctx context.Context, h Historian, cs []Change) ([]Change, error) {
	return store.WithOtherParts(ctx, h, cs)
}

// RevertInParts reverts changes, ordered from the newest to the oldest, in a single new change or, if
// they are too large, in several new changes. It returns their numbers in order. maxBytes is the
// maximum size of a new change in bytes (0 means 16 MiB).
func RevertInParts(ctx context.Context, h Historian, cs []Change, maxBytes int) ([]uint64, error) {
	return store.RevertInParts(ctx, h, cs, maxBytes)
}

// WrittenBy returns the version that an op wrote. It is for stores that keep no history, which would contain this
// version. The argument e is the entry after the op or, for a [Remove], the removed entry.
func WrittenBy(op Op, e Entry) Version {
	return store.WrittenBy(op, e)
}

// Kinds returns all kinds of entries in the order of their numbers.
func Kinds() []Kind {
	return store.Kinds()
}

// ParseKind returns the kind with this name, such as "note". For an unknown name, the error
// matches [ErrInvalid] and lists the names.
func ParseKind(s string) (Kind, error) {
	return store.ParseKind(s)
}

// CheckName returns an error matching [ErrInvalid] if a name is empty, longer than [MaxName]
// bytes or not UTF-8, contains a control character, or begins or ends with white space.
func CheckName(name string) error {
	return store.CheckName(name)
}

// NormalName returns a name, an alias or a label value in Unicode normal form C, in which a
// [Memory] stores it.
func NormalName(name string) string { return store.NormalName(name) }

// SameName reports whether two names differ at most in their Unicode composition.
func SameName(a, b string) bool { return store.SameName(a, b) }

// GetNamed returns the entry with exactly this name. If none exists, it returns the
// entry with the name in another Unicode composition (see [SameName]).
func GetNamed(ctx context.Context, s Store, name string) (Entry, error) {
	return store.GetNamed(ctx, s, name)
}

// GetByNameOrAlias returns the entry with this name, or otherwise the entry with this alias. See [Memory.Get].
func GetByNameOrAlias(ctx context.Context, s Store, name string) (Entry, error) {
	return store.GetByNameOrAlias(ctx, s, name)
}

// NormalEntry returns the entry with its name, aliases and label values in normal form.
func NormalEntry(e Entry) Entry { return store.NormalEntry(e) }

// AllNameForms returns, in a single list, all spellings under which a store may contain the given names. The spellings
// of a name are the name as given, its Unicode normal form C and its Unicode normal form D, without duplicates. For
// example, "é" can be stored as one character or as two.
func AllNameForms(names []string) []string { return store.AllNameForms(names) }

// CheckContent returns an error matching [ErrInvalid] if a content is not UTF-8, contains a
// NUL, or is longer than [MaxContent] bytes.
func CheckContent(content string) error {
	return store.CheckContent(content)
}

// Confidence returns the label for a confidence f from 0 to 1.
func Confidence(f float64) Label {
	return store.Confidence(f)
}

// ParseLabel parses a label of the form key:value. The key and the value may each be quoted.
func ParseLabel(s string) (Label, error) {
	return store.ParseLabel(s)
}

// SplitTags splits each string at its commas and returns the parts as tags.
func SplitTags(list ...string) []string { return store.SplitTags(list...) }

// SortLabels returns the labels sorted by key, then value, without repeats.
func SortLabels(ls []Label) []Label {
	return store.SortLabels(ls)
}

// CheckAliases returns an error if an op adds an alias that must be unique but belongs to
// another entry already. A store calls it for each op (see [store.CheckAliases]).
func CheckAliases(op Op, oldAliases []string, owner func(word, but string) (name string, ok bool)) error {
	return store.CheckAliases(op, oldAliases, owner)
}

// OldestKeeps is the rule for [SettleAliases] by which the oldest entry keeps an alias that several entries have. It
// is used when two stores are merged.
const OldestKeeps = store.OldestKeeps

// SettleAliases returns the aliases that must be removed from the entries in holders, so that each alias identifies
// only one entry. It calls [store.SettleAliases].
func SettleAliases(holders []AliasHolder, rule store.AliasRule) []TakenAlias {
	return store.SettleAliases(holders, rule)
}

// FreeAliases divides the list aliases into free and taken aliases. The parameter name is the name of the entry that is
// to get the aliases. An alias is taken if it is the name or an alias of another entry. The aliases in the list
// oldAliases are always free, because the entry already has them. FreeAliases calls the function owner to find the
// entry that owns a word. The argument but of this function is the name of an entry that does not count as the owner
// (see [store.FreeAliases]).
func FreeAliases(
	name string,
	aliases, oldAliases []string,
	owner func(word, but string) (name string, ok bool),
) (free []string, taken []TakenAlias) {
	return store.FreeAliases(name, aliases, oldAliases, owner)
}

// WithoutTakenAliases removes aliases from the ops, so that no alias belongs to two entries. An alias is removed if
// another entry has it as its name, or had it as an alias before the ops. If the ops give a new alias to several
// entries, only the oldest entry gets the alias. The result remainingOps contains the remaining ops, and the result
// takenAliases contains the removed aliases (see [store.WithoutTakenAliases]).
func WithoutTakenAliases(
	ctx context.Context,
	s Store,
	ops []Op,
) (remainingOps []Op, takenAliases []TakenAlias, err error) {
	return store.WithoutTakenAliases(ctx, s, ops)
}

// WithSource returns a context in which changes have the source s. The field s.Time is ignored, because the store sets
// the time of each change.
func WithSource(ctx context.Context, s Source) context.Context {
	return store.WithSource(ctx, s)
}

// SourceFrom returns the source in ctx. The second result is false if ctx lacks a source.
func SourceFrom(ctx context.Context) (Source, bool) {
	return store.SourceFrom(ctx)
}

// WithOpID returns a context with an op ID of at most 64 bytes for one [Store.Apply] call. If the store remembers IDs
// and has already applied a change with this ID, Apply succeeds without a change.
func WithOpID(ctx context.Context, id string) context.Context {
	return store.WithOpID(ctx, id)
}

// CallOpID returns the op ID for a call with the caller's id and a fingerprint of the
// arguments. If the id is used again with other arguments, the change fails with
// [ErrOpIDUsed].
func CallOpID(id, fingerprint string) string { return store.CallOpID(id, fingerprint) }

// OpIDFrom returns the op ID in ctx, or an empty string.
func OpIDFrom(ctx context.Context) string {
	return store.OpIDFrom(ctx)
}

// KeepTextBy returns the labels for an entry after a change that does not change the entry's text. The argument by is
// the author of the change, and old is the entry before the change. If the author is a person who has not approved the
// text, a label records the origin of the text.
func KeepTextBy(labels []Label, old *Entry, by Actor) []Label {
	return store.KeepTextBy(labels, old, by)
}

// WithoutTextBy returns a copy of labels without the labels that record who wrote an entry's text. The function
// [KeepTextBy] adds these labels when a person changes other parts of the entry.
func WithoutTextBy(labels []Label) []Label { return store.WithoutTextBy(labels) }

// WithNote returns a context in which changes get a note, such as "load from brain/".
func WithNote(ctx context.Context, note string) context.Context {
	return store.WithNote(ctx, note)
}

// NoteFrom returns the note in ctx, or an empty string.
func NoteFrom(ctx context.Context) string {
	return store.NoteFrom(ctx)
}

// CapabilitiesOf returns the optional interfaces that a store supports. The store may be a wrapper such as [Memory].
// Use CapabilitiesOf instead of a type assertion.
func CapabilitiesOf(s Store) Capabilities {
	return store.CapabilitiesOf(s)
}

// LastChange is a number that no change exceeds, for [Memory.LogFrom].
const LastChange = store.LastChange

// LogFrom yields the changes of a history up to number seq, newest first, but leaves out the first skipCount changes.
// If the history is not a [LogSeeker], LogFrom reads all later changes.
func LogFrom(ctx context.Context, h Historian, seq uint64, skipCount int) iter.Seq2[Change, error] {
	return store.LogFrom(ctx, h, seq, skipCount)
}

// ReadChanges returns the changes of a history with these numbers, newest first. Numbers that the
// history does not have are left out.
func ReadChanges(ctx context.Context, h Historian, seqs []uint64) ([]Change, error) {
	return store.ReadChanges(ctx, h, seqs)
}

// ReadHistory returns the history from which h reads. This is h itself, unless h is a wrapper that
// limits only writing (see [Options.History]).
func ReadHistory(h Historian) Historian { return store.ReadHistory(h) }

// HistoryOf returns the history of a store or a store wrapper such as [Memory]. If the store does not keep a history,
// the error matches [ErrUnsupported].
func HistoryOf(s Store) (Historian, error) {
	return store.HistoryOf(s)
}

// OnRequest returns [RequestedByPerson] if the source of changes in ctx is a person, and otherwise [RequestedByModel].
func OnRequest(ctx context.Context) Occasion { return store.OnRequest(ctx) }

// Trusts returns the levels of trust, the highest first.
func Trusts() []Trust {
	return store.Trusts()
}
