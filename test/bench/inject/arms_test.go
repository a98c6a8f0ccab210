// This file tests the scorer on cases whose counts were computed by hand.

package inject

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

// scripted is a conversation that returns the decisions of a list, one after another.
type scripted struct{ left []Decision }

func (s *scripted) ask(context.Context, string) (Decision, error) {
	d := s.left[0]
	s.left = s.left[1:]
	return d, nil
}

// script returns a rule whose sessions each begin with the first decision.
func script(ds ...Decision) Rule {
	return Rule{"script", func(*memory) conversation { return &scripted{ds} }}
}

func show(a gate.Answer, units ...string) Decision { return Decision{Answer: a, Units: units} }

func TestScorer(t *testing.T) {
	right := map[string]bool{"b": true, "c": true}
	asks := []Ask{
		{Text: "has no right unit"},
		{Text: "cannot be answered", Right: right, Unanswerable: true},
		{Text: "is answered", Right: right},
	}
	for _, c := range []struct {
		name              string
		d                 Decision
		own, any          int // counts for one prompt in each arm
		ownPoint, anyPoin int
	}{
		{"silence", show(gate.Silence), 0, 0, 0, 0},
		{"a wrong unit", show(gate.Payload, "a", "d"), 0, 1, 0, 0},
		{"a right one last", show(gate.Payload, "a", "d", "c"), 1, 1, 0, 0},
		{"a pointer to a right one", show(gate.Pointer, "b"), 0, 0, 1, 1},
		{"a pointer to a wrong one", show(gate.Pointer, "a"), 0, 0, 0, 1},
	} {
		row := newRow("script")
		b := &bench{rules: []Rule{script(c.d)}, rows: []*Row{row}}
		if err := b.askOwn(t.Context(), Own, asks); err != nil {
			t.Fatal(err)
		}
		if err := b.runArm(t.Context(), Foreign, "anything", nil); err != nil {
			t.Fatal(err)
		}
		for _, w := range []struct {
			what string
			got  *Count
			want Count
		}{
			{"own", row.Arms[Own], Count{1, c.own}}, {"own, pointers", row.Pointers[Own], Count{1, c.ownPoint}},
			{"foreign", row.Arms[Foreign], Count{1, c.any}},
			{"foreign, pointers", row.Pointers[Foreign], Count{1, c.anyPoin}},
		} {
			if *w.got != w.want {
				t.Errorf("%s: %s is %+v, want %+v", c.name, w.what, *w.got, w.want)
			}
		}
	}
}

// TestScorerOfRepeats asks a question in two sessions: followed by the same question, and followed by
// its paraphrase.
func TestScorerOfRepeats(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second Decision
		want          Count
	}{
		{"nothing at first", show(gate.Silence), show(gate.Payload, "a"), Count{0, 0}},
		{"the same", show(gate.Payload, "a", "b"), show(gate.Payload, "c", "b"), Count{1, 1}},
		{"another", show(gate.Payload, "a", "b"), show(gate.Payload, "c"), Count{1, 0}},
		{"nothing then", show(gate.Payload, "a"), show(gate.Silence), Count{1, 0}},
		{"shown after a pointer to it", show(gate.Pointer, "a"), show(gate.Payload, "a"), Count{1, 1}},
	} {
		row := newRow("script")
		b := &bench{rules: []Rule{script(c.first, c.second)}, rows: []*Row{row}}
		if err := b.again(t.Context(), []Ask{{Text: "Where is it?", Right: map[string]bool{"a": true}}}); err != nil {
			t.Fatal(err)
		}
		if *row.Arms[Again] != c.want || *row.Arms[Paraphrase] != c.want {
			t.Errorf("%s: %+v and %+v, want %+v", c.name, *row.Arms[Again], *row.Arms[Paraphrase], c.want)
		}
	}
}

func TestDay(t *testing.T) {
	var ds []Decision
	for i := range 100 {
		ds = append(ds, Decision{Answer: gate.Silence, Took: time.Duration(i)})
	}
	ds[3] = Decision{Answer: gate.Payload, Tokens: 300, Took: 500}
	ds[40] = Decision{Answer: gate.Pointer, Tokens: 40, Took: 40}
	ds[41] = Decision{Answer: gate.Payload, Tokens: 160, Took: 41}
	want := Day{Prompts: 100, Payloads: 2, Pointers: 1, Mean: 5, P50: 0, P99: 300, Took50: 50, Took99: 500}
	if got := summarizeDay(ds); got != want {
		t.Errorf("the day is %+v, want %+v", got, want)
	}
	if got := summarizeDay(nil); got != (Day{}) {
		t.Errorf("a day without prompts is %+v", got)
	}
}

// TestWilson compares intervals with values from a table.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		count     Count
		low, high float64
	}{
		{Count{10, 0}, 0, .2775}, {Count{10, 5}, .2366, .7634}, {Count{10, 8}, .4902, .9433},
		{Count{10, 10}, .7225, 1}, {Count{}, 0, 1},
	} {
		if low, high := c.count.Interval(); math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%+v is from %.4f to %.4f, want %.4f to %.4f", c.count, low, high, c.low, c.high)
		}
	}
}
