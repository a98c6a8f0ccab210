// Changes that a store applies.

package oxbow

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Op is one change. The set is sealed: [Add], [Update], [Alias], [Relabel] and
// [Remove].
//
// The field If on a change is compare-and-set: when it is not 0, the entry must
// be at that version, else nothing is applied and the error matches
// [ErrConflict].
type Op interface{ op() opHead }

// Add makes an entry. A name in use is [ErrExists].
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
// another entry is an [AliasTakenError]: it would mean none.
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

// opHead is what changes have in common.
type opHead struct {
	name    string
	version uint64   // that the entry must be at, 0 for any
	unique  []string // aliases that no other entry may have
}

func (o Add) op() opHead     { return opHead{o.Name, 0, onlyIf(o.UniqueAliases, o.Aliases)} }
func (o Update) op() opHead  { return opHead{o.Name, o.If, onlyIf(o.UniqueAliases, o.Aliases)} }
func (o Alias) op() opHead   { return opHead{o.Name, o.If, nil} }
func (o Relabel) op() opHead { return opHead{o.Name, o.If, nil} }
func (o Remove) op() opHead  { return opHead{o.Name, o.If, nil} }

func onlyIf(unique bool, aliases []string) []string {
	if !unique {
		return nil
	}
	return aliases
}

// OpName returns the name of the entry that the change affects.
func OpName(op Op) string { return op.op().name }

// OpVersion returns the version that the change was made for, its If; 0 for any.
func OpVersion(op Op) uint64 { return op.op().version }

// CheckOp reports, as an error matching [ErrInvalid], why a change can be
// applied to no store.
func CheckOp(op Op) error {
	if err := CheckName(OpName(op)); err != nil {
		return err
	}
	switch op := op.(type) {
	case Add:
		if op.Kind >= endKind {
			return &InvalidError{Field: "kind", Value: op.Kind.String(), Reason: "is unknown"}
		}
		return checkParts(op.Content, op.Aliases, op.Labels)
	case Update:
		return checkParts(op.Content, op.Aliases, op.Labels)
	case Alias:
		return checkParts("", op.Aliases, nil)
	case Relabel:
		return checkParts("", nil, op.Labels)
	}
	return nil
}

// CheckAliases is what a store checks with each change, as it makes it. Of a change
// with UniqueAliases, it returns the error where an alias that the entry has not
// yet, those being old, is taken. Owner returns the name of an entry, other than
// the one named but, that has a word as its name or alias.
func CheckAliases(op Op, old []string, owner func(word, but string) (name string, ok bool)) error {
	for _, a := range op.op().unique {
		if !slices.Contains(old, a) {
			if o, ok := owner(a, OpName(op)); ok {
				return &AliasTakenError{Alias: a, Owner: o}
			}
		}
	}
	return nil
}

func checkParts(content string, aliases []string, labels []Label) error {
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
