// This file generates conversations between people and an agent. Each person mentions facts that nobody else mentions.

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

// conversationForms contains the texts and words from which conversations are generated.
type conversationForms struct {
	personalWords map[string][]string // Lists of words. Each word occurs in the conversations of only one person.
	sharedWords   map[string][]string // lists of words that may occur in the generated conversations of all persons
	// Sentences about a fact. Each element consists of a statement, a reply, a question, and a question without an
	// answer.
	factForms   [][]string
	fillerForms [][]string // Sentences without a fact. Each element consists of a statement and a reply.
}

// parseConversationForms parses the sentences and word lists from which conversations are generated. It ignores a line
// if the word before the colon is unknown or the number of parts is wrong.
func parseConversationForms(text string) conversationForms {
	c := conversationForms{personalWords: map[string][]string{}, sharedWords: map[string][]string{}}
	for line := range strings.Lines(text) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		parts := strings.Split(rest, "|")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		switch kind, name, _ := strings.Cut(head, " "); {
		case kind == "list":
			c.personalWords[name] = parts
		case kind == "any":
			c.sharedWords[name] = parts
		case kind == "fact" && len(parts) == 4:
			c.factForms = append(c.factForms, parts)
		case kind == "filler" && len(parts) == 2:
			c.fillerForms = append(c.fillerForms, parts)
		}
	}
	return c
}

// These constants determine the number and the size of the generated memories.
const (
	personCount     = 8
	turnsPerPerson  = 150
	turnsPerSession = 10
	factsPerForm    = 3
)

// GenerateStores yields the stores of several people. The same seed always results in the same conversations.
func GenerateStores(seed uint64) iter.Seq2[*TestStore, error] {
	return func(yield func(*TestStore, error) bool) {
		c := parseConversationForms(corpusText)
		for n := range personCount {
			if !yield(c.generateStore(n, rand.New(rand.NewPCG(seed, uint64(n)))), nil) {
				return
			}
		}
	}
}

// generateStore generates the conversations of the person with the number personNumber, and returns a store with them.
func (c *conversationForms) generateStore(personNumber int, r *rand.Rand) *TestStore {
	s := &TestStore{Name: fmt.Sprintf("person %d", personNumber+1), In: inject.SourceSessions}
	s.Holds = map[string]bool{s.Name: true}
	said := make([][]string, turnsPerPerson)
	for i := range said {
		said[i] = c.fillForm(c.fillerForms[r.IntN(len(c.fillerForms))], 0, r)
	}
	at := r.Perm(turnsPerPerson)
	for _, form := range c.factForms {
		for k := range factsPerForm {
			said[at[0]], at = c.fillForm(form, personNumber+k*personCount, r), at[1:]
		}
	}
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i, parts := range said {
		id := fmt.Sprint(i + 1)
		s.Units = append(
			s.Units,
			StoreUnit{ID: id, Session: fmt.Sprint(i / turnsPerSession), Prompt: parts[0], Reply: parts[1],
				Time: begin.AddDate(0, 0, i/turnsPerSession).Add(time.Duration(i%turnsPerSession) * time.Minute)},
		)
		if len(parts) == 4 {
			s.Asks = append(s.Asks, Question{Text: parts[2], Right: map[string]bool{id: true}, From: []string{s.Name}},
				Question{Text: parts[3], From: []string{s.Name}, Unanswerable: true})
		}
	}
	return s
}

// fillForm returns the sentences of a form with words instead of placeholders such as {city}. For a list of personal
// words, it uses the word with the index personNumber, so that each person has different words. For a list of shared
// words, it uses a random word. The same placeholder is replaced by the same word in all sentences.
func (c *conversationForms) fillForm(form []string, personNumber int, r *rand.Rand) []string {
	parts := slices.Clone(form)
	put := func(mark, word string) {
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], mark, word)
		}
	}
	for name, words := range c.personalWords {
		put("{"+name+"}", words[personNumber%len(words)])
	}
	for _, name := range slices.Sorted(maps.Keys(c.sharedWords)) {
		put("{"+name+"?}", c.sharedWords[name][r.IntN(len(c.sharedWords[name]))])
	}
	return parts
}
