// This file implements the Aho-Corasick automaton that finds the keywords of all rules.

package secret

// ruleKeyword is a lower-case word that may occur near a secret. Wherever the word occurs in a text, the rule for
// secrets with the index ruleIndex is tried.
type ruleKeyword struct {
	word      string
	ruleIndex int
}

// maxStoredPrefixBytes is how many bytes of a word the automaton stores at most. This keeps the automaton small. If
// a text matches the stored prefix of a word, the text is then compared with the whole word.
const maxStoredPrefixBytes = 4

// keywordAutomaton finds many words in one pass over a text. It ignores case. See Aho and Corasick, Efficient string
// matching, 1975.
type keywordAutomaton struct {
	// class of each byte (an upper-case letter has its lower-case letter's class, and bytes that occur in no word have
	// the class 0)
	byteClassByValue [256]uint8
	byteClassCount   int // number of different values in byteClassByValue
	// table of the automaton: the next state is at index state*byteClassCount+class, where class is the class of the
	// next byte
	transitions []uint16
	// For each state, the keywords that end when the state is reached: words[wordStarts[state]:wordStarts[state+1]].
	wordStarts []uint32
	words      []ruleKeyword
}

// eachKeyword calls fn for each occurrence of a keyword in the text, with the keyword and its first byte's position.
func (a *keywordAutomaton) eachKeyword(text string, fn func(w ruleKeyword, start int)) {
	state := 0
	for i := range len(text) {
		state = int(a.transitions[state*a.byteClassCount+int(a.byteClassByValue[text[i]])])
		if a.wordStarts[state] == a.wordStarts[state+1] {
			continue
		}
		for _, w := range a.words[a.wordStarts[state]:a.wordStarts[state+1]] {
			if start := i + 1 - min(len(w.word), maxStoredPrefixBytes); hasPrefixFold(text[start:], w.word) {
				fn(w, start)
			}
		}
	}
}
