// This file matches the expression of a rule at a position of a text.

package secret

import "strings"

// program is a compiled regular expression. It matches the same texts as package regexp, whose time
// per position grows with the size of the expression. The programs are stored in rules.bin.
type program struct {
	insts  []inst
	groups int // number of entries of matcher.slots in use
}

// inst is an instruction. It is followed by the next instruction, except for a jump.
type inst struct {
	op       uint8
	fold     bool   // the literal matches in upper and lower case
	least    bool   // lazy: the run is as short as possible
	exact    bool   // the byte after the run cannot be in the set, so that only the longest run can match
	text     string // literal
	first    set    // possible first bytes of a match from here on
	set      *set   // bytes that a run may contain
	min, max int    // length of a run in bytes
	alts     []int  // first instructions of the branches
	arg      int    // instruction to jump to, or slot to save the position in
}

// Operations of instructions.
const (
	opLiteral = iota
	opRun
	opBranch
	opJump
	opSave
	opBegin
	opEnd
	opBoundary
	opNoBoundary
	opMatch
)

// cachedRun is the largest maximum length of runs whose ends are not cached.
const cachedRun = 64

// set is a set of bytes. A set that contains runes outside of ASCII contains all bytes of their
// UTF-8 encodings.
type set [4]uint64

func (s *set) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

// matcher matches a program in a text.
type matcher struct {
	*program
	text  string
	slots [2 * maxGroups]int // start and end of each group; group 0 is the match
	runs  []span             // by instruction: the most recent long run
	steps int                // number of instructions and run bytes so far, as a measure of time
}

// span is a range of positions from from to to, without to.
type span struct{ from, to int }

// maxGroups is the maximum number of groups of an expression, including the match.
const maxGroups = 20

// at reports whether the expression matches at a position.
func (m *matcher) at(pos int) bool {
	if pos < len(m.text) && !m.insts[0].first.has(m.text[pos]) {
		return false
	}
	for i := range m.groups {
		m.slots[i] = -1
	}
	m.slots[0] = pos
	return m.match(0, pos)
}

// within reports whether the expression matches anywhere in the text.
func (p *program) within(text string) bool {
	m := matcher{program: p, text: text}
	for at := range len(text) + 1 {
		if m.at(at) {
			return true
		}
	}
	return false
}

// match reports whether the program from instruction pc on matches at a position.
func (m *matcher) match(pc, pos int) bool {
	for {
		in := &m.insts[pc]
		m.steps++
		switch in.op {
		case opBranch:
			for _, alt := range in.alts {
				if m.may(alt, pos) && m.match(alt, pos) {
					return true
				}
			}
			return false
		case opJump:
			pc = in.arg
			continue
		case opSave:
			old := m.slots[in.arg]
			m.slots[in.arg] = pos
			if !m.match(pc+1, pos) {
				m.slots[in.arg] = old
				return false
			}
			return true
		case opMatch:
			m.slots[1] = pos
			return true
		case opRun:
			if !in.exact && in.min != in.max {
				return m.tryRun(pc, pos)
			}
		}
		n := m.size(pc, pos)
		if n < 0 {
			return false
		}
		pos += n
		pc++
	}
}

// size returns the length of the match of an instruction that can match in only one way. It returns
// -1 if the instruction does not match.
func (m *matcher) size(pc, pos int) int {
	in := &m.insts[pc]
	switch in.op {
	case opLiteral:
		if in.hasPrefix(m.text[pos:]) {
			return len(in.text)
		}
	case opRun:
		n := m.run(pc, pos)
		if n >= in.min && (n <= in.max || !in.exact) {
			return min(n, in.max)
		}
	default:
		if m.holds(in.op, pos) {
			return 0
		}
	}
	return -1
}

// may reports whether the next byte allows an instruction to match.
func (m *matcher) may(pc, pos int) bool {
	return pos == len(m.text) || m.insts[pc].first.has(m.text[pos])
}

// holds reports whether an assertion is true at a position.
func (m *matcher) holds(op uint8, pos int) bool {
	switch op {
	case opBegin:
		return pos == 0
	case opEnd:
		return pos == len(m.text)
	}
	within := (pos > 0 && isWord(m.text[pos-1]) == (pos < len(m.text) && isWord(m.text[pos]))) ||
		(pos == 0 && (len(m.text) == 0 || !isWord(m.text[0])))
	return within == (op == opNoBoundary)
}

// tryRun tries each length of a run, followed by the rest of the program.
func (m *matcher) tryRun(pc, pos int) bool {
	in := &m.insts[pc]
	if in.least {
		for n := 0; n <= in.max; n++ {
			if n >= in.min && m.may(pc+1, pos+n) && m.match(pc+1, pos+n) {
				return true
			}
			if pos+n == len(m.text) || !in.set.has(m.text[pos+n]) {
				return false
			}
		}
		return false
	}
	for n := min(m.run(pc, pos), in.max); n >= in.min; n-- {
		if m.may(pc+1, pos+n) && m.match(pc+1, pos+n) {
			return true
		}
	}
	return false
}

// run returns the length of the run at a position. The result is at most one more than the maximum
// length of the instruction.
func (m *matcher) run(pc, pos int) int {
	in := &m.insts[pc]
	if in.max <= cachedRun {
		n := 0
		for n <= in.max && pos+n < len(m.text) && in.set.has(m.text[pos+n]) {
			n++
		}
		m.steps += n
		return n
	}
	if m.runs == nil {
		m.runs = make([]span, len(m.insts))
	}
	r := &m.runs[pc]
	if pos < r.from || pos >= r.to {
		*r = span{pos, pos}
		for r.to < len(m.text) && in.set.has(m.text[r.to]) {
			r.to++
		}
		m.steps += r.to - pos
	}
	return min(r.to-pos, in.max+1)
}

// hasPrefix reports whether the text begins with the instruction's literal.
func (in *inst) hasPrefix(text string) bool {
	if in.fold {
		return hasPrefixFold(text, in.text)
	}
	return strings.HasPrefix(text, in.text)
}

// hasPrefixFold reports whether a text begins with a word, ignoring case. The word must be in lower
// case.
func hasPrefixFold(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if c := text[i]; c != word[i] && (kindOf(c) != upper || c|0x20 != word[i]) {
			return false
		}
	}
	return true
}
