// The words of package store, as this package has them too.

package oxbow

import (
	"context"

	"github.com/oxbow-memory/oxbow/store"
)

// What a store holds and does, of package [store].
type (
	// Actor is the kind of author of a version.
	Actor = store.Actor
	// Add makes an entry.
	Add = store.Add
	// Alias replaces an entry's aliases.
	Alias = store.Alias
	// AliasError is an alias that means no entry, because of those in Names.
	AliasError = store.AliasError
	// BusyError describes the process that holds the store's lock.
	BusyError = store.BusyError
	// Change is one record of the log: everything that one Apply did.
	Change = store.Change
	// CheckReport is what a check found.
	CheckReport = store.CheckReport
	// A Checker is a Store that can examine its own files.
	Checker = store.Checker
	// Claim is what a caller says of itself.
	Claim = store.Claim
	// CompactReport is what a compaction dropped.
	CompactReport = store.CompactReport
	// A Committer is a Store that returns the change that a call made.
	Committer = store.Committer
	// A Compactor is a Store that can drop old history.
	Compactor = store.Compactor
	// ConflictError says that an entry is not at the version a change was made for.
	ConflictError = store.ConflictError
	// CorruptError says where a file is damaged.
	CorruptError = store.CorruptError
	// A Counter is a Store that knows its numbers without reading everything.
	Counter = store.Counter
	// Delta is one entry that changed: its new state, or nil when it was removed.
	Delta = store.Delta
	// A DryRunner is a Store that takes less than Check of an [Op] does, and says what.
	DryRunner = store.DryRunner
	// Entry is one thing remembered.
	Entry = store.Entry
	// Event is what a [Watcher] reports: the entries that changed or, with Reset, that the
	// changes are unknown and all entries must be read again.
	Event = store.Event
	// Filter selects entries.
	Filter = store.Filter
	// Head is an entry as far as it is known without reading it; see package heads.
	Head = store.Head
	// A Historian is a Store that keeps the versions of its entries.
	Historian = store.Historian
	// InvalidError says which value was refused and why.
	InvalidError = store.InvalidError
	// Kind says what sort of thing an entry is.
	Kind = store.Kind
	// Label is a key and a value tied to an entry.
	Label = store.Label
	// NameError adds the name of the entry to an error.
	NameError = store.NameError
	// Op is one change.
	Op = store.Op
	// A Position is a place in the history of a store.
	Position = store.Position
	// Problem is one thing a check found wrong, and its mend.
	Problem = store.Problem
	// QuotaError is a change beyond a bound that was set for a memory.
	QuotaError = store.QuotaError
	// RecoverReport is what was saved of a damaged store, and what was not.
	RecoverReport = store.RecoverReport
	// RedactReport is what was erased.
	RedactReport = store.RedactReport
	// A Redactor is a Store that can take what an entry held out of its history.
	Redactor = store.Redactor
	// Relabel replaces an entry's labels.
	Relabel = store.Relabel
	// Remove removes an entry.
	Remove = store.Remove
	// A Sequencer is a Store whose changes follow each other in one order.
	Sequencer = store.Sequencer
	// Source is the origin of a version.
	Source = store.Source
	// Stats are the numbers of a store.
	Stats = store.Stats
	// A Store keeps entries.
	Store = store.Store
	// Summary is what the entries of a memory sum up to.
	Summary = store.Summary
	// Term is one condition of a [Filter]: the entry has, under Key, one of the Values; with
	// Not, it has none of them.
	Term = store.Term
	// Trust is how far an entry may be believed.
	Trust = store.Trust
	// Update replaces an entry's content, aliases and labels; what is left empty becomes empty.
	Update = store.Update
	// Verb says what a change did to an entry.
	Verb = store.Verb
	// Version is an entry as one change left it.
	Version = store.Version
	// A Watcher is a Store that sends events.
	Watcher = store.Watcher
)

// Limits of what one entry may hold.
const (
	MaxName    = store.MaxName
	MaxContent = store.MaxContent
	MaxAliases = store.MaxAliases
	MaxLabels  = store.MaxLabels
)

// The kinds.
const (
	Note    = store.Note
	Archive = store.Archive
	Journal = store.Journal
	World   = store.World
	History = store.History
	Handoff = store.Handoff
)

// The label keys that every door knows.
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

// The actors.
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

// The verbs.
const (
	VerbAdd     = store.VerbAdd
	VerbUpdate  = store.VerbUpdate
	VerbAlias   = store.VerbAlias
	VerbLabel   = store.VerbLabel
	VerbRemove  = store.VerbRemove
	VerbRestore = store.VerbRestore
)

// The levels of trust, the highest first; see [Trusts].
const (
	TrustImported    = store.TrustImported
	TrustUnvouched   = store.TrustUnvouched
	TrustTainted     = store.TrustTainted
	TrustQuarantined = store.TrustQuarantined
)

// Labels that programs write.
const (
	LabelTaint      = store.LabelTaint
	LabelSuspect    = store.LabelSuspect
	LabelQuarantine = store.LabelQuarantine
	LabelOrigin     = store.LabelOrigin
	LabelVerified   = store.LabelVerified
	LabelPersonal   = store.LabelPersonal
	LabelUnvouched  = store.LabelUnvouched
	LabelApproved   = store.LabelApproved
	UnvouchedImport = store.UnvouchedImport
)

// Commit applies the ops to a store and returns the change that they made, which is
// empty if the store is not a [Committer].
func Commit(ctx context.Context, s Store, ops ...Op) (Change, error) {
	return store.Commit(ctx, s, ops...)
}

// WrittenBy returns the version that an op left in a store without a history.
func WrittenBy(op Op, e Entry) Version {
	return store.WrittenBy(op, e)
}

// Kinds returns all kinds in order of their number.
func Kinds() []Kind {
	return store.Kinds()
}

// ParseKind returns the kind of that word, or an error matching [ErrInvalid] that lists
// the words there are.
func ParseKind(s string) (Kind, error) {
	return store.ParseKind(s)
}

// CheckName reports, as an error matching [ErrInvalid], why a name cannot be used: it is
// empty, longer than [MaxName] bytes, not UTF-8, holds a control character, or begins or
// ends with a space.
func CheckName(name string) error {
	return store.CheckName(name)
}

// CheckContent reports, as an error matching [ErrInvalid], why a content cannot be kept:
// it is not UTF-8, holds a NUL, or is longer than [MaxContent] bytes.
func CheckContent(content string) error {
	return store.CheckContent(content)
}

// Confidence returns the label that says how sure the writer was, f being from 0 to 1.
func Confidence(f float64) Label {
	return store.Confidence(f)
}

// ParseLabel reads key:value, both quoted or not.
func ParseLabel(s string) (Label, error) {
	return store.ParseLabel(s)
}

// SortLabels returns the labels sorted by key, then value, without repeats.
func SortLabels(ls []Label) []Label {
	return store.SortLabels(ls)
}

// CheckAliases is what a store checks with each change, as it makes it.
func CheckAliases(op Op, old []string, owner func(word, but string) (name string, ok bool)) error {
	return store.CheckAliases(op, old, owner)
}

// WithSource returns a context whose changes are stamped with s, but for its Time.
func WithSource(ctx context.Context, s Source) context.Context {
	return store.WithSource(ctx, s)
}

// SourceFrom returns the source that ctx carries, and whether there is one.
func SourceFrom(ctx context.Context) (Source, bool) {
	return store.SourceFrom(ctx)
}

// WithOpID returns a context whose next [Store.Apply] carries that id, at most 64 bytes.
func WithOpID(ctx context.Context, id string) context.Context {
	return store.WithOpID(ctx, id)
}

// CallOpID returns the op id of a call: a change with the same id, and another print of
// its call, is refused with [ErrOpIDUsed].
func CallOpID(id, print string) string { return store.CallOpID(id, print) }

// OpIDFrom returns the id that ctx carries, "" for none.
func OpIDFrom(ctx context.Context) string {
	return store.OpIDFrom(ctx)
}

// WithNote returns a context whose changes carry a note, such as "load from brain/".
func WithNote(ctx context.Context, note string) context.Context {
	return store.WithNote(ctx, note)
}

// NoteFrom returns the note that ctx carries, "" for none.
func NoteFrom(ctx context.Context) string {
	return store.NoteFrom(ctx)
}

// HistoryOf returns the history of a store: the store itself if it is a [Historian], or
// what its method History returns, which wrappers of a store have, as [Memory.History].
func HistoryOf(s Store) (Historian, error) {
	return store.HistoryOf(s)
}

// HeldLabels returns the keys of the labels that hold an entry back; see
// [Entry.Volunteered].
func HeldLabels() []string { return store.HeldLabels() }

// Trusts returns the levels, the highest first.
func Trusts() []Trust {
	return store.Trusts()
}
