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

// StepKind is the kind of a step.
type StepKind int

// These are the kinds of steps in a test script.
const (
	RememberStep StepKind = iota // adds or changes an entry
	BatchStep                    // the process makes several changes with one call of Apply, sometimes with an op ID
	ForgetStep                   // removes an entry
	RevertStep                   // undoes the last change that can be undone
	CompactStep                  // drops the store's old versions: all, or the older half (see KeepsNewerHistoryHalf)
	ReopenStep                   // closes the store and opens it again
	RetryStep                    // the process repeats the last call of Apply that had an op ID
)

var stepKindNames = [...]string{"remember", "batch", "forget", "revert", "compact", "reopen", "retry"}

func (k StepKind) String() string { return stepKindNames[k] }

// Step is a call of a store by a process.
type Step struct {
	Kind      StepKind
	Process   int
	EntryName string // name of the entry, for Remember and Forget
	Content   string // content of the entry
	// ops of a BatchStep; for a RetryStep, they are set to the ops of the last batch when the step begins
	Ops                   []oxbow.Op
	OpID                  string // op ID of a BatchStep (may be empty) or RetryStep
	KeepsNewerHistoryHalf bool   // whether a CompactStep keeps the newer half of the history
	NestedStep            *Step  // step that another process executes in the middle of this step (may be nil)
	// number of the file system call of this step before which NestedStep is executed, counting from 1
	NestedStepFSCallNumber int
}

// String describes the step in a single line.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%c: %v", 'A'+rune(s.Process), s.Kind)
	switch s.Kind {
	case RememberStep:
		fmt.Fprintf(&b, " %s (%d bytes)", s.EntryName, len(s.Content))
	case ForgetStep:
		fmt.Fprintf(&b, " %s", s.EntryName)
	case BatchStep:
		for _, op := range s.Ops {
			fmt.Fprintf(&b, " %s %s", strings.TrimPrefix(fmt.Sprintf("%T", op), "oxbow."), op.Target())
		}
		if s.OpID != "" {
			fmt.Fprintf(&b, " [id %s]", s.OpID)
		}
	}
	if s.NestedStep != nil {
		fmt.Fprintf(&b, ", and before its call %d {%v}", s.NestedStepFSCallNumber, *s.NestedStep)
	}
	return b.String()
}

// Script is a sequence of steps with the stores on one disk.
type Script struct {
	Seed         uint64
	ProcessCount int
	Steps        []Step
}

// NewScript returns the script of a seed. It has 3 to 12 steps in the given number of processes.
func NewScript(seed uint64, processes int) Script {
	r := rand.New(rand.NewPCG(seed, 0x0b0))
	s := Script{Seed: seed, ProcessCount: processes}
	g := stepGenerator{r: r, existingNames: map[string]bool{}}
	for range 3 + r.IntN(10) {
		st := g.randomStep(r.IntN(processes))
		if processes > 1 && r.IntN(3) == 0 {
			in := g.randomStep((st.Process + 1) % processes)
			st.NestedStep, st.NestedStepFSCallNumber = &in, 1+r.IntN(16)
		}
		s.Steps = append(s.Steps, st)
	}
	return s
}

// ShortenTexts shortens each text in the script to at most maxBytes bytes.
func (s *Script) ShortenTexts(maxBytes int) {
	for i := range s.Steps {
		for st := &s.Steps[i]; st != nil; st = st.NestedStep {
			st.Content = st.Content[:min(len(st.Content), maxBytes)]
			for j, op := range st.Ops {
				switch o := op.(type) {
				case oxbow.Add:
					o.Content = o.Content[:min(len(o.Content), maxBytes)]
					st.Ops[j] = o
				case oxbow.Update:
					o.Content = o.Content[:min(len(o.Content), maxBytes)]
					st.Ops[j] = o
				}
			}
		}
	}
}

// stepGenerator generates steps that usually succeed. For this, it records approximately which names exist.
type stepGenerator struct {
	r             *rand.Rand
	existingNames map[string]bool
	idCount       int
}

func (g *stepGenerator) randomStep(process int) Step {
	st := Step{Process: process}
	switch n := g.r.IntN(20); {
	case n < 7:
		st.Kind = RememberStep
		st.EntryName = g.randomName()
		st.Content = g.randomText()
		g.existingNames[st.EntryName] = true
	case n < 12:
		st.Kind = BatchStep
		for range 1 + g.r.IntN(4) {
			st.Ops = append(st.Ops, g.randomOp())
		}
		if g.r.IntN(2) == 0 {
			g.idCount++
			st.OpID = fmt.Sprintf("op-%d", g.idCount)
		}
	case n < 14:
		st.Kind, st.EntryName = ForgetStep, g.randomName()
		g.existingNames[st.EntryName] = false
	case n < 15:
		st.Kind = RevertStep
	case n < 17:
		st.Kind, st.KeepsNewerHistoryHalf = CompactStep, g.r.IntN(3) == 0
	case n < 19:
		st.Kind = ReopenStep
	default:
		st.Kind = RetryStep
	}
	return st
}

func (g *stepGenerator) randomOp() oxbow.Op {
	name := g.randomName()
	if !g.existingNames[name] {
		g.existingNames[name] = true
		return oxbow.Add{Name: name, Kind: oxbow.Kind(g.r.IntN(6)), Content: g.randomText(), Labels: g.randomLabels()}
	}
	switch g.r.IntN(4) {
	case 0:
		return oxbow.Relabel{Name: name, Labels: g.randomLabels()}
	case 1:
		return oxbow.Alias{Name: name, Aliases: []string{fmt.Sprintf("alias %d", g.r.IntN(9))}}
	case 2:
		g.existingNames[name] = false
		return oxbow.Remove{Name: name}
	}
	return oxbow.Update{Name: name, Content: g.randomText(), Labels: g.randomLabels()}
}

func (g *stepGenerator) randomName() string { return string(rune('a' + g.r.IntN(4))) }

func (g *stepGenerator) randomLabels() []oxbow.Label {
	if g.r.IntN(2) == 0 {
		return nil
	}
	return []oxbow.Label{{Key: "project", Value: fmt.Sprintf("p%d", g.r.IntN(3))}}
}

// randomText returns a text with 10 bytes to 5 kB, or sometimes 70 kB.
func (g *stepGenerator) randomText() string {
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
