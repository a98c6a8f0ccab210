// This file loads the compiled rules, which are embedded in the binary. Each expression is decoded when it is first
// used.

package secret

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
)

// encodedRules contains the rules in compiled form. A test compiles them from rules.txt, own.txt and stopwords.txt:
//
//	go test ./internal/screening/secret -run TestTable -update
//
// Numbers are encoded as uvarints. The length of a text precedes the text.
//
//go:embed rules.bin
var encodedRules string

// ruleTableReader decodes the embedded table of rules for secrets. It does not check for errors, because a test
// compares the table with the source files of the table.
type ruleTableReader string

func (r *ruleTableReader) readInt() int {
	n, i := 0, 0
	for shift := 0; ; shift += 7 {
		c := (*r)[i]
		i++
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			*r = (*r)[i:]
			return n
		}
	}
}

func (r *ruleTableReader) readBytes(n int) string {
	s := string((*r)[:n])
	*r = (*r)[n:]
	return s
}

func (r *ruleTableReader) readText() string { return r.readBytes(r.readInt()) }

// secretRules contains all rules and the automaton for the keywords of all rules.
type secretRules struct {
	byteSetTable []byteSet
	// all regular expressions; the first are general, and all later ones belong to the rules
	expressions          []lazyRegexp
	rulesInOrder         []secretRule
	keywords             keywordAutomaton
	stopwordsByFirstByte [256]string // stop words by first byte (the length of a word precedes the word)
}

// These constants are indexes in rules.expressions. The regular expressions at these indexes are used by the code
// itself and not by a rule.
const (
	exprIndexVariable = iota
	exprIndexHexValue
	exprIndexSecretName
)

// Several expressions of a rule exclude matches that are not secrets. These constants say with which text such an
// expression is compared.
const (
	comparedTextSecret = iota
	comparedTextMatch
	comparedTextLine
	comparedTextNonRandom // the secret, but the expression is ignored if the secret looks random
)

var ruleSet = sync.OnceValue(loadRules)

func loadRules() *secretRules {
	rs, r := new(secretRules), ruleTableReader(encodedRules)
	rs.byteSetTable = make([]byteSet, r.readInt())
	for i := range rs.byteSetTable {
		b := []byte(r.readBytes(32))
		for j := range rs.byteSetTable[i] {
			rs.byteSetTable[i][j] = binary.LittleEndian.Uint64(b[8*j:])
		}
	}
	rs.expressions = make([]lazyRegexp, r.readInt())
	for i := range rs.expressions {
		rs.expressions[i].encodedProgram = r.readText()
	}
	rs.rulesInOrder = make([]secretRule, r.readInt())
	allowances := make([]nonSecretPattern, 0, r.readInt())
	for i := range rs.rulesInOrder {
		firstAllowance := len(allowances)
		newRule := secretRule{
			name:                   r.readText(),
			ruleTableIndex:         i,
			maxBytesBeforeKeyword:  r.readInt(),
			maxBytesAfterKeyword:   r.readInt(),
			isForAssignments:       r.readInt() != 0,
			hasSecretsWithoutWords: r.readInt() != 0,
			minEntropy: float64(
				r.readInt(),
			) / 1000,
			secretGroupIndex: r.readInt(),
			lazyRegexp:       &rs.expressions[r.readInt()],
		}
		for range r.readInt() {
			allowances = append(allowances, nonSecretPattern{r.readInt(), &rs.expressions[r.readInt()]})
		}
		newRule.nonSecretPatterns = allowances[firstAllowance:]
		rs.rulesInOrder[i] = newRule
	}
	rs.keywords.decode(&r)
	for range r.readInt() {
		c := r.readInt()
		rs.stopwordsByFirstByte[c] = r.readText()
	}
	return rs
}

func (a *keywordAutomaton) decode(r *ruleTableReader) {
	a.words = make([]ruleKeyword, r.readInt())
	for i := range a.words {
		a.words[i] = ruleKeyword{r.readText(), r.readInt()}
	}
	a.byteClassCount = r.readInt()
	copy(a.byteClassByValue[:], r.readBytes(len(a.byteClassByValue)))
	a.wordStarts = make([]uint32, r.readInt())
	for i := range a.wordStarts {
		a.wordStarts[i] = uint32(r.readInt())
	}
	a.transitions = make([]uint16, a.byteClassCount*(len(a.wordStarts)-1))
	encoded := r.readBytes(2 * len(a.transitions))
	for i := range a.transitions {
		a.transitions[i] = uint16(encoded[2*i]) | uint16(encoded[2*i+1])<<8
	}
}

// lazyRegexp is a compiled regular expression, which is decoded when it is first used.
type lazyRegexp struct {
	encodedProgram string
	once           sync.Once
	decoded        *regexpProgram
}

func (e *lazyRegexp) program() *regexpProgram {
	e.once.Do(func() { e.decoded = decodeRegexpProgram(ruleTableReader(e.encodedProgram), ruleSet().byteSetTable) })
	return e.decoded
}

func decodeRegexpProgram(r ruleTableReader, sets []byteSet) *regexpProgram {
	p := &regexpProgram{groupSlotCount: r.readInt(), instructions: make([]regexpInstruction, r.readInt())}
	for i := range p.instructions {
		in := &p.instructions[i]
		in.opcode = uint8(r.readInt())
		in.firstBytes = sets[r.readInt()]
		switch in.opcode {
		case opMatchLiteral:
			in.isCaseless, in.text = r.readInt() != 0, r.readText()
		case opRepeatBytes:
			in.isLazyRepetition = r.readInt() != 0
			in.isExact = r.readInt() != 0
			in.repeatedBytes = &sets[r.readInt()]
			in.minLength, in.maxLength = r.readInt(), r.readInt()-1
			if in.maxLength < 0 {
				in.maxLength = math.MaxInt - 1
			}
		case opTryAlternatives:
			in.branches = make([]int, r.readInt())
			for j := range in.branches {
				in.branches[j] = r.readInt()
			}
		case opJumpToInstruction, opSaveGroupPosition:
			in.targetOrSlot = r.readInt()
		}
	}
	return p
}
