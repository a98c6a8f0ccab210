// Suggestions: labels for entries that have none of a key, from the labelled
// entries most like them, and from what their text names.

package label

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// SuggestOptions say for which entries labels are proposed. Zero fields mean the
// default.
type SuggestOptions struct {
	Filter oxbow.Filter // only entries that it selects
	Keys   []string     // of the labels proposed; project and tag by default

	// MinConfidence leaves out what is less sure, 0.3 by default.
	MinConfidence float64
}

// Suggestion is a label proposed for an entry.
type Suggestion struct {
	Name       string
	Version    uint64 // of the entry it is proposed for
	Label      oxbow.Label
	Confidence float64  // about how often such a proposal is right, 0 to 1
	Reasons    []string // most telling first, never empty
}

const (
	defaultMinConfidence = 0.3
	neighbours           = 10   // labelled entries that are asked
	maxQueryText         = 2000 // of an entry's text that neighbours are looked for by
	trials               = 200  // labelled entries that the confidence is measured on
	bandwidth            = 0.12 // of the kernel that smooths the trials
	priorWeight          = 4    // trials that the curve chosen by hand counts for
	foreignOdds          = 0.2  // prior, of an entry whose project no other is labelled with
	foreignShare         = 0.3  // of labelled neighbours of such an entry, against the ones of others
)

// Suggest proposes labels for the entries that have none of a key. They are
// ordered by entry, then the surest first.
//
// Two kinds of evidence are weighed. The ten labelled entries that rank best
// for the entry's own text vote, each with its score. And what the text names:
// a value itself, or a file or its directory that labelled entries name. How
// much either is worth is measured on the memory itself: labelled entries are
// taken for unlabelled, up to 200 of them, and what the rule would have said of
// each is compared with what it carries; where few are labelled, a plain curve
// fills in. So of proposals with a confidence of 0.8, four of five or more are
// right, as long as the labelled entries are like the others; the command labels
// of the module bench measures it.
//
// Of project, one value is proposed for an entry; of other keys, any number. A
// memory without any label of a key has nothing to go by: nothing is proposed.
func Suggest(ctx context.Context, m *oxbow.Memory, o SuggestOptions) ([]Suggestion, error) {
	if o.Keys == nil {
		o.Keys = []string{oxbow.LabelProject, oxbow.LabelTag}
	}
	if o.MinConfidence == 0 {
		o.MinConfidence = defaultMinConfidence
	}
	var es []oxbow.Entry
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, err
		}
		es = append(es, e)
	}
	var all []Suggestion
	for _, key := range o.Keys {
		if err := (oxbow.Label{Key: key, Value: "0"}).Check(); err != nil {
			return nil, err
		}
		g := &suggester{m: m, key: key, single: key == oxbow.LabelProject}
		ss, err := g.suggest(ctx, es, o)
		if err != nil {
			return nil, err
		}
		all = append(all, ss...)
	}
	order := map[string]int{}
	for i, e := range es {
		order[e.Name] = i
	}
	slices.SortStableFunc(all, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(order[a.Name], order[b.Name]), cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.Label.String(), b.Label.String()))
	})
	return all, nil
}

// Accept plans that the entries get what is suggested with at least that
// confidence. An entry that was changed since is left out.
func Accept(ss []Suggestion, least float64) Planner {
	return func(ctx context.Context, s oxbow.Store) (Plan, error) {
		p := Plan{Note: "label suggest"}
		byName := map[string][]Suggestion{}
		for _, g := range ss {
			if g.Confidence >= least {
				byName[g.Name] = append(byName[g.Name], g)
			}
		}
		for e, err := range s.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				return p, err
			}
			after := slices.Clone(e.Labels)
			for _, g := range byName[e.Name] {
				if g.Version == e.Version {
					after = append(after, g.Label)
				}
			}
			after = oxbow.SortLabels(after)
			if len(after) > len(e.Labels) && len(after) <= oxbow.MaxLabels {
				p.Changes = append(p.Changes, Change{e.Name, e.Version, e.Labels, after})
			}
		}
		return p, nil
	}
}

// leastCarriers is the number of entries that must carry a label before it is proposed for
// others: one entry alone does not show what the label is for.
const leastCarriers = 2

// suggester proposes labels of one key.
type suggester struct {
	m      *oxbow.Memory
	key    string
	single bool // an entry carries one value at most

	entries  int
	labelled int
	carriers map[string]int // labelled entries by value
	evidence *evidenceModel
	tried    []trial
}

// suggest proposes labels for those of the entries that have none of the key.
func (g *suggester) suggest(ctx context.Context, es []oxbow.Entry, o SuggestOptions) ([]Suggestion, error) {
	if err := g.learn(ctx, es); err != nil {
		return nil, err
	}
	var all []Suggestion
	for i := range es {
		e := &es[i]
		if _, ok := e.Label(g.key); ok || !o.Filter.Match(e) {
			continue
		}
		ss, err := g.guess(ctx, e)
		if err != nil {
			return nil, err
		}
		for _, s := range ss {
			if s.Confidence >= o.MinConfidence && g.carriers[s.Label.Value] >= leastCarriers {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// trial is a vote of neighbours whose right answer is known.
type trial struct {
	share float64
	right bool
}

// learn reads the labelled entries and tries the vote of neighbours on them.
func (g *suggester) learn(ctx context.Context, es []oxbow.Entry) error {
	var have []*oxbow.Entry
	for i := range es {
		if _, ok := es[i].Label(g.key); ok {
			have = append(have, &es[i])
		}
	}
	g.entries, g.labelled = len(es), len(have)
	g.carriers = map[string]int{}
	for _, e := range have {
		for _, v := range e.Values(g.key) {
			g.carriers[v]++
		}
	}
	g.evidence = newEvidenceModel(g.key, have)
	step := max(1, (len(have)+trials-1)/trials)
	for i := 0; i < len(have); i += step {
		e := have[i]
		votes, err := g.vote(ctx, e)
		if err != nil {
			return err
		}
		for n, v := range votes {
			if g.single && n > 0 {
				break
			}
			g.tried = append(g.tried, trial{v.share, slices.Contains(e.Values(g.key), v.value)})
		}
	}
	return nil
}

// vote is what neighbours say for a value.
type vote struct {
	value string
	share float64 // of the scores of all neighbours
	from  []string
	of    int // neighbours that were asked
}

// vote asks the neighbours of an entry. The most voted stands first.
func (g *suggester) vote(ctx context.Context, e *oxbow.Entry) ([]vote, error) {
	if g.labelled == 0 {
		return nil, nil
	}
	// Of values of which each entry has one at most, one that has none says
	// nothing. Of others, such as tags, it says that there is nothing to say.
	var f oxbow.Filter
	if g.single {
		f.Terms = []oxbow.Term{{Key: "has", Values: []string{g.key}}}
	}
	hits, err := g.near(ctx, e, neighbours, f)
	if err != nil {
		return nil, err
	}
	sum := 0.0
	at := map[string]int{}
	var votes []vote
	for _, h := range hits {
		w := h.Score * h.Score // the nearest count most
		sum += w
		for _, v := range h.Entry.Values(g.key) {
			i, ok := at[v]
			if !ok {
				i = len(votes)
				at[v] = i
				votes = append(votes, vote{value: v, of: len(hits)})
			}
			votes[i].share += w
			votes[i].from = append(votes[i].from, h.Entry.Name)
		}
	}
	for i := range votes {
		if sum > 0 {
			votes[i].share /= sum
		}
	}
	slices.SortStableFunc(votes, func(a, b vote) int {
		return cmp.Or(cmp.Compare(b.share, a.share), strings.Compare(a.value, b.value))
	})
	return votes, nil
}

// near returns the n entries of the filter that rank best for an entry's text.
func (g *suggester) near(ctx context.Context, e *oxbow.Entry, n int, f oxbow.Filter) ([]oxbow.Hit, error) {
	hits, err := g.m.Recall(ctx, oxbow.Query{Text: queryText(e), Limit: n + 1, Filter: f})
	if err != nil {
		return nil, fmt.Errorf("looking for neighbours of %q: %w", e.Name, err)
	}
	hits = slices.DeleteFunc(hits, func(h oxbow.Hit) bool { return h.Entry.ID == e.ID })
	return hits[:min(n, len(hits))], nil
}

// foreign returns how likely it is that no labelled entry carries the right
// value, as of a project that nothing is labelled with yet. Of such an entry the
// neighbours are mostly those of its own, unlabelled, while else about as many of
// them are labelled as of all entries: Bayes' rule over the number of labelled
// ones among the 20 nearest, as two binomial distributions.
func (g *suggester) foreign(ctx context.Context, e *oxbow.Entry) (float64, error) {
	hits, err := g.near(ctx, e, 2*neighbours, oxbow.Filter{})
	if err != nil {
		return 0, err
	}
	known := min(0.95, float64(g.labelled)/float64(g.entries))
	strange := known * foreignShare
	odds := foreignOdds
	for _, h := range hits {
		if _, ok := h.Entry.Label(g.key); ok {
			odds *= strange / known
		} else {
			odds *= (1 - strange) / (1 - known)
		}
	}
	return odds / (1 + odds), nil
}

// queryText is the text by which neighbours of an entry are looked for.
func queryText(e *oxbow.Entry) string {
	return text.Cut(e.Name+"\n"+e.Content, maxQueryText)
}

// precision returns how often a vote of that share was right: what the trials
// near to it say, and with the weight of a few trials what the prior curve says.
// Before much was tried, one neighbour alone counts half of many.
func (g *suggester) precision(share float64, from int) float64 {
	right, n := priorWeight*priorCurve(share)*float64(from)/float64(from+1), float64(priorWeight)
	for _, t := range g.tried {
		d := (t.share - share) / bandwidth
		w := math.Exp(-d * d / 2)
		n += w
		if t.right {
			right += w
		}
	}
	return right / n
}

// priorCurve is the precision of a vote of that share before anything was tried:
// a curve through 1/2 at one half, chosen by hand and not fitted.
func priorCurve(share float64) float64 { return 1 / (1 + math.Exp(-6*(share-0.5))) }

// belief is what is held of one value.
type belief struct {
	residual float64 // that none of the reasons is right
	reasons  []string
}

// beliefs are the values proposed for an entry.
type beliefs map[string]*belief

// add takes a reason that is right with probability p.
func (bs beliefs) add(value string, p float64, reason string) {
	b := bs[value]
	if b == nil {
		b = &belief{residual: 1}
		bs[value] = b
	}
	b.residual *= 1 - min(p, 0.99)
	b.reasons = append(b.reasons, reason)
}

// probabilities returns how likely each value is, if several may be right.
func (bs beliefs) probabilities() map[string]float64 {
	ps := map[string]float64{}
	for v, b := range bs {
		ps[v] = 1 - b.residual
	}
	return ps
}

// exclusive returns how likely each value is, if one at most is right: each has
// its odds against the others and against none. Known is how likely it is that
// one of them is right.
func (bs beliefs) exclusive(known float64) map[string]float64 {
	ps, odds := bs.probabilities(), 1.0
	for _, b := range bs {
		odds += (1 - b.residual) / b.residual
	}
	for v, b := range bs {
		ps[v] = ps[v] / b.residual / odds * known
		if known < 0.8 {
			b.reasons = append(b.reasons, "surer it cannot be: most of the entries like it are unlabelled, as if its project were not labelled yet")
		}
	}
	return ps
}

// guess proposes values for one entry, the surest first.
func (g *suggester) guess(ctx context.Context, e *oxbow.Entry) ([]Suggestion, error) {
	votes, err := g.vote(ctx, e)
	if err != nil {
		return nil, err
	}
	bs := beliefs{}
	for _, s := range g.evidence.read(e) {
		bs.add(s.value, s.precision, s.reason)
	}
	g.addVotes(bs, votes)
	ps := bs.probabilities()
	if g.single && len(bs) > 0 {
		p, err := g.foreign(ctx, e)
		if err != nil {
			return nil, err
		}
		ps = bs.exclusive(1 - p)
	}
	var ss []Suggestion
	for value, b := range bs {
		ss = append(ss, Suggestion{e.Name, e.Version, oxbow.Label{Key: g.key, Value: value}, ps[value], b.reasons})
	}
	slices.SortFunc(ss, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.Label.Value, b.Label.Value))
	})
	if g.single {
		ss = ss[:min(1, len(ss))]
	}
	return ss, nil
}

// addVotes takes the votes of the neighbours as reasons; of a single value the
// first three.
func (g *suggester) addVotes(bs beliefs, votes []vote) {
	labelled := ""
	if g.single {
		labelled, votes = "labelled ", votes[:min(3, len(votes))]
	}
	for i, v := range votes {
		p := g.precision(v.share, len(v.from))
		if g.single && i > 0 {
			p = min(p, v.share) // a vote that was not won
		}
		bs.add(v.value, p, fmt.Sprintf("%d of the %d %sentries most like it carry %s, with %.0f %% of their scores, %q nearest",
			len(v.from), v.of, labelled, oxbow.Label{Key: g.key, Value: v.value}, 100*v.share, v.from[0]))
	}
}
