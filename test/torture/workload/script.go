// This file generates scripts from seeds. A script is a sequence of steps that processes perform with a store.

// Package workload executes scripts with a store on a file system that can fail. The scripts are generated from seeds.
// A simple model determines the content that the store must have after each step.
package workload

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// Kind is the kind of a step.
type Kind int

// These are the kinds of steps.
const (
	Remember Kind = iota // adds or changes an entry
	Batch                // makes several changes with one call of Apply, sometimes with an op ID
	Forget               // removes an entry
	Revert               // undoes the last change that can be undone
	Compact              // drops the history, or its older half
	Reopen               // closes the store and opens it again
	Retry                // repeats the last Apply that had an op ID
)

var kindNames = [...]string{"remember", "batch", "forget", "revert", "compact", "reopen", "retry"}

func (k Kind) String() string { return kindNames[k] }

// Step is a call of a store by a process.
type Step struct {
	Kind      Kind
	Proc      int
	Name      string     // name of the entry, for Remember and Forget
	Text      string     // content of the entry
	Ops       []oxbow.Op // ops of a Batch, or of a Retry as soon as it has begun
	OpID      string     // op ID of such a step (may be empty for a Batch)
	KeepsHalf bool       // whether Compact keeps the newer half of the history
	Inner     *Step      // step of another process in the middle of this step
	InnerAt   int        // number of this step's file system call before which Inner is performed, counting from 1
}

// String describes the step in a single line.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%c: %v", 'A'+rune(s.Proc), s.Kind)
	switch s.Kind {
	case Remember:
		fmt.Fprintf(&b, " %s (%d bytes)", s.Name, len(s.Text))
	case Forget:
		fmt.Fprintf(&b, " %s", s.Name)
	case Batch:
		for _, op := range s.Ops {
			fmt.Fprintf(&b, " %s %s", strings.TrimPrefix(fmt.Sprintf("%T", op), "oxbow."), op.Target())
		}
		if s.OpID != "" {
			fmt.Fprintf(&b, " [id %s]", s.OpID)
		}
	}
	if s.Inner != nil {
		fmt.Fprintf(&b, ", and before its call %d {%v}", s.InnerAt, *s.Inner)
	}
	return b.String()
}

// Script is a sequence of steps with the stores on one disk.
type Script struct {
	Seed  uint64
	Procs int
	Steps []Step
}

// NewScript returns the script of a seed. It consists of 3 to 12 steps of procs processes.
func NewScript(seed uint64, procs int) Script {
	r := rand.New(rand.NewPCG(seed, 0x0b0))
	s := Script{Seed: seed, Procs: procs}
	g := generator{r: r, existing: map[string]bool{}}
	for range 3 + r.IntN(10) {
		st := g.randomStep(r.IntN(procs))
		if procs > 1 && r.IntN(3) == 0 {
			in := g.randomStep((st.Proc + 1) % procs)
			st.Inner, st.InnerAt = &in, 1+r.IntN(16)
		}
		s.Steps = append(s.Steps, st)
	}
	return s
}

// CutTexts shortens all texts in the script to at most most bytes.
func (s *Script) CutTexts(most int) {
	for i := range s.Steps {
		for st := &s.Steps[i]; st != nil; st = st.Inner {
			st.Text = st.Text[:min(len(st.Text), most)]
			for j, op := range st.Ops {
				switch o := op.(type) {
				case oxbow.Add:
					o.Content = o.Content[:min(len(o.Content), most)]
					st.Ops[j] = o
				case oxbow.Update:
					o.Content = o.Content[:min(len(o.Content), most)]
					st.Ops[j] = o
				}
			}
		}
	}
}

// generator generates steps that usually succeed. For this, it records approximately which names exist.
type generator struct {
	r        *rand.Rand
	existing map[string]bool
	idCount  int
}

func (g *generator) randomStep(proc int) Step {
	st := Step{Proc: proc}
	switch n := g.r.IntN(20); {
	case n < 7:
		st.Kind = Remember
		st.Name = g.randomName()
		st.Text = g.randomText()
		g.existing[st.Name] = true
	case n < 12:
		st.Kind = Batch
		for range 1 + g.r.IntN(4) {
			st.Ops = append(st.Ops, g.randomOp())
		}
		if g.r.IntN(2) == 0 {
			g.idCount++
			st.OpID = fmt.Sprintf("op-%d", g.idCount)
		}
	case n < 14:
		st.Kind, st.Name = Forget, g.randomName()
		g.existing[st.Name] = false
	case n < 15:
		st.Kind = Revert
	case n < 17:
		st.Kind, st.KeepsHalf = Compact, g.r.IntN(3) == 0
	case n < 19:
		st.Kind = Reopen
	default:
		st.Kind = Retry
	}
	return st
}

func (g *generator) randomOp() oxbow.Op {
	name := g.randomName()
	if !g.existing[name] {
		g.existing[name] = true
		return oxbow.Add{Name: name, Kind: oxbow.Kind(g.r.IntN(6)), Content: g.randomText(), Labels: g.randomLabels()}
	}
	switch g.r.IntN(4) {
	case 0:
		return oxbow.Relabel{Name: name, Labels: g.randomLabels()}
	case 1:
		return oxbow.Alias{Name: name, Aliases: []string{fmt.Sprintf("alias %d", g.r.IntN(9))}}
	case 2:
		g.existing[name] = false
		return oxbow.Remove{Name: name}
	}
	return oxbow.Update{Name: name, Content: g.randomText(), Labels: g.randomLabels()}
}

func (g *generator) randomName() string { return string(rune('a' + g.r.IntN(4))) }

func (g *generator) randomLabels() []oxbow.Label {
	if g.r.IntN(2) == 0 {
		return nil
	}
	return []oxbow.Label{{Key: "project", Value: fmt.Sprintf("p%d", g.r.IntN(3))}}
}

// randomText returns a text of 10 bytes to 5 kB, or sometimes of 70 kB.
func (g *generator) randomText() string {
	n := 10 + g.r.IntN(90)
	switch g.r.IntN(40) {
	case 0, 1:
		n = 100 + g.r.IntN(5000)
	case 2:
		if g.r.IntN(4) == 0 {
			n = 70_000 + g.r.IntN(100)
		}
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + g.r.IntN(26))
		if i%7 == 6 {
			b[i] = ' '
		}
	}
	b[0], b[n-1] = 'x', 'x'
	return string(b)
}
