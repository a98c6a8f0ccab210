// The codec of ops: objects tagged by their verb.

// Package opjson is the JSON form of the ops of a change: an object with one field,
// the verb, and below it the fields of package oxbow.
//
//	{"add": {"name": "a", "content": "…"}}    {"remove": {"name": "b", "if": 7}}
package opjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// ErrNotOne is returned for an object that is not exactly one op, such as one of a verb
// that this version does not have.
var ErrNotOne = errors.New("an op is not exactly one of add, update, alias, relabel and remove")

// Op is an op as JSON. It has one of its fields.
type Op struct {
	Add     *add     `json:"add,omitempty"`
	Update  *update  `json:"update,omitempty"`
	Alias   *alias   `json:"alias,omitempty"`
	Relabel *relabel `json:"relabel,omitempty"`
	Remove  *remove  `json:"remove,omitempty"`
}

// The ops, with the fields of package oxbow.
type (
	add struct {
		Name          string        `json:"name"`
		Kind          oxbow.Kind    `json:"kind,omitempty"`
		Content       string        `json:"content"`
		Aliases       []string      `json:"aliases,omitempty"`
		Labels        []oxbow.Label `json:"labels,omitempty"`
		Created       created       `json:"created,omitzero"`
		UniqueAliases bool          `json:"unique_aliases,omitempty"`
	}
	update struct {
		Name          string        `json:"name"`
		Content       string        `json:"content"`
		Aliases       []string      `json:"aliases,omitempty"`
		Labels        []oxbow.Label `json:"labels,omitempty"`
		If            uint64        `json:"if,omitempty"`
		UniqueAliases bool          `json:"unique_aliases,omitempty"`
	}
	alias struct {
		Name    string   `json:"name"`
		Aliases []string `json:"aliases"`
		If      uint64   `json:"if,omitempty"`
	}
	relabel struct {
		Name   string        `json:"name"`
		Labels []oxbow.Label `json:"labels"`
		If     uint64        `json:"if,omitempty"`
	}
	remove struct {
		Name string `json:"name"`
		If   uint64 `json:"if,omitempty"`
	}
)

// created is a time as RFC 3339, or as [seconds since 1970, nanoseconds] where that has
// no form: before the year 0, or after 9999.
type created struct{ time.Time }

func (t created) MarshalJSON() ([]byte, error) {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return json.Marshal([2]int64{t.Unix(), int64(t.Nanosecond())})
	}
	return t.UTC().MarshalJSON()
}

func (t *created) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return t.Time.UnmarshalJSON(b)
	}
	var at [2]int64
	err := json.Unmarshal(b, &at)
	t.Time = time.Unix(at[0], at[1]).UTC()
	return err
}

// From returns the JSON form of an op. Of one of another type, the error matches
// [oxbow.ErrUnsupported].
func From(op oxbow.Op) (w Op, err error) {
	switch op := op.(type) {
	case oxbow.Add:
		w.Add = &add{op.Name, op.Kind, op.Content, op.Aliases, op.Labels, created{op.Created}, op.UniqueAliases}
	case oxbow.Update:
		w.Update = (*update)(&op)
	case oxbow.Alias:
		w.Alias = (*alias)(&op)
	case oxbow.Relabel:
		w.Relabel = (*relabel)(&op)
	case oxbow.Remove:
		w.Remove = (*remove)(&op)
	default:
		err = fmt.Errorf("%w: a change of type %T", oxbow.ErrUnsupported, op)
	}
	return w, err
}

// Op returns the op, or [ErrNotOne]. It is not checked.
func (w Op) Op() (oxbow.Op, error) {
	var ops []oxbow.Op
	if a := w.Add; a != nil {
		ops = append(ops, oxbow.Add{Name: a.Name, Kind: a.Kind, Content: a.Content, Aliases: a.Aliases, Labels: a.Labels, Created: a.Created.Time, UniqueAliases: a.UniqueAliases})
	}
	if w.Update != nil {
		ops = append(ops, oxbow.Update(*w.Update))
	}
	if w.Alias != nil {
		ops = append(ops, oxbow.Alias(*w.Alias))
	}
	if w.Relabel != nil {
		ops = append(ops, oxbow.Relabel(*w.Relabel))
	}
	if w.Remove != nil {
		ops = append(ops, oxbow.Remove(*w.Remove))
	}
	if len(ops) != 1 {
		return nil, ErrNotOne
	}
	return ops[0], nil
}
