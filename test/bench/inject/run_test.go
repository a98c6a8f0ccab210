// This file tests a whole run of the measurement with a few of the generated memories. It also tests how these memories
// and their questions are generated.

package inject

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
)

// few yields the first stores of the generated set.
func few(n int) iter.Seq2[*TestMemory, error] {
	return func(yield func(*TestMemory, error) bool) {
		left := n
		for s, err := range GenerateTestMemories(1) {
			left--
			if left < 0 || !yield(s, err) {
				return
			}
		}
	}
}

func TestRun(t *testing.T) {
	res, err := RunMeasurement(
		t.Context(),
		Options{TestMemories: few(2), OtherMemoryQuestionCount: 10, ChangedMemoryCount: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	of := map[PromptGroup]int{
		AnswerableQuestions:   30,
		OtherMemoryQuestions:  10,
		TaskPrompts:           2 * len(workOrderPrompts()),
		UnanswerableQuestions: 30,
		RepeatedPrompts:       30,
		ParaphrasedPrompts:    30,
		MixedMemoryQuestions:  15,
		LongSessionQuestions:  15,
		ToolOutputQuestions:   15,
	}
	row := res.RuleResults[0]
	for _, a := range PromptGroups() {
		if row.QuotedTextMatchCounts[a].PromptCount != of[a] {
			t.Errorf("%s was put %d times, want %d", a, row.QuotedTextMatchCounts[a].PromptCount, of[a])
		}
	}
	if row.QuotedTextMatchCounts[AnswerableQuestions].MatchingPromptCount != 30 ||
		row.QuotedTextMatchCounts[RepeatedPrompts].MatchingPromptCount != 30 ||
		row.QuotedTextMatchCounts[LongSessionQuestions].MatchingPromptCount != 15 {
		t.Errorf(
			"by any match, %d of 30 are right, %d of 30 come again, and %d of 15 are right beside a marathon; want all",
			row.QuotedTextMatchCounts[AnswerableQuestions].MatchingPromptCount,
			row.QuotedTextMatchCounts[RepeatedPrompts].MatchingPromptCount,
			row.QuotedTextMatchCounts[LongSessionQuestions].MatchingPromptCount,
		)
	}
	if res.UnitCount != 2*turnsPerPerson || res.StoreCount != 2 || row.WorkingDayCost.Prompts != 2*100 {
		t.Errorf(
			"%d units in %d stores, %d prompts of days",
			res.UnitCount,
			res.StoreCount,
			row.WorkingDayCost.Prompts,
		)
	}
}

// TestForms tests the functions that change a test memory. A unit is a turn of a conversation. Interleaving the
// sessions of two memories and adding a long session must keep all units. withAnswersAsToolOutput must move the text of
// a prompt to the output of a tool.
func TestForms(t *testing.T) {
	var ss []*TestMemory
	for s := range few(2) {
		ss = append(ss, s)
	}
	if n := len(ss[0].interleaveSessions(ss[1]).Units); n != 2*turnsPerPerson {
		t.Errorf("joined, there are %d units, want %d", n, 2*turnsPerPerson)
	}
	if n := len(ss[0].withLongSession(ss[1:]).Units); n != turnsPerPerson+longSessionTurns {
		t.Errorf("beside a marathon, there are %d units, want %d", n, turnsPerPerson+longSessionTurns)
	}
	p := ss[0].withAnswersAsToolOutput()
	i := slices.IndexFunc(p.Units, func(u MemoryUnit) bool { return u.FailedCommandOutput != "" })
	if i < 0 || p.Units[i].FailedCommandOutput != ss[0].Units[i].Prompt || p.Units[i].Prompt == ss[0].Units[i].Prompt {
		t.Errorf("printed, unit %d is %+v", i, p.Units[max(i, 0)])
	}
	m, err := p.openMemory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Get(t.Context(), "claude/"+fmt.Sprintf("s%04d/%04d", i/turnsPerSession+1, i%turnsPerSession+1))
	if err != nil || !strings.Contains(e.Content, p.Units[i].FailedCommandOutput) {
		t.Errorf("the turn does not hold what was printed: %q, %v", e.Content, err)
	}
	if err := m.checkStoreAndClose(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestGenerate checks that the generated set is complete and always the same.
func TestGenerate(t *testing.T) {
	var a, b []*TestMemory
	for s := range GenerateTestMemories(7) {
		a = append(a, s)
	}
	for s := range GenerateTestMemories(7) {
		b = append(b, s)
	}
	if !reflect.DeepEqual(a, b) || len(a) != personCount {
		t.Fatalf("%d and %d stores, which are not equal or not %d", len(a), len(b), personCount)
	}
	seen := map[string]string{}
	for _, s := range a {
		for _, u := range s.Units {
			if strings.ContainsAny(u.Prompt+u.Reply, "{}") {
				t.Errorf("%s: a mark is left in %q", s.Name, u.Prompt+u.Reply)
			}
		}
		for _, q := range s.Questions {
			if strings.ContainsAny(q.Text, "{}") || seen[q.Text] != "" {
				t.Errorf("%s asks %q, and so does %q", s.Name, q.Text, seen[q.Text])
			}
			seen[q.Text] = s.Name
		}
		if s.SourceKind != inject.SourceKindSessions || len(s.Questions) != 2*15 {
			t.Errorf("%s has %d asks", s.Name, len(s.Questions))
		}
	}
}

// TestPrompts checks that there are many work orders (prompts for which the memory should show nothing) and that none
// is repeated. No work order may be a decoy, because decoys were used to set the threshold of the rule that is measured
// here.
func TestPrompts(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range gate.DecoyPrompts() {
		seen[strings.ToLower(d.Text)] = true
	}
	all := workOrderPrompts()
	for _, o := range append(slices.Clone(all), samplePastedTexts()...) {
		if seen[strings.ToLower(o)] || o == "" {
			t.Errorf("%q is empty, a decoy, or there twice", o)
		}
		seen[strings.ToLower(o)] = true
	}
	if acks, work := splitAcknowledgements(all); len(all) < 300 || len(acks) < 60 || len(work) < 150 ||
		len(samplePastedTexts()) < 20 {
		t.Errorf(
			"%d orders, %d short and %d long; %d pasted",
			len(all),
			len(acks),
			len(work),
			len(samplePastedTexts()),
		)
	}
}
