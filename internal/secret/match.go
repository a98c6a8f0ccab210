// Expressions of rules: a matcher that begins at one place, and knows no window.

package secret

import (
	"math"
	"regexp/syntax"
	"slices"
	"strings"
)

// program is an expression as instructions. Go's regexp matches the same, but takes
// a time for each place that grows with the expression, and 0.1 ms to compile one.
type program struct {
	insts  []inst
	groups int   // slots of groups
	first  []set // of each instruction: what a match from there may begin with
}

// inst is one instruction. It is followed by the next one, but for a jump.
type inst struct {
	op       uint8
	fold     bool   // the case of the literal does not matter
	least    bool   // the run is as short as may be
	exact    bool   // what follows the run begins with no byte of its set
	text     string // literal
	set      set    // of a run
	min, max int    // bytes of a run
	alts     []int  // instructions that branches begin with
	arg      int    // instruction to jump to, slot to save in
}

// Operations.
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

// maxUnrolled is how often a group may be repeated.
const maxUnrolled = 60

// cachedRun is the length of runs whose ends are kept: other runs are short.
const cachedRun = 64

// set is a set of bytes. One of runes that are not ASCII has all of their bytes.
type set [4]uint64

func (s *set) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

func (s *set) add(c byte) { s[c>>6] |= 1 << (c & 63) }

func (s *set) join(t *set) {
	for i := range s {
		s[i] |= t[i]
	}
}

func (s *set) meets(t *set) bool {
	return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0
}

var allBytes = set{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}

// newProgram compiles an expression of Go's syntax. It panics where a group is
// repeated without an end: the data is wrong.
func newProgram(expr string) *program {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic("secret: " + err.Error())
	}
	p := &program{groups: 2}
	p.add(re)
	p.insts = append(p.insts, inst{op: opMatch})
	p.first = make([]set, len(p.insts))
	for pc := len(p.insts) - 1; pc >= 0; pc-- { // jumps lead forward
		p.begins(pc)
		if in := &p.insts[pc]; in.op == opRun {
			in.exact = !in.set.meets(&p.first[pc+1])
		}
	}
	return p
}

// begins sets what a match from an instruction may begin with.
func (p *program) begins(pc int) {
	f, in := &p.first[pc], &p.insts[pc]
	switch in.op {
	case opLiteral:
		f.add(in.text[0])
		if in.fold {
			f.add(in.text[0] | 0x20)
			f.add(upperByte(in.text[0]))
		}
	case opRun:
		*f = in.set
		if in.min == 0 {
			f.join(&p.first[pc+1])
		}
	case opBranch:
		for _, alt := range in.alts {
			f.join(&p.first[alt])
		}
	case opJump:
		*f = p.first[in.arg]
	case opMatch:
		*f = allBytes
	case opEnd: // no byte follows
	default:
		*f = p.first[pc+1]
	}
}

func (p *program) emit(in inst) int {
	p.insts = append(p.insts, in)
	return len(p.insts) - 1
}

// add appends the instructions of an expression.
func (p *program) add(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpEmptyMatch:
	case syntax.OpLiteral:
		fold := re.Flags&syntax.FoldCase != 0
		text := string(re.Rune)
		if fold {
			text = strings.ToLower(text)
		}
		p.emit(inst{op: opLiteral, text: text, fold: fold})
	case syntax.OpCapture:
		p.groups = max(p.groups, 2*re.Cap+2)
		p.emit(inst{op: opSave, arg: 2 * re.Cap})
		p.add(re.Sub[0])
		p.emit(inst{op: opSave, arg: 2*re.Cap + 1})
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			p.add(sub)
		}
	case syntax.OpAlternate:
		p.branch(re.Sub...)
	case syntax.OpBeginText:
		p.emit(inst{op: opBegin})
	case syntax.OpEndText:
		p.emit(inst{op: opEnd})
	case syntax.OpWordBoundary:
		p.emit(inst{op: opBoundary})
	case syntax.OpNoWordBoundary:
		p.emit(inst{op: opNoBoundary})
	default:
		p.repeat(re)
	}
}

// branch appends alternatives, the first of which that matches is taken.
func (p *program) branch(subs ...*syntax.Regexp) {
	branch := p.emit(inst{op: opBranch})
	var jumps []int
	for _, sub := range subs {
		p.insts[branch].alts = append(p.insts[branch].alts, len(p.insts))
		p.add(sub)
		jumps = append(jumps, p.emit(inst{op: opJump}))
	}
	for _, j := range jumps {
		p.insts[j].arg = len(p.insts)
	}
}

// repeat appends what is repeated, or a single byte of a set.
func (p *program) repeat(re *syntax.Regexp) {
	sub, least, most := re, 1, 1
	switch re.Op {
	case syntax.OpQuest:
		sub, least, most = re.Sub[0], 0, 1
	case syntax.OpStar:
		sub, least, most = re.Sub[0], 0, -1
	case syntax.OpPlus:
		sub, least, most = re.Sub[0], 1, -1
	case syntax.OpRepeat:
		sub, least, most = re.Sub[0], re.Min, re.Max
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
		p.emit(inst{op: opRun, set: s, min: least, max: most, least: re.Flags&syntax.NonGreedy != 0 && least != most})
		return
	}
	if sub == re || most < 0 || most > maxUnrolled {
		panic("secret: a group is repeated in " + re.String())
	}
	p.unroll(re, sub, least, most)
}

// unroll appends a group so many times.
func (p *program) unroll(re, sub *syntax.Regexp, least, most int) {
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
	rest := &syntax.Regexp{Op: syntax.OpEmptyMatch} // each only after the one before: (x(x)?)?
	for range most - least {
		body := &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{sub, rest}}
		rest = &syntax.Regexp{Op: syntax.OpQuest, Flags: re.Flags, Sub: []*syntax.Regexp{body}}
	}
	p.add(rest)
}

// wideRunes returns the single runes at the end of a class that are full-width.
func wideRunes(re *syntax.Regexp) (wide []*syntax.Regexp) {
	if re.Op != syntax.OpCharClass {
		return nil
	}
	for i := len(re.Rune) - 2; i >= 0 && re.Rune[i] >= 0xff00 && re.Rune[i] == re.Rune[i+1]; i -= 2 {
		wide = append(wide, &syntax.Regexp{Op: syntax.OpLiteral, Rune: re.Rune[i : i+1]})
	}
	return wide
}

// setOf returns the bytes of an expression that matches one byte.
func setOf(re *syntax.Regexp) (s set, ok bool) {
	ranges := re.Rune
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) != 1 || re.Rune[0] >= 0x80 {
			return s, false
		}
		c := byte(re.Rune[0])
		s.add(c)
		if re.Flags&syntax.FoldCase != 0 && (kindOf(c) == lower || kindOf(c) == upper) {
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
		if ranges[i+1] > 0x2fff { // not the two letters whose lower case is ASCII
			s[2], s[3] = math.MaxUint64, math.MaxUint64
		}
	}
	return s, true
}

func upperByte(c byte) byte {
	if kindOf(c) == lower {
		return c - 0x20
	}
	return c
}

// matcher matches one program in one text.
type matcher struct {
	*program
	text  string
	slots [2 * maxGroups]int // where groups begin and end; 0 is the match
	runs  []span             // of each instruction: a long run seen last
	steps int                // instructions and bytes of runs: what time is made of
}

// span is the bytes from a place up to another.
type span struct{ from, to int }

// maxGroups is the number of groups of an expression, the match among them.
const maxGroups = 20

// at reports whether the expression matches at a place.
func (m *matcher) at(pos int) bool {
	if pos < len(m.text) && !m.first[0].has(m.text[pos]) {
		return false
	}
	for i := range m.groups {
		m.slots[i] = -1
	}
	m.slots[0] = pos
	return m.match(0, pos)
}

// within reports whether an expression matches in a text.
func (p *program) within(text string) bool {
	m := matcher{program: p, text: text}
	for at := range len(text) + 1 {
		if m.at(at) {
			return true
		}
	}
	return false
}

// match reports whether the rest of the program matches.
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
			if m.slots[in.arg] = pos; !m.match(pc+1, pos) {
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

// size returns the bytes of an instruction that matches in one way at most, or -1.
func (m *matcher) size(pc, pos int) int {
	in := &m.insts[pc]
	switch in.op {
	case opLiteral:
		if hasPrefix(m.text[pos:], in.text, in.fold) {
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

// may reports whether the next byte lets an instruction match.
func (m *matcher) may(pc, pos int) bool {
	return pos == len(m.text) || m.first[pc].has(m.text[pos])
}

// holds reports whether an assertion is true at a place.
func (m *matcher) holds(op uint8, pos int) bool {
	switch op {
	case opBegin:
		return pos == 0
	case opEnd:
		return pos == len(m.text)
	}
	within := pos > 0 && isWord(m.text[pos-1]) == (pos < len(m.text) && isWord(m.text[pos])) ||
		pos == 0 && (len(m.text) == 0 || !isWord(m.text[0]))
	return within == (op == opNoBoundary)
}

// tryRun matches a run of each length, and what follows it.
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

// run returns how many bytes of its set follow, up to one more than is wanted.
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

// hasPrefix reports whether a text begins with a word, which is in lower case if the
// case does not matter.
func hasPrefix(text, word string, fold bool) bool {
	if !fold {
		return strings.HasPrefix(text, word)
	}
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
