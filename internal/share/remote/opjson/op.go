// This file converts ops to JSON objects and back.

// Package opjson encodes the ops of a change as JSON. An op is an object with a single field. The
// field's name is the verb, and its value contains the fields of the op's type in package oxbow.
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

// ErrNotOneOp is returned for an object that does not contain exactly one known op. The reason may be that a newer
// oxbow version has more kinds of ops.
var ErrNotOneOp = errors.New("an op is not exactly one of add, update, alias, relabel and remove")

// Op is the JSON form of an op. Exactly one of its fields is set.
type Op struct {
	Add     *jsonAdd     `json:"add,omitempty"`
	Update  *jsonUpdate  `json:"update,omitempty"`
	Alias   *jsonAlias   `json:"alias,omitempty"`
	Relabel *jsonRelabel `json:"relabel,omitempty"`
	Remove  *jsonRemove  `json:"remove,omitempty"`
}

// The JSON forms of the ops. They have the same fields as the types in package oxbow.
type (
	jsonAdd struct {
		Name          string        `json:"name"`
		Kind          oxbow.Kind    `json:"kind,omitempty"`
		Content       string        `json:"content"`
		Aliases       []string      `json:"aliases,omitempty"`
		Labels        []oxbow.Label `json:"labels,omitempty"`
		Created       createdTime   `json:"created,omitzero"`
		UniqueAliases bool          `json:"unique_aliases,omitempty"`
	}
	jsonUpdate struct {
		Name          string        `json:"name"`
		Content       string        `json:"content"`
		Aliases       []string      `json:"aliases,omitempty"`
		Labels        []oxbow.Label `json:"labels,omitempty"`
		If            uint64        `json:"if,omitempty"`
		UniqueAliases bool          `json:"unique_aliases,omitempty"`
	}
	jsonAlias struct {
		Name    string   `json:"name"`
		Aliases []string `json:"aliases"`
		If      uint64   `json:"if,omitempty"`
	}
	jsonRelabel struct {
		Name   string        `json:"name"`
		Labels []oxbow.Label `json:"labels"`
		If     uint64        `json:"if,omitempty"`
	}
	jsonRemove struct {
		Name string `json:"name"`
		If   uint64 `json:"if,omitempty"`
	}
)

// createdTime is a time in JSON. It is encoded as in RFC 3339. Before the year 0 and after the year 9999, it is
// encoded as [seconds since 1970, nanoseconds].
type createdTime struct{ time.Time }

func (t createdTime) MarshalJSON() ([]byte, error) {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return json.Marshal([2]int64{t.Unix(), int64(t.Nanosecond())})
	}
	return t.UTC().MarshalJSON()
}

func (t *createdTime) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return t.Time.UnmarshalJSON(b)
	}
	var at [2]int64
	err := json.Unmarshal(b, &at)
	t.Time = time.Unix(at[0], at[1]).UTC()
	return err
}

// EncodeOp returns the JSON form of an op. If the op has an unknown type, the error matches [oxbow.ErrUnsupported].
func EncodeOp(op oxbow.Op) (w Op, err error) {
	switch op := op.(type) {
	case oxbow.Add:
		w.Add = &jsonAdd{op.Name, op.Kind, op.Content, op.Aliases, op.Labels, createdTime{op.Created}, op.UniqueAliases}
	case oxbow.Update:
		w.Update = (*jsonUpdate)(&op)
	case oxbow.Alias:
		w.Alias = (*jsonAlias)(&op)
	case oxbow.Relabel:
		w.Relabel = (*jsonRelabel)(&op)
	case oxbow.Remove:
		w.Remove = (*jsonRemove)(&op)
	default:
		err = fmt.Errorf("%w: a change of type %T", oxbow.ErrUnsupported, op)
	}
	return w, err
}

// Decode returns the decoded op. If w does not describe exactly one op, the error is [ErrNotOneOp]. Decode does not
// check whether the op is valid.
func (w Op) Decode() (oxbow.Op, error) {
	var ops []oxbow.Op
	if a := w.Add; a != nil {
		ops = append(
			ops,
			oxbow.Add{Name: a.Name, Kind: a.Kind, Content: a.Content, Aliases: a.Aliases, Labels: a.Labels,
				Created: a.Created.Time, UniqueAliases: a.UniqueAliases},
		)
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
		return nil, ErrNotOneOp
	}
	return ops[0], nil
}
