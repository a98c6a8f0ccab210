// This file generates a set of conversations between people and an agent. Each person
// mentions facts that nobody else mentions.

package inject

import (
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/inject"
)

//go:embed corpus.txt
var corpusText string

// corpus contains the building blocks of conversations.
type corpus struct {
	lists  map[string][]string // words that each belong to one person
	any    map[string][]string // words that everybody may use
	facts  [][]string          // statement, reply, question, and a question without an answer
	filler [][]string          // statement and reply
}

// parseCorpus parses the forms and lists. It ignores lines without a known form.
func parseCorpus(text string) corpus {
	c := corpus{lists: map[string][]string{}, any: map[string][]string{}}
	for line := range strings.Lines(text) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		parts := strings.Split(rest, "|")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		switch kind, name, _ := strings.Cut(head, " "); {
		case kind == "list":
			c.lists[name] = parts
		case kind == "any":
			c.any[name] = parts
		case kind == "fact" && len(parts) == 4:
			c.facts = append(c.facts, parts)
		case kind == "filler" && len(parts) == 2:
			c.filler = append(c.filler, parts)
		}
	}
	return c
}

// Size of the generated set.
const (
	people       = 8
	turnsOfOne   = 150
	sessionTurns = 10
	factsOfForm  = 3
)

// Generate yields the stores of people. Equal seeds give equal conversations.
func Generate(seed uint64) iter.Seq2[*Store, error] {
	return func(yield func(*Store, error) bool) {
		c := parseCorpus(corpusText)
		for n := range people {
			if !yield(c.person(n, rand.New(rand.NewPCG(seed, uint64(n)))), nil) {
				return
			}
		}
	}
}

// person returns the conversation of one person.
func (c *corpus) person(n int, r *rand.Rand) *Store {
	s := &Store{Name: fmt.Sprintf("person %d", n+1), In: inject.InSessions}
	s.Holds = map[string]bool{s.Name: true}
	said := make([][]string, turnsOfOne)
	for i := range said {
		said[i] = c.fill(c.filler[r.IntN(len(c.filler))], 0, r)
	}
	at := r.Perm(turnsOfOne)
	for _, form := range c.facts {
		for k := range factsOfForm {
			said[at[0]], at = c.fill(form, n+k*people, r), at[1:]
		}
	}
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i, parts := range said {
		id := fmt.Sprint(i + 1)
		s.Units = append(s.Units, Unit{ID: id, Session: fmt.Sprint(i / sessionTurns), Prompt: parts[0], Reply: parts[1],
			Time: begin.AddDate(0, 0, i/sessionTurns).Add(time.Duration(i%sessionTurns) * time.Minute)})
		if len(parts) == 4 {
			s.Asks = append(s.Asks, Ask{Text: parts[2], Right: map[string]bool{id: true}, From: []string{s.Name}},
				Ask{Text: parts[3], From: []string{s.Name}, Unanswerable: true})
		}
	}
	return s
}

// fill inserts words into the parts of a form. From the lists of personal words it takes
// word n, from other lists a random word. All parts get the same words.
func (c *corpus) fill(form []string, n int, r *rand.Rand) []string {
	parts := slices.Clone(form)
	put := func(mark, word string) {
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], mark, word)
		}
	}
	for name, words := range c.lists {
		put("{"+name+"}", words[n%len(words)])
	}
	for _, name := range slices.Sorted(maps.Keys(c.any)) {
		put("{"+name+"?}", c.any[name][r.IntN(len(c.any[name]))])
	}
	return parts
}
