// This file makes the commands in the answers of verbs work as typed.

package verb

import (
	"reflect"
	"sync"
)

// AsTyped rewrites the commands in a text of oxbow so that they reach this memory when a person types them in a shell
// (see [Workspace.Typed]).
func (w *Workspace) AsTyped(text string) string {
	if w.Typed == nil || text == "" {
		return text
	}
	return w.Typed(text)
}

// typedAs returns the note with a function that rewrites the commands in its sentence.
func (n Note) typedAs(rewrite func(string) string) Note {
	n.rewrite = rewrite
	return n
}

// typeError adds the advice about an error, with commands that reach this memory (see [Workspace.AsTyped]).
func (w *Workspace) typeError(err error) error {
	remedy := Remedy(err)
	if w.Typed == nil || remedy.format == "" {
		return err
	}
	return AdviseNote(err, remedy.typedAs(w.Typed))
}

var (
	noteType    = reflect.TypeFor[Note]()
	noteHolders sync.Map // maps a type to a bool: whether its values may contain a note
)

// typeNotes returns the answer with the commands in all notes rewritten as by [Workspace.AsTyped]. It copies slices
// that contain notes before it changes them, because verbs share some of these slices.
func (w *Workspace) typeNotes(answer any) any {
	if w.Typed == nil || answer == nil || !mayHoldNotes(reflect.TypeOf(answer)) {
		return answer
	}
	copied := reflect.New(reflect.TypeOf(answer)).Elem()
	copied.Set(reflect.ValueOf(answer))
	w.typeNotesIn(copied)
	return copied.Interface()
}

func (w *Workspace) typeNotesIn(v reflect.Value) {
	switch {
	case !mayHoldNotes(v.Type()):
	case v.Type() == noteType:
		v.Set(reflect.ValueOf(v.Interface().(Note).typedAs(w.Typed)))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				w.typeNotesIn(v.Field(i))
			}
		}
	case v.Kind() == reflect.Slice && v.Len() > 0:
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		for i := range copied.Len() {
			w.typeNotesIn(copied.Index(i))
		}
		v.Set(copied)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		copied := reflect.New(v.Type().Elem())
		copied.Elem().Set(v.Elem())
		w.typeNotesIn(copied.Elem())
		v.Set(copied)
	}
}

// mayHoldNotes reports whether values of a type may contain a note in an exported field.
func mayHoldNotes(t reflect.Type) bool {
	if known, ok := noteHolders.Load(t); ok {
		return known.(bool)
	}
	found := leadsToNotes(t, map[reflect.Type]bool{})
	noteHolders.Store(t, found)
	return found
}

// leadsToNotes implements mayHoldNotes. It does not examine the types in seen, because a type may contain itself, and
// adds the examined types to seen.
func leadsToNotes(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == noteType || seen[t] {
		return t == noteType
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && leadsToNotes(t.Field(i).Type, seen) {
				return true
			}
		}
	case reflect.Slice, reflect.Pointer:
		return leadsToNotes(t.Elem(), seen)
	}
	return false
}
