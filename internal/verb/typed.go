// This file changes the commands in answers so that a person can type them.

package verb

import (
	"reflect"
	"slices"
	"sync"
)

// RewriteCommands changes the commands in one of oxbow's texts, so that they reach this memory when typed in a shell
// (see [Workspace.Typed]).
func (w *Workspace) RewriteCommands(text string) string {
	if w.Typed == nil || text == "" {
		return text
	}
	return w.Typed(text)
}

// withRewriter returns a copy of the note that uses the function rewrite to change the commands in the note's text.
func (n Note) withRewriter(rewrite func(string) string) Note {
	n.rewriteCommands = rewrite
	return n
}

// addRemedyText returns err with advice that contains commands for the memory of this workspace (see
// [Workspace.RewriteCommands]). The advice is that of [ErrorRemedy], and the function w.Typed changes the commands in
// it. If there is no advice for err, or if w.Typed is nil, err is returned unchanged.
func (w *Workspace) addRemedyText(err error) error {
	remedy := ErrorRemedy(err)
	if w.Typed == nil || remedy.format == "" {
		return err
	}
	return AdviseWithNote(err, remedy.withRewriter(w.Typed))
}

var (
	noteType      = reflect.TypeFor[Note]()
	noteTypeCache sync.Map // maps a type to a bool: whether a value of the type may contain a note or advice
)

// RewriteAnswerCommands returns a copy of an answer in which the function rewrite has changed oxbow's commands. For
// example, rewrite adds the flag --home, so that a command reaches this memory if the user types it.
// RewriteAnswerCommands calls rewrite for all notes, for fields with advice (see isAdviceField), and for the text that
// replaces the text of a withheld entry. It copies each slice before a change, because answers share slices. If rewrite
// is nil, it returns the answer unchanged.
func RewriteAnswerCommands(answer any, rewrite func(string) string) any {
	if rewrite == nil || answer == nil {
		return answer
	}
	if !mayContainNotes(reflect.TypeOf(answer)) {
		return answer
	}
	copied := reflect.New(reflect.TypeOf(answer)).Elem()
	copied.Set(reflect.ValueOf(answer))
	rewriteCommandsIn(copied, rewrite)
	return copied.Interface()
}

// isAdviceField reports whether a field is a string that may contain an oxbow command. Such fields are named Mend,
// Content or Snippet. Mend contains advice, such as "oxbow recover saves the rest". Content and Snippet are the text of
// an entry, which can contain a command if [WithholdQuarantinedText] has replaced the text.
func isAdviceField(f reflect.StructField) bool {
	names := []string{"Mend", "Content", "Snippet"}
	isText := f.Type.Kind() == reflect.String || f.Type == reflect.TypeFor[*string]()
	return isText && slices.Contains(names, f.Name)
}

func rewriteCommandsIn(v reflect.Value, rewrite func(string) string) {
	switch {
	case !mayContainNotes(v.Type()):
	case v.Type() == noteType:
		v.Set(reflect.ValueOf(v.Interface().(Note).withRewriter(rewrite)))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if isAdviceField(v.Type().Field(i)) {
				rewriteAdviceCommands(v.Field(i), v.Type().Field(i).Name == "Mend", rewrite)
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

// rewriteAdviceCommands applies the function rewrite to a text, so that the oxbow commands in the text work for the
// reader. The value v is a string or a pointer to a string. Only two kinds of texts are changed:
//
//   - the notice withheldText, which replaces a withheld text
//   - advice on how to repair damage: a string that is not a pointer, if isRepairAdvice is set
//
// All other strings may be texts of entries, which must not be changed.
func rewriteAdviceCommands(v reflect.Value, isRepairAdvice bool, rewrite func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if isRepairAdvice || v.String() == withheldText {
			v.SetString(rewrite(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().String() == withheldText {
			typed := rewrite(withheldText)
			v.Set(reflect.ValueOf(&typed))
		}
	}
}

// mayContainNotes reports whether a value of the type may contain a note or advice in an exported field.
func mayContainNotes(t reflect.Type) bool {
	if known, ok := noteTypeCache.Load(t); ok {
		return known.(bool)
	}
	found := typeMayContainNotes(t, map[reflect.Type]bool{})
	noteTypeCache.Store(t, found)
	return found
}

// typeMayContainNotes implements mayContainNotes. It adds each examined type to seen, and does not examine a type
// twice, because a type may contain itself.
func typeMayContainNotes(t reflect.Type, seen map[reflect.Type]bool) bool {
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
			if isAdviceField(f) || typeMayContainNotes(f.Type, seen) {
				return true
			}
		}
	case reflect.Slice, reflect.Pointer:
		return typeMayContainNotes(t.Elem(), seen)
	}
	return false
}
