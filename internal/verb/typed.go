// This file makes the commands in the answers of verbs work as typed.

package verb

import (
	"reflect"
	"slices"
	"sync"
)

// RewriteCommands rewrites the commands in a text by oxbow for a person at a shell, so that the typed commands use
// this memory (see [Workspace.Typed]).
func (w *Workspace) RewriteCommands(text string) string {
	if w.Typed == nil || text == "" {
		return text
	}
	return w.Typed(text)
}

// withRewriter returns the note with a function that rewrites the commands in its sentence.
func (n Note) withRewriter(rewrite func(string) string) Note {
	n.rewriteCommands = rewrite
	return n
}

// addErrorRemedy adds the advice about an error, with commands that reach this memory (see
// [Workspace.RewriteCommands]).
func (w *Workspace) addErrorRemedy(err error) error {
	remedy := ErrorRemedy(err)
	if w.Typed == nil || remedy.format == "" {
		return err
	}
	return AdviseNote(err, remedy.withRewriter(w.Typed))
}

var (
	noteType      = reflect.TypeFor[Note]()
	noteTypeCache sync.Map // maps a type to a bool: whether its values may contain a note or advice
)

// RewriteAnswerCommands passes each command in an answer to rewrite, so that the commands work as typed. It changes
// all notes, all string fields named Mend, and the text that replaces withheld entries. RewriteAnswerCommands
// copies slices before it changes them, because verbs share slices. If rewrite is nil, nothing changes.
func RewriteAnswerCommands(answer any, rewrite func(string) string) any {
	if rewrite == nil || answer == nil {
		return answer
	}
	if !mayHoldNotes(reflect.TypeOf(answer)) {
		return answer
	}
	copied := reflect.New(reflect.TypeOf(answer)).Elem()
	copied.Set(reflect.ValueOf(answer))
	rewriteCommandsIn(copied, rewrite)
	return copied.Interface()
}

// isAdviceField reports whether a field is a string that may contain a command: advice such as "oxbow recover saves the
// rest", or the text of an entry, which [WithholdQuarantinedText] may have replaced.
func isAdviceField(f reflect.StructField) bool {
	names := []string{"Mend", "Content", "Snippet"}
	isText := f.Type.Kind() == reflect.String || f.Type == reflect.TypeFor[*string]()
	return isText && slices.Contains(names, f.Name)
}

func rewriteCommandsIn(v reflect.Value, rewrite func(string) string) {
	switch {
	case !mayHoldNotes(v.Type()):
	case v.Type() == noteType:
		v.Set(reflect.ValueOf(v.Interface().(Note).withRewriter(rewrite)))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if isAdviceField(v.Type().Field(i)) {
				rewriteAdvice(v.Field(i), v.Type().Field(i).Name == "Mend", rewrite)
			} else if v.Field(i).CanSet() {
				rewriteCommandsIn(v.Field(i), rewrite)
			}
		}
	case v.Kind() == reflect.Slice && v.Len() > 0:
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		for i := range copied.Len() {
			rewriteCommandsIn(copied.Index(i), rewrite)
		}
		v.Set(copied)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		copied := reflect.New(v.Type().Elem())
		copied.Elem().Set(v.Elem())
		rewriteCommandsIn(copied.Elem(), rewrite)
		v.Set(copied)
	}
}

// rewriteAdvice rewrites a string, or the string that a pointer leads to, if it is advice or replaces a withheld
// text. The texts of entries must not change.
func rewriteAdvice(v reflect.Value, isMend bool, rewrite func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if isMend || v.String() == withheldText {
			v.SetString(rewrite(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().String() == withheldText {
			typed := rewrite(withheldText)
			v.Set(reflect.ValueOf(&typed))
		}
	}
}

// mayHoldNotes reports whether values of a type may contain a note or advice in an exported field.
func mayHoldNotes(t reflect.Type) bool {
	if known, ok := noteTypeCache.Load(t); ok {
		return known.(bool)
	}
	found := findNotesInType(t, map[reflect.Type]bool{})
	noteTypeCache.Store(t, found)
	return found
}

// findNotesInType implements mayHoldNotes. It does not examine the types in seen, because a type may contain
// itself, and adds the examined types to seen.
func findNotesInType(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == noteType || seen[t] {
		return t == noteType
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				continue
			}
			if isAdviceField(f) || findNotesInType(f.Type, seen) {
				return true
			}
		}
	case reflect.Slice, reflect.Pointer:
		return findNotesInType(t.Elem(), seen)
	}
	return false
}
