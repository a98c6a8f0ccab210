// Changes that a store applies.

package store

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Op is one change. The set is sealed: [Add], [Update], [Alias], [Relabel] and
// [Remove].
//
// The field If on a change is compare-and-set: when it is not 0, the entry must
// be at that version, else nothing is applied and the error matches
// [ErrConflict].
type Op interface {
	// Check reports, as an error matching ErrInvalid, why the change can be
	// applied to no store.
	Check() error

	// Target returns the name of the entry that the change affects.
	Target() string

	// IfVersion returns the version that the entry must be at, 0 for any.
	IfVersion() uint64

	unique() []string // aliases that no other entry may have
}

// Add makes an entry. A name in use is [ErrExists]. With UniqueAliases, a store with history
// takes the name from the aliases of other entries in the same change.
type Add struct {
	Name    string
	Kind    Kind
	Content string
	Aliases []string
	Labels  []Label
	Created time.Time // zero means now

	UniqueAliases bool // see Update
}

// Update replaces an entry's content, aliases and labels; what is left empty
// becomes empty. Name, ID, kind and creation time stay. An unknown name is
// [ErrNotFound]. With UniqueAliases, a new alias that is the name or an alias of
// another entry is an [AliasError]: it would mean none.
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

// Remove removes an entry. Its versions stay in the log of a store that has one.
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
	if !text.NearestTime(o.Created).Equal(o.Created) {
		return &InvalidError{Field: "created", Value: o.Created.Format(time.RFC3339), Reason: "is not of the years 0 to 9999"}
	}
	return checkParts(o.Name, o.Content, o.Aliases, o.Labels)
}
func (o Update) Check() error  { return checkParts(o.Name, o.Content, o.Aliases, o.Labels) }
func (o Alias) Check() error   { return checkParts(o.Name, "", o.Aliases, nil) }
func (o Relabel) Check() error { return checkParts(o.Name, "", nil, o.Labels) }
func (o Remove) Check() error  { return CheckName(o.Name) }

func (o Add) unique() []string    { return onlyIf(o.UniqueAliases, o.Aliases) }
func (o Update) unique() []string { return onlyIf(o.UniqueAliases, o.Aliases) }
func (Alias) unique() []string    { return nil }
func (Relabel) unique() []string  { return nil }
func (Remove) unique() []string   { return nil }

func onlyIf(unique bool, aliases []string) []string {
	if !unique {
		return nil
	}
	return aliases
}

// FreeAliases returns the aliases of a version that is restored, without those that are taken:
// another entry has them as its name or alias by now. Aliases that the entry has at present,
// which are had, stay. Owner is that of [CheckAliases].
func FreeAliases(name string, aliases, had []string, owner func(word, but string) (name string, ok bool)) (free, taken []string) {
	for _, a := range aliases {
		if _, ok := ownerOfName(a, name, owner); ok && !containsName(had, a) {
			taken = append(taken, a)
		} else {
			free = append(free, a)
		}
	}
	return free, taken
}

// CheckAliases is what a store checks with each change, as it makes it. Of a change
// with UniqueAliases, it returns the error where an alias that the entry has not
// yet, those being old, is taken. Owner returns the name of an entry, other than
// the one named but, that has a word as its name or alias.
func CheckAliases(op Op, old []string, owner func(word, but string) (name string, ok bool)) error {
	for _, a := range op.unique() {
		if !containsName(old, a) {
			if o, ok := ownerOfName(a, op.Target(), owner); ok {
				return &AliasError{Alias: a, Names: []string{o}}
			}
		}
	}
	return nil
}

// ownerOfName returns the name of an entry, other than the one named but, that has the word as
// its name or alias in any spelling.
func ownerOfName(word, but string, owner func(word, but string) (name string, ok bool)) (name string, ok bool) {
	for _, form := range NameForms(word) {
		name, ok = owner(form, but)
		if ok {
			return name, true
		}
	}
	return "", false
}

func checkParts(name, content string, aliases []string, labels []Label) error {
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
		if err := checkWord("alias", a); err != nil {
			return err
		}
		if slices.Contains(aliases[:i], a) {
			return &InvalidError{Field: "alias", Value: a, Reason: "is given twice"}
		}
	}
	return checkLabels(labels)
}
