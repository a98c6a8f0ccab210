// This file matches the regular expression of a rule for secrets at a position in a text.

package secret

import "strings"

// regexpProgram is a compiled regular expression. It matches the same texts as the expression in package regexp. This
// package does not use package regexp, because the time that regexp needs for each position grows with the size of the
// expression. The programs are stored in rules.bin.
type regexpProgram struct {
	instructions   []regexpInstruction
	groupSlotCount int // number of elements in matcher.slots that the expression needs: two for each group
}

// regexpInstruction is an instruction of a program. After an instruction that is not a jump, the program continues
// with the next instruction.
type regexpInstruction struct {
	opcode           uint8
	isCaseless       bool // the literal matches upper-case and lower-case letters
	isLazyRepetition bool // the repetition in the expression is lazy: it matches as few bytes as possible
	// The next instruction can never match a byte in repeatedBytes. Therefore only the longest possible repetition can
	// match, and shorter ones need not be tried.
	isExact              bool
	text                 string   // literal text
	firstBytes           byteSet  // bytes with which a match of this instruction and the following ones can begin
	repeatedBytes        *byteSet // bytes that may be repeated in an opRepeatBytes instruction
	minLength, maxLength int      // how often bytes from repeatedBytes must and may be repeated
	branches             []int    // indexes of the instructions with which the alternatives begin
	// For a jump, the index of the instruction to jump to. For an instruction that saves a group boundary, the index of
	// the boundary in groupSlots; the current position in the text is stored there.
	targetOrSlot int
}

// Kinds of instructions of a compiled regular expression.
const (
	opMatchLiteral = iota
	opRepeatBytes
	opTryAlternatives
	opJumpToInstruction
	opSaveGroupPosition
	opAssertTextBegin
	opAssertTextEnd
	opAssertWordBoundary
	opAssertNoWordBoundary
	opMatchFound
)

// An instruction in a compiled pattern can match several bytes of the same class, such as [a-z]{1,100}. If the maximum
// number of these bytes exceeds maxUncachedRepeatedBytes, the position at which the bytes of the class end in the text
// is cached.
const maxUncachedRepeatedBytes = 64

// byteSet is a set of bytes. If an expression's set contains characters outside ASCII, the byteSet contains all bytes
// of their UTF-8 encodings.
type byteSet [4]uint64

func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

// regexpMatcher tries to match a compiled regular expression at positions of a text.
type regexpMatcher struct {
	*regexpProgram
	text              string
	groupSlots        [2 * maxRegexpGroups]int // start and end of each group (group 0 is the whole match)
	cachedRepetitions []byteSpan               // for each instruction, the bytes that its last long repetition matched
	// work that the matcher has done, to measure speed: how many instructions were executed, and how many bytes were
	// compared for repeated characters
	stepCount int
}

// byteSpan is the range of positions from start to end. It does not include end.
type byteSpan struct{ start, end int }

// maxRegexpGroups is the maximum number of groups in a regular expression. The whole match counts as a group.
const maxRegexpGroups = 20

// matchAt reports whether the regular expression matches the text at a position. If it matches, the bounds of the match
// and of its groups are in groupSlots.
func (m *regexpMatcher) matchAt(pos int) bool {
	if pos < len(m.text) && !m.instructions[0].firstBytes.has(m.text[pos]) {
		return false
	}
	for i := range m.groupSlotCount {
		m.groupSlots[i] = -1
	}
	m.groupSlots[0] = pos
	return m.matchFrom(0, pos)
}

// matchesIn reports whether the compiled regular expression matches anywhere in the text.
func (p *regexpProgram) matchesIn(text string) bool {
	m := regexpMatcher{regexpProgram: p, text: text}
	for pos := range len(text) + 1 {
		if m.matchAt(pos) {
			return true
		}
	}
	return false
}

// matchFrom reports whether the text at position pos matches the instruction with index pc and all instructions after
// it. If it matches, matchFrom stores the bounds of the groups in groupSlots.
func (m *regexpMatcher) matchFrom(pc, pos int) bool {
	for {
		instr := &m.instructions[pc]
		m.stepCount++
		switch instr.opcode {
		case opTryAlternatives:
			for _, alt := range instr.branches {
				if m.canMatch(alt, pos) && m.matchFrom(alt, pos) {
					return true
				}
			}
			return false
		case opJumpToInstruction:
			pc = instr.targetOrSlot
			continue
		case opSaveGroupPosition:
			oldStart := m.groupSlots[instr.targetOrSlot]
			m.groupSlots[instr.targetOrSlot] = pos
			if !m.matchFrom(pc+1, pos) {
				m.groupSlots[instr.targetOrSlot] = oldStart
				return false
			}
			return true
		case opMatchFound:
			m.groupSlots[1] = pos
			return true
		case opRepeatBytes:
			if !instr.isExact && instr.minLength != instr.maxLength {
				return m.matchRepetitionAndRest(pc, pos)
			}
		}
		n := m.matchFixedSize(pc, pos)
		if n < 0 {
			return false
		}
		pos += n
		pc++
	}
}

// matchFixedSize returns how many bytes the instruction with index instructionIndex matches at pos. It is used for
// instructions without alternatives, such as a literal text. It returns -1 if the instruction does not match.
func (m *regexpMatcher) matchFixedSize(instructionIndex, pos int) int {
	instr := &m.instructions[instructionIndex]
	switch instr.opcode {
	case opMatchLiteral:
		if instr.hasPrefix(m.text[pos:]) {
			return len(instr.text)
		}
	case opRepeatBytes:
		n := m.countRepeatedBytes(instructionIndex, pos)
		isTooLong := n > instr.maxLength && instr.isExact
		if n >= instr.minLength && !isTooLong {
			return min(n, instr.maxLength)
		}
	default:
		if m.isAssertionTrue(instr.opcode, pos) {
			return 0
		}
	}
	return -1
}

// canMatch reports whether the instruction with index pc, and the instructions after it, may match at a position.
// canMatch only examines the byte at this position. At the end of the text, it always returns true.
func (m *regexpMatcher) canMatch(pc, pos int) bool {
	return pos == len(m.text) || m.instructions[pc].firstBytes.has(m.text[pos])
}

// isAssertionTrue reports whether an assertion is true at a position. The assertion op requires the start or the end of
// the text, a word boundary, or a place that is not a word boundary. A word boundary is between a byte that belongs to
// a word and one that does not. The start and the end of the text count as bytes that do not belong to a word.
func (m *regexpMatcher) isAssertionTrue(op uint8, pos int) bool {
	switch op {
	case opAssertTextBegin:
		return pos == 0
	case opAssertTextEnd:
		return pos == len(m.text)
	}
	isInWord := (pos > 0 && isWordByte(m.text[pos-1]) == (pos < len(m.text) && isWordByte(m.text[pos]))) ||
		(pos == 0 && (len(m.text) == 0 || !isWordByte(m.text[0])))
	return isInWord == (op == opAssertNoWordBoundary)
}

// matchRepetitionAndRest tries to match a repetition, which is instruction pc, and all instructions after it. It tries
// each possible number of repetitions: the fewest first if the repetition is lazy, otherwise the most first. It
// reports whether any matches.
func (m *regexpMatcher) matchRepetitionAndRest(pc, pos int) bool {
	instr := &m.instructions[pc]
	if instr.isLazyRepetition {
		for n := 0; n <= instr.maxLength; n++ {
			if n >= instr.minLength && m.canMatch(pc+1, pos+n) {
				if m.matchFrom(pc+1, pos+n) {
					return true
				}
			}
			if pos+n == len(m.text) || !instr.repeatedBytes.has(m.text[pos+n]) {
				return false
			}
		}
		return false
	}
	for n := min(m.countRepeatedBytes(pc, pos), instr.maxLength); n >= instr.minLength; n-- {
		if m.canMatch(pc+1, pos+n) && m.matchFrom(pc+1, pos+n) {
			return true
		}
	}
	return false
}

// countRepeatedBytes returns how many bytes a repetition instruction can match. pc is the index of the instruction, and
// pos is the position in the text at which the bytes begin. The result is at most the instruction's maximum length plus
// one.
func (m *regexpMatcher) countRepeatedBytes(pc, pos int) int {
	in := &m.instructions[pc]
	if in.maxLength <= maxUncachedRepeatedBytes {
		n := 0
		for n <= in.maxLength && pos+n < len(m.text) && in.repeatedBytes.has(m.text[pos+n]) {
			n++
		}
		m.stepCount += n
		return n
	}
	if m.cachedRepetitions == nil {
		m.cachedRepetitions = make([]byteSpan, len(m.instructions))
	}
	r := &m.cachedRepetitions[pc]
	if pos < r.start || pos >= r.end {
		*r = byteSpan{pos, pos}
		for r.end < len(m.text) && in.repeatedBytes.has(m.text[r.end]) {
			r.end++
		}
		m.stepCount += r.end - pos
	}
	return min(r.end-pos, in.maxLength+1)
}

// hasPrefix reports whether a text begins with the literal text that the instruction matches.
func (in *regexpInstruction) hasPrefix(text string) bool {
	if in.isCaseless {
		return hasPrefixFold(text, in.text)
	}
	return strings.HasPrefix(text, in.text)
}

// equalsFold reports whether c is the lower-case character lowerChar, or the upper-case form of this character.
func equalsFold(c, lowerChar byte) bool {
	return c == lowerChar || (classifyByte(c) == upperCaseByte && c|0x20 == lowerChar)
}

// hasPrefixFold reports whether a text begins with a word, ignoring case. The word must be in lower
// case.
func hasPrefixFold(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if !equalsFold(text[i], word[i]) {
			return false
		}
	}
	return true
}
