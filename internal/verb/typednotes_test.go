// This file tests which types are searched for notes.

package verb

import (
	"reflect"
	"testing"
)

type noteless struct {
	Next *noteless
	Text string
}

// whole and part contain each other, and only part contains a note.
type (
	whole struct{ Parts []part }
	part  struct {
		Whole *whole
		Note  Note
	}
)

// TestMayHoldNotes tests types that contain themselves or each other, in every order of the calls.
func TestMayHoldNotes(t *testing.T) {
	types := map[reflect.Type]bool{
		reflect.TypeFor[noteless](): false,
		reflect.TypeFor[whole]():    true,
		reflect.TypeFor[part]():     true,
		reflect.TypeFor[[]string](): false,
	}
	for first := range types {
		noteHolders.Clear()
		mayHoldNotes(first)
		for typ, want := range types {
			if got := mayHoldNotes(typ); got != want {
				t.Errorf("after %v, mayHoldNotes(%v) = %t, want %t", first, typ, got, want)
			}
		}
	}
}
