// This file suggests labels for entries that lack a label with a certain key. It uses similar labelled entries, and
// names and files in the text of the entry.

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

// SuggestOptions configure [Suggest]. If a field is zero, a default is used.
type SuggestOptions struct {
	Filter    oxbow.Filter // selects the entries for which labels are suggested
	LabelKeys []string     // keys of the suggested labels (default: project and tag)

	// MinConfidence is the minimum confidence of a suggestion. The default is 0.3.
	MinConfidence float64
}

// Suggestion is a label that is suggested for an entry.
type Suggestion struct {
	Name       string
	Version    uint64 // version of the entry for which the label is suggested
	Label      oxbow.Label
	Confidence float64  // estimated probability, from 0 to 1, that the label is right
	Reasons    []string // reasons for suggesting Label, the most important first (never empty)
}

const (
	defaultMinConfidence = 0.3
	maxSimilarEntries    = 10   // number of similar labelled entries that are examined to suggest a label for an entry
	maxQueryTextBytes    = 2000 // maximum length, in bytes, of the text with which similar entries are searched
	// maximum number of labelled entries that are used to test how often similar entries' labels are right
	maxNeighbourVoteTests = 200
	// The reliability of a suggestion is estimated from tests. A test weighs more if its vote share is closer to the
	// vote share of the suggestion. The weight is a Gaussian function of the difference, and this is the function's
	// width.
	voteShareKernelWidth = 0.12
	// weight of the assumed reliability of a suggestion, compared with the weight 1 of a test
	priorPrecisionWeight  = 4
	unlabelledProjectOdds = 0.2 // assumed odds that the entry belongs to a project for which no entry is labelled yet
	// This assumption is for an entry of a project without labelled entries. Among the entries that are most similar to
	// this entry, labelled entries are less frequent than in the whole memory. Their frequency is assumed to be the
	// frequency in the whole memory, multiplied by this number.
	unlabelledProjectFactor = 0.3
)

// Suggest suggests labels for entries that lack a label with one of the keys. The suggestions have the order of the
// entries. For each entry, the suggestion with the highest confidence comes first.
//
// Suggest uses two kinds of evidence. First, the ten labelled entries that are most similar to the entry vote, weighted
// by their scores. Second, the text of the entry may mention the value itself, or a file or directory that labelled
// entries mention.
//
// Suggest measures how reliable each kind of evidence is in this memory: it treats up to 200 labelled entries as
// unlabelled, and compares the suggestions with the real labels. If few entries are labelled, the measured reliability
// is combined with an assumed one. If the unlabelled entries resemble the labelled ones, at least four of five
// suggestions with confidence 0.8 are right. This share is measured by the command "labels" of the bench module.
//
// Suggest suggests at most one project for an entry, and any number of values for every other key. It only suggests a
// label for a key if an entry has a label with this key.
func Suggest(ctx context.Context, m *oxbow.Memory, o SuggestOptions) ([]Suggestion, error) {
	if o.LabelKeys == nil {
		o.LabelKeys = []string{oxbow.LabelProject, oxbow.LabelTag}
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
	for _, key := range o.LabelKeys {
		if err := (oxbow.Label{Key: key, Value: "0"}).Check(); err != nil {
			return nil, err
		}
		g := &suggester{memory: m, labelKey: key, isKeySingleValued: key == oxbow.LabelProject}
		ss, err := g.suggestLabels(ctx, es, o)
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
		return cmp.Or(
			cmp.Compare(order[a.Name], order[b.Name]),
			cmp.Compare(b.Confidence, a.Confidence),
			strings.Compare(a.Label.String(), b.Label.String()),
		)
	})
	return all, nil
}

// PlanSuggestionAcceptance returns a Planner that adds suggested labels to entries. It adds each suggestion of the
// slice ss whose confidence is at least minConfidence. A suggestion is ignored if its entry has changed since the
// suggestion. An entry that would have more than oxbow.MaxLabels labels is not changed.
func PlanSuggestionAcceptance(ss []Suggestion, minConfidence float64) Planner {
	return func(ctx context.Context, s oxbow.Store) (LabelChangePlan, error) {
		p := LabelChangePlan{ChangeNote: "label suggest"}
		byName := map[string][]Suggestion{}
		for _, g := range ss {
			if g.Confidence >= minConfidence {
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
				p.EntryChanges = append(p.EntryChanges, Change{
					Name:           e.Name,
					PlannedVersion: e.Version,
					LabelsBefore:   e.Labels,
					LabelsAfter:    after,
					EntryBytes:     oxbow.EntryBytes(&e),
				})
			}
		}
		return p, nil
	}
}

// minEntriesWithLabel is the minimum number of entries with a label before the label is suggested for other entries.
// One entry does not show the label's meaning.
const minEntriesWithLabel = 2

// suggester suggests labels with one key.
type suggester struct {
	memory            *oxbow.Memory
	labelKey          string
	isKeySingleValued bool // an entry has at most one label with labelKey, which is so for the key project

	entryCount         int
	labelledCount      int
	valueCounts        map[string]int // for each value of the label, how many entries have this value
	evidenceModel      *labelEvidenceModel
	neighbourVoteTests []neighbourVoteTest
}

// suggestLabels suggests labels with the key g.labelKey for the entries that have no label with this key. It learns
// from all entries in es, but it suggests labels only for the entries that match o.Filter. A suggestion is left out if
// its Confidence is less than o.MinConfidence, or if fewer than minEntriesWithLabel entries have a label with the
// suggested value.
func (g *suggester) suggestLabels(ctx context.Context, es []oxbow.Entry, o SuggestOptions) ([]Suggestion, error) {
	if err := g.learnFrom(ctx, es); err != nil {
		return nil, err
	}
	var all []Suggestion
	for i := range es {
		e := &es[i]
		if _, ok := e.Label(g.labelKey); ok || !o.Filter.Match(e) {
			continue
		}
		ss, err := g.suggestForEntry(ctx, e)
		if err != nil {
			return nil, err
		}
		for _, s := range ss {
			if s.Confidence >= o.MinConfidence && g.valueCounts[s.Label.Value] >= minEntriesWithLabel {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// neighbourVoteTest is the result of a test with an entry whose label is already known. In the test, entries that are
// similar to this entry suggest (vote for) a value of the label.
type neighbourVoteTest struct {
	voteShare         float64
	isVotedValueRight bool
}

// learnFrom counts the label values of the entries that have a label. It also tests how often similar entries suggest
// the right value. For some of the labelled entries, it lets the similar entries vote. It records the share of the
// votes for each value, and whether the value is right.
func (g *suggester) learnFrom(ctx context.Context, es []oxbow.Entry) error {
	var have []*oxbow.Entry
	for i := range es {
		if _, ok := es[i].Label(g.labelKey); ok {
			have = append(have, &es[i])
		}
	}
	g.entryCount, g.labelledCount = len(es), len(have)
	g.valueCounts = map[string]int{}
	for _, e := range have {
		for _, v := range e.Values(g.labelKey) {
			g.valueCounts[v]++
		}
	}
	g.evidenceModel = newLabelEvidenceModel(g.labelKey, have)
	step := max(1, (len(have)+maxNeighbourVoteTests-1)/maxNeighbourVoteTests)
	for i := 0; i < len(have); i += step {
		e := have[i]
		votes, err := g.countLabelVotes(ctx, e)
		if err != nil {
			return err
		}
		for n, v := range votes {
			if g.isKeySingleValued && n > 0 {
				break // An entry has at most one value for this key, so test only the value with the most votes.
			}
			g.neighbourVoteTests = append(
				g.neighbourVoteTests,
				neighbourVoteTest{v.voteShare, slices.Contains(e.Values(g.labelKey), v.labelValue)},
			)
		}
	}
	return nil
}

// labelVote is the support of an entry's neighbours for one value.
type labelVote struct {
	labelValue string
	// share of labelValue in the squared similarity scores of all similar entries, from 0 to 1
	voteShare         float64
	similarEntryNames []string // names of the similar entries that have labelValue
	similarEntryCount int      // number of similar entries that were examined, with and without labelValue
}

// countLabelVotes finds entries that are similar to e, and determines which values their labels with the key g.labelKey
// have. Each similar entry votes for its values. Its vote's weight is the square of its similarity score. voteShare in
// the result is the share of the total weight that votes for a value. The result begins with the value that has the
// highest share. It is nil if no entry has a label with this key.
func (g *suggester) countLabelVotes(ctx context.Context, e *oxbow.Entry) ([]labelVote, error) {
	if g.labelledCount == 0 {
		return nil, nil
	}
	// If an entry has at most one label with the key g.labelKey, examine only similar entries that have such a label,
	// because other entries tell nothing about the right value. If an entry can have several labels with the key, such
	// as tags, also examine similar entries without such a label. These entries reduce each value's share of the votes.
	var f oxbow.Filter
	if g.isKeySingleValued {
		f.Terms = []oxbow.Term{{Key: "has", Values: []string{g.labelKey}}}
	}
	hits, err := g.similarEntries(ctx, e, maxSimilarEntries, f)
	if err != nil {
		return nil, err
	}
	sum := 0.0
	at := map[string]int{}
	var votes []labelVote
	for _, h := range hits {
		w := h.Score * h.Score // Square the score, so that the most similar neighbours count most.
		sum += w
		for _, v := range h.Entry.Values(g.labelKey) {
			i, ok := at[v]
			if !ok {
				i = len(votes)
				at[v] = i
				votes = append(votes, labelVote{labelValue: v, similarEntryCount: len(hits)})
			}
			votes[i].voteShare += w
			votes[i].similarEntryNames = append(votes[i].similarEntryNames, h.Entry.Name)
		}
	}
	for i := range votes {
		if sum > 0 {
			votes[i].voteShare /= sum
		}
	}
	slices.SortStableFunc(votes, func(a, b labelVote) int {
		return cmp.Or(cmp.Compare(b.voteShare, a.voteShare), strings.Compare(a.labelValue, b.labelValue))
	})
	return votes, nil
}

// similarEntries returns the entries that match f and are most similar to the text of e. The parameter limit is the
// maximum number of these entries.
func (g *suggester) similarEntries(
	ctx context.Context,
	e *oxbow.Entry,
	limit int,
	f oxbow.Filter,
) ([]oxbow.Hit, error) {
	hits, err := g.memory.Recall(ctx, oxbow.Query{Text: similarityQueryText(e), Limit: limit + 1, Filter: f})
	if err != nil {
		return nil, fmt.Errorf("looking for neighbours of %q: %w", e.Name, err)
	}
	hits = slices.DeleteFunc(hits, func(h oxbow.Hit) bool { return h.Entry.ID == e.ID })
	return hits[:min(limit, len(hits))], nil
}

// unknownProjectProbability estimates the probability that the entry belongs to an unknown project, for which no entry
// is labelled yet. The entries that are most similar to an entry usually belong to the same project. Therefore, if the
// project is unknown, few of these similar entries have a project label. If the project is known, the share of similar
// entries with a label is about as large as in the whole memory. unknownProjectProbability compares both cases with the
// 2*maxSimilarEntries most similar entries, by Bayes' rule.
func (g *suggester) unknownProjectProbability(ctx context.Context, e *oxbow.Entry) (float64, error) {
	hits, err := g.similarEntries(ctx, e, 2*maxSimilarEntries, oxbow.Filter{})
	if err != nil {
		return 0, err
	}
	known := min(0.95, float64(g.labelledCount)/float64(g.entryCount))
	strange := known * unlabelledProjectFactor
	odds := unlabelledProjectOdds
	for _, h := range hits {
		if _, ok := h.Entry.Label(g.labelKey); ok {
			odds *= strange / known
		} else {
			odds *= (1 - strange) / (1 - known)
		}
	}
	return odds / (1 + odds), nil
}

// similarityQueryText returns the text with which entries similar to e are searched.
func similarityQueryText(e *oxbow.Entry) string {
	return text.TruncateBytes(e.Name+"\n"+e.Content, maxQueryTextBytes)
}

// estimateVotePrecision estimates the probability that a label value is right for an entry, if similar entries suggest
// the value. The similar entries vote for the values that they have. The parameter voteShare is the value's share of
// the votes, weighted by the similarity scores. The parameter voterCount is the number of similar entries with the
// value.
//
// The estimate comes from g.neighbourVoteTests, which are tests with entries whose label is already known. It is the
// fraction of tests in which the suggested value was right. A test counts more if its vote share is close to the
// parameter voteShare.
//
// Because there may be few tests, an assumed probability is counted like priorPrecisionWeight additional tests. The
// assumed probability is multiplied by voterCount/(voterCount+1), so that it is lower if few similar entries have the
// value.
func (g *suggester) estimateVotePrecision(voteShare float64, voterCount int) float64 {
	right, n := priorPrecisionWeight*priorVotePrecision(
		voteShare,
	)*float64(
		voterCount,
	)/float64(
		voterCount+1,
	), float64(
		priorPrecisionWeight,
	)
	for _, t := range g.neighbourVoteTests {
		d := (t.voteShare - voteShare) / voteShareKernelWidth
		w := math.Exp(-d * d / 2)
		n += w
		if t.isVotedValueRight {
			right += w
		}
	}
	return right / n
}

// priorVotePrecision returns the probability, as assumed before any test with labelled entries, that a label value is
// right. voteShare is the value's share in the scores of similar entries. The result is a logistic curve through (0.5,
// 0.5), chosen by hand.
func priorVotePrecision(voteShare float64) float64 { return 1 / (1 + math.Exp(-6*(voteShare-0.5))) }

// labelValueReasons combines all reasons for suggesting one label value.
type labelValueReasons struct {
	errorProbability float64 // probability that all reasons for suggesting this value are wrong
	reasons          []string
}

// reasonsByLabelValue maps each suggested label value to the reasons for it.
type reasonsByLabelValue map[string]*labelValueReasons

// addReason adds a reason for suggesting a label value. probability is the probability that the reason is right.
func (bs reasonsByLabelValue) addReason(value string, probability float64, reason string) {
	b := bs[value]
	if b == nil {
		b = &labelValueReasons{errorProbability: 1}
		bs[value] = b
	}
	b.errorProbability *= 1 - min(probability, 0.99)
	b.reasons = append(b.reasons, reason)
}

// valueProbabilities returns for each label value the probability that the entry should have the value. It is used for
// keys of which an entry may have several values.
func (bs reasonsByLabelValue) valueProbabilities() map[string]float64 {
	ps := map[string]float64{}
	for v, b := range bs {
		ps[v] = 1 - b.errorProbability
	}
	return ps
}

// exclusiveValueProbabilities returns for each label value the probability that it is the right value for an entry. The
// label's key must be a key for which an entry has at most one value.
//
// The weight of a value is its odds. The weight of the case that no value is right is 1. The probability of a value is
// its weight divided by the sum of all weights, multiplied by knownValueProbability. knownValueProbability is the
// probability that the right value is one of the values that other entries have. If it is below 0.8, a sentence about
// this is added to the reasons for each value.
func (bs reasonsByLabelValue) exclusiveValueProbabilities(knownValueProbability float64) map[string]float64 {
	ps, odds := bs.valueProbabilities(), 1.0
	for _, b := range bs {
		odds += (1 - b.errorProbability) / b.errorProbability
	}
	for v, b := range bs {
		ps[v] = ps[v] / b.errorProbability / odds * knownValueProbability
		if knownValueProbability < 0.8 {
			b.reasons = append(
				b.reasons,
				"surer it cannot be: most of the entries like it are unlabelled, as if its project were not labelled "+
					"yet",
			)
		}
	}
	return ps
}

// suggestForEntry suggests values of the key for one entry, the value with the highest confidence first. It combines
// the evidence in the entry with the votes of similar labelled entries. If an entry can have only one value, it
// suggests at most one.
func (g *suggester) suggestForEntry(ctx context.Context, e *oxbow.Entry) ([]Suggestion, error) {
	votes, err := g.countLabelVotes(ctx, e)
	if err != nil {
		return nil, err
	}
	bs := reasonsByLabelValue{}
	for _, s := range g.evidenceModel.findLabelEvidence(e) {
		bs.addReason(s.labelValue, s.precision, s.reasonText)
	}
	g.addVoteReasons(bs, votes)
	ps := bs.valueProbabilities()
	if g.isKeySingleValued && len(bs) > 0 {
		p, err := g.unknownProjectProbability(ctx, e)
		if err != nil {
			return nil, err
		}
		ps = bs.exclusiveValueProbabilities(1 - p)
	}
	var ss []Suggestion
	for value, b := range bs {
		ss = append(
			ss,
			Suggestion{e.Name, e.Version, oxbow.Label{Key: g.labelKey, Value: value}, ps[value], b.reasons},
		)
	}
	slices.SortFunc(ss, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.Label.Value, b.Label.Value))
	})
	if g.isKeySingleValued {
		ss = ss[:min(1, len(ss))]
	}
	return ss, nil
}

// addVoteReasons adds the votes of similar entries as reasons for suggesting label values. If an entry can have only
// one value, it adds only the three values with the most votes.
func (g *suggester) addVoteReasons(reasonsByValue reasonsByLabelValue, votes []labelVote) {
	labelled := ""
	if g.isKeySingleValued {
		labelled, votes = "labelled ", votes[:min(3, len(votes))]
	}
	for i, v := range votes {
		p := g.estimateVotePrecision(v.voteShare, len(v.similarEntryNames))
		if g.isKeySingleValued && i > 0 {
			// The precision was measured only for the value with the most votes, so the reliability of the other values
			// is not known. Limit another value's probability to its share of the votes.
			p = min(p, v.voteShare)
		}
		reasonsByValue.addReason(
			v.labelValue,
			p,
			fmt.Sprintf(
				"%d of the %d %sentries most like it carry %s, with %.0f %% of their scores, %q nearest",
				len(
					v.similarEntryNames,
				),
				v.similarEntryCount,
				labelled,
				oxbow.Label{Key: g.labelKey, Value: v.labelValue},
				100*v.voteShare,
				v.similarEntryNames[0],
			),
		)
	}
}
