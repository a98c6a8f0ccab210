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
type Op interface{ op() }

// Add makes an entry. A name in use is [ErrExists].
type Add struct {
	Name    string
	Kind    Kind
	Content string
	Aliases []string
	Labels  []Label
	Created time.Time // zero means now
}

// Update replaces an entry's content, aliases and labels; what is left empty
// becomes empty. Name, ID, kind and creation time stay. An unknown name is
// [ErrNotFound].
type Update struct {
	Name    string
	Content string
	Aliases []string
	Labels  []Label
	If      uint64
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

func (Add) op()     {}
func (Update) op()  {}
func (Alias) op()   {}
func (Relabel) op() {}
func (Remove) op()  {}

// OpName returns the name of the entry that the change affects.
func OpName(op Op) string {
	switch op := op.(type) {
	case Add:
		return op.Name
	case Update:
		return op.Name
	case Alias:
		return op.Name
	case Relabel:
		return op.Name
	case Remove:
		return op.Name
	}
	panic(fmt.Sprintf("oxbow: op %T outside the sealed set", op))
}

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
