// This file defines the ops, which change entries.

package store

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// An Op changes one entry. It is an [Add], [Update], [Alias], [Relabel] or [Remove], because no other type can
// implement Op.
//
// Some ops have a field named If, which contains a version. If this version is not 0, it must be the present version of
// the entry. Otherwise no op of the call is applied, and the error matches [ErrConflict].
type Op interface {
	// Check returns an error matching ErrInvalid if no store can apply the op.
	Check() error

	// Target returns the name of the entry that the change affects.
	Target() string

	// IfVersion returns the version that the entry must have, or 0 if it may have any version.
	IfVersion() uint64

	// ApplyTo returns the entry as it is after the op, without a new version or time. The argument old is the entry
	// before the op. For a [Remove], ApplyTo returns old. The result shares the memory of labels and aliases with old
	// or the op.
	ApplyTo(old Entry) Entry

	// aliasesToCheck returns the op's aliases if the op requires that no other entry has one of them as its name or
	// alias. If the op does not require this, aliasesToCheck returns nil.
	aliasesToCheck() []string
}

// Add creates an entry. If the name is in use, Apply fails with [ErrExists]. If
// UniqueAliases is set, a store with history removes the name from the aliases of other
// entries in the same change.
type Add struct {
	Name    string
	Kind    Kind
	Content string
	Aliases []string
	Labels  []Label
	Created time.Time // creation time (zero means the time of the change)

	UniqueAliases bool // see [Update]
}

// Update replaces the content, aliases and labels of an entry. An empty field makes the
// entry's field empty. Name, ID, kind and creation time do not change. If the name is
// unknown, Apply fails with [ErrNotFound].
//
// If UniqueAliases is set, Apply fails with an [AliasError] if a new alias is already the
// name or an alias of another entry, because the alias would then identify neither.
type Update struct {
	Name    string
	Content string
	Aliases []string
	Labels  []Label
	If      uint64

	UniqueAliases bool
}

// Alias replaces an entry's aliases.
type Alias struct {
	Name    string
	Aliases []string
	If      uint64
}

// Relabel replaces an entry's labels.
type Relabel struct {
	Name   string
	Labels []Label
	If     uint64
}

// Remove removes the entry with a Name. If the field If is not 0, the entry must have this version. A store with
// history keeps the versions of the removed entry in its log.
type Remove struct {
	Name string
	If   uint64
}

// Target implements [Op].
func (o Add) Target() string     { return o.Name }
func (o Update) Target() string  { return o.Name }
func (o Alias) Target() string   { return o.Name }
func (o Relabel) Target() string { return o.Name }
func (o Remove) Target() string  { return o.Name }

// IfVersion implements [Op].
func (o Add) IfVersion() uint64     { return 0 }
func (o Update) IfVersion() uint64  { return o.If }
func (o Alias) IfVersion() uint64   { return o.If }
func (o Relabel) IfVersion() uint64 { return o.If }
func (o Remove) IfVersion() uint64  { return o.If }

// Check implements [Op].
func (o Add) Check() error {
	if !o.Kind.Valid() && CheckName(o.Name) == nil {
		return &InvalidError{Field: "kind", Value: o.Kind.String(), Reason: "is unknown"}
	}
	if !text.ClampToJSONTime(o.Created).Equal(o.Created) {
		return &InvalidError{
			Field:  "created",
			Value:  o.Created.Format(time.RFC3339),
			Reason: "is not of the years 0 to 9999",
		}
	}
	return checkEntryFields(o.Name, o.Content, o.Aliases, o.Labels)
}
func (o Update) Check() error  { return checkEntryFields(o.Name, o.Content, o.Aliases, o.Labels) }
func (o Alias) Check() error   { return checkEntryFields(o.Name, "", o.Aliases, nil) }
func (o Relabel) Check() error { return checkEntryFields(o.Name, "", nil, o.Labels) }
func (o Remove) Check() error  { return CheckName(o.Name) }

func (o Add) aliasesToCheck() []string    { return aliasesIfUnique(o.UniqueAliases, o.Aliases) }
func (o Update) aliasesToCheck() []string { return aliasesIfUnique(o.UniqueAliases, o.Aliases) }
func (Alias) aliasesToCheck() []string    { return nil }
func (Relabel) aliasesToCheck() []string  { return nil }
func (Remove) aliasesToCheck() []string   { return nil }

func aliasesIfUnique(mustBeUnique bool, aliases []string) []string {
	if !mustBeUnique {
		return nil
	}
	return aliases
}

// CheckAliases checks the aliases of an op whose field UniqueAliases is set. All other ops are valid. CheckAliases
// returns an [AliasError] for the first new alias that is the name or an alias of another entry. The list old contains
// the aliases that the entry already has, which are not new. Stores call CheckAliases when they apply an op.
//
// The function owner must find an entry that has its first argument as its name or alias, and return the name of this
// entry and true. It must ignore the entry whose name is its second argument. If there is no such entry, it must return
// false.
func CheckAliases(op Op, old []string, owner func(word, but string) (name string, ok bool)) error {
	for _, a := range op.aliasesToCheck() {
		if !containsName(old, a) {
			if o, ok := ownerOfName(a, op.Target(), owner); ok {
				return &AliasError{Alias: a, Names: []string{o}}
			}
		}
	}
	return nil
}

// ownerOfName finds an entry by its name or alias, and returns the entry's name. The parameter word is the name or
// alias, which the entry may have in any Unicode spelling. The parameter ignoredEntryName is the name of an entry that
// is ignored. ownerOfName calls findOwner with each spelling and with ignoredEntryName, and returns the first result.
// The result ok is false if no entry is found.
func ownerOfName(
	word, ignoredEntryName string,
	findOwner func(word, but string) (name string, ok bool),
) (name string, ok bool) {
	for _, form := range NameForms(word) {
		name, ok = findOwner(form, ignoredEntryName)
		if ok {
			return name, true
		}
	}
	return "", false
}

func checkEntryFields(name, content string, aliases []string, labels []Label) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := CheckContent(content); err != nil {
		return err
	}
	if len(aliases) > MaxAliases {
		return &InvalidError{Field: "aliases", Value: strconv.Itoa(len(aliases)),
			Reason: fmt.Sprintf("are more than the %d that one entry may have", MaxAliases)}
	}
	for i, a := range aliases {
		if err := checkNameText("alias", a); err != nil {
			return err
		}
		if slices.Contains(aliases[:i], a) {
			return &InvalidError{Field: "alias", Value: a, Reason: "is given twice"}
		}
	}
	return checkLabels(labels)
}

// ApplyTo implements [Op].
func (o Add) ApplyTo(Entry) Entry {
	return Entry{Name: o.Name, Kind: o.Kind, Content: o.Content, Aliases: o.Aliases, Labels: o.Labels,
		Created: o.Created}
}

// ApplyTo implements [Op].
func (o Update) ApplyTo(old Entry) Entry {
	if old.Name == "" {
		old.Name = o.Name
	}
	old.Content = o.Content
	old.Aliases = o.Aliases
	old.Labels = o.Labels
	return old
}

// ApplyTo implements [Op].
func (o Alias) ApplyTo(old Entry) Entry {
	old.Aliases = o.Aliases
	return old
}

// ApplyTo implements [Op].
func (o Relabel) ApplyTo(old Entry) Entry {
	old.Labels = o.Labels
	return old
}

// ApplyTo implements [Op].
func (Remove) ApplyTo(old Entry) Entry { return old }
