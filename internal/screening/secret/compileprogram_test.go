// Test helpers that compile an expression to a program, and keywords to an automaton.

package secret

import (
	_ "embed"
	"math"
	"regexp/syntax"
	"slices"
	"strings"
)

// maxUnrolled is the maximum number of repetitions of a group.
const maxUnrolled = 60

func (s *byteSet) add(c byte) { s[c>>6] |= 1 << (c & 63) }

func (s *byteSet) join(t *byteSet) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s *byteSet) meets(t *byteSet) bool {
	return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0
}

var allBytes = byteSet{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}

// newProgram compiles an expression in the syntax of Go. It panics if a group has no maximum number of repetitions,
// because the expressions in the source files must not have such a group.
func newProgram(expr string) *regexpProgram {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic("secret: " + err.Error())
	}
	p := &regexpProgram{groupSlotCount: 2}
	p.add(re)
	p.instructions = append(p.instructions, regexpInstruction{opcode: opMatchFound})
	// All jumps lead forward, so the instructions are processed from the last to the first.
	for pc := len(p.instructions) - 1; pc >= 0; pc-- {
		p.begins(pc)
		if in := &p.instructions[pc]; in.opcode == opRepeatBytes {
			in.isExact = !in.repeatedBytes.meets(&p.instructions[pc+1].firstBytes)
		}
	}
	return p
}

// begins sets firstBytes of the instruction pc. These are the bytes that can come first in a text that matches from
// this instruction on. The instructions that can follow must have their firstBytes already.
func (p *regexpProgram) begins(pc int) {
	in := &p.instructions[pc]
	f := &in.firstBytes
	switch in.opcode {
	case opMatchLiteral:
		f.add(in.text[0])
		if in.isCaseless {
			f.add(in.text[0] | 0x20)
			f.add(upperByte(in.text[0]))
		}
	case opRepeatBytes:
		*f = *in.repeatedBytes
		if in.minLength == 0 {
			f.join(&p.instructions[pc+1].firstBytes)
		}
	case opTryAlternatives:
		for _, alt := range in.branches {
			f.join(&p.instructions[alt].firstBytes)
		}
	case opJumpToInstruction:
		*f = p.instructions[in.targetOrSlot].firstBytes
	case opMatchFound:
		*f = allBytes
	case opAssertTextEnd: // no byte can follow
	default:
		*f = p.instructions[pc+1].firstBytes
	}
}

func (p *regexpProgram) emit(in regexpInstruction) int {
	p.instructions = append(p.instructions, in)
	return len(p.instructions) - 1
}

// add appends the instructions of an expression.
func (p *regexpProgram) add(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpEmptyMatch:
	case syntax.OpLiteral:
		fold := re.Flags&syntax.FoldCase != 0
		text := string(re.Rune)
		if fold {
			text = strings.ToLower(text)
		}
		p.emit(regexpInstruction{opcode: opMatchLiteral, text: text, isCaseless: fold})
	case syntax.OpCapture:
		p.groupSlotCount = max(p.groupSlotCount, 2*re.Cap+2)
		p.emit(regexpInstruction{opcode: opSaveGroupPosition, targetOrSlot: 2 * re.Cap})
		p.add(re.Sub[0])
		p.emit(regexpInstruction{opcode: opSaveGroupPosition, targetOrSlot: 2*re.Cap + 1})
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			p.add(sub)
		}
	case syntax.OpAlternate:
		p.branch(re.Sub...)
	case syntax.OpBeginText:
		p.emit(regexpInstruction{opcode: opAssertTextBegin})
	case syntax.OpEndText:
		p.emit(regexpInstruction{opcode: opAssertTextEnd})
	case syntax.OpWordBoundary:
		p.emit(regexpInstruction{opcode: opAssertWordBoundary})
	case syntax.OpNoWordBoundary:
		p.emit(regexpInstruction{opcode: opAssertNoWordBoundary})
	default:
		p.repeat(re)
	}
}

// branch appends the instructions of alternatives. The first alternative that matches is used.
func (p *regexpProgram) branch(subs ...*syntax.Regexp) {
	branch := p.emit(regexpInstruction{opcode: opTryAlternatives})
	var jumps []int
	for _, sub := range subs {
		p.instructions[branch].branches = append(p.instructions[branch].branches, len(p.instructions))
		p.add(sub)
		jumps = append(jumps, p.emit(regexpInstruction{opcode: opJumpToInstruction}))
	}
	for _, j := range jumps {
		p.instructions[j].targetOrSlot = len(p.instructions)
	}
}

// repeat appends the instructions of a repetition, or of a single byte in a set.
func (p *regexpProgram) repeat(re *syntax.Regexp) {
	sub := re
	least := 1
	most := 1
	switch re.Op {
	case syntax.OpQuest:
		sub = re.Sub[0]
		least = 0
		most = 1
	case syntax.OpStar:
		sub = re.Sub[0]
		least = 0
		most = -1
	case syntax.OpPlus:
		sub = re.Sub[0]
		least = 1
		most = -1
	case syntax.OpRepeat:
		sub = re.Sub[0]
		least = re.Min
		most = re.Max
	}
	if wide := wideRunes(re); wide != nil {
		narrow := &syntax.Regexp{Op: re.Op, Flags: re.Flags, Rune: re.Rune[:len(re.Rune)-2*len(wide)]}
		p.branch(append(wide, narrow)...)
		return
	}
	if s, ok := setOf(sub); ok {
		if most < 0 {
			most = math.MaxInt - 1
		}
		isLazy := re.Flags&syntax.NonGreedy != 0 && least != most
		p.emit(
			regexpInstruction{
				opcode:           opRepeatBytes,
				repeatedBytes:    &s,
				minLength:        least,
				maxLength:        most,
				isLazyRepetition: isLazy,
			},
		)
		return
	}
	if sub == re || most < 0 || most > maxUnrolled {
		panic("secret: a group is repeated in " + re.String())
	}
	p.unroll(re, sub, least, most)
}

// unroll appends the instructions of a group repeatedly, for at least the minimum and at most the maximum number of
// repetitions.
func (p *regexpProgram) unroll(re, sub *syntax.Regexp, least, most int) {
	if re.Op == syntax.OpQuest {
		subs := []*syntax.Regexp{sub, {Op: syntax.OpEmptyMatch}}
		if re.Flags&syntax.NonGreedy != 0 {
			slices.Reverse(subs)
		}
		p.branch(subs...)
		return
	}
	for range least {
		p.add(sub)
	}
	rest := &syntax.Regexp{Op: syntax.OpEmptyMatch} // each optional repetition contains the next one: (x(x)?)?
	for range most - least {
		body := &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{sub, rest}}
		rest = &syntax.Regexp{Op: syntax.OpQuest, Flags: re.Flags, Sub: []*syntax.Regexp{body}}
	}
	p.add(rest)
}

// wideRunes returns the single characters at the end of the character class re that are U+3000 or above, such as CJK
// and full-width characters. It returns one expression for each character, and the last character comes first. It stops
// at the first range of several characters. It returns nil if re is no character class.
func wideRunes(re *syntax.Regexp) (wide []*syntax.Regexp) {
	if re.Op != syntax.OpCharClass {
		return nil
	}
	for i := len(re.Rune) - 2; i >= 0 && re.Rune[i] >= 0x3000 && re.Rune[i] == re.Rune[i+1]; i -= 2 {
		wide = append(wide, &syntax.Regexp{Op: syntax.OpLiteral, Rune: re.Rune[i : i+1]})
	}
	return wide
}

// setOf returns the set of bytes with which a match of the expression re can begin, if re matches exactly one
// character. Characters outside of ASCII are in the set as all bytes above 0x7f. It returns false if re is neither a
// single ASCII character nor a class of characters.
func setOf(re *syntax.Regexp) (s byteSet, ok bool) {
	ranges := re.Rune
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) != 1 || re.Rune[0] >= 0x80 {
			return s, false
		}
		c := byte(re.Rune[0])
		s.add(c)
		if re.Flags&syntax.FoldCase != 0 && (classifyByte(c) == lowerCaseByte || classifyByte(c) == upperCaseByte) {
			s.add(c ^ 0x20)
		}
		return s, true
	case syntax.OpAnyChar:
		return allBytes, true
	case syntax.OpAnyCharNotNL:
		ranges = []rune{0, '\n' - 1, '\n' + 1, math.MaxInt32}
	case syntax.OpCharClass:
	default:
		return s, false
	}
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= min(ranges[i+1], 0x7f); c++ {
			s.add(byte(c))
		}
		// A class with large characters contains almost all characters outside of ASCII, so add all bytes above 0x7f. A
		// class that ignores case may contain the two letters outside of ASCII that fold to ASCII letters, which are
		// below this limit and are ignored.
		if ranges[i+1] > 0x2fff {
			s[2], s[3] = math.MaxUint64, math.MaxUint64
		}
	}
	return s, true
}

func upperByte(c byte) byte {
	if classifyByte(c) == lowerCaseByte {
		return c - 0x20
	}
	return c
}

// newAutomaton returns the automaton for words. The words must be in lower case.
func newAutomaton(words []ruleKeyword) *keywordAutomaton {
	a := &keywordAutomaton{byteClassCount: 1}
	letters := 1
	for _, w := range words {
		letters += min(len(w.word), maxStoredPrefixBytes)
		for i := range min(len(w.word), maxStoredPrefixBytes) {
			if c := w.word[i]; a.byteClassByValue[c] == 0 {
				a.byteClassByValue[c] = uint8(a.byteClassCount)
				a.byteClassCount++
			}
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		a.byteClassByValue[c-'a'+'A'] = a.byteClassByValue[c]
	}
	next := make([]uint16, a.byteClassCount, a.byteClassCount*letters)
	ends := [][]ruleKeyword{nil}
	for _, w := range words {
		s := 0
		for i := range min(len(w.word), maxStoredPrefixBytes) {
			to := &next[s*a.byteClassCount+int(a.byteClassByValue[w.word[i]])]
			if *to == 0 {
				*to = uint16(len(ends))
				ends = append(ends, nil)
				next = next[:len(next)+a.byteClassCount]
				s = len(ends) - 1
				continue
			}
			s = int(*to)
		}
		ends[s] = append(ends[s], w)
	}
	link(next, a.byteClassCount, ends)
	a.transitions = next
	for _, ws := range ends {
		a.wordStarts = append(a.wordStarts, uint32(len(a.words)))
		a.words = append(a.words, ws...)
	}
	a.wordStarts = append(a.wordStarts, uint32(len(a.words)))
	return a
}

// link completes the automaton that searches for keywords. A state stands for the beginning of a keyword. For each
// state, link finds the longest proper suffix of its text that is also a state. The state gets the keywords of the
// suffix, and the suffix's transition for each byte class for which it has no transition itself. link processes the
// states in order of depth, because a suffix must be complete before it is used.
func link(next []uint16, width int, ends [][]ruleKeyword) {
	fail := make([]uint16, len(ends))
	var queue []uint16
	for _, s := range next[:width] {
		if s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		ends[s] = append(ends[s], ends[fail[s]]...)
		for c := range width {
			to := &next[int(s)*width+c]
			suffix := next[int(fail[s])*width+c]
			if *to == 0 {
				*to = suffix
				continue
			}
			fail[*to] = suffix
			queue = append(queue, *to)
		}
	}
}
