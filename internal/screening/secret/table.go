// This file loads the compiled rules, which are embedded in the binary. An expression is decoded
// when it is first used.

package secret

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
)

// table contains the rules in compiled form. A test builds it from rules.txt, own.txt and
// stopwords.txt:
//
//	go test ./internal/screening/secret -run TestTable -update
//
// Numbers are uvarints. A text follows its length.
//
//go:embed rules.bin
var table string

// tableReader decodes the table. It does not check for errors, because a test compares the
// table with its sources.
type tableReader string

func (r *tableReader) int() int {
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

func (r *tableReader) bytes(n int) string {
	s := string((*r)[:n])
	*r = (*r)[n:]
	return s
}

func (r *tableReader) text() string { return r.bytes(r.int()) }

// rules contains all rules, and the automaton of their keywords.
type rules struct {
	sets      []set
	exprs     []expression // the expressions of the constants below are first
	all       []rule
	keywords  automaton
	stopwords [256]string // stop words by their first byte, each after its length
}

// Expressions that do not belong to a rule, as indexes of rules.exprs.
const (
	exprVariable = iota
	exprHexValue
	exprNamesSecret
)

// The part of a text to which the expression of an allowance is applied.
const (
	targetSecret = iota
	targetMatch
	targetLine
	targetWord // the secret, unless it is scrambled
)

var ruleSet = sync.OnceValue(loadRules)

func loadRules() *rules {
	rs, r := new(rules), tableReader(table)
	rs.sets = make([]set, r.int())
	for i := range rs.sets {
		b := []byte(r.bytes(32))
		for j := range rs.sets[i] {
			rs.sets[i][j] = binary.LittleEndian.Uint64(b[8*j:])
		}
	}
	rs.exprs = make([]expression, r.int())
	for i := range rs.exprs {
		rs.exprs[i].code = r.text()
	}
	rs.all = make([]rule, r.int())
	allow := make([]allowance, 0, r.int())
	for i := range rs.all {
		from := len(allow)
		one := rule{name: r.text(), order: i, before: r.int(), after: r.int(), assigns: r.int() != 0,
			words:   r.int() != 0,
			entropy: float64(r.int()) / 1000, group: r.int(), expression: &rs.exprs[r.int()]}
		for range r.int() {
			allow = append(allow, allowance{r.int(), &rs.exprs[r.int()]})
		}
		one.allow = allow[from:]
		rs.all[i] = one
	}
	rs.keywords.read(&r)
	for range r.int() {
		c := r.int()
		rs.stopwords[c] = r.text()
	}
	return rs
}

func (a *automaton) read(r *tableReader) {
	a.words = make([]keyword, r.int())
	for i := range a.words {
		a.words[i] = keyword{r.text(), r.int()}
	}
	a.width = r.int()
	copy(a.class[:], r.bytes(len(a.class)))
	a.starts = make([]uint32, r.int())
	for i := range a.starts {
		a.starts[i] = uint32(r.int())
	}
	a.next = make([]uint16, a.width*(len(a.starts)-1))
	moves := r.bytes(2 * len(a.next))
	for i := range a.next {
		a.next[i] = uint16(moves[2*i]) | uint16(moves[2*i+1])<<8
	}
}

// expression is a program that is decoded when it is first used.
type expression struct {
	code string
	once sync.Once
	prog *program
}

func (e *expression) program() *program {
	e.once.Do(func() { e.prog = decodeProgram(tableReader(e.code), ruleSet().sets) })
	return e.prog
}

func decodeProgram(r tableReader, sets []set) *program {
	p := &program{groups: r.int(), insts: make([]inst, r.int())}
	for i := range p.insts {
		in := &p.insts[i]
		in.op = uint8(r.int())
		in.first = sets[r.int()]
		switch in.op {
		case opLiteral:
			in.fold, in.text = r.int() != 0, r.text()
		case opRun:
			in.least = r.int() != 0
			in.exact = r.int() != 0
			in.set = &sets[r.int()]
			in.min, in.max = r.int(), r.int()-1
			if in.max < 0 {
				in.max = math.MaxInt - 1
			}
		case opBranch:
			in.alts = make([]int, r.int())
			for j := range in.alts {
				in.alts[j] = r.int()
			}
		case opJump, opSave:
			in.arg = r.int()
		}
	}
	return p
}
