// This file tests that each verb (an operation such as remember or recall) belongs to exactly one of the sets of verbs
// that AllVerbSets returns.

package verb_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
)

// TestMemoryFindsRecallAndRemember checks that the descriptions of recall and remember contain the word "memory" more
// than once, and no other description of a core tool does. Clients that load tools on demand search the descriptions,
// and a search for "memory" should find recall and remember first.
func TestMemoryFindsRecallAndRemember(t *testing.T) {
	for _, tool := range (verb.VerbSets{verb.VerbSetCore}).SelectTools(verb.Tools()) {
		n := len(regexp.MustCompile(`(?i)\bmemory\b`).FindAllString(tool.Description, -1))
		if main := tool.Name == "recall" || tool.Name == "remember"; main != (n > 1) {
			t.Errorf(
				"%s says memory %d times; recall and remember say it more than once, and no other does",
				tool.Name,
				n,
			)
		}
	}
}

func TestSets(t *testing.T) {
	var all []string
	for _, tool := range slices.Concat(
		verb.ToolsWithProfiles(verb.Tools(), nil), annotations.AnnotationTools(), profiles.SubAgentTools(nil),
		[]verb.Tool{verb.NewRecallMemoryTool()},
	) {
		all = append(all, tool.Name)
		in := 0
		for _, s := range verb.AllVerbSets() {
			if slices.Contains(s.Verbs, tool.Name) {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%s is in %d sets, want one", tool.Name, in)
		}
	}
	for _, s := range verb.AllVerbSets() {
		for _, v := range s.Verbs {
			if !slices.Contains(all, v) {
				t.Errorf("set %s has %s, which is no verb", s.Name, v)
			}
		}
	}
	for _, tt := range []struct {
		names    []string
		has, not string
		wrong    bool
	}{
		{names: []string{"core"}, has: "undo", not: "history"},
		{names: []string{"core,Code", "profiles"}, has: "annotate", not: "spawn_sub_agent"},
		{names: []string{" history ,"}, has: "restore", not: "recall"},
		{names: []string{"full"}, has: "spawn_sub_agent"},
		{names: []string{"all"}, has: "recall_memory"},
		{names: []string{"cor"}, wrong: true},
		{names: []string{","}, wrong: true},
	} {
		s, err := verb.ParseVerbSetNames(tt.names)
		if (err != nil) != tt.wrong || (err == nil && (!s.HasVerb(tt.has) || (tt.not != "" && s.HasVerb(tt.not)))) {
			t.Errorf(
				"ParseSets(%q) = %v, %v, want one with %s and without %s (wrong %v)",
				tt.names,
				s,
				err,
				tt.has,
				tt.not,
				tt.wrong,
			)
		}
	}
	if !verb.VerbSets(nil).HasVerb("recall") {
		t.Error("no sets leave recall out")
	}
}
