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
var conversationTemplatesText string

// conversationTemplates contains the texts and words from which conversations are generated.
type conversationTemplates struct {
	personalWordLists map[string][]string // Lists of words. Each word occurs in the conversations of only one person.
	sharedWordLists   map[string][]string // lists of words that may occur in the generated conversations of all persons
	// Sentences about a fact. Each element consists of a statement, a reply, a question, and a question without an
	// answer.
	factTemplates   [][]string
	fillerTemplates [][]string // Sentences without a fact. Each element consists of a statement and a reply.
}

// parseConversationTemplates parses the sentences and word lists from which conversations are generated. It ignores a
// line if the word before the colon is unknown or the number of parts is wrong.
func parseConversationTemplates(text string) conversationTemplates {
	c := conversationTemplates{personalWordLists: map[string][]string{}, sharedWordLists: map[string][]string{}}
	for line := range strings.Lines(text) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		parts := strings.Split(rest, "|")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		switch kind, name, _ := strings.Cut(head, " "); {
		case kind == "list":
			c.personalWordLists[name] = parts
		case kind == "any":
			c.sharedWordLists[name] = parts
		case kind == "fact" && len(parts) == 4:
			c.factTemplates = append(c.factTemplates, parts)
		case kind == "filler" && len(parts) == 2:
			c.fillerTemplates = append(c.fillerTemplates, parts)
		}
	}
	return c
}

// These constants determine the number and the size of the generated memories.
const (
	personCount      = 8
	turnsPerPerson   = 150
	turnsPerSession  = 10
	factsPerTemplate = 3
)

// GenerateTestMemories yields the test memories of several persons. Each contains entries that are generated from one
// person's conversations. The same seed always results in the same memories.
func GenerateTestMemories(seed uint64) iter.Seq2[*TestMemory, error] {
	return func(yield func(*TestMemory, error) bool) {
		c := parseConversationTemplates(conversationTemplatesText)
		for n := range personCount {
			if !yield(c.generateTestMemory(n, rand.New(rand.NewPCG(seed, uint64(n)))), nil) {
				return
			}
		}
	}
}

// generateTestMemory generates the conversations of one invented person, and returns them as a memory with questions
// about the conversations. For each fact, one question can be answered from the memory and one cannot. The argument
// personNumber begins at 0.
func (c *conversationTemplates) generateTestMemory(personNumber int, r *rand.Rand) *TestMemory {
	s := &TestMemory{Name: fmt.Sprintf("person %d", personNumber+1), SourceKind: inject.SourceKindSessions}
	s.SourceNames = map[string]bool{s.Name: true}
	said := make([][]string, turnsPerPerson)
	for i := range said {
		said[i] = c.fillTemplate(c.fillerTemplates[r.IntN(len(c.fillerTemplates))], 0, r)
	}
	at := r.Perm(turnsPerPerson)
	for _, form := range c.factTemplates {
		for k := range factsPerTemplate {
			said[at[0]], at = c.fillTemplate(form, personNumber+k*personCount, r), at[1:]
		}
	}
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i, parts := range said {
		id := fmt.Sprint(i + 1)
		s.Units = append(
			s.Units,
			MemoryUnit{ID: id, Session: fmt.Sprint(i / turnsPerSession), Prompt: parts[0], Reply: parts[1],
				Time: begin.AddDate(0, 0, i/turnsPerSession).Add(time.Duration(i%turnsPerSession) * time.Minute)},
		)
		if len(parts) == 4 {
			s.Questions = append(
				s.Questions,
				Question{Text: parts[2], AnswerUnitIDs: map[string]bool{id: true}, SourceNames: []string{s.Name}},
				Question{Text: parts[3], SourceNames: []string{s.Name}, Unanswerable: true},
			)
		}
	}
	return s
}

// fillTemplate returns a template's sentences with words instead of placeholders such as {city}. For a list of personal
// words, it uses the word with the index personNumber, so that each person has different words. For a list of shared
// words, it uses a random word. The same placeholder is replaced by the same word in all sentences.
func (c *conversationTemplates) fillTemplate(template []string, personNumber int, r *rand.Rand) []string {
	parts := slices.Clone(template)
	put := func(mark, word string) {
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], mark, word)
		}
	}
	for name, words := range c.personalWordLists {
		put("{"+name+"}", words[personNumber%len(words)])
	}
	for _, name := range slices.Sorted(maps.Keys(c.sharedWordLists)) {
		put("{"+name+"?}", c.sharedWordLists[name][r.IntN(len(c.sharedWordLists[name]))])
	}
	return parts
}
