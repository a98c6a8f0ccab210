// This file tests the function RewriteAnswerCommands, which changes commands in notes and advice. It tests which types
// the function searches for notes and advice.

package verb

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

type noteless struct {
	Next *noteless
	Text string
}

// The types whole and part contain each other. Only the type part has a field of type Note.
type (
	whole struct{ Parts []part }
	part  struct {
		Whole *whole
		Note  Note
	}
)

// The type finding has a field with advice, Mend, but no field of type Note.
type finding struct{ Mend string }

// TestTypeCommands checks that RewriteAnswerCommands changes the commands in notes, in findings, and in the text that
// replaces the text of a withheld entry. It must not change the text of an ordinary entry. It must change only a copy
// of the answer.
func TestTypeCommands(t *testing.T) {
	rewrite := func(s string) string { return strings.ReplaceAll(s, "oxbow ", "oxbow --home x ") }
	quarantined, ordinary := withheldText, "oxbow list lists"
	answer := struct {
		Notes    []Note
		Findings []finding
		Entries  []Entry
	}{
		[]Note{Notef("%s", PersonOnlyCommandRef("oxbow setup"))},
		[]finding{{"oxbow recover saves the rest"}},
		[]Entry{{Content: &quarantined, Snippet: withheldText}, {Content: &ordinary, Snippet: ordinary}},
	}
	typed, err := json.Marshal(RewriteAnswerCommands(answer, rewrite))
	if err != nil {
		t.Fatal(err)
	}
	got := string(typed)
	for _, want := range []string{"a person runs oxbow --home x setup", "oxbow --home x recover saves the rest",
		`"snippet":"(in quarantine: only a person sees this, with oxbow --home x approve)"`,
		`"content":"(in quarantine: only a person sees this, with oxbow --home x approve)"`,
		`"content":"oxbow list lists"`} {
		if !strings.Contains(got, want) {
			t.Errorf("TypeCommands = %s, want %q in it", got, want)
		}
	}
	if answer.Notes[0].String() != "a person runs oxbow setup" || answer.Findings[0].Mend[:9] != "oxbow rec" ||
		*answer.Entries[0].Content != withheldText {
		t.Errorf("the given answer has changed: %+v", answer)
	}
	if got := RewriteAnswerCommands(answer, nil); fmt.Sprint(got) != fmt.Sprint(answer) {
		t.Errorf("without a function, TypeCommands = %+v", got)
	}
}

// TestMayHoldNotes checks types that contain themselves or each other. The order of the calls must not matter.
func TestMayHoldNotes(t *testing.T) {
	types := map[reflect.Type]bool{
		reflect.TypeFor[noteless]():  false,
		reflect.TypeFor[whole]():     true,
		reflect.TypeFor[part]():      true,
		reflect.TypeFor[[]string]():  false,
		reflect.TypeFor[[]finding](): true,
	}
	for first := range types {
		noteTypeCache.Clear()
		mayContainNotes(first)
		for typ, want := range types {
			if got := mayContainNotes(typ); got != want {
				t.Errorf("after %v, mayHoldNotes(%v) = %t, want %t", first, typ, got, want)
			}
		}
	}
}
