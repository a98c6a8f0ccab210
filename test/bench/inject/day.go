// This file measures how much text the rules show to a model on a simulated working day, which is a realistic mixture
// of prompts.

package inject

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

// WorkingDayCost describes how much text a rule shows to a model for the prompts of simulated working days.
type WorkingDayCost struct {
	Prompts              int `json:"prompts"`
	PromptsWithQuotes    int `json:"payloads"`
	PromptsWithNamesOnly int `json:"pointers"`
	// mean number of tokens for a prompt (tokens and times are only known for oxbow's rule)
	MeanPromptTokens   float64       `json:"tokens_mean"`
	MedianTokens       int           `json:"tokens_p50"`
	TokensP99          int           `json:"tokens_p99"`
	MedianDecisionTime time.Duration `json:"ns_p50"`
	TimeP99            time.Duration `json:"ns_p99"`
}

// summarizeWorkingDay computes statistics about a rule's decisions for the prompts of ordinary working days. A rule
// chooses for each prompt the texts that a model is shown. Without decisions, all values are 0.
func summarizeWorkingDay(decisions []Decision) (d WorkingDayCost) {
	var tokens []int
	var took []time.Duration
	sum := 0
	for _, one := range decisions {
		switch one.AnswerKind {
		case gate.AnswerQuotedSentences:
			d.PromptsWithQuotes++
		case gate.AnswerEntryNames:
			d.PromptsWithNamesOnly++
		}
		sum += one.TextTokens
		tokens, took = append(tokens, one.TextTokens), append(took, one.DecisionTime)
	}
	d.Prompts = len(decisions)
	if d.Prompts == 0 {
		return d
	}
	slices.Sort(tokens)
	slices.Sort(took)
	middle, end := (d.Prompts-1)/2, min(d.Prompts*99/100, d.Prompts-1)
	d.MeanPromptTokens = float64(sum) / float64(d.Prompts)
	d.MedianTokens = tokens[middle]
	d.TokensP99 = tokens[end]
	d.MedianDecisionTime, d.TimeP99 = took[middle], took[end]
	return d
}

// promptsPerSession is the number of prompts in a session.
const promptsPerSession = 25

// workingDayPrompts returns the prompts of a working day in random order: 25 % acknowledgements, 40 % orders, 15 %
// pasted texts, 12 % questions that the memory cannot answer, and 8 % questions that it can answer.
func workingDayPrompts(r *rand.Rand, answerableQuestions []Question, otherMemoryQuestions []string) []string {
	acks, work := splitAcknowledgements(workOrderPrompts())
	asks := make([]string, len(answerableQuestions))
	for i, q := range answerableQuestions {
		asks[i] = q.Text
	}
	var day []string
	for _, part := range []struct {
		n    int
		from []string
	}{{25, acks}, {40, work}, {15, samplePastedTexts()}, {12, otherMemoryQuestions}, {8, asks}} {
		for range part.n {
			if len(part.from) > 0 {
				day = append(day, part.from[r.IntN(len(part.from))])
			}
		}
	}
	r.Shuffle(len(day), func(i, j int) { day[i], day[j] = day[j], day[i] })
	return day
}

// splitAcknowledgements divides test prompts into acknowledgements, such as "Yes, please.", and orders for work. A
// prompt is an acknowledgement if it is short.
func splitAcknowledgements(prompts []string) (acknowledgements, taskPrompts []string) {
	for _, o := range prompts {
		if len([]rune(o)) < 16 {
			acknowledgements = append(acknowledgements, o)
		} else {
			taskPrompts = append(taskPrompts, o)
		}
	}
	return acknowledgements, taskPrompts
}

// measureWorkingDay passes the prompts of a simulated working day to each rule. A rule decides which entries are shown
// for a prompt. A new session begins after each promptsPerSession prompts. measureWorkingDay adds each decision of a
// rule to the field workingDayDecisions of the rule's result.
func (b *memoryMeasurement) measureWorkingDay(ctx context.Context, prompts []string) error {
	for i, r := range b.rules {
		var c displayRuleSession
		for n, p := range prompts {
			if n%promptsPerSession == 0 {
				c = r.startSession(b.memory)
			}
			d, err := c.decideAnswer(ctx, p)
			if err != nil {
				return err
			}
			b.ruleResults[i].workingDayDecisions = append(b.ruleResults[i].workingDayDecisions, d)
		}
	}
	return nil
}
