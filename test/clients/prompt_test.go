// This file tests which text hooks add to a prompt. If the prompt asks a question that a note answers, each client must
// send the sentence of the note to the model exactly once. If the prompt only says thanks, hooks must show nothing with
// it.

package clients

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const (
	asks   = "From which pier does the ferry to Bornholm leave?"
	ferry  = "The ferry to Bornholm leaves from pier nine, at dawn."
	thanks = "Thanks, that was all."
)

// subjects are the subjects of notes that do not answer the question in the constant asks.
var subjects = []string{"kitchen", "queue", "crane", "invoice", "garden", "parser", "camera", "bicycle", "piano",
	"winter", "library", "harvest", "compass", "printer", "marathon",
	"wardrobe", "telescope", "bakery", "passport", "aquarium"}

func TestPrompts(t *testing.T) { eachClient(t, prompts) }

// prompts runs two sessions of a client. In one, the person asks a question that a note answers. In the other, the
// person only says thanks.
func prompts(t *testing.T, c *testedClient, argv []string, program, modules string) {
	m := &scriptedModel{makeToolCall: c.makeToolCall, mainConversationMarker: asks}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPerson(t, c, program, modules, s.URL)
	p.run(program, "remember", "ferry", ferry)
	// These notes are newer and shorter, so the start of a session has no room for the note about the ferry.
	for i := range 3 * len(subjects) {
		s := subjects[i%len(subjects)]
		p.run(program, "remember", fmt.Sprint(s, i), fmt.Sprintf("The %s is on plan %d.", s, i))
	}
	// This call calibrates how strong a match must be. A hook has only a short time for this, which may not suffice on
	// a busy machine.
	if out := p.run(program, "inject", asks); !strings.Contains(out, "pier nine, at dawn") {
		t.Errorf("oxbow inject shows %q", out)
	}
	for prompt, want := range map[string]int{asks: 1, thanks: 0} {
		m.startConversation(prompt)
		p.run(slices.Concat(argv, c.runArgs, []string{prompt})...)
		most := 0
		for _, body := range m.mainConversationRequests {
			most = max(most, strings.Count(body, "pier nine, at dawn"))
		}
		if most != want || len(m.mainConversationRequests) == 0 {
			t.Errorf(
				"in %d requests after %q the sentence stands up to %d times, want %d",
				len(m.mainConversationRequests),
				prompt,
				most,
				want,
			)
		}
	}
	if out := p.run(program, "injected", "--json", "--place", "prompt"); strings.Count(out, `"place":"prompt"`) != 1 {
		t.Errorf("recorded is %s", out)
	}
}
